"""Answers for revisions, pages and files."""

import hashlib
from collections.abc import Callable
from functools import partial
from urllib.parse import quote

from msgspec.structs import replace

from ..content import markdown
from ..content.documents import stored_document
from ..content.editing import document_of
from ..content.searching import Hit
from ..content.tree import Page, find, path_of
from ..request.context import CHANGE_REQUEST, Context
from ..spaces.reading import ReadContent
from ..store import Json, Record
from .change_requests import change_request
from .content import published
from .shared import APP

FILES = "https://files.docs.example"
_COPIED = (
    "emoji", "icon", "description", "variables", "hidden", "noIndex", "noRobotsIndex", "metaLinks",
    "computed", "target",
)  # fmt: skip
_LAYOUT = {
    "width": "default", "cover": True, "coverSize": "hero", "title": True, "description": True,
    "tableOfContents": True, "outline": True, "pagination": True, "metadata": True,
}  # fmt: skip


def app_of(reading: ReadContent) -> str:
    """Return the URL of the content in the GitBook application."""
    base = f"{APP}/s/{reading.space.id}"
    request = reading.change_request
    return f"{base}/~/changes/{request.position}" if request else base


def revision(reading: ReadContent) -> Json:
    record, doc = reading.revision, reading.content
    visibility, url = _published(reading)
    urls = {"app": f"{app_of(reading)}/~/revisions/{record.id}"}
    if url:
        urls |= {"published": url} | ({"public": url} if visibility == "public" else {})
    answer = {
        "object": "revision",
        "id": record.id,
        "type": doc["type"],
        "parents": doc["parents"],
        "pages": pages(reading),
        "files": [file(reading, found) for found in doc["files"]],
        "reusableContents": [reusable_content(reading, found) for found in doc["reusableContents"]],
        "variables": doc["variables"],
        "createdAt": doc["createdAt"],
        "urls": urls,
        **_git(reading, doc),
    }
    if reading.ctx.published:
        answer["tags"] = []
    merged = reading.ctx.store.get(CHANGE_REQUEST, doc["mergedFrom"]) if "mergedFrom" in doc else None
    if merged is not None:
        answer["mergedFrom"] = change_request(reading.ctx, merged)
    return answer


def revision_without_texts(reading: ReadContent) -> Json:
    """Return a revision without the texts of its pages.

    A list of links repeats the revision for each link, and texts would make such a list very long.
    """
    return revision(replace(reading, texts=False))


def pages(reading: ReadContent) -> list[Json]:
    return [page(reading, found, ()) for found in reading.content["pages"]]


def page_alone(reading: ReadContent, found: Page, above: tuple[Page, ...]) -> Json:
    """Return a page without its text and without its child pages."""
    bare = {name: value for name, value in found.items() if name not in ("body", "computed")}
    return page(reading, {**bare, "pages": []}, above)


def _published(reading: ReadContent) -> tuple[str, str | None]:
    """Return the visibility of the content and its published URL, or None as the URL.

    No site shows the content of a change request.
    """
    if reading.change_request is not None:
        return "private", None
    if "published" not in reading.known:
        reading.known["published"] = published(reading.ctx, reading.space)
    found: tuple[str, str | None] = reading.known["published"]
    return found


def page(reading: ReadContent, found: Page, above: tuple[Page, ...]) -> Json:
    path = path_of(found, above)
    _, url = _published(reading)
    urls = {"app": f"{app_of(reading)}/{path}"}
    if url:
        urls["published"] = url + path
    answer = {
        "id": found["id"],
        "title": found["title"],
        "type": found["type"],
        "slug": found["slug"],
        "path": path,
        "createdAt": found["createdAt"],
        "updatedAt": found["updatedAt"],
        **{name: found[name] for name in _COPIED if name in found},
        "urls": urls,
        "pages": [page(reading, child, (*above, found)) for child in found["pages"]],
        **_git(reading, found),
    }
    if reading.ctx.published:
        answer |= _members_of_today(found)
    if "cover" in found:
        answer["cover"] = {"yPos": 0, "height": 240, **found["cover"]}
    if found["type"] == "document":
        later = _LATER_LAYOUT if reading.ctx.published else {}
        answer["layout"] = {**_LAYOUT, **later, **found.get("layout", {})}
    if "body" in found and reading.texts:
        answer["markdown"] = markdown_of(found)
    if (found.get("target") or {}).get("kind") == "url":
        answer["href"] = found["target"]["url"]
    if "computed" in found:
        answer |= _computed(reading, found)
    return answer


_KINDS = {"document": "sheet", "group": "group", "link": "link"}
_LATER_LAYOUT = {"coverMask": "none", "tags": True, "actions": True, "anchors": True}


def _members_of_today(found: Page) -> Json:
    """Return the members that a page has only in the `published` edition."""
    kind = _KINDS.get(found["type"])
    return ({"kind": kind} if kind else {}) | ({"tags": []} if kind == "sheet" else {})


def markdown_of(found: Json) -> str:
    """Return the Markdown of a page: as written, or converted from its Document."""
    body = found["body"]
    return str(body["markdown"]) if "markdown" in body else markdown.to_markdown(document_of(found))


def _computed(reading: ReadContent, found: Page) -> Json:
    """Return the members of a page that is computed from an OpenAPI specification.

    The answer always has `dependencies` and `props`; by default, `props` name the specification.
    `computedSeed` changes with the version of the specification.
    """
    dependency = (found["computed"].get("dependencies") or {}).get("spec") or {}
    slug = str((dependency.get("ref") or {}).get("spec", ""))
    spec = openapi_spec_of(reading.ctx, reading.space, slug)
    version = str(spec.doc.get("lastVersion", "")) if spec else ""
    made: Json = {
        "computed": {"dependencies": {}, "props": {"doc": slug} if slug else {}, **found["computed"]},
        "computedSeed": hashlib.sha256(f"{slug} {version}".encode()).hexdigest()[:16],
    }
    if reading.ctx.published:
        made["computed"] |= _source_of_today(made["computed"], spec, found["type"])
    if reading.computed and reading.texts and found["computed"]["type"] == "builtin:openapi":
        state = f"in its version {version}" if version else "which has no version"
        made["markdown"] = f"The API of the specification [{slug}](/openapi/{slug}), {state}.\n"
    return made


def _source_of_today(computed: Json, spec: Record | None, type: str) -> Json:
    """Return the `dependencies` and `props` of a computed page as the `published` edition has them.

    The dependencies contain the specification itself, and `props` name the part that the page shows.
    """
    if computed["type"] != "builtin:openapi":
        return {}
    known = {"object": "openapi-spec", "id": spec.id, "slug": spec.ref} if spec else None
    dependencies = {
        name: {**dependency, "value": known} for name, dependency in computed["dependencies"].items()
    }
    props = {"models": True} if type == "computed" else {"doc": "models"}
    return {"dependencies": dependencies, "props": props}


def openapi_spec_of(ctx: Context, space: Record, named: str) -> Record | None:
    """Return the specification with a slug in the organization of the space, or None."""
    return next(iter(ctx.store.find("openapi-spec", organization=space.organization, ref=named)), None)


def document(found: Json) -> Json:
    """Return a Document with the keys that the server adds."""
    return stored_document(found)


def file(reading: ReadContent, found: Json) -> Json:
    made = f"{FILES}/{reading.space.id}/{found['id']}/{quote(found['name'], safe='')}"
    kept = {name: value for name, value in found.items() if name != "git"}
    return {"downloadURL": made, **kept, **_git(reading, found)}


def reusable_content(reading: ReadContent, found: Json) -> Json:
    return {"id": found["id"], "title": found["title"], **_git(reading, found)}


def _git(reading: ReadContent, found: Json) -> Json:
    if not reading.metadata or "git" not in found:
        return {}
    git = dict(found["git"])
    if reading.ctx.published and "createdByService" in git:
        git["createdByGitBook"] = git.pop("createdByService")
    return {"git": git}


def score(found: Hit) -> float:
    """Return how well a page fits a search: 1 if the title contains all words, less if only the text does."""
    return 1 / (1 + found.rank)


def hit(reading: ReadContent, found: Hit, rank: int = 1) -> Json:
    """Return a page that a search found. `rank` is its position among the hits, counted from 1."""
    path = path_of(found.page, found.above)
    at = partial(_at, reading, path)
    answer = _hit(reading, found, path, at)
    if reading.ctx.published:
        answer |= {"description": found.page.get("description") or "", "score": score(found), "rank": rank}
        for section in answer["sections"]:
            section["score"] = score(found)
    return answer


def _hit(reading: ReadContent, found: Hit, path: str, at: Callable[[str], Json]) -> Json:
    return {
        "id": found.page["id"],
        "title": found.page["title"],
        "path": path,
        "sections": [
            {
                "id": part.anchor or found.page["id"],
                "title": part.title or found.page["title"],
                "path": f"{path}#{part.anchor}" if part.anchor else path,
                "body": part.body,
                "urls": at(part.anchor),
            }
            for part in found.sections
        ],
        "ancestors": [{"title": page["title"]} for page in found.above],
        "urls": at(""),
    }


def _at(reading: ReadContent, path: str, anchor: str) -> Json:
    return {"app": f"{app_of(reading)}/{path}" + (f"#{anchor}" if anchor else "")}


def address(reading: ReadContent, at: Page, ref: Json) -> str | None:
    """Return the URL of the object that a reference names, or None if it has no URL or does not exist."""
    kind, space = ref.get("kind"), ref.get("space")
    if kind == "space" and space:
        return f"{APP}/s/{space}"
    if space and space != reading.space.id:
        return None
    if kind == "file":
        kept = next((kept for kept in reading.content["files"] if kept["id"] == ref.get("file")), None)
        return str(file(reading, kept)["downloadURL"]) if kept else None
    if kind in ("page", "anchor"):
        found = find(reading.content["pages"], str(ref.get("page") or at["id"]))
        anchor = f"#{ref['anchor']}" if ref.get("anchor") else ""
        return _best_url(page_alone(reading, *found)) + anchor if found else None
    return None


def _best_url(answer: Json) -> str:
    return str(answer["urls"].get("published") or answer["urls"]["app"])
