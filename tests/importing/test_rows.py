"""Redirects in a file of rows: planned as those in YAML are, and edited line by line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpsync.api import Session, load
from dpsync.importing.csv_files import cells_of_entry, cells_of_fields, csv_text
from dpsync.importing.edit_yaml import UneditableError, comments
from dpsync.importing.layout import CSV_FROM_ENTRIES
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.test_drift import change
from tests.direct import reading
from tests.soak import examples

from .test_command import committed

Project = Callable[..., Path]
ROOT = """\
dpsync: 1
policy: { watch: [sites/*/redirects] }
organizations:
  acme:
    id: acme
    sites:
      help: { title: Help center, basename: help, redirects: { file: "help.csv" } }   # many
"""
TABLE = """\
source,destination,permanent,draft
/a,https://a.example/,,
"/b","https://b.example/?x=1,2",true,false
/c,https://c.example/
"""
PATH = "/orgs/acme/sites/help/redirects"
REGISTRY = load_registry()
REDIRECT = REGISTRY["redirect"]


@pytest.fixture
def directory(project: Project, platform: ThreadedServer, run: Run) -> Path:
    """Create a project with a CSV file of redirects and apply it."""
    del platform
    made = project(ROOT, {"help.csv": TABLE})
    ended = run("apply", "-C", str(made), "--yes")
    assert ended.code == 0, ended.out + ended.err
    return made


def live(platform: ThreadedServer, _run: Run, _directory: Path, source: str) -> str:
    """Return the API path of the live redirect with this source."""
    with reading(platform, "ada-token") as client:
        items = client.get(PATH)["items"]
    return next(f"{PATH}/{item['id']}" for item in items if item["source"] == source)


def imported(run: Run, directory: Path, code: int, *arguments: str) -> dict[str, Any]:
    ended = run("import", "-C", str(directory), "--force", *arguments, "--format", "json")
    assert ended.code == code, ended.out + ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def table(directory: Path) -> str:
    return (directory / "help.csv").read_bytes().decode()


def settled(run: Run, directory: Path) -> None:
    planned = run("plan", "-C", str(directory), "--detailed-exitcode")
    assert planned.code == 0, planned.out + planned.err


def external(url: str) -> dict[str, str]:
    return {"kind": "external", "url": url}


@pytest.mark.usefixtures("platform")
def test_plan_locates_redirect_in_csv_row(project: Project, run: Run) -> None:
    directory = project(ROOT, {"help.csv": TABLE})
    plan = json.loads(run("plan", "-C", str(directory), "--format", "json").out)["plan"]
    origins = {address: (at["file"], at["line"]) for address, at in plan["origins"].items()}
    assert origins["acme/sites/help/redirects//b"] == ("help.csv", 3)
    assert origins["acme/sites/help/redirects//b#permanent"] == ("help.csv", 3)


def test_import_update_changes_only_affected_csv_cell(
    directory: Path, platform: ThreadedServer, run: Run
) -> None:
    change(platform, live(platform, run, directory, "/b"), destination=external('https://new.example/"1,2"'))
    found = imported(run, directory, 0, "--update", "acme/sites/help/redirects")
    assert [item["at"]["line"] for item in found["taken"]] == [3]
    assert table(directory) == TABLE.replace("https://b.example/?x=1,2", 'https://new.example/""1,2""')
    assert (directory / "dpsync.yaml").read_text(encoding="utf-8") == ROOT
    settled(run, directory)


def test_import_update_adds_missing_csv_cells(directory: Path, platform: ThreadedServer, run: Run) -> None:
    change(platform, live(platform, run, directory, "/c"), permanent=True)
    imported(run, directory, 0, "--update", "acme/sites/help/redirects/%2Fc#permanent")
    assert table(directory).splitlines()[3] == "/c,https://c.example/,true"
    settled(run, directory)


def test_import_update_refuses_field_without_csv_column(
    directory: Path, platform: ThreadedServer, run: Run
) -> None:
    """Otherwise, a live value that no column can say is told to be taken over, and stands nowhere."""
    before = table(directory)
    change(platform, live(platform, run, directory, "/a"), captureWildcard=True)
    found = imported(run, directory, 3, "--update", "acme/sites/help/redirects/%2Fa#captureWildcard")
    assert "help.csv has no column captureWildcard" in found["differences"][0]["message"]
    assert found["differences"][0]["at"] == {"file": "help.csv", "line": 2, "column": 1}
    assert table(directory) == before


def test_import_add_appends_redirect_as_csv_row(directory: Path, platform: ThreadedServer, run: Run) -> None:
    change(platform, PATH, "POST", source="/d", destination=external("https://d.example/"))
    imported(run, directory, 0, "--add", "acme/sites/help/redirects/[%2Fd]")
    assert table(directory) == f"{TABLE}/d,https://d.example/,false,false\n"
    settled(run, directory)


def test_csv_edit_keeps_line_endings_and_bom(directory: Path, platform: ThreadedServer, run: Run) -> None:
    odd = ("\ufeff" + TABLE.rstrip("\n").replace("\n", "\r\n")).encode()
    (directory / "help.csv").write_bytes(odd)
    change(platform, PATH, "POST", source="/d", destination=external("https://d.example/"))
    imported(run, directory, 0, "--add", "acme/sites/help/redirects/[%2Fd]")
    assert (directory / "help.csv").read_bytes() == odd + b"\r\n/d,https://d.example/,false,false\r\n"


@pytest.mark.parametrize("text", ["=HYPERLINK", "@x", " /a", "+1", "-1+2", ""])
def test_csv_writer_refuses_spreadsheet_formulas(text: str) -> None:
    """Otherwise, a redirect that somebody has made is run by the spreadsheet of whoever opens the file.

    Otherwise, a redirect whose source somebody has made a formula is run by the spreadsheet of whoever opens
    the file.
    """
    with pytest.raises(UneditableError):
        cells_of_fields(REDIRECT, {"destination": {"kind": "site-space", "siteSpaceId": text}})
    with pytest.raises(UneditableError):
        cells_of_entry(REDIRECT, text, {})


def test_second_import_updates_existing_csv(directory: Path, platform: ThreadedServer, run: Run) -> None:
    committed(directory)
    change(platform, live(platform, run, directory, "/a"), destination=external("https://z.example/"))
    ended = run("import", "-C", str(directory))
    assert "help.csv" in ended.out, ended.out + ended.err
    assert table(directory) == TABLE.replace("https://a.example/", "https://z.example/")


def test_import_writes_many_redirects_as_csv(platform: ThreadedServer, run: Run, tmp_path: Path) -> None:
    for number in range(CSV_FROM_ENTRIES):
        source = "=run" if number == 3 else f"/old/{number}"
        change(platform, PATH, "POST", source=source, destination=external(f"https://new.example/{number}"))
    target = tmp_path / "imported"
    ended = run("import", "-C", str(target), "--organization", "acme")
    assert ended.code == 0, ended.out + ended.err
    assert "Verified: a plan with these files has no changes." in ended.out
    lines = (target / "acme/sites/help.redirects.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "source,destination,captureWildcard,permanent,draft"
    assert lines[1] == "/old/0,https://new.example/0"
    assert len(lines) == CSV_FROM_ENTRIES
    site = (target / "acme/sites/help.yaml").read_text(encoding="utf-8")
    assert "file: help.redirects.csv" in site
    assert "=run" in site
    path = live(platform, run, target, "/old/0")
    change(platform, path, draft=True)
    assert "false → true" in run("drift", "-C", str(target)).out
    address = "acme/sites/help/redirects//old/0"
    taken = run("import", "-C", str(target), "--force", "--update", address)
    assert taken.code == 0, taken.out
    lines = (target / "acme/sites/help.redirects.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1] == "/old/0,https://new.example/0,,,true"
    assert run("drift", "-C", str(target)).code == 0


IN_YAML = ROOT.replace(
    '{ file: "help.csv" }', "{ /a: { destination: { kind: external, url: https://a.example/ } } }"
)


@pytest.fixture
def in_yaml(project: Project, platform: ThreadedServer, run: Run) -> Path:
    """One redirect in YAML, applied, and two that somebody has made since."""
    made = project(IN_YAML)
    ended = run("apply", "-C", str(made), "--yes")
    assert ended.code == 0, ended.out + ended.err
    change(platform, PATH, "POST", source="/z", destination=external("https://z.example/"), permanent=True)
    change(platform, PATH, "POST", source="@run", destination=external("https://r.example/"))
    return made


def test_import_redirects_converts_live_redirects_to_csv(in_yaml: Path, run: Run) -> None:
    """Otherwise, a redirect that no cell can hold is lost."""
    imported(run, in_yaml, 0, "--redirects", "acme/sites/help")
    assert (in_yaml / "help.redirects.csv").read_text(encoding="utf-8") == (
        "source,destination,captureWildcard,permanent,draft\n"
        "/a,https://a.example/,false,false,false\n"
        "/z,https://z.example/,false,true,false\n"
    )
    text = (in_yaml / "dpsync.yaml").read_text(encoding="utf-8")
    assert text.endswith(
        "        redirects:\n"
        "          file: help.redirects.csv\n"
        '          "@run":\n'
        "            url: https://r.example/\n"
        "            captureWildcard: false\n"
        "            permanent: false\n"
        "            draft: false\n"
    )
    assert "# many" in text
    settled(run, in_yaml)
    assert "unmanaged" not in run("plan", "-C", str(in_yaml), "--select", "acme/sites/help/redirects").out


@pytest.mark.parametrize("policy", ["policy: { watch: [sites/*/redirects] }\n", ""])
def test_import_redirects_adds_missing_file_reference(
    policy: str, project: Project, platform: ThreadedServer, run: Run
) -> None:
    declared = ", redirects: { /a: { destination: { kind: external, url: https://a.example/ } } }"
    directory = project(IN_YAML.replace(declared, "").replace(ROOT.splitlines(keepends=True)[1], policy))
    change(platform, PATH, "POST", source="/z", destination=external("https://z.example/"))
    imported(run, directory, 0, "--redirects", "help")
    text = (directory / "dpsync.yaml").read_text(encoding="utf-8")
    assert "redirects: { file: help.redirects.csv }" in text
    assert ("policy" in text) == bool(policy)
    settled(run, directory)


def test_import_redirects_refuses_to_drop_undeployed_entry(
    in_yaml: Path, platform: ThreadedServer, run: Run
) -> None:
    """Otherwise, an entry that is not live yet is lost."""
    change(platform, live(platform, run, in_yaml, "/a"), "DELETE")
    before = (in_yaml / "dpsync.yaml").read_text(encoding="utf-8")
    ended = run("import", "-C", str(in_yaml), "--force", "--redirects", "help")
    assert (ended.code, "so the import would lose this entry" in ended.err) == (4, True)
    assert (in_yaml / "dpsync.yaml").read_text(encoding="utf-8") == before


def test_import_redirects_without_live_redirects_is_refused(
    in_yaml: Path, platform: ThreadedServer, run: Run
) -> None:
    for source in ("/a", "/z", "@run"):
        change(platform, live(platform, run, in_yaml, source), "DELETE")
    (in_yaml / "dpsync.yaml").write_text(re.sub(r", redirects: .* }", " }", IN_YAML), encoding="utf-8")
    ended = run("import", "-C", str(in_yaml), "--force", "--redirects", "help")
    said = "acme/sites/help/redirects contains no object that a CSV file can contain"
    assert (ended.code, said in ended.err) == (4, True)
    assert not (in_yaml / "help.redirects.csv").exists()


def test_import_redirects_refuses_entries_in_several_files(in_yaml: Path, run: Run) -> None:
    overlay = "organizations: { acme: { sites: { help: { redirects: { /z: { destination: "
    overlay += "{ kind: external, url: https://z.example/ }, permanent: true } } } } } }\n"
    (in_yaml / "more.yaml").write_text(overlay, encoding="utf-8")
    files = ("-f", str(in_yaml / "dpsync.yaml"), "-f", str(in_yaml / "more.yaml"))
    ended = run("import", *files, "--force", "--redirects", "help")
    said = "acme/sites/help/redirects//z is in another file than the other entries of its list"
    assert (ended.code, said in ended.err) == (4, True)


@pytest.mark.usefixtures("platform")
def test_import_redirects_refuses_value_from_variable(
    in_yaml: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, a value of a variable becomes that of one environment."""
    monkeypatch.setenv("HOST", "a.example")
    text = IN_YAML.replace("https://a.example/", '"https://${HOST}/"')
    (in_yaml / "dpsync.yaml").write_text(text, encoding="utf-8")
    ended = run("import", "-C", str(in_yaml), "--force", "--redirects", "help")
    assert (ended.code, "comes from a variable, which would be lost" in ended.err) == (4, True)


def test_import_redirects_refuses_file_shared_between_environments(in_yaml: Path, run: Run) -> None:
    """Otherwise, the redirects of one environment become those of all that share the file."""
    (in_yaml / "dpsync.yaml").write_text(f"{IN_YAML}environments: {{ prod: {{}} }}\n", encoding="utf-8")
    ended = run("import", "-C", str(in_yaml), "--force", "--redirects", "help", "--env", "prod")
    assert (ended.code, "other environments also use dpsync.yaml (the top-level values)" in ended.err) == (
        4,
        True,
    )
    assert not (in_yaml / "help.redirects.csv").exists()


COMMENTED = """\
      help:
        title: Help center
        basename: help
        # all of them
        redirects:
          /a: { destination: { kind: external, url: "https://a.example/" } }  # never change
          # and this
          /b: { destination: { kind: external, url: https://b.example/ } }
"""


@pytest.mark.usefixtures("platform")
def test_import_redirects_refuses_to_drop_comments(project: Project, run: Run) -> None:
    """Otherwise, what a person has written about a redirect is lost."""
    text = re.sub(r"      help: .*\n", lambda _: COMMENTED, IN_YAML)
    directory = project(text)
    assert run("apply", "-C", str(directory), "--yes").code == 0
    ended = run("import", "-C", str(directory), "--force", "--redirects", "help")
    assert (
        ended.code,
        "2 comments would be lost, because CSV files have no comments: # never change" in ended.err,
    ) == (
        4,
        True,
    )
    assert (directory / "dpsync.yaml").read_text(encoding="utf-8") == text
    text = text.replace("  # never change", "").replace("          # and this\n", "")
    (directory / "dpsync.yaml").write_text(text, encoding="utf-8")
    imported(run, directory, 0, "--force", "--redirects", "help")
    assert "# all of them" in (directory / "dpsync.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: 1 # one\n# two\nb: '# no'\n", ["# one", "# two"]),
        ("a: |\n  # no comment\n  text # none\n# end", ["# end"]),
        ('a: x#y\nb: "c # d" #e\né: ü # ö\n', ["#e", "# ö"]),
        ("[a, # one\n b] # one\n", ["# one", "# one"]),
    ],
)
def test_yaml_comments_are_extracted(text: str, found: list[str]) -> None:
    assert sorted(comments(text).elements()) == sorted(found)


def test_import_redirects_refuses_existing_csv(directory: Path, run: Run) -> None:
    """Otherwise, a file of rows with all that people keep in it is written anew."""
    ended = run("import", "-C", str(directory), "--force", "--redirects", "help")
    assert (ended.code, "is already a CSV file" in ended.err) == (4, True)


def test_import_redirects_never_overwrites_file(in_yaml: Path, run: Run) -> None:
    """Otherwise, a file of somebody is written over."""
    (in_yaml / "help.redirects.csv").write_text("mine", encoding="utf-8")
    ended = run("import", "-C", str(in_yaml), "--force", "--redirects", "help")
    assert (ended.code, "already exists" in ended.err) == (4, True)
    assert (in_yaml / "help.redirects.csv").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(("site", "code"), [("nowhere", 4), ("acme/teams", 4)])
def test_import_redirects_requires_declared_site(in_yaml: Path, run: Run, site: str, code: int) -> None:
    ended = run("import", "-C", str(in_yaml), "--redirects", site)
    assert (ended.code, "acme/sites/help" in ended.err) == (code, True)


def test_import_redirects_cannot_be_combined_with_update(in_yaml: Path, run: Run) -> None:
    assert run("import", "-C", str(in_yaml), "--redirects", "help", "--update", "acme").code == 64


# The same mapping, in YAML and as rows.

SITE = """\
dpsync: 1
organizations:
  acme:
    id: acme
    sites:
      help:
        title: Help center
        basename: help
        redirects: """
KEYS = st.text("abcé-_%,\"' x=", min_size=1, max_size=6).map(lambda text: f"/{text}".rstrip())
DESTINATIONS = st.sampled_from(["https://a.example", "http://b.example/?a=1,2", 'https://c.example/"#$'])
FLAGS = st.fixed_dictionaries(
    {}, optional={name: st.booleans() for name in ("permanent", "draft", "captureWildcard")}
)
ENTRIES = st.fixed_dictionaries({"destination": DESTINATIONS.map(external)})
MAPPINGS = st.dictionaries(
    KEYS, st.builds(lambda one, flags: {**one, **flags}, ENTRIES, FLAGS), min_size=1, max_size=4
)


@settings(max_examples=examples(15, 300), suppress_health_check=list(HealthCheck), deadline=None)
@given(mapping=MAPPINGS)
def test_csv_and_yaml_redirects_have_same_plan(
    mapping: dict[str, Any], server: ThreadedServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    server.reset()
    rows = csv_text(REDIRECT, [cells_of_entry(REDIRECT, key, fields) for key, fields in mapping.items()])
    plans = []
    for body, files in ((json.dumps(mapping), {}), ("{ file: rows.csv }", {"rows.csv": rows})):
        directory = tmp_path_factory.mktemp("project")
        (directory / "dpsync.yaml").write_text(SITE + body.replace("$", "$$") + "\n", encoding="utf-8")
        for name, text in files.items():
            (directory / name).write_text(text, encoding="utf-8")
        with reading(server, "ada-token") as client:
            session = Session(load(directory / "dpsync.yaml", {}, REGISTRY), REGISTRY)
            plans.append(session.plan(client).plan.canonical_json())
    assert plans[0] == plans[1]
