"""Resolve links to their targets and locations, as the caller may see them.

A reference by id is looked up in its revision, a relative URL among the paths of the pages. A target that the
caller may not view counts as broken.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import unquote

from msgspec import Struct

from ..content.refs import to_target
from ..content.targets import anchors_of, uses_of
from ..content.tree import Page, paths, walk
from ..request.context import Context
from ..spaces.reading import ReadContent, of_space
from ..store import Json
from . import pages
from .content import collection, space
from .people import organization, user
from .shared import APP

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


class Location(Struct, frozen=True):
    """A page or a reusable content that contains a link."""

    source: Json
    above: tuple[Json, ...] = ()
    is_page: bool = True


class LinkTarget(Struct, frozen=True):
    """The target of a link.

    `key` is equal for all links to the same target; `target` renders the target.
    """

    key: str
    status: str
    target: Callable[[], Json]


def locations(reading: ReadContent) -> Iterator[Location]:
    for page, above in walk(reading.content["pages"]):
        yield Location(page, above)
    for content in reading.content["reusableContents"]:
        yield Location(content, is_page=False)


class LinksToTarget(Struct, frozen=True):
    """All links to one target with one relation. `sources` has each location once, in order."""

    relation: str
    found: LinkTarget
    sources: list[Location]


class Resolver:
    """Resolves the references of one content. A target is rendered only on demand."""

    def __init__(self, reading: ReadContent) -> None:
        self.reading = reading
        self._ctx: Context = reading.ctx
        self._readings: dict[str, ReadContent | None] = {reading.space.id: reading}
        self._pages: dict[str, dict[str, tuple[Page, tuple[Page, ...]]]] = {}
        self._paths: dict[str, str] | None = None
        self._wheres: dict[str, Json] = {}

    def links(self, sources: Iterable[Location]) -> list[LinksToTarget]:
        links: dict[tuple[str, str], LinksToTarget] = {}
        for source in sources:
            for relation, ref in uses_of(source.source):
                found = self.found(ref, source)
                link = links.setdefault((relation, found.key), LinksToTarget(relation, found, []))
                if not link.sources or link.sources[-1] is not source:
                    link.sources.append(source)
        return list(links.values())

    def leads_to(self, source: Location, kind: str, space: str, id: str) -> bool:
        wanted = f"{kind} {space} {id}"
        found = (self.found(ref, source) for _, ref in uses_of(source.source))
        return any(one.status == "ok" and one.key.partition("#")[0] == wanted for one in found)

    def link(self, link: LinksToTarget) -> Json:
        return {
            "status": link.found.status,
            "relation": link.relation,
            "targetReference": link.found.target(),
            "locationReferences": [self.location(source) for source in link.sources],
        }

    def location(self, source: Location) -> Json:
        where = self._where(self.reading)
        if source.is_page:
            page = pages.page_alone(self.reading, source.source, source.above)
            return {"kind": "page", **where, "page": page}
        answer = pages.reusable_content(self.reading, source.source)
        return {"kind": "reusable-content", **where, "reusableContent": answer}

    # --- looking up -------------------------------------------------------------------------------

    def found(self, ref: Json, source: Location) -> LinkTarget:
        kind = ref.get("kind")
        if kind == "url":
            return self._url(str(ref.get("url", "")), source)
        if kind in ("page", "anchor", "file", "reusable-content"):
            return self._in_a_revision(ref, source)
        if kind in ("space", "collection", "user", "openapi"):
            return self._thing(ref, str(kind))
        return _broken("url", ref)

    def _url(self, url: str, source: Location) -> LinkTarget:
        if url == APP or url.startswith(f"{APP}/"):
            return _address(url, "in-app")
        if _ABSOLUTE.match(url):
            return _address(url, "ok")
        path, _, anchor = url.partition("#")
        if not path:
            own = {"kind": "anchor", "page": source.source["id"], "anchor": anchor}
            return self._in_a_revision(own, source) if source.is_page else _broken("url", {**own, "page": ""})
        found = self._at_path(unquote(path), source)
        if found is None:
            return _address(url, "broken")
        return self._in_a_revision({**found, **({"anchor": anchor} if anchor else {})}, source)

    def _at_path(self, path: str, source: Location) -> Json | None:
        """Return a reference to the page at a path relative to the linking page, or to the file of that name.

        The path may end in `.md`. Return None if no page or file matches.
        """
        if self._paths is None:
            self._paths = paths(self.reading.content["pages"])
        base = "/".join(page["slug"] for page in source.above)
        full = posixpath.normpath(posixpath.join("/", base, path)).lstrip("/")
        for candidate in (full, full.removesuffix(".md"), re.sub(r"/?(README|index)(\.md)?$", "", full)):
            if candidate in self._paths:
                return {"kind": "page", "page": self._paths[candidate]}
        for file in self.reading.content["files"]:
            if full in (file["name"], (file.get("git") or {}).get("path")):
                return {"kind": "file", "file": file["id"]}
        return None

    def _in_a_revision(self, ref: Json, source: Location) -> LinkTarget:
        space = str(ref.get("space") or self.reading.space.id)
        kind = "page" if ref["kind"] == "anchor" else str(ref["kind"])
        reading = self._reading_of(space)
        if reading is None:
            return _broken(kind, ref)
        if kind == "page":
            return self._page(ref, reading, source)
        part, member = ("files", "file") if kind == "file" else ("reusableContents", "reusableContent")
        kept = next((one for one in reading.content[part] if one["id"] == ref.get(member)), None)
        if kept is None:
            return _broken(kind, ref, lambda: self._where(reading))
        render = pages.file if kind == "file" else pages.reusable_content
        return LinkTarget(
            f"{kind} {space} {kept['id']}",
            "ok",
            lambda: {"kind": kind, **self._where(reading), member: render(reading, kept)},
        )

    def _page(self, ref: Json, reading: ReadContent, source: Location) -> LinkTarget:
        id = str(ref.get("page") or source.source["id"])
        found = self._pages_of(reading).get(id)
        anchor = str(ref.get("anchor") or "")
        if found is None or (anchor and anchor not in anchors_of(found[0])):
            return _broken("page", ref, lambda: self._where(reading))
        return LinkTarget(
            f"page {reading.space.id} {id}" + (f"#{anchor}" if anchor else ""),
            "ok",
            lambda: {"kind": "page", **self._where(reading), "page": pages.page_alone(reading, *found)},
        )

    def _pages_of(self, reading: ReadContent) -> dict[str, tuple[Page, tuple[Page, ...]]]:
        if reading.space.id not in self._pages:
            there = {page["id"]: (page, above) for page, above in walk(reading.content["pages"])}
            self._pages[reading.space.id] = there
        return self._pages[reading.space.id]

    def _thing(self, ref: Json, kind: str) -> LinkTarget:
        id = str(ref.get("spec" if kind == "openapi" else kind, ""))
        answer = self._answer(kind, id)
        if answer is None:
            return _broken(kind, ref)
        return LinkTarget(f"{kind} {id}", "ok", lambda: {"kind": kind, **answer()})

    def _answer(self, kind: str, id: str) -> Callable[[], Json] | None:
        ctx = self._ctx
        if kind == "space" and (reading := self._reading_of(id)) is not None:
            return lambda: self._where(reading)
        if kind == "collection" and (kept := ctx.find_collection(id)) is not None:
            return lambda: {"collection": collection(ctx, kept)}
        if kind == "user" and ctx.load("user", id) is not None:
            return lambda: {"user": user(ctx, id)}
        if kind == "openapi" and pages.openapi_spec_of(ctx, self.reading.space, id) is not None:
            return lambda: {"openapi": id}
        return None

    def _reading_of(self, space: str) -> ReadContent | None:
        if space not in self._readings:
            kept = self._ctx.find_space(space)
            self._readings[space] = of_space(self._ctx, kept) if kept else None
        return self._readings[space]

    def _where(self, reading: ReadContent) -> Json:
        record = reading.space
        if record.id not in self._wheres:
            of = self._ctx.load("organization", record.organization)
            self._wheres[record.id] = {
                **({"organization": organization(self._ctx, of)} if of else {}),
                "space": space(self._ctx, record),
                "versionContext": {"type": "revision", "revision": pages.revision_without_texts(reading)},
            }
        return self._wheres[record.id]


def _address(url: str, status: str) -> LinkTarget:
    return LinkTarget(f"url {url}", status, lambda: {"kind": "url", "url": url})


def _broken(kind: str, ref: Json, where: Callable[[], Json] = dict) -> LinkTarget:
    """Return a broken target. Its URL is the reference as written, so that a reader can find the link."""
    written = to_target(ref)
    return LinkTarget(f"{kind} {written}", "broken", lambda: {"kind": kind, **where(), "url": written})
