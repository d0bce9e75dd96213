"""How one space looks where it is shown, in place of what its site says; null is what the site says."""

from dpsync.kinds.kind import Field, Kind, One, Patch, Single
from dpsync.kinds.shared.looks import members

SITE_SPACE_CUSTOMIZATION = Kind(
    name="site_space_customization",
    parent="site_space",
    key="customization",
    label="customization of a site space",
    shape=Single(always=True),
    at="{parent}/customization",
    read=One(),
    update=Patch("{self}", whole=True, repeat="safe"),
    fields=tuple(
        Field(name, type, on="update", null="clear", raised="linked") for name, type in members({}).items()
    ),
)
