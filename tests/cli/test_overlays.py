"""Several root files over one another, and the environments of the root file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from dpsync.api import load, load_registry
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.test_git_base import git
from tests.cli.test_plan_and_apply import SCHEMAS

Project = Callable[..., Path]

BASE = """\
dpsync: 1
policy: { prune: [teams], limits: { deletes: 5 }, removed: ['teams/[Legacy]'] }
organizations:
  acme:
    id: acme
    title: Acme
    emailDomains: [acme.example, acme.test]
    teams:
      writers: { title: Technical writers }
    spaces:
      guides: { title: Guides }
      news: { title: News }
    sites:
      docs:
        title: Acme Docs
        basename: docs
        structure:
          - type: section
            key: guides
            title: Guides
            path: guides
            children: [{ type: space, key: en, space: guides, path: en }]
          - type: section
            key: news
            title: News
            path: news
            children: [{ type: space, key: latest, space: news, path: latest }]
"""


def write(project: Project, prod: str, **more: str) -> tuple[str, ...]:
    """Write BASE with an overlay and return the flags that name both."""
    directory = project(BASE, {"prod.yaml": prod, **more})
    return ("-C", str(directory), "-f", "dpsync.yaml", "-f", "prod.yaml")


def loaded(project: Project, prod: str, **more: str) -> dict[str, Any]:
    """Every entry's fields, by address, once the overlay lies over BASE."""
    directory = project(BASE, {"prod.yaml": prod, **more})
    desired = load(directory / "dpsync.yaml", {}, overlays=[directory / "prod.yaml"])
    return {
        str(address): {**resource.fields, "children": [str(child) for child in resource.children]}
        for address, resource in desired.entries.items()
    }


def below(text: str) -> str:
    return f"organizations:\n  acme:\n    {text}\n"


def test_overlay_mappings_merge_deeply(project: Project) -> None:
    found = loaded(project, below("teams: { writers: { title: Writers }, sales: { title: Sales } }"))
    assert found["acme/teams/writers"]["title"] == "Writers"
    assert found["acme/teams/sales"]["title"] == "Sales"
    assert found["acme"]["title"] == "Acme"


def test_overlay_replaces_lists(project: Project) -> None:
    assert loaded(project, below("emailDomains: [acme.example]"))["acme"]["emailDomains"] == ["acme.example"]


def test_overlay_null_clears_value(project: Project) -> None:
    assert loaded(project, below("defaultContent: null"))["acme"]["defaultContent"] is None


def test_overlay_structure_merges_by_key(project: Project) -> None:
    overlay = below(
        "sites: { docs: { structure: ["
        "{ key: news, title: What is new, children: [{ key: latest, path: now }] }, "
        "{ type: section, key: more, title: More, path: more, children: ["
        "{ type: space, key: a, space: guides, path: a }] }] } }"
    )
    found = loaded(project, overlay)
    assert found["acme/sites/docs"]["children"] == [
        f"acme/sites/docs/structure/{key}" for key in ("guides", "news", "more")
    ]
    news = found["acme/sites/docs/structure/news"]
    assert (news["title"], news["path"]) == ("What is new", "news")
    assert found["acme/sites/docs/structure/news/latest"]["path"] == "now"


def test_overlay_replaces_structure_list_outside_sites(project: Project) -> None:
    directory = project(
        BASE.replace("title: Technical writers", "title: Technical writers, structure: [{ key: a }]"),
        {"prod.yaml": below("teams: { writers: { structure: [] } }")},
    )
    from dpsync.config.layers import Overlays  # the loader would refuse this key
    from dpsync.config.yaml_reader import read
    from dpsync.model.nodes import Mapping, node_value

    one, other = (read((directory / name).read_text(), name)[0] for name in ("dpsync.yaml", "prod.yaml"))
    assert isinstance(one, Mapping)
    assert isinstance(other, Mapping)
    merged: Any = node_value(Overlays(load_registry()).merge(one, other))
    assert merged["organizations"]["acme"]["teams"]["writers"]["structure"] == []


def test_overlay_replaces_policy_lists_and_merges_limits(project: Project) -> None:
    directory = project(BASE, {"prod.yaml": "policy: { prune: [spaces], limits: { percent: 50 } }\n"})
    desired = load(directory / "dpsync.yaml", {}, overlays=[directory / "prod.yaml"])
    assert [pattern.text for pattern in desired.policy.prune] == ["spaces"]
    assert (desired.policy.limits.deletes, desired.policy.limits.percent) == (5, 50)


def test_last_of_several_overlays_wins(project: Project) -> None:
    directory = project(BASE, {"a.yaml": below("title: A one"), "b.yaml": below("title: B two")})
    overlays = [directory / "a.yaml", directory / "b.yaml"]
    desired = load(directory / "dpsync.yaml", {}, overlays=overlays)
    assert next(iter(desired.entries.values())).fields["title"] == "B two"


def test_overlay_paths_are_relative_to_overlay_file(project: Project) -> None:
    overlay = "include: [extra/*.yaml]\n" + below("agentInstructions: { file: agents.md }")
    directory = project(
        BASE,
        {
            "env/prod.yaml": overlay,
            "env/agents.md": "Of the overlay.\n",
            "agents.md": "Of the root.\n",
            "env/extra/more.yaml": below("teams: { sales: { title: Sales } }"),
            "extra/other.yaml": below("teams: { wrong: { title: Wrong } }"),
        },
    )
    desired = load(directory / "dpsync.yaml", {}, overlays=[directory / "env" / "prod.yaml"])
    addresses = {str(address) for address in desired.entries}
    assert "acme/teams/sales" in addresses
    assert "acme/teams/wrong" not in addresses
    assert "env/agents.md" in desired.texts
    assert "agents.md" not in desired.texts


@pytest.mark.usefixtures("platform")
def test_plan_shows_overlay_file_and_line(run: Run, project: Project) -> None:
    flags = write(project, below("title: Acme Inc"))
    ended = run("plan", *flags)
    assert '"Acme" → "Acme Inc"  prod.yaml:3' in ended.out, ended.out
    document = json.loads(run("plan", *flags, "--format", "json").out)
    assert document["plan"]["origins"]["acme#title"] == {"file": "prod.yaml", "line": 3, "column": 5}
    assert document["plan"]["origins"]["acme"]["file"] == "dpsync.yaml"


@pytest.mark.usefixtures("platform")
def test_verbose_plan_shows_location_of_every_field(run: Run, project: Project) -> None:
    directory = project(BASE.replace("title: Acme\n", "title: Acme Inc\n"))
    assert '"Acme Inc"  dpsync.yaml:6' in run("plan", "-C", str(directory), "-v").out
    assert '"Acme Inc"  dpsync.yaml' not in run("plan", "-C", str(directory)).out


@pytest.mark.usefixtures("platform")
def test_apply_with_overlay_converges(run: Run, project: Project) -> None:
    flags = write(project, "policy: { prune: [] }\n" + below("title: Acme Inc"))
    assert run("apply", *flags, "--yes").code == 0
    assert run("drift", *flags).code == 0
    assert "No changes." in run("plan", *flags).out


@pytest.mark.parametrize(
    ("overlay", "code", "place", "words"),
    [
        (below("titel: Acme"), "DP201", "prod.yaml:3:5", "titel"),
        ("environments: {}\n", "DP127", "prod.yaml:1:1", "is only allowed in dpsync.yaml"),
        ("dpsync: 2\n", "DP117", "prod.yaml:1:9", "version"),
        ("", "DP129", "prod.yaml:1:1", "is empty"),
        ("include: [gone.yaml]\n", "DP124", "prod.yaml:1:11", "gone.yaml"),
        (below("teams: { writers: null }"), "DP212", "prod.yaml:3:14", "is empty"),
        (
            below("sites: { docs: { structure: [{ type: section-group, key: g, title: G, children: ["
                  "{ type: section, key: news, title: N, path: n, children: ["
                  "{ type: space, key: x, space: news, path: x }] }] }] } }"),
            "DP213", "dpsync.yaml:24:18", "declared twice",
        ),
    ],
)  # fmt: skip
def test_overlay_error_has_location_in_overlay(
    overlay: str, code: str, place: str, words: str, run: Run, project: Project
) -> None:
    ended = run("validate", *write(project, overlay))
    assert ended.code == 5
    assert f"error[{code}]" in ended.err
    assert "prod.yaml" in ended.err
    assert place in ended.err, ended.err
    assert words in ended.err


def test_missing_or_outside_overlay_file_is_rejected(run: Run, project: Project, tmp_path: Path) -> None:
    directory = str(project(BASE))
    ended = run("validate", "-C", directory, "-f", "dpsync.yaml", "-f", "gone.yaml")
    assert (ended.code, "gone.yaml cannot be read" in ended.err) == (5, True)
    (tmp_path / "out.yaml").write_text(below("title: Out"))
    ended = run("validate", "-C", directory, "-f", "dpsync.yaml", "-f", "../out.yaml")
    assert (ended.code, "outside the project" in ended.err) == (5, True)


@pytest.mark.usefixtures("platform")
def test_git_base_includes_overlays(run: Run, project: Project) -> None:
    flags = write(project, below("teams: { authors: { title: Sales } }"))
    directory = Path(flags[1])
    git(directory, "init", "-q", "-b", "main")
    git(directory, "add", "dpsync.yaml", "prod.yaml")
    git(directory, "commit", "-q", "-m", "before")
    write(project, below("teams: { authors: { title: Sellers } }"))
    ended = run("plan", "-v", *flags)
    assert "renamed: object sales, found by the name that the entry had in HEAD" in ended.out, ended.out


@pytest.mark.usefixtures("platform")
def test_plan_accepts_overlay_missing_from_git_base(run: Run, project: Project) -> None:
    flags = write(project, below("title: Acme Inc"))
    directory = Path(flags[1])
    git(directory, "init", "-q", "-b", "main")
    git(directory, "add", "dpsync.yaml")
    git(directory, "commit", "-q", "-m", "before")
    assert run("plan", *flags).err == ""
    assert "base: HEAD" in run("plan", "-v", *flags).out


# Environments.

ENVIRONMENTS = """\
environments:
  prod:
    url: {url}
    token: {{ env: DPSYNC_TOKEN_PROD }}
    overlay: prod.yaml
    organizations: {{ acme: {{ id: globex }} }}
  staging:
    url: ${{DPSYNC_URL_STAGING:?the address of staging}}
"""


@pytest.fixture
def surroundings(project: Project, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write BASE with two environments; of the platform, the process environment has only the prod token."""
    monkeypatch.delenv("DPSYNC_URL")
    monkeypatch.delenv("DPSYNC_TOKEN")
    monkeypatch.delenv("DPSYNC_ENV", raising=False)
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", "ada-token")
    text = "dpsync: 1\n" + ENVIRONMENTS.format(url=platform.url)
    text += "organizations: { acme: { id: acme, title: Acme Corp } }\n"
    return project(text, {"prod.yaml": below("title: Globex Ltd")})


def test_environment_sets_url_token_and_organization(
    run: Run, surroundings: Path, platform: ThreadedServer
) -> None:
    platform.app.requests.clear()
    ended = run("plan", "-C", str(surroundings), "--env", "prod")
    assert ended.code in (0, 1), ended.err
    assert {path for _, path, _ in platform.app.requests} <= {"/v1/orgs/globex", "/v1/orgs"}
    assert platform.app.requests


@pytest.mark.usefixtures("platform")
def test_plan_and_drift_show_environment_name(
    run: Run, surroundings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (surroundings / "dpsync.yaml").read_text().replace("globex", "acme")
    (surroundings / "dpsync.yaml").write_text(text)
    ended = run("plan", "-v", "-C", str(surroundings), "--env", "prod")
    assert "environment: prod" in ended.out.splitlines(), ended.err
    assert '"Acme" → "Globex Ltd"' in ended.out
    monkeypatch.setenv("DPSYNC_ENV", "prod")
    assert run("plan", "-v", "-C", str(surroundings)).out == ended.out.replace(" --env prod", "")
    document = json.loads(run("plan", "-C", str(surroundings), "--format", "json").out)
    assert document["plan"]["environment"] == "prod"
    assert "\nenvironment: prod\n" in run("drift", "-v", "-C", str(surroundings)).out
    assert run("apply", "-C", str(surroundings), "--yes").code == 0


def test_plan_without_environment_uses_top_level_values(
    run: Run, surroundings: Path, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_URL", platform.url)
    monkeypatch.setenv("DPSYNC_TOKEN", "ada-token")
    ended = run("plan", "-v", "-C", str(surroundings))
    assert (
        "\nenvironment: none (to choose an environment, add --env with one of: prod, staging)\n" in ended.out
    )
    assert '"Acme" → "Acme Corp"' in ended.out


def test_unknown_environment_exits_5_with_suggestion(run: Run, surroundings: Path) -> None:
    for command in ("validate", "plan", "apply", "drift"):
        ended = run(command, "-C", str(surroundings), "--env", "prd")
        assert ended.code == 5
        assert "DP142" in ended.err
        assert 'did you mean "prod"?' in ended.err


def test_env_flag_without_declared_environments_exits_5(run: Run, project: Project) -> None:
    ended = run("validate", "-C", str(project(BASE)), "--env", "prod")
    assert (ended.code, "has no environment" in ended.err) == (5, True)


def test_validate_requires_variables_of_selected_environment_only(run: Run, surroundings: Path) -> None:
    assert run("validate", "-C", str(surroundings), "--env", "prod").code == 0
    assert run("validate", "-C", str(surroundings)).code == 0
    ended = run("validate", "-C", str(surroundings), "--env", "staging")
    assert (ended.code, "DPSYNC_URL_STAGING" in ended.err) == (5, True)


def test_unset_token_variable_exits_64_without_requests(
    run: Run, surroundings: Path, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DPSYNC_TOKEN_PROD")
    platform.app.requests.clear()
    ended = run("plan", "-C", str(surroundings), "--env", "prod")
    assert (ended.code, "DPSYNC_TOKEN_PROD is not set" in ended.err) == (64, True)
    assert not platform.app.requests


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ("{ ulr: x }", 'did you mean "url"?'),
        ("{ url: [x] }", '"url" must be a text'),
        (
            "{ organizations: { acme: { title: T } } }",
            'is not allowed in an organization under "environments"',
        ),
        ("{ organizations: { acmee: { id: x } } }", 'did you mean "acme"?'),
        ("prod", "must be a mapping"),
    ],
)
def test_invalid_environment_is_rejected_with_location(
    environment: str, words: str, run: Run, project: Project
) -> None:
    text = f"dpsync: 1\nenvironments:\n  prod: {environment}\norganizations: {{ acme: {{ id: acme }} }}\n"
    ended = run("validate", "-C", str(project(text)), "--env", "prod")
    assert ended.code == 5
    assert "DP141" in ended.err
    assert "dpsync.yaml:3:" in ended.err
    assert words in ended.err


@pytest.mark.parametrize("token", ["s3cr3t", "{ env: A, value: s3cr3t }", "[s3cr3t]"])
def test_literal_environment_token_is_rejected_and_hidden(token: str, run: Run, project: Project) -> None:
    text = f"dpsync: 1\nenvironments:\n  prod: {{ ulr: x, token: {token} }}\n"
    ended = run("validate", "-C", str(project(text + "organizations: { acme: { id: acme } }\n")))
    assert (ended.code, "DP205" in ended.err, "DP141" in ended.err) == (5, True, True)
    assert "token: { env: DPSYNC_TOKEN_PROD }" in ended.err
    assert "s3cr3t" not in ended.err + ended.out


def test_schema_accepts_environments_and_rejects_literal_token(surroundings: Path) -> None:
    schema = json.loads((SCHEMAS / "dpsync.schema.json").read_text())
    text = yaml.safe_load((surroundings / "dpsync.yaml").read_text())
    jsonschema.validate(text, schema)
    text["environments"]["prod"]["token"] = "literal"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(text, schema)
