"""How a site looks. Writing replaces everything, so what is not declared is sent again as it is."""

from dpsync.kinds.kind import Field, Kind, One, Put, Single
from dpsync.kinds.shared.looks import USUAL, members

CUSTOMIZATION = Kind(
    name="customization",
    parent="site",
    key="customization",
    shape=Single(always=True),
    at="{parent}/customization",
    read=One(),
    update=Put("{self}", whole=True, repeat="safe"),
    fields=tuple(
        Field(name, type, on="update", platform_default=USUAL.get(name), raised="linked")
        for name, type in members(USUAL).items()
    ),
)
