"""Which entry an object could be that appeared after the plan was made: asked when an answer was lost."""

from __future__ import annotations

from dpsync.identity.keys import NaturalKeys
from dpsync.identity.similarity import competing_entries, new_objects_matching, similar_objects
from dpsync.model.values import LiveId

from .test_match import BOXES, box, kind, live, wanted

VIEW = NaturalKeys(kind("path", "title", tie_breakers=("box", "language")), BOXES.get)


def test_lookup_after_create_prefers_object_in_declared_collection() -> None:
    """Else the space that somebody made meanwhile in another collection is taken for ours.

    Otherwise, what somebody made meanwhile in another collection is as good as ours.
    Otherwise, a reference is never the id of what it names, so that what is alike is not found.
    """
    entry = wanted("t", title="T", box=box("a"), language="en")
    elsewhere, nearer = (
        live("1", title="T", box=LiveId("B"), language="en"),
        live("2", title="T", box=LiveId("A")),
    )
    assert [item.id for item in new_objects_matching(VIEW, entry, [elsewhere, nearer])] == ["2"]
    assert [item.id for item in new_objects_matching(VIEW, entry, [elsewhere])] == ["1"]


def test_lookup_after_create_returns_both_objects_with_title() -> None:
    """Otherwise, a tie-breaker that nobody declares tells apart what it knows nothing of."""
    entry = wanted("t", title="T")
    assert [
        item.id for item in new_objects_matching(VIEW, entry, [live("1", title="T"), live("2", title="T")])
    ] == [
        "1",
        "2",
    ]


def test_lookup_after_create_prefers_first_natural_key() -> None:
    """Otherwise, whatever is new is taken for ours."""
    entry = wanted("t", path="p", title="T")
    both = [live("1", title="T"), live("2", path="p"), live("3", path="p")]
    assert [item.id for item in new_objects_matching(VIEW, entry, both)] == ["2", "3"]


def test_competing_entries_are_those_with_equal_title() -> None:
    """Otherwise, what only one entry can be is left to nobody."""
    others = [wanted("u", title="T"), wanted("v", title="V")]
    assert competing_entries(VIEW, live("1", title="T"), others) == others[:1]


def test_names_with_different_numbers_are_not_similar() -> None:
    """Otherwise, one release is proposed as another one."""
    one = wanted("r", title="Release notes 1")
    assert similar_objects(VIEW, one, [live("1", title="Release notes 2")]) == []
    assert similar_objects(VIEW, one, [live("1", title="Release note 1")]) != []
