"""The numbers, tables and code of docs/companion.md are those of the companion."""

from __future__ import annotations

import json
import re
from typing import Any

import click
import httpx
import pytest
from pydantic import TypeAdapter

from dpsync.cli.commands import serve
from dpsync.server import world
from dpsync.server.http.request_parsing import MAX_BODY_BYTES
from dpsync.server.models.base import Paged
from dpsync.server.models.integrations import EventPayload
from dpsync.server.operations import OPERATIONS, PUBLISHED_ONLY_OPERATIONS
from dpsync.server.process.threaded_server import ThreadedServer
from tests.no_tls import NO_TLS
from tests.patience import PATIENCE

from .examples import TOKEN
from .markdown import DOCS, Section, blocks, sections

PAGE = DOCS / "companion.md"
TEXT = PAGE.read_text(encoding="utf-8")
SECTIONS = {section.title: section for section in sections(PAGE)}
WORLD = world.load_builtin_world()


def rows(section: Section) -> dict[str, list[str]]:
    """Return the table rows of a section, as the other cells by the first cell."""
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in section.words if line.startswith("| ")]
    return {cells[0].strip().strip("`"): [cell.strip() for cell in cells[1:]] for cells in lines}


def test_local_server_page_lists_every_serve_option() -> None:
    shown = {cell.split()[0] for cell in rows(SECTIONS["Options"]) if cell.startswith("--")}
    options = {
        option
        for one in serve.command.params
        for option in one.opts
        if isinstance(one, click.Option) and option.startswith("--")
    }
    assert shown == options


@pytest.mark.parametrize("organization", WORLD["organizations"], ids=lambda one: one["id"])
def test_local_server_page_counts_test_data_objects(organization: dict[str, Any]) -> None:
    parts = ("members", "teams", "collections", "spaces", "sites")
    shown = rows(SECTIONS["Test data"])[organization["id"]]
    assert shown == [str(len(organization.get(part, []))) for part in parts]


def test_local_server_page_lists_test_tokens() -> None:
    table = rows(SECTIONS["Tokens"])
    shown = {name: cells for name, cells in table.items() if name.endswith("-token")}
    assert {name: cells[0].strip("`") for name, cells in shown.items()} == WORLD["tokens"]
    for name, (_, role) in shown.items():
        admin = {
            organization["id"]
            for organization in WORLD["organizations"]
            for member in organization["members"]
            if member["user"] == WORLD["tokens"][name] and member["role"] == "admin"
        }
        assert set(re.findall(r"`(\w+)`", role)) == admin


def test_local_server_page_counts_api_operations() -> None:
    reference = sum(row.profile == "reference" for row in OPERATIONS)
    words = re.sub(r"\s+", " ", TEXT)
    added = len(OPERATIONS) - reference
    assert f"The {reference} operations that GitBook's older API reference documents" in words
    assert f"The operations of `reference`, and {added} more operations" in words
    assert (
        f"with {len(PUBLISHED_ONLY_OPERATIONS)} operations that the other API versions do not have" in words
    )


def test_local_server_page_states_body_and_page_limits() -> None:
    words = re.sub(r"\s+", " ", TEXT)
    assert f"longer than {MAX_BODY_BYTES // 1024**2} MiB (413)" in words
    limit = Paged.model_fields["limit"]
    most = next(bound.le for bound in limit.metadata if hasattr(bound, "le"))
    assert f"By default, a page of a list has up to {limit.default} items." in words
    assert f"The parameter `limit` changes this number (at most {most})." in words


def test_local_server_validates_requests_in_documented_order(platform: ThreadedServer) -> None:
    """Each request has everything wrong that is checked after what it is answered with."""
    served = "/v1/orgs/nowhere/teams?limit=x"
    text, json = ({"Content-Type": kind} for kind in ("text/plain", "application/json"))
    with httpx.Client(base_url=platform.url, **NO_TLS, timeout=PATIENCE) as client:

        def status(method: str, path: str, headers: dict[str, str], content: bytes = b"x") -> int:
            return client.request(method, path, content=content, headers=headers).status_code

        assert status("PUT", "/v1/nowhere", text) == 404
        assert status("PATCH", served, text) == 405
        assert status("PUT", served, text) == 401
        assert status("PUT", served, text | TOKEN, bytes(MAX_BODY_BYTES + 1)) == 413
        assert status("PUT", served, TOKEN, b"") == 400
        assert status("PUT", served, text | TOKEN) == 415
        assert status("PUT", served, json | TOKEN) == 400
        assert status("GET", served, TOKEN, b"") == 400
        assert status("GET", served.partition("?")[0], TOKEN, b"") == 404


def shown(beginning: str) -> Any:
    """Return the JSON of the only block that is not run and begins with this text."""
    (block,) = (block for block in blocks(PAGE) if block.not_run and block.text.startswith(beginning))
    return json.loads(block.text)


def test_local_server_page_change_example_is_valid() -> None:
    (row,) = (row for row in OPERATIONS if row.id == "updateChangeRequestContent")
    assert row.body_model is not None
    assert len(row.body_model.model_validate(shown('{"changes"')).changes) == 5


def test_local_server_page_event_example_is_valid() -> None:
    event = shown('{"eventId"')
    assert (
        TypeAdapter(EventPayload).dump_python(
            TypeAdapter(EventPayload).validate_python(event), exclude_unset=True
        )
        == event
    )
