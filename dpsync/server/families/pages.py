"""The content of a space, and its change requests.

    content:
      pages:                                        # a text is Markdown or a document
        - {id, title, type, slug, emoji, icon, description, markdown or document, hidden, variables…
           target, computed, git: {oid, path}, pages: […]}
      files: [{id, name, contentType, size, downloadURL, dimensions: {width, height}, git}]
      reusableContents: [{id, title, markdown or document, git}]
      variables: {NAME: value}
      git: {oid, message, createdByService, url, ref}
    changeRequests:
      - id, number, subject, status, description, createdBy, createdAt, updatedAt, conversationsIssuesCluster
        contributors: [user], requestedReviewers: [user]
        reviews: [{user, status}]                   # approved or changes-requested; no user: agent
        startedFrom: [changes]                      # changes from today's content to the first content
        changes: [changes]                          # as POST …/content takes them

Without `startedFrom`, a change request starts from the current content.
"""

from typing import Literal

from pydantic import ConfigDict, Field

from ..content.documents import stored_document
from ..content.editing import Editing
from ..content.rich_text import to_document
from ..content.tree import fresh_slug, too_deep, unique_slugs, walk
from ..models.base import Body, Id, RichTextDocument, Stamp, absent
from ..models.change_requests import Change, PageFields, Status
from ..models.content import MarkdownText
from ..models.pages import Dimensions, PageType
from ..records.family import Family
from ..records.world_format import Dumping, Loading, WorldSection
from ..request.context import CHANGE_REQUEST
from ..spaces.revisions import KIND as REVISION
from ..spaces.revisions import active_id, content_of, empty_content
from ..store import Json, Record

_UNDER = ("space", "deleted-space")


class _Entry(Body):
    """A part of a world that accepts no other members than its fields."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class _Text(_Entry):
    id: Id = absent()
    title: str
    markdown: str = absent()
    document: RichTextDocument = absent()
    git: Json = absent()


class _Page(_Text, PageFields):
    model_config = _Entry.model_config

    title: str
    document: RichTextDocument = absent()
    type: PageType = "document"
    createdAt: Stamp = absent()
    updatedAt: Stamp = absent()
    pages: list["_Page"] = Field(default_factory=list)


class _File(_Entry):
    id: Id = absent()
    name: str
    contentType: str = "application/octet-stream"
    size: float = 0
    downloadURL: str = absent()
    dimensions: Dimensions = absent()
    git: Json = absent()


class _Content(_Entry):
    type: Literal["edits", "merge", "update"] = "edits"
    mergedFrom: str = absent()
    parents: list[str] = Field(default_factory=list)
    createdAt: Stamp = absent()
    git: Json = absent()
    pages: list[_Page] = Field(default_factory=list)
    files: list[_File] = Field(default_factory=list)
    reusableContents: list[_Text] = Field(default_factory=list)
    variables: dict[str, str] = Field(default_factory=dict)


class _Review(_Entry):
    id: Id = absent()
    user: str = absent()
    status: Literal["approved", "changes-requested"]
    revision: Id = absent()
    createdAt: Stamp = absent()
    updatedAt: Stamp = absent()
    comment: Id = absent()


class _Requested(_Entry):
    user: str
    requestedBy: str = absent()
    revision: Id = absent()
    createdAt: Stamp = absent()


class _ChangeRequest(_Entry):
    id: Id = absent()
    number: int = absent()
    subject: str = ""
    status: Status = "draft"
    description: MarkdownText | RichTextDocument = absent(union_mode="left_to_right")
    createdBy: str
    createdAt: Stamp = absent()
    updatedAt: Stamp = absent()
    conversationsIssuesCluster: str = absent()
    contributors: list[str] = absent()
    requestedReviewers: list[str | _Requested] = absent()
    reviews: list[_Review] = absent()
    revision: Id = absent()
    revisionInitial: Id = absent()
    revisionMergedAncestor: Id = absent()
    revisionMerged: Id = absent()
    startedFrom: list[Change] = Field(default_factory=list)
    changes: list[Change] = Field(default_factory=list)


# --- loading --------------------------------------------------------------------------------------


def _load_content(loading: Loading, space: Record, given: Json) -> None:
    """Load the content of a space. Raise ValueError if the content is invalid."""
    content = _Content.model_validate(given)
    said = content.given()
    doc: Json = {
        **{name: said[name] for name in ("mergedFrom", "git") if name in said},
        "type": content.type,
        "parents": content.parents,
        "createdAt": content.createdAt or space.doc["createdAt"],
        "pages": _pages(loading, content.pages, content.createdAt or space.doc["createdAt"]),
        "files": [_file(loading, file) for file in content.files],
        "reusableContents": [_text(loading, "reusable-content", one) for one in content.reusableContents],
        "variables": content.variables,
    }
    unique_slugs(doc["pages"])
    ids = [page["id"] for page, _ in walk(doc["pages"])]
    if too_deep(doc["pages"]):
        raise ValueError(f"pages of the space {space.id!r} are nested too deep")
    if len(ids) != len(set(ids)):
        raise ValueError(f"two pages of the space {space.id!r} have the same id")
    loading.add(Record(REVISION, active_id(space), doc, space.organization, space.id))


def _pages(loading: Loading, given: list[_Page], now: str) -> list[Json]:
    pages: list[Json] = []
    for page in given:
        made = {
            "createdAt": now,
            "updatedAt": now,
            **_text(loading, "page", page),
            "type": page.type,
            "slug": page.slug or fresh_slug(page.title, pages),
        }
        if page.type == "document":
            made.setdefault("body", {"markdown": ""})
        pages.append(made | {"pages": _pages(loading, page.pages, now)})
    return pages


def _text(loading: Loading, kind: str, given: _Text) -> Json:
    made = {name: value for name, value in given.given().items() if value is not None}
    markdown, document = made.pop("markdown", None), made.pop("document", None)
    if document is not None:
        made["body"] = {"document": stored_document(document)}
    elif markdown is not None:
        made["body"] = {"markdown": markdown}
    return {**made, "id": given.id or loading.next(kind)}


def _file(loading: Loading, given: _File) -> Json:
    said = {"contentType": given.contentType, "size": given.size, **given.given()}
    return {**said, "id": given.id or loading.next("file")}


def _load_change_requests(loading: Loading, space: Record, given: list[Json]) -> None:
    """Load change requests, after the content they start from. Raise ValueError for an invalid change."""
    main = loading.get(REVISION, active_id(space))
    content = content_of(main) if main else empty_content()
    for number, request in enumerate(given, 1):
        _change_request(
            loading, space, active_id(space), content, number, _ChangeRequest.model_validate(request)
        )


def _change_request(
    loading: Loading, space: Record, active: str, main: Json, number: int, given: _ChangeRequest
) -> None:
    said = given.given()
    began = main
    doc: Json = {
        "createdAt": loading.then(),
        "updatedAt": given.createdAt or loading.then(),
        "contributors": [given.createdBy],
        "revisionInitial": active,
        **{name: value for name, value in said.items() if name not in _APART},
        "subject": given.subject,
        "status": given.status,
    }
    if "description" in said:
        doc["description"] = _description(said["description"])
    if given.startedFrom:
        doc["revisionInitial"], began = _changed(loading, space, main, said["startedFrom"])
    doc.setdefault("revision", doc["revisionInitial"])
    if given.changes:
        doc["revision"], _ = _changed(loading, space, began, said["changes"])
    if given.status == "merged":
        doc.setdefault("revisionMerged", active)
    _complete_reviews(loading, doc)
    number = given.number or number
    id = given.id or loading.free(CHANGE_REQUEST)
    loading.add(
        Record(CHANGE_REQUEST, id, doc, space.organization, space.id, given.status, number, str(number))
    )


def _complete_reviews(loading: Loading, doc: Json) -> None:
    """Add defaults to reviews and requested reviewers: the time and revision of the change request."""
    then = {"revision": doc["revision"], "createdAt": doc["createdAt"]}
    asked = [{"user": one} if isinstance(one, str) else one for one in doc.get("requestedReviewers", [])]
    if asked:
        doc["requestedReviewers"] = [{**then, "requestedBy": doc["createdBy"], **one} for one in asked]
    if doc.get("reviews"):
        doc["reviews"] = [
            {"id": loading.free("review"), **then, "updatedAt": doc["createdAt"], **one}
            for one in doc["reviews"]
        ]


_APART = ("id", "number", "startedFrom", "changes", "description")


def _description(given: Json) -> Json:
    if "markdown" in given:
        return stored_document(to_document(given["markdown"]))
    return stored_document(given)


def _changed(loading: Loading, space: Record, content: Json, changes: list[Json]) -> tuple[str, Json]:
    now = loading.then()
    editing = Editing(content, content, now, loading.next)
    editing.apply(changes)
    id = loading.free(REVISION)
    doc = {"type": "edits", "parents": [], "createdAt": now, **editing.content}
    loading.add(Record(REVISION, id, doc, space.organization, space.id))
    return id, editing.content


# --- dumping --------------------------------------------------------------------------------------


def _dump_content(dumping: Dumping, space: Record) -> Json | None:
    """Return the active revision. The control plane exports other revisions as plain records."""
    revision = dumping.store.get(REVISION, active_id(space))
    return _entry(revision.doc) if revision is not None and revision.scope == space.id else None


def _dump_change_requests(dumping: Dumping, space: Record) -> list[Json] | None:
    found = dumping.created(CHANGE_REQUEST, scope=space.id)
    return [{"id": one.id, "number": one.position, **one.doc} for one in found] or None


def _entry(doc: Json) -> Json:
    texts = {name: [_text_entry(one) for one in doc[name]] for name in ("pages", "reusableContents")}
    return {**doc, **texts}


def _text_entry(text: Json) -> Json:
    made: Json = {name: value for name, value in text.items() if name not in ("body", "pages")}
    made |= text.get("body", {})
    if text.get("pages"):
        made["pages"] = [_text_entry(page) for page in text["pages"]]
    return made


FAMILIES = (
    Family(REVISION, prefix="revision", owner="space",
           world=WorldSection("content", _load_content, _dump_content, _UNDER, _Content)),
    Family(CHANGE_REQUEST, prefix="cr", owner="space",
           world=WorldSection("changeRequests", _load_change_requests, _dump_change_requests, _UNDER,
                              list[_ChangeRequest])),
    *(Family(part, prefix=part) for part in ("page", "file", "reusable-content", "review")),
)  # fmt: skip
"""Pages, files, reusable contents and reviews have ids, but no records of their own."""
