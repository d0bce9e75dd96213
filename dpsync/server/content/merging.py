"""Merge a change request into the main content: a three-way merge with their common ancestor (base).

The merge compares pages field by field (a text is one field), then positions in the tree and the order of
siblings, then files, reusable contents and variables. It takes changes of only one version, and equal changes
of both versions. All other changes are conflicts, and a merge with conflicts must not be used.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from msgspec import Struct

from .documents import Json
from .page_tree import exceeds_max_depth, make_slugs_unique, walk_pages

_NON_FIELD_KEYS = ("id", "pages", "createdAt", "updatedAt")
"""The keys of a page that are not merged as fields."""


class ContentConflict(Struct, frozen=True):
    """A conflict: `object_kind` and `id` (or name) of the object, and the `field` that differs."""

    object_kind: str
    id: str
    field: str


class MergedContent(Struct, frozen=True):
    """The result of a merge. The content must not be used if there are conflicts."""

    content: Json
    conflicts: tuple[ContentConflict, ...]


class _PageNode(Struct, frozen=True):
    """A page in one version: the whole page, its own fields, and the id of its parent ("" for the root)."""

    page: Json
    fields: Json
    parent: str


class _Version:
    """One version of a content. `child_order` has the ids of the children of each page, in order."""

    def __init__(self, content: Json) -> None:
        self.content = content
        self.nodes: dict[str, _PageNode] = {}
        self.child_order: dict[str, list[str]] = {}
        for page, ancestors in walk_pages(content["pages"]):
            parent = ancestors[-1]["id"] if ancestors else ""
            fields = {name: value for name, value in page.items() if name not in _NON_FIELD_KEYS}
            self.nodes[page["id"]] = _PageNode(page, fields, parent)
            self.child_order.setdefault(parent, []).append(page["id"])


def merge(base: Json, main: Json, theirs: Json) -> MergedContent:
    """Merge `theirs` into `main`. The result shares no value with the arguments, which stay unchanged."""
    return _ThreeWayMerge(
        _Version(deepcopy(base)), _Version(deepcopy(main)), _Version(deepcopy(theirs))
    ).run()


class _ThreeWayMerge:
    """One merge of `theirs` into `main`, with their common ancestor `base`."""

    def __init__(self, base: _Version, main: _Version, theirs: _Version) -> None:
        self._base = base
        self._main = main
        self._theirs = theirs
        self._conflicts: list[ContentConflict] = []

    def run(self) -> MergedContent:
        """Return the merged content and all conflicts. With conflicts, the content must not be used."""
        pages = self._merge_pages()
        content = {
            "pages": pages,
            "files": self._merge_list("files", "file"),
            "reusableContents": self._merge_list("reusableContents", "reusable-content"),
            "variables": self._merge_mapping("variable", *self._versions_of("variables")),
        }
        return MergedContent(content, tuple(self._conflicts))

    def _versions_of(self, name: str) -> tuple[Any, Any, Any]:
        """Return one part of the content, such as `files`, in the base, main and their version."""
        return self._base.content[name], self._main.content[name], self._theirs.content[name]

    # --- pages ------------------------------------------------------------------------------------

    def _merge_pages(self) -> list[Json]:
        """Return the merged tree of pages.

        A page whose parent was deleted, or that would be inside itself after moves in both versions, moves to
        the top level, and a conflict is added. `parents` maps page ids to parent ids ("" for the top level).
        """
        pages_by_id: dict[str, Json] = {}
        parents: dict[str, str] = {}
        for id in dict.fromkeys([*self._main.nodes, *self._theirs.nodes]):
            merged = self._merge_page(id)
            if merged is not None:
                pages_by_id[id], parents[id] = merged
        for id, parent in parents.items():
            if parent and (parent not in pages_by_id or _is_circular(id, parents)):
                self._conflicts.append(ContentConflict("page", id, "parent"))
                parents[id] = ""
        pages = self._build_tree("", pages_by_id, parents)
        if exceeds_max_depth(pages):
            self._conflicts.append(ContentConflict("page", "", "depth"))
        return pages

    def _merge_page(self, id: str) -> tuple[Json, str] | None:
        """Return (merged page without child pages, id of its parent); None if the page is deleted.

        If one version (main or theirs) deleted a page that the other one changed, the page stays, and a
        conflict is added.
        """
        base, main, theirs = (version.nodes.get(id) for version in (self._base, self._main, self._theirs))
        if main is None or theirs is None:
            remaining = main or theirs
            if remaining is None:
                return None
            if base is not None:
                if (base.fields, base.parent) == (remaining.fields, remaining.parent):
                    return None
                self._conflicts.append(ContentConflict("page", id, "deleted"))
            return {**remaining.page, "pages": []}, remaining.parent
        before = base.fields if base else {}
        fields = self._merge_mapping("page", before, main.fields, theirs.fields, id)
        conflict = ContentConflict("page", id, "parent")
        parent = self._merge_value(conflict, base.parent if base else None, main.parent, theirs.parent)
        times = {
            "createdAt": main.page["createdAt"],
            "updatedAt": max(main.page["updatedAt"], theirs.page["updatedAt"]),
        }
        return {"id": id, **fields, **times, "pages": []}, parent

    def _merge_value(self, conflict: ContentConflict, base: Any, main: Any, theirs: Any) -> Any:
        """Return the value of the version that changed it since `base`.

        If both versions changed it differently, add the conflict, and keep the value in `main`.
        """
        if main in (base, theirs):
            return theirs
        if theirs != base:
            self._conflicts.append(conflict)
        return main

    def _build_tree(
        self, parent: str, pages_by_id: Mapping[str, Json], parents: Mapping[str, str]
    ) -> list[Json]:
        """Return the pages in the page `parent` ("" for the top level) as a tree, in merged order.

        `parents` maps each page id to the id of its parent. Slugs are made unique among siblings.
        """
        child_ids: dict[str, list[str]] = {}
        for id, parent_id in parents.items():
            child_ids.setdefault(parent_id, []).append(id)

        def build(parent: str) -> list[Json]:
            pages = [pages_by_id[id] for id in self._merge_order(parent, child_ids.get(parent, []))]
            for page in pages:
                page["pages"] = build(page["id"])
            return pages

        pages = build(parent)
        make_slugs_unique(pages)
        return pages

    def _merge_order(self, parent: str, children: Sequence[str]) -> list[str]:
        """Return the merged order of sibling page ids.

        The version that reordered the siblings since `base` decides (main if both did, with a conflict). A
        page that only the other version has follows the page that precedes it there.
        """
        base, main, theirs = (
            [id for id in version.child_order.get(parent, []) if id in children]
            for version in (self._base, self._main, self._theirs)
        )
        common = set(base) & set(main) & set(theirs)
        before, ours, others = ([id for id in order if id in common] for order in (base, main, theirs))
        if ours not in (before, others) and others != before:
            self._conflicts.append(ContentConflict("page", parent, "order"))
        order, other = (theirs, main) if ours == before else (main, theirs)
        for index, id in enumerate(other):
            if id not in order:
                predecessors = [neighbour for neighbour in other[:index] if neighbour in order]
                order.insert(order.index(predecessors[-1]) + 1 if predecessors else 0, id)
        return [*order, *(id for id in children if id not in order)]

    # --- the rest ---------------------------------------------------------------------------------

    def _merge_list(self, name: str, object_kind: str) -> list[Json]:
        """Return a merged list of objects that have an id."""
        base, main, theirs = ({item["id"]: item for item in items} for items in self._versions_of(name))
        return list(self._merge_mapping(object_kind, base, main, theirs).values())

    def _merge_mapping(self, object_kind: str, base: Json, main: Json, theirs: Json, id: str = "") -> Json:
        """Merge three mappings entry by entry. A deletion of an entry is a change like any other.

        With `id`, the entries are the fields of one object; without `id`, each entry is an object.
        """
        merged: Json = {}
        for name in dict.fromkeys([*main, *theirs]):
            conflict = ContentConflict(object_kind, id or name, name if id else "value")
            values = (version.get(name, _Missing) for version in (base, main, theirs))
            value = self._merge_value(conflict, *values)
            if value is not _Missing:
                merged[name] = value
        return merged


class _Missing:
    """Stands for the value of an absent entry."""


def _is_circular(id: str, parents: Mapping[str, str]) -> bool:
    """Return whether a page would be inside itself."""
    ancestor, visited = parents.get(id, ""), set()
    while ancestor and ancestor not in visited:
        if ancestor == id:
            return True
        visited.add(ancestor)
        ancestor = parents.get(ancestor, "")
    return False
