"""Declare the customization (look) of a site (`Kind`): fields and requests.

Each write replaces all settings, so dpsync sends again the live values that the files do not declare.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Field, Kind, Put, SingleEntry, SingleRead
from dpsync.kinds.shared.customization import (
    CURRENT_DEFAULTS,
    DEFAULTS,
    FIELD_SCHEMAS,
    current_field_types,
    field_types,
)

_CURRENT_TYPES = current_field_types(CURRENT_DEFAULTS, FIELD_SCHEMAS)
CUSTOMIZATION = Kind(
    name="customization", parent="site", key="customization", shape=SingleEntry(exists_with_parent=True),
    url_path="{parent}/customization", read=SingleRead(),
    update=Put("{self}", replaces_object=True, repeat="safe"),
    fields=tuple(
        Field(
            name, type, written_in="update", platform_default=DEFAULTS.get(name), widens_when="linked",
            profile_overrides={
                "published": {"type": _CURRENT_TYPES[name], "platform_default": CURRENT_DEFAULTS.get(name)}
            },
        )
        for name, type in field_types(DEFAULTS).items()
    ),
    # What is masked in an answer would be written back in place of what it stands for.
    profile_overrides={"published": {"read": SingleRead("{self}?unmasked=true")}},
)  # fmt: skip
