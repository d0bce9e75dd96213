"""What a rehearsal cannot show: each thing that no answer of the platform held, in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpsync.model.plans.plan import Plan
from dpsync.model.plans.rehearsal import Unproven, UnprovenKind
from dpsync.model.texts.words import counted
from dpsync.rehearse.world import World


def unproven(
    plan: Plan, world: World, *, refused: Iterable[str], guessed: Iterable[str], fetched: Iterable[str],
    secrets: Iterable[str], differing: Iterable[str],
) -> Iterator[Unproven]:  # fmt: skip
    """`refused` are paths that the token may not read, `guessed` lists that only the rehearsal has read,
    `fetched` addresses that the platform will fetch from, `secrets` the variables whose values are sent,
    `differing` what the companion answers otherwise than the platform, without any step that depends on it.
    """
    yield Unproven(what="token", message="whether your token may write all of this")
    if world.spaces:
        yield Unproven(
            what="content",
            message=f"the content of {world.holders}: the copy has no pages, files or comments",
        )
    if world.scripts:
        number = counted(world.scripts, "integration")
        yield Unproven(
            what="scripts", message=f"the scripts of {number}: the copy has no scripts and pictures"
        )
    work = (item.address for items in (plan.trouble, plan.accepted, plan.waiting) for item in items)
    moments = (item.address for item in plan.exposures if item.moment)
    names: dict[UnprovenKind, Iterable[str]] = {
        "secrets": secrets, "fetched": fetched, "refused": refused, "unread": guessed,
        "assumed": world.assumed, "unknown": (one.path for one in world.unknown), "differing": differing,
        "platform": work, "public": moments,
    }  # fmt: skip
    for what, about in names.items():
        if found := tuple(sorted(set(about))):
            yield Unproven(what=what, message=_MESSAGES[what], about=found)


_MESSAGES: dict[UnprovenKind, str] = {
    "secrets": "whether the platform accepts these secrets (placeholders were sent)",
    "fetched": "whether the platform can fetch and process these (nothing was fetched)",
    "refused": "what this token may not read (403)",
    "unread": "what is in these (the plan had no need to read them: they were taken to be empty)",
    "assumed": "what is named and was not read (it was taken to be there)",
    "unknown": "what the companion cannot hold (it was answered as before)",
    "differing": "what the companion answers otherwise (no step depends on it)",
    "platform": "what the platform makes of its own work",
    "public": "what else is public for a moment: the plan says that something is",
}
