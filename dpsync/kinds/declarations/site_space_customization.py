"""Declare the looks of one space in a site. null means the value of the site's customization."""

from dpsync.kinds.kind import Field, Kind, One, Patch, Single
from dpsync.kinds.shared.customization import SPACE_SHAPES, customization_fields, members_today

_TAKES_NULL = ("title", "localizedTitle", "favicon")
"""Fields that accept null in the `published` edition. In the other fields, only members may be null."""
_TODAY = members_today({}, SPACE_SHAPES)
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
        Field(name, type, on="update", null="clear", raised="linked",
              on_profiles={"published": {
                  "type": _TODAY[name], "null": "clear" if name in _TAKES_NULL else "refused",
              }})
        for name, type in customization_fields({}).items()
    ),
    # Answers are what holds: with them written back, all that is the site's would become the space's own.
    on_profiles={"published": {
        "read": One("{self}?unmasked=true"), "update": Patch("{self}", repeat="safe"),
        "inherits": "customization",
    }},
)  # fmt: skip
