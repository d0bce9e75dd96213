"""Declare SAML providers (`Kind`), through which members of an organization sign in.

Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Delete, EntryMapping, Field, Kind, ListRead, Patch, PlatformWork, Post, Trouble
from dpsync.kinds.shared.fields import ROLE, ROLES_ASCENDING_WITH_GUEST
from dpsync.kinds.types import Reference, Text
from dpsync.kinds.types.texts import Certificate

SAML = Kind(
    name="saml",
    parent="organization",
    key="saml",
    label="SAML provider",
    shape=EntryMapping(),
    url_path="{parent}/saml/{id}",
    read=ListRead("{parent}/saml"),
    natural_keys=("label",),  # not unique on the platform
    title_field="label",
    create=Post("{parent}/saml", repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    has_content=True,
    platform_work=PlatformWork(
        trouble=Trouble(
            "status",
            "the SAML provider is not active, so members cannot sign in with it",
            "set entityID, ssoURL and certificate, and check the provider in GitBook",
            accepted_values=("active",),
        )
    ),
    creation_widens_access=True,
    deletion_widens_access=True,
    fields=(
        Field("label", Text(1, 30), required=True),
        # Shown as empty texts while they are not set: then the provider is of no use yet.
        Field("entityID", Text(0, 1024), null_effect="empty", can_widen_access=True, widens_when="changed"),
        # A request takes a URL, neither null nor an empty text (reference 4.8), so no request clears ssoURL.
        Field(
            "ssoURL",
            Text(1, 2048, format="url"),
            null_effect="by hand",
            can_widen_access=True,
            widens_when="changed",
        ),
        Field(
            "certificate",
            Certificate(0, 10000),
            null_effect="empty",
            can_widen_access=True,
            widens_when="changed",
        ),
        # Written as an id, read as the team; only deleting the team takes it away.
        Field(
            "defaultTeam",
            Reference.to("team"),
            read_path="defaultTeam.id",
            null_effect="by hand",
            can_widen_access=True,
            widens_when="changed",
        ),
        Field("defaultRole", ROLE, can_widen_access=True, widens_when=ROLES_ASCENDING_WITH_GUEST),
        Field("status", Text(), written_in="neither"),
    ),
)
