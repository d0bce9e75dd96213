"""Declare the SAML providers through which members of an organization sign in."""

from dpsync.kinds.kind import Delete, Entries, Field, Kind, Pages, Patch, PlatformWork, Post, Trouble
from dpsync.kinds.shared.fields import GUEST_FIRST, ROLE
from dpsync.kinds.types import Reference, Text
from dpsync.kinds.types.texts import Certificate

SAML = Kind(
    name="saml",
    parent="organization",
    key="saml",
    label="SAML provider",
    shape=Entries(),
    at="{parent}/saml/{id}",
    read=Pages("{parent}/saml"),
    identity=("label",),  # not unique on the platform
    title="label",
    create=Post("{parent}/saml", repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    content=True,
    platform=PlatformWork(
        trouble=Trouble(
            "status",
            "the SAML provider is not active, so members cannot sign in with it",
            "set entityID, ssoURL and certificate, and check the provider in GitBook",
            fine=("active",),
        )
    ),
    security=True,
    keeps_out=True,
    fields=(
        Field("label", Text(1, 30), required=True),
        # Shown as empty texts while they are not set: then the provider is of no use yet.
        Field("entityID", Text(0, 1024), null="empty", security=True, raised="changed"),
        # A request takes a URL, neither null nor an empty text (reference 4.8), so no request clears ssoURL.
        Field("ssoURL", Text(1, 2048, form="url"), null="by hand", security=True, raised="changed"),
        Field("certificate", Certificate(0, 10000), null="empty", security=True, raised="changed"),
        # Written as an id, read as the team; only deleting the team takes it away.
        Field(
            "defaultTeam",
            Reference.to("team"),
            read="defaultTeam.id",
            null="by hand",
            security=True,
            raised="changed",
        ),
        Field("defaultRole", ROLE, security=True, raised=GUEST_FIRST),
        Field("status", Text(), on="neither"),
    ),
)
