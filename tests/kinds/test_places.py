"""Which patterns can fit an address at all, and what was probably meant by the others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsync.config.load import load as load_configuration
from dpsync.kinds.address_patterns import PatternTarget, PlaceTypes
from dpsync.kinds.registry import build_registry
from dpsync.model.address import Address, Pattern
from tests.soak import examples

REGISTRY = build_registry().with_all_kinds
PLACES = PlaceTypes(REGISTRY, ["acme", "globex"])


def mistake(text: str, names: PatternTarget = "anything") -> str | None:
    """Return the problem and the hint of a pattern in one line, or None if the pattern can match."""
    found = PLACES.find_problem(Pattern.parse(text, REGISTRY.pattern_words), names)
    return f"{found.reason}; {found.hint}" if found else None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("teams/*", "objects"),
        ("globex/teams/support", "objects"),
        ("*/teams/*", "objects"),
        ("acme", "objects"),
        ("acme/**", "objects"),
        ("**", "objects"),
        ("**/support", "objects"),
        ("**/members/*", "objects"),
        ("teams/**/lin@acme.example", "objects"),
        ("teams/*/members/lin@acme.example", "objects"),
        ("teams/[Sales]", "objects"),
        ("teams/[Sales~team-1]", "objects"),
        ("sites/docs/structure/news", "objects"),
        ("sites/docs/structure/news/latest", "objects"),
        ("sites/docs/structure/news/latest/customization", "objects"),
        ("sites/docs/customization", "objects"),
        ("sites/docs/redirects/%2Fold", "objects"),
        ("sites/docs/redirects//old/start", "objects"),
        ("sites/docs/redirects/[/old/start]", "objects"),
        ("spaces/*/permissions/teams/writers", "objects"),
        ("agentInstructions", "objects"),
        ("teams", "lists"),
        ("acme/teams", "lists"),
        ("**", "lists"),
        ("sites/**", "lists"),
        ("teams/*/members", "lists"),
        ("sites/*/structure", "lists"),
        ("spaces/*/permissions/teams", "lists"),
        ("sites/docs/customization", "lists"),
        ("teams", "anything"),
        ("spaces/*/permissions", "anything"),
        ("spaces/*#emoji", "anything"),
        ("sites/*/structure/*#group", "anything"),
        ("sites/*/structure/**#path", "anything"),
        ("**#description", "anything"),
        ("acme#title", "anything"),
        ("sites/*/customization#styling", "anything"),
    ],
)
def test_address_pattern_matching_possible_addresses_is_accepted(text: str, names: PatternTarget) -> None:
    assert mistake(text, names) is None


@pytest.mark.parametrize(
    ("text", "names", "near"),
    [
        ("globex/team/support", "objects", "globex/teams/support"),
        ("team/*", "objects", "teams/*"),
        ("globx/teams/*", "objects", "globex/teams/*"),
        ("team/writers/membrs/*", "objects", "teams/writers/members/*"),
        (
            "acme/teams/writers/members/Ada@Acme.example",
            "objects",
            "acme/teams/writers/members/ada@acme.example",
        ),
        ("sites/docs/redirects/%2fold", "objects", "sites/docs/redirects/%2Fold"),
        ("acme//teams/writers", "anything", None),
        ("sites//docs", "anything", None),
        ("teams/*", "lists", "teams"),
        ("team", "lists", "teams"),
        ("sites/docs/structure/*", "lists", "sites/docs/structure"),
        ("sites/*/struktur", "lists", "sites/*/structure"),
        ("acme", "lists", None),
        ("spaces/*/permissions", "lists", None),
        ("spaces/*#emojii", "anything", "spaces/*#emoji"),
        ("space/*#emoji", "anything", "spaces/*#emoji"),
        ("**#emojii", "anything", "**#emoji"),
        ("sites/*/structure/*#visibility", "anything", None),
        ("/".join(["a"] * 500), "anything", None),
    ],
)
def test_unmatchable_address_pattern_gets_suggestion(
    text: str, names: PatternTarget, near: str | None
) -> None:
    found = mistake(text, names)
    assert found is not None
    if near is not None:
        assert found.endswith(f'did you mean "{near}"?'), found


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("teams/*#titel", 'a team has no field "titel"'),
        ("**/docs#titel", 'no object at this address has a field "titel"'),
        ("teams#title", '"teams" is a list of entries, and a list has no fields'),
    ],
)
def test_pattern_error_names_unknown_field(text: str, reason: str) -> None:
    assert (mistake(text) or "").partition(";")[0] == reason


@pytest.mark.parametrize(
    ("text", "names", "hint"),
    [
        ("sites/docs/sections", "lists", "possible here: "),
        ("*", "lists", "possible here: "),
        ("sites/structure", "lists", "possible here: "),
        ("sites/docs/structure/news/latest/more", "objects", "possible here: customization"),
        ("teams", "objects", 'add the key of an entry: "teams/KEY"'),
        ("spaces#emoji", "anything", 'add the key of an entry: "spaces/KEY#emoji"'),
    ],
)
def test_pattern_without_close_correction_gets_no_suggestion(
    text: str, names: PatternTarget, hint: str
) -> None:
    found = mistake(text, names)
    assert found is not None
    assert "did you mean" not in found
    assert hint in found


WORDS = [
    "acme",
    "globex",
    "teams",
    "sites",
    "structure",
    "redirects",
    "members",
    "docs",
    "x",
    "team",
    "*",
    "**",
]


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
    st.sampled_from(["objects", "lists", "anything"]),
)
@settings(max_examples=examples(150, 20_000))
def test_suggested_pattern_matches_no_more_than_original(segments: list[str], names: PatternTarget) -> None:
    """It has no wildcard more, and names nothing less: whoever follows it deletes or ignores no more."""
    found = re.search(r'did you mean "(.*)"', mistake("/".join(segments), names) or "")
    if found is not None:
        meant = found[1].split("/")
        stars, before = (sum("*" in one for one in each) for each in (meant, segments))
        assert stars <= before
        assert len(meant) - stars >= len(segments) - before


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("root", ["examples/acme", "tests/cli/block"])
def test_every_declared_address_has_kind_and_valid_pattern(root: str) -> None:
    desired, found = load_configuration(ROOT / root / "dpsync.yaml", REGISTRY, {})
    assert not found
    places = PlaceTypes(REGISTRY, {address.segments[0] for address in desired.entries})
    for address, resource in desired.entries.items():
        assert resource.kind in {kind.name for kind in places.kinds(address)}
        assert places.find_problem(Pattern(str(address), address.segments), "objects") is None
    for address in desired.scopes:
        assert places.find_problem(Pattern(str(address), address.segments), "lists") is None


def test_structure_address_may_be_any_node_kind() -> None:
    found = PLACES.kinds(Address.parse("acme/sites/docs/structure/news"))
    assert [kind.name for kind in found] == ["external_link", "section", "section_group", "site_space"]
    assert PLACES.kinds(Address.parse("acme/sites/docs/structure")) == ()
