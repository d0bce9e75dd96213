"""Patterns of the policy that name nothing: neither something declared nor anything that was read.

They could name something: a pattern that nothing can ever fit is an error before anything is read. Often one
like this was only forgotten, and sometimes it is the one that was meant to protect something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from dpsync.model.address import Address, Pattern
from dpsync.model.plan import Note
from dpsync.planner.context import Context

TEXT = "it matches nothing that is declared and nothing that was read"


def unmatched(context: Context) -> Iterator[Note]:
    """A warning for each such pattern."""
    policy = context.desired.policy
    rules: dict[str, tuple[tuple[Pattern, ...], Callable[[Context, Pattern], bool]]] = {
        "prune": (policy.prune, _names_list),
        "protect": (policy.protect, _names_object),
        "ignore": (policy.ignore, _leaves_alone),
        "forget": (policy.forget, _forgets),
    }
    for name, (patterns, matches) in rules.items():
        for pattern in patterns:
            if not matches(context, pattern):
                yield Note(address=where(name, pattern), text=TEXT, severity="warning")


def where(name: str, pattern: Pattern) -> str:
    """What the origin of a pattern and the notes about it are found by."""
    return f'policy.{name} "{pattern.text}"'


def _names_list(context: Context, pattern: Pattern) -> bool:
    lists = chain(context.desired.scopes, context.desired.unserved)
    return any(pattern.matches(address) for address in lists)


def _names_object(context: Context, pattern: Pattern) -> bool:
    return any(pattern.matches(address) for address in _objects(context))


def _leaves_alone(context: Context, pattern: Pattern) -> bool:
    named = pattern.covers if pattern.field is None else pattern.matches
    return any(named(address) for address in _objects(context))


def _forgets(context: Context, pattern: Pattern) -> bool:
    strangers = (identity for identity in context.snapshot.objects if identity not in context.declared)
    return any(context.forgotten(identity, pattern) for identity in strangers)


def _objects(context: Context) -> Iterator[Address]:
    """Everything that is declared or live, and the addresses that the git base has for it."""
    yield from context.desired.resources
    yield from context.desired.unserved
    yield from context.earlier_addresses.values()
    for identity in context.snapshot.objects:
        if identity not in context.declared:
            yield context.address(identity)
