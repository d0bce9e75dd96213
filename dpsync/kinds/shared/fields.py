"""Define fields that several kinds share: roles, merge rules, languages, orders, Git Sync, style guides.

What several kinds share: roles and merge rules.

Types that several kinds share: languages, and texts in them.

The order of collections among each other: in a collection, and at the top of an organization.

Git Sync: the platform itself keeps the structure of a site, or the content of a space, as a repository has
it.

Style guides: spaces of a type of their own. A request on a site makes one; several sites may name it.
"""

from msgspec.structs import replace

from dpsync.kinds.kind import ANY, Field, Lifted, ListOrder, Order, Patch, Post, RuleComparison, Synced
from dpsync.kinds.types import Enum, Many, Object, OneOf, Own, Reference, Table, Text

ROLES = ("admin", "create", "review", "edit", "comment", "read")
LEAST_FIRST = tuple(reversed(ROLES))
GUEST_FIRST = ("guest", *LEAST_FIRST)
"""From the least to the most powerful; what `inherit` gives is not known from the word."""
ROLE = Enum(ROLES, nil="guest")
LEVEL = Enum((*ROLES, "inherit"), nil="guest")
"""The level of everybody in the organization; `inherit` takes the one above."""

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
"""What a permission gives in one place. A null role gives nothing."""

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
    """A text in some languages, each of at most so many characters."""
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
    # Making one is safe to repeat: a site that has one keeps it. Letting it go does not delete it.
    via={
        "own": Post("{self}/styleguide", None, repeat="safe"),
        ANY: Patch("{self}", {"styleguide": "$value"}, repeat="safe"),
        None: Patch("{self}", {"styleguide": None}, repeat="safe"),
    },
)
"""Of a site: which guide its editor's agent goes by."""
IS_STYLEGUIDE = {"type": ("styleguide",)}
"""Of an item of the list of spaces: then it is none that anybody declares."""
