"""Audit events of today's edition: who wrote what, the newest first."""

from companion_calls import Api
from covers import covers

EVENTS = "/orgs/acme/audit-events"


@covers("listOrganizationAuditEvents", 200)
def test_write_is_recorded_as_audit_event(published: Api) -> None:
    published.patch("/orgs/acme/sites/docs", {"title": "Docs"})
    published.as_("grace-token").make("/orgs/acme/spaces", {"title": "New"})
    [made, changed] = published.get(EVENTS)["items"]
    assert (changed["action"], changed["actor"]["id"], changed["target"]["id"]) == (
        "updateSiteById",
        "ada",
        "docs",
    )
    assert (made["action"], made["actor"]["id"], made["target"]["type"]) == ("createSpace", "grace", "space")
    assert made["target"]["label"] == "New"


@covers("listOrganizationAuditEvents", 200)
def test_audit_events_are_filtered_by_target_and_time(published: Api) -> None:
    published.patch("/orgs/acme/sites/docs", {"title": "Docs"})
    published.clock.pass_by(hours=1)
    published.patch("/orgs/acme/sites/help", {"title": "Help"})
    for query in ({"target": "help"}, {"from": "2026-03-01T00:30:00Z"}):
        assert [item["target"]["id"] for item in published.get(EVENTS, **query)["items"]] == ["help"]
    assert published.get(EVENTS, actor="grace")["items"] == []
    assert published.get(EVENTS, limit=1)["count"] == 2


@covers("listOrganizationAuditEvents", 400, 403)
def test_audit_events_require_admin_and_limit_100(published: Api) -> None:
    published.as_("kim-token").refused(403, "GET", EVENTS)
    published.refused(400, "GET", f"{EVENTS}?limit=101")


@covers("getOrganizationAuditEvent", 200, 404)
def test_audit_event_payload_omits_written_values(published: Api) -> None:
    published.patch("/orgs/acme/sites/docs", {"title": "A secret title"})
    [event] = published.get(EVENTS)["items"]
    assert published.get(f"{EVENTS}/{event['id']}")["payload"] == {}
    published.refused(404, "GET", f"{EVENTS}/none")
    published.refused(404, "GET", f"/orgs/globex/audit-events/{event['id']}")


def test_refused_request_creates_no_audit_event(published: Api) -> None:
    published.refused(400, "PATCH", "/orgs/acme/sites/docs", {"title": ""})
    assert published.get(EVENTS)["items"] == []


def test_audit_events_return_404_in_other_api_versions(api: Api) -> None:
    api.patch("/orgs/acme/sites/docs", {"title": "Docs"})
    api.refused(404, "GET", EVENTS)
