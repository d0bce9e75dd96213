"""Define fields that several kinds share: roles, merge rules, languages, orders, Git Sync, style guides.

`COLLECTION_ORDER` orders collections in a collection or at the top of an organization. `SPACE_SYNC` and
`SITE_SYNC` are the parts of spaces and sites that Git Sync keeps in sync with a repository. A style guide is
a space of its own type, which a request on a site creates and several sites may use.
"""

from msgspec.structs import replace

from dpsync.kinds.kind import (
    ANY,
    Field,
    GitSync,
    ListOrder,
    Patch,
    Post,
    Restriction,
    RuleComparison,
    SiblingOrder,
)
from dpsync.kinds.types import Enum, List, Object, OneOf, OwnReference, Reference, Table, Text

ROLES = ("admin", "create", "review", "edit", "comment", "read")
ROLES_ASCENDING = tuple(reversed(ROLES))
ROLES_ASCENDING_WITH_GUEST = ("guest", *ROLES_ASCENDING)
"""Roles from the least to the most powerful. The effect of `inherit` depends on the parent."""
ROLE = Enum(ROLES, null_word="guest")
LEVEL = Enum((*ROLES, "inherit"), null_word="guest")
"""The role of everybody in the organization; `inherit` means the role of the parent."""

REQUIRED_ROLE = Field(
    "role",
    Enum(ROLES),
    read_path="permission",
    required=True,
    in_responses="or null",
    can_widen_access=True,
    widens_when=ROLES_ASCENDING,
    access_meaning="role",
)
"""The role that a permission gives in one place. A null role gives nothing."""

_NO_PEOPLE = Object({}, noun="this rule")
_USERS = Object({"users": List(Reference.to("member"), is_set=True)}, required=("users",), noun="this rule")
_RULE = OneOf("rule", {
    "require_specific_reviewers": _USERS,
    "require_one_of_specific_reviewers": _USERS,
    "allow_bypass": _USERS,
    "require_at_least_one_review": _NO_PEOPLE,
    "require_at_least_one_approved_review": _NO_PEOPLE,
    "require_all_reviews_approved": _NO_PEOPLE,
    "require_agent_review": _NO_PEOPLE,
    "require_up_to_date_change_request": _NO_PEOPLE,
    "require_change_request_subject": _NO_PEOPLE,
    "require_change_request_description": _NO_PEOPLE,
    "require_author_to_merge": _NO_PEOPLE,
    "custom": Object({"expression": Text(0, 1024), "message": Text()}, required=("expression",),
                     noun="this rule"),
})  # fmt: skip
_NO_MERGE_RULES = Object({}, noun="these merge rules")
_LISTED_MERGE_RULES = {
    "rules": Object({"rules": List(_RULE)}, required=("rules",), noun="these merge rules"),
    "none": _NO_MERGE_RULES,
}
STANDALONE_MERGE_RULES = OneOf("type", _LISTED_MERGE_RULES)
MERGE_RULES = OneOf("type", {"inherit": _NO_MERGE_RULES, **_LISTED_MERGE_RULES})
MERGE_RESTRICTION = Restriction(
    unrestricted_values=({"type": "none"}, {"type": "rules", "rules": []}),
    opening_words=("allow_bypass",),
    rule_comparison=RuleComparison(
        rules_key="rules", name_key="rule", people_key="users", message_key="message",
        rules_for_all_people=("require_specific_reviewers",),
        rules_for_any_person=("require_one_of_specific_reviewers",),
        implied_by={
            "require_one_of_specific_reviewers": ("require_specific_reviewers",),
            "require_at_least_one_review": (
                "require_at_least_one_approved_review", "require_specific_reviewers",
                "require_one_of_specific_reviewers",
            ),
        },
    ),
    inherit_value={"type": "inherit"},
)  # fmt: skip

SPACE_ACCESS = (
    Field(
        "defaultLevel", LEVEL, written_in="update", value_when_absent="guest", platform_default="inherit",
        can_widen_access=True, widens_when=ROLES_ASCENDING_WITH_GUEST, access_meaning="level",
    ),
    Field(
        "mergeRules", MERGE_RULES, written_in="update", platform_default={"type": "inherit"},
        can_widen_access=True, widens_when=MERGE_RESTRICTION,
    ),
)  # fmt: skip
"""Who may read a space and merge into it: in its entry, or in that of the translation that makes it."""


LANGUAGES = (
    "en", "fr", "de", "es", "it", "pt", "pt-br", "ru", "ja", "zh", "zh-tw", "yue", "ko", "ar", "hi", "nl",
    "pl", "tr", "sv", "no", "da", "fi", "el", "cs", "hu", "ro", "th", "vi", "id", "ms", "he", "uk", "sk",
    "bg", "hr", "lt", "lv", "et", "sl",
)  # fmt: skip
LANGUAGE = Enum(LANGUAGES)


def localized_text(max_length: int) -> Table:
    """Return the type of texts by language, with a maximum length in characters."""
    return Table(LANGUAGE, Text(0, max_length))


LOCALIZED = localized_text(2048)


COLLECTION_ORDER = ListOrder(
    "collectionOrder",
    item_kind="collection",
    place_field="parent",
    live_order_read=None,
    move_order=SiblingOrder(
        Post("{self}/move", {"position": "$position"}, repeat="safe"),
        sibling_reference={"type": "collection", "collection": "$id"},
    ),
)


SPACE_SYNC = GitSync(
    response_path="gitSync",
    repository="repoName",
    provider="installationProvider",
    status="installationStatus",
    synced_with_owner_member="parentInstallationId",
    installation="installationId",
    # A synced space cannot be edited live.
    fields=("editMode",),
    # The navigation file of a synced site has the titles of its spaces.
    fields_synced_with_owner=("title",),
)
# The navigation file in the repository has the title of its site and the tree, and nothing else of the site.
SITE_SYNC = replace(SPACE_SYNC, fields=("title",), fields_synced_with_owner=(), includes_tree=True)


STYLEGUIDE = Field(
    "styleguide",
    OwnReference(noun="a style guide space"),
    written_in="update",
    read_path="styleguide.space",
    null_effect="clear",
    # Creating a style guide is safe to repeat: a site keeps its style guide. Null does not delete it.
    own_call={
        "own": Post("{self}/styleguide", None, repeat="safe"),
        ANY: Patch("{self}", {"styleguide": "$value"}, repeat="safe"),
        None: Patch("{self}", {"styleguide": None}, repeat="safe"),
    },
)
"""The style guide that the agent in a site's editor follows."""
STYLEGUIDE_ITEMS = {"type": ("styleguide",)}
"""Members of style guides in the list of spaces. Files never declare these spaces."""
