"""Declare the members of an organization, by email. dpsync sets roles and removes members, never invites."""

from dpsync.kinds.kind import Add, ByHand, Delete, Entries, Field, Guard, Kind, Lifecycle, Pages, Patch, Post
from dpsync.kinds.shared.fields import GUEST_FIRST, ROLE
from dpsync.kinds.types import Flag, Text

MEMBER = Kind(
    name="member",
    parent="organization",
    key="members",
    delete_effect="this person loses access to the organization",
    shape=Entries(natural="email"),
    at="{parent}/members/{id}",
    id="user.id",
    own_id=False,
    read=Pages("{parent}/members"),
    identity=("email",),
    title="email",
    create=ByHand(
        "invite {key} to the organization in GitBook, because dpsync cannot send invitations. After the "
        "person has joined, run this command again"
    ),
    # Somebody who signs in by SSO needs no invitation, only to be known by id.
    lifecycle=Lifecycle(
        add=Add(Post("{parent}/members/{id}/sso", None, gives="$id", repeat="safe"), "sso", True)
    ),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    shorthand="role",
    guard=Guard("role", "admin", own=True),
    security=True,
    fields=(
        Field("email", Text(3, 320, form="email"), on="neither", read="user.email"),
        Field("role", ROLE, absent="guest", security=True, raised=GUEST_FIRST, access="role"),
        # Set by a call of its own; no call takes it back.
        Field(
            "sso",
            Flag(),
            on="update",
            via={True: Post("{self}/sso", None, repeat="safe")},
            absent=False,
            security=True,
            raised=(False, True),
        ),
    ),
)
