"""Three-way merge of content: what holds for any edits of both sides."""

from collections.abc import Sequence
from itertools import count
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dpsync.server.content.editing import ContentEditor, EditError
from dpsync.server.content.merging import ContentConflict, merge
from dpsync.server.content.page_tree import find_page, walk_pages
from dpsync.server.spaces.revisions import empty_content
from tests.soak import examples

Json = dict[str, Any]
PAGES = ("a", "b", "c", "d", "e", "f")
THEN, NOW = "2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"


def page(id: str, *children: Json) -> Json:
    return {
        "id": id, "title": id.upper(), "type": "document", "slug": id, "body": {"markdown": f"This is {id}."},
        "createdAt": THEN, "updatedAt": THEN, "pages": list(children),
    }  # fmt: skip


BASE = {**empty_content(), "pages": [page("a", page("b"), page("c", page("d"))), page("e"), page("f")]}


def edited(side: str, changes: Sequence[Json]) -> Json:
    """Return the base after the changes, without changes that are impossible."""
    numbers = count(1)
    content: Json = BASE
    for change in changes:
        editing = ContentEditor(content, BASE, NOW, lambda kind: f"{side}-{kind}-{next(numbers)}")
        try:
            editing.apply([change])
        except EditError:
            continue
        content = editing.content
    return content


any_page = st.sampled_from(PAGES)
texts = st.sampled_from(["", "One.", "Two.", "# Three\n"])
places = st.fixed_dictionaries({}, optional={"into": st.none() | any_page})
change = st.one_of(
    st.builds(
        lambda p, t: {"operation": "update_page", "page": p, "title": t}, any_page, st.sampled_from("XYZ")
    ),
    st.builds(
        lambda p, t: {"operation": "update_page", "page": p, "document": {"markdown": t}}, any_page, texts
    ),
    st.builds(lambda p, w: {"operation": "update_page", "page": p, "into": None, **w}, any_page, places),
    st.builds(
        lambda p, q: {"operation": "update_page", "page": p, "position": {"before": q}}, any_page, any_page
    ),
    st.builds(lambda t, w: {"operation": "insert_page", "title": t, **w}, st.sampled_from("ABN"), places),
    st.builds(lambda p: {"operation": "delete_page", "page": p}, any_page),
    st.just({"operation": "insert_files", "files": [{"name": "f", "url": "https://x.example/f"}]}),
)
edits = st.lists(change, max_size=5)


def ids(content: Json) -> set[str]:
    return {found["id"] for found, _ in walk_pages(content["pages"])}


@given(edits)
def test_content_merge_with_unchanged_side_takes_other_side(changes: list[Json]) -> None:
    other = edited("x", changes)
    for merged in (merge(BASE, BASE, other), merge(BASE, other, BASE), merge(BASE, other, other)):
        assert merged.conflicts == ()
        assert merged.content == other


@given(st.sets(any_page), st.sampled_from(["title", "document"]))
def test_merge_keeps_edits_of_different_pages(of_main: set[str], what: str) -> None:
    def change_of(id: str, by: str) -> Json:
        value: Any = by if what == "title" else {"markdown": by}
        return {"operation": "update_page", "page": id, what: value}

    main = edited("m", [change_of(id, "main") for id in sorted(of_main)])
    theirs = edited("t", [change_of(id, "theirs") for id in PAGES if id not in of_main])
    merged = merge(BASE, main, theirs)
    assert merged.conflicts == ()
    for found, _ in walk_pages(merged.content["pages"]):
        kept = found["title"] if what == "title" else found["body"]["markdown"]
        assert kept == ("main" if found["id"] in of_main else "theirs")


@given(any_page)
def test_merge_keeps_edits_of_different_page_fields(id: str) -> None:
    main = edited("m", [{"operation": "update_page", "page": id, "title": "New"}])
    theirs = edited("t", [{"operation": "update_page", "page": id, "document": {"markdown": "New."}}])
    merged = merge(BASE, main, theirs)
    assert merged.conflicts == ()
    found = find_page(merged.content["pages"], id)
    assert found is not None
    assert (found[0]["title"], found[0]["body"]) == ("New", {"markdown": "New."})


@given(any_page, edits, edits)
def test_merge_conflicts_if_both_sides_change_same_field(
    id: str, main_edits: list[Json], their_edits: list[Json]
) -> None:
    main = edited("m", [*main_edits, {"operation": "update_page", "page": id, "title": "Main"}])
    theirs = edited("t", [*their_edits, {"operation": "update_page", "page": id, "title": "Theirs"}])
    there = id in ids(main), id in ids(theirs)
    conflicts = merge(BASE, main, theirs).conflicts
    if there == (True, True):
        assert ContentConflict("page", id, "title") in conflicts
    elif any(there):
        assert ContentConflict("page", id, "deleted") in conflicts


@settings(max_examples=examples(40, soak=3000))
@given(edits, edits)
def test_merge_result_is_tree_with_additions_of_both(main_edits: list[Json], their_edits: list[Json]) -> None:
    main, theirs = edited("m", main_edits), edited("t", their_edits)
    merged = merge(BASE, main, theirs)
    found = [one["id"] for one, _ in walk_pages(merged.content["pages"])]
    assert len(found) == len(set(found))
    for children in [
        merged.content["pages"],
        *(one["pages"] for one, _ in walk_pages(merged.content["pages"])),
    ]:
        slugs = [child["slug"] for child in children]
        assert len(slugs) == len(set(slugs))
    if not merged.conflicts:
        made = (ids(main) | ids(theirs)) - ids(BASE)
        kept = ids(main) & ids(theirs) & ids(BASE)
        assert set(found) == made | kept
    files = {file["id"] for side in (main, theirs) for file in side["files"]}
    assert {file["id"] for file in merged.content["files"]} == files


@settings(max_examples=examples(40, soak=3000))
@given(edits, edits)
def test_change_request_update_then_merge_equals_merge(
    main_edits: list[Json], their_edits: list[Json]
) -> None:
    main, theirs = edited("m", main_edits), edited("t", their_edits)
    updated = merge(BASE, main, theirs)
    if updated.conflicts:
        return
    after = merge(main, main, updated.content)
    assert after.conflicts == ()
    assert after.content == updated.content


def test_merge_conflicts_if_page_parent_was_deleted() -> None:
    main = edited("m", [{"operation": "delete_page", "page": "a"}])
    theirs = edited("t", [{"operation": "insert_page", "title": "New", "into": "a"}])
    merged = merge(BASE, main, theirs)
    assert merged.conflicts == (ContentConflict("page", "t-page-1", "parent"),)


def test_merge_conflicts_if_pages_move_into_each_other() -> None:
    main = edited("m", [{"operation": "update_page", "page": "e", "into": "f"}])
    theirs = edited("t", [{"operation": "update_page", "page": "f", "into": "e"}])
    assert {one.field for one in merge(BASE, main, theirs).conflicts} == {"parent"}


def test_merge_conflicts_if_both_sides_reorder_siblings() -> None:
    def first(id: str) -> Json:
        return {"operation": "update_page", "page": id, "position": {"before": "a"}}

    merged = merge(BASE, edited("m", [first("e")]), edited("t", [first("f")]))
    assert merged.conflicts == (ContentConflict("page", "", "order"),)


def test_merge_keeps_positions_of_new_pages() -> None:
    def new(title: str, after: str) -> Json:
        return {"operation": "insert_page", "title": title, "position": {"after": after}}

    merged = merge(BASE, edited("m", [new("M", "a")]), edited("t", [new("T", "e")]))
    assert [one["title"] for one in merged.content["pages"]] == ["A", "M", "E", "T", "F"]


def test_merge_handles_each_variable_separately() -> None:
    base = {**BASE, "variables": {"x": "1", "y": "1"}}
    main = {**BASE, "variables": {"x": "2", "y": "1"}}
    theirs = {**BASE, "variables": {"x": "1", "z": "3"}}
    assert merge(base, main, theirs).content["variables"] == {"x": "2", "z": "3"}
    assert merge(base, main, {**theirs, "variables": {"x": "5", "y": "1"}}).conflicts == (
        ContentConflict("variable", "x", "value"),
    )
