"""What looks like an entry is proposed, never taken; what holds content is not made until it is answered."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.model.desired import Base
from dpsync.model.ids import IdsFile
from dpsync.model.plan import Plan
from dpsync.planner import rebound_ids
from dpsync.planner.rebound_ids import SimilarityReason

from .past import Project
from .test_git_base import did, docs

NEWS = "https://acme.example/news"


def refused(plan: Plan) -> list[tuple[str, str]]:
    return [(item.code, item.address) for item in plan.refusals]


def said(plan: Plan) -> list[str]:
    return [f"{note.address}: {note.text}" for note in plan.notes]


@pytest.mark.parametrize(
    ("live", "title"),
    [
        ("Guides", "guides"),
        ("Users' guide", "Users guide"),
        ("Documentation", "Documentations"),
        ("ＡＰＩ", "API"),
    ],
)
def test_new_entry_resembling_live_space_needs_confirmation(project: Project, live: str, title: str) -> None:
    """Otherwise, content is made beside what it perhaps is."""
    project.holds(spaces=docs(live)).write(f'spaces: {{ g: {{ title: "{title}" }} }}')
    plan = project.plan()
    assert refused(plan) == [("unclear", "acme/spaces/g")]
    assert not plan.can_apply
    (refusal,) = plan.refusals
    assert [(one.id, one.title) for one in refusal.candidates] == [("s1", live)]
    assert refusal.message == f'Is acme/spaces/g a new space, or the space "{live}" (id s1) renamed?'
    previously = f'"{live}"' if not live.isascii() or " " in live else live
    assert refusal.way_out == (
        f'New: add new: true, or --confirm "new acme/spaces/g". Renamed: add previously: {previously}.'
    )


@pytest.mark.parametrize(
    ("live", "title"), [("Guides", "Changelog"), ("Release 1", "Release 2"), ("API", "API reference")]
)
def test_space_with_dissimilar_title_is_created(project: Project, live: str, title: str) -> None:
    plan = project.holds(spaces=docs(live)).write(f"spaces: {{ g: {{ title: {title} }} }}").plan()
    assert refused(plan) == []
    assert did(plan) == {"acme/spaces/g": "create"}


def test_partly_similar_space_with_same_emoji_needs_confirmation(project: Project) -> None:
    live = [{"id": "s1", "title": "Product docs", "emoji": "1f4d6"}]
    project.holds(spaces=live)
    text = 'spaces: {{ g: {{ title: Product documentation, emoji: "{}" }} }}'
    assert refused(project.write(text.format("1f4d6")).plan()) == [("unclear", "acme/spaces/g")]
    assert refused(project.write(text.format("1f680")).plan()) == []


def test_titles_with_different_numbers_are_not_similar(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many names with numbers of their own are no more pairs than things."""
    monkeypatch.setattr(rebound_ids, "MAX_COMPARED_PAIRS", 3)
    live = ("Guide 1", "Guide 2", "Guide 3")
    wanted = "spaces: { a: { title: The guide 1 }, b: { title: The guide 2 }, c: { title: The guide 3 } }"
    plan = project.holds(spaces=docs(*live)).write(wanted).plan()
    (refusal,) = plan.refusals
    assert (refusal.code, {one.id for one in refusal.candidates}) == ("unclear", {"s1", "s2", "s3"})
    assert '--confirm "new 3 acme/spaces/*"' in refusal.way_out


def test_entry_with_new_true_creates_similar_space(project: Project) -> None:
    project.holds(spaces=docs("Guides")).write("spaces: { g: { title: guides, new: true } }").converges()
    assert sorted(project.live("spaces").values()) == ["Guides", "guides"]
    assert said(project.plan()) == ["acme/spaces/g#new: the object exists now: remove this line"]


def test_previously_renames_similar_space(project: Project) -> None:
    text = "spaces: { g: { title: guides, previously: Guides } }"
    project.holds(spaces=docs("Guides")).write(text).converges()
    assert project.live("spaces") == {"s1": "guides"}


def test_object_matched_by_entry_is_no_rename_candidate(project: Project) -> None:
    project.holds(spaces=docs("Guides")).write("spaces: { a: { title: Guides }, b: { title: guides } }")
    assert refused(project.plan()) == []


def groups(*titles: str) -> dict[str, Any]:
    nodes = [{"type": "section-group", "id": f"g{at}", "title": title} for at, title in enumerate(titles, 1)]
    return {"sites": [{"id": "d", "title": "Docs", "structure": nodes}]}


def of_groups(*titles: str) -> str:
    nodes = ", ".join(f"{{ type: section-group, key: {one[0]}, title: {one} }}" for one in titles)
    return f"sites: {{ d: {{ title: Docs, structure: [{nodes}] }} }}"


def test_new_entry_resembling_section_group_only_gets_note(project: Project) -> None:
    plan = project.holds(**groups("More to read")).write(of_groups("more To read")).plan()
    assert refused(plan) == []
    assert did(plan) == {"acme/sites/d/structure/m": "create"}
    assert said(plan) == [
        'acme/sites/d/structure/m: this entry looks like "More to read" (g1), which has no entry. If you '
        'renamed that object, add previously: "More to read"'
    ]
    assert plan.origins["acme/sites/d/structure/m"].line == 6


def test_rename_note_suggests_id_if_titles_are_equal(project: Project) -> None:
    """Otherwise, the suggested line names several objects, and the next run asks which one is meant."""
    (note,) = project.holds(**groups("More", "More")).write(of_groups("more")).plan().notes
    assert note.text.endswith("add id: g1")


def test_suggested_previously_value_of_redirect_is_accepted(project: Project) -> None:
    """The line is copied from the note into the file."""
    redirect = {"id": "r", "source": "/old-news", "destination": {"kind": "external", "url": NEWS}}
    site = {"id": "d", "title": "Docs", "redirects": [redirect]}
    files = "sites: {{ d: {{ title: Docs, redirects: {{ {source}: {{ {line}url: {url} }} }} }} }}"
    project.holds(sites=[site]).write(files.format(source="/old-news", line="", url=NEWS)).record()
    notes = project.write(files.format(source="/older-news", line="", url=NEWS)).plan().notes
    (line,) = (text for note in notes if (text := note.text.rpartition("add ")[2]).startswith("previously"))
    assert line == 'previously: "/old-news"'
    plan = project.write(files.format(source="/older-news", line=f"{line}, ", url=NEWS)).plan()
    assert did(plan) == {"acme/sites/d/redirects//older-news": "update"}


def test_removed_section_group_is_noted_as_possible_rename(project: Project) -> None:
    project.holds(**groups("More")).write(of_groups("More")).record()
    plan = project.write(of_groups("Appendix")).plan()
    assert plan.can_apply
    assert said(plan) == [
        'acme/sites/d/structure/A: the entry of "More" (g1) was removed. If this entry is '
        "the new name of that object, "
        "add previously: M"
    ]


def test_prune_asks_whether_similar_space_was_renamed(project: Project) -> None:
    project.holds(spaces=docs("Guides", "News", "More", "Else", "Other"))
    names = "n: { title: News }, m: { title: More }, e: { title: Else }, o: { title: Other }"
    project.write(f"spaces: {{ g: {{ title: guides }}, {names} }}", "{ prune: [spaces] }")
    project.content_may_go = False
    assert {code for code, _ in refused(project.plan())} == {"content", "unclear"}


def test_large_list_similarity_ignores_only_case(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebound_ids, "MAX_COMPARED_PAIRS", 3)
    project.holds(spaces=docs("Guides", "Documentation"))
    project.write("spaces: { g: { title: guides }, d: { title: Documentations } }")
    plan = project.plan()
    assert [(item.address, [one.id for one in item.candidates]) for item in plan.refusals] == [
        ("acme/spaces/g", ["s1"])
    ]


def test_replacing_shown_space_needs_confirmation(project: Project) -> None:
    place = {"type": "space", "id": "place", "space": "s1", "path": "en"}
    project.holds(
        spaces=docs("Guide"), sites=[{"id": "d", "title": "Docs", "basename": "docs", "structure": [place]}]
    )
    project.write(
        """
        spaces: { h: { title: Handbook } }
        sites:
          docs:
            title: Docs
            basename: docs
            structure: [{ type: space, key: en, space: h, path: en }]
        """
    )
    plan = project.plan()
    (refusal,) = plan.refusals
    assert (refusal.code, refusal.address) == ("unclear", "acme/spaces/h")
    (candidate,) = refusal.candidates
    assert (candidate.id, candidate.why, candidate.shown_in) == (
        "s1", SimilarityReason.SHOWN_AT_POSITION.value, ("acme/sites/docs/structure/en",)
    )  # fmt: skip
    assert [answer.add for answer in refusal.answers] == [
        "previously: Guide", "new: true", '--confirm "new acme/spaces/h"',
    ]  # fmt: skip


def test_shallow_clone_without_ids_file_creates_no_content(project: Project) -> None:
    """Nobody can tell whether the space was there under another name; once an ids file exists, it does."""
    project.holds(spaces=docs("Guides", "Other")).write(
        "spaces: { g: { title: Guides }, n: { title: News }, m: { title: More } }"
    )

    def planned() -> Plan:
        session = project.session()
        with project.client() as client:
            lacking = Base("the parent of HEAD is not in this clone", is_commit_missing=True)
            return replace(session, base=lacking).plan(client).plan

    (refusal,) = planned().refusals
    assert (refusal.code, refusal.address, refusal.candidates) == ("unclear", "acme", ())
    assert [answer.add for answer in refusal.answers] == ['--confirm "new 2 acme/**"']
    project.record()
    assert planned().can_apply


# Without lines, the git base tells what was there before.


@pytest.mark.parametrize("commits", [0, 1, 12], ids=["uncommitted", "one commit ago", "many commits ago"])
def test_object_of_removed_entry_stays_rename_candidate(project: Project, commits: int) -> None:
    """Each commit may wait for its apply: key and title changed, and the space must not be created anew."""
    project.holds(spaces=docs("Guides")).commit("spaces: { g: { title: Guides } }").record()
    wanted = "spaces: { h: { title: Handbook } }"
    for number in range(commits):
        project.commit(f"title: Acme {number}\n{wanted}")
    (refusal,) = project.write(wanted).plan().refusals
    assert (refusal.code, [one.id for one in refusal.candidates]) == ("unclear", ["s1"])


def test_object_of_already_applied_removal_is_no_candidate(project: Project) -> None:
    """Otherwise, a space that was kept on purpose raises a question with each new space."""
    project.ids = {}
    project.holds(spaces=docs("Guides", "News")).write("spaces: { g: { title: Guides }, n: { title: News } }")
    project.apply()
    project.write("spaces: { n: { title: News } }").converges()
    assert project.write("spaces: { n: { title: News }, h: { title: Handbook } }").plan().can_apply


@pytest.mark.parametrize("members", [[], ["ada"]], ids=["empty", "with a member"])
def test_new_team_is_ambiguous_beside_team_without_entry(project: Project, members: list[str]) -> None:
    """A new team has no members; a removed empty team is worth no question."""
    team = {"id": "t1", "title": "Legacy", "members": [{"user": name, "role": "owner"} for name in members]}
    project.holds(teams=[team]).write("teams: { legacy: { title: Legacy } }").record()
    assert project.write("teams: { emea: { title: Emea } }").plan().can_apply is not bool(members)


def test_first_plan_creates_entry_already_committed(project: Project) -> None:
    """The first plan of a project, beside what was there already: HEAD was never applied."""
    project.holds(spaces=docs("Everything")).commit("spaces: { g: { title: Guides } }")
    assert project.plan().can_apply


def test_entry_missing_from_ids_file_is_new(project: Project) -> None:
    """Whatever was applied has a line."""
    project.holds(spaces=docs("Guides")).commit("spaces: { g: { title: Guides } }")
    project.record()
    project.holds(spaces=docs("Guides", "Everything"))
    project.commit("spaces: { g: { title: Guides }, n: { title: Something new } }")
    project.base = "HEAD"
    assert project.plan().can_apply


def test_ids_file_of_git_base_gives_rename_candidate(project: Project) -> None:
    """Somebody deleted the file, and somebody else renamed the space.

    Otherwise, what the base's line names is not asked about.
    """
    project.holds(spaces=docs("Guides")).commit("spaces: { g: { title: Guides } }").record()
    lines, project.ids = project.ids, None
    project.holds(spaces=docs("Everything", "Other"))
    session = project.session()
    with project.client() as client:
        client.get("/user")
        base = replace(session.base, ids=IdsFile({client.platform: {"acme": lines or {}}}))
        (refusal,) = replace(session, base=base).plan(client).plan.refusals
    assert [(one.id, one.why) for one in refusal.candidates] == [("s1", SimilarityReason.ENTRY_RENAMED.value)]


def test_key_rename_beside_new_entry_needs_no_question(project: Project) -> None:
    """Changing the key of one entry and adding another one is ordinary work."""
    project.holds(spaces=docs("News")).commit("spaces: { n: { title: News } }")
    plan = project.write("spaces: { other: { title: API }, new: { title: News } }").plan()
    assert (plan.can_apply, did(plan)) == (True, {"acme/spaces/other": "create"})


def test_removed_and_adopted_spaces_need_one_answer(project: Project) -> None:
    """The new entry is the space with its name; the removed one is deleted only if somebody agrees."""
    pruned = "{ prune: [spaces], limits: { deletes: 9, percent: 100 } }"
    project.holds(spaces=docs("Guides", "News")).commit("spaces: { g: { title: Guides } }", pruned)
    project.content_may_go = False
    assert refused(project.write("spaces: { n: { title: News } }", pruned).plan()) == [
        ("content", "acme/spaces/[Guides]")
    ]


@pytest.mark.parametrize("title", ["News", "Blog"], ids=["same title", "another title"])
def test_entry_missing_from_ids_file_matches_from_git(project: Project, title: str) -> None:
    """An apply in a workflow may have created the space without bringing its line to the branch."""
    project.holds(spaces=docs("Guides")).commit("spaces: { g: { title: Guides } }").record()
    project.holds(spaces=docs("Guides", "News"))
    project.commit("spaces: { g: { title: Guides }, n: { title: News } }")
    project.write(f"spaces: {{ g: {{ title: Guides }}, n: {{ title: {title} }} }}")
    plan = project.plan()
    assert (plan.can_apply, plan.bindings["acme/spaces/n"]) == (True, "s2")
    (refusal,) = project.write("spaces: { g: { title: Guides }, b: { title: Blog } }").plan().refusals
    assert [(one.id, one.why) for one in refusal.candidates] == [("s2", SimilarityReason.ENTRY_REMOVED.value)]


def test_ids_line_overrides_git_history(project: Project) -> None:
    """The line says that the space was another entry, whatever title a commit gave to this one."""
    project.holds(spaces=docs("Guides")).commit("spaces: { g: { title: Guides } }").record()
    project.commit("spaces: { n: { title: Guides } }")
    (refusal,) = project.write("spaces: { n: { title: News } }").plan().refusals
    assert [(one.id, one.why) for one in refusal.candidates] == [("s1", SimilarityReason.ENTRY_REMOVED.value)]
