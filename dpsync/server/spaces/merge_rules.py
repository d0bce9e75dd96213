"""Check the merge rules of a space: find the rules that a change request does not meet.

Input: the rules, and reviews `{user, status}` with the status `approved` or `changes-requested`; a review of
GitBook's AI agent has no user. A rule that cannot be checked, such as an expression, counts as not met.
"""

from collections.abc import Callable, Iterable

from msgspec import Struct

from ..content.rich_text import plain_text
from ..errors import not_found
from ..request.context import Context
from ..store import Json, Record
from .revisions import is_outdated

APPROVED = "approved"


class MergeAttempt(Struct, frozen=True):
    """A change request that the caller wants to merge."""

    request: Json
    outdated: bool
    caller: str

    @property
    def reviews(self) -> list[Json]:
        """Return the reviews of the change request."""
        reviews: list[Json] = self.request.get("reviews", [])
        return reviews

    @property
    def approvers(self) -> set[str]:
        """Return the users who approved the change request."""
        return {review["user"] for review in self.reviews if _approves(review) and review.get("user")}


def _approves(review: Json) -> bool:
    """Return whether a review approves the change request."""
    return bool(review["status"] == APPROVED)


def may_merge_any(ctx: Context, space: Record, requests: Iterable[Record]) -> bool:
    """Return whether the rules let the caller merge one of the open change requests; true if none is open."""
    rules = rules_in_force(ctx, space)
    open_requests = (
        [request for request in requests if request.doc["status"] in ("draft", "open")] if rules else []
    )
    return not open_requests or any(
        not unmet_rules(rules, make_attempt(ctx, space, request)) for request in open_requests
    )


def rules_in_force(ctx: Context, space: Record) -> list[Json]:
    """Return the merge rules of a space, its own or those of its organization."""
    organization = ctx.load("organization", space.organization)
    return resolve_rules(space.doc, organization.doc if organization else {})


def make_attempt(ctx: Context, space: Record, request: Record) -> MergeAttempt:
    """Return the caller's attempt to merge a change request."""
    return MergeAttempt(request.doc, is_outdated(space, request.doc), ctx.user)


def check_users(ctx: Context, record: Record, body: Json) -> None:
    """Raise 404 if a new user in `mergeRules` is not a member of the organization.

    Users that are named already are accepted: they may have left, or may come from a space's former
    organization.
    """
    known_users = {user for rule in _own_rules(record.doc) for user in _rule_users(rule)}
    for rule_index, rule in enumerate(_own_rules(body)):
        for user_index, user in enumerate(rule.get("users") or []):
            if user not in known_users and ctx.load("member", f"{record.organization}:{user}") is None:
                raise not_found(f"body.mergeRules.rules.{rule_index}.users.{user_index}: member", user)


def _own_rules(doc: Json) -> list[Json]:
    """Return the rules in a document, without inherited ones."""
    rules: list[Json] = (doc.get("mergeRules") or {}).get("rules", [])
    return rules


def resolve_rules(space: Json, organization: Json) -> list[Json]:
    """Return the rules of a space, which may be inherited from its organization."""
    chosen = space["mergeRules"]
    if chosen["type"] == "inherit":
        chosen = organization.get("mergeRules") or {"type": "none"}
    return list(chosen["rules"]) if chosen["type"] == "rules" else []


def unmet_rules(rules: list[Json], attempt: MergeAttempt) -> list[str]:
    """Return a sentence for each merge rule that a merge of a change request does not meet.

    The list is empty if the caller is named in a rule `allow_bypass`. A rule with an expression (`custom`)
    is never met, because the local server cannot evaluate the expression.
    """
    if any(rule["rule"] == "allow_bypass" and attempt.caller in _rule_users(rule) for rule in rules):
        return []
    messages = []
    for rule in rules:
        if rule["rule"] == "allow_bypass" or _RULE_CHECKS[rule["rule"]](rule, attempt):
            continue
        if rule["rule"] == "custom":
            default = "the local server cannot check a rule with an expression"
            messages.append(rule.get("message") or default)
        else:
            messages.append(f"the rule {rule['rule']} is not met")
    return messages


def _rule_users(rule: Json) -> set[str]:
    """Return the users whom a rule names."""
    return set(rule.get("users") or [])


_RULE_CHECKS: dict[str, Callable[[Json, MergeAttempt], bool]] = {
    "require_specific_reviewers": lambda rule, attempt: _rule_users(rule) <= attempt.approvers,
    "require_one_of_specific_reviewers": lambda rule, attempt: bool(_rule_users(rule) & attempt.approvers),
    "require_at_least_one_review": lambda _rule, attempt: bool(attempt.reviews),
    "require_at_least_one_approved_review": lambda _rule, attempt: any(map(_approves, attempt.reviews)),
    "require_all_reviews_approved": lambda _rule, attempt: all(map(_approves, attempt.reviews)),
    "require_agent_review": lambda _rule, attempt: any(not review.get("user") for review in attempt.reviews),
    "require_up_to_date_change_request": lambda _rule, attempt: not attempt.outdated,
    "require_change_request_subject": lambda _rule, attempt: bool(attempt.request["subject"].strip()),
    "require_change_request_description": lambda _rule, attempt: bool(
        plain_text((attempt.request.get("description") or {}).get("nodes")).strip()
    ),
    "require_author_to_merge": lambda _rule, attempt: attempt.caller == attempt.request["createdBy"],
    "custom": lambda _rule, _attempt: False,
}
