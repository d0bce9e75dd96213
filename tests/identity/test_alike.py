"""What looks like an entry is proposed, never taken; what holds content is not made until it is answered."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.model.entries.git_base import Base
from dpsync.model.entries.ids import IdsFile
from dpsync.model.plans.plan import Plan
from dpsync.planner.questions import lookalikes
from dpsync.planner.questions.lookalikes import Reason

from .past import Project
from .test_git_base import did, docs


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
def test_a_content_holder_is_not_created_beside_its_look_alike(
    project: Project, live: str, title: str
) -> None:
    """Otherwise, content is made beside what it perhaps is."""
    project.holds(spaces=docs(live)).write(f'spaces: {{ g: {{ title: "{title}" }} }}')
    plan = project.plan()
    assert refused(plan) == [("unclear", "acme/spaces/g")]
    assert not plan.can_apply
    (refusal,) = plan.refusals
    assert [(one.id, one.title) for one in refusal.candidates] == [("s1", live)]
    assert "s1" not in refusal.message  # it is listed, and said once
    assert refusal.way_out == f'add previously: "{live}" if it is that one, or new: true if it is another'


@pytest.mark.parametrize(
    ("live", "title"), [("Guides", "Changelog"), ("Release 1", "Release 2"), ("API", "API reference")]
)
def test_other_names_are_other_things(project: Project, live: str, title: str) -> None:
    plan = project.holds(spaces=docs(live)).write(f"spaces: {{ g: {{ title: {title} }} }}").plan()
    assert refused(plan) == []
    assert did(plan) == {"acme/spaces/g": "create"}


def test_less_is_enough_where_everything_else_agrees(project: Project) -> None:
    live = [{"id": "s1", "title": "Product docs", "emoji": "1f4d6"}]
    project.holds(spaces=live)
    text = 'spaces: {{ g: {{ title: Product documentation, emoji: "{}" }} }}'
    assert refused(project.write(text.format("1f4d6")).plan()) == [("unclear", "acme/spaces/g")]
    assert refused(project.write(text.format("1f680")).plan()) == []


def test_likeness_is_looked_for_among_names_with_the_same_numbers(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many names with numbers of their own are no more pairs than things."""
    monkeypatch.setattr(lookalikes, "MOST", 3)
    live = ("Guide 1", "Guide 2", "Guide 3")
    wanted = "spaces: { a: { title: The guide 1 }, b: { title: The guide 2 }, c: { title: The guide 3 } }"
    plan = project.holds(spaces=docs(*live)).write(wanted).plan()
    assert refused(plan) == [("unclear", f"acme/spaces/{key}") for key in "abc"]


def test_new_is_the_answer(project: Project) -> None:
    project.holds(spaces=docs("Guides")).write("spaces: { g: { title: guides, new: true } }").converges()
    assert sorted(project.live("spaces").values()) == ["Guides", "guides"]
    assert said(project.plan()) == ["acme/spaces/g#new: the object exists: remove this line"]


def test_previously_is_the_other_answer(project: Project) -> None:
    text = "spaces: { g: { title: guides, previously: Guides } }"
    project.holds(spaces=docs("Guides")).write(text).converges()
    assert project.live("spaces") == {"s1": "guides"}


def test_what_is_claimed_looks_like_nobody_else(project: Project) -> None:
    project.holds(spaces=docs("Guides")).write("spaces: { a: { title: Guides }, b: { title: guides } }")
    assert refused(project.plan()) == []


def groups(*titles: str) -> dict[str, Any]:
    nodes = [{"type": "section-group", "id": f"g{at}", "title": title} for at, title in enumerate(titles, 1)]
    return {"sites": [{"id": "d", "title": "Docs", "structure": nodes}]}


def of_groups(*titles: str) -> str:
    nodes = ", ".join(f"{{ type: section-group, key: {one[0]}, title: {one} }}" for one in titles)
    return f"sites: {{ d: {{ title: Docs, structure: [{nodes}] }} }}"


def test_of_what_is_no_content_it_is_only_proposed(project: Project) -> None:
    plan = project.holds(**groups("More to read")).write(of_groups("more To read")).plan()
    assert refused(plan) == []
    assert did(plan) == {"acme/sites/d/structure/m": "create"}
    assert said(plan) == [
        'acme/sites/d/structure/m: it looks like "More to read" (g1), which nobody declares; '
        'if it is that one, add previously: "More to read"'
    ]
    assert plan.origins["acme/sites/d/structure/m"].line == 6


def test_several_of_one_name_need_an_id(project: Project) -> None:
    """Otherwise, the line to add has a name that several things have, and the next run asks which is
    meant.
    """
    (note,) = project.holds(**groups("More", "More")).write(of_groups("more")).plan().notes
    assert note.text.endswith("add id: g1")


def test_of_what_is_no_content_a_removed_one_beside_a_new_one_is_perhaps_that_one(project: Project) -> None:
    project.holds(**groups("More")).write(of_groups("More")).record()
    plan = project.write(of_groups("Appendix")).plan()
    assert plan.can_apply
    assert said(plan) == [
        'acme/sites/d/structure/A: perhaps renamed: the entry of "More" (g1) was removed; '
        'if it is that one, add previously: "More"'
    ]


def test_what_prune_would_delete_is_asked_about_as_well(project: Project) -> None:
    project.holds(spaces=docs("Guides", "News", "More", "Else", "Other"))
    names = "n: { title: News }, m: { title: More }, e: { title: Else }, o: { title: Other }"
    project.write(f"spaces: {{ g: {{ title: guides }}, {names} }}", "{ prune: [spaces] }")
    project.content_may_go = False
    assert refused(project.plan()) == [("unclear", "acme/spaces/g")]


def test_in_a_large_place_only_names_that_fold_to_the_same_are_alike(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookalikes, "MOST", 3)
    project.holds(spaces=docs("Guides", "Documentation"))
    project.write("spaces: { g: { title: guides }, d: { title: Documentations } }")
    plan = project.plan()
    assert [(item.address, [one.why for one in item.candidates]) for item in plan.refusals] == [
        ("acme/spaces/d", ["", ""]),
        ("acme/spaces/g", ["it looks like it"]),
    ]


def test_what_would_take_the_place_of_something_live_is_asked(project: Project) -> None:
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
        "s1", "it is what is shown there now", ("acme/sites/docs/structure/en",)
    )  # fmt: skip
    assert [answer.add for answer in refusal.answers] == ["id: s1", "new: true"]


def test_where_the_commit_before_is_not_in_this_clone_content_is_not_made(project: Project) -> None:
    """Nobody can tell whether it was there under another name; once something is recorded, it is known."""
    project.holds(spaces=docs("Guides")).write("spaces: { g: { title: Guides }, n: { title: News } }")

    def planned() -> Plan:
        session = project.session()
        with project.client() as client:
            lacking = Base("the parent of HEAD is not in this clone", lacking=True)
            return replace(session, base=lacking).plan(client).plan

    (refusal,) = planned().refusals
    assert (refusal.code, refusal.address, refusal.candidates) == ("unclear", "acme/spaces/n", ())
    assert [answer.add for answer in refusal.answers] == ["new: true"]
    project.record()
    assert planned().can_apply


def test_a_translation_whose_source_was_renamed_by_hand_is_not_made_again(project: Project) -> None:
    """The source is asked about by what the translation shows, and by no likeness.

    Otherwise, a reference inside a value is never the id of what it names, and a translation is made a second
    time.
    """
    translation = {
        "id": "t",
        "source": {"space": "s1", "language": "en"},
        "language": "fr",
        "status": "pending",
    }
    project.holds(spaces=docs("Handbuch"), translations=[translation])
    project.write(
        """
        spaces: { g: { title: Guides } }
        translations: { fr: { source: { space: g, language: en }, language: fr } }
        """
    )
    found = {item.address: {one.id for one in item.candidates} for item in project.plan().refusals}
    assert found["acme/spaces/g"] == {"s1"}
    project.write(
        """
        spaces: { g: { title: Guides, previously: Handbuch } }
        translations: { fr: { source: { space: g, language: en }, language: fr } }
        """
    )
    assert did(project.plan()) == {"acme/spaces/g": "update"}


# Without lines, the git base tells what was there before.


def test_what_was_declared_before_and_is_not_found_is_asked_about(project: Project) -> None:
    """Renamed by hand to something else altogether: without its line it looks like a new entry.

    Otherwise, anything that is live counts as something whose entry was removed, and every new entry is asked
    about.
    """
    project.holds(spaces=docs("Guides")).commit("spaces: { g: { title: Guides } }")
    project.commit("title: Acme\nspaces: { g: { title: Guides } }")
    project.base = "HEAD~1"
    project.holds(spaces=docs("Everything"))
    (refusal,) = project.plan().refusals
    assert (refusal.code, refusal.address) == ("unclear", "acme/spaces/g")
    assert [(one.id, one.why) for one in refusal.candidates] == [("s1", Reason.NO_LINES.value)]
    assert project.write("spaces: { g: { title: Guides, new: true } }").plan().can_apply


def test_what_was_only_just_committed_is_new(project: Project) -> None:
    """The first plan of a project, beside what was there already: HEAD was never applied."""
    project.holds(spaces=docs("Everything")).commit("spaces: { g: { title: Guides } }")
    assert project.plan().can_apply


def test_with_lines_of_others_what_has_none_is_new(project: Project) -> None:
    """Whatever was applied has a line."""
    project.holds(spaces=docs("Guides")).commit("spaces: { g: { title: Guides } }")
    project.record()
    project.holds(spaces=docs("Guides", "Everything"))
    project.commit("spaces: { g: { title: Guides }, n: { title: Something new } }")
    project.base = "HEAD"
    assert project.plan().can_apply


def test_the_ids_file_of_the_base_names_what_an_entry_was(project: Project) -> None:
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
    assert [(one.id, one.why) for one in refusal.candidates] == [("s1", Reason.BASE_LINE.value)]


def test_a_removed_name_that_another_entry_takes_is_asked_about(project: Project) -> None:
    """Key and title changed, and a new entry has the old title: each could be the one that was there."""
    project.holds(spaces=docs("News")).commit("spaces: { n: { title: News } }")
    project.write("spaces: { other: { title: API }, new: { title: News } }")
    (refusal,) = project.plan().refusals
    assert (refusal.address, [one.id for one in refusal.candidates]) == ("acme/spaces/other", ["s1"])


def test_a_removed_entry_and_a_new_one_with_a_name_that_was_there(project: Project) -> None:
    """The removed one would go, while the new one takes over what nobody had declared."""
    pruned = "{ prune: [spaces], limits: { deletes: 9, percent: 100 } }"
    project.holds(spaces=docs("Guides", "News")).commit("spaces: { g: { title: Guides } }", pruned)
    project.write("spaces: { n: { title: News } }", pruned)
    (refusal,) = project.plan().refusals
    assert (refusal.code, [one.id for one in refusal.candidates]) == ("unclear", ["s2", "s1"])
