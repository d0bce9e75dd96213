"""Declare organizations (`Kind`), with the order of their collections. dpsync never creates one.

Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import (
    EntryMapping,
    Field,
    Kind,
    ListRead,
    ManualStep,
    Patch,
    PlatformWork,
    SingleRead,
    Trouble,
)
from dpsync.kinds.shared.fields import (
    COLLECTION_ORDER,
    MERGE_RESTRICTION,
    ROLE,
    ROLES_ASCENDING_WITH_GUEST,
    STANDALONE_MERGE_RULES,
)
from dpsync.kinds.types import Domain, Enum, Flag, List, Object, OneOf, Reference, Text

ORGANIZATION = Kind(
    name="organization", parent=None, key="organizations", shape=EntryMapping(), url_path="/orgs/{id}",
    read=SingleRead(), search_list=ListRead("/orgs"), natural_keys=("hostname",),
    create=ManualStep(
        "create the organization in GitBook, and write the id of the organization in the entry"
    ),
    update=Patch("{self}", repeat="safe"),
    platform_work=PlatformWork(
        trouble=Trouble(
            "blocked", "GitBook has blocked the organization", "ask GitBook to unblock the organization"
        )
    ),
    fields=(
        Field(
            "title", Text(2, 255), written_in="update", in_responses="always",
            profile_overrides={
                "published": {
                    "type": Text(
                        2, 255, r"[\s\S]*\S.*\S[\s\S]*",
                        pattern_description="a title: at least two visible characters",
                    )
                }
            },
        ),
        Field(
            "emailDomains", List(Domain(1, 253), is_set=True), written_in="update", value_when_absent=[],
            can_widen_access=True, widens_when="added",
        ),
        Field(
            "hostname",
            Text(
                3, 32, pattern="[a-z0-9][a-z0-9-]*[a-z0-9]",
                pattern_description="a host name: lower-case "
                "letters, digits and hyphens, with a letter or digit at both ends",
            ),
            written_in="update",
        ),
        Field(
            "defaultRole", ROLE, written_in="update", value_when_absent="guest", can_widen_access=True,
            widens_when=ROLES_ASCENDING_WITH_GUEST,
        ),
        Field(
            "defaultContent", OneOf("type", {"site": Object({"site": Reference.to("site")}, ("site",))}),
            written_in="update", null_effect="clear",
        ),
        # Written as `logo`, read as `urls.logo`, where the platform may answer with a URL of its own.
        Field(
            "logo", Text(1, 2048, format="url"), written_in="update", read_path="urls.logo",
            null_effect="clear",
        ),
        Field(
            "sso", Flag(), written_in="update", value_when_absent=False, written_after=("saml",),
            can_widen_access=True, widens_when=(True, False),
        ),
        Field("ai", Flag(), written_in="update", value_when_absent=False, widens_when=(False, True)),
        Field(
            "inviteLinks", Flag(), written_in="update", platform_default=True, in_responses="always",
            can_widen_access=True, widens_when=(False, True),
        ),
        Field(
            "mergeRules", STANDALONE_MERGE_RULES, written_in="update", in_responses="always",
            platform_default={"type": "rules", "rules": []}, can_widen_access=True,
            widens_when=MERGE_RESTRICTION,
        ),
        Field("blocked", Text(), written_in="neither", read_path="blocked.reason"),
        Field("type", Enum(("business", "community")), written_in="neither", in_responses="always"),
        COLLECTION_ORDER,
    ),
)  # fmt: skip
