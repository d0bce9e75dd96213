"""Make the response bodies for OpenAPI specifications, their versions, translations and glossary entries.

Input: the `Context` of a request, and a stored record. Output: JSON as the API describes it.
"""

from ..access.roles import permission_flags
from ..request.context import Context
from ..store import Json, Record
from .content import space
from .shared import APP_URL, api_url, without_none


def openapi_spec(ctx: Context, record: Record) -> Json:
    """Return the response body for an OpenAPI specification with the permissions of the caller."""
    doc = without_none(record.doc)
    urls = {
        "location": api_url(ctx, f"/orgs/{record.organization}/openapi/{record.ref}"),
        "app": f"{APP_URL}/o/{record.organization}/openapi/{record.ref}",
    }
    if doc["visibility"] == "public" and "lastVersion" in doc:
        urls["published"] = f"{APP_URL}/o/{record.organization}/openapi/{record.ref}/published"
    return {
        "object": "openapi-spec",
        "id": record.id,
        "slug": record.ref,
        **doc,
        **({"lastProcessedErrorCount": len(doc.get("lastProcessedErrors", []))} if ctx.has_additions else {}),
        "permissions": permission_flags("openapi-spec", ctx.access_in(record.organization).role),
        "urls": urls,
    }


def openapi_version(ctx: Context, spec: Record, record: Record) -> Json:
    """Return the response body for a version of a specification without its content."""
    location = api_url(ctx, f"/orgs/{spec.organization}/openapi/{spec.ref}/versions/{record.id}")
    details = {field: record.doc.get(field) for field in ("createdAt", "sourceURL")}
    return {
        "object": "openapi-spec-version",
        "id": record.id,
        **without_none(details),
        **({"url": record.doc.get("sourceURL") or f"{location}/content"} if ctx.is_published_profile else {}),
        "urls": {"location": location},
    }


def glossary_entry(ctx: Context, record: Record) -> Json:
    """Return the response body for an entry of the glossary: a term in several languages."""
    return {
        "object": "glossary-entry",
        "id": record.id,
        **record.doc,
        "urls": {"location": api_url(ctx, f"/orgs/{record.organization}/translations-glossary/{record.id}")},
    }


def translation(ctx: Context, record: Record) -> Json:
    """Return the response body for a translation.

    `result` is missing before the first run, and after the space of the result was deleted.
    """
    answer = {
        "object": "translation",
        "id": record.id,
        **record.doc,
        "permissions": permission_flags("translation", ctx.access_in(record.organization).role),
        "urls": {"location": api_url(ctx, f"/orgs/{record.organization}/translations/{record.id}")},
    }
    result = ctx.load("space", record.ref) if record.ref else None
    if result is not None and result.organization == record.organization:
        answer["result"] = {"space": result.id, "revision": space(ctx, result)["revision"]}
        if ctx.has_additions:
            answer["result"]["language"] = record.doc["language"]
    return answer
