"""What a rehearsal cannot show: each thing that no answer of the platform held, in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpsync.model.plan import Plan, Unproven, UnprovenKind
from dpsync.model.text import counted
from dpsync.rehearse.world import World


def unproven(
    plan: Plan, world: World, *, refused: Iterable[str], guessed: Iterable[str], fetched: Iterable[str],
    secrets: Iterable[str], differing: Iterable[str],
) -> Iterator[Unproven]:  # fmt: skip
    """`refused` are paths that the token may not read, `guessed` lists that only the rehearsal has read,
    `fetched` addresses that the platform will fetch from, `secrets` the variables whose values are sent,
    `differing` what the companion answers otherwise than the platform, without any step that depends on it.
    """
    yield Unproven(what="token", message="The rehearsal cannot check whether your token has write access.")
    if world.spaces:
        yield Unproven(
            what="content",
            message=f"The copy has no pages and no comments. The content of {world.holders} was not checked.",
        )
    if world.scripts:
        number = counted(world.scripts, "integration")
        message = f"The copy has no scripts and no pictures. The scripts of {number} were not checked."
        yield Unproven(what="scripts", message=message)
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
    "secrets": "Instead of the values of these environment variables, the rehearsal sent placeholders",
    "fetched": "The rehearsal did not check whether GitBook can fetch these URLs",
    "refused": "Your token cannot read these API paths (status 403)",
    "unread": "The plan did not read these lists, so the rehearsal treated these lists as empty",
    "assumed": "The plan did not read these objects, so the rehearsal assumed that these objects exist",
    "unknown": "The local server cannot store what GitBook returned for these API paths",
    "differing": "In the copy, these objects differ from GitBook, but no step depends on these objects",
    "platform": "GitBook is still processing these objects, or reports a problem with these objects",
    "public": "The apply will make these objects public for a short time",
}
