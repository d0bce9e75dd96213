"""What a reading finds, and what it does not conclude: a platform of plain answers."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from dpsync.client.client import ReadClient
from dpsync.client.errors import ForbiddenError, InterruptedRequestError, NotFoundError, RejectedError
from dpsync.client.observer import NullObserver
from dpsync.live.delete_evidence import count_candidate_pages
from dpsync.live.reader import read_snapshot
from dpsync.live.sources import ReadSource, SourceReader
from dpsync.model.address import Address
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.ids import IdsFile, RecordedLine
from dpsync.model.question import Candidate
from dpsync.model.snapshot import MissingObject, Snapshot
from dpsync.model.values import LiveId, Ref
from tests.planner.lab import REGISTRY
from tests.planner.stages import ACME, Case, Things

from .test_records import OTHER, declared

HERE = "https://here.example"
ORG = "/orgs/acme"
ORGANIZATION = {
    "object": "organization", "id": "acme", "title": "Acme", "type": "business", "defaultRole": "read",
    "defaultContent": None, "emailDomains": [], "inviteLinks": False, "sso": False, "ai": False,
    "hostname": None, "logo": None, "mergeRules": {"type": "none"},
}  # fmt: skip


class Platform:
    """A client that reads from plain answers: a list is paged, and what is nowhere is not there."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = {ORG: ORGANIZATION, f"{ORG}/translations": [], **answers}
        self.asked: list[str] = []
        self.requests, self.url, self.platform, self.observer = 0, HERE, HERE, NullObserver()

    def get(self, path: str, _params: object = None) -> Any:
        self.asked.append(path)
        found = self.answers.get(path)
        if isinstance(found, Exception):
            raise found
        if found is None:
            raise NotFoundError("GET", path, 404, "")
        return found

    def pages(self, path: str, _params: object = None) -> Any:
        return self.get(path)


def refused(path: str) -> ForbiddenError:
    return ForbiddenError("GET", path, 403, "")


def space(id: str, **more: Any) -> dict[str, Any]:
    return {
        "object": "space", "id": id, "title": id.title(), "organization": "acme", "emoji": None,
        "language": None, "editMode": "locked", "defaultLevel": "inherit", "mergeRules": {"type": "none"},
        "parent": None, "deletedAt": None, **more,
    }  # fmt: skip


def translation(id: str, **more: Any) -> dict[str, Any]:
    return {
        "object": "translation", "id": id, "source": {"space": "guides", "language": "en"}, "language": "fr",
        "instructions": None, "status": "pending", "result": {}, **more,
    }  # fmt: skip


def read(
    things: Things, answers: Mapping[str, Any], *lines: str, pins: Mapping[Address, str] | None = None
) -> tuple[Snapshot, Platform]:
    """Read one organization; return the snapshot and the platform. A line is `acme/spaces/a=x`."""
    desired = Case(things).sides().desired
    pinned = {at: replace(desired.entries[at], pin=id) for at, id in {ACME: "acme", **(pins or {})}.items()}
    resources, scopes = {**desired.entries, **pinned}, dict(sorted(desired.scopes.items()))
    desired = replace(desired, entries=resources, scopes=scopes)
    found = (RecordedLine(Address.parse(at), id) for at, _, id in (line.partition("=") for line in lines))
    ids = IdsFile({HERE: {"acme": {line.address: line for line in found}}})
    platform = Platform(answers)
    return read_snapshot(cast(ReadClient, platform), REGISTRY, desired, 1, ids=ids), platform


GUIDE = Address.parse("acme/spaces/guides")
GUIDES: Things = {"space": {"guides": {"title": "Guides"}}}
SPACES = [space("guides")]


# What is recorded and is not live.


def test_missing_recorded_space_is_reported_as_restorable() -> None:
    """Otherwise, what a line names and is gone is made anew, empty, beside what may come back."""
    snapshot, _ = read(
        {"space": {"a": {"title": "A"}}},
        {f"{ORG}/spaces": [], "/spaces/gone": space("gone", deletedAt="2026-01-01T00:00:00Z")},
        "acme/spaces/a=gone",
    )
    assert snapshot.missing_objects == {
        Address.parse("acme/spaces/a"): MissingObject("gone", restorable=True)
    }


def test_pinned_id_finds_deleted_space() -> None:
    deleted = {"/spaces/gone": space("gone", deletedAt="2026-01-01T00:00:00Z"), f"{ORG}/spaces": SPACES}
    snapshot, _ = read(GUIDES, deleted, pins={GUIDE: "gone"})
    assert snapshot.objects["space", "gone"].deleted


def test_missing_object_unknown_to_platform_is_not_restorable() -> None:
    """Otherwise, what is gone for good is told as one that its pin brings back.

    Otherwise, a pin on what is gone for good ends the plan without a word about the pin.
    """
    snapshot, _ = read({"space": {"a": {"title": "A"}}}, {f"{ORG}/spaces": []}, "acme/spaces/a=gone")
    assert snapshot.missing_objects == {
        Address.parse("acme/spaces/a"): MissingObject("gone", restorable=False)
    }


def test_outdated_ids_line_of_matched_entry_is_ignored() -> None:
    """Its line is out of date, and it was recognised by its name.

    Otherwise, what was recognised by its name is asked for once more, as if it were gone.
    """
    snapshot, platform = read(GUIDES, {f"{ORG}/spaces": SPACES}, "acme/spaces/guides=gone")
    assert snapshot.matches[Address.parse("acme/spaces/guides")].id == "guides"
    assert "/spaces/gone" not in platform.asked


def test_missing_team_is_not_looked_up_for_restore() -> None:
    """Otherwise, what cannot be brought back is asked for at an address that there is not."""
    team = {"object": "team", "id": "t", "title": "Other"}
    _, platform = read({"team": {"a": {"title": "A"}}}, {f"{ORG}/teams": [team]}, "acme/teams/a=gone")
    assert f"{ORG}/teams/gone" not in platform.asked


def test_ids_line_of_other_organization_is_not_missing() -> None:
    """The entry stands in another organization now: that is a transfer, or something new.

    Otherwise, what only a line of another organization names counts as gone here.
    """
    there = {**ORGANIZATION, "id": "other"}
    lists = {f"/orgs/{name}/{what}": [] for name in ("acme", "other") for what in ("spaces", "translations")}
    desired = declared({}, {"space": {"a": {"title": "A"}}})
    pins = {at: replace(desired.entries[at], pin=str(at)) for at in (ACME, OTHER)}
    scope = replace(next(iter(Case(GUIDES).sides().desired.scopes.values())), parent=OTHER)
    place = OTHER.child("spaces")
    desired = replace(
        desired, entries={**desired.entries, **pins}, scopes={place: replace(scope, address=place)}
    )
    line = RecordedLine(Address.parse("acme/spaces/a"), "x")
    ids = IdsFile({HERE: {"acme": {line.address: line}}})
    platform = cast(ReadClient, Platform({"/orgs/other": there, **lists}))
    assert read_snapshot(platform, REGISTRY, desired, 1, ids=ids).missing_objects == {}


@pytest.mark.parametrize(
    ("answer", "user"), [({"id": "ada"}, "ada"), (ForbiddenError("GET", "/", 403, ""), None)]
)
def test_forbidden_user_request_leaves_user_unknown(answer: Any, user: str | None) -> None:
    """Otherwise, a token that may not ask who it is cannot plan anything about members."""
    snapshot, _ = read({"member": {}}, {f"{ORG}/members": [], "/user": answer})
    assert snapshot.token_user_id == user


@pytest.mark.parametrize("refusable", [False, True])
def test_forbidden_list_is_tolerated_only_if_marked_refusable(refusable: bool) -> None:
    """Otherwise, where a list that a delete rests on may not be read it counts as looked at."""
    path = f"{ORG}/spaces"
    sources = SourceReader(cast(ReadClient, Platform({path: refused(path)})), REGISTRY, 1)
    source = ReadSource(path, "space", ("organization", "acme"))
    if refusable:
        sources.fetch([source], may_be_forbidden=True)
    else:
        with pytest.raises(ForbiddenError):
            sources.fetch([source])
    assert set(sources.forbidden) == ({path} if refusable else set())
    assert path not in sources.objects


def test_interrupt_stops_counting_pages_of_candidates() -> None:
    """Otherwise, a signal while pages are counted is passed over."""
    platform = Platform({"/spaces/a/content/pages": InterruptedRequestError("GET", "/x")})
    asked = [("space", Candidate(address="acme/spaces/a", id="a", title="A"))]
    with pytest.raises(InterruptedRequestError):
        count_candidate_pages(cast(ReadClient, platform), REGISTRY, 1, asked)


def test_reader_counts_pages_of_at_most_twenty_candidates() -> None:
    platform = Platform({f"/spaces/s{number}/content/pages": {"pages": [{}]} for number in range(30)})
    asked = [
        ("space", Candidate(address=f"acme/spaces/s{number}", id=f"s{number}", title="S"))
        for number in range(30)
    ]
    numbers = count_candidate_pages(cast(ReadClient, platform), REGISTRY, 1, asked)
    assert numbers == {("space", f"s{number}"): 1 for number in range(20)}


@pytest.mark.parametrize(
    ("parallelism", "items", "alone"), [(1, 1, True), (1, 2, True), (2, 1, True), (2, 2, False)]
)
def test_reader_uses_threads_only_for_several_parallel_reads(
    parallelism: int, items: int, alone: bool
) -> None:
    sources = SourceReader(cast(ReadClient, Platform({})), REGISTRY, parallelism)
    threads = sources.map_parallel(lambda _: threading.get_ident(), range(items))
    assert (set(threads) == {threading.get_ident()}) is alone


# What the platform has made for something else.

WANTED: Things = {
    **GUIDES, "translation": {"fr": {"source": {"space": Ref(GUIDE), "language": "en"}, "language": "fr"}},
}  # fmt: skip
DONE = {"status": "completed", "result": {"space": "out"}}


NEW_SITE: Things = {
    "site": {"new": {"title": "New"}}, "section": {"new/first": {"title": "First", "path": "first"}},
}  # fmt: skip
"""A site that is not live yet: its navigation is a place without a parent."""


def unsettled(things: Things, translations: Any) -> dict[str, str]:
    spaces = [*SPACES, space("out")]
    answers = {f"{ORG}/spaces": spaces, f"{ORG}/translations": translations, f"{ORG}/sites": []}
    snapshot, _ = read(things, answers)
    return {str(address): one.reason for address, one in snapshot.prune_unsafe.items()}


def test_translation_output_is_not_an_unmanaged_space() -> None:
    """Otherwise, the space of a translation counts as undeclared, and is deleted."""
    spaces, translations = [*SPACES, space("out")], [translation("t", **DONE)]
    for things in (GUIDES, WANTED):
        snapshot, _ = read(things, {f"{ORG}/spaces": spaces, f"{ORG}/translations": translations})
        assert snapshot.output_identities == {("space", "out")}
        assert snapshot.scopes[Address.parse("acme/spaces")] == (("space", "guides"),)


@pytest.mark.parametrize(
    ("more", "silent"),
    [({}, False), (DONE, False), ({"status": "completed"}, True), ({"status": "running"}, False)],
)
def test_translation_without_output_id_makes_space_pruning_unsafe(more: dict[str, Any], silent: bool) -> None:
    """Otherwise, the space of a translation that does not name it is deleted as undeclared.

    Otherwise, a translation that has not run yet keeps every space from being pruned.
    """
    for things in (GUIDES, WANTED, {**NEW_SITE, **GUIDES}):
        found = unsettled(things, [translation("t", **more)])
        assert found.keys() == ({"acme/spaces"} if silent else set())
        assert (
            not silent
            or "the response for the translation t does not contain the id of the object"
            in found["acme/spaces"]
        )


def test_unreadable_translations_make_space_pruning_unsafe() -> None:
    """Otherwise, spaces that unreadable translations have created are deleted as undeclared."""
    found = unsettled(GUIDES, refused(f"{ORG}/translations"))
    assert "dpsync cannot tell which objects the translations created" in found["acme/spaces"]


# What is deleted.


@pytest.mark.parametrize(
    ("more", "there"),
    [
        ({"deletedAt": "2026-01-01T00:00:00Z"}, True),
        ({"deletedAt": None}, False),
        ({"deletedAt": "2026-01-01T00:00:00Z", "organization": "globex"}, False),
    ],
)
def test_restorable_object_must_be_deleted_in_same_organization(more: dict[str, Any], there: bool) -> None:
    """Otherwise, a pin on what is live in no list brings back what was never deleted."""
    platform = Platform({"/spaces/x": space("x", **more)})
    sources = SourceReader(cast(ReadClient, platform), REGISTRY, 1)
    owner = ("organization", "acme")
    found = sources.read_deleted(REGISTRY["space"], "x", owner, [owner], f"{ORG}/spaces")
    assert (found is not None) is there
    assert found is None or found.deleted


def test_listed_object_with_deletion_date_is_not_live() -> None:
    """Otherwise, what was deleted and is still in its list counts as live."""
    snapshot, _ = read(GUIDES, {f"{ORG}/spaces": [*SPACES, space("old", deletedAt="2026-01-01T00:00:00Z")]})
    assert snapshot.scopes[Address.parse("acme/spaces")] == (("space", "guides"),)


# Organizations.


def test_read_fails_for_missing_organization() -> None:
    """Otherwise, a question about who is who is passed over, and the plan guesses.

    Otherwise, an organization that the token does not see ends the plan without a word about the token.
    Otherwise, an organization that is not there ends in a mistake of dpsync's.
    """
    with pytest.raises(DiagnosticError, match=r"the organization .* does not exist"):
        read({}, {ORG: NotFoundError("GET", ORG, 404, "")})


def test_read_fails_if_organization_is_forbidden() -> None:
    with pytest.raises(ForbiddenError):
        read({}, {ORG: refused(ORG)})


# Parts, and how much is at stake.


def test_nested_pages_of_candidates_are_counted() -> None:
    """Otherwise, a question whose pages cannot be counted is never asked, and the plan fails."""
    pages = {"pages": [{"pages": [{"pages": []}, {}]}, {}]}
    platform = Platform(
        {"/spaces/a/content/pages": pages, "/spaces/b/content/pages": RejectedError("GET", "/x", 400, "")}
    )
    asked = [("space", Candidate(address="acme/spaces/a", id=id, title=id)) for id in ("a", "b", "c")]
    asked.append(("team", Candidate(address="acme/teams/t", id="t", title="T")))
    assert count_candidate_pages(cast(ReadClient, platform), REGISTRY, 1, asked) == {("space", "a"): 4}


def test_snapshot_stores_translation_output_and_status() -> None:
    snapshot, _ = read(WANTED, {f"{ORG}/spaces": [*SPACES, space("out")],
                                f"{ORG}/translations": [translation("t", **DONE)]})  # fmt: skip
    item = snapshot.objects["translation", "t"]
    assert item.fields["result"] == LiveId("out")
    assert snapshot.outputs == {Address.parse("acme/translations/fr"): "out"}
    assert SimpleNamespace(**item.fields).status == "completed"
