"""Declare organizations, with the order of their collections. dpsync never creates an organization."""

from dpsync.kinds.kind import ByHand, Entries, Field, Kind, One, Pages, Patch, PlatformWork, Trouble
from dpsync.kinds.shared.fields import (
    COLLECTION_ORDER,
    GUEST_FIRST,
    MERGE_FREELY,
    ROLE,
    STANDALONE_MERGE_RULES,
)
from dpsync.kinds.types import Domain, Enum, Flag, Many, Object, OneOf, Reference, Text

ORGANIZATION = Kind(
    name="organization",
    parent=None,
    key="organizations",
    shape=Entries(),
    at="/orgs/{id}",
    read=One(),
    find=Pages("/orgs"),
    identity=("hostname",),
    create=ByHand("create the organization in GitBook, and write the id of the organization in the entry"),
    update=Patch("{self}", repeat="safe"),
    platform=PlatformWork(trouble=Trouble(
        "blocked", "GitBook has blocked the organization",
        "ask GitBook to unblock the organization")),
    fields=(
        Field("title", Text(2, 255), on="update", in_answers="always", on_profiles={"published": {
            "type": Text(2, 255, r"[\s\S]*\S.*\S[\s\S]*",
                         meaning="a title: at least two visible characters")}}),
        Field("emailDomains", Many(Domain(1, 253), as_set=True), on="update", absent=[], security=True,
              raised="added"),
        Field("hostname", Text(3, 32, pattern="[a-z0-9][a-z0-9-]*[a-z0-9]", meaning="a host name: lower-case "
              "letters, digits and hyphens, with a letter or digit at both ends"), on="update"),
        Field("defaultRole", ROLE, on="update", absent="guest", security=True,
              raised=GUEST_FIRST),
        Field("defaultContent", OneOf("type", {"site": Object({"site": Reference.to("site")}, ("site",))}),
              on="update", null="clear"),
        # Written as `logo`, read as `urls.logo`, where the platform may answer with a URL of its own.
        Field("logo", Text(1, 2048, form="url"), on="update", read="urls.logo", null="clear"),
        Field("sso", Flag(), on="update", absent=False, after=("saml",), security=True,
              raised=(True, False)),
        Field("ai", Flag(), on="update", absent=False, raised=(False, True)),
        Field("inviteLinks", Flag(), on="update", platform_default=True, in_answers="always", security=True,
              raised=(False, True)),
        Field("mergeRules", STANDALONE_MERGE_RULES, on="update", in_answers="always",
              platform_default={"type": "rules", "rules": []}, security=True, raised=MERGE_FREELY),
        Field("blocked", Text(), on="neither", read="blocked.reason"),
        Field("type", Enum(("business", "community")), on="neither", in_answers="always"),
        COLLECTION_ORDER,
    ),
)  # fmt: skip
