"""What several kinds share: roles and merge rules."""

from dpsync.kinds.kind import Field, Lifted, RuleComparison
from dpsync.kinds.types import Enum, Many, Object, OneOf, Reference, Text

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
