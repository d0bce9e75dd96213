"""The policy: what is pruned, protected and left alone, and where a pattern may not reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsync.kinds.registry import build_registry
from dpsync.kinds.watch_patterns import access_patterns
from dpsync.model.address import Address
from dpsync.model.desired import Limits

from .loading import expect, loaded, organization

TEAMS = "teams: { w: { title: W } }"
REGISTRY = build_registry().with_all_kinds


def policy(text: str, body: str = TEAMS) -> str:
    return organization(body, f"policy: {text}\n")


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("▸[teams]", "DP202", '"policy" must be a mapping'),
        ("▸null", "DP202", '"policy" must be a mapping'),
        ("▸none", "DP202", '"policy" must be a mapping'),
        ("{ ▸prunes: [teams] }", "DP201", 'did you mean "prune"?'),
        ("{ prune: ▸teams }", "DP202", '"prune" must be a list of addresses or patterns'),
        ("{ prune: ▸null }", "DP202", '"prune" must be a list of addresses or patterns'),
        (
            "{ protect: [▸{ address: teams/w }] }",
            "DP202",
            'a mapping under "protect" must have the key "address" and the line "skip: true"',
        ),
        (
            "{ protect: [▸{ address: teams/w, skip: false }] }",
            "DP202",
            'a mapping under "protect" must have the key "address"',
        ),
        ("{ protect: [▸{ skip: true }] }", "DP202", 'a mapping under "protect" must have the key "address"'),
        (
            "{ protect: [{ address: ▸'teams/w#title', skip: true }] }",
            "DP230",
            "accepts only addresses without a field",
        ),
        ("{ prune: [▸{ address: teams, skip: true }] }", "DP202", "an address or pattern must be a text"),
        ("{ protect: [▸5] }", "DP202", "an address or pattern must be a text"),
        ("{ ignore: [▸{ a: b }] }", "DP202", "an address or pattern must be a text"),
        ("{ prune: [▸'te*'] }", "DP230", "can only replace a whole name between slashes"),
        ("{ prune: [▸teams/] }", "DP230", "names separated by single slashes"),
        ("{ protect: [▸''] }", "DP230", "names separated by single slashes"),
        ("{ ignore: [▸'teams/*#'] }", "DP230", "the name of a field is missing"),
        ("{ prune: [▸'teams/*#title'] }", "DP230", '"prune" accepts only addresses without a field'),
        ("{ watch: [▸'openapi/*#=private'] }", "DP230", "the name of a field is missing between # and ="),
        ("{ watch: [▸'openapi/*#visibility=open'] }", "DP234", "use one of private, public, or null"),
        ("{ watch: [▸'openapi/*#slug=a'] }", "DP234", "has no fixed list of values"),
        ("{ watch: [▸'openapi/*#visible=private'] }", "DP234", 'did you mean "openapi/*#visibility"?'),
        (
            "{ watch: [▸'openapi#visibility=private'] }",
            "DP234",
            'add the key of an entry: "openapi/KEY#visibility=private"',
        ),
        ("{ protect: [▸'teams/*#title'] }", "DP230", '"protect" accepts only addresses without a field'),
        ("{ limits: ▸5 }", "DP202", '"limits" must be a mapping with "deletes", "percent" or "exposures"'),
        ("{ limits: { ▸delete: 5 } }", "DP201", 'did you mean "deletes"?'),
        ("{ limits: { deletes: ▸-1 } }", "DP202", "deletes must be a whole number, 0 or more"),
        ("{ limits: { deletes: ▸true } }", "DP202", "deletes must be a whole number, 0 or more"),
        ("{ limits: { exposures: ▸-1 } }", "DP202", "exposures must be a whole number, 0 or more"),
        ("{ limits: { exposures: ▸null } }", "DP202", "exposures must be a whole number, 0 or more"),
        ("{ limits: { exposures: ▸false } }", "DP202", "exposures must be a whole number, 0 or more"),
        ("{ limits: { ▸exposure: 1 } }", "DP201", 'did you mean "exposures"?'),
        ("{ limits: { percent: ▸20% } }", "DP202", "percent must be a whole number, 0 or more"),
        ("{ limits: { percent: ▸1.5 } }", "DP202", "percent must be a whole number, 0 or more"),
        ("{ protect: [▸'acme/team/w'] }", "DP234", 'did you mean "acme/teams/w"?'),
        ("{ protect: [▸'globex/teams/w'] }", "DP234", "neither an organization in your files"),
        ("{ protect: [▸teams] }", "DP234", 'add the key of an entry: "teams/KEY"'),
        ("{ prune: [▸'*'] }", "DP234", "possible here"),
        ("{ prune: [▸sites/docs/sections] }", "DP234", "possible here"),
        ("{ prune: [▸'teams/*'] }", "DP234", 'did you mean "teams"?'),
        ("{ prune: [teams, ▸'sites/*/struktur'] }", "DP234", 'did you mean "sites/*/structure"?'),
        ("{ ignore: [▸'team/*'] }", "DP234", 'did you mean "teams/*"?'),
        ("{ ignore: [▸'spaces/*#emojii'] }", "DP234", 'did you mean "spaces/*#emoji"?'),
        ("{ forget: [▸'teams/Old team'] }", "DP234", "cannot be the key of a team"),
        ("{ watch: [▸'spaces/*#title'] }", "DP234", 'dpsync does not know the default value of "title"'),
        (
            "{ watch: [▸'spaces#defaultLevel'] }",
            "DP234",
            'add the key of an entry: "spaces/KEY#defaultLevel"',
        ),
        ("{ watch: [▸'spaces/*#defaultLevl'] }", "DP234", 'did you mean "spaces/*#defaultLevel"?'),
        ("{ accept: ▸saml/w }", "DP202", '"accept" must be a list of addresses or patterns'),
        ("{ accept: [▸'saml/w#'] }", "DP230", "the name of a field is missing"),
        ("{ accept: [▸'sam/w#status'] }", "DP234", 'did you mean "saml/w#status"?'),
        ("{ accept: [▸'saml#status'] }", "DP234", 'add the key of an entry: "saml/KEY#status"'),
        ("{ accept: [▸saml/w] }", "DP244", 'did you mean "saml/w#status"?'),
        ("{ accept: [▸'saml/*#statu'] }", "DP244", 'did you mean "saml/*#status"?'),
        ("{ accept: [▸'saml/w#label'] }", "DP244", 'did you mean "saml/w#status"?'),
        ("{ accept: [▸'openapi/w#status'] }", "DP244", 'did you mean "openapi/w#lastProcessErrorCode"?'),
        ("{ accept: [▸acme] }", "DP244", 'did you mean "acme#blocked"?'),
        ("{ accept: [▸'teams/w#title'] }", "DP244", "allowed: #blocked of an organization, #status of"),
        ("{ accept: [▸'**#title'] }", "DP244", "#status of a SAML provider"),
        ("{ ignore: [▸'teams/*#title'] }", "DP231", '"title" cannot be ignored'),
        ("{ ignore: [▸'acme/teams/w#title'] }", "DP231", "delete the pattern"),
        ("{ ignore: [▸'**#title'] }", "DP231", "cannot be ignored"),
    ],
)
def test_invalid_policy_is_an_error(tmp_path: Path, text: str, code: str, words: str) -> None:
    expect(tmp_path, policy(text), code, words)


@pytest.mark.parametrize(
    ("percent", "hint"),
    [("0.5", "write 50"), ("0.29", "write 29"), ("1.5", None), ("0.0", None), ("'0.5'", None)],
)
def test_percent_limit_below_one_suggests_percentage(tmp_path: Path, percent: str, hint: str | None) -> None:
    (found,) = loaded(tmp_path, policy(f"{{ limits: {{ percent: {percent} }} }}"))[1]
    assert (found.code, found.hint) == ("DP202", hint)


@pytest.mark.parametrize(
    ("field", "natural"), [("basename", True), ("title", True), ("visibility", False), ("published", False)]
)
def test_ignoring_natural_key_is_an_error(tmp_path: Path, field: str, natural: bool) -> None:
    body = "sites: { d: { title: Docs, basename: docs } }"
    found = loaded(tmp_path, policy(f"{{ ignore: ['sites/*#{field}'] }}", body))[1]
    assert [item.code for item in found] == ["DP231"] * natural


@pytest.mark.parametrize("text", ["{}", "{ prune: [], protect: [], ignore: [], limits: {} }"])
def test_empty_policy_uses_default_limits(tmp_path: Path, text: str) -> None:
    desired, diagnostics = loaded(tmp_path, policy(text))
    assert diagnostics == []
    assert (desired.policy.prune, desired.policy.limits) == ((), Limits(5, 20))


def test_each_policy_limit_has_its_own_default(tmp_path: Path) -> None:
    desired, _ = loaded(tmp_path, policy("{ limits: { deletes: 0 } }"))
    assert desired.policy.limits == Limits(0, 20, None)
    desired, _ = loaded(tmp_path, policy("{ limits: { exposures: 0 } }"))
    assert desired.policy.limits == Limits(5, 20, 0)


@pytest.mark.parametrize(
    ("pattern", "accepted"),
    [
        ("saml/w#status", True), ("acme/saml/w#status", True), ("saml/*#status", True), ("**#status", True),
        ("saml/other#status", False), ("openapi/*#lastProcessErrorCode", False), ("acme#blocked", False),
    ],
)  # fmt: skip
def test_accept_pattern_matches_address_and_field(tmp_path: Path, pattern: str, accepted: bool) -> None:
    desired, diagnostics = loaded(tmp_path, policy(f"{{ accept: ['{pattern}'] }}"))
    assert diagnostics == []
    assert desired.policy.accepts(Address.parse("acme/saml/w"), "status") is accepted


# Empty mappings.


@pytest.mark.parametrize(
    ("body", "pattern", "meant"),
    [
        ("▸teams: {}", None, False),
        ("▸teams: {}", "spaces", False),
        ("▸teams: {}", "teams", True),
        ("▸teams: {}", "acme/teams", True),
        ("▸teams: {}", "**", True),
        ("teams: { w: { title: W, ▸members: {} } }", "teams", False),
        ("teams: { w: { title: W, ▸members: {} } }", "teams/*/members", True),
        ("sites: { d: { title: Docs, ▸structure: [] } }", None, False),
        ("sites: { d: { title: Docs, ▸structure: [] } }", "sites/*/structure", True),
    ],
)
def test_empty_mapping_is_valid_only_with_prune_pattern(
    tmp_path: Path, body: str, pattern: str | None, meant: bool
) -> None:
    text = policy("{}" if pattern is None else f"{{ prune: ['{pattern}'] }}", body)
    if meant:
        assert loaded(tmp_path, text.replace("▸", ""))[1] == []
    else:
        expect(tmp_path, text, "DP232", "has no effect here")


@pytest.mark.parametrize(
    ("pattern", "pruned"),
    [
        ("teams", {"acme/teams"}),
        ("teams/*/members", {"acme/teams/w/members"}),
        ("acme/*", {"acme/teams", "acme/sites"}),
        ("sites/*/structure", {"acme/sites/d/structure"}),
        ("**", {"acme/teams", "acme/teams/w/members", "acme/sites", "acme/sites/d/structure"}),
    ],
)
def test_prune_pattern_matches_expected_scopes(tmp_path: Path, pattern: str, pruned: set[str]) -> None:
    body = """
        teams: { w: { title: W, members: { ada@acme.example: owner } } }
        sites: { d: { title: Docs, structure: [{ type: section-group, key: g, title: G }] } }
    """
    desired, diagnostics = loaded(tmp_path, policy(f"{{ prune: ['{pattern}'] }}", body))
    assert diagnostics == []
    assert {str(address) for address in desired.scopes if desired.is_pruned(address)} == pruned
    assert Address.parse("acme/teams/w/members") in desired.scopes


def test_policy_watch_accepts_lists_and_fields(tmp_path: Path) -> None:
    desired, found = loaded(tmp_path, policy("{ watch: [teams, 'spaces/*#defaultLevel'] }"))
    assert not found
    assert [one.text for one in desired.policy.watch] == ["teams"]
    assert [one.text for one in desired.policy.watch_fields] == ["spaces/*#defaultLevel"]


@pytest.mark.parametrize("written", ["access", "[access]"])
def test_watch_access_includes_all_access_lists_and_fields(written: str, tmp_path: Path) -> None:
    desired, found = loaded(tmp_path, policy(f"{{ watch: {written} }}"))
    assert not found
    places = {
        kind.key.replace(".", "/") for kind in REGISTRY.in_dependency_order if kind.creation_widens_access
    }
    watched = {one.text.rpartition("*/")[2].removeprefix("access/") for one in desired.policy.watch}
    assert watched == places
    patterns = (*desired.policy.watch, *desired.policy.watch_fields)
    assert [one.text for one in patterns] == [*access_patterns(REGISTRY)]
    assert {one.text for one in desired.policy.watch_fields} >= {
        "*#sso", "*#emailDomains", "members/*#sso", "sites/*#published", "spaces/*#defaultLevel",
        "sites/*/visitorAuth#fallbackURL", "sites/*/redirects/*#draft",
    }  # fmt: skip
    assert {(one.span.line, one.span.file) for one in patterns if one.span} == {(2, "dpsync.yaml")}


def test_watch_access_equals_its_expanded_patterns(tmp_path: Path) -> None:
    long = ", ".join(f'"{one}"' for one in access_patterns(REGISTRY))
    both = [loaded(tmp_path, policy(f"{{ watch: {written} }}"))[0] for written in ("access", f"[{long}]")]
    assert both[0].watched_scopes.keys() == both[1].watched_scopes.keys() != set()
    for name in ("watch", "watch_fields", "watch_values"):
        short, full = ([(one.text, one.segments) for one in getattr(each.policy, name)] for each in both)
        assert short == full


def test_watch_combines_access_with_other_patterns(tmp_path: Path) -> None:
    desired, found = loaded(tmp_path, policy("{ watch: [access, 'spaces/*#editMode'] }"))
    assert not found
    assert [one.text for one in desired.policy.watch_fields if one.written_word is None] == [
        "spaces/*#editMode"
    ]


def test_protect_policy_accepts_skip_per_pattern(tmp_path: Path) -> None:
    text = policy("{ protect: [spaces/a, { address: teams/w, skip: true }] }")
    desired, found = loaded(tmp_path, text)
    assert found == []
    assert [one.text for one in desired.policy.protect] == ["spaces/a", "teams/w"]
    assert [one.text for one in desired.policy.skip] == ["teams/w"]
