"""Declare the access to a translated space (`Kind`): its default role and its merge rules.

GitBook creates the translated space, so it has no entry of its own in the files.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Kind, Patch, SingleEntry, SingleRead
from dpsync.kinds.shared.fields import SPACE_ACCESS

TRANSLATION_ACCESS = Kind(
    name="translation_access",
    parent="translation",
    key="access",
    label="access to a translation",
    shape=SingleEntry(),
    is_part_of_output=True,
    url_path="/spaces/{id}",
    read=SingleRead("{self}"),
    update=Patch("{self}", repeat="safe"),
    fields=SPACE_ACCESS,
)
