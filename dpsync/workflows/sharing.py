"""Which environments share a line of a configuration: a value that is put there is theirs, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from dpsync.config.discovery import Files
from dpsync.config.layers import Layers
from dpsync.config.load import load_from
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Desired
from dpsync.model.nodes import Span

if TYPE_CHECKING:
    from dpsync.importing.update import Taken

TOP: str = "the top-level values"
"""A configuration without an environment."""


class Sharing(Struct, frozen=True):
    """The configuration as it is with each other environment, by what people call it."""

    others: Mapping[str, Desired]

    @staticmethod
    def of(
        desired: Desired, files: Files, registry: Registry, env: Mapping[str, str], layers: Layers
    ) -> Sharing:
        """The others: with each environment, with none, and what is below its last overlay."""
        found: dict[str, Layers] = {}
        for name in (None, *desired.environments):
            if name != layers.environment:
                found[TOP if name is None else name] = replace(layers, environment=name)
        if layers.overlays:
            *below, last = layers.overlays
            found[f"what is without {last}"] = replace(layers, overlays=tuple(below))
        return Sharing({name: load_from(files, registry, env, one)[0] for name, one in found.items()})

    def of_field(self, address: Address, field: str, at: Span) -> tuple[str, ...]:
        """Who takes the value of a field from this very line."""
        return tuple(
            name
            for name, other in self.others.items()
            if address in other.resources and other.resources[address].where(field) == at
        )

    def of_lines(self, desired: Desired, taken: Iterable[Taken]) -> tuple[str, ...]:
        """Who shares one of these lines, as they were before."""
        found = {
            name
            for item in taken
            if item.field is not None and item.address in desired.resources
            for name in self.of_field(item.address, item.field, item.span)
        }
        return tuple(name for name in self.others if name in found)

    def of_file(self, name: str) -> tuple[str, ...]:
        """Who reads a file: what comes into it is theirs, too."""
        return tuple(who for who, other in self.others.items() if name in other.texts)
