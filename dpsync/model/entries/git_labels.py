"""The commits that labels compare with: what plans and drift say about who changed a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from dpsync.model.entries.desired import Desired
from dpsync.model.entries.ids import NO_IDS, IdsFile


class PastFiles(Struct, frozen=True):
    """The configuration and the ids file of one commit."""

    desired: Desired
    ids: IdsFile = NO_IDS


class Target(Struct, frozen=True):
    """What an apply writes to: organizations of one platform."""

    platform: str
    """The name that the platform has in ids files."""
    address: str
    organizations: frozenset[str]
    """The ids of the organizations."""


def _any_target(target: Target) -> bool:
    return True


class AppliedCommit(Struct, frozen=True):
    """The commit that was applied last to some target, if a caller knows it."""

    commit: str
    is_for: Callable[[Target], bool]


class LastApply(Struct, frozen=True):
    """The commit that was applied last, and the commits since then.

    `commits` starts with the applied commit. Further commits follow as far as their configuration differs
    from the one before. They are loaded on first use; `commits` is empty if this clone lacks one of them.
    """

    commits: Iterable[PastFiles]
    is_for: Callable[[Target], bool] = _any_target
    whole: bool = False
    """Whether the apply read, compared and pruned everything that its files declare."""


class LabelCommits(Struct, frozen=True):
    """The commits from which labels follow. Decisions never depend on them."""

    compared: PastFiles | None = None
    """The commit of which "edited here" is a fact: the merge base of a pull request, or the commit that
    `--base` names. If it is None, the commit that was applied last is compared."""
    applies: tuple[LastApply, ...] = ()
    """The last apply to each platform."""
    platform: str = ""
    """The name that the platform has in ids files."""

    def on(self, target: Target) -> LabelCommits:
        """Return the same commits with only the last apply to a target."""
        applies = tuple(one for one in self.applies if one.is_for(target))
        return replace(self, applies=applies[:1], platform=target.platform)

    def mapped(self, change: Callable[[Desired], Desired]) -> LabelCommits:
        """Return the same commits with a change to the configuration of each, made on first use."""
        compared = self.compared
        return replace(
            self,
            compared=replace(compared, desired=change(compared.desired)) if compared is not None else None,
            applies=tuple(replace(one, commits=_Mapped(one.commits, change)) for one in self.applies),
        )


class _Mapped(Struct, frozen=True):
    commits: Iterable[PastFiles]
    change: Callable[[Desired], Desired]

    def __iter__(self) -> Iterator[PastFiles]:
        return (replace(one, desired=self.change(one.desired)) for one in self.commits)


NO_LABELS = LabelCommits()
