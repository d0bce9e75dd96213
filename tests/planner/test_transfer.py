"""What moves to another organization of the configuration is given to it: the same thing, with its id."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest

from dpsync.api import Session, load
from dpsync.client.client import ReadClient, WriteClient
from dpsync.client.transport import HttpTransport, Token
from dpsync.model.desired import Base, CommittedFiles, LabelCommits, LastApply
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.journal import Report
from dpsync.model.plan import Plan
from tests.agreed import agreed
from tests.by_hand import by_hand
from tests.live.answers import Tape
from tests.properties.faults import Kill, Killed

from .lab import REGISTRY, Lab, site, world

LIMITS = "{ prune: [spaces, collections], limits: { deletes: 100, percent: 100 } }"
PEOPLE = [{"user": "ada", "role": "admin"}, {"user": "bo", "role": "create"}]


def text(acme: str, globex: str) -> str:
    parts = [f"dpsync: 1\npolicy: {LIMITS}\norganizations:\n"]
    for key, body in (("acme", acme), ("globex", globex)):
        parts.append(f"  {key}:\n    id: {key}\n" + indent(dedent(body).strip("\n"), "    ") + "\n")
    return "".join(parts)


BEFORE = text(
    "spaces: { news: { title: News }, more: { title: More } }\ncollections: {}", "spaces: {}\ncollections: {}"
)
AFTER = text(
    "spaces: { more: { title: More } }\ncollections: {}", "spaces: { news: { title: News } }\ncollections: {}"
)


def fill(lab: Lab, **acme: Any) -> Lab:
    both = world(members=PEOPLE, **acme)
    both["organizations"].append({"id": "globex", "title": "Globex", "members": PEOPLE})
    lab.server.reset(both)
    return lab


@pytest.fixture
def two(lab: Lab) -> Lab:
    return fill(lab, spaces=[{"id": "s1", "title": "News"}, {"id": "s2", "title": "More"}])


def session(project: Path, after: str, before: str | None = None) -> Session:
    def read(name: str, content: str) -> Any:
        (project / name).write_text(content, encoding="utf-8")
        return load(project / name, {}, REGISTRY)

    desired = read("dpsync.yaml", after)
    base = Base(name="HEAD", commit="0" * 40, desired=read("before.yaml", before)) if before else None
    if base is None or base.desired is None:
        return Session(desired, REGISTRY)
    labels = LabelCommits(applies=(LastApply([CommittedFiles(base.desired)]),))
    return Session(desired, REGISTRY, base=base, labels=labels)


def plan(lab: Lab, after: str, before: str | None = None) -> Plan:
    with WriteClient(lab.server.url, "token") as client:
        return agreed(session(lab.project, after, before), client).plan


def apply(lab: Lab, after: str, before: str | None = None) -> Report:
    run = session(lab.project, after, before)
    lab.server.app.requests.clear()
    with WriteClient(lab.server.url, "token") as client:
        report = run.apply(client, agreed(run, client))
    assert report.complete, report
    return report


def test_moving_entry_to_other_organization_transfers_space(two: Lab) -> None:
    first = plan(two, AFTER, BEFORE)
    (change,) = first.changes
    assert (change.address, change.action, change.id) == ("globex/spaces/news", "update", "s1")
    assert [(item.field, item.before, item.after) for item in change.differences] == [
        ("organization", "acme", "globex")
    ]

    apply(two, AFTER, BEFORE)
    assert two.writes == ["POST /spaces/s1/transfer"]
    assert apply(two, AFTER, BEFORE).writes == 0


@pytest.mark.parametrize(("base", "cause"), [("before", "edited here"), ("after", "changed outside")])
def test_space_transfer_has_edited_or_outside_label(two: Lab, base: str, cause: str) -> None:
    after = AFTER.replace("news: {", "news: { id: s1,")
    assert after != AFTER
    (change,) = plan(two, after, BEFORE if base == "before" else after).changes
    assert {item.field: item.cause for item in change.differences} == {"organization": cause}


def test_space_transfer_is_listed_as_exposure(two: Lab) -> None:
    """Otherwise, what is given to another organization is not listed."""
    [found] = plan(two, AFTER, BEFORE).exposures
    assert found.words == "transferred from acme to globex, so members of globex can see the object"


@pytest.mark.parametrize("line", ["id: s1", "title: Bulletin, previously: News"])
def test_id_or_previously_transfers_space_without_git_base(two: Lab, line: str) -> None:
    """Otherwise, what is pinned and lies in another organization cannot be transferred."""
    entry = line if "title" in line else f"{line}, title: Bulletin"
    after = text("spaces: { more: { title: More } }", f"spaces: {{ bulletin: {{ {entry} }} }}")
    apply(two, after)
    assert two.writes == ["POST /spaces/s1/transfer", "PATCH /spaces/s1"]


def test_space_without_git_base_is_recreated(two: Lab) -> None:
    found = {change.address: change.action for change in plan(two, AFTER).changes}
    assert found == {"acme/spaces/[News]": "delete", "globex/spaces/news": "create"}


def test_unknown_id_in_other_organization_fails(two: Lab) -> None:
    """Otherwise, what is pinned to nothing is made as something new."""
    with pytest.raises(DiagnosticError, match="there is no space"):
        plan(two, text("spaces: {}", "spaces: { x: { id: nowhere, title: X } }"))


def test_deleted_space_of_other_organization_stays_deleted(two: Lab) -> None:
    """A restore brings it back to where it was, under the eyes of other people.

    Otherwise, a space of another organization is brought back there, by a pin here.
    """
    by_hand(two.server, "DELETE", "/spaces/s1", token="token")
    with pytest.raises(DiagnosticError, match='no space with the id "s1"'):
        plan(two, text("spaces: {}", "spaces: { news: { id: s1, title: News } }"))
    own = "spaces: { news: { id: s1, title: News }, more: { title: More } }"
    (back,) = plan(two, text(own, "spaces: {}")).changes
    assert [step.verb for step in back.steps] == ["restore"]


def test_unreadable_organization_blocks_creating_space(two: Lab) -> None:
    """Otherwise, what may be in an organization that cannot be read is made a second time.

    Otherwise, an organization that cannot be read keeps all others from being planned.
    """
    after = text(
        "spaces: { more: { title: More } }", "spaces: { news: { title: Bulletin, previously: News } }"
    )
    tape = Tape(two.server.url, "token", refused={"/orgs/acme/spaces"})
    with ReadClient(two.server.url, "token", transport=tape) as client:
        found = agreed(session(two.project, after), client).plan
    assert "globex/spaces/news" in [item.address for item in found.blocked]
    assert found.changes == ()


def test_only_one_entry_receives_transferred_space(two: Lab) -> None:
    """One has its earlier name, the other its earlier key: the second one is another space, and is made.

    Otherwise, one space is given to two entries.
    """
    both = "spaces: { a: { title: A, previously: News }, news: { title: Bulletin } }"
    after = plan(two, text("spaces: { more: { title: More } }", both), BEFORE)
    assert {change.address: (change.action, change.id) for change in after.changes} == {
        "globex/spaces/a": ("update", "s1"),
        "globex/spaces/news": ("create", None),
    }


def test_space_bound_in_own_organization_is_not_transferred(two: Lab) -> None:
    """Otherwise, a space that is an entry where it lies is given away."""
    after = text(
        "spaces: { n: { title: News }, more: { title: More } }",
        "spaces: { b: { title: B, previously: News } }",
    )
    assert {change.address: change.action for change in plan(two, after).changes} == {
        "globex/spaces/b": "create"
    }


def test_collection_transfer_includes_its_spaces(lab: Lab) -> None:
    inside = [{"id": "s1", "title": "News", "parent": "c"}, {"id": "s2", "title": "More"}]
    fill(lab, collections=[{"id": "c", "title": "Product"}], spaces=inside)
    product = (
        "collections: { product: { title: Product } }\nspaces: { news: { title: News, collection: product }"
    )
    before = text(f"{product}, more: {{ title: More }} }}", "spaces: {}\ncollections: {}")
    after = text("spaces: { more: { title: More } }\ncollections: {}", f"{product} }}")

    told = {note.address: note.text for note in plan(lab, after, before).notes}
    assert (
        told["globex/spaces/news"]
        == "this object is inside globex/collections/product and is transferred, too"
    )
    apply(lab, after, before)

    assert lab.writes == ["POST /collections/c/transfer"]


def test_space_shown_in_site_is_not_transferred(lab: Lab) -> None:
    """Otherwise, a thing that stays in its organization is shown as given away."""
    shown = site({"type": "space", "id": "p", "space": "s1", "path": "news"})
    fill(lab, spaces=[{"id": "s1", "title": "News"}, {"id": "s2", "title": "More"}], sites=[shown])

    (refusal,) = plan(lab, AFTER, BEFORE).refusals

    assert (refusal.code, refusal.address) == ("shown", "globex/spaces/news")
    assert refusal.message.startswith("Docs shows globex/spaces/news")
    assert refusal.way_out.endswith(" and apply the removal. Move the entry after this apply")


@pytest.mark.parametrize("declared", [True, False])
def test_collection_of_shown_space_is_not_transferred(lab: Lab, declared: bool) -> None:
    """Also where nobody declares the space: the platform would refuse the collection, or tear the site.

    Otherwise, a space that a site shows is given away inside its collection.
    Otherwise, nobody asks which site shows what lies in a collection that is given away.
    """
    shown = site({"type": "space", "id": "p", "space": "s1", "path": "news"})
    inside = [{"id": "s1", "title": "News", "parent": "c"}]
    fill(lab, collections=[{"id": "c", "title": "Product"}], spaces=inside, sites=[shown])
    news = "news: { title: News, collection: product }" if declared else ""
    product = f"collections: {{ product: {{ title: Product }} }}\nspaces: {{ {news} }}"
    nothing = "spaces: {}\ncollections: {}"

    (refusal, *_) = plan(lab, text(nothing, product), text(product, nothing)).refusals

    assert (refusal.code, refusal.address) == ("shown", "globex/collections/product")


def test_collection_transfer_refused_for_remaining_space(lab: Lab) -> None:
    """Otherwise, what is to stay is given away with what it lies in."""
    fill(
        lab,
        collections=[{"id": "c", "title": "Product"}],
        spaces=[{"id": "s1", "title": "News", "parent": "c"}],
    )
    product = "collections: { product: { title: Product } }"
    before = text(f"{product}\nspaces: {{ news: {{ title: News }} }}", "spaces: {}\ncollections: {}")
    after = text("collections: {}\nspaces: { news: { title: News } }", f"{product}\nspaces: {{}}")
    (refusal,) = plan(lab, after, before).refusals
    assert (refusal.code, refusal.address) == ("goes-along", "globex/collections/product")


@pytest.mark.parametrize("after_it", [False, True])
def test_next_run_finishes_interrupted_transfer(two: Lab, after_it: bool) -> None:
    renamed = AFTER.replace("title: News", "title: Bulletin")
    run = session(two.project, renamed, BEFORE)
    for number in (0, 1):
        transport = Kill(
            HttpTransport(two.server.url, Token("token")), number, "after" if after_it else "before"
        )
        with WriteClient(two.server.url, "token", transport=transport) as client:
            planned = agreed(run, client)
            if len([step for change in planned.plan.changes for step in change.steps]) > number:
                with pytest.raises(Killed):
                    run.apply(client, planned)
    apply(two, renamed, BEFORE)
    assert apply(two, renamed, BEFORE).writes == 0


def test_interrupted_transfer_keeps_renamed_space(two: Lab) -> None:
    renamed = AFTER.replace("title: News", "title: Bulletin")
    assert renamed != AFTER
    by_hand(two.server, "POST", "/spaces/s1/transfer", {"organization": "globex"}, token="token")
    (change,) = plan(two, renamed, BEFORE).changes
    assert (change.address, change.action, change.id) == ("globex/spaces/news", "update", "s1")
    assert [(item.before, item.after) for item in change.differences] == [("News", "Bulletin")]


def test_permissions_are_recreated_after_transfer(two: Lab) -> None:
    entry = "spaces: { news: { title: News, permissions: { members: { bo@acme.example: edit } } } }"
    people = "members: { ada@acme.example: admin, bo@acme.example: create }"
    apply(two, text(f"{people}\n{entry[:-2]}, more: {{ title: More }} }}", "spaces: {}"))
    after = text("spaces: { more: { title: More } }", f"{people}\n{entry}")
    apply(two, after, BEFORE)
    assert two.writes == ["POST /spaces/s1/transfer", "POST /spaces/s1/permissions"]


@pytest.mark.parametrize("order", ["b, c, a", "c, b, a", "a, c, b"])
def test_transferred_collections_get_declared_order(lab: Lab, order: str) -> None:
    """Each comes last: what they are given in is that order, and only what was there is moved."""
    entries = {key: f"{key}: {{ title: {key.upper()}, parent: null }}" for key in "abc"}

    def held(*keys: str) -> str:
        return f"collections: {{ {', '.join(entries[key] for key in keys)} }}"

    fill(lab, collections=[{"id": key, "title": key.upper()} for key in "bc"])
    apply(lab, text(held("b", "c"), held("a") + "\ncollectionOrder: [a]"))
    apply(
        lab,
        text("collections: {}", f"{held('a', 'b', 'c')}\ncollectionOrder: [{order}]"),
        text(held("b", "c"), held("a")),
    )
    globex = next(one for one in lab.world()["organizations"] if one["id"] == "globex")
    live = sorted(globex["collections"], key=lambda item: item["position"])
    assert ", ".join(item["title"].lower() for item in live) == order
    assert sum("/transfer" not in write for write in lab.writes) == (order[-1] == "a")
