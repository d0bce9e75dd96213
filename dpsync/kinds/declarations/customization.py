"""Declare the looks of a site. Each write replaces everything, so undeclared values are sent again."""

from dpsync.kinds.kind import Field, Kind, One, Put, Single
from dpsync.kinds.shared.customization import SHAPES, USUAL, USUAL_TODAY, customization_fields, members_today

_TODAY = members_today(USUAL_TODAY, SHAPES)
CUSTOMIZATION = Kind(
    name="customization",
    parent="site",
    key="customization",
    shape=Single(always=True),
    at="{parent}/customization",
    read=One(),
    update=Put("{self}", whole=True, repeat="safe"),
    fields=tuple(
        Field(name, type, on="update", platform_default=USUAL.get(name), raised="linked",
              on_profiles={"published": {"type": _TODAY[name], "platform_default": USUAL_TODAY.get(name)}})
        for name, type in customization_fields(USUAL).items()
    ),
    # What is masked in an answer would be written back in place of what it stands for.
    on_profiles={"published": {"read": One("{self}?unmasked=true")}},
)  # fmt: skip
