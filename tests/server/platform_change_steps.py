"""Random requests about change requests, each with what it does in the model.

They are about a few pages and have few words, so that change requests get in each other's way.
"""

from random import Random
from typing import Any

from platform_model import Model
from platform_of_changes import DONE, TOP, Change, Content
from platform_steps import TITLES, Step

TEXTS = ("", "The first.", "*So* it is.\n", "# ßéé\n\n- a\n- b")
STATUSES = ("draft", "open", "open", "archived")
KINDS = ("insert", "title", "title", "text", "text", "move", "move", "delete", "revert")


def _known(chance: Random, known: list[str]) -> str:
    """One that is there, seldom one that is not."""
    return chance.choice(known) if known and chance.random() < 0.97 else "none"


def _proposal(chance: Random, model: Model) -> tuple[str, str, str]:
    """Its space, what it is called by, and its path. Seldom one that is done."""
    space = _known(chance, [id for id, book in model.books.items() if book.proposals])
    proposals = model.books[space].proposals if space in model.books else {}
    undone = {id: one for id, one in proposals.items() if one.status not in DONE}
    among = undone if undone and chance.random() < 0.85 else proposals
    name = _known(chance, [chance.choice((id, str(one.number))) for id, one in among.items()])
    return space, name, f"/v1/spaces/{space}/change-requests/{name}"


def proposed(space: str, subject: str) -> Step:
    def effect(to: Model) -> str:
        return to.book(space).propose(to.new_id, subject)

    return Step("POST", f"/v1/spaces/{space}/change-requests", {"subject": subject}, 201, effect)


def propose(chance: Random, model: Model) -> Step:
    return proposed(_known(chance, ["alpha", *model.spaces]), chance.choice(TITLES))


def describe(chance: Random, model: Model) -> Step:
    space, name, path = _proposal(chance, model)
    subject, status = chance.choice((None, *TITLES)), chance.choice((None, *STATUSES))
    body = ({"subject": subject} if subject else {}) | ({"status": status} if status else {})
    return Step("PATCH", path, body, 200, lambda to: to.book(space).describe(name, subject, status))


def update(chance: Random, model: Model) -> Step:
    space, name, path = _proposal(chance, model)
    return Step("POST", f"{path}/update", None, 200, lambda to: to.book(space).update(name))


def merge(chance: Random, model: Model) -> Step:
    space, name, path = _proposal(chance, model)
    return Step("POST", f"{path}/merge", None, 200, lambda to: to.book(space).merge(name))


def changed(space: str, name: str, changes: list[Change]) -> Step:
    def effect(to: Model) -> list[str]:
        return to.book(space).change(to.new_id, name, changes)

    path = f"/v1/spaces/{space}/change-requests/{name}/content"
    return Step("POST", path, {"changes": changes}, 200, effect)


def change(chance: Random, model: Model) -> Step:
    space, name, _ = _proposal(chance, model)
    proposals = model.books[space].proposals.items() if space in model.books else []
    named = [one for id, one in proposals if name in (id, str(one.number))]
    now, base = (named[0].content, named[0].base) if named else (Content(), Content())
    return changed(space, name, [_change(chance, now, base) for _ in range(chance.choice((1, 1, 2, 3)))])


def _change(chance: Random, now: Content, base: Content) -> Change:
    page, gone = _known(chance, [*now.pages]), [id for id in base.pages if id not in now.pages]
    text = {"document": {"markdown": chance.choice(TEXTS)}}
    match chance.choice(KINDS if now.pages else ("insert",)):
        case "insert":
            title = f"Page {chance.randrange(10**9)}"
            return {"operation": "insert_page", "title": title, **text, **_place(chance, now)}
        case "title":
            return {"operation": "update_page", "page": page, "title": chance.choice(TITLES)}
        case "text":
            return {"operation": "update_page", "page": page, **text}
        case "move":
            return {"operation": "update_page", "page": page, **_place(chance, now, page)}
        case "delete":
            return {"operation": "delete_page", "page": page}
        case _:
            return {"operation": "revert_page", "page": chance.choice([page, *gone])}


def _place(chance: Random, now: Content, page: str = "") -> dict[str, Any]:
    """In another page or at the top, and beside another there; or beside one of the same parent."""
    place: dict[str, Any] = {}
    parent = now.pages[page].parent if page in now.pages else TOP
    if chance.random() < 0.5:
        place["into"] = chance.choice((None, _known(chance, [*now.pages])))
        parent = place["into"] or TOP
    if not place or chance.random() < 0.5:
        near = [id for id in now.children(parent) if id != page]
        place["position"] = {chance.choice(("before", "after")): _known(chance, near)}
    return place


OF_CHANGES = [describe, change, change, change, change, update, merge]


def step_about_changes(chance: Random, model: Model) -> Step:
    """Seldom about what there is none of."""
    there = any(book.proposals for book in model.books.values()) or chance.random() < 0.05
    return chance.choice([*OF_CHANGES, propose] if there else [propose])(chance, model)
