"""What a step names, where no answer showed whether it is there."""

from __future__ import annotations

import re
from urllib.parse import unquote

from dpsync.rehearse.answers.draft import ELSEWHERE, WorldDraft


def assume(draft: WorldDraft, organization: str, path: str) -> None:
    """Note what the path of a step names."""
    for pattern, note in _ASSUMED:
        if (found := pattern.match(path)) is not None:
            note(draft, organization, unquote(found[1]))
            return


def assume_space(draft: WorldDraft, organization: str, id: str) -> None:
    if not any(id in one.spaces for one in draft.organizations.values()):
        draft.space(organization, id)


def assume_collection(draft: WorldDraft, organization: str, id: str) -> None:
    if not any(id in one.collections for one in draft.organizations.values()):
        draft.organization(organization).collections[id] = {"id": id}
        draft.assumed.append(f"the collection {id}")


def assume_team(draft: WorldDraft, organization: str, id: str) -> None:
    if id not in draft.organization(organization).teams:
        draft.organization(organization).teams[id] = {"id": id, "title": id}
        draft.assumed.append(f"the team {id}")


def assume_member(draft: WorldDraft, organization: str, id: str) -> None:
    owner = draft.organization(organization)
    if not owner.members_read:
        draft.belongs(owner, draft.user({"id": id}))


def assume_site(draft: WorldDraft, organization: str, id: str) -> None:
    if id not in draft.organization(organization).sites:
        draft.organization(organization).sites[id] = {"id": id}
        draft.assumed.append(f"the site {id}")


def assume_integration(draft: WorldDraft, organization: str, name: str) -> None:
    """Published by somebody else, for everybody."""
    if name not in draft.published:
        maker = draft.organization(ELSEWHERE)
        draft.published[name] = {"name": name, "title": name, "visibility": "public", "owner": maker.id}
        draft.assumed.append(f"the integration {name}")


_ASSUMED = (
    (re.compile("/spaces/([^/{]+)"), assume_space),
    (re.compile("/collections/([^/{]+)"), assume_collection),
    (re.compile("/orgs/[^/]+/teams/([^/{]+)"), assume_team),
    (re.compile("/orgs/[^/]+/members/([^/{]+)"), assume_member),
    (re.compile("/orgs/[^/]+/sites/([^/{]+)"), assume_site),
    (re.compile("/integrations/([^/{]+)/installations"), assume_integration),
)
