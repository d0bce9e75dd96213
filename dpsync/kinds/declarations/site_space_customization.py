"""Declare the customization (look) of one space in a site (`Kind`).

null means that the value of the site's customization is used.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Field, Kind, Patch, SingleEntry, SingleRead
from dpsync.kinds.shared.customization import SPACE_FIELD_SCHEMAS, current_field_types, field_types

_NULLABLE_FIELDS = ("title", "localizedTitle", "favicon")
"""Fields that accept null in the `published` edition. In the other fields, only members may be null."""
_CURRENT_TYPES = current_field_types({}, SPACE_FIELD_SCHEMAS)
SITE_SPACE_CUSTOMIZATION = Kind(
    name="site_space_customization", parent="site_space", key="customization",
    label="customization of a site space", shape=SingleEntry(exists_with_parent=True),
    url_path="{parent}/customization", read=SingleRead(),
    update=Patch("{self}", replaces_object=True, repeat="safe"),
    fields=tuple(
        Field(
            name, type, written_in="update", null_effect="clear", widens_when="linked",
            profile_overrides={
                "published": {
                    "type": _CURRENT_TYPES[name],
                    "null_effect": "clear" if name in _NULLABLE_FIELDS else "refused",
                }
            },
        )
        for name, type in field_types({}).items()
    ),
    # Answers are what holds: with them written back, all that is the site's would become the space's own.
    profile_overrides={
        "published": {
            "read": SingleRead("{self}?unmasked=true"), "update": Patch("{self}", repeat="safe"),
            "inherits_from_kind": "customization",
        }
    },
)  # fmt: skip
