"""`dpsync explain` describes a kind, a field, a key or a code; for a wrong word it names the nearest word."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from dpsync.kinds.registry import build_registry
from dpsync.model.urls import DOCS_URL
from dpsync.render.error_page import find_code, read_code_sections
from dpsync.render.explanations import explainable_words, find_explanation
from tests.cli.conftest import Run
from tests.docs.markdown import sections
from tools.site_pages import anchor

REGISTRY = build_registry().with_all_kinds
ROOT = Path(__file__).parents[2]
PAGES = {page.name for page in (ROOT / "docs").rglob("*.md")}


@pytest.mark.parametrize("word", explainable_words(REGISTRY))
def test_explain_covers_every_kind_field_and_key(word: str) -> None:
    said = find_explanation(REGISTRY, word)
    assert said is not None
    assert said.meaning.endswith(".")


@pytest.mark.parametrize("word", ["site", "Site", "sites", "SITES"])
def test_explain_accepts_kind_name_or_key(word: str, run: Run) -> None:
    assert run("explain", word).out.startswith("site\n")


@pytest.mark.parametrize(
    ("word", "kind"),
    [("section-group", "section_group"), ("SAML provider", "saml"), ("external-link", "external_link"),
     ("permissions.members", None), ("siteSpace", "site_space"), ("space", "space")],
)  # fmt: skip
def test_explain_accepts_common_kind_names(word: str, kind: str | None) -> None:
    said = find_explanation(REGISTRY, word)
    assert (said.heading if said else None) == kind


def test_explain_field_shows_values_and_access_rule(run: Run) -> None:
    out = run("explain", "site.visibility").out
    assert "Values         public: Everyone can read the site" in out
    assert "Opens access   A change to a value further right in this list lets somebody" in out
    assert "docs: { title: Acme Docs, visibility: public }" in out
    assert "null clears emoji." in run("explain", "space.emoji").out


@pytest.mark.parametrize("word", [*explainable_words(REGISTRY), *read_code_sections()])
def test_explain_links_only_to_existing_web_pages(word: str, run: Run) -> None:
    """A user who installed the wheel has no docs folder."""
    out = run("explain", word).out
    *lines, last = out.splitlines()
    address, _, heading = last.removeprefix(f"  More: {DOCS_URL}/").partition("#")
    assert (ROOT / "docs" / address).is_file()
    assert not heading or heading in headings(address)
    assert [page for page in PAGES if re.search(rf"(?<!/){re.escape(page)}", "\n".join(lines))] == []


@cache
def headings(address: str) -> set[str]:
    return {anchor(one.title) for one in sections(ROOT / "docs" / address)}


@pytest.mark.parametrize(
    ("word", "opens"),
    [
        ("space.collection", "A change that gives somebody a stronger role lets this person see or do more."),
        (
            "member_permission.role",
            "A change that gives somebody a stronger role lets this person see or do more.",
        ),
        (
            "member.role",
            "A change to a value further right in this list lets somebody see or do more: "
            "guest, read, comment, edit, review, create, admin.",
        ),
        (
            "team_permission",
            "A change to an object of this type opens access if somebody gets a stronger role.",
        ),
    ],
)
def test_explain_lists_role_changes_widening_access(word: str, opens: str) -> None:
    said = find_explanation(REGISTRY, word)
    assert said is not None
    assert dict(said.facts)["Opens access"] == opens


def test_explain_prints_no_empty_facts() -> None:
    facts = [
        fact for kind in REGISTRY.kinds if (said := find_explanation(REGISTRY, kind)) for fact in said.facts
    ]
    assert [fact for fact in facts if fact[1].rstrip().endswith(":")] == []


def test_explain_names_api_versions_lacking_a_field(run: Run) -> None:
    assert "version reference does not have" in run("explain", "redirect.source").out
    said = find_explanation(REGISTRY, "section.draft")
    assert said is not None
    assert "reference does not accept every value of this field" in dict(said.facts)["API versions"]


@pytest.mark.parametrize(
    ("word", "profiles"),
    [
        ("team", "full, reference, published."),
        ("space", "full, reference, published. The API version reference cannot create a space."),
        ("space.title", "full, reference, published."),
    ],
)
def test_explain_lists_api_versions_of_kind_and_field(word: str, profiles: str) -> None:
    said = find_explanation(REGISTRY, word)
    assert said is not None
    assert dict(said.facts)["API versions"] == profiles


def test_explain_policy_watch_lists_access_patterns(run: Run) -> None:
    out = run("explain", "policy.watch").out
    assert "access means" in out
    assert "sites/*/shareLinks" in out


def test_explain_describes_nested_field(run: Run) -> None:
    out = run("explain", "openapi.source.url").out
    assert "The URL from which GitBook fetches the specification." in out


@pytest.mark.parametrize("word", ["section", "space", "page", "url"])
def test_explain_describes_redirect_short_form(word: str, run: Run) -> None:
    ended = run("explain", f"redirect.{word}")
    assert (ended.code, ended.out.splitlines()[0]) == (0, f"redirect.{word}")
    assert f"In an entry, write {word} directly, without destination." in ended.out
    assert f"/old-guides: {{ {word}: " in ended.out
    assert f"{word}: The " in run("explain", "redirect").out


@pytest.mark.parametrize("code", ["DP201", "dp201", "error[DP201]"])
def test_explain_prints_error_code_documentation(code: str, run: Run) -> None:
    out = run("explain", code).out
    assert out.startswith("DP201\n  ")
    assert "**" not in out
    assert "```" not in out


def test_explain_knows_every_documented_error_code() -> None:
    known = read_code_sections()
    assert len(known) > 100
    assert [code for code in known if find_code(code, known) != code] == []
    assert all("".join(section).strip() for section in known.values())


def test_error_codes_differ_from_kind_names() -> None:
    assert set(read_code_sections()) & set(explainable_words(REGISTRY)) == set()


def test_explain_without_argument_lists_all_kinds(run: Run) -> None:
    ended = run("explain")
    assert ended.code == 0
    assert [name for name in REGISTRY.kinds if f"  {name} " not in ended.out] == []


@pytest.mark.parametrize(
    ("word", "hint"),
    [("site.titel", 'Did you mean "site.title"?'), ("DP299", "dpsync explain"), ("sitte", "site"),
     ("site.title.x", "site.title"), ("", "dpsync explain"), ("../../etc/passwd", "dpsync explain")],
)  # fmt: skip
def test_explain_unknown_word_exits_64_with_suggestion(word: str, hint: str, run: Run) -> None:
    ended = run("explain", word)
    assert (ended.code, ended.out) == (64, "")
    assert hint in ended.err


def test_explain_escapes_control_characters_in_argument(run: Run) -> None:
    ended = run("explain", "\x1b[2Jsite\u202e\n")
    assert ended.code == 64
    assert "\x1b" not in ended.err
    assert "\u202e" not in ended.err


@pytest.mark.parametrize("word", ["site", "member.role", "DP117", ""])
def test_explain_text_fits_80_columns(word: str, run: Run) -> None:
    out = run("explain", *filter(None, [word])).out
    assert [line for line in out.splitlines() if len(line) > 80 and not line.startswith("    ")] == []


def test_explain_error_code_imports_no_heavy_modules() -> None:
    code = (
        "import sys\nfrom dpsync.cli.main import main\n"
        "try:\n    main(['explain', 'DP201'])\nexcept SystemExit:\n    pass\n"
        "heavy = ('httpx', 'pydantic', 'yaml', 'ruamel', 'dpsync.kinds', 'dpsync.config')\n"
        "print([name for name in heavy if name in sys.modules], file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr.strip() == "[]"
