"""What a line of the ids file means: its object is the entry, whatever either is called now."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.api import Options
from dpsync.model.address import Address
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.ids import IdsFile, RecordedLine
from dpsync.model.plan import Plan

from .past import Project, git
from .test_git_base import did, docs, teams

GUIDES = "spaces: { g: { title: Guides }, n: { title: News } }"


def recorded(project: Project, **lines: str) -> Project:
    """Set the lines of the ids file: by address, with one underscore for each slash."""
    named = {Address.parse("acme/" + name.replace("_", "/")): id for name, id in lines.items()}
    project.ids = {one: RecordedLine(one, id) for one, id in named.items()}
    return project


def asked(project: Project) -> list[tuple[str, str | None]]:
    with pytest.raises(DiagnosticError) as error:
        project.plan()
    return sorted((item.code, item.address) for item in error.value.findings)


def renamed(plan: Plan) -> dict[str, tuple[Any, Any]]:
    """By address, the title as it is and as it is wanted."""
    return {
        change.address: (item.before, item.after)
        for change in plan.changes
        for item in change.differences
        if item.field == "title"
    }


@pytest.fixture
def known(project: Project) -> Project:
    """Two spaces, declared and recorded."""
    return project.holds(spaces=docs("Guides", "News")).write(GUIDES).record()


def test_ids_line_matches_platform_rename(known: Project) -> None:
    known.holds(spaces=docs("Handbuch", "News"))
    plan = known.plan()
    assert (did(plan), renamed(plan)) == (
        {"acme/spaces/g": "update"},
        {"acme/spaces/g": ("Handbuch", "Guides")},
    )
    assert plan.can_apply


@pytest.mark.parametrize("committed", [False, True])
def test_ids_line_matches_file_rename(known: Project, committed: bool) -> None:
    text = GUIDES.replace("Guides", "Everything about it")
    known.commit(text) if committed else known.write(text)
    assert renamed(known.plan()) == {"acme/spaces/g": ("Guides", "Everything about it")}
    known.converges()
    assert known.live("spaces") == {"s1": "Everything about it", "s2": "News"}


def test_ids_lines_match_renames_on_both_sides(known: Project) -> None:
    known.holds(spaces=docs("News", "Other"))
    known.write("spaces: { g: { title: Other }, n: { title: Third } }").converges()
    assert known.live("spaces") == {"s1": "Other", "s2": "Third"}


def test_copy_under_old_title_is_ambiguous(known: Project) -> None:
    """Whoever copied it renamed the original, and perhaps goes on working in the copy: nobody can tell.

    Otherwise, a copy under the old name is left beside the original, and nobody is asked which is meant.
    """
    known.holds(spaces=docs("Guides (old)", "News", "Guides"))
    assert asked(known) == [("DP312", "acme/spaces/g")]
    known.write("spaces: { g: { id: s1, title: Guides }, n: { title: News } }")
    assert renamed(known.plan()) == {"acme/spaces/g": ("Guides (old)", "Guides")}


def test_deletion_of_object_replaced_by_pin_needs_address(known: Project) -> None:
    known.holds(spaces=docs("Guides (old)", "News", "Guides"))
    policy = "{ prune: [spaces], limits: { deletes: 9, percent: 100 } }"
    known.write("spaces: { g: { id: s3, title: Guides }, n: { title: News } }", policy)
    plan = known.plan()
    assert [(item.code, item.address) for item in plan.refusals] == [
        ("passed-over", "acme/spaces/[Guides (old)]")
    ]
    assert known.plan("delete acme/spaces/[Guides (old)]").can_apply


def test_duplicate_ids_lines_fail(project: Project) -> None:
    """Otherwise, two lines give one object to two entries."""
    project.holds(spaces=docs("Guides", "News")).write(GUIDES)
    assert asked(recorded(project, spaces_g="s1", spaces_n="s1")) == [
        ("DP311", "acme/spaces/g"),
        ("DP311", "acme/spaces/n"),
    ]
    with pytest.raises(DiagnosticError) as error:
        project.plan()
    named = {item.address: item.message.split('"')[3::2] for item in error.value.findings}
    assert named == {"acme/spaces/g": ["acme/spaces/n"], "acme/spaces/n": ["acme/spaces/g"]}


def shared(project: Project, body: str) -> Project:
    """Write a configuration with a second environment, in which an id means another object."""
    file = project.write(body).directory / "dpsync.yaml"
    staging = "environments: { staging: { url: https://staging.example, token: { env: DPSYNC_TOKEN } } }\n"
    file.write_text(file.read_text() + staging, encoding="utf-8")
    return project


TWICE = "spaces: { g: { title: Guides }, n: { title: Something else } }"


def test_ambiguous_match_in_several_environments_suggests_ids_bind(project: Project) -> None:
    """Otherwise, a pin of one platform is advised in files of several, where it is an error on the others."""
    project.holds(spaces=docs("Guides", "Guides", "Something  Else"))
    with pytest.raises(DiagnosticError) as error:
        shared(project, TWICE).plan()
    (finding,) = error.value.findings
    adds = [f"`dpsync ids --bind acme/spaces/g={id}`" for id in ("s1", "s2")]
    assert (finding.code, [one.add for one in finding.answers]) == ("DP302", adds)
    assert (finding.hint or "").endswith(adds[0])
    recorded(project, spaces_g="s1")
    (refusal,) = project.plan().refusals
    adds = ['previously: "Something  Else"', "new: true", '--confirm "new acme/spaces/n"']
    assert [one.add for one in refusal.answers] == adds


def test_unknown_pinned_id_in_several_environments_suggests_overlay(project: Project) -> None:
    project.holds(spaces=docs("Guides"))
    with pytest.raises(DiagnosticError) as error:
        shared(project, "spaces: { g: { id: s9, title: Guides } }").plan()
    (finding,) = error.value.findings
    assert (finding.code, "the overlay of that" in (finding.hint or "")) == ("DP301", True)


@pytest.mark.parametrize("by", ["base", "name"])
def test_duplicate_ids_lines_error_names_entry_owning_object(project: Project, by: str) -> None:
    """Its key was changed, and a new entry has got the old key with the old line."""
    wanted = "spaces: { manual: { title: Guides }, g: { title: Quite another } }"
    project.holds(spaces=docs("Guides", "News"))
    if by == "base":
        project.commit("spaces: { manual: { title: Guides } }")
        wanted = wanted.replace("title: Guides", "title: Guide")
    recorded(project.write(wanted), spaces_g="s1", spaces_manual="s1")
    with pytest.raises(DiagnosticError) as error:
        project.plan()
    for finding in error.value.findings:
        assert "The line of acme/spaces/manual is right" in finding.message
        assert (finding.hint or "").endswith("`dpsync ids --forget acme/spaces/g`")
        assert [(one.add, one.means) for one in finding.answers] == [
            ("`dpsync ids --forget acme/spaces/g`",
             'acme/spaces/g is another object. '
             'The object "s1" and its contents belong to acme/spaces/manual'),
            ("`dpsync ids --forget acme/spaces/manual`",
             'acme/spaces/manual is another object. '
             'The object "s1" and its contents belong to acme/spaces/g'),
        ]  # fmt: skip


def test_pin_conflicting_with_ids_line_fails(project: Project) -> None:
    """Otherwise, a pin and a line give one object to two entries."""
    project.holds(spaces=docs("Guides", "News"))
    project.write("spaces: { g: { title: Guides }, n: { id: s1, title: News } }")
    assert asked(recorded(project, spaces_g="s1")) == [("DP311", "acme/spaces/g")]


def test_ids_line_of_other_kind_fails(project: Project) -> None:
    project.holds(spaces=docs("Guides"), teams=teams("T"))
    project.write("spaces: { g: { title: Guide } }\nteams: { t: { title: T } }")
    assert asked(recorded(project, spaces_g="t1")) == [("DP315", "acme/spaces/g")]


def test_previously_contradicting_ids_line_is_ambiguous(known: Project) -> None:
    """Otherwise, an earlier name that means another object than the line is passed over in silence."""
    known.holds(spaces=docs("Guides", "News", "Manual"))
    known.write("spaces: { g: { title: Guides, previously: Manual }, n: { title: News } }")
    assert asked(known) == [("DP313", "acme/spaces/g")]


def test_new_key_is_matched_by_former_ids_line(known: Project) -> None:
    """Also where another thing has the same name: the line says which of the two it is."""
    known.holds(spaces=docs("Guides", "News", "Guides"))
    known.write("spaces: { handbook: { title: Guides }, n: { title: News } }")
    plan = known.plan()
    assert plan.bindings["acme/spaces/handbook"] == "s1"
    assert plan.changes == ()


def test_changing_key_and_title_together_needs_confirmation(known: Project) -> None:
    known.write("spaces: { handbook: { title: Completely different }, n: { title: News } }")
    (refusal,) = known.plan().refusals
    assert (refusal.code, refusal.address) == ("unclear", "acme/spaces/handbook")
    assert [(item.id, item.why) for item in refusal.candidates] == [("s1", "its entry was removed")]
    known.write(
        "spaces: { handbook: { title: Completely different, previously: Guides }, n: { title: News } }"
    )
    known.converges()
    assert known.live("spaces") == {"s1": "Completely different", "s2": "News"}


@pytest.mark.parametrize("options", [Options(select=("acme/spaces/handbook",)), Options(delete=False)])
def test_rename_question_ignores_select_and_no_delete(known: Project, options: Options) -> None:

    known.write("spaces: { handbook: { title: Completely different }, n: { title: News } }")
    with known.client() as client:
        plan = known.session().plan(client, options).plan
    assert [item.code for item in plan.refusals] == ["unclear"]


def test_prune_asks_about_rename_of_blocked_entry(project: Project) -> None:
    """Its collection is gone, so it is not made now; what it was, whose entry is gone, would be pruned."""
    collection = [{"id": "col1", "title": "Handbook"}]
    project.holds(collections=collection, spaces=[{**docs("Guides")[0], "parent": "col1"}])
    above = "collections: { c: { title: Handbook } }\n"
    project.write(above + "spaces: { g: { title: Guides, collection: c } }").record()
    project.holds(spaces=docs("Guides"))
    moved = above + "spaces: { new: { title: Something else, collection: c } }"
    (refusal,) = project.write(moved, "{ prune: [spaces], limits: { percent: 100 } }").plan().refusals
    assert (refusal.code, refusal.address) == ("unclear", "acme/spaces/new")
    assert [(item.id, item.why) for item in refusal.candidates] == [("s1", "its entry was removed")]
    assert project.write(moved).plan().can_apply  # nothing is made and nothing deleted


def test_readded_key_needs_same_title(known: Project) -> None:
    """Otherwise, a key that was removed and is back takes over what it was, whatever that is now."""
    known.commit(GUIDES)
    known.commit("spaces: { n: { title: News } }")
    base = known.ids
    assert base is not None
    known.write(GUIDES)
    assert bindings(known, base) == {"acme/spaces/g": "s1", "acme/spaces/n": "s2"}
    known.write(GUIDES.replace("Guides", "Other things"))
    with pytest.raises(DiagnosticError) as error:
        bindings(known, base)
    assert [item.code for item in error.value.findings] == ["DP314"]


def bindings(project: Project, base: dict[Address, RecordedLine]) -> dict[str, str]:
    """Of a plan whose git base has this ids file."""
    session = project.session()
    with project.client() as client:
        client.get("/user")
        file = IdsFile({client.platform: {"acme": base}})
        plan = replace(session, base=replace(session.base, ids=file)).plan(client).plan
    return {address: id for address, id in plan.bindings.items() if "/" in address}


@pytest.mark.parametrize("deleted", [True, False], ids=["deleted", "not there"])
def test_content_missing_on_platform_is_blocked_with_dependents(project: Project, deleted: bool) -> None:
    place = "{ type: space, key: en, space: g, path: en }"
    sites = f"sites: {{ d: {{ title: Docs, structure: [{place}] }} }}"
    node = {"type": "space", "id": "p", "space": "s1", "path": "en"}
    site = {"id": "d", "title": "Docs", "structure": [node]}
    project.holds(spaces=docs("Guides", "News"), sites=[site]).write(f"{GUIDES}\n{sites}").record()
    if deleted:
        with project.client() as client:
            client.send("DELETE", "/orgs/acme/sites/d/site-spaces/p", repeatable=True)
            client.send("DELETE", "/spaces/s1", repeatable=True)
    else:
        project.holds(spaces=docs("Guides", "News")[1:], sites=[{**site, "structure": []}])
    plan = project.plan()
    blocked = {item.address: item for item in plan.blocked}
    assert set(blocked) == {"acme/spaces/g", "acme/sites/d/structure/en"}
    assert ("to restore the object, add id: s1" in blocked["acme/spaces/g"].todo) is deleted
    assert '--confirm "new acme/spaces/g"' in blocked["acme/spaces/g"].todo
    assert did(plan) == {}
    assert did(project.plan("new acme/spaces/g"))["acme/spaces/g"] == "create"


def test_section_group_with_missing_recorded_id_is_recreated(project: Project) -> None:
    project.holds(sites=[SITE]).write(f"sites: {{ d: {{ title: Docs, structure: [{GROUP}] }} }}").record()
    project.holds(sites=[{**SITE, "structure": []}])
    assert did(project.plan()) == {"acme/sites/d/structure/g": "create"}


GROUP = "{ type: section-group, key: g, title: G }"
SITE = {"id": "d", "title": "Docs", "structure": [{"type": "section-group", "id": "g", "title": "G"}]}


def test_space_with_missing_recorded_id_matches_by_title(known: Project) -> None:
    """Otherwise, a line whose object is gone counts as live: every write goes to nothing.

    Otherwise, that an entry is another object than the one that is gone is not told.
    """
    known.holds(spaces=[{"id": "s9", "title": "Guides"}, {"id": "s2", "title": "News"}])
    plan = known.plan()
    assert (plan.changes, plan.bindings["acme/spaces/g"]) == ((), "s9")
    assert [note.text for note in plan.notes] == ["the former object s1 of this entry no longer exists"]


def test_missing_recorded_id_costs_one_extra_request(known: Project) -> None:
    with_lines = known.plan().requests
    lines, known.ids = known.ids, None
    assert known.plan().requests == with_lines
    known.ids = lines
    known.holds(spaces=docs("Guides", "News")[1:])
    assert known.plan().requests == with_lines + 1


def test_swapped_names_converge_in_shallow_clone(project: Project) -> None:
    project.holds(spaces=docs("Guides", "News"))
    project.commit("spaces: { g: { title: Guides }, n: { title: News } }").record()
    project.commit("spaces: { g: { title: News }, n: { title: Guides } }")
    head = git(project.directory, "rev-parse", "HEAD")
    (project.directory / ".git" / "shallow").write_text(f"{head}\n", encoding="utf-8")
    project.env["CI"] = "true"
    assert project.session().base.is_commit_missing
    project.converges()
    assert project.live("spaces") == {"s1": "News", "s2": "Guides"}
