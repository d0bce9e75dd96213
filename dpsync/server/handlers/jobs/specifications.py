"""Operations on OpenAPI specifications of an organization. The slug is the `ref` of the record.

A job processes a specification: pending, progress, complete. The previous result stays until the next one is
complete.
"""

import asyncio
import re
from datetime import timedelta
from typing import Any

from msgspec import Struct

from ... import answers
from ...answers.shared import located
from ...clock import moment
from ...errors import bad, conflict, missing
from ...jobs.queue import Work, enqueue
from ...jobs.sources import FetchError
from ...jobs.specification import errors_of, is_json, written_out
from ...models.openapi import LONGEST_SLUG, SLUG
from ...request.changes import changes
from ...request.context import Context
from ...request.paging import created_page
from ...store import Json, Record

KIND = "openapi-spec"
VERSION = "openapi-version"
PROCESS = "process-openapi-spec"
REFETCH_INTERVAL = timedelta(days=1)
"""The platform does not publish its schedule."""


def _find(ctx: Context, organization: Record, slug: str) -> Record | None:
    return next(iter(ctx.store.find(KIND, organization=organization.id, ref=slug)), None)


def _spec(ctx: Context) -> Record:
    found = _find(ctx, ctx.organization(), ctx.params["specSlug"])
    if found is None:
        raise missing("OpenAPI spec", ctx.params["specSlug"])
    return found


def list_specs(ctx: Context) -> Json:
    organization = ctx.organization().id
    return created_page(
        ctx, KIND, lambda spec: ctx.show(answers.openapi_spec, spec), organization=organization
    )


def create_spec(ctx: Context) -> Json:
    """Create a specification. Raise 400 if the slug is taken."""
    organization, body = ctx.organization(), ctx.body
    if _find(ctx, organization, body.slug) is not None:
        raise bad(f"body.slug: {body.slug!r} is taken")
    return answers.openapi_spec(ctx, _new(ctx, organization, body.slug))


def _new(ctx: Context, organization: Record, slug: str) -> Record:
    doc = {"visibility": "private", "createdAt": ctx.stamp}
    spec = Record(KIND, ctx.new_id(KIND), doc, organization.id, organization.id, ref=slug)
    _process(ctx, spec, ctx.body.given()["source"])
    return spec


def get_spec(ctx: Context) -> Any:
    return ctx.show(answers.openapi_spec, _spec(ctx))


def put_spec(ctx: Context) -> Json:
    """Replace or create (201) a specification. It is processed even if the source is unchanged."""
    organization, slug = ctx.organization(), ctx.params["specSlug"]
    spec = _find(ctx, organization, slug)
    if spec is None:
        ctx.created = True
        if len(slug) > LONGEST_SLUG or not re.fullmatch(SLUG, slug):
            raise bad(
                f"the slug {slug!r} is invalid: join words by hyphens, at most {LONGEST_SLUG} characters"
            )
        return answers.openapi_spec(ctx, _new(ctx, organization, slug))
    _process(ctx, spec, ctx.body.given()["source"])
    return answers.openapi_spec(ctx, spec)


def update_spec(ctx: Context) -> Json:
    spec = _spec(ctx)
    if given := changes(spec.doc, ctx.body.given()):
        spec.doc |= {**given, "updatedAt": ctx.stamp}
        ctx.put(spec)
    return answers.openapi_spec(ctx, spec)


def delete_spec(ctx: Context) -> None:
    spec = _find(ctx, ctx.organization(), ctx.params["specSlug"])
    if spec is not None:
        ctx.remove(spec)


# --- versions -------------------------------------------------------------------------------------


class Raw(Struct, frozen=True):
    """An answer whose body is a text in its original format instead of JSON."""

    text: str
    media_type: str


def _version(ctx: Context) -> tuple[Record, Record]:
    """Return a specification, and the version that the path names or the latest version."""
    spec = _spec(ctx)
    id = ctx.params.get("versionId") or spec.doc.get("lastVersion", "")
    found = ctx.store.get(VERSION, id)
    if found is None or found.scope != spec.id:
        raise missing(f"version of the OpenAPI spec {spec.ref!r}:", id or "latest")
    return spec, found


def _text(version: Record) -> str:
    """Return the text of a version. Raise 404 for a version that a world has without its text."""
    if "text" not in version.doc:
        raise missing("content of the version", version.id)
    return str(version.doc["text"])


def list_versions(ctx: Context) -> Json:
    spec = _spec(ctx)
    return created_page(
        ctx, VERSION, lambda version: answers.openapi_version(ctx, spec, version), scope=spec.id
    )


def get_version(ctx: Context) -> Json:
    return answers.openapi_version(ctx, *_version(ctx))


def get_version_content(ctx: Context) -> Json:
    """Return the content of a version as JSON.

    Raise 409 for a YAML document that JSON cannot express because it contains itself.
    """
    spec, version = _version(ctx)
    text = _text(version)
    try:
        document = written_out(text)
    except ValueError as error:
        raise conflict(f"the version {version.id!r} can only be read as raw text: {error}") from None
    name = "openapi.json" if is_json(text) else "openapi.yaml"
    url = {"url": version.doc["sourceURL"]} if version.doc.get("sourceURL") else {}
    entry = {"filename": name, "isEntrypoint": True, "specification": document}
    if ctx.published:
        raw = located(ctx, f"/orgs/{spec.organization}/openapi/{spec.ref}/versions/latest/content/raw")
        return {"filesystem": {name: document}, "urls": {"source": raw, "public": None}}
    return {"object": "openapi-spec-version-content", **url, "filesystem": [entry]}


def get_raw_version(ctx: Context) -> Raw:
    """Return the original text of a version, with the media type JSON or YAML."""
    text = _text(_version(ctx)[1])
    return Raw(text, "application/json" if is_json(text) else "application/yaml")


# --- processing -------------------------------------------------------------------------------------


def refetch_sources(ctx: Context) -> None:
    """Process each URL source again that the companion last fetched at least a day ago.

    Sources that only come from a world file are skipped, because no client asked to contact their hosts.
    """
    for spec in ctx.store.find(KIND):
        url, last = spec.doc.get("sourceURL"), ctx.store.get(VERSION, spec.doc.get("lastVersion", ""))
        if not url or last is None or "text" not in last.doc or spec.doc["processingState"] != "complete":
            continue
        if ctx.now - moment(spec.doc["lastProcessedAt"]) >= REFETCH_INTERVAL:
            _process(ctx, spec, {"url": url})


def _process(ctx: Context, spec: Record, source: Json) -> None:
    """Mark a specification as pending, and enqueue a job that processes it.

    The id of the new version is chosen now, so that the same requests in the same order get the same ids.
    """
    spec.doc["sourceURL"] = source.get("url")
    spec.doc["processingState"] = "pending"
    spec.doc["updatedAt"] = ctx.stamp
    ctx.put(spec)
    enqueue(ctx, spec, PROCESS, source=source, version=ctx.new_id(VERSION))


async def process(work: Work) -> None:
    with work.step() as ctx:
        spec = _subject(ctx, work.job)
        spec.doc["processingState"] = "progress"
        ctx.put(spec)
    text, code, errors = await _processed(work)
    with work.last_step() as ctx:
        spec = _subject(ctx, work.job)
        for field in ("lastProcessErrorCode", "lastProcessedErrors"):
            spec.doc.pop(field, None)
        if errors:
            spec.doc |= {"lastProcessErrorCode": code, "lastProcessedErrors": errors}
        else:
            version = work.job.doc["version"]
            spec.doc["lastVersion"] = version
            doc = {"createdAt": ctx.stamp, "sourceURL": spec.doc.get("sourceURL"), "text": text}
            ctx.put(Record(VERSION, version, doc, spec.organization, spec.id))
        spec.doc |= {"processingState": "complete", "lastProcessedAt": ctx.stamp, "updatedAt": ctx.stamp}
        ctx.put(spec)


async def _processed(work: Work) -> tuple[str, str, list[Json]]:
    source = work.job.doc["source"]
    try:
        text = source["text"] if source.get("text") else await work.sources.fetch(source["url"])
    except FetchError as error:
        return "", error.code, [{"message": error.message, "code": error.code}]
    return text, "PARSE_ERROR", await asyncio.to_thread(errors_of, text)


def _subject(ctx: Context, job: Record) -> Record:
    found = ctx.store.get(KIND, job.ref)
    if found is None:
        raise LookupError(f"the object of the job {job.id} does not exist")
    return found
