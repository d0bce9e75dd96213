"""The agents of a site, in today's edition: settings, MCP servers, channels, connections, topics, guides."""

from typing import Any

import pytest
from cases.agent_cases import BODIES, DOCUMENT
from companion_calls import Api
from covers import covers

DOCS = "/orgs/acme/sites/docs"
SERVERS, CHANNELS, CONNECTIONS = (
    f"{DOCS}/{part}" for part in ("mcp-servers", "channels", "context-connections")
)
SEARCH = {"name": "Search", "url": "https://mcp.acme.example/", "headers": {"Authorization": "Bearer k"}}
SLACK: dict[str, Any] = {"type": "builtin:slack", "setupSettings": {"allowedChannels": ["docs-*"]}}
SETTINGS = BODIES["updateSiteAgentSettingsById"]


# --- settings -------------------------------------------------------------------------------------


@covers("getSiteAgentSettingsById", 200)
def test_default_agent_settings_disable_automation(published: Api) -> None:
    found = published.get(f"{DOCS}/agent-settings")
    assert found["scans"] == {"topics": "never"}
    assert found["findings"] == {"changeRequests": "never"}
    assert found["editing"]["customInstructions"]["nodes"] == []
    assert "updatedBy" not in found


@covers("updateSiteAgentSettingsById", 200)
def test_agent_settings_update_records_author(published: Api) -> None:
    made = published.put(f"{DOCS}/agent-settings", SETTINGS)
    assert (made["scans"], made["updatedBy"]) == ({"topics": "auto"}, "ada")
    assert made["editing"]["customInstructions"]["nodes"][0]["type"] == "paragraph"
    assert published.get(f"{DOCS}/agent-settings") == made


def test_repeated_agent_settings_update_has_no_effect(published: Api) -> None:
    before = published.put(f"{DOCS}/agent-settings", SETTINGS)
    published.clock.pass_by(minutes=1)
    assert published.as_("grace-token").put(f"{DOCS}/agent-settings", SETTINGS) == before


@pytest.mark.parametrize("missing", ["scans", "findings", "editing"])
@covers("updateSiteAgentSettingsById", 400)
def test_incomplete_agent_settings_update_is_refused(published: Api, missing: str) -> None:
    body = {name: value for name, value in SETTINGS.items() if name != missing}
    assert missing in published.refused(400, "PUT", f"{DOCS}/agent-settings", body)


# --- MCP servers ----------------------------------------------------------------------------------


@covers("createSiteMcpServer", 201)
@covers("listSiteMcpServers", 200)
@covers("getSiteMcpServerById", 200)
def test_created_mcp_server_is_returned_with_headers(published: Api) -> None:
    made = published.make(SERVERS, SEARCH)
    assert made["headers"] == SEARCH["headers"]
    assert made["transport"] == "sse"
    assert "condition" not in made
    assert published.items(SERVERS) == [made]
    assert published.get(f"{SERVERS}/{made['id']}") == made


def test_mcp_servers_may_share_a_name(published: Api) -> None:
    assert published.make(SERVERS, SEARCH)["id"] != published.make(SERVERS, SEARCH)["id"]


@covers("updateSiteMcpServerById", 200)
def test_mcp_server_update_replaces_whole_headers(published: Api) -> None:
    made = published.make(SERVERS, {**SEARCH, "condition": "visitor.claims.isBeta"})
    changed = published.patch(f"{SERVERS}/{made['id']}", {"headers": {"X-Key": "k"}})
    assert changed == {**made, "headers": {"X-Key": "k"}}


def test_mcp_server_condition_is_cleared_by_null(published: Api) -> None:
    made = published.make(SERVERS, {**SEARCH, "condition": "visitor.claims.isBeta"})
    assert "condition" not in published.patch(f"{SERVERS}/{made['id']}", {"condition": None})


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "x" * 101},
        {"url": "mcp.acme.example"},
        {"transport": "stdio"},
        {"headers": {"X-Key": ""}},
        {"headers": {"X-Key": "x" * 513}},
        {"headers": None},
        {"condition": "x" * 1025},
    ],
)
@covers("createSiteMcpServer", 400)
def test_invalid_mcp_server_is_refused(published: Api, wrong: Any) -> None:
    assert next(iter(wrong)) in published.refused(400, "POST", SERVERS, {**SEARCH, **wrong})


def test_only_admins_read_mcp_servers(published: Api) -> None:
    published.as_("kim-token").refused(403, "GET", SERVERS)


@covers("deleteSiteMcpServerById", 204)
def test_deleting_site_deletes_its_agent_configuration(published: Api) -> None:
    made = published.make(SERVERS, SEARCH)
    published.ok("DELETE", f"{SERVERS}/{made['id']}", status=205)
    published.ok("DELETE", f"{SERVERS}/{made['id']}", status=204)
    published.make(SERVERS, SEARCH)
    published.make(CHANNELS, SLACK)
    published.put(f"{DOCS}/agent-settings", SETTINGS)
    before = published.state()
    published.ok("DELETE", DOCS, status=205)
    left = str(published.state())
    assert all(word in str(before) and word not in left for word in ("mcp.acme", "docs-*", "auto-fixable"))


# --- channels -------------------------------------------------------------------------------------


@covers("createSiteChannel", 201)
@covers("listSiteChannels", 200)
@covers("getSiteChannelById", 200)
def test_new_channel_is_pending(published: Api) -> None:
    made = published.make(CHANNELS, SLACK)
    assert (made["status"], made["role"], made["answers"]) == ("pending", "support", 0)
    assert published.items(CHANNELS) == [made]
    assert published.get(f"{CHANNELS}/{made['id']}") == made


@covers("updateSiteChannelById", 200)
def test_channel_update_changes_role_or_settings(published: Api) -> None:
    made = published.make(CHANNELS, SLACK)
    at = f"{CHANNELS}/{made['id']}"
    assert published.patch(at, {"role": "collaborator"}) == {**made, "role": "collaborator"}
    everywhere = {"type": "builtin:slack", "setupSettings": {}}
    assert published.patch(at, everywhere)["setupSettings"] == {}


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "builtin:slack"},
        {"setupSettings": {}},
        {"type": "builtin:teams", "setupSettings": {}},
        {"type": "builtin:slack", "setupSettings": {"allowedTeams": ["ops"]}},
        {"type": "builtin:slack", "setupSettings": {"allowedChannels": ["#docs"]}},
        {"type": "builtin:github", "setupSettings": {"allowedRepositories": ["docs"]}},
        {"type": "builtin:slack", "setupSettings": {"channels": []}},
        {**SLACK, "role": "admin"},
    ],
)
@covers("createSiteChannel", 400)
def test_invalid_channel_is_refused(published: Api, wrong: Any) -> None:
    published.refused(400, "POST", CHANNELS, wrong)


@covers("updateSiteChannelById", 400)
def test_channel_type_cannot_be_changed(published: Api) -> None:
    made = published.make(CHANNELS, SLACK)
    other = {"type": "builtin:discord", "setupSettings": {}}
    assert "builtin:slack" in published.refused(400, "PATCH", f"{CHANNELS}/{made['id']}", other)


@covers("deleteSiteChannelById", 204)
def test_second_channel_delete_returns_204(published: Api) -> None:
    made = published.make(CHANNELS, SLACK)
    published.ok("DELETE", f"{CHANNELS}/{made['id']}", status=205)
    published.ok("DELETE", f"{CHANNELS}/{made['id']}", status=204)


# --- context connections --------------------------------------------------------------------------

GITHUB: dict[str, Any] = {
    "connector": "builtin:github-issues",
    "setupSettings": {"repository": "acme/shop", "token": "t0ken"},
    "usageSettings": {"changeRequests": True, "search": False, "searchBoost": "x1.0"},
    "filter": "label:docs",
}
JIRA: dict[str, Any] = {
    "connector": "builtin:jira",
    "setupSettings": {
        "baseUrl": "https://acme.atlassian.example/",
        "apiEmail": "bo@acme.example",
        "apiToken": "t0ken",
        "statusMapping": {"merged": "Done"},
    },
}


@covers("createSiteContextConnection", 201)
@covers("listSiteContextConnections", 200)
@covers("getSiteContextConnectionById", 200)
def test_created_connection_is_returned_with_its_setup(published: Api) -> None:
    made = published.make(CONNECTIONS, {**GITHUB, "label": "Issues"})
    assert {name: made[name] for name in GITHUB} == GITHUB
    assert (made["status"], made["records"]) == ("pending", 0)
    assert "label" not in made
    assert published.items(CONNECTIONS) == [made]
    assert published.get(f"{CONNECTIONS}/{made['id']}") == made


@pytest.mark.parametrize("connector", ["builtin:email", "builtin:api", "integration:acme-tools"])
def test_receiving_connection_needs_no_setup_settings(published: Api, connector: str) -> None:
    made = published.make(CONNECTIONS, {"connector": connector})
    assert "setupSettings" not in made
    assert made["usageSettings"]["search"] is False


@covers("updateSiteContextConnectionById", 200)
def test_connection_update_keeps_omitted_fields(published: Api) -> None:
    made = published.make(CONNECTIONS, GITHUB)
    at = f"{CONNECTIONS}/{made['id']}"
    assert published.patch(at, {"label": "Issues"}) == {**made, "label": "Issues"}
    other = {"repository": "acme/docs", "token": "0ther"}
    changed = published.patch(at, {"connector": GITHUB["connector"], "setupSettings": other})
    assert (changed["setupSettings"], changed["label"]) == (other, "Issues")


def test_redacted_connection_token_is_kept_when_written_back(published: Api) -> None:
    made = published.make(CONNECTIONS, JIRA)
    assert "t0ken" not in str(made)
    back = {name: made[name] for name in ("connector", "setupSettings")}
    assert published.patch(f"{CONNECTIONS}/{made['id']}", back) == made
    assert "t0ken" in str(published.state())


@pytest.mark.parametrize(
    "wrong",
    [
        {"connector": "builtin:fax"},
        {"connector": "integration:a:b"},
        {"setupSettings": {"repository": "acme/shop"}},
        {"setupSettings": {"repository": "shop", "token": "t0ken"}},
        {"setupSettings": {"repository": "acme/shop", "token": ""}},
        {"connector": "builtin:youtube", "setupSettings": {"channelId": "acme"}},
        {"connector": "builtin:zendesk"},
        {"usageSettings": {"changeRequests": True, "search": True}},
        {"usageSettings": {"changeRequests": True, "search": True, "searchBoost": "x2"}},
        {"filter": "x" * 1025},
    ],
)
@covers("createSiteContextConnection", 400)
def test_invalid_connection_is_refused_without_showing_token(published: Api, wrong: Any) -> None:
    assert "t0ken" not in published.refused(400, "POST", CONNECTIONS, {**GITHUB, **wrong})


@covers("updateSiteContextConnectionById", 400)
@pytest.mark.parametrize(
    "wrong",
    [
        {"connector": "builtin:api"},
        {"connector": "builtin:github-issues"},
        {"setupSettings": {"repository": "acme/shop", "token": "t0ken"}},
        {"label": "x" * 129},
    ],
)
def test_invalid_connection_update_is_refused(published: Api, wrong: Any) -> None:
    made = published.make(CONNECTIONS, GITHUB)
    published.refused(400, "PATCH", f"{CONNECTIONS}/{made['id']}", wrong)


@covers("testSiteContextConnection", 200)
@covers("syncSiteContextConnection", 204)
def test_testing_or_syncing_connection_verifies_credentials(published: Api) -> None:
    wrong = {**GITHUB, "setupSettings": {"repository": "acme/shop", "token": "invalid"}}
    for body, status in ((GITHUB, "succeeded"), (wrong, "failed")):
        at = f"{CONNECTIONS}/{published.make(CONNECTIONS, body)['id']}"
        assert published.post(f"{at}/test")["success"] is (status == "succeeded")
        published.post(f"{at}/sync", status=204)
        assert published.get(at)["status"] == status


@covers("syncSiteContextConnection", 400)
def test_connection_can_be_synced_once_per_hour(published: Api) -> None:
    at = f"{CONNECTIONS}/{published.make(CONNECTIONS, GITHUB)['id']}"
    published.post(f"{at}/sync", status=204)
    assert "hour" in published.refused(400, "POST", f"{at}/sync")
    published.clock.pass_by(hours=1)
    published.post(f"{at}/sync", status=204)
    sent = published.make(CONNECTIONS, {"connector": "builtin:api"})
    assert "cannot be synchronized" in published.refused(400, "POST", f"{CONNECTIONS}/{sent['id']}/sync")


@covers("deleteSiteContextConnectionById", 204)
def test_second_connection_delete_returns_204(published: Api) -> None:
    at = f"{CONNECTIONS}/{published.make(CONNECTIONS, GITHUB)['id']}"
    published.ok("DELETE", at, status=205)
    published.ok("DELETE", at, status=204)
    for action in ("sync", "test"):
        published.refused(404, "POST", f"{at}/{action}")


# --- topics ---------------------------------------------------------------------------------------

TOPICS = f"{DOCS}/topics"


def with_topics(api: Api) -> None:
    world = api.state()
    inner = {"id": "cards", "label": "Cards", "parent": "billing", "icon": "credit-card"}
    world["organizations"][0]["sites"][0]["topics"] = [{"id": "billing", "label": "Billing"}, inner]
    api.server.reset(world)


@covers("listSiteTopics", 200)
@covers("getSiteTopicById", 200)
def test_site_topics_are_loaded_from_server_data_file(published: Api) -> None:
    assert published.get(TOPICS) == {"items": []}
    with_topics(published)
    billing, cards = published.get(TOPICS)["items"]
    assert cards["parent"] == {"id": billing["id"], "label": "Billing"}
    assert published.get(f"{TOPICS}/cards") == cards


@covers("updateSiteTopicById", 200)
def test_topic_can_enable_change_requests(published: Api) -> None:
    with_topics(published)
    use = {"usageSettings": {"changeRequests": True}}
    assert published.patch(f"{TOPICS}/cards", use)["usageSettings"] == {"changeRequests": True}
    published.refused(400, "PATCH", f"{TOPICS}/cards", {})
    published.refused(404, "PATCH", f"{TOPICS}/none", use)


# --- style guides ---------------------------------------------------------------------------------

HELP = "/orgs/acme/sites/help"


@covers("createSiteStyleguideById", 200)
@covers("listOrganizationStyleguides", 200)
def test_second_style_guide_create_returns_existing_space(published: Api) -> None:
    made = published.post(f"{DOCS}/styleguide")
    assert made["type"] == "styleguide"
    assert published.post(f"{DOCS}/styleguide", {"template": "concise"}) == made
    assert published.get(DOCS)["styleguide"] == {"kind": "space", "space": made["id"]}
    assert made in published.items("/orgs/acme/spaces")
    (listed,) = published.get("/orgs/acme/styleguides")["styleguides"]
    assert (listed["space"], [site["id"] for site in listed["sites"]]) == (made, ["docs"])


@covers("listStyleguideTemplates", 200)
@covers("createSiteStyleguideById", 404)
def test_style_guide_can_be_created_from_template(published: Api) -> None:
    templates = published.get("/orgs/acme/styleguide-templates")["templates"]
    made = published.post(f"{DOCS}/styleguide", {"template": templates[0]["id"]})
    (page,) = published.get(f"/spaces/{made['id']}/content/pages")["pages"]
    assert page["title"] == templates[0]["title"]
    published.refused(404, "POST", f"{HELP}/styleguide", {"template": "none"})


def test_sites_can_share_and_unset_style_guide(published: Api) -> None:
    made = published.post(f"{DOCS}/styleguide")
    assert published.patch(HELP, {"styleguide": made["id"]})["styleguide"]["space"] == made["id"]
    assert "styleguide" not in published.patch(DOCS, {"styleguide": None})
    (listed,) = published.get("/orgs/acme/styleguides")["styleguides"]
    assert [site["id"] for site in listed["sites"]] == ["help"]


def test_ordinary_space_cannot_be_a_style_guide(published: Api) -> None:
    for other in ("guides", "none", "manual"):
        published.refused(404, "PATCH", DOCS, {"styleguide": other})


def test_deleting_style_guide_space_unsets_site_reference(published: Api) -> None:
    made = published.post(f"{DOCS}/styleguide")
    published.ok("DELETE", f"/spaces/{made['id']}", status=205)
    assert "styleguide" not in published.get(DOCS)


def test_full_api_version_hides_style_guide_type(published: Api, api: Api) -> None:
    made = published.post(f"{DOCS}/styleguide")
    api.server.reset(published.state())
    assert "type" not in api.get(f"/spaces/{made['id']}")
    assert "styleguide" not in api.get(DOCS)


# --- all of it ------------------------------------------------------------------------------------


def test_exported_server_data_contains_agents_and_style_guides(published: Api) -> None:
    published.make(SERVERS, {**SEARCH, "condition": "visitor.claims.isBeta"})
    published.make(CHANNELS, SLACK)
    published.make(CONNECTIONS, GITHUB)
    published.put(f"{DOCS}/agent-settings", {**SETTINGS, "editing": {"customInstructions": DOCUMENT}})
    published.post(f"{DOCS}/styleguide", {"template": "friendly"})
    with_topics(published)
    paths = (SERVERS, CHANNELS, CONNECTIONS, TOPICS, f"{DOCS}/agent-settings", "/orgs/acme/styleguides")
    before, state = [published.get(path) for path in paths], published.state()
    published.server.reset(state)
    assert [published.get(path) for path in paths] == before


def test_agent_endpoints_return_404_in_other_api_versions(api: Api, reference: Api) -> None:
    for caller in (api, reference):
        for path in (SERVERS, CHANNELS, CONNECTIONS, TOPICS, f"{DOCS}/agent-settings"):
            caller.refused(404, "GET", path)
