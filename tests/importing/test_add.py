"""`import --add`: an entry for what was made on the platform, where its siblings are; and renames."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.test_drift import change

Project = Callable[..., Path]
ROOT = """\
dpsync: 1
include: [teams.yaml]
policy: { watch: [sites/*/shareLinks, spaces/*/permissions/teams], prune: [sites/*/redirects] }
organizations:
  acme:
    id: acme
    sites:
      help: { title: Help center, basename: help, redirects: {} }
    spaces:
      archive: { title: Archive }
"""
TEAMS = """\
# Who is who.
organizations:
  acme:
    teams:
      # Those who write.
      writers: { title: Technical writers }   # the docs
      legacy:
        title: Legacy   # soon to go

    # nothing below
"""


@pytest.fixture
def directory(project: Project) -> Path:
    return project(ROOT, {"teams.yaml": TEAMS})


def add(run: Run, directory: Path, code: int, *addresses: str) -> dict[str, Any]:
    ended = run("import", "-C", str(directory), "--force", "--add", *addresses, "--format", "json")
    assert ended.code == code, ended.out + ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def read(directory: Path, name: str = "teams.yaml") -> str:
    return (directory / name).read_text(encoding="utf-8")


def settled(run: Run, directory: Path) -> None:
    planned = run("plan", "-C", str(directory), "--detailed-exitcode")
    assert planned.code == 0, planned.out + planned.err


def test_import_add_inserts_entry_after_its_siblings(
    platform: ThreadedServer, run: Run, directory: Path
) -> None:
    """Otherwise, a pattern that names nothing is passed over in silence."""
    change(platform, "/orgs/acme/teams", "PUT", title="Temporary")
    document = add(run, directory, 0, "acme/teams/[Temporary]")
    assert [item["address"] for item in document["taken"]] == ["acme/teams/temporary"]
    expected = TEAMS.replace("# soon to go\n", "# soon to go\n      temporary: { title: Temporary }\n")
    assert read(directory) == expected
    assert read(directory, "dpsync.yaml") == ROOT
    settled(run, directory)
    assert "temporary" not in json.dumps(add(run, directory, 3, "acme/teams/[Temporary]")["files"])


@pytest.mark.usefixtures("platform")
def test_import_add_appends_to_flow_mapping(run: Run, project: Project) -> None:
    directory = project(
        "dpsync: 1\norganizations:\n  acme: { id: acme, teams: { writers: { title: Technical writers } } }\n"
    )
    add(run, directory, 0, "acme/teams/[Sales]")
    assert "teams: { writers: { title: Technical writers }, sales: { title: Sales } } }" in read(
        directory, "dpsync.yaml"
    )
    settled(run, directory)


@pytest.mark.usefixtures("platform")
def test_import_add_pattern_adds_all_matching_objects(run: Run, directory: Path) -> None:
    """Otherwise, something that is an entry already is added a second time."""
    add(run, directory, 0, "acme/teams/*")
    assert read(directory).count("title:") == 4
    settled(run, directory)


def test_import_add_creates_missing_mappings(platform: ThreadedServer, run: Run, directory: Path) -> None:
    external = {"kind": "external", "url": "https://a.example/"}
    change(platform, "/orgs/acme/sites/help/redirects", "POST", source="/old", destination=external)
    change(platform, "/orgs/acme/sites/help/share-links", "POST", name="Partners")
    add(run, directory, 0, "acme/sites/help/redirects/[/old]", "acme/sites/help/shareLinks/[Partners]")
    text = read(directory, "dpsync.yaml")
    assert "      help:\n        title: Help center\n        basename: help\n" in text
    assert "        redirects:\n          /old: { url: https://a.example/, " in text
    assert "        shareLinks: { Partners: { active: true } }\n" in text
    settled(run, directory)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", "", id="last in the file"),
        pytest.param(
            "teams:\n  writers: { title: Technical writers }  # x\n  # y\n", "# end\n", id="list above"
        ),
        pytest.param("", "include: []\n", id="key of the file below"),
    ],
)
@pytest.mark.usefixtures("platform")
def test_import_add_writes_new_list_as_block(before: str, after: str, run: Run, project: Project) -> None:
    head = f"dpsync: 1\npolicy: {{ watch: [spaces] }}\norganization: acme\nid: acme\n{before}"
    directory = project(head + after)
    add(run, directory, 0, "acme/spaces/[Archive]", "acme/spaces/[News]")
    assert read(directory, "dpsync.yaml") == (
        f"{head}"
        "spaces:\n"
        "  archive:\n"
        "    title: Archive\n"
        "    collection: null\n"
        "    editMode: locked\n"
        "    defaultLevel: inherit\n"
        "    mergeRules: { type: inherit }\n"
        "  news:\n"
        "    title: News\n"
        "    collection: { id: product }\n"
        "    language: en\n"
        "    defaultLevel: inherit\n"
        "    mergeRules: { type: inherit }\n"
        f"{after}"
    )
    settled(run, directory)


def test_import_add_places_new_lists_under_their_parents(
    platform: ThreadedServer, run: Run, project: Project
) -> None:
    """The lists of the site and of the organization come behind the same line."""
    directory = project(
        "dpsync: 1\npolicy: { watch: [teams, sites/*/shareLinks] }\norganization: acme\nid: acme\n"
        "sites:\n  help:\n    title: Help center\n    basename: help\n"
    )
    change(platform, "/orgs/acme/sites/help/share-links", "POST", name="Partners")
    add(run, directory, 0, "acme/teams/[Technical writers]", "acme/sites/help/shareLinks/[Partners]")
    assert read(directory, "dpsync.yaml").endswith(
        "    basename: help\n"
        "    shareLinks:\n"
        "      Partners: { active: true }\n"
        "teams:\n"
        "  technical-writers: { title: Technical writers }\n"
    )
    settled(run, directory)


def test_import_add_reports_redirect_refused_by_api_version(
    platform: ThreadedServer, run: Run, directory: Path
) -> None:
    """Otherwise, one such redirect would prevent `--add` from adding all others."""
    external = {"kind": "external", "url": "https://acme.example/"}
    for source in ("/a b", "/kept"):
        change(platform, "/orgs/acme/sites/help/redirects", "POST", source=source, destination=external)
    document = add(run, directory, 3, "acme/sites/help/redirects/*", "--profile", "published")
    assert [item["address"] for item in document["taken"]] == ["acme/sites/help/redirects//kept"]
    (problem,) = document["differences"]
    assert "is not a path" in problem["message"]


def test_import_add_pins_ambiguous_objects(platform: ThreadedServer, run: Run, directory: Path) -> None:
    change(platform, "/orgs/acme/teams", "PUT", title="Twin")
    change(platform, "/orgs/acme/teams", "PUT", title="Twin")
    add(run, directory, 0, "acme/teams/*")
    text = read(directory)
    assert text.count("title: Twin") == 2
    assert text.count("{ id: ") == 1
    assert "twin-2: { id: " in text
    settled(run, directory)


@pytest.mark.usefixtures("platform")
def test_import_add_refuses_unknown_or_declared_address(run: Run, directory: Path) -> None:
    expected = {
        "acme/teams/[Nobody]": "matches no object that is in GitBook but not in your files",
        "acme/teams/writers": "has an entry already",
    }
    for address, message in expected.items():
        document = add(run, directory, 3, address)
        (problem,) = document["differences"]
        assert problem["message"] == f'"{address}" {message}'
        assert document["files"] == []


def test_import_add_adds_objects_with_references_together(
    platform: ThreadedServer, run: Run, directory: Path
) -> None:
    change(platform, "/spaces/archive/permissions", "POST", teams=["reviewers"], role="read")
    change(platform, "/orgs/acme/teams", "PUT", title="New")
    role = "acme/spaces/archive/permissions/teams/[Reviewers]"
    document = add(run, directory, 3, role)
    assert "without an entry. Add that object, too" in document["differences"][0]["message"]
    add(run, directory, 0, role, "acme/teams/[Reviewers]", "acme/teams/[New]")
    assert "permissions: { teams: { reviewers: read } }" in read(directory, "dpsync.yaml")
    assert "      reviewers: { title: Reviewers }\n" in read(directory)
    settled(run, directory)


@pytest.mark.usefixtures("platform")
def test_import_add_refuses_navigation_nodes(run: Run, project: Project) -> None:
    directory = project(
        "dpsync: 1\norganizations:\n  acme:\n    id: acme\n    spaces: { support: { title: Support } }\n"
        "    sites:\n      help:\n        title: Help center\n        basename: help\n"
        "        structure: [{ type: space, key: support, space: support, path: support }]\n"
    )
    (problem,) = add(run, directory, 3, "acme/sites/help/structure/[archive]")["differences"]
    assert "--add cannot choose the position" in problem["message"]


def test_import_add_and_update_cannot_be_combined(run: Run, tmp_path: Path) -> None:
    ended = run("import", "-C", str(tmp_path), "--add", "--update", "acme/teams")
    assert ended.code == 64
    assert "--update and --add cannot be combined" in ended.err
    assert run("import", "-C", str(tmp_path), "--add").code == 64


# A rename by hand.


def test_drift_shows_both_resolutions_for_rename_in_gitbook(
    platform: ThreadedServer, run: Run, directory: Path
) -> None:
    change(platform, "/orgs/acme/teams/writers", title="Technical writing")
    ended = run("drift", "-C", str(directory))
    assert ended.code == 2
    block = ended.out[ended.out.index("- team writers") :].partition("\n\n")[0]
    assert 'perhaps renamed in GitBook to: "Technical writing" (writers)' in block
    assert "undo  add id: writers at teams.yaml:6, then restore the name with dpsync apply" in block
    assert f"keep  dpsync import -C {directory} --update acme/teams/writers" in block


@pytest.mark.parametrize(
    ("path", "address", "title", "name", "line"),
    [
        ("/orgs/acme/teams/writers", "acme/teams/writers", "Technical writing", "teams.yaml",
         "      writers: { title: Technical writing }   # the docs\n"),
        ("/spaces/archive", "acme/spaces/archive", "Archives", "dpsync.yaml",
         "      archive: { title: Archives }\n"),
    ],
)  # fmt: skip
def test_import_update_writes_new_name(
    platform: ThreadedServer,
    run: Run,
    directory: Path,
    path: str,
    address: str,
    title: str,
    name: str,
    line: str,
) -> None:
    change(platform, path, title=title)
    ended = run("import", "-C", str(directory), "--force", "--update", address)
    assert ended.code == 0, ended.out + ended.err
    assert line in read(directory, name)
    settled(run, directory)


def test_import_update_refuses_ambiguous_new_name(
    platform: ThreadedServer, run: Run, directory: Path
) -> None:
    change(platform, "/orgs/acme/teams/writers", title="Technical writing")
    change(platform, "/orgs/acme/teams", "PUT", title="Technical writer")
    ended = run("import", "-C", str(directory), "--force", "--update", "acme/teams/writers")
    assert ended.code == 3
    assert read(directory) == TEAMS
    assert "keep  write the new name at teams.yaml:6" in run("drift", "-C", str(directory)).out


@pytest.mark.usefixtures("platform")
def test_import_update_writes_name_for_exact_address(run: Run, directory: Path) -> None:
    """The ids file knows the entry that is gone; the title of the new one looks like nothing that is live."""
    assert run("ids", "-C", str(directory)).code == 0
    edited = TEAMS.replace("writers: { title: Technical writers }", "scribes: { title: Scribes }")
    (directory / "teams.yaml").write_text(edited, encoding="utf-8")
    address = "acme/teams/scribes"
    drift = run("drift", "-C", str(directory)).out
    assert 'perhaps renamed in GitBook to: "Technical writers" (writers)' in drift
    ended = run("import", "-C", str(directory), "--force", "--update", "acme/teams/*")
    assert (ended.code, read(directory)) == (3, edited)
    assert "add id: writers if this is the same object" in ended.out + ended.err
    ended = run("import", "-C", str(directory), "--force", "--update", address)
    assert ended.code == 0, ended.out + ended.err
    assert "scribes: { title: Technical writers }" in read(directory)
    settled(run, directory)


SINGLES = [
    pytest.param(
        "acme/sites/help/customization", "        customization:\n          styling:\n", id="defaults"
    ),
    pytest.param("acme/sites/help/visitorAuth", "        visitorAuth: { backend: custom, ", id="one value"),
]


@pytest.mark.parametrize(("address", "expected"), SINGLES)
@pytest.mark.usefixtures("platform")
def test_import_add_writes_single_object_of_parent(
    address: str, expected: str, run: Run, directory: Path
) -> None:
    """Otherwise, --add and --update refer to each other."""
    refused = run("import", "-C", str(directory), "--update", f"{address}#backend")
    assert f"to write a new entry: dpsync import -C {directory} --add {address}\n" in refused.out
    assert [item["address"] for item in add(run, directory, 0, address)["taken"]] == [address]
    assert expected in read(directory, "dpsync.yaml")
    settled(run, directory)
    again = run("import", "-C", str(directory), "--force", "--add", address)
    assert f"the entry: dpsync import -C {directory} --update {address}\n" in again.out
    updated = run("import", "-C", str(directory), "--force", "--update", address)
    assert updated.code == 0, updated.out


@pytest.mark.usefixtures("platform")
def test_import_add_of_unreadable_object_names_missing_access(
    run: Run, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN", "lin-token")
    (found,) = add(run, directory, 3, "acme/sites/help/visitorAuth")["differences"]
    assert found["message"].startswith("this token has no access to GET ")


@pytest.mark.usefixtures("platform")
def test_import_add_skips_site_space_inheriting_all_settings(run: Run, directory: Path) -> None:
    (directory / "dpsync.yaml").write_text(
        ROOT.replace(
            "redirects: {} }", "structure: [{ type: space, key: en, space: support, path: support }] }"
        )
        .replace("spaces:\n", "spaces:\n      support: { title: Support }\n")
        .replace(", prune: [sites/*/redirects]", "")
    )
    assert add(run, directory, 0, "acme/sites/**/customization")["taken"][0]["address"] == (
        "acme/sites/help/customization"
    )
    (found,) = add(run, directory, 3, "acme/sites/help/structure/en/customization")["differences"]
    assert "has no value of its own in GitBook" in found["message"]
