"""`--confirm`: what can be answered, what can not, and what is told of an answer that nothing asked for."""

from __future__ import annotations

import pytest

from dpsync.kinds.registry import build_registry
from dpsync.model.diagnostic import DiagnosticError, Exit
from dpsync.model.plan import Plan
from dpsync.model.question import Refusal
from dpsync.planner.answers import (
    UNNEEDED_MESSAGE,
    Answer,
    Answers,
    Question,
    answer_forms,
    answer_in_flag,
    parse_answer,
    requested_answers,
)

from .lab import Lab, site, spaces

REGISTRY = build_registry()


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("delete 12", Answer("delete", "12")),
        ("delete 0012", Answer("delete", "12")),
        ("expose 3", Answer("expose", "3")),
        ("expose 03", Answer("expose", "3")),
        ("restructure acme/sites/docs", Answer("restructure", "acme/sites/docs")),
        ("send acme/openapi/shop#source", Answer("send", "acme/openapi/shop#source")),
        ("run acme/translations/fr", Answer("run", "acme/translations/fr")),
        ("not my own acme/members/ada@acme.example", Answer("not my own", "acme/members/ada@acme.example")),
        ("not my own acme/members/[Ada~u1]", Answer("not my own", "acme/members/[Ada~u1]")),
    ],
)
def test_confirm_flag_text_parses_to_answer(text: str, answer: Answer) -> None:
    assert parse_answer(text, REGISTRY) == answer


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Valid confirmations:"),
        ("yes", "Valid confirmations:"),
        ("delete", "Valid confirmations:"),
        ("Delete 12", "Valid confirmations:"),
        ("delete twelve", 'delete N", with a number'),
        ("expose", "Valid confirmations:"),
        ("expose -1", 'expose N", with a number'),
        ("expose \uff13", 'expose N", with a number'),
        ("expose 1000000000000", 'expose N", with a number'),
        ("expose acme/sites/docs", 'expose N", with a number'),
        ("delete -1", 'delete N", with a number'),
        ("delete ¹²", 'delete N", with a number'),
        ("delete " + "9" * 5000, 'delete N", with a number'),
        ("delete acme/members/a@b", "delete ADDRESS"),
        ("new acme/members/a@b", "new ADDRESS"),
        ("restructure acme/site/docs", 'did you mean "acme/sites/docs"?'),
        ("restructure acme/teams/writers", "restructure ADDRESS"),
        ("restructure acme/sites/docs#title", 'write "restructure ADDRESS"'),
        ("restructure sites/*", "one address, not a pattern"),
        ("send acme/openapi/shop", 'write "send ADDRESS#field"'),
        ("send acme/openapi/shop#", 'write "send ADDRESS#field"'),
        ("send acme/openapi/shop#sauce", 'did you mean "acme/openapi/shop#source"?'),
        ("run acme/spaces/guides", "run ADDRESS"),
        ("run translations/fr", 'begin the address with your organization: "ORGANIZATION/translations/fr"'),
        ("not my own acme/teams/writers", "not my own ADDRESS"),
    ],
)
def test_invalid_confirm_flag_text_gets_hint(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=r".+") as wrong:
        parse_answer(text, REGISTRY)
    assert words in str(wrong.value)


def test_invalid_confirm_error_lists_all_forms() -> None:
    with pytest.raises(ValueError, match=r".+") as wrong:
        parse_answer("please", REGISTRY)
    assert [str(form) for form in answer_forms(REGISTRY)] == [
        "delete N", "expose N", "expose for a moment N", "delete ADDRESS",
        "new ADDRESS", "new N PATTERN", "restructure ADDRESS",
        "send ADDRESS#field", "run ADDRESS", "sync ADDRESS", "not my own ADDRESS",
    ]  # fmt: skip
    assert all(f'"{form}"' in str(wrong.value) for form in answer_forms(REGISTRY))


@pytest.mark.parametrize("subject", ["12", "acme/sites/docs", 'acme/teams/[It\'s $5 "now"]', "a`b\\c!"])
def test_confirm_flag_round_trips_to_answer(subject: str) -> None:
    answer = Answer("restructure", subject)
    assert answer_in_flag(answer.flag) == str(answer)


@pytest.mark.parametrize(
    "text", ["", "id: a", "new: true", "dpsync ids --bind a=b", "--confirm a b", "--confirm "]
)
def test_text_not_being_confirm_flag_gives_no_answer(text: str) -> None:
    assert answer_in_flag(text) is None


ONE, OTHER, THIRD = Answer("delete", "1"), Answer("delete", "2"), Answer("delete", "3")
NEVER = Refusal(code="protected", address="acme", message="it is protected", way_out="none")


def asks(answer: Answer) -> Question:
    return Question(answer, NEVER.model_copy(update={"code": str(answer)}))


def test_confirm_answers_without_question_are_unneeded() -> None:
    answers = Answers(frozenset({OTHER, ONE}))
    assert answers.unneeded_answers([]) == [ONE, OTHER]
    assert answers.unneeded_answers(requested_answers([asks(ONE), NEVER, asks(THIRD)])) == [OTHER]


def test_plan_refusals_include_unanswered_and_unanswerable_questions() -> None:
    """Otherwise, no question is asked: whatever needs an answer is done without."""
    found = [asks(ONE), NEVER, asks(OTHER)]
    assert [item.code for item in Answers(frozenset({OTHER})).unanswered_refusals(found)] == [
        "delete 1",
        "protected",
    ]


def test_optional_question_is_no_refusal_but_uses_answer() -> None:
    answers = Answers(frozenset({ONE}))
    assert list(Answers().unanswered_refusals([Question(ONE)])) == []
    assert answers.unneeded_answers(requested_answers([Question(ONE)])) == []


# Against a platform.


def idle(plan: Plan) -> list[str]:
    return [note.address for note in plan.notes if note.text == UNNEEDED_MESSAGE]


def test_invalid_confirm_fails_before_any_request(lab: Lab) -> None:
    lab.holds()
    lab.server.app.requests.clear()
    with pytest.raises(DiagnosticError) as found:
        lab.plan("teams: { w: { title: W } }", "{}", "delete everything")
    assert (found.value.exit_code, [item.code for item in found.value.diagnostics]) == (Exit.USAGE, ["DP332"])
    assert not lab.server.app.requests


def test_plan_notes_unneeded_confirm_flag(lab: Lab) -> None:
    lab.holds(teams=[{"id": name, "title": name} for name in ("t", "u")])
    policy = "{ prune: [teams], limits: { deletes: 1, percent: 100 } }"
    assert idle(lab.plan("teams: {}", policy, "delete 2")) == []
    assert idle(lab.plan("teams: {}", policy, "delete 3")) == ['--confirm "delete 3"']
    asked_for = '--confirm "restructure acme/sites/docs"'
    assert idle(lab.plan("teams: { t: { title: t } }", "{}", "restructure acme/sites/docs")) == [asked_for]


def test_confirm_restructure_is_unneeded_without_restructuring(lab: Lab) -> None:
    answer = "restructure acme/sites/docs"
    lab.holds(spaces=spaces("x"), sites=[site({"type": "space", "id": "r", "space": "x", "path": "x"})])
    children = "children: [{ type: space, key: x, space: { id: x } }]"
    body = f"""
        sites:
          docs:
            title: Docs
            structure: [{{ type: section, key: a, title: Section a, path: a, {children} }}]
    """
    assert idle(lab.plan(body, "{}", answer)) == []
    assert idle(lab.plan("sites: { docs: { title: Docs } }", "{}", answer)) == [f'--confirm "{answer}"']


def test_confirm_send_for_readable_field_is_unneeded(lab: Lab) -> None:
    lab.holds()
    openapi = "openapi: { shop: { source: { url: 'https://api.acme.example/openapi.yaml' } } }"
    answer = "send acme/openapi/shop#source"
    assert idle(lab.plan(openapi, "{}", answer)) == [f'--confirm "{answer}"']


# Patterns of the policy that match nothing.


def warnings(plan: Plan) -> list[str]:
    return [note.address for note in plan.notes if note.severity == "warning"]


@pytest.mark.parametrize(
    ("policy", "warned"),
    [
        ("protect: ['teams/*']", []),
        ("protect: ['acme/teams/w']", []),
        ("protect: ['teams/[Sales]']", []),
        ("protect: ['**']", []),
        ("protect: ['acme/**']", []),
        ("protect: [acme]", ['policy.protect "acme"']),
        ("protect: ['*']", ['policy.protect "*"']),
        ("protect: ['teams/old']", ['policy.protect "teams/old"']),
        ("protect: ['saml/*']", ['policy.protect "saml/*"']),
        ("prune: [teams]", []),
        ("prune: [saml]", ['policy.prune "saml"']),
        ("prune: ['teams/*/members']", ['policy.prune "teams/*/members"']),
        ("ignore: ['teams/*']", []),
        ("ignore: [teams]", []),
        ("ignore: ['spaces/*#emoji']", ['policy.ignore "spaces/*#emoji"']),
        ("forget: ['teams/[Sales]']", []),
        ("forget: ['teams/[Gone]']", ['policy.forget "teams/[Gone]"']),
        (
            "ignore: ['sites/*'], protect: ['sites/*']",
            ['policy.ignore "sites/*"', 'policy.protect "sites/*"'],
        ),
    ],
)
def test_policy_pattern_without_match_gets_warning(lab: Lab, policy: str, warned: list[str]) -> None:
    """Otherwise, every pattern that ignores something is warned of, and is taken away.

    Otherwise, a pattern that prunes nothing is not warned of.
    Otherwise, a pattern that protects nothing ends the run in an error of the program.
    Otherwise, who protects an organization is not told that nothing in it is protected.
    Otherwise, a pattern that ignores a whole place is warned of.
    """
    lab.holds(teams=[{"id": "t", "title": "Sales"}])
    plan = lab.plan("teams: { w: { title: W } }", f"{{ {policy} }}")
    assert warnings(plan) == warned
    assert all(plan.origins[address].line == 2 for address in warned)


def test_prune_pattern_of_undeletable_kind_gets_warning(lab: Lab) -> None:
    """Otherwise, every pattern that prunes something is warned of."""
    lab.holds()
    said = {
        note.address: note.text
        for note in lab.plan(
            "agentInstructions: Be kind.\nteams: { w: { title: W } }",
            "{ prune: [agentInstructions, teams], protect: [acme] }",
        ).notes
        if note.severity == "warning"
    }
    assert said == {
        'policy.prune "agentInstructions"': "dpsync never deletes objects of the types that this pattern "
        "matches",
        'policy.protect "acme"': "dpsync never deletes objects of the types that this pattern matches. "
        'To protect its contents, write "acme/**"',
    }
