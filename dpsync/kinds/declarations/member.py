"""Declare the members of an organization (`Kind`), identified by their e-mail address.

dpsync sets roles and removes members; it never invites people.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import (
    CreateWithId,
    Delete,
    EntryMapping,
    Field,
    Kind,
    LastHolderGuard,
    Lifecycle,
    ListRead,
    ManualStep,
    Patch,
    Post,
)
from dpsync.kinds.shared.fields import ROLE, ROLES_ASCENDING_WITH_GUEST
from dpsync.kinds.types import Flag, Text

MEMBER = Kind(
    name="member",
    parent="organization",
    key="members",
    delete_effect="this person loses access to the organization",
    shape=EntryMapping(key_field="email"),
    url_path="{parent}/members/{id}",
    id_path="user.id",
    has_unique_id=False,
    read=ListRead("{parent}/members"),
    natural_keys=("email",),
    title_field="email",
    create=ManualStep(
        "invite {key} to the organization in GitBook, because dpsync cannot send invitations. After the "
        "person has joined, run this command again"
    ),
    # Somebody who signs in by SSO needs no invitation, only to be known by id.
    lifecycle=Lifecycle(
        create_with_id=CreateWithId(
            Post("{parent}/members/{id}/sso", None, id_source="$id", repeat="safe"), "sso", True
        )
    ),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    shorthand_field="role",
    guard=LastHolderGuard("role", "admin", protects_token_user=True),
    creation_widens_access=True,
    fields=(
        Field("email", Text(3, 320, format="email"), written_in="neither", read_path="user.email"),
        Field(
            "role",
            ROLE,
            value_when_absent="guest",
            can_widen_access=True,
            widens_when=ROLES_ASCENDING_WITH_GUEST,
            access_meaning="role",
        ),
        # Set by a call of its own; no call takes it back.
        Field(
            "sso",
            Flag(),
            written_in="update",
            own_call={True: Post("{self}/sso", None, repeat="safe")},
            value_when_absent=False,
            can_widen_access=True,
            widens_when=(False, True),
        ),
    ),
)
