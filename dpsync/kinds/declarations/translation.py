"""Declare translations of spaces (`Kind`). GitBook creates and updates the translated space.

The key of an entry also names the translated space where a site refers to it. dpsync never runs a translation
again; people do that in GitBook.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import (
    BusyState,
    Delete,
    EntryMapping,
    Field,
    Kind,
    ListRead,
    Outputs,
    PlatformWork,
    Post,
    Put,
    Trouble,
)
from dpsync.kinds.shared.fields import LANGUAGE
from dpsync.kinds.types import Object, Reference, Text
from dpsync.kinds.types.texts import Markdown

SOURCE = Object({"space": Reference.to("space"), "language": LANGUAGE}, ("space", "language"),
                "the source of a translation")  # fmt: skip
TRANSLATION = Kind(
    name="translation",
    parent="organization",
    key="translations",
    shape=EntryMapping(),
    url_path="{parent}/translations/{id}",
    read=ListRead("{parent}/translations"),
    changed_at_path="updatedAt",
    natural_keys=(("source", "language"),),
    title_field="language",
    create=Post("{parent}/translations", repeat="look_up"),
    update=Put("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    has_content=True,
    platform_work=PlatformWork(
        outputs=Outputs("space", id_field="result.space", required_when=("status", "completed")),
        busy=BusyState("status", ("running",)),  # a pending one may wait for somebody to run it
        trouble=Trouble("status", "the last run of the translation failed",
                        "check the source space and the instructions of the translation",
                        accepted_values=("pending", "running", "completed")),
        user_actions={"run": Post("{self}/run", None, repeat="never")},
    ),
    fields=(
        Field("source", SOURCE, written_in="create", required=True),
        Field("language", LANGUAGE, written_in="create", required=True),
        Field("instructions", Markdown(), null_effect="empty"),
        Field("result", Reference.to("space"), written_in="neither", read_path="result.space"),
        Field("status", Text(), written_in="neither"),
    ),
)  # fmt: skip
