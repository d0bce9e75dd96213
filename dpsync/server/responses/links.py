"""Resolve links in content to their targets and locations, as the caller may see them.

A reference by id is looked up in its revision, a relative URL among the paths of the pages. A target that the
caller may not view counts as broken.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import unquote

from msgspec import Struct

from ..content.page_refs import page_anchors, page_refs
from ..content.page_tree import Page, page_ids_by_path, walk_pages
from ..content.refs import format_target
from ..request.context import Context
from ..spaces.content_view import ContentView, view_space
from ..store import Json
from . import pages
from .content import collection, space
from .people import organization, user
from .shared import APP_URL

_ABSOLUTE_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


class LinkSource(Struct, frozen=True):
    """A page or a reusable content that contains a link."""

    content: Json
    ancestors: tuple[Json, ...] = ()
    is_page: bool = True


class LinkTarget(Struct, frozen=True):
    """The target of a link.

    `key` is equal for all links to the same target; `render` renders the target.
    """

    key: str
    status: str
    render: Callable[[], Json]


def link_sources(view: ContentView) -> Iterator[LinkSource]:
    """Yield all pages and reusable contents of a content, in which links may be."""
    for page, ancestors in walk_pages(view.content["pages"]):
        yield LinkSource(page, ancestors)
    for content in view.content["reusableContents"]:
        yield LinkSource(content, is_page=False)


class LinksToTarget(Struct, frozen=True):
    """All links to one target with one relation. `sources` has each location once, in order."""

    relation: str
    target: LinkTarget
    sources: list[LinkSource]


class LinkResolver:
    """Resolves the references of one content. A target is rendered only on demand."""

    def __init__(self, view: ContentView) -> None:
        self.view = view
        self._ctx: Context = view.ctx
        self._views_by_space: dict[str, ContentView | None] = {view.space.id: view}
        self._pages_by_space: dict[str, dict[str, tuple[Page, tuple[Page, ...]]]] = {}
        self._page_ids_by_path: dict[str, str] | None = None
        self._contexts_by_space: dict[str, Json] = {}

    def collect_links(self, sources: Iterable[LinkSource]) -> list[LinksToTarget]:
        """Return the links in these sources, one for each relation and target, in order of first use."""
        links: dict[tuple[str, str], LinksToTarget] = {}
        for source in sources:
            for relation, ref in page_refs(source.content):
                target = self.resolve(ref, source)
                link = links.setdefault((relation, target.key), LinksToTarget(relation, target, []))
                if not link.sources or link.sources[-1] is not source:
                    link.sources.append(source)
        return list(links.values())

    def has_link_to(self, source: LinkSource, kind: str, space: str, id: str) -> bool:
        """Return whether a source links to an object of a kind in a space, or to an anchor in it."""
        wanted_key = f"{kind} {space} {id}"
        targets = (self.resolve(ref, source) for _, ref in page_refs(source.content))
        return any(target.status == "ok" and target.key.partition("#")[0] == wanted_key for target in targets)

    def render_link(self, link: LinksToTarget) -> Json:
        """Return the response body for the links to one target, with the pages that contain the links."""
        return {
            "status": link.target.status,
            "relation": link.relation,
            "targetReference": link.target.render(),
            "locationReferences": [self.render_source(source) for source in link.sources],
        }

    def render_source(self, source: LinkSource) -> Json:
        """Return the answer for a page or reusable content that contains a link."""
        context = self._render_context(self.view)
        if source.is_page:
            page = pages.page_summary(self.view, source.content, source.ancestors)
            return {"kind": "page", **context, "page": page}
        answer = pages.reusable_content(self.view, source.content)
        return {"kind": "reusable-content", **context, "reusableContent": answer}

    # --- looking up -------------------------------------------------------------------------------

    def resolve(self, ref: Json, source: LinkSource) -> LinkTarget:
        """Return the target of a reference. A reference of an unknown kind is broken."""
        kind = ref.get("kind")
        if kind == "url":
            return self._resolve_url(str(ref.get("url", "")), source)
        if kind in ("page", "anchor", "file", "reusable-content"):
            return self._resolve_in_revision(ref, source)
        if kind in ("space", "collection", "user", "openapi"):
            return self._resolve_object(ref, str(kind))
        return _broken_target("url", ref)

    def _resolve_url(self, url: str, source: LinkSource) -> LinkTarget:
        """Return the target of a URL: a website, the application, or a page or file by relative path."""
        if url == APP_URL or url.startswith(f"{APP_URL}/"):
            return _url_target(url, "in-app")
        if _ABSOLUTE_URL.match(url):
            return _url_target(url, "ok")
        path, _, anchor = url.partition("#")
        if not path:
            own_anchor = {"kind": "anchor", "page": source.content["id"], "anchor": anchor}
            return (
                self._resolve_in_revision(own_anchor, source)
                if source.is_page
                else _broken_target("url", {**own_anchor, "page": ""})
            )
        ref = self._find_by_path(unquote(path), source)
        if ref is None:
            return _url_target(url, "broken")
        return self._resolve_in_revision({**ref, **({"anchor": anchor} if anchor else {})}, source)

    def _find_by_path(self, path: str, source: LinkSource) -> Json | None:
        """Return a reference to the page at a path relative to the linking page, or to the file of that name.

        The path may end in `.md`. Return None if no page or file matches.
        """
        if self._page_ids_by_path is None:
            self._page_ids_by_path = page_ids_by_path(self.view.content["pages"])
        base = "/".join(page["slug"] for page in source.ancestors)
        full = posixpath.normpath(posixpath.join("/", base, path)).lstrip("/")
        for candidate in (full, full.removesuffix(".md"), re.sub(r"/?(README|index)(\.md)?$", "", full)):
            if candidate in self._page_ids_by_path:
                return {"kind": "page", "page": self._page_ids_by_path[candidate]}
        for file in self.view.content["files"]:
            if full in (file["name"], (file.get("git") or {}).get("path")):
                return {"kind": "file", "file": file["id"]}
        return None

    def _resolve_in_revision(self, ref: Json, source: LinkSource) -> LinkTarget:
        """Return the target of a reference to a page, anchor, file or reusable content of a space."""
        space = str(ref.get("space") or self.view.space.id)
        kind = "page" if ref["kind"] == "anchor" else str(ref["kind"])
        view = self._view_of_space(space)
        if view is None:
            return _broken_target(kind, ref)
        if kind == "page":
            return self._resolve_page(ref, view, source)
        part, member = ("files", "file") if kind == "file" else ("reusableContents", "reusableContent")
        item = next(
            (candidate for candidate in view.content[part] if candidate["id"] == ref.get(member)), None
        )
        if item is None:
            return _broken_target(kind, ref, lambda: self._render_context(view))
        render = pages.file if kind == "file" else pages.reusable_content
        return LinkTarget(
            f"{kind} {space} {item['id']}",
            "ok",
            lambda: {"kind": kind, **self._render_context(view), member: render(view, item)},
        )

    def _resolve_page(self, ref: Json, view: ContentView, source: LinkSource) -> LinkTarget:
        """Return the target of a reference to a page or to an anchor in it.

        It is broken without the anchor.
        """
        id = str(ref.get("page") or source.content["id"])
        if view.space.id not in self._pages_by_space:
            self._pages_by_space[view.space.id] = {
                page["id"]: (page, ancestors) for page, ancestors in walk_pages(view.content["pages"])
            }
        entry = self._pages_by_space[view.space.id].get(id)
        anchor = str(ref.get("anchor") or "")
        if entry is None or (anchor and anchor not in page_anchors(entry[0])):
            return _broken_target("page", ref, lambda: self._render_context(view))
        return LinkTarget(
            f"page {view.space.id} {id}" + (f"#{anchor}" if anchor else ""),
            "ok",
            lambda: {"kind": "page", **self._render_context(view), "page": pages.page_summary(view, *entry)},
        )

    def _resolve_object(self, ref: Json, kind: str) -> LinkTarget:
        """Return the target of a reference to a space, collection, user or OpenAPI specification."""
        id = str(ref.get("spec" if kind == "openapi" else kind, ""))
        answer = self._object_renderer(kind, id)
        if answer is None:
            return _broken_target(kind, ref)
        return LinkTarget(f"{kind} {id}", "ok", lambda: {"kind": kind, **answer()})

    def _object_renderer(self, kind: str, id: str) -> Callable[[], Json] | None:
        """Return a function that renders an object, or None if the caller does not see the object."""
        ctx = self._ctx
        if kind == "space" and (view := self._view_of_space(id)) is not None:
            return lambda: self._render_context(view)
        if kind == "collection" and (collection_record := ctx.find_collection(id)) is not None:
            return lambda: {"collection": collection(ctx, collection_record)}
        if kind == "user" and ctx.load("user", id) is not None:
            return lambda: {"user": user(ctx, id)}
        if kind == "openapi" and pages.find_openapi_spec(ctx, self.view.space, id) is not None:
            return lambda: {"openapi": id}
        return None

    def _view_of_space(self, space: str) -> ContentView | None:
        """Return the content of a space, or None if the caller does not see the space. It is read once."""
        if space not in self._views_by_space:
            record = self._ctx.find_space(space)
            self._views_by_space[space] = view_space(self._ctx, record) if record else None
        return self._views_by_space[space]

    def _render_context(self, view: ContentView) -> Json:
        """Return the members of an answer that say where an object is: organization, space and revision."""
        record = view.space
        if record.id not in self._contexts_by_space:
            organization_record = self._ctx.load("organization", record.organization)
            self._contexts_by_space[record.id] = {
                **(
                    {"organization": organization(self._ctx, organization_record)}
                    if organization_record
                    else {}
                ),
                "space": space(self._ctx, record),
                "versionContext": {"type": "revision", "revision": pages.revision_without_texts(view)},
            }
        return self._contexts_by_space[record.id]


def _url_target(url: str, status: str) -> LinkTarget:
    """Return a target that is only a URL."""
    return LinkTarget(f"url {url}", status, lambda: {"kind": "url", "url": url})


def _broken_target(kind: str, ref: Json, where: Callable[[], Json] = dict) -> LinkTarget:
    """Return a broken target. Its URL is the reference as written, so that a reader can find the link."""
    written = format_target(ref)
    return LinkTarget(f"{kind} {written}", "broken", lambda: {"kind": kind, **where(), "url": written})
