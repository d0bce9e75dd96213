"""What one space of a site has of its own, where answers have what it inherits: the edition of today."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsync.api import Options
from dpsync.client.client import WriteClient
from dpsync.client.transport import Request, Response
from dpsync.kinds.registry import build_registry
from dpsync.model.diagnostic import DiagnosticError
from dpsync.render.paint import Paint
from dpsync.render.view_text import render_plan
from dpsync.server.process.threaded_server import ThreadedServer
from tests.direct import reading, transport
from tests.properties.platform import Around

from .lab import Lab, section, site, spaces


class Refusing(Around):
    """Every change of the looks of a space is refused."""

    def send(self, request: Request) -> Response:
        if request.method == "PATCH" and "/site-spaces/" in request.path:
            return Response(400, {}, b'{"error": {"code": 400, "message": "no"}}')
        return self.inner.send(request)


@pytest.fixture
def lab(published_server: ThreadedServer, tmp_path: Path) -> Lab:
    lab = Lab(published_server, tmp_path, build_registry("published"))
    return lab.holds(spaces=spaces("en"), sites=[site(section("one", "en"))])


def declared(site_title: str, own: str) -> str:
    return f"""
        spaces: {{ en: {{ title: Space en }} }}
        sites:
          docs:
            title: Docs
            customization: {{ title: {site_title} }}
            structure:
              - type: section
                key: one
                title: Section one
                path: one
                children: [{{ type: space, key: en, space: en, path: en, customization: {own} }}]
    """


def test_site_space_customization_is_written_before_site_customization(lab: Lab) -> None:
    """Otherwise, a space's customization is stale once that of its site is written, and the apply fails."""
    report = lab.converges(declared("Manuals", "{ title: Guide, styling: { corners: straight } }"))
    assert report.count("stale") == 0
    assert [path.rpartition("/sites/")[2] for path in lab.writes] == [
        "docs/site-spaces/one-en/customization",
        "docs/customization",
    ]


def test_customization_sends_only_declared_fields(lab: Lab) -> None:
    lab.converges(declared("Manuals", "{ styling: { corners: straight } }"))
    place = lab.world()["organizations"][0]["sites"][0]["structure"][0]["children"][0]
    assert place["customization"] == {"styling": {"corners": "straight"}}
    lab.converges(declared("Handbook", "{ styling: { corners: straight } }"))
    assert lab.plan(declared("Handbook", "{ title: Handbook }")).changes == ()


def test_inherited_value_is_rewritten_when_site_value_changes(lab: Lab) -> None:
    """The answer has what holds, so nobody can see whose it is: one apply must be enough all the same.

    Otherwise, what a space has from its site goes with the site's change, although the files declare it.
    """
    lab.converges(declared("Manuals", "{}"))
    wanted = declared("Handbook", "{ title: Manuals }")
    plan = lab.plan(wanted)
    kept = [item for change in plan.changes for item in change.differences if item.inherited]
    assert [(item.field, item.before, item.after) for item in kept] == [("title", "Manuals", "Manuals")]
    assert [item.inherited for item in kept] == ["acme/sites/docs/customization"]
    report = lab.converges(wanted)
    assert (report.complete, report.writes) == (True, 2)


def test_plan_text_explains_rewriting_inherited_value(lab: Lab) -> None:
    lab.converges(declared("Manuals", "{}"))
    text = render_plan(lab.plan(declared("Handbook", "{ title: Manuals }")), Paint(on=False))
    assert 'title  "Manuals"' in text
    assert (
        "dpsync also writes this unchanged value, because this object can inherit the value from "
        "acme/sites/docs/customization, which changes" in text
    )


def test_overridden_space_value_is_kept_when_site_changes(lab: Lab) -> None:
    lab.converges(declared("Manuals", "{ title: Guide }"))
    changes = lab.plan(declared("Handbook", "{ title: Guide }")).changes
    assert [change.address for change in changes] == ["acme/sites/docs/customization"]


def test_inherited_setting_is_rewritten_only_with_site_change(lab: Lab) -> None:
    """Otherwise, what a space follows from its site becomes its own without need."""
    styled = "{ title: Manuals, styling: { corners: straight, depth: flat } }"
    lab.converges(declared("Manuals", "{}").replace("{ title: Manuals }", styled))
    rounded = styled.replace("straight", "rounded")
    wanted = declared("Manuals", "{ styling: { depth: flat } }").replace("{ title: Manuals }", rounded)
    assert [change.address for change in lab.plan(wanted).changes] == ["acme/sites/docs/customization"]


def test_drift_ignores_rewritten_inherited_values(lab: Lab) -> None:
    """Otherwise, what is only kept beside a change is told as drift, with nothing that differs.

    Otherwise, a value that a plan only keeps is told as drift.
    """
    lab.converges(declared("Manuals", "{}"))
    with reading(lab.server) as client:
        found = lab.session(declared("Handbook", "{ title: Manuals }")).drift(client).found
    drifted = [item.address for item in found]
    assert drifted == ["acme/sites/docs/customization"]


def test_selected_site_customization_includes_dependent_spaces(lab: Lab) -> None:
    lab.converges(declared("Manuals", "{}"))
    session = lab.session(declared("Handbook", "{ title: Manuals }"))
    with reading(lab.server) as client:
        part = session.plan(client, Options(select=("acme/sites/docs/customization",))).plan
    assert len(part.changes) == 2


def test_failed_space_customization_skips_site_customization(lab: Lab) -> None:
    """Otherwise, the looks of a site change, and those of a space that could not be kept go along."""
    lab.converges(declared("Manuals", "{}"))
    wanted = declared("Handbook", "{ title: Manuals }")
    session = lab.session(wanted)
    refusing = Refusing(transport(lab.server, "token"))
    with WriteClient(lab.server.url, "token", transport=refusing) as client:
        report = session.apply(client, session.plan(client))
    assert sorted(outcome.result for outcome in report.outcomes) == ["failed", "not-tried"]


def test_inherited_field_differing_from_live_is_written_once(lab: Lab) -> None:
    """Otherwise, one field of a space is written and shown twice."""
    lab.converges(declared("Manuals", "{}"))
    _, change = lab.plan(declared("Handbook", "{ title: Guide }")).changes
    assert [item.field for item in change.differences] == ["title"]


def test_space_setting_equal_to_site_survives_site_change(lab: Lab) -> None:
    styled = "{ title: Manuals, styling: { corners: straight, depth: flat } }"
    lab.converges(declared("Manuals", "{}").replace("{ title: Manuals }", styled))
    body = declared("Handbook", "{ styling: { depth: flat } }").replace(
        "{ title: Handbook }", "{ title: Handbook, styling: { corners: straight, depth: subtle } }"
    )
    lab.converges(body)
    place = lab.world()["organizations"][0]["sites"][0]["structure"][0]["children"][0]
    assert place["customization"] == {"styling": {"depth": "flat"}}


def test_inherited_setting_survives_beside_overridden_setting(lab: Lab) -> None:
    styled = "{ title: Manuals, styling: { corners: rounded, depth: flat } }"
    own = declared("Manuals", "{ styling: { corners: straight } }")
    lab.converges(own.replace("{ title: Manuals }", styled))
    wanted = declared("Manuals", "{ styling: { corners: straight, depth: flat } }")
    lab.converges(wanted.replace("{ title: Manuals }", styled.replace("flat", "subtle")))
    place = lab.world()["organizations"][0]["sites"][0]["structure"][0]["children"][0]
    assert place["customization"] == {"styling": {"corners": "straight", "depth": "flat"}}


@pytest.mark.parametrize(
    ("field", "own"),
    [
        ("title", "Guide"),
        ("localizedTitle", "{ fr: Guide }"),
        ("favicon", "{ emoji: 1f600 }"),
    ],
)
def test_null_clears_site_space_customization_field(field: str, own: str, lab: Lab) -> None:
    """Otherwise, a title that a space once had can be cleared only in the application."""
    lab.converges(declared("Manuals", f"{{ {field}: {own} }}"))
    wanted = declared("Manuals", f"{{ {field}: null }}")
    assert [item.after for change in lab.plan(wanted).changes for item in change.differences] == [None]
    lab.converges(wanted)
    place = lab.world()["organizations"][0]["sites"][0]["structure"][0]["children"][0]
    assert field not in place.get("customization", {})
    assert lab.plan(wanted).changes == ()


MEMBERS = {
    "logo": (
        "{ header: { logo: { light: 'https://a.example/l.png', dark: 'https://a.example/d.png' } } }",
        "{ header: { logo: null } }",
    ),
    "corners": (
        "{ styling: { corners: straight, depth: flat } }",
        "{ styling: { corners: null, depth: flat } }",
    ),
}


@pytest.mark.parametrize("case", MEMBERS)
def test_null_clears_one_site_space_setting(case: str, lab: Lab) -> None:
    own, cleared = MEMBERS[case]
    lab.converges(declared("Manuals", own))
    assert len(lab.plan(declared("Manuals", cleared)).changes) == 1
    lab.converges(declared("Manuals", cleared))
    place = lab.world()["organizations"][0]["sites"][0]["structure"][0]["children"][0]
    assert case not in str(place.get("customization", {}))
    assert lab.plan(declared("Manuals", cleared)).changes == ()


def test_cleared_site_space_setting_inherits_site_setting(lab: Lab) -> None:
    lab.converges(declared("Manuals", "{ styling: { corners: null } }"))
    straight = "{ title: Manuals, styling: { corners: straight } }"
    body = declared("Manuals", "{ styling: { corners: null } }").replace("{ title: Manuals }", straight)
    lab.converges(body)
    assert [path for path in lab.writes if "site-spaces" in path] == []


def test_cleared_space_title_inherits_site_title(lab: Lab) -> None:
    lab.converges(declared("Manuals", "{ title: null }"))
    lab.converges(declared("Handbook", "{ title: null }"))
    assert lab.writes == [path for path in lab.writes if "site-spaces" not in path]


@pytest.mark.parametrize(
    ("own", "site_looks", "why"),
    [
        pytest.param("{ title: null }", "", "your files do not contain", id="site-not-declared"),
        pytest.param("{ styling: null }", None, "cannot be null", id="field-without-null"),
        pytest.param("{ header: { logo: null } }", "", "your files do not contain", id="member-of-a-field"),
    ],
)
def test_null_in_customization_is_refused_if_unverifiable(
    own: str, site_looks: str | None, why: str, lab: Lab
) -> None:
    text = declared("Manuals", own)
    if site_looks is not None:
        text = text.replace("customization: { title: Manuals }\n", f"{site_looks}\n")
    with pytest.raises(DiagnosticError) as ended:
        lab.plan(text)
    assert [(item.code, why in item.message) for item in ended.value.diagnostics] == [("DP222", True)]
