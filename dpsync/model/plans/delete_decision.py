"""What a person still has to decide before the deletes of a plan: nothing, their number, or names."""

from __future__ import annotations

from dpsync.model.frozen import Frozen


class DeleteDecision(Frozen):
    """The open part of the decision. Without both parts, deletes are confirmed with the rest of the plan."""

    number: int | None = None
    """How many objects the plan deletes, if a person must confirm this number (`delete N`)."""
    names: tuple[str, ...] = ()
    """The addresses of objects that a person must name, each by itself (`delete ADDRESS`)."""

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers that make the decision, as `--confirm` takes them."""
        number = () if self.number is None else (f"delete {self.number}",)
        return (*number, *(f"delete {name}" for name in self.names))
