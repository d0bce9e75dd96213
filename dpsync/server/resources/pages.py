"""Declare the records of the content of spaces (revisions with their pages), and of change requests.

Output: a `RecordKind` for each. The comment below shows the form in a world (the data that the local server
starts with). Without `startedFrom`, a change request starts from the current content.
"""

# content:
#   pages:                                        # a text is Markdown or a document
#     - {id, title, type, slug, emoji, icon, description, markdown or document, hidden, variables…
#        target, computed, git: {oid, path}, pages: […]}
#   files: [{id, name, contentType, size, downloadURL, dimensions: {width, height}, git}]
#   reusableContents: [{id, title, markdown or document, git}]
#   variables: {NAME: value}
#   git: {oid, message, createdByService, url, ref}
# changeRequests:
#   - id, number, subject, status, description, createdBy, createdAt, updatedAt, conversationsIssuesCluster
#     contributors: [user], requestedReviewers: [user]
#     reviews: [{user, status}]                   # approved or changes-requested; no user: agent
#     startedFrom: [changes]                      # changes from today's content to the first content
#     changes: [changes]                          # as POST …/content takes them

from typing import Literal

from pydantic import ConfigDict, Field

from ..content.documents import stored_document
from ..content.editing import ContentEditor
from ..content.page_tree import exceeds_max_depth, make_slugs_unique, unused_slug, walk_pages
from ..content.rich_text import to_document
from ..models.base import Body, Id, RichTextDocument, Timestamp, optional_field
from ..models.change_requests import Change, PageFields, Status
from ..models.content import MarkdownText
from ..models.pages import Dimensions, PageType
from ..records.record_kind import RecordKind
from ..records.world_sections import WorldDumper, WorldLoader, WorldSection
from ..request.context import CHANGE_REQUEST
from ..spaces.revisions import REVISION, active_revision_id, empty_content, revision_content
from ..store import Json, Record

_PARENT_KINDS = ("space", "deleted-space")


class _WorldEntry(Body):
    """A part of a world that accepts no other members than its fields."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class _Text(_WorldEntry):
    id: Id = optional_field()
    title: str
    markdown: str = optional_field()
    document: RichTextDocument = optional_field()
    git: Json = optional_field()


class _Page(_Text, PageFields):
    model_config = _WorldEntry.model_config

    title: str
    document: RichTextDocument = optional_field()
    type: PageType = "document"
    createdAt: Timestamp = optional_field()
    updatedAt: Timestamp = optional_field()
    pages: list["_Page"] = Field(default_factory=list)


class _File(_WorldEntry):
    id: Id = optional_field()
    name: str
    contentType: str = "application/octet-stream"
    size: float = 0
    downloadURL: str = optional_field()
    dimensions: Dimensions = optional_field()
    git: Json = optional_field()


class _Content(_WorldEntry):
    type: Literal["edits", "merge", "update"] = "edits"
    mergedFrom: str = optional_field()
    parents: list[str] = Field(default_factory=list)
    createdAt: Timestamp = optional_field()
    git: Json = optional_field()
    pages: list[_Page] = Field(default_factory=list)
    files: list[_File] = Field(default_factory=list)
    reusableContents: list[_Text] = Field(default_factory=list)
    variables: dict[str, str] = Field(default_factory=dict)


class _ReviewEntry(_WorldEntry):
    id: Id = optional_field()
    user: str = optional_field()
    status: Literal["approved", "changes-requested"]
    revision: Id = optional_field()
    createdAt: Timestamp = optional_field()
    updatedAt: Timestamp = optional_field()
    comment: Id = optional_field()


class _RequestedReviewer(_WorldEntry):
    user: str
    requestedBy: str = optional_field()
    revision: Id = optional_field()
    createdAt: Timestamp = optional_field()


class _ChangeRequest(_WorldEntry):
    id: Id = optional_field()
    number: int = optional_field()
    subject: str = ""
    status: Status = "draft"
    description: MarkdownText | RichTextDocument = optional_field(union_mode="left_to_right")
    createdBy: str
    createdAt: Timestamp = optional_field()
    updatedAt: Timestamp = optional_field()
    conversationsIssuesCluster: str = optional_field()
    contributors: list[str] = optional_field()
    requestedReviewers: list[str | _RequestedReviewer] = optional_field()
    reviews: list[_ReviewEntry] = optional_field()
    revision: Id = optional_field()
    revisionInitial: Id = optional_field()
    revisionMergedAncestor: Id = optional_field()
    revisionMerged: Id = optional_field()
    startedFrom: list[Change] = Field(default_factory=list)
    changes: list[Change] = Field(default_factory=list)


# --- loading --------------------------------------------------------------------------------------


def _load_content(loader: WorldLoader, space: Record, entry: Json) -> None:
    """Load the content of a space from a world file (the server's initial data).

    Raise ValueError if the content is invalid.
    """
    content = _Content.model_validate(entry)
    fields = content.sent_fields()
    doc: Json = {
        **{name: fields[name] for name in ("mergedFrom", "git") if name in fields},
        "type": content.type,
        "parents": content.parents,
        "createdAt": content.createdAt or space.doc["createdAt"],
        "pages": _make_pages(loader, content.pages, content.createdAt or space.doc["createdAt"]),
        "files": [
            {
                "contentType": file.contentType,
                "size": file.size,
                **file.sent_fields(),
                "id": file.id or loader.next_id("file"),
            }
            for file in content.files
        ],
        "reusableContents": [
            _make_text(loader, "reusable-content", text) for text in content.reusableContents
        ],
        "variables": content.variables,
    }
    make_slugs_unique(doc["pages"])
    ids = [page["id"] for page, _ in walk_pages(doc["pages"])]
    if exceeds_max_depth(doc["pages"]):
        raise ValueError(f"pages of the space {space.id!r} are nested too deep")
    if len(ids) != len(set(ids)):
        raise ValueError(f"two pages of the space {space.id!r} have the same id")
    loader.add(Record(REVISION, active_revision_id(space), doc, space.organization, space.id))


def _make_pages(loader: WorldLoader, entries: list[_Page], timestamp: str) -> list[Json]:
    """Return pages with their child pages as a revision stores them.

    `timestamp` is the default of their times.
    """
    pages: list[Json] = []
    for page in entries:
        fields = {
            "createdAt": timestamp,
            "updatedAt": timestamp,
            **_make_text(loader, "page", page),
            "type": page.type,
            "slug": page.slug or unused_slug(page.title, pages),
        }
        if page.type == "document":
            fields.setdefault("body", {"markdown": ""})
        pages.append(fields | {"pages": _make_pages(loader, page.pages, timestamp)})
    return pages


def _make_text(loader: WorldLoader, kind: str, entry: _Text) -> Json:
    """Return a page or reusable content as a revision stores it, with the text in `body`."""
    fields = {name: value for name, value in entry.sent_fields().items() if value is not None}
    markdown, document = fields.pop("markdown", None), fields.pop("document", None)
    if document is not None:
        fields["body"] = {"document": stored_document(document)}
    elif markdown is not None:
        fields["body"] = {"markdown": markdown}
    return {**fields, "id": entry.id or loader.next_id(kind)}


def _load_change_requests(loader: WorldLoader, space: Record, entries: list[Json]) -> None:
    """Load change requests from a world file (the server's initial data), after the content.

    Raise ValueError for an invalid change.
    """
    main = loader.get(REVISION, active_revision_id(space))
    content = revision_content(main) if main else empty_content()
    for number, request in enumerate(entries, 1):
        _load_change_request(
            loader, space, active_revision_id(space), content, number, _ChangeRequest.model_validate(request)
        )


def _load_change_request(
    loader: WorldLoader, space: Record, active: str, main: Json, number: int, entry: _ChangeRequest
) -> None:
    """Load a change request with its revisions from a world file (the server's initial data).

    `active` and `main` are the id and the content of the space's active revision. `startedFrom` has the
    changes that lead from there to the revision from which the request starts, `changes` those of the request
    itself.
    """
    fields = entry.sent_fields()
    start_content = main
    doc: Json = {
        "createdAt": loader.next_timestamp(),
        "updatedAt": entry.createdAt or loader.next_timestamp(),
        "contributors": [entry.createdBy],
        "revisionInitial": active,
        **{name: value for name, value in fields.items() if name not in _COMPUTED_FIELDS},
        "subject": entry.subject,
        "status": entry.status,
    }
    if "description" in fields:
        text = fields["description"]
        doc["description"] = stored_document(to_document(text["markdown"]) if "markdown" in text else text)
    if entry.startedFrom:
        doc["revisionInitial"], start_content = _load_changed_revision(
            loader, space, main, fields["startedFrom"]
        )
    doc.setdefault("revision", doc["revisionInitial"])
    if entry.changes:
        doc["revision"], _ = _load_changed_revision(loader, space, start_content, fields["changes"])
    if entry.status == "merged":
        doc.setdefault("revisionMerged", active)
    _complete_reviews(loader, doc)
    number = entry.number or number
    id = entry.id or loader.unused_id(CHANGE_REQUEST)
    loader.add(
        Record(CHANGE_REQUEST, id, doc, space.organization, space.id, entry.status, number, str(number))
    )


def _complete_reviews(loader: WorldLoader, doc: Json) -> None:
    """Add defaults to reviews and requested reviewers: the time and revision of the change request."""
    defaults = {"revision": doc["revision"], "createdAt": doc["createdAt"]}
    requested = [
        {"user": entry} if isinstance(entry, str) else entry for entry in doc.get("requestedReviewers", [])
    ]
    if requested:
        doc["requestedReviewers"] = [
            {**defaults, "requestedBy": doc["createdBy"], **entry} for entry in requested
        ]
    if doc.get("reviews"):
        doc["reviews"] = [
            {"id": loader.unused_id("review"), **defaults, "updatedAt": doc["createdAt"], **entry}
            for entry in doc["reviews"]
        ]


_COMPUTED_FIELDS = ("id", "number", "startedFrom", "changes", "description")


def _load_changed_revision(
    loader: WorldLoader, space: Record, content: Json, changes: list[Json]
) -> tuple[str, Json]:
    """Load the revision that results from changes to a content, and return its id and content."""
    timestamp = loader.next_timestamp()
    editor = ContentEditor(content, content, timestamp, loader.next_id)
    editor.apply(changes)
    id = loader.unused_id(REVISION)
    doc = {"type": "edits", "parents": [], "createdAt": timestamp, **editor.content}
    loader.add(Record(REVISION, id, doc, space.organization, space.id))
    return id, editor.content


# --- dumping --------------------------------------------------------------------------------------


def _dump_content(dumper: WorldDumper, space: Record) -> Json | None:
    """Return the active revision. The control plane exports other revisions as plain records."""
    revision = dumper.store.get(REVISION, active_revision_id(space))
    return _dump_revision(revision.doc) if revision is not None and revision.scope == space.id else None


def _dump_change_requests(dumper: WorldDumper, space: Record) -> list[Json] | None:
    """Return the change requests of a space as entries of a world file (the server's initial data).

    None if it has none.
    """
    requests = dumper.find_by_creation(CHANGE_REQUEST, scope=space.id)
    return [{"id": request.id, "number": request.position, **request.doc} for request in requests] or None


def _dump_revision(doc: Json) -> Json:
    """Return the entry of a revision, with the texts in the form of an entry."""
    texts = {name: [_dump_text(text) for text in doc[name]] for name in ("pages", "reusableContents")}
    return {**doc, **texts}


def _dump_text(text: Json) -> Json:
    """Return the entry of a page or reusable content, with its text next to the other members."""
    entry: Json = {name: value for name, value in text.items() if name not in ("body", "pages")}
    entry |= text.get("body", {})
    if text.get("pages"):
        entry["pages"] = [_dump_text(page) for page in text["pages"]]
    return entry


RECORD_KINDS = (
    RecordKind(REVISION, id_prefix="revision", owner="space",
               world_section=WorldSection("content", _load_content, _dump_content, _PARENT_KINDS, _Content)),
    RecordKind(CHANGE_REQUEST, id_prefix="cr", owner="space",
               world_section=WorldSection("changeRequests", _load_change_requests, _dump_change_requests,
                                          _PARENT_KINDS,
                                          list[_ChangeRequest])),
    *(RecordKind(part, id_prefix=part) for part in ("page", "file", "reusable-content", "review")),
)  # fmt: skip
"""Pages, files, reusable contents and reviews have ids, but no records of their own."""
