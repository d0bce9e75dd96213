"""Define fields that several kinds share: roles, merge rules, languages, orders, Git Sync, style guides.

`COLLECTION_ORDER` orders collections in a collection or at the top of an organization. `SPACE_SYNC` and
`SITE_SYNC` are the parts of spaces and sites that Git Sync keeps in sync with a repository. A style guide is
a space of its own type, which a request on a site creates and several sites may use.
"""

from msgspec.structs import replace

from dpsync.kinds.kind import ANY, Field, Lifted, ListOrder, Order, Patch, Post, RuleComparison, Synced
from dpsync.kinds.types import Enum, Many, Object, OneOf, Own, Reference, Table, Text

ROLES = ("admin", "create", "review", "edit", "comment", "read")
LEAST_FIRST = tuple(reversed(ROLES))
GUEST_FIRST = ("guest", *LEAST_FIRST)
"""Roles from the least to the most powerful. The effect of `inherit` depends on the parent."""
ROLE = Enum(ROLES, nil="guest")
LEVEL = Enum((*ROLES, "inherit"), nil="guest")
"""The role of everybody in the organization; `inherit` means the role of the parent."""

GIVEN_ROLE = Field(
    "role",
    Enum(ROLES),
    read="permission",
    required=True,
    in_answers="or null",
    security=True,
    raised=LEAST_FIRST,
    access="role",
)
"""The role that a permission gives in one place. A null role gives nothing."""

_NOBODY = Object({}, what="this rule")
_USERS = Object({"users": Many(Reference.to("member"), as_set=True)}, required=("users",), what="this rule")
_RULE = OneOf("rule", {
    "require_specific_reviewers": _USERS,
    "require_one_of_specific_reviewers": _USERS,
    "allow_bypass": _USERS,
    "require_at_least_one_review": _NOBODY,
    "require_at_least_one_approved_review": _NOBODY,
    "require_all_reviews_approved": _NOBODY,
    "require_agent_review": _NOBODY,
    "require_up_to_date_change_request": _NOBODY,
    "require_change_request_subject": _NOBODY,
    "require_change_request_description": _NOBODY,
    "require_author_to_merge": _NOBODY,
    "custom": Object({"expression": Text(0, 1024), "message": Text()}, required=("expression",),
                     what="this rule"),
})  # fmt: skip
_NOTHING = Object({}, what="these merge rules")
_OWN_RULES = {
    "rules": Object({"rules": Many(_RULE)}, required=("rules",), what="these merge rules"),
    "none": _NOTHING,
}
STANDALONE_MERGE_RULES = OneOf("type", _OWN_RULES)
MERGE_RULES = OneOf("type", {"inherit": _NOTHING, **_OWN_RULES})
MERGE_FREELY = Lifted(
    free=({"type": "none"}, {"type": "rules", "rules": []}),
    opens=("allow_bypass",),
    rules=RuleComparison(
        items="rules", name="rule", people="users", message="message",
        all_of=("require_specific_reviewers",),
        one_of=("require_one_of_specific_reviewers",),
        implied_by={
            "require_one_of_specific_reviewers": ("require_specific_reviewers",),
            "require_at_least_one_review": (
                "require_at_least_one_approved_review", "require_specific_reviewers",
                "require_one_of_specific_reviewers",
            ),
        },
    ),
    inherits={"type": "inherit"},
)  # fmt: skip

SPACE_ACCESS = (
    Field("defaultLevel", LEVEL, on="update", absent="guest", platform_default="inherit", security=True,
          raised=GUEST_FIRST, access="level"),
    Field("mergeRules", MERGE_RULES, on="update", platform_default={"type": "inherit"}, security=True,
          raised=MERGE_FREELY),
)  # fmt: skip
"""Who may read a space and merge into it: in its entry, or in that of the translation that makes it."""


LANGUAGES = (
    "en", "fr", "de", "es", "it", "pt", "pt-br", "ru", "ja", "zh", "zh-tw", "yue", "ko", "ar", "hi", "nl",
    "pl", "tr", "sv", "no", "da", "fi", "el", "cs", "hu", "ro", "th", "vi", "id", "ms", "he", "uk", "sk",
    "bg", "hr", "lt", "lv", "et", "sl",
)  # fmt: skip
LANGUAGE = Enum(LANGUAGES)


def localized(most: int) -> Table:
    """Return the type of texts by language, with a maximum length in characters."""
    return Table(LANGUAGE, Text(0, most))


LOCALIZED = localized(2048)


COLLECTION_ORDER = ListOrder(
    "collectionOrder",
    of="collection",
    by="parent",
    present=None,
    order=Order(
        Post("{self}/move", {"position": "$position"}, repeat="safe"),
        pointer={"type": "collection", "collection": "$id"},
    ),
)


SPACE_SYNC = Synced(
    at="gitSync",
    repository="repoName",
    provider="installationProvider",
    status="installationStatus",
    together="parentInstallationId",
    installation="installationId",
    # A synced space cannot be edited live.
    fields=("editMode",),
    # The navigation file of a synced site has the titles of its spaces.
    inherited=("title",),
)
# The navigation file in the repository has the title of its site and the tree, and nothing else of the site.
SITE_SYNC = replace(SPACE_SYNC, fields=("title",), inherited=(), tree=True)


STYLEGUIDE = Field(
    "styleguide",
    Own(what="a style guide space"),
    on="update",
    read="styleguide.space",
    null="clear",
    # Creating a style guide is safe to repeat: a site keeps its style guide. Null does not delete it.
    via={
        "own": Post("{self}/styleguide", None, repeat="safe"),
        ANY: Patch("{self}", {"styleguide": "$value"}, repeat="safe"),
        None: Patch("{self}", {"styleguide": None}, repeat="safe"),
    },
)
"""The style guide that the agent in a site's editor follows."""
IS_STYLEGUIDE = {"type": ("styleguide",)}
"""Members of style guides in the list of spaces. Files never declare these spaces."""
