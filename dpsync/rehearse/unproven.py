"""What a rehearsal cannot show: each thing that no answer of the platform held, in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpsync.model.plans.plan import Plan
from dpsync.model.plans.rehearsal import Unproven
from dpsync.model.texts.words import counted
from dpsync.rehearse.world import World


def unproven(
    plan: Plan, world: World, *, refused: Iterable[str], guessed: Iterable[str], fetched: Iterable[str],
    secrets: Iterable[str], otherwise: Iterable[str],
) -> Iterator[Unproven]:  # fmt: skip
    """`refused` are paths that the token may not read, `guessed` lists that only the rehearsal has read,
    `fetched` addresses that the platform will fetch from, `secrets` the variables whose values are sent,
    `otherwise` what the companion answers otherwise than the platform, without any step that depends on it.
    """
    yield Unproven(message="whether this token may write all of this: it was carried out as an admin would")
    if secrets := tuple(secrets):
        yield Unproven(
            message="whether the platform takes the secrets: placeholders were sent", about=secrets
        )
    if world.spaces:
        spaces = counted(world.spaces, "space")
        yield Unproven(message=f"the content of {spaces}: no page, file or comment was loaded")
    if world.scripts:
        integrations = counted(world.scripts, "integration")
        yield Unproven(message=f"what the scripts of {integrations} do: no script and no picture was loaded")
    if fetched := tuple(sorted(fetched)):
        yield Unproven(
            message="whether the platform can fetch and process these: nothing was fetched", about=fetched
        )
    if refused := tuple(sorted(refused)):
        yield Unproven(message="what this token may not read (403)", about=refused)
    if guessed := tuple(sorted(guessed)):
        message = "what is in these: the plan had no need to read them, and they were taken to be empty"
        yield Unproven(message=message, about=guessed)
    if world.assumed:
        yield Unproven(
            message="what was named and not read: it was taken to be there",
            about=tuple(sorted(set(world.assumed))),
        )
    if world.unknown:
        about = tuple(sorted(reading.path for reading in world.unknown))
        yield Unproven(message="what the companion cannot hold: it was answered as before", about=about)
    if otherwise := tuple(otherwise):
        message = "what the companion answers otherwise than the platform: no step depends on it"
        yield Unproven(message=message, about=otherwise)
    if plan.trouble or plan.waiting:
        about = tuple(sorted({item.address for items in (plan.trouble, plan.waiting) for item in items}))
        yield Unproven(message="what the platform makes of its own work on these", about=about)
