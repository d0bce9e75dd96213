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
    yield Unproven(what="token", message="whether your token has write access to every object of the plan")
    if world.spaces:
        yield Unproven(
            what="content",
            message=f"the content of {world.holders}: the copy contains no pages, files or comments",
        )
    if world.scripts:
        number = counted(world.scripts, "integration")
        yield Unproven(
            what="scripts", message=f"the scripts of {number}: the copy contains no scripts or pictures"
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
    "secrets": "whether GitBook accepts these secrets (the rehearsal sends placeholders)",
    "fetched": "whether GitBook can fetch and process these URLs (the rehearsal fetches nothing)",
    "refused": "paths that your token may not read (status 403)",
    "unread": "lists that the plan did not read (the rehearsal assumes that these lists are empty)",
    "assumed": "objects that the plan names but did not read (the rehearsal assumes that they exist)",
    "unknown": "responses that the local server cannot store (the rehearsal repeats the response of GitBook)",
    "differing": "objects that differ in the local server (no step depends on these objects)",
    "platform": "objects on which GitBook is still working, or with which GitBook reports a problem",
    "public": "objects that the plan exposes temporarily",
}
