"""`--select` and `--exclude`: only that part is planned and applied, with what it needs, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.certificates import OKTA
from tests.cli.conftest import Run
from tests.cli.test_drift import change, committed
from tests.cli.test_plan_and_apply import writes
from tests.soak import slice_of

Project = Callable[..., Path]
GONE = "removed: ['teams/[Legacy]', 'teams/[Reviewers]', 'teams/[Sales]']"
HEAD = "dpsync: 1\n{policy}organizations:\n  acme:\n    id: acme\n"
BELOW = """\
    title: Acme Inc
    teams:
      writers: { title: Writers, id: writers }
      support: { title: Support, new: true, members: { ada@acme.example: owner } }
    collections:
      manuals: { title: Manuals }
    spaces:
      handbook: { title: Staff manual, new: true, collection: manuals }
    saml:
      okta:
        label: Okta
        entityID: https://okta.example/entity
        ssoURL: https://okta.example/sso
        certificate: CERTIFICATE
        defaultTeam: support
""".replace("CERTIFICATE", json.dumps(OKTA))


def text(below: str = BELOW, policy: str = "") -> str:
    """`policy` may say GONE for what may go."""
    return HEAD.format(policy=policy.replace("GONE", GONE)) + below


def planned(run: Run, directory: Path, *flags: str, code: int = 0) -> dict[str, Any]:
    ended = run("plan", "-C", str(directory), "--format", "json", *flags)
    assert ended.code == code, ended.out + ended.err
    plan: dict[str, Any] = json.loads(ended.out)["plan"]
    return plan


def changes(plan: dict[str, Any]) -> list[str]:
    return [change["address"] for change in plan["changes"]]


@pytest.mark.usefixtures("platform")
def test_select_plans_only_the_selected_entry(run: Run, project: Project) -> None:
    directory = project(text())
    assert changes(planned(run, directory, "--select", "acme/teams/writers")) == ["acme/teams/writers"]


@pytest.mark.usefixtures("platform")
def test_select_pattern_includes_nested_objects(run: Run, project: Project) -> None:
    assert changes(planned(run, project(text()), "--select", "teams")) == [
        "acme/teams/support", "acme/teams/support/members/ada@acme.example", "acme/teams/writers",
    ]  # fmt: skip


@pytest.mark.usefixtures("platform")
def test_select_patterns_combine_and_exclude_subtracts(run: Run, project: Project) -> None:
    flags = ["--select", "teams", "--select", "collections/*", "--exclude", "teams/support"]
    assert changes(planned(run, project(text()), *flags)) == [
        "acme/collections/manuals",
        "acme/teams/writers",
    ]


@pytest.mark.usefixtures("platform")
def test_exclude_alone_plans_all_other_entries(run: Run, project: Project) -> None:
    """Otherwise, what is excluded is planned."""
    directory = project(text())
    everything = changes(planned(run, directory))
    assert changes(planned(run, directory, "--exclude", "teams/writers")) == [
        address for address in everything if address != "acme/teams/writers"
    ]


@pytest.mark.usefixtures("platform")
def test_select_adds_and_reports_new_dependencies(run: Run, project: Project) -> None:
    directory = project(text())
    plan = planned(run, directory, "--select", "saml/okta")
    assert changes(plan) == ["acme/saml/okta", "acme/teams/support"]
    assert plan["part"]["also"] == [{"address": "acme/teams/support", "needed_by": "acme/saml/okta"}]
    ended = run("plan", "-C", str(directory), "--select", "saml/okta")
    assert "\n    not selected, but needed by acme/saml/okta\n" in ended.out
    ended = run("plan", "-v", "-C", str(directory), "--select", "saml/okta")
    assert (
        "\nonly: saml/okta\nalso planned: acme/teams/support, because acme/saml/okta needs it\n" in ended.out
    )


@pytest.mark.usefixtures("platform")
def test_select_omits_existing_dependencies(run: Run, project: Project) -> None:
    directory = project(text(BELOW.replace("defaultTeam: support", "defaultTeam: writers")))
    assert changes(planned(run, directory, "--select", "saml/okta")) == ["acme/saml/okta"]


@pytest.mark.usefixtures("platform")
def test_select_adds_parent_of_new_object(run: Run, project: Project) -> None:
    directory = project(text())
    assert changes(planned(run, directory, "--select", "teams/support/members/ada@acme.example")) == [
        "acme/teams/support", "acme/teams/support/members/ada@acme.example",
    ]  # fmt: skip
    assert changes(planned(run, directory, "--select", "spaces")) == [
        "acme/collections/manuals", "acme/spaces/handbook",
    ]  # fmt: skip


@pytest.mark.usefixtures("platform")
def test_excluded_dependency_exits_5(run: Run, project: Project) -> None:
    """Otherwise, what is excluded comes along."""
    ended = run("plan", "-C", str(project(text())), "--select", "saml", "--exclude", "teams")
    assert ended.code == 5
    assert "DP331" in ended.err
    assert "acme/saml/okta needs acme/teams/support, which is excluded" in ended.err


def test_apply_select_applies_and_verifies_selection(
    run: Run, project: Project, platform: ThreadedServer
) -> None:
    directory = project(text())
    platform.app.requests.clear()
    ended = run("apply", "-C", str(directory), "--yes", "--select", "saml")
    assert ended.code == 0, ended.out + ended.err
    assert "Verified: a new plan has no changes." in ended.out
    assert {*writes(platform)} == {"PATCH /v1/orgs/acme/saml/okta", "PUT /v1/orgs/acme/teams"}
    assert "acme/teams/writers" in changes(planned(run, directory))


@pytest.mark.usefixtures("platform")
def test_select_limits_prune_deletes(run: Run, project: Project) -> None:
    directory = project(text(policy="policy: { prune: [teams], limits: { percent: 100 }, GONE }\n"))
    everything = [item for item in planned(run, directory)["changes"] if item["action"] == "delete"]
    assert len(everything) > 1
    plan = planned(run, directory, "--select", "acme/teams/[Legacy]")
    assert changes(plan) == ["acme/teams/[Legacy]"]
    assert not [
        item for item in planned(run, directory, "--select", "saml")["changes"] if item["action"] == "delete"
    ]
    ended = run("apply", "-C", str(directory), "--yes", "--select", "acme/teams/[Legacy]")
    assert ended.code == 0, ended.out + ended.err
    assert "Verified: a new plan has no changes." in ended.out


@pytest.mark.usefixtures("platform")
def test_select_matches_old_address_of_removed_entry(run: Run, project: Project) -> None:
    policy = "policy: { prune: [teams], limits: { deletes: 9, percent: 100 }, GONE }\n"
    committed(
        project, text(BELOW.replace("    teams:\n", "    teams:\n      old: { title: Legacy }\n"), policy)
    )
    directory = project(text(policy=policy))
    assert changes(planned(run, directory, "--select", "teams/old")) == ["acme/teams/[Legacy]"]


@pytest.mark.usefixtures("platform")
def test_delete_limit_counts_only_selected_changes(run: Run, project: Project) -> None:
    directory = project(text(policy="policy: { prune: [teams], limits: { deletes: 0 } }\n"))
    planned(run, directory, code=4)
    planned(run, directory, "--select", "acme/teams/writers")
    planned(run, directory, "--select", "acme/teams/[Legacy]", code=4)


@pytest.mark.usefixtures("platform")
def test_select_plans_only_the_selected_member(run: Run, project: Project) -> None:
    below = "    members: { ada@acme.example: admin, lin@acme.example: admin }\n"
    directory = project(text(below))
    assert changes(planned(run, directory, "--select", "members/lin@acme.example")) == [
        "acme/members/lin@acme.example"
    ]


@pytest.mark.parametrize("command", ["plan", "apply", "drift"])
@pytest.mark.parametrize("flag", ["--select", "--exclude"])
@pytest.mark.usefixtures("platform")
def test_unmatched_select_pattern_exits_5_with_suggestion(
    command: str, flag: str, run: Run, project: Project
) -> None:
    ended = run(command, "-C", str(project(text())), flag, "acme/teams/writer")
    assert ended.code == 5
    assert "DP330" in ended.err
    assert "nearest: acme/teams/writers" in ended.err


@pytest.mark.parametrize("pattern", ["teams/x/", "teams/w*", "", "teams/writers#title"])
@pytest.mark.usefixtures("platform")
def test_invalid_select_pattern_exits_5(pattern: str, run: Run, project: Project) -> None:
    ended = run("plan", "-C", str(project(text())), "--select", pattern)
    assert (ended.code, "DP230" in ended.err) == (5, True)


def test_drift_respects_select_and_exclude(run: Run, project: Project, platform: ThreadedServer) -> None:
    directory = project(text("    title: Acme\n    teams: { sales: { title: Sales } }\n"))
    change(platform, "/orgs/acme/teams/sales", "DELETE")
    assert run("drift", "-C", str(directory)).code == 2
    assert run("drift", "-C", str(directory), "--select", "teams").code == 2
    assert run("drift", "-C", str(directory), "--exclude", "teams").code == 0


@pytest.mark.usefixtures("platform")
def test_select_adds_change_freeing_unique_value(run: Run, project: Project) -> None:
    below = (
        "    sites:\n"
        "      docs: { title: Acme Docs, id: docs, basename: help }\n"
        "      help: { title: Help center, id: help, basename: other }\n"
    )
    plan = planned(run, project(text(below)), "--select", "sites/docs")
    assert plan["part"]["also"] == [{"address": "acme/sites/help", "needed_by": "acme/sites/docs"}]
    assert run("apply", "-C", str(project(text(below))), "--yes", "--select", "sites/docs").code == 0


# Order.


def ordered(*keys: str) -> str:
    spaces = "".join(f"      {key}: {{ title: Space {key}, collection: mine }}\n" for key in "abcdef")
    return (
        f"    collections:\n      mine: {{ title: Mine, order: [{', '.join(keys)}] }}\n    spaces:\n{spaces}"
    )


def navigation(*keys: str) -> str:
    spaces = "".join(f"      {key}: {{ title: Space {key} }}\n" for key in "abcdef")
    nodes = "".join(
        f"          - {{ type: section, key: {key}, title: Section {key}, path: {key},"
        f" children: [{{ type: space, key: in, space: {key} }}] }}\n"
        for key in keys
    )
    site = "      mine:\n        title: Quite another\n        basename: mine\n        structure:\n"
    return f"    spaces:\n{spaces}    sites:\n{site}{nodes}"


SIBLINGS = 1
"""How many of the six siblings of each order a normal run moves alone."""


@pytest.mark.parametrize("one", slice_of("abcdef", SIBLINGS))
@pytest.mark.parametrize(("written", "place"), [(ordered, "spaces"), (navigation, "sites/mine/structure")])
@pytest.mark.usefixtures("platform")
def test_apply_select_moves_single_sibling(
    written: Callable[..., str], place: str, one: str, run: Run, project: Project
) -> None:
    directory, address = project(text(written(*"defbca"))), f"acme/{place}/{one}"
    assert run("apply", "-C", str(directory), "--yes").code == 0
    project(text(written(*"abcdef")))
    moved = {item["address"]: item["moved"] for item in planned(run, directory)["changes"]}
    assert moved
    plan = planned(run, directory, "--select", address)
    also = {item["address"] for item in plan["part"]["also"]}
    assert set(changes(plan)) == ({address} | also if address in moved else set())
    ended = run("apply", "-C", str(directory), "--yes", "--select", address)
    assert ended.code == 0, ended.out
    assert not {address, *also} & set(changes(planned(run, directory)))


@pytest.mark.usefixtures("platform")
def test_plan_digest_includes_selection(run: Run, project: Project) -> None:
    directory = project(text())
    digests = {
        json.loads(run("plan", "-C", str(directory), "--format", "json", *flags).out)["digest"]
        for flags in ([], ["--select", "acme"], ["--select", "**"])
    }
    assert len(digests) == 3


# All of the example, one by one.

ALONE = 3
"""How many of its changes a normal run applies alone."""


def test_every_example_change_can_be_applied_alone(run: Run, example: Path, platform: ThreadedServer) -> None:
    everything = changes(planned(run, example))
    assert len(everything) > 20
    for address in slice_of(everything, ALONE):
        platform.reset()
        ended = run("apply", "-C", str(example), "--yes", "--format", "json", "--select", address)
        document = json.loads(ended.out)
        assert (ended.code, document["converged"]) == (0, True), (address, ended.out)
        assert address in [change["address"] for change in document["plan"]["plan"]["changes"]]


@pytest.mark.usefixtures("platform")
def test_example_changes_can_be_applied_separately(run: Run, example: Path) -> None:
    everything = changes(planned(run, example))
    for address in [*reversed(slice_of(everything, ALONE)), "**"]:
        ended = run("apply", "-C", str(example), "--yes", "--select", address)
        assert ended.code == 0, (address, ended.out)
    assert "No changes." in run("plan", "-C", str(example)).out


REDIRECTS = """\
    sites:
      docs: { title: Acme Docs, basename: docs, redirects: { /old/start: { url: "https://acme.example/" } } }
"""


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("acme/sites/docs/redirects//old/start", id="as printed"),
        pytest.param("acme/sites/docs/redirects/%2Fold%2Fstart", id="encoded"),
    ],
)
@pytest.mark.usefixtures("platform")
def test_printed_and_encoded_redirect_address_are_accepted(address: str, run: Run, project: Project) -> None:
    """Every command and the policy take the printed address, and also the encoded one."""
    directory = project(text(REDIRECTS))
    printed = "acme/sites/docs/redirects//old/start"
    assert changes(planned(run, directory, "--select", address)) == [printed]
    listed = run("list", "--offline", "-C", str(directory), address).out.splitlines()
    assert [line.split()[0] for line in listed[1:]] == [printed]
    ignored = project(text(REDIRECTS, policy=f"policy: {{ ignore: ['{address}'] }}\n"))
    assert printed not in changes(planned(run, ignored))
