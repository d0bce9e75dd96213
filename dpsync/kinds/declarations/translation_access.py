"""Declare the access to a translated space, which has no entry of its own."""

from dpsync.kinds.kind import Kind, One, Patch, Single
from dpsync.kinds.shared.fields import SPACE_ACCESS

TRANSLATION_ACCESS = Kind(
    name="translation_access",
    parent="translation",
    key="access",
    label="access to a translation",
    shape=Single(),
    of_output=True,
    at="/spaces/{id}",
    read=One("{self}"),
    update=Patch("{self}", repeat="safe"),
    fields=SPACE_ACCESS,
)
