"""The content of one space and its change requests in plain data: what edits, updates and merges should do.

A content is never changed: what changes it makes another. Only pages of text are known, each by its title and
its text, its parent and its place among its siblings. Slugs are not: tests give each new page a title of its
own.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

Change = dict[str, Any]
NewId = Callable[[str], str]
T = TypeVar("T")
TOP = ""
DONE = ("merged", "archived")


class RefusedError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class ConflictError(Exception):
    """Both sides have changed the same thing."""


@dataclass(frozen=True)
class Page:
    title: str
    text: str
    parent: str = TOP


@dataclass(frozen=True)
class Content:
    """Pages by id. Siblings are in their order."""

    pages: dict[str, Page] = field(default_factory=dict)

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def shown(self, parent: str = TOP) -> list[Any]:
        """Return the tree of pages as ids, titles, texts and children."""
        below = [(id, self.pages[id]) for id in self.children(parent)]
        return [(id, page.title, page.text, self.shown(id)) for id, page in below]

    def children(self, parent: str) -> list[str]:
        return [id for id, page in self.pages.items() if page.parent == parent]

    def subtree(self, id: str) -> Iterator[str]:
        yield id
        for child in self.children(id):
            yield from self.subtree(child)

    def _page(self, id: str) -> Page:
        if id not in self.pages:
            raise RefusedError(404)
        return self.pages[id]

    def _put(self, id: str, page: Page) -> "Content":
        return Content({**self.pages, id: page})

    def _without(self, ids: set[str]) -> "Content":
        return Content({id: page for id, page in self.pages.items() if id not in ids})

    def _placed(self, id: str, page: Page, position: dict[str, str] | None) -> "Content":
        """At the end of its siblings, or beside one of them."""
        rest = list(self._without({id}).pages.items())
        at = len(rest)
        if position:
            ((side, sibling),) = position.items()
            beside = [index for index, (other, _) in enumerate(rest) if other == sibling]
            if not beside or rest[beside[0]][1].parent != page.parent:
                raise RefusedError(400)
            at = beside[0] + (side == "after")
        return Content(dict([*rest[:at], (id, page), *rest[at:]]))

    # --- changes --------------------------------------------------------------------------------------

    def inserted(self, id: str, change: Change) -> "Content":
        parent = change.get("into") or TOP
        if parent:
            self._page(parent)
        page = Page(change["title"], change["document"]["markdown"], parent)
        return self._placed(id, page, change.get("position"))

    def updated(self, change: Change) -> "Content":
        id = change["page"]
        page = self._page(id)
        text = change["document"]["markdown"] if "document" in change else page.text
        page = replace(page, title=change.get("title", page.title), text=text)
        if "into" not in change and "position" not in change:
            return self._put(id, page)
        parent = (change["into"] or TOP) if "into" in change else page.parent
        if parent in self.subtree(id):
            raise RefusedError(400)
        if parent:
            self._page(parent)
        return self._placed(id, replace(page, parent=parent), change.get("position"))

    def deleted(self, change: Change) -> "Content":
        self._page(change["page"])
        return self._without(set(self.subtree(change["page"])))

    def reverted(self, change: Change, base: "Content") -> "Content":
        """Return the content with the page as in `base`, but in its present place.

        A deleted page is restored, with those of its children that are not elsewhere.
        """
        id = change["page"]
        was = base.pages.get(id)
        if was is None:
            return self.deleted(change)
        if id in self.pages:
            return self._put(id, replace(was, parent=self.pages[id].parent))
        parent = was.parent if was.parent in self.pages else TOP
        content = self._put(id, replace(was, parent=parent))
        for child in base.children(id):
            if child not in self.pages:
                content = content.reverted({"page": child}, base)
        return content


def three_way(base: Content, main: Content, theirs: Content) -> Content:
    """Merge what both sides have changed since the base. Raise AtOdds if the changes conflict."""
    sides = (base.pages, main.pages, theirs.pages)
    pages = {}
    for id in dict.fromkeys([*main.pages, *theirs.pages]):
        before, here, there = (side.get(id) for side in sides)
        if before and here and there:
            pages[id] = Page(
                _chosen(before.title, here.title, there.title),
                _chosen(before.text, here.text, there.text),
                _chosen(before.parent, here.parent, there.parent),
            )
        elif chosen := _chosen(before, here, there):
            pages[id] = chosen
    for id in pages:
        _check_rooted(pages, id)
    parents = dict.fromkeys(page.parent for page in pages.values())
    ordered = [id for parent in parents for id in _ordered(parent, pages, base, main, theirs)]
    return Content({id: pages[id] for id in ordered})


def _chosen(before: T, here: T, there: T) -> T:
    if there in (before, here):
        return here
    if here != before:
        raise ConflictError
    return there


def _check_rooted(pages: dict[str, Page], id: str) -> None:
    """Check that the page is not below a missing page and not below itself."""
    passed = set()
    while id != TOP:
        if id in passed or id not in pages:
            raise ConflictError
        passed.add(id)
        id = pages[id].parent


def _ordered(parent: str, pages: dict[str, Page], *sides: Content) -> list[str]:
    """As on the side that has changed the order; what only the other has stays behind what it is behind."""
    orders = [[id for id in side.children(parent) if id in pages] for side in sides]
    orders = [[id for id in order if pages[id].parent == parent] for order in orders]
    shared = set.intersection(*map(set, orders))
    before, here, there = ([id for id in order if id in shared] for order in orders)
    _, main, theirs = orders
    _chosen(before, here, there)
    order, other = (theirs, main) if here == before else (main, theirs)
    for index, id in enumerate(other):
        if id not in order:
            known = [order.index(ahead) + 1 for ahead in other[:index] if ahead in order]
            order.insert(known[-1] if known else 0, id)
    return order


# --- change requests --------------------------------------------------------------------------------------


@dataclass
class Proposal:
    """A change request. `seen`: how many merges into the main content it knows; `base`: what these had made.

    `merged`: the same two as its merge has left them.
    """

    number: int
    subject: str
    base: Content
    seen: int
    content: Content
    status: str = "draft"
    merged: tuple[Content, int] | None = None


@dataclass
class Book:
    """A space: its main content, how many merges have made it, and its change requests by id."""

    main: Content = field(default_factory=Content)
    merges: int = 0
    proposals: dict[str, Proposal] = field(default_factory=dict)

    def shown(self) -> Any:
        """Return the main content, the number of change requests by status, and each change request."""
        found = self.proposals.items()
        status = [one.status for _, one in found]
        counts = len(status), status.count("open"), status.count("draft")
        each = [
            (id, one.number, one.subject, one.status, self._is_behind(one), one.content.shown())
            for id, one in found
        ]
        return self.main.shown(), counts, each

    def _is_behind(self, one: Proposal) -> bool:
        return one.status != "merged" and one.seen != self.merges

    def proposal(self, name: str) -> Proposal:
        """By its id or its number."""
        for id, one in self.proposals.items():
            if name in (id, str(one.number)):
                return one
        raise RefusedError(404)

    def propose(self, new_id: NewId, subject: str) -> str:
        id = new_id("cr")
        self.proposals[id] = Proposal(len(self.proposals) + 1, subject, self.main, self.merges, self.main)
        return id

    def describe(self, name: str, subject: str | None, status: str | None) -> str:
        """Set the subject and the status. A status reopens a merged change request, based on the merge."""
        one = self.proposal(name)
        one.subject = one.subject if subject is None else subject
        if status and one.merged:
            (one.base, one.seen), one.merged = one.merged, None
            one.content = one.base
        one.status = status or one.status
        return next(id for id, other in self.proposals.items() if other is one)

    def change(self, new_id: NewId, name: str, changes: list[Change]) -> list[str]:
        """All or none. Which page each was about."""
        one = self.proposal(name)
        if one.status in DONE:
            raise RefusedError(409)
        about = []
        for change in changes:
            id = new_id("page") if change["operation"] == "insert_page" else change["page"]
            match change["operation"]:
                case "insert_page":
                    one.content = one.content.inserted(id, change)
                case "update_page":
                    one.content = one.content.updated(change)
                case "delete_page":
                    one.content = one.content.deleted(change)
                case "revert_page":
                    one.content = one.content.reverted(change, one.base)
            about.append(id)
        return about

    def update(self, name: str) -> str:
        one = self.proposal(name)
        if self._is_behind(one):
            try:
                one.content = three_way(one.base, self.main, one.content)
            except ConflictError:
                return "conflicts"
            one.base, one.seen = self.main, self.merges
        return "update"

    def merge(self, name: str) -> str:
        one = self.proposal(name)
        if one.status in DONE:
            raise RefusedError(409)
        try:
            self.main = three_way(one.base, self.main, one.content)
        except ConflictError:
            return "conflicts"
        self.merges += 1
        one.status, one.merged = "merged", (self.main, self.merges)
        return "merge"
