"""Sites with their settings."""

from __future__ import annotations

from dpsync.rehearse.answers.draft import COMPUTED, Json, WorldDraft, without
from dpsync.rehearse.answers.secrets import HIDDEN, without_keys

_NOT_OF_SITES = ("siteSpaces", "features", "appliedType", "proxy", "styleguide")


def take_sites(draft: WorldDraft, items: list[Json], organization: str) -> None:
    for item in items:
        take_site(draft, item, organization, item["id"])


def take_site(draft: WorldDraft, body: Json, organization: str, id: str) -> None:
    made = without(body, *_NOT_OF_SITES, *COMPUTED)
    if origin := (body.get("proxy") or {}).get("origin"):
        made["proxy"] = origin
    if guide := (body.get("styleguide") or {}).get("space"):
        made["styleguide"] = guide
        draft.styleguides.append((organization, guide))
    draft.site(organization, id).update(made)


def mark_styleguides(draft: WorldDraft) -> None:
    """The spaces that sites name as their style guides are such, whether they were read or not."""
    for organization, guide in draft.styleguides:
        draft.space(organization, guide)
        draft.organization(organization).spaces[guide]["type"] = "styleguide"


def take_share_links(draft: WorldDraft, items: list[Json], organization: str, site: str) -> None:
    """Their tokens are in their URLs, which are left out: the companion makes others."""
    draft.site(organization, site)["shareLinks"] = [without(item, *COMPUTED) for item in items]


def take_access(draft: WorldDraft, body: Json, organization: str, site: str) -> None:
    draft.site(organization, site)["visitorAuth"] = without(body, "privateKey", *COMPUTED)


def take_claims(draft: WorldDraft, body: Json, organization: str, site: str) -> None:
    draft.site(organization, site)["adaptiveSchema"] = body["jsonSchema"]


def take_agent_settings(draft: WorldDraft, body: Json, organization: str, site: str) -> None:
    kept = without(body, "updatedAt", "updatedBy", *COMPUTED)
    draft.site(organization, site)["agentSettings"] = kept


def take_mcp_servers(draft: WorldDraft, items: list[Json], organization: str, site: str) -> None:
    """With the names of their headers. The values may be secret, and others stand for them."""
    made = [without(item, *COMPUTED) for item in items]
    for one in made:
        if isinstance(one.get("headers"), dict):
            one["headers"] = dict.fromkeys(one["headers"], HIDDEN)
    draft.site(organization, site)["mcpServers"] = made


def take_channels(draft: WorldDraft, items: list[Json], organization: str, site: str) -> None:
    draft.site(organization, site)["channels"] = [without(item, "answers", *COMPUTED) for item in items]


def take_connections(draft: WorldDraft, items: list[Json], organization: str, site: str) -> None:
    """Their settings hold keys and tokens: every one of these is another text here."""
    made = [without(item, "email", *COMPUTED) for item in items]
    for one in made:
        if "setupSettings" in one:
            one["setupSettings"] = without_keys(one["setupSettings"])
    draft.site(organization, site)["contextConnections"] = made


def take_topics(draft: WorldDraft, items: list[Json], organization: str, site: str) -> None:
    """Those around others first: a world names a topic that it has already."""
    around = sorted(items, key=lambda item: "parent" in item)
    draft.site(organization, site)["topics"] = [
        {**without(item, "parent", *COMPUTED), **_parent_of(item)} for item in around
    ]


def _parent_of(topic: Json) -> Json:
    """The topic around one, as a world names it."""
    return {"parent": topic["parent"]["id"]} if topic.get("parent") else {}
