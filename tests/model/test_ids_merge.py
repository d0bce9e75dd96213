"""What an apply changed in the ids file, put onto what the branch says by now."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dpsync.model.address import Address
from dpsync.model.ids import IdsFile, RecordedLine, line_changes, merge_ids

ONE, TWO = "https://one.example", "https://two.example"


def ids(key: str = "acme", platform: str = ONE, **lines: str) -> IdsFile:
    found = [RecordedLine(Address((key, "teams", name)), id) for name, id in lines.items()]
    return IdsFile({platform: {"org-1": {line.address: line for line in found}}} if found else {})


def said(file: IdsFile) -> dict[str, str]:
    return {
        str(line.address): line.id
        for section in file.sections.values()
        for lines in section.values()
        for line in lines.values()
    }


def test_ids_merge_keeps_lines_added_by_others() -> None:
    merged = merge_ids(ids(a="1", b="2"), ids(a="1", c="3"), ids(a="1", b="2", d="4"))
    assert merged.ids == ids(a="1", c="3", d="4")
    assert (merged.replaced_lines, merged.kept_lines) == ((), ())


def test_ids_merge_conflict_prefers_apply_and_is_reported() -> None:
    merged = merge_ids(ids(a="1"), ids(a="2"), ids(a="3"))
    assert merged.ids == ids(a="2")
    assert [line.id for line in merged.replaced_lines] == ["3"]


def test_ids_merge_keeps_changed_line_despite_delete() -> None:
    merged = merge_ids(ids(a="1"), ids(), ids(a="3"))
    assert merged.ids == ids(a="3")
    assert [line.id for line in merged.kept_lines] == ["3"]


def marked(file: IdsFile) -> IdsFile:
    """Return the same lines, each marked as one whose object was kept without an entry."""
    (lines,) = file.sections[ONE].values()
    return file.with_section(ONE, "org-1", {at: replace(line, kept=True) for at, line in lines.items()})


def test_ids_merge_carries_kept_mark_to_branch() -> None:
    """Without the mark, the same question would come up after each apply in a workflow."""
    assert merge_ids(ids(a="1"), marked(ids(a="1")), ids(a="1", b="2")).ids.lines(ONE, "org-1") == {
        **marked(ids(a="1")).lines(ONE, "org-1"),
        **ids(b="2").lines(ONE, "org-1"),
    }


def test_kept_mark_in_ids_merge_changes_no_id() -> None:
    for present in (ids(a="3"), ids(b="2")):
        merged = merge_ids(ids(a="1"), marked(ids(a="1")), present)
        assert (merged.ids, merged.replaced_lines) == (present, ())


def test_ids_merge_keeps_other_platforms_and_organizations() -> None:
    merged = merge_ids(ids(), ids(a="1"), ids(platform=TWO, a="9"))
    assert merged.ids.sections == {**ids(a="1").sections, **ids(platform=TWO, a="9").sections}


def test_ids_merge_uses_latest_organization_key() -> None:
    renamed_there = merge_ids(ids(a="1"), ids(a="1", b="2"), ids("globex", a="1"))
    assert renamed_there.ids == ids("globex", a="1", b="2")
    renamed_here = merge_ids(ids(a="1"), ids("globex", a="1", b="2"), ids(a="1", c="3"))
    assert renamed_here.ids == ids("globex", a="1", b="2", c="3")


def test_ids_changes_ignore_renamed_organization_key() -> None:
    (change,) = line_changes(ids(a="1", b="2"), ids("globex", a="1"))
    assert (str(change.address), change.after) == ("globex/teams/b", None)


FILES = st.dictionaries(st.sampled_from("abcd"), st.sampled_from("123")).map(lambda lines: ids(**lines))


@settings(max_examples=60)
@given(FILES, FILES, FILES)
def test_ids_merge_neither_loses_nor_invents_lines(before: IdsFile, after: IdsFile, present: IdsFile) -> None:
    merged = merge_ids(before, after, present)
    old, mine, theirs, found = said(before), said(after), said(present), said(merged.ids)
    touched = {str(change.address) for change in line_changes(before, after)}
    assert touched == {at for at in {*old, *mine} if old.get(at) != mine.get(at)}
    for at in {*old, *mine, *theirs, *found}:
        if at not in touched:
            assert found.get(at) == theirs.get(at)
        elif at in mine:
            assert found[at] == mine[at]
        else:
            assert found.get(at) in (None, theirs.get(at))
    told = {str(line.address) for line in (*merged.replaced_lines, *merged.kept_lines)}
    assert told == {at for at in touched & set(theirs) if theirs[at] not in (mine.get(at), old.get(at))}
    assert merge_ids(before, after, merged.ids).ids == merged.ids


@settings(max_examples=40)
@given(FILES, FILES, FILES)
def test_ids_merges_of_disjoint_changes_commute(before: IdsFile, one: IdsFile, two: IdsFile) -> None:
    disjoint = not {at.address for at in line_changes(before, one)} & {
        at.address for at in line_changes(before, two)
    }
    first = merge_ids(before, two, merge_ids(before, one, before).ids).ids
    second = merge_ids(before, one, merge_ids(before, two, before).ids).ids
    assert not disjoint or first == second
