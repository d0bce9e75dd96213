"""Handle the API operations on OpenAPI specifications, and process new specifications in jobs.

The slug of a specification is in the column `ref` of its record. Processing has the states pending, progress
and complete. The previous result stays until the next one is complete.
"""

import asyncio
import re
from datetime import timedelta
from typing import Any

from msgspec import Struct

from ... import responses
from ...clock import parse_timestamp
from ...errors import bad_request, conflict, not_found
from ...jobs.outside_services import FetchError
from ...jobs.queue import RunningJob, enqueue
from ...jobs.specification_checks import find_errors, is_json, to_plain_json
from ...models.openapi import MAX_SLUG_LENGTH, SLUG_PATTERN
from ...request.changes import changed_fields
from ...request.context import Context
from ...request.paging import page_by_creation
from ...responses.shared import api_url
from ...store import Json, Record

SPECIFICATION = "openapi-spec"
SPECIFICATION_VERSION = "openapi-version"
PROCESS_JOB = "process-openapi-spec"
REFETCH_INTERVAL = timedelta(days=1)
"""A choice of the local server, because the platform does not publish its schedule."""


def _find_spec(ctx: Context, organization: Record, slug: str) -> Record | None:
    """Return the specification with a slug in an organization, or None."""
    return next(iter(ctx.store.find(SPECIFICATION, organization=organization.id, ref=slug)), None)


def _require_spec(ctx: Context) -> Record:
    """Return the specification that the path names. Raise 404 if it does not exist."""
    spec = _find_spec(ctx, ctx.organization_from_path(), ctx.params["specSlug"])
    if spec is None:
        raise not_found("OpenAPI spec", ctx.params["specSlug"])
    return spec


def list_specs(ctx: Context) -> Json:
    """List the specifications of an organization in order of creation."""
    organization = ctx.organization_from_path().id
    return page_by_creation(
        ctx,
        SPECIFICATION,
        lambda spec: ctx.render_cached(responses.openapi_spec, spec),
        organization=organization,
    )


def create_spec(ctx: Context) -> Json:
    """Create a specification. Raise 400 if the slug is taken."""
    organization, body = ctx.organization_from_path(), ctx.body
    if _find_spec(ctx, organization, body.slug) is not None:
        raise bad_request(f"body.slug: {body.slug!r} is taken")
    return responses.openapi_spec(ctx, _create_spec(ctx, organization, body.slug))


def _create_spec(ctx: Context, organization: Record, slug: str) -> Record:
    """Create a private specification and start to process its source."""
    doc = {"visibility": "private", "createdAt": ctx.timestamp}
    spec = Record(SPECIFICATION, ctx.new_id(SPECIFICATION), doc, organization.id, organization.id, ref=slug)
    _enqueue_processing(ctx, spec, ctx.body.sent_fields()["source"])
    return spec


def get_spec(ctx: Context) -> Any:
    """Return the specification that the path names."""
    return ctx.render_cached(responses.openapi_spec, _require_spec(ctx))


def put_spec(ctx: Context) -> Json:
    """Replace or create (201) a specification. It is processed even if the source is unchanged."""
    organization, slug = ctx.organization_from_path(), ctx.params["specSlug"]
    spec = _find_spec(ctx, organization, slug)
    if spec is None:
        ctx.was_created = True
        if len(slug) > MAX_SLUG_LENGTH or not re.fullmatch(SLUG_PATTERN, slug):
            raise bad_request(
                f"the slug {slug!r} is invalid: join words by hyphens, at most {MAX_SLUG_LENGTH} characters"
            )
        return responses.openapi_spec(ctx, _create_spec(ctx, organization, slug))
    _enqueue_processing(ctx, spec, ctx.body.sent_fields()["source"])
    return responses.openapi_spec(ctx, spec)


def update_spec(ctx: Context) -> Json:
    """Change the visibility of a specification, without processing its source."""
    spec = _require_spec(ctx)
    if changes := changed_fields(spec.doc, ctx.body.sent_fields()):
        spec.doc |= {**changes, "updatedAt": ctx.timestamp}
        ctx.put(spec)
    return responses.openapi_spec(ctx, spec)


def delete_spec(ctx: Context) -> None:
    """Delete a specification with its versions. It is not an error if it does not exist."""
    spec = _find_spec(ctx, ctx.organization_from_path(), ctx.params["specSlug"])
    if spec is not None:
        ctx.remove(spec)


# --- versions -------------------------------------------------------------------------------------


class RawResponse(Struct, frozen=True):
    """An answer whose body is a text in its original format instead of JSON."""

    text: str
    media_type: str


def _require_version(ctx: Context) -> tuple[Record, Record]:
    """Return a specification, and the version that the path names or the latest version.

    Raise 404 if the version does not exist.
    """
    spec = _require_spec(ctx)
    id = ctx.params.get("versionId") or spec.doc.get("lastVersion", "")
    version = ctx.store.get(SPECIFICATION_VERSION, id)
    if version is None or version.scope != spec.id:
        raise not_found(f"version of the OpenAPI spec {spec.ref!r}:", id or "latest")
    return spec, version


def _version_text(version: Record) -> str:
    """Return the text of a version.

    Raise 404 for a version that a world (the server's data) has without its text.
    """
    if "text" not in version.doc:
        raise not_found("content of the version", version.id)
    return str(version.doc["text"])


def list_versions(ctx: Context) -> Json:
    """List the versions of a specification in order of creation."""
    spec = _require_spec(ctx)
    return page_by_creation(
        ctx,
        SPECIFICATION_VERSION,
        lambda version: responses.openapi_version(ctx, spec, version),
        scope=spec.id,
    )


def get_version(ctx: Context) -> Json:
    """Return the version that the path names, or the latest version."""
    return responses.openapi_version(ctx, *_require_version(ctx))


def get_version_content(ctx: Context) -> Json:
    """Return the content of a version as JSON.

    Raise 409 for a YAML document that JSON cannot express because it contains itself.
    """
    spec, version = _require_version(ctx)
    text = _version_text(version)
    try:
        document = to_plain_json(text)
    except ValueError as error:
        raise conflict(f"the version {version.id!r} can only be read as raw text: {error}") from None
    name = "openapi.json" if is_json(text) else "openapi.yaml"
    url = {"url": version.doc["sourceURL"]} if version.doc.get("sourceURL") else {}
    entry = {"filename": name, "isEntrypoint": True, "specification": document}
    if ctx.is_published_profile:
        raw = api_url(ctx, f"/orgs/{spec.organization}/openapi/{spec.ref}/versions/latest/content/raw")
        return {"filesystem": {name: document}, "urls": {"source": raw, "public": None}}
    return {"object": "openapi-spec-version-content", **url, "filesystem": [entry]}


def get_raw_version(ctx: Context) -> RawResponse:
    """Return the original text of a version, with the media type JSON or YAML."""
    text = _version_text(_require_version(ctx)[1])
    return RawResponse(text, "application/json" if is_json(text) else "application/yaml")


# --- processing -------------------------------------------------------------------------------------


def refetch_sources(ctx: Context) -> None:
    """Process each URL source again that the local server last fetched at least a day ago.

    Sources that only come from a world file are skipped, because no client asked to contact their hosts.
    """
    for spec in ctx.store.find(SPECIFICATION):
        url, last_version = (
            spec.doc.get("sourceURL"),
            ctx.store.get(SPECIFICATION_VERSION, spec.doc.get("lastVersion", "")),
        )
        if (
            not url
            or last_version is None
            or "text" not in last_version.doc
            or spec.doc["processingState"] != "complete"
        ):
            continue
        if ctx.now - parse_timestamp(spec.doc["lastProcessedAt"]) >= REFETCH_INTERVAL:
            _enqueue_processing(ctx, spec, {"url": url})


def _enqueue_processing(ctx: Context, spec: Record, source: Json) -> None:
    """Mark a specification as pending, and enqueue a job that processes it.

    The id of the new version is chosen now, so that the same requests in the same order get the same ids.
    """
    spec.doc["sourceURL"] = source.get("url")
    spec.doc["processingState"] = "pending"
    spec.doc["updatedAt"] = ctx.timestamp
    ctx.put(spec)
    enqueue(ctx, spec, PROCESS_JOB, source=source, version=ctx.new_id(SPECIFICATION_VERSION))


async def process_spec(work: RunningJob) -> None:
    """Fetch and check the source of a specification, and store it as a new version if it is valid."""
    with work.step() as ctx:
        spec = _load_job_spec(ctx, work.job)
        spec.doc["processingState"] = "progress"
        ctx.put(spec)
    source = work.job.doc["source"]
    text, code = "", "PARSE_ERROR"
    try:
        text = source["text"] if source.get("text") else await work.services.fetch(source["url"])
    except FetchError as error:
        code, errors = error.code, [{"message": error.message, "code": error.code}]
    else:
        errors = await asyncio.to_thread(find_errors, text)
    with work.final_step() as ctx:
        spec = _load_job_spec(ctx, work.job)
        for field in ("lastProcessErrorCode", "lastProcessedErrors"):
            spec.doc.pop(field, None)
        if errors:
            spec.doc |= {"lastProcessErrorCode": code, "lastProcessedErrors": errors}
        else:
            version = work.job.doc["version"]
            spec.doc["lastVersion"] = version
            doc = {"createdAt": ctx.timestamp, "sourceURL": spec.doc.get("sourceURL"), "text": text}
            ctx.put(Record(SPECIFICATION_VERSION, version, doc, spec.organization, spec.id))
        spec.doc |= {
            "processingState": "complete",
            "lastProcessedAt": ctx.timestamp,
            "updatedAt": ctx.timestamp,
        }
        ctx.put(spec)


def _load_job_spec(ctx: Context, job: Record) -> Record:
    """Return the specification that a job processes. Raise LookupError if it does not exist."""
    spec = ctx.store.get(SPECIFICATION, job.ref)
    if spec is None:
        raise LookupError(f"the object of the job {job.id} does not exist")
    return spec
