"""How much may be deleted or exposed without a question: an answer names the number, or the thing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from msgspec import Struct

from dpsync.model import refusals
from dpsync.model.address import Address
from dpsync.model.change import Change, Exposure
from dpsync.model.desired import PERCENT_FROM, Base, Limits, Policy
from dpsync.model.diagnostic import WayOut
from dpsync.model.plan import count_deletes
from dpsync.model.text import counted, some
from dpsync.planner.inputs.answers import EXPOSE, FOR_A_MOMENT, Answer, Question
from dpsync.planner.inputs.names import Names


class LimitsInForce(Struct, frozen=True):
    """What may be deleted or exposed without a question, and of how many things."""

    limits: Limits
    since: str
    """What is said where the change at hand raises them."""
    managed: Callable[[str], frozenset[str]]
    """The address of everything that was read in the places of an organization."""


def in_force(policy: Policy, base: Base, names: Names) -> LimitsInForce:
    """The stricter of the limits of now and of the git base.

    Who raises a limit in the change that needs it has not been asked by anybody.
    """
    now = policy.limits
    before = base.desired.policy.limits if base.desired is not None else now
    exposures = [limit for limit in (now.exposures, before.exposures) if limit is not None]
    limits = Limits(
        min(now.deletes, before.deletes), min(now.percent, before.percent), min(exposures, default=None)
    )
    lower = f"the lower limit in your files and in {base.name} applies"
    moved = f"{lower}, because a change cannot raise its own limits"
    since = "" if limits == now else f" ({moved})"
    return LimitsInForce(limits, since, partial(_managed, names))


def _managed(names: Names, organization: str) -> frozenset[str]:
    return frozenset(
        str(names.address(identity))
        for place, items in names.snapshot.scopes.items()
        if place.first == organization
        for identity in items
    )


def limited(bounds: LimitsInForce, exposures: tuple[Exposure, ...]) -> Iterator[Question]:
    """The questions about more exposures than the limits allow, and about exposures for a moment."""
    yield from _exposed(bounds, exposures)
    yield from _for_a_moment(exposures)


class ExceededLimits(Struct, frozen=True):
    """An organization in which a plan deletes more than the limits allow, and the sentence that says so."""

    organization: str
    text: str

    def __str__(self) -> str:
        return self.text


def exceeded(
    bounds: LimitsInForce, deletes: Sequence[Change], some_named: bool = False
) -> list[ExceededLimits]:
    """Return the organizations in which these deletes are more than the limits allow.

    `some_named`: whether the plan has more deletes, of objects that a person named.
    """
    limits, found = bounds.limits, []
    organizations = sorted({change.location.first for change in deletes})
    for organization in organizations:
        mine = [change for change in deletes if change.location.first == organization]
        part = _part(bounds.managed(organization), mine)
        if part.exceeds(limits):
            where = f"in {organization}, " if len(organizations) > 1 else ""
            if part.deleted > limits.deletes:
                allowed = counted(limits.deletes, "delete")
                planned = f"has {counted(part.deleted, 'delete')}"
            else:
                allowed = f"deletes of {limits.percent} percent of the objects"
                planned = f"deletes {part.percent:.0f} percent of {counted(part.known, 'object')}"
            named = " (not counting objects that you confirmed by address)" if some_named else ""
            text = f"{where}policy.limits allows {allowed} without confirmation, and this plan {planned}"
            text += f"{named}{bounds.since}"
            found.append(ExceededLimits(organization, text))
    return found


class _Part(Struct, frozen=True):
    """How many of the known objects of an organization would be deleted."""

    deleted: int
    known: int

    @property
    def percent(self) -> float:
        return 100 * self.deleted / max(self.known, 1)

    @property
    def percent_applies(self) -> bool:
        """Return whether the organization has enough known objects for a percentage to mean something."""
        return self.known >= PERCENT_FROM

    def exceeds(self, limits: Limits) -> bool:
        too_large_a_share = self.percent_applies and self.percent > limits.percent
        return self.deleted > limits.deletes or too_large_a_share


def _part(managed: frozenset[str], deletes: Sequence[Change]) -> _Part:
    """What deletes in an organization are of everything there."""
    # What goes along from elsewhere is a part of the whole too: else there would be more than all of it.
    along = {effect.address for change in deletes for effect in change.effects if effect.counts}
    return _Part(count_deletes(deletes).number, len(managed) + len(along - managed))


def exceeding(bounds: LimitsInForce, changes: Iterable[Change]) -> frozenset[Address]:
    """Deletes of which each alone, with what goes along, is more than the limits allow without an answer."""
    deletes = [change for change in changes if change.action == "delete"]
    managed = {name: bounds.managed(name) for name in {change.location.first for change in deletes}}
    return frozenset(
        change.location
        for change in deletes
        if _part(managed[change.location.first], [change]).exceeds(bounds.limits)
    )


def _exposed(bounds: LimitsInForce, exposures: tuple[Exposure, ...]) -> Iterator[Question]:
    """More exposures than allowed, per organization; `--confirm "expose N"` answers once, with the number."""
    allowed = bounds.limits.exposures
    counts = Counter(item.location.first for item in exposures)
    answer = Answer(EXPOSE, str(len(exposures)))
    for organization, count in sorted(counts.items()):
        if allowed is not None and count > allowed:
            refusal = refusals.EXPOSURES.at(
                organization,
                answers=(
                    WayOut(
                        address=organization,
                        add=answer.flag,
                        means='confirm all changes marked "opens access"',
                    ),
                ),
                ways=counted(count, "way"),
                allowed=allowed,
                since=bounds.since,
                answer=answer.flag,
            )
            yield Question(answer, refusal)


def _for_a_moment(exposures: tuple[Exposure, ...]) -> Iterator[Question]:
    """What is public or powerful only for a moment: never without an answer that names how many."""
    found = [item for item in exposures if item.moment]
    answer = Answer(FOR_A_MOMENT, str(len(found)))
    if found:
        named = list(dict.fromkeys(item.address for item in found))
        refusal = refusals.FOR_A_MOMENT.at(
            named[0],
            names=some(named),
            answer=answer.flag,
            answers=(WayOut(address=named[0], add=answer.flag, means="allow this access for a moment"),),
        )
        yield Question(answer, refusal)
