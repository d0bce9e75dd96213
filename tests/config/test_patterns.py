"""Patterns match the same names in a directory and in a commit.

Also: what an environment may contain, and the size limits of files.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsync.config import ids_file, yaml_reader
from dpsync.config.discovery import matches_include, yaml_files
from dpsync.config.layers import check_environments
from dpsync.config.yaml_reader import DEFAULT_LIMITS, FileLimits, read
from dpsync.importing.keys import MAX_KEY_CHARS, slugify
from dpsync.kinds.types.free_form import looks_secret
from dpsync.model.nodes import Mapping
from dpsync.model.urls import url_problem

from .loading import loaded, organization
from .test_discovery import include, write

NAMES = [
    "a.yaml",
    "b.yml",
    ".c.yaml",
    "x/a.yaml",
    "x/y/a.yaml",
    "x/y/z/a.yaml",
    "x/.h/a.yaml",
    "x/y/.a.yaml",
    "y/a.yaml",
]
PATTERNS = [
    "a.yaml",
    "./a.yaml",
    "*.yaml",
    "*",
    "**",
    "**/a.yaml",
    "x/*",
    "x/*.yaml",
    "x/**",
    "x/**/a.yaml",
    "x/**/*.yaml",
    "*/a.yaml",
    "*/*/a.yaml",
    "**/y/*.yaml",
    "**/y/**",
    "x/.h/*",
    "x/.*/a.yaml",
    ".*.yaml",
    "**/.a.yaml",
    "x/*/**",
    "x/**/**/a.yaml",
    "?.yaml",
    "[ab].y*",
    "x/y/z",
    "nope/*",
    "**/z/a.yaml",
    "**/.h/a.yaml",
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in NAMES:
        write(tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("pattern", PATTERNS)
def test_include_pattern_matches_like_directory_search(project: Path, pattern: str) -> None:
    found, _ = include(project, pattern)
    assert [name for name in sorted(NAMES) if matches_include(name, pattern)] == found


def test_yaml_file_search_skips_hidden_files_and_symlinks(project: Path) -> None:
    (project / "notes.txt").write_text("")
    (project / "link.yaml").symlink_to(project / "a.yaml")
    names = ["a.yaml", "b.yml", "x/a.yaml", "y/a.yaml", "x/y/a.yaml", "x/y/z/a.yaml"]
    found = [
        [str(path.relative_to(project)) for path in yaml_files(project, most)] for most in (9, 5, 3, 1, 0)
    ]
    assert found == [names, names, names[:4], names[:2], []]


FOUND_BY = 'an organization in an environment needs "id" or "hostname"'
URL_RULE = (
    "is not an allowed variable in a url: use DPSYNC_URL, or a variable whose name begins with DPSYNC_URL_"
)
WRITTEN_SECRET = "32 the secret itself must not be in the file"
TOKEN_RULE = (
    "is not an allowed token variable: use DPSYNC_TOKEN, or a variable whose name begins with DPSYNC_TOKEN_"
)


def told(environments: str) -> list[str]:
    node, _ = read(f"environments: {environments}", "f")
    assert isinstance(node, Mapping)
    found = check_environments(node, {"DPSYNC_TOKEN_NAMES": "ADDED"})
    return [f"{one.span.column if one.span else 0} {one.message}" for one in found]


@pytest.mark.parametrize(
    ("environments", "wrong"),
    [
        ("{}", []),
        ("{ prod: {} }", []),
        ("{ prod: { url: 'https://a.example', overlay: o.yaml, token: { env: DPSYNC_TOKEN } } }", []),
        ("{ prod: { token: { env: DPSYNC_TOKEN_prod2 } } }", []),
        ("{ prod: { token: { env: ADDED } } }", []),
        ("{ prod: { token: { env: AWS_SECRET_ACCESS_KEY } } }", ["39 AWS_SECRET_ACCESS_KEY " + TOKEN_RULE]),
        ("{ prod: { token: { env: DPSYNC_TOKENS } } }", ["39 DPSYNC_TOKENS " + TOKEN_RULE]),
        ("{ prod: { token: { env: DPSYNC_TOKEN_ } } }", ["39 DPSYNC_TOKEN_ " + TOKEN_RULE]),
        ("{ prod: { token: { env: DPSYNC_TOKEN_FILE } } }", ["39 DPSYNC_TOKEN_FILE " + TOKEN_RULE]),
        ("{ prod: { token: { env: DPSYNC_TOKEN_NAMES } } }", ["39 DPSYNC_TOKEN_NAMES " + TOKEN_RULE]),
        ("{ prod: { token: { env: 'DPSYNC_TOKEN_${SECRET}' } } }", [WRITTEN_SECRET]),
        ("{ prod: { token: { env: gb_api_123 } } }", [WRITTEN_SECRET]),
        ("{ prod: { url: '${DPSYNC_URL}' } }", []),
        ("{ prod: { url: '${DPSYNC_URL_EU:-https://a.example}/${DPSYNC_URL_PATH}' } }", []),
        ("{ prod: { url: 'https://a.example/$${SECRET}' } }", []),
        ("{ prod: { url: 'https://${SECRET}.example' } }", ["30 SECRET " + URL_RULE]),
        ("{ prod: { url: '${SECRET:-https://a.example}' } }", ["30 SECRET " + URL_RULE]),
        ("{ prod: { url: '$$${SECRET}' } }", ["30 SECRET " + URL_RULE]),
        ("{ prod: { url: '${DPSYNC_TOKEN}' } }", ["30 DPSYNC_TOKEN " + URL_RULE]),
        ("{ prod: { url: '${DPSYNC_URLS}' } }", ["30 DPSYNC_URLS " + URL_RULE]),
        ("{ prod: { organizations: { acme: { id: a }, globex: { hostname: g } } } }", []),
        ("[prod]", ['15 "environments" must be a mapping of names to environments']),
        ("{ prod: [] }", ['23 the environment "prod" must be a mapping']),
        (
            "{ a: 1, b: 2 }",
            ['20 the environment "a" must be a mapping', '26 the environment "b" must be a mapping'],
        ),
        ("{ prod: { url: 5 } }", ['30 "url" must be a text']),
        ("{ prod: { url: '' } }", ['30 "url" must be a text']),
        ("{ prod: { url: 'ftp://a' } }", [f"30 the url {url_problem('ftp://a')}"]),
        ("{ prod: { overlay: [a] } }", ['34 "overlay" must be a text']),
        ("{ prod: { token: abc } }", [WRITTEN_SECRET]),
        ("{ prod: { token: { env: '' } } }", [WRITTEN_SECRET]),
        ("{ prod: { token: { env: A, more: b } } }", [WRITTEN_SECRET]),
        ("{ prod: { token: { file: A } } }", [WRITTEN_SECRET]),
        (
            "{ prod: { ulr: a, x: 1 } }",
            ['25 unknown key "ulr" in an environment', '33 unknown key "x" in an environment'],
        ),
        ("{ prod: { organizations: [] } }", ['40 "organizations" in an environment must be a mapping']),
        ("{ prod: { organizations: { a: [] } } }", ["45 " + FOUND_BY]),
        ("{ prod: { organizations: { a: {} } } }", ["45 " + FOUND_BY]),
        (
            "{ prod: { organizations: { a: { title: T } } } }",
            ['47 "title" is not allowed in an organization under "environments"'],
        ),
        ("{ prod: { organizations: { a: { id: 5 } } } }", ['51 "id" must be a text']),
        ("{ prod: { organizations: { a: { id: '' } } } }", ['51 "id" must be a text']),
    ],
)
def test_invalid_environments_are_reported_with_position(environments: str, wrong: list[str]) -> None:
    assert told(environments) == wrong


def test_yaml_reader_enforces_documented_file_limits() -> None:
    limits = FileLimits(bytes=10_000_000, depth=64, nodes=200_000, scalar=1_000_000, aliases=100)
    assert limits == DEFAULT_LIMITS
    assert read("[" * 64 + "]" * 64, "f")[1] == []
    assert read("[" * 65 + "]" * 65, "f")[1] != []
    assert (yaml_reader.NUMBER_LENGTH, ids_file._MAX_KEY_CHARS) == (64, 1000)


@pytest.mark.parametrize(
    ("title", "key"),
    [
        ("Technical Writers", "technical-writers"),
        ("  --a__b..c ", "a-b-c"),
        ("Größe & Fuß", "groe-fu"),
        ("Größe", "groe"),
        ("日本", ""),
        ("", ""),
        ("x" * MAX_KEY_CHARS, "x" * MAX_KEY_CHARS),
        ("x" * (MAX_KEY_CHARS + 1), "x" * MAX_KEY_CHARS),
        ("x" * (MAX_KEY_CHARS - 1) + " yz", "x" * (MAX_KEY_CHARS - 1)),
    ],
)
def test_slug_is_derived_from_title(title: str, key: str) -> None:
    assert slugify(title) == key


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("a1b2c3d4e5f6a7b8", True),
        ("a1b2c3d4e5f6a7b", False),
        ("aaaaaaaaaaaaaaaa", False),
        ("abcdefgh12345678", False),
        ("12345", False),
        ("a1a1a1a1a1a1a1a1", False),
    ],
)
def test_random_looking_text_is_detected_as_secret(text: str, secret: bool) -> None:
    assert looks_secret("value", text) is secret


def test_empty_text_clears_nullable_field(tmp_path: Path) -> None:
    desired, found = loaded(tmp_path, organization("collections: { a: { title: T, description: '' } }"))
    (resource,) = (one for one in desired.entries.values() if "description" in one.fields)
    assert (resource.fields["description"], found) == (None, [])
