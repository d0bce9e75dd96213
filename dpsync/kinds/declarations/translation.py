"""Declare translations. GitBook creates and updates the translated space.

The key of an entry also names the translated space in a site. Only people run a translation again.
"""

from dpsync.kinds.kind import (
    Busy,
    Delete,
    Entries,
    Field,
    Kind,
    Outputs,
    Pages,
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
    shape=Entries(),
    at="{parent}/translations/{id}",
    read=Pages("{parent}/translations"),
    changed="updatedAt",
    identity=(("source", "language"),),
    title="language",
    create=Post("{parent}/translations", repeat="look_up"),
    update=Put("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    content=True,
    platform=PlatformWork(
        outputs=Outputs("space", read="result.space", made=("status", "completed")),
        busy=Busy("status", ("running",)),  # a pending one may wait for somebody to run it
        trouble=Trouble("status", "the last run of the translation failed",
                        "check the source space and the instructions of the translation",
                        fine=("pending", "running", "completed")),
        acts={"run": Post("{self}/run", None, repeat="never")},
    ),
    fields=(
        Field("source", SOURCE, on="create", required=True),
        Field("language", LANGUAGE, on="create", required=True),
        Field("instructions", Markdown(), null="empty"),
        Field("result", Reference.to("space"), on="neither", read="result.space"),
        Field("status", Text(), on="neither"),
    ),
)  # fmt: skip
