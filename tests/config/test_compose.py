"""Several files as one configuration."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpsync.config import codes
from dpsync.config.compose import Composition, load_sources, merge
from dpsync.config.discovery import DiskFiles
from dpsync.config.yaml_reader import read
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.nodes import Mapping, node_value

ACME = "organizations:\n  acme:\n    title: Acme\n"


def load(directory: Path, files: dict[str, str], env: dict[str, str] | None = None) -> Composition:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load_sources(DiskFiles(directory / "dpsync.yaml"), env or {})


def places(diagnostics: tuple[Diagnostic, ...] | list[Diagnostic]) -> list[tuple[str, str]]:
    return [(diagnostic.code, str(diagnostic.span)) for diagnostic in diagnostics]


def test_included_files_are_merged_into_one_tree(tmp_path: Path) -> None:
    sources = load(
        tmp_path,
        {
            "dpsync.yaml": "dpsync: 1\ninclude: [teams.yaml, 'sites/*.yaml']\npolicy: {a: [b]}\n" + ACME,
            "teams.yaml": "organizations: {acme: {teams: {writers: {title: Writers}}}}\n",
            "sites/docs.yaml": "organizations: {acme: {sites: {docs: {title: '${TITLE}'}}}}\n",
            "sites/api.yaml": "organizations: {acme: {sites: {api: {title: API}}}, globex: {title: G}}\n",
        },
        {"TITLE": "Docs"},
    )
    assert sources.diagnostics == []
    tree = node_value(sources.root)
    assert isinstance(tree, dict)
    assert tree["policy"] == {"a": ["b"]}
    assert tree["organizations"] == {
        "acme": {
            "title": "Acme",
            "teams": {"writers": {"title": "Writers"}},
            "sites": {"docs": {"title": "Docs"}, "api": {"title": "API"}},
        },
        "globex": {"title": "G"},
    }
    assert sorted(sources.texts) == ["dpsync.yaml", "sites/api.yaml", "sites/docs.yaml", "teams.yaml"]


def test_merged_entries_keep_their_file_positions(tmp_path: Path) -> None:
    sources = load(
        tmp_path,
        {
            "dpsync.yaml": "dpsync: 1\ninclude: [a/teams.yaml]\n" + ACME,
            "a/teams.yaml": "organizations:\n  acme:\n    teams: {}\n",
        },
    )
    organizations = sources.root.get("organizations")
    assert isinstance(organizations, Mapping)
    acme = organizations.get("acme")
    assert isinstance(acme, Mapping)
    assert [str(key.span) for key, _ in acme] == ["dpsync.yaml:5:5", "a/teams.yaml:3:5"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("title: A", "title: B"),
        ("title: A", "title: A"),
        ("domains: [a]", "domains: [b]"),
        ("teams: null", "teams: {a: {}}"),
        ("teams: {a: {}}", "teams: []"),
    ],
)
def test_duplicate_value_in_two_files_is_an_error(tmp_path: Path, first: str, second: str) -> None:
    sources = load(
        tmp_path,
        {
            "dpsync.yaml": f"dpsync: 1\ninclude: [b.yaml]\norganizations:\n  acme:\n    {first}\n",
            "b.yaml": f"organizations:\n  acme:\n    {second}\n",
        },
    )
    [problem] = sources.diagnostics
    assert (problem.code, str(problem.span)) == (codes.DUPLICATE_VALUE, "b.yaml:3:5")
    assert [(label, str(span)) for label, span in problem.related] == [("the first one", "dpsync.yaml:5:5")]


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("", codes.EMPTY, "dpsync.yaml:1:1"),
        ("# nothing\n", codes.EMPTY, "dpsync.yaml:1:1"),
        ("---\n", codes.EMPTY, "dpsync.yaml:1:1"),
        ("null\n", codes.EMPTY, "dpsync.yaml:1:1"),
        ("dpsync: 1\n", codes.EMPTY, "dpsync.yaml:1:1"),
        ("dpsync: 1\norganizations:\n", codes.EMPTY, "dpsync.yaml:2:1"),
        ("dpsync: 1\norganizations: {}\n", codes.EMPTY, "dpsync.yaml:2:1"),
        ("dpsync: 1\norganizations: [acme]\n", codes.SHAPE, "dpsync.yaml:2:16"),
        ("dpsync: 1\norganizations: acme\n", codes.SHAPE, "dpsync.yaml:2:16"),
        ("[a]\n", codes.SHAPE, "dpsync.yaml:1:1"),
        ("a:b\n", codes.SHAPE, "dpsync.yaml:1:1"),
        (ACME, codes.FORMAT_VERSION, "dpsync.yaml:1:1"),
        ("dpsync: 2\n" + ACME, codes.FORMAT_VERSION, "dpsync.yaml:1:9"),
        ("dpsync: '1'\n" + ACME, codes.FORMAT_VERSION, "dpsync.yaml:1:9"),
        ("dpsync: 1.0\n" + ACME, codes.FORMAT_VERSION, "dpsync.yaml:1:9"),
        ("dpsync: true\n" + ACME, codes.FORMAT_VERSION, "dpsync.yaml:1:9"),
        ("dpsync: {}\n" + ACME, codes.FORMAT_VERSION, "dpsync.yaml:1:9"),
        ("dpsync: 1\npolicies: {}\n" + ACME, codes.TOP_KEY, "dpsync.yaml:2:1"),
        ("dpsync: 1\ninclude: [a.yaml]\n" + ACME, codes.NO_MATCH, "dpsync.yaml:2:11"),
        ("dpsync: 1\ninclude: ['s/*.yaml']\n", codes.NO_MATCH, "dpsync.yaml:2:11"),
        ("dpsync: 1\ninclude: ['${X}']\n" + ACME, codes.MISSING_VARIABLE, "dpsync.yaml:2:12"),
    ],
)
def test_unusable_root_file_error_is_located(tmp_path: Path, text: str, code: str, place: str) -> None:
    problems = places(load(tmp_path, {"dpsync.yaml": text}).diagnostics)
    assert problems[0] == (code, place)


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("", codes.EMPTY, "b.yaml:1:1"),
        ("[a]", codes.SHAPE, "b.yaml:1:1"),
        ("dpsync: 1\n", codes.TOP_KEY, "b.yaml:1:1"),
        ("include: [c.yaml]\n", codes.TOP_KEY, "b.yaml:1:1"),
        ("policy: {}\n", codes.TOP_KEY, "b.yaml:1:1"),
        ("environments: {}\n", codes.TOP_KEY, "b.yaml:1:1"),
        ("organisations: {}\n", codes.TOP_KEY, "b.yaml:1:1"),
        ("a: [\n", codes.SYNTAX, "b.yaml:1:4"),
    ],
)
def test_unusable_included_file_error_is_located(tmp_path: Path, text: str, code: str, place: str) -> None:
    sources = load(tmp_path, {"dpsync.yaml": "dpsync: 1\ninclude: [b.yaml]\n" + ACME, "b.yaml": text})
    assert places(sources.diagnostics) == [(code, place)]
    assert sources.texts["b.yaml"] == text


def test_unparsable_included_file_is_reported_once(tmp_path: Path) -> None:
    sources = load(tmp_path, {"dpsync.yaml": "dpsync: 1\ninclude: [b.yaml]\n", "b.yaml": "a: [\n"})
    assert places(sources.diagnostics) == [(codes.SYNTAX, "b.yaml:1:4")]


def test_missing_root_file_is_reported(tmp_path: Path) -> None:
    sources = load(tmp_path, {})
    assert [problem.code for problem in sources.diagnostics] == [codes.UNREADABLE]
    assert sources.root.entries == ()


def test_errors_of_all_included_files_are_collected(tmp_path: Path) -> None:
    sources = load(
        tmp_path,
        {
            "dpsync.yaml": "dpsync: 3\ninclude: [b.yaml, c.yaml, d.yaml]\n" + ACME,
            "b.yaml": "organizations: {acme: {title: '${NOPE}'}}\n",
            "c.yaml": "a: [",
        },
    )
    assert places(sources.diagnostics) == [
        (codes.FORMAT_VERSION, "dpsync.yaml:1:9"),
        (codes.NO_MATCH, "dpsync.yaml:2:27"),
        (codes.MISSING_VARIABLE, "b.yaml:1:32"),
        (codes.SYNTAX, "c.yaml:1:4"),
        (codes.DUPLICATE_VALUE, "b.yaml:1:24"),
    ]


def test_include_path_may_contain_variables(tmp_path: Path) -> None:
    files = {"dpsync.yaml": "dpsync: 1\ninclude: ['${STAGE}.yaml']\n", "prod.yaml": ACME}
    sources = load(tmp_path, files, {"STAGE": "prod"})
    assert sources.diagnostics == []
    assert places(load(tmp_path, files, {"STAGE": "../../etc/x"}).diagnostics)[0][0] == codes.OUTSIDE


trees = st.dictionaries(
    st.sampled_from("abc"),
    st.recursive(
        st.integers(0, 3) | st.lists(st.integers(0, 3), max_size=2),
        lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        max_leaves=6,
    ),
    max_size=3,
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(trees, min_size=1, max_size=4), st.randoms())
def test_merge_result_is_independent_of_file_order(parts: list[dict[str, object]], random: object) -> None:
    nodes = []
    for number, part in enumerate(parts):
        node, problems = read(str(part), f"{number}.yaml")
        assert isinstance(node, Mapping)
        assert problems == []
        nodes.append(node)
    merged, problems = merge(nodes)
    shuffled = sorted(nodes, key=lambda _: random.random())
    again, problems_again = merge(shuffled)
    assert len(problems) == len(problems_again)
    if not problems:
        assert node_value(merged) == node_value(again)
