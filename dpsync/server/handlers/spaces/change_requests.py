"""Handle the API operations on change requests: proposed content of a space, like a git branch.

In a record, `position` and `ref` are the number of the change request, `parent` is its status. The ancestor
of a change request is the revision of the main content from which it started or which it merged last. Merging
and updating are the same three-way merge on this ancestor. A merge with conflicts changes nothing.
"""

from typing import Any

from ...content import page_tree
from ...content.documents import stored_document
from ...content.editing import ContentEditor, EditError, PageNotFoundError
from ...content.merging import ContentConflict, MergedContent, merge
from ...errors import ApiError, bad_request, conflict, not_found
from ...request.changes import changed_fields
from ...request.context import CHANGE_REQUEST, Context, is_locked
from ...request.paging import list_page
from ...responses.change_requests import change_request as render
from ...responses.shared import api_url
from ...spaces import pdf_export, revisions
from ...spaces.merge_rules import make_attempt, rules_in_force, unmet_rules
from ...store import Json, Record
from .spaces import content_with_template

CLOSED_STATUSES = ("merged", "archived")


# --- lists ----------------------------------------------------------------------------------------


def list_in_space(ctx: Context) -> Json:
    """List the change requests of a space with one of the statuses in the query."""
    space = ctx.space_from_path()
    return _list_requests(ctx, ctx.store.find(CHANGE_REQUEST, scope=space.id, parent=ctx.query.status))


def list_in_organization(ctx: Context) -> Json:
    """List the change requests of all spaces that the caller may view."""
    organization = ctx.organization_from_path()
    visible_spaces = {space.id for space, _ in ctx.visible_spaces_with_roles(organization.id)}
    requests = ctx.store.find(CHANGE_REQUEST, organization=organization.id)
    statuses = ctx.query.status
    return _list_requests(
        ctx,
        [request for request in requests if request.scope in visible_spaces and request.parent in statuses],
    )


def _list_requests(ctx: Context, requests: list[Record]) -> Json:
    """List the change requests that match the query, the most recently updated first."""
    query = ctx.query

    def matches(doc: Json) -> bool:
        return (
            query.creator in (None, doc["createdBy"])
            and query.conversationsIssuesCluster in (None, doc.get("conversationsIssuesCluster"))
            and (query.contributor is None or query.contributor in doc.get("contributors", []))
            and (
                query.requestedReviewer is None
                or query.requestedReviewer
                in [reviewer["user"] for reviewer in doc.get("requestedReviewers", [])]
            )
        )

    def key(request: Record) -> list[Any]:
        return [request.doc["updatedAt"], request.seq]

    matching = sorted((request for request in requests if matches(request.doc)), key=key, reverse=True)
    return list_page(ctx, matching, lambda request: render(ctx, request), key, descending=True)


# --- one ------------------------------------------------------------------------------------------


def create(ctx: Context) -> Json:
    """Create a draft from the current main content, optionally with the content of a template."""
    space, body = ctx.space_from_path(), ctx.body
    request = _make_request(ctx, space, body.subject)
    if body.template is not None:
        _apply_template_to_request(ctx, space, request, body.template)
    ctx.put(request)
    return render(ctx, request)


def _make_request(ctx: Context, space: Record, subject: str) -> Record:
    """Return the record of a new change request, with the next number of the space, without storing it.

    Its content starts as the active revision of the space.
    """
    number = ctx.store.last_position(CHANGE_REQUEST, scope=space.id) + 1
    initial = revisions.active_revision_id(space)
    doc = {
        "status": "draft",
        "subject": subject,
        "createdBy": ctx.user,
        "createdAt": ctx.timestamp,
        "updatedAt": ctx.timestamp,
        "revision": initial,
        "revisionInitial": initial,
        "contributors": [ctx.user],
    }
    id = ctx.new_id(CHANGE_REQUEST)
    return Record(CHANGE_REQUEST, id, doc, space.organization, space.id, "draft", number, str(number))


def get(ctx: Context) -> Json:
    """Return the change request that the path names."""
    return render(ctx, ctx.change_request_from_path())


def update(ctx: Context) -> Json:
    """Update a change request. A new status reopens a merged one at the revision that the merge made.

    Raise 400 for the status `merged`.
    """
    request, changes = ctx.change_request_from_path(), ctx.body.sent_fields()
    if "description" in changes:
        changes["description"] = stored_document(changes["description"])
    changes = changed_fields(request.doc, changes)
    if not changes:
        return render(ctx, request)
    if changes.get("status") == "merged":
        raise bad_request("body.status: to merge a change request, use POST …/merge")
    if "status" in changes and request.doc["status"] == "merged":
        merged = request.doc.pop("revisionMerged")
        changes |= {"revision": merged, "revisionMergedAncestor": merged}
    request.doc |= changes
    _save_request(ctx, request)
    return render(ctx, request)


def _save_request(ctx: Context, request: Record) -> None:
    """Store a changed change request with its status as `parent`, by which lists filter."""
    request.parent = request.doc["status"]
    request.doc["updatedAt"] = ctx.timestamp
    ctx.put(request)


# --- merging --------------------------------------------------------------------------------------


def merge_into_main(ctx: Context) -> Json:
    """Merge a change request.

    Raise 403 if the merge rules are not met, and 409 if the change request is merged or archived.
    """
    request = ctx.change_request_from_path()
    space = _load_space(ctx, request)
    if request.doc["status"] in CLOSED_STATUSES:
        raise conflict(f"the change request is {request.doc['status']}: set its status to open first")
    unmet = unmet_rules(rules_in_force(ctx, space), make_attempt(ctx, space, request))
    if unmet:
        raise ApiError(403, f"the merge rules are not met: {'; '.join(unmet)}")
    main = revisions.active_revision_id(space)
    merged = _merge_contents(ctx, space, request)
    if merged.conflicts:
        return _conflict_response(ctx, request, merged.conflicts)
    parents = [main, request.doc["revision"]]
    revision_id = revisions.add_revision(
        ctx, space, merged.content, parents, type="merge", mergedFrom=request.id
    )
    revisions.activate_revision(ctx, space, revision_id)
    request.doc |= {"status": "merged", "revisionMerged": revision_id}
    _save_request(ctx, request)
    return {"revision": revision_id, "result": "merge"}


def update_from_main(ctx: Context) -> Json:
    """Merge newer main content into a change request. Without newer content, change nothing.

    With conflicts, also change nothing, and return the conflicts.
    """
    request = ctx.change_request_from_path()
    space = _load_space(ctx, request)
    if not revisions.is_outdated(space, request.doc):
        return {"revision": request.doc["revision"], "result": "update"}
    main = revisions.active_revision_id(space)
    merged = _merge_contents(ctx, space, request)
    if merged.conflicts:
        return _conflict_response(ctx, request, merged.conflicts)
    parents = [request.doc["revision"], main]
    revision_id = revisions.add_revision(ctx, space, merged.content, parents, type="update")
    request.doc |= {"revision": revision_id, "revisionMergedAncestor": main}
    _save_request(ctx, request)
    return {"revision": revision_id, "result": "update"}


def _load_space(ctx: Context, request: Record) -> Record:
    """Return the space of a change request. Raise 404 if it does not exist."""
    space = ctx.load("space", request.scope)
    if space is None:
        raise not_found("space", request.scope)
    return space


def _merge_contents(ctx: Context, space: Record, request: Record) -> MergedContent:
    """Merge a change request with the main content, based on their common ancestor."""
    revision_ids = (
        revisions.merge_base_id(request.doc),
        revisions.active_revision_id(space),
        request.doc["revision"],
    )
    base, main, theirs = (
        revisions.revision_content(revisions.read_revision(ctx.store, space, id)) for id in revision_ids
    )
    return merge(base, main, theirs)


def _conflict_response(ctx: Context, request: Record, conflicts: tuple[ContentConflict, ...]) -> Json:
    """Return the answer of a merge with conflicts, which changes nothing.

    The API version `reference` does not list the conflicts.
    """
    result: Json = {"revision": request.doc["revision"], "result": "conflicts"}
    if ctx.has_additions:
        result["conflicts"] = [
            {"of": conflict.object_kind, "id": conflict.id, "what": conflict.field} for conflict in conflicts
        ]
    return result


# --- content --------------------------------------------------------------------------------------


def change_content(ctx: Context) -> Json:
    """Apply all changes or none. Raise 404 for a missing page, 409 if the request is merged or archived."""
    request = ctx.change_request_from_path()
    space = _load_space(ctx, request)
    _check_open(request)
    base = revisions.read_revision(ctx.store, space, revisions.merge_base_id(request.doc))
    current = revisions.read_revision(ctx.store, space, request.doc["revision"])
    editor = ContentEditor(
        revisions.revision_content(current), revisions.revision_content(base), ctx.timestamp, ctx.new_id
    )
    try:
        results = editor.apply(ctx.body.sent_fields()["changes"])
    except PageNotFoundError as error:
        raise ApiError(404, f"body.changes: {error} not found") from None
    except EditError as error:
        raise bad_request(f"body.changes: {error}") from None
    _set_content(ctx, space, request, editor.content)
    _save_request(ctx, request)
    if ctx.is_published_profile:
        changes = [_change_response(ctx, space, request, result) for result in results if "page" in result]
        return {"changeRequest": render(ctx, request), "changes": changes}
    return {"revision": request.doc["revision"], "results": results}


def _change_response(ctx: Context, space: Record, request: Record, result: Json) -> Json:
    """Return the result for one page in the form of the API version `published`."""
    if result["operation"] == "delete_page":
        return {"object": "deleted_page", "page": result["page"]}
    path = f"/spaces/{space.id}/change-requests/{request.id}/content/page/{result['page']}"
    page = {"object": "page", "id": result["page"], "urls": {"location": api_url(ctx, path)}}
    is_new = result["operation"] == "insert_page"
    return {"object": "created_page" if is_new else "updated_page", "page": page}


def _check_open(request: Record) -> None:
    """Raise 409 if a change request is merged or archived."""
    if request.doc["status"] in CLOSED_STATUSES:
        raise conflict(f"the change request is {request.doc['status']}: its content cannot change")


def _set_content(ctx: Context, space: Record, request: Record, content: Json) -> None:
    """Make this the content of the change request, and the caller a contributor."""
    before = request.doc["revision"]
    request.doc["revision"] = revisions.add_revision(ctx, space, content, [before], type="edits")
    if ctx.user not in request.doc["contributors"]:
        request.doc["contributors"].append(ctx.user)


def apply_template(ctx: Context) -> None:
    """Apply a template to a change request, or to the main content of a space that is not locked."""
    space, body = ctx.space_from_path(), ctx.body
    if body.changeRequestId is None:
        if is_locked(space):
            raise ApiError(
                403,
                f"the space {space.id!r} is locked: use a change request, or set its editMode to live",
            )
        before = revisions.active_revision_id(space)
        content = content_with_template(ctx, space, before, body)
        revisions.activate_revision(
            ctx, space, revisions.add_revision(ctx, space, content, [before], type="edits")
        )
        return
    ctx.params["changeRequestId"] = body.changeRequestId
    request = ctx.change_request_from_path()
    _check_open(request)
    _apply_template_to_request(ctx, space, request, body)
    _save_request(ctx, request)


def _apply_template_to_request(ctx: Context, space: Record, request: Record, template: Any) -> None:
    """Append the content of a template to the content of a change request."""
    _set_content(ctx, space, request, content_with_template(ctx, space, request.doc["revision"], template))


def get_pdf(ctx: Context) -> Json:
    """Return the URL of a PDF. Raise 404 for a missing page, and 400 for `only` without a page."""
    request, query = ctx.change_request_from_path(), ctx.query
    space = _load_space(ctx, request)
    revision = revisions.read_revision(ctx.store, space, request.doc["revision"])
    if query.only and query.page is None:
        raise bad_request("query.page: required with `only`")
    if query.page is not None and page_tree.find_page(revision.doc["pages"], query.page) is None:
        raise not_found("query.page: page", query.page)
    path = pdf_export.pdf_path(ctx.store, space, revision.id, query.page, query.only)
    return {"url": f"{ctx.base_url}/{path}"}
