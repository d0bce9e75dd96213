"""A cursor stays good while things move: what stays is read once, whatever moves, and wherever to."""

from itertools import product
from random import Random
from typing import Any

import pytest
from companion_calls import Api

from dpsync.server.records.sibling_order import POSITION_STEP, end_position, insert_sibling, write_positions
from dpsync.server.request.paging import paginate
from dpsync.server.store import Record, Store, open_store
from tests.soak import examples

NAMES = "abcde"
DOCS = "/orgs/acme/sites/docs"


def sequence(store: Store) -> list[Record]:
    return store.find("thing")


def put(store: Store, names: str) -> None:
    for number, name in enumerate(names, 1):
        store.put(Record("thing", name, {}, position=number * POSITION_STEP))


def shown(store: Store, limit: int, cursor: str | None) -> tuple[str, str | None]:
    """Return the names on a page, and the cursor of the next page."""
    items, envelope = paginate(
        sequence(store), limit=limit, cursor=cursor, key=lambda found: [found.position, found.seq]
    )
    return "".join(item.id for item in items), envelope.get("next", {}).get("page")


def move(store: Store, name: str, to: int) -> None:
    now = sequence(store)
    item = next(record for record in now if record.id == name)
    rest = [record for record in now if record.id != name]
    write_positions(store, [*rest[:to], item, *rest[to:]], [item])


@pytest.mark.parametrize("limit", range(1, len(NAMES)))
def test_cursor_skips_no_items_when_others_move(limit: int) -> None:
    for name, to in product(NAMES, range(len(NAMES))):
        store = open_store(":memory:")
        put(store, NAMES)
        first, cursor = shown(store, limit, None)
        move(store, name, to)
        assert "".join(record.id for record in sequence(store)).index(name) == to
        rest, _ = shown(store, 1000, cursor)
        assert (first + rest).replace(name, "") == NAMES.replace(name, ""), (name, to)
        store.close()


@pytest.mark.parametrize("seed", range(examples(3, soak=200)))
def test_random_moves_between_pages_skip_no_unmoved_items(seed: int) -> None:
    random, store = Random(seed), open_store(":memory:")
    names = "abcdefghijklmnop"
    put(store, names)
    moving = "".join(random.sample(names, 4))
    read, cursor = shown(store, 2, None)
    while cursor is not None:
        for _ in range(random.randint(1, 5)):
            move(store, random.choice(moving), random.randrange(len(names)))
        more, cursor = shown(store, 2, cursor)
        read += more
    assert "".join(name for name in read if name not in moving) == "".join(
        name for name in names if name not in moving
    )
    store.close()


def test_move_rewrites_only_moved_item_while_space_remains() -> None:
    store = open_store(":memory:")
    put(store, "abc")
    written: list[int] = []
    for number in range(40):
        before = {record.id: record.position for record in sequence(store)}
        move(store, "abc"[number % 2], 1)
        after = {record.id: record.position for record in sequence(store)}
        written.append(sum(before[name] != after[name] for name in after))
        assert [record.id for record in sequence(store)][1] == "abc"[number % 2]
    assert written.count(1) > 30
    assert max(written) > 1
    store.close()


def test_reloaded_server_data_keeps_order_after_moves(api: Api) -> None:
    front = {"before": {"type": "collection", "collection": "product"}}
    api.post("/spaces/support/move", {"position": front})
    api.post("/spaces/archive/move", {"position": front})
    before = api.state()
    api.server.reset(before)
    assert api.state() == before


def test_dense_positions_are_renumbered_on_move() -> None:
    store = open_store(":memory:")
    for number, name in enumerate(NAMES, 1):
        store.put(Record("thing", name, {}, position=number))
    now = sequence(store)
    write_positions(store, insert_sibling(now, now[4], after=("thing", "a")), [now[4]])
    assert "".join(record.id for record in sequence(store)) == "aebcd"
    assert end_position(sequence(store)) == 6 * POSITION_STEP
    store.close()


def sort(api: Api, kind: str, id: str, side: str, neighbour: str) -> None:
    position = {side: {"type": kind, "id": neighbour}}
    api.patch(f"{DOCS}/structure/sort", {"item": {"type": kind, "id": id}, "position": position})


def prepare(api: Api) -> None:
    for number in range(3):
        api.make(f"{DOCS}/section-groups", {"title": f"Group {number}"})
        api.make(f"{DOCS}/sections", {"spaceId": "guides", "title": f"Section {number}"})
        api.make(f"{DOCS}/site-spaces", {"spaceId": "guides", "sectionId": "docs-news"})
        api.make("/orgs/acme/collections", {"title": f"Collection {number}"})


LISTS = {
    f"{DOCS}/sections": ("site-section", {}),
    f"{DOCS}/section-groups": ("site-section-group", {}),
    f"{DOCS}/site-spaces": ("site-space", {}),
    "/orgs/acme/collections": ("collection", {"nested": False}),
    "/collections/product/spaces": ("space", {}),
}


@pytest.mark.parametrize("to_the_end", [True, False])
@pytest.mark.parametrize("path", LISTS)
def test_list_continues_correctly_when_cursor_item_moves(api: Api, path: str, to_the_end: bool) -> None:
    prepare(api)
    kind, query = LISTS[path]
    whole = [item["id"] for item in api.items(path, **query)]
    parent = {item["id"]: around(item) for item in api.items(path, **query)}
    limit = next(
        number for number in range(2, len(whole)) if [*parent.values()].count(parent[whole[number - 1]]) > 2
    )
    last = whole[limit - 1]
    siblings = [id for id in whole if parent[id] == parent[last] and id != last]
    first = api.get(path, limit=limit, **query)
    side, neighbour = ("after", siblings[-1]) if to_the_end else ("before", siblings[0])
    if kind in ("space", "collection"):
        api.post(f"/{kind}s/{last}/move", {"position": {side: {"type": kind, kind: neighbour}}})
    else:
        sort(api, kind, last, side, neighbour)
    rest = api.items(path, page=first["next"]["page"], **query)
    read = [item["id"] for item in (*first["items"], *rest)]
    assert [id for id in read if id != last] == [id for id in whole if id != last]


def around(item: Any) -> str:
    return str(item.get("section") or item.get("sectionGroup") or item.get("parent") or "")
