"""What no entry names is counted and can be listed; what appears in a watched place can be made drift."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpsync.kinds.registry import build_registry
from dpsync.kinds.watch_patterns import access_patterns
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.test_drift import change, drift

Project = Callable[..., Path]
TEXT = """\
dpsync: 1
{policy}organizations:
  acme:
    id: acme
    teams:
      writers: {{ title: Technical writers }}
    sites:
      help: {{ title: Help center, basename: help, visibility: public }}
"""
WATCH = "policy: { watch: [sites/*/redirects, sites/*/shareLinks] }\n"


def text(policy: str = "") -> str:
    return TEXT.format(policy=policy)


def paths(server: ThreadedServer) -> set[str]:
    """Return the paths that were read since the list of requests was cleared."""
    return {path for method, path, *_ in server.app.requests if method == "GET"}


def everything(run: Run, directory: Path, code: int) -> dict[str, Any]:
    ended = run("drift", "-C", str(directory), "--everything", "--format", "json")
    assert ended.code == code, ended.out + ended.err
    found: dict[str, Any] = json.loads(ended.out)["drift"]
    return found


@pytest.mark.usefixtures("platform")
def test_verbose_plan_counts_unwatched_fields_and_lists(run: Run, project: Project) -> None:
    directory = project(text())
    (line,) = re.findall("^not compared: .*", run("plan", "-v", "-C", str(directory)).out, re.MULTILINE)
    assert line in run("drift", "-v", "-C", str(directory)).out.splitlines()
    counts = json.loads(run("plan", "-C", str(directory), "--format", "json").out)["plan"]["unwatched"]
    assert line == (
        f"not compared: {counts['places']} lists and {counts['fields']} fields that are not in your files. "
        f"To list them: dpsync drift -C {directory} --unwatched"
    )
    # The organization and the site leave fields out; a team has no other field.
    assert counts["things"] == 2


@pytest.mark.usefixtures("platform")
def test_unwatched_count_excludes_declared_and_ignored_fields(run: Run, project: Project) -> None:
    def counted(told: str) -> tuple[int, int]:
        made = run("plan", "-C", str(project(told)), "--format", "json")
        counts = json.loads(made.out)["plan"]["unwatched"]
        return counts["places"], counts["fields"]

    places, fields = counted(text())
    assert counted(text().replace("visibility: public", "visibility: public, published: true")) == (
        places, fields - 1,
    )  # fmt: skip
    assert counted(text('policy: { ignore: ["sites/*#proxy"] }\n')) == (places, fields - 1)
    assert counted(text(WATCH)) == (places - 2, fields)
    site = "basename: help, visibility: public"
    assert counted(text().replace(site, f"{site}, visitorAuth: {{ backend: custom }}")) == (
        places - 1, fields + 2,
    )  # fmt: skip


@pytest.mark.usefixtures("platform")
def test_unwatched_counts_change_no_request_or_digest(run: Run, project: Project) -> None:
    plans = [
        json.loads(run("plan", "-C", str(project(told)), "--format", "json").out)
        for told in (text(), text(WATCH))
    ]
    assert plans[0]["plan"]["unwatched"] != plans[1]["plan"]["unwatched"]
    assert plans[0]["digest"] == plans[1]["digest"]
    assert plans[0]["plan"]["requests"] == plans[1]["plan"]["requests"]


@pytest.mark.usefixtures("platform")
def test_unwatched_flag_lists_fields_with_suggested_lines(run: Run, project: Project) -> None:
    directory = project(text())
    plain = run("drift", "-C", str(directory), "--format", "json")
    assert json.loads(plain.out)["drift"]["unwatched_lines"] == []
    ended = run("drift", "-C", str(directory), "--unwatched")
    assert ended.code == 0
    listed = ended.out[ended.out.index("Fields and lists that dpsync does not compare:") :]
    assert "\nacme/sites/help#type: type: basic  dpsync.yaml:8\n" in listed
    assert "\nacme/sites/help#published: published: true  dpsync.yaml:8\n" in listed
    assert "\nacme/sites/help/redirects: policy: { watch: [acme/sites/help/redirects] }\n" in listed
    document = json.loads(run("drift", "-C", str(directory), "--unwatched", "--format", "json").out)
    counts, lines = document["drift"]["unwatched"], document["drift"]["unwatched_lines"]
    assert sum(one["field"] is not None for one in lines) == counts["fields"]
    assert sum(one["field"] is None for one in lines) == counts["places"]
    assert len({one["address"] for one in lines if one["field"]}) == counts["things"]


@pytest.mark.usefixtures("platform")
def test_suggested_field_lines_produce_empty_plan(run: Run, project: Project) -> None:
    directory = project(text())
    document = json.loads(run("drift", "-C", str(directory), "--unwatched", "--format", "json").out)
    lines = document["drift"]["unwatched_lines"]
    fields = {name: [] for name in ("acme", "acme/sites/help")}
    for one in lines:
        if one["field"] is not None and one["line"] is not None:
            fields[one["address"]].append(one["line"])
    told = text().replace(
        "    id: acme\n", "".join(f"    {line}\n" for line in ["id: acme", *fields["acme"]])
    )
    site = "basename: help, visibility: public"
    project(told.replace(site, ", ".join([site, *fields["acme/sites/help"]])))
    planned = run("plan", "-C", str(directory), "--format", "json")
    assert planned.code == 0, planned.out + planned.err
    assert json.loads(planned.out)["plan"]["changes"] == []
    assert json.loads(planned.out)["plan"]["unwatched"]["fields"] == 0


def test_undeclared_object_in_watched_list_is_drift(
    platform: ThreadedServer, run: Run, project: Project
) -> None:
    directory = project(text(WATCH))
    assert everything(run, directory, 0)["found"] == []
    change(platform, "/orgs/acme/sites/help/share-links", "POST", name="for everybody")
    address = "acme/sites/help/shareLinks/[for everybody]"
    told = drift(run, directory, 0)["drift"]
    assert told["found"] == []
    assert {"place": "acme/sites/help/shareLinks", "addresses": [address]} in told["kept"]
    found = everything(run, directory, 2)
    assert [(one["address"], one["what"], one["kept"]) for one in found["found"]] == [
        (address, "undeclared", True)
    ]
    assert address not in [name for kept in found["kept"] for name in kept["addresses"]]
    # Somewhere else nobody asked for it: a team that no entry names is kept, and no drift.
    assert "acme/teams" in {kept["place"] for kept in found["kept"]}


def test_drift_ignores_forgotten_object_in_watched_list(
    platform: ThreadedServer, run: Run, project: Project
) -> None:
    forget = WATCH.replace(" }", ', forget: ["sites/help/shareLinks/[known]"] }')
    directory = project(text(forget))
    change(platform, "/orgs/acme/sites/help/share-links", "POST", name="known")
    assert everything(run, directory, 0)["found"] == []


def test_watched_list_may_be_declared_empty(platform: ThreadedServer, run: Run, project: Project) -> None:
    empty = "basename: help, visibility: public, redirects: {}"
    told = text(WATCH).replace("basename: help, visibility: public", empty)
    directory = project(told)
    assert run("validate", "-C", str(directory)).code == 0
    assert everything(run, directory, 0)["found"] == []
    external = {"kind": "external", "url": "https://evil.example/"}
    change(platform, "/orgs/acme/sites/help/redirects", "POST", source="/old", destination=external)
    assert everything(run, directory, 2)["found"][0]["address"] == "acme/sites/help/redirects/[/old]"
    assert "redirects: {}" in (project(told.replace(WATCH, "")) / "dpsync.yaml").read_text()
    refused = run("validate", "-C", str(directory))
    assert refused.code == 5
    assert 'add redirects to "prune" or "watch" under "policy"' in refused.out + refused.err


def test_drift_reads_watched_lists_but_plan_does_not(
    platform: ThreadedServer, run: Run, project: Project
) -> None:
    policy = "policy: { watch: [sites/*/shareLinks], prune: [sites/*/shareLinks] }\n"
    directory = project(text(policy))
    change(platform, "/orgs/acme/sites/help/share-links", "POST", name="kept")
    platform.run_in_server(platform.app.requests.clear)
    assert "No changes." in run("plan", "-C", str(directory)).out
    assert not any(path.endswith("/share-links") for path in paths(platform))
    found = drift(run, directory, 0)["drift"]
    assert any(path.endswith("/share-links") for path in paths(platform))
    assert found["found"] == []
    kept = {one["place"]: one["addresses"] for one in found["kept"]}
    assert kept["acme/sites/help/shareLinks"] == ["acme/sites/help/shareLinks/[kept]"]


@pytest.mark.usefixtures("platform")
def test_drift_reports_unreadable_watched_list(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = project(text("policy: { watch: [saml] }\n"))
    assert everything(run, directory, 2)["unread"] == []
    monkeypatch.setenv("DPSYNC_TOKEN", "lin-token")
    assert "acme/saml" in everything(run, directory, 0)["unread"]
    assert json.loads(run("plan", "-C", str(directory), "--format", "json").out)["plan"]["blocked"] == []


@pytest.mark.parametrize(
    ("pattern", "code", "said"),
    [
        ("sites/*/redirect", 5, 'did you mean "sites/*/redirects"?'),
        ("sites/*#title", 5, 'dpsync does not know the default value of "title"'),
        ("glossary", 0, None),
        (
            "spaces/*/permissions/teams",
            0,
            'policy.watch "spaces/*/permissions/teams": this pattern matches no entry and no live object',
        ),
    ],
)
@pytest.mark.usefixtures("platform")
def test_plan_reports_invalid_or_unmatched_watch_pattern(
    run: Run, project: Project, pattern: str, code: int, said: str | None
) -> None:
    ended = run("plan", "-C", str(project(text(f'policy: {{ watch: ["{pattern}"] }}\n'))))
    assert ended.code == code
    assert (said or "No changes.") in ended.out + ended.err
    if said is None:
        assert "policy.watch" not in ended.out


def test_watch_access_equals_expanded_access_patterns(
    platform: ThreadedServer, run: Run, project: Project
) -> None:
    change(platform, "/orgs/acme", inviteLinks=False)
    change(platform, "/orgs/acme/sites/help/share-links", "POST", name="for everybody")
    found = []
    for watch in ("access", json.dumps(access_patterns(build_registry().with_all_kinds))):
        directory = project(text(f"policy: {{ watch: {watch} }}\n"))
        found.append(everything(run, directory, 2)["found"])
    assert found[0] == found[1]
    assert {"acme", "acme/sites/help/shareLinks/[for everybody]", "acme/saml/[Okta]"} <= {
        one["address"] for one in found[0]
    }


@pytest.mark.usefixtures("platform")
def test_watch_access_without_match_prints_no_warning(run: Run, project: Project) -> None:
    ended = run("plan", "-C", str(project(text("policy: { watch: access }\n"))))
    assert ended.code == 0
    assert "policy.watch" not in ended.out + ended.err


def test_imported_project_watches_all_access_lists(
    platform: ThreadedServer, run: Run, tmp_path: Path
) -> None:
    target = tmp_path / "docs"
    assert run("import", "-C", str(target), "--organization", "acme").code == 0
    assert everything(run, target, 0)["found"] == []
    change(platform, "/orgs/acme/sites/help/share-links", "POST", name="for everybody")
    change(platform, "/spaces/archive/permissions", "POST", users=["kim"], role="admin")
    change(platform, "/orgs/acme/teams/legacy/members/kim", "PUT", role="owner")
    found = {one["address"] for one in everything(run, target, 2)["found"]}
    assert found == {
        "acme/sites/help/shareLinks/[for everybody]",
        "acme/spaces/archive/permissions/members/[kim@acme.example]",
        "acme/teams/legacy/members/[kim@acme.example]",
    }
