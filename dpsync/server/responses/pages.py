"""Make the response bodies for revisions (versions of the content of a space), pages and files.

Input: the `Context` of a request, and a stored record. Output: JSON as the API describes it.
"""

import hashlib
from urllib.parse import quote

from msgspec.structs import replace

from ..content import markdown
from ..content.documents import stored_document
from ..content.editing import page_document
from ..content.page_search import SearchHit
from ..content.page_tree import Page, find_page, page_path
from ..request.context import CHANGE_REQUEST, Context
from ..spaces.content_view import ContentView
from ..store import Json, Record
from .change_requests import change_request
from .content import visibility_and_url
from .shared import APP_URL

FILES_URL = "https://files.docs.example"
_COPIED_FIELDS = (
    "emoji", "icon", "description", "variables", "hidden", "noIndex", "noRobotsIndex", "metaLinks",
    "computed", "target",
)  # fmt: skip
_DEFAULT_LAYOUT = {
    "width": "default", "cover": True, "coverSize": "hero", "title": True, "description": True,
    "tableOfContents": True, "outline": True, "pagination": True, "metadata": True,
}  # fmt: skip


def app_url(view: ContentView) -> str:
    """Return the URL of the content in the GitBook application."""
    base = f"{APP_URL}/s/{view.space.id}"
    request = view.change_request
    return f"{base}/~/changes/{request.position}" if request else base


def revision(view: ContentView) -> Json:
    """Return the response body for a revision: its content, and how it was made."""
    record, doc = view.revision, view.content
    visibility, url = _visibility_and_url(view)
    urls = {"app": f"{app_url(view)}/~/revisions/{record.id}"}
    if url:
        urls |= {"published": url} | ({"public": url} if visibility == "public" else {})
    answer = {
        "object": "revision",
        "id": record.id,
        "type": doc["type"],
        "parents": doc["parents"],
        "pages": pages(view),
        "files": [file(view, item) for item in doc["files"]],
        "reusableContents": [reusable_content(view, item) for item in doc["reusableContents"]],
        "variables": doc["variables"],
        "createdAt": doc["createdAt"],
        "urls": urls,
        **_git_field(view, doc),
    }
    if view.ctx.is_published_profile:
        answer["tags"] = []
    merged = view.ctx.store.get(CHANGE_REQUEST, doc["mergedFrom"]) if "mergedFrom" in doc else None
    if merged is not None:
        answer["mergedFrom"] = change_request(view.ctx, merged)
    return answer


def revision_without_texts(view: ContentView) -> Json:
    """Return the response body for a revision without the texts of its pages.

    A list of links repeats the revision for each link, and texts would make such a list very long.
    """
    return revision(replace(view, include_texts=False))


def pages(view: ContentView) -> list[Json]:
    """Return all pages of a content as a tree."""
    return [page(view, item, ()) for item in view.content["pages"]]


def page_summary(view: ContentView, source: Page, ancestors: tuple[Page, ...]) -> Json:
    """Return the response body for a page without its text and without its child pages."""
    bare = {name: value for name, value in source.items() if name not in ("body", "computed")}
    return page(view, {**bare, "pages": []}, ancestors)


def _visibility_and_url(view: ContentView) -> tuple[str, str | None]:
    """Return (visibility of the content, its published URL); the URL is None if no published site shows it.

    No site shows the content of a change request, so it is private. The result is cached for the view.
    """
    if view.change_request is not None:
        return "private", None
    if "published" not in view.cache:
        view.cache["published"] = visibility_and_url(view.ctx, view.space)
    cached: tuple[str, str | None] = view.cache["published"]
    return cached


def page(view: ContentView, source: Page, ancestors: tuple[Page, ...]) -> Json:
    """Return the response body for a page with its descendants.

    `source` is the page as the revision stores it.
    """
    path = page_path(source, ancestors)
    _, url = _visibility_and_url(view)
    urls = {"app": f"{app_url(view)}/{path}"}
    if url:
        urls["published"] = url + path
    answer = {
        "id": source["id"],
        "title": source["title"],
        "type": source["type"],
        "slug": source["slug"],
        "path": path,
        "createdAt": source["createdAt"],
        "updatedAt": source["updatedAt"],
        **{name: source[name] for name in _COPIED_FIELDS if name in source},
        "urls": urls,
        "pages": [page(view, child, (*ancestors, source)) for child in source["pages"]],
        **_git_field(view, source),
    }
    if view.ctx.is_published_profile:
        kind = _PAGE_KINDS.get(source["type"])
        answer |= ({"kind": kind} if kind else {}) | ({"tags": []} if kind == "sheet" else {})
    if "cover" in source:
        answer["cover"] = {"yPos": 0, "height": 240, **source["cover"]}
    if source["type"] == "document":
        published_layout = _PUBLISHED_LAYOUT if view.ctx.is_published_profile else {}
        answer["layout"] = {**_DEFAULT_LAYOUT, **published_layout, **source.get("layout", {})}
    if "body" in source and view.include_texts:
        answer["markdown"] = page_markdown(source)
    if (source.get("target") or {}).get("kind") == "url":
        answer["href"] = source["target"]["url"]
    if "computed" in source:
        answer |= _computed_fields(view, source)
    return answer


_PAGE_KINDS = {"document": "sheet", "group": "group", "link": "link"}
_PUBLISHED_LAYOUT = {"coverMask": "none", "tags": True, "actions": True, "anchors": True}


def page_markdown(source: Json) -> str:
    """Return the Markdown of a page: as written, or converted from its Document."""
    body = source["body"]
    return str(body["markdown"]) if "markdown" in body else markdown.to_markdown(page_document(source))


def _computed_fields(view: ContentView, source: Page) -> Json:
    """Return the members of a page that is computed from an OpenAPI specification.

    The answer always has `dependencies` and `props`; by default, `props` name the specification.
    `computedSeed` changes with the version of the specification.
    """
    dependency = (source["computed"].get("dependencies") or {}).get("spec") or {}
    slug = str((dependency.get("ref") or {}).get("spec", ""))
    spec = find_openapi_spec(view.ctx, view.space, slug)
    version = str(spec.doc.get("lastVersion", "")) if spec else ""
    fields: Json = {
        "computed": {"dependencies": {}, "props": {"doc": slug} if slug else {}, **source["computed"]},
        "computedSeed": hashlib.sha256(f"{slug} {version}".encode()).hexdigest()[:16],
    }
    if view.ctx.is_published_profile:
        fields["computed"] |= _published_computed_fields(fields["computed"], spec, source["type"])
    if view.computed and view.include_texts and source["computed"]["type"] == "builtin:openapi":
        state = f"in its version {version}" if version else "which has no version"
        fields["markdown"] = f"The API of the specification [{slug}](/openapi/{slug}), {state}.\n"
    return fields


def _published_computed_fields(computed: Json, spec: Record | None, page_type: str) -> Json:
    """Return the `dependencies` and `props` of a computed page as the API version `published` has them.

    In `published`, a dependency has a summary of the OpenAPI specification instead of a reference, and
    `props` name the part that the page shows. `page_type` is the type of the page, such as "computed";
    `computed["type"]` is what computes it. Pages not computed by "builtin:openapi" need no other fields: {}.
    """
    if computed["type"] != "builtin:openapi":
        return {}
    spec_summary = {"object": "openapi-spec", "id": spec.id, "slug": spec.ref} if spec else None
    dependencies = {
        name: {**dependency, "value": spec_summary} for name, dependency in computed["dependencies"].items()
    }
    props = {"models": True} if page_type == "computed" else {"doc": "models"}
    return {"dependencies": dependencies, "props": props}


def find_openapi_spec(ctx: Context, space: Record, slug: str) -> Record | None:
    """Return the specification with a slug in the organization of the space, or None."""
    return next(iter(ctx.store.find("openapi-spec", organization=space.organization, ref=slug)), None)


def document(source: Json) -> Json:
    """Return a Document with the keys that the server adds."""
    return stored_document(source)


def file(view: ContentView, source: Json) -> Json:
    """Return the response body for a file with its download URL."""
    url = f"{FILES_URL}/{view.space.id}/{source['id']}/{quote(source['name'], safe='')}"
    fields = {name: value for name, value in source.items() if name != "git"}
    return {"downloadURL": url, **fields, **_git_field(view, source)}


def reusable_content(view: ContentView, content: Json) -> Json:
    """Return the response body for a reusable content without its text."""
    return {"id": content["id"], "title": content["title"], **_git_field(view, content)}


def _git_field(view: ContentView, source: Json) -> Json:
    """Return {"git": ...} for an object from a git repository, unless the caller asked for no metadata."""
    if not view.metadata or "git" not in source:
        return {}
    git = dict(source["git"])
    if view.ctx.is_published_profile and "createdByService" in git:
        git["createdByGitBook"] = git.pop("createdByService")
    return {"git": git}


def search_score(hit: SearchHit) -> float:
    """Return how well a page fits a search: 1 if the title contains all words, less if only the text does."""
    return 1 / (1 + hit.rank)


def search_hit(view: ContentView, hit: SearchHit, rank: int = 1) -> Json:
    """Return the response body for a page that a search found.

    `rank` is its position among the hits, counted from 1.
    """
    path = page_path(hit.page, hit.ancestors)
    page_url = f"{app_url(view)}/{path}"
    answer: Json = {
        "id": hit.page["id"],
        "title": hit.page["title"],
        "path": path,
        "sections": [
            {
                "id": section.anchor or hit.page["id"],
                "title": section.title or hit.page["title"],
                "path": f"{path}#{section.anchor}" if section.anchor else path,
                "body": section.body,
                "urls": {"app": f"{page_url}#{section.anchor}" if section.anchor else page_url},
            }
            for section in hit.sections
        ],
        "ancestors": [{"title": page["title"]} for page in hit.ancestors],
        "urls": {"app": page_url},
    }
    if view.ctx.is_published_profile:
        answer |= {
            "description": hit.page.get("description") or "",
            "score": search_score(hit),
            "rank": rank,
        }
        for section in answer["sections"]:
            section["score"] = search_score(hit)
    return answer


def reference_url(view: ContentView, current_page: Page, ref: Json) -> str | None:
    """Return the URL of the object that a reference names, or None if it has no URL or does not exist."""
    kind, space = ref.get("kind"), ref.get("space")
    if kind == "space" and space:
        return f"{APP_URL}/s/{space}"
    if space and space != view.space.id:
        return None
    if kind == "file":
        candidate = next(
            (candidate for candidate in view.content["files"] if candidate["id"] == ref.get("file")), None
        )
        return str(file(view, candidate)["downloadURL"]) if candidate else None
    if kind in ("page", "anchor"):
        entry = find_page(view.content["pages"], str(ref.get("page") or current_page["id"]))
        anchor = f"#{ref['anchor']}" if ref.get("anchor") else ""
        if entry is None:
            return None
        urls = page_summary(view, *entry)["urls"]
        return str(urls.get("published") or urls["app"]) + anchor
    return None
