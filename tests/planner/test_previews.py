"""The previews of changed sites in a plan, as the platform's answer has them."""

from __future__ import annotations

import pytest

from dpsync.api import Options
from dpsync.client.client import ReadClient
from tests.altering_proxy import Answer, altering_proxy

from .lab import Lab, site, spaces, world

TWO_SITES = {
    "spaces": spaces("a"),
    "sites": [
        site({"type": "space", "id": "place", "space": "a", "path": "a"}),
        {"id": "help", "title": "Help", "basename": "help"},
    ],
}
SPACE = "spaces: { a: { title: Space a } }\n"
PLACE = "structure: [{ type: space, key: a, space: a, path: PATH }]"
DOCS = "https://app.docs.example/preview/sites/docs"


@pytest.mark.parametrize(
    ("body", "previews"),
    [
        ("sites: { docs: { title: Acme Docs, basename: docs } }", [("acme/sites/docs", "Docs", DOCS)]),
        (
            f"{SPACE}sites: {{ docs: {{ title: Docs, {PLACE.replace('PATH', 'b')} }} }}",
            [("acme/sites/docs", "Docs", DOCS)],
        ),
        ("sites: { docs: { title: Docs, basename: docs } }", []),
        ("sites: { new: { title: A new site, basename: new } }", []),
        ("spaces: { a: { title: Another title } }", []),
    ],
    ids=["field of the site", "object in the site", "no change", "new site", "space of the site"],
)
def test_plan_has_previews_of_changed_sites(
    body: str, previews: list[tuple[str, str, str]], lab: Lab
) -> None:
    plan = lab.holds(**TWO_SITES).plan(body)
    assert [(one.address, one.title, one.url) for one in plan.previews] == previews


def test_deleted_site_has_no_preview(lab: Lab) -> None:
    plan = lab.holds(**TWO_SITES).plan("sites: {}", "{ prune: [sites], limits: { percent: 100 } }")
    assert {change.action for change in plan.changes} == {"delete"}
    assert plan.previews == ()


@pytest.mark.parametrize(
    "url",
    [
        "https://app.docs.example/preview/docs?token=s3cret",
        "https://app.docs.example/preview/docs#s3cret",
        "https://ada:s3cret@app.docs.example/preview/docs",
        "https://app.docs.example/preview/docs/1hFZ5fQ8kLmN2pRs",
        "https://app.docs.example/preview/eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
        "javascript:alert(1)",
        "//app.docs.example/preview/docs",
        "https://app.docs.example/preview/docs) [x](https://evil.example",
        "https://app.docs.example/preview/%64ocs",
        7,
        None,
    ],
    ids=[
        "query", "fragment", "password", "share key", "signed token", "script", "no scheme", "markdown",
        "escaped path", "number", "null",
    ],
)  # fmt: skip
def test_preview_url_with_possible_secret_is_omitted(url: object, lab: Lab) -> None:
    """Everybody who may read the repository reads the comment: a share key would open the site to them."""

    def alter(method: str, path: str, answer: Answer) -> None:
        for one in answer.body["items"] if path == "/orgs/acme/sites" and method == "GET" else ():
            one["urls"]["preview"] = url

    lab.server.reset(world(**TWO_SITES))
    session = lab.session("sites: { docs: { title: Acme Docs, basename: docs } }")
    with altering_proxy(lab.server.url, alter) as address, ReadClient(address, "token") as client:
        plan = session.plan(client, Options()).plan
    assert [change.address for change in plan.changes] == ["acme/sites/docs"]
    assert plan.previews == ()


def test_plan_digest_ignores_preview(lab: Lab) -> None:
    plan = lab.holds(**TWO_SITES).plan("sites: { docs: { title: Acme Docs, basename: docs } }")
    assert plan.previews
    assert plan.model_copy(update={"previews": ()}).digest == plan.digest
