"""A plan blocks each field that the API cannot clear, so that no apply fails at such a field."""

from __future__ import annotations

from .lab import Lab

PROVIDER = {"id": "okta", "label": "Okta", "entityID": "urn:okta", "ssoURL": "https://okta.example/sso"}
CLEARED = "saml:\n  okta:\n    label: Okta\n    ssoURL: null"


def test_clearing_sso_url_is_blocked_at_its_line(lab: Lab) -> None:
    """The API would refuse an empty ssoURL, or keep a provider with which nobody can sign in."""
    plan = lab.holds(samlProviders=[PROVIDER]).plan(CLEARED)
    assert plan.changes == ()
    (blocked,) = plan.blocked
    assert blocked.address == "acme/saml/okta#ssoURL"
    assert blocked.reason == "the API cannot clear ssoURL"
    assert blocked.todo == "clear ssoURL in GitBook, or remove ssoURL from the entry"
    assert plan.origins[blocked.address].line == 9


def test_provider_without_sso_url_needs_no_change(lab: Lab) -> None:
    provider = {name: value for name, value in PROVIDER.items() if name != "ssoURL"}
    plan = lab.holds(samlProviders=[provider]).plan(CLEARED)
    assert (plan.changes, plan.blocked) == ((), ())


def test_new_provider_without_sso_url_is_created(lab: Lab) -> None:
    lab.holds().apply(CLEARED)
    assert lab.writes == ["POST /orgs/acme/saml"]
    plan = lab.plan(CLEARED)
    assert (plan.changes, plan.blocked) == ((), ())
