"""What a platform says to a token, and what is not concluded from an odd answer: plain values."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import formatdate
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dpsync.client.client import ReadClient
from dpsync.client.errors import ServerFaultError
from dpsync.client.transport import Request, Response, Transport
from dpsync.live.access import (
    HeaderReader,
    KindAccess,
    access_by_kind,
    find_organization,
    organization,
    token_user,
)
from tests.planner.lab import REGISTRY

from .test_reader import ORG, ORGANIZATION, Platform, refused


def client(answers: Mapping[str, Any]) -> ReadClient:
    return cast(ReadClient, Platform(answers))


def found(answers: Mapping[str, Any], **more: Any) -> dict[str, KindAccess]:
    """By kind, and by the kind around it where it is in something else."""
    each = access_by_kind(client(answers), REGISTRY, {**ORGANIZATION, **more})
    return {f"{one.parent_kind.name if one.parent_kind else ''}/{one.kind.name}": one for one in each}


@pytest.mark.parametrize("answer", [None, [], "ada", 7])
def test_doctor_ignores_malformed_user_or_organization(answer: Any) -> None:
    """Otherwise, an answer of another shape ends `doctor`."""
    odd = cast(ReadClient, SimpleNamespace(get=lambda _path: answer))
    assert token_user(odd) == organization(odd, REGISTRY, "acme") == {}


def test_organization_is_found_by_exact_hostname() -> None:
    """Otherwise, what a token may do is told of another organization."""
    root = REGISTRY.root
    assert root.search_list is not None
    items = [{"id": "1", "hostname": "other"}, {"id": "2", "hostname": "acme"}]
    platform = client({root.search_list.path: items})
    assert find_organization(platform, REGISTRY, "acme") == items[1]
    assert find_organization(platform, REGISTRY, "globex") is None


def test_access_check_distinguishes_forbidden_from_failed_lists() -> None:
    """Otherwise, what a token may not read is told as unknown.

    Otherwise, one list that fails ends `doctor`.
    """
    known = found({f"{ORG}/teams": refused(ORG), f"{ORG}/spaces": ServerFaultError("GET", ORG, 500, "")})
    assert known["/team"].can_read is False
    assert known["/space"].can_read is None
    assert known["/collection"].can_read is None, "a 404"


@pytest.mark.parametrize("answer", [{"items": []}, {"items": None}, {}, [], None])
def test_access_check_skips_children_of_empty_lists(answer: Any) -> None:
    """Otherwise, what is in sites is tried in one that there is not, and told as unknown.

    Otherwise, a list with nothing in it ends `doctor`.
    """
    known = found({f"{ORG}/teams": answer, f"{ORG}/sites": {"items": [{"id": "docs"}]}})
    assert "team/team-member" not in known
    assert any(name.startswith("site/") for name in known)


def test_access_check_reads_each_tree_once() -> None:
    """Otherwise, a navigation is read once for each kind of its nodes."""
    platform = Platform({f"{ORG}/sites": {"items": [{"id": "docs"}]}})
    list(access_by_kind(cast(ReadClient, platform), REGISTRY, ORGANIZATION))
    assert len(platform.asked) == len(set(platform.asked))


@pytest.mark.parametrize("flags", [None, [], {}, {"admin": "yes"}])
def test_malformed_organization_permissions_mean_unknown_write_access(flags: Any) -> None:
    """Otherwise, an answer of another shape ends `doctor`.

    Otherwise, what the organization says in another form is told as a permission.
    """
    if isinstance(flags, dict) and flags:
        flags = dict.fromkeys(("admin", "createContent", "installIntegration"), "yes")
    assert {one.can_write for one in found({}, permissions=flags).values()} == {None}


class Answering(Transport):
    def __init__(self, headers: Mapping[str, str]) -> None:
        self.headers = headers

    def send(self, _request: Request) -> Response:
        return Response(200, self.headers, b"")


def heard(headers: Mapping[str, str]) -> HeaderReader:
    reader = HeaderReader(Answering(headers))
    reader.send(Request("GET", "/user"))
    return reader


@pytest.mark.parametrize("seconds", [-36_000, 0, 36_000])
def test_clock_skew_is_read_from_date_header(seconds: float) -> None:
    ahead = heard({"date": formatdate(time.time() + seconds, usegmt=True)}).clock_offset
    assert ahead == pytest.approx(seconds, abs=600)


@pytest.mark.parametrize("date", ["", "yesterday", "Mon, 99 Nov 2026 00:00:00 GMT"])
def test_clock_skew_is_unknown_without_valid_date(date: str) -> None:
    """Otherwise, an answer without a date ends `doctor`."""
    assert heard({"date": date}).clock_offset is None


@pytest.mark.parametrize(
    ("left", "most", "said"),
    [("7", "60", (7, 60)), ("", "60", None), ("7", "many", None), ("-7", "60", None)],
)
def test_rate_limit_needs_two_numeric_headers(left: str, most: str, said: tuple[int, int] | None) -> None:
    """Otherwise, a header that is no number ends `doctor`."""
    assert heard({"x-ratelimit-remaining": left, "x-ratelimit-limit": most}).rate_limit() == said
