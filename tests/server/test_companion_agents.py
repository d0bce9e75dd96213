"""The agents of a site, in today's edition: settings, MCP servers, channels."""

from typing import Any

import pytest
from cases.agent_cases import BODIES, DOCUMENT
from companion_calls import Api
from covers import covers

DOCS = "/orgs/acme/sites/docs"
SERVERS, CHANNELS = f"{DOCS}/mcp-servers", f"{DOCS}/channels"
SEARCH = {"name": "Search", "url": "https://mcp.acme.example/", "headers": {"Authorization": "Bearer k"}}
SLACK: dict[str, Any] = {"type": "builtin:slack", "setupSettings": {"allowedChannels": ["docs-*"]}}
SETTINGS = BODIES["updateSiteAgentSettingsById"]


# --- settings -------------------------------------------------------------------------------------


@covers("getSiteAgentSettingsById", 200)
def test_agents_do_nothing_by_themselves_until_somebody_says_so(published: Api) -> None:
    found = published.get(f"{DOCS}/agent-settings")
    assert found["scans"] == {"topics": "never"}
    assert found["findings"] == {"changeRequests": "never"}
    assert found["editing"]["customInstructions"]["nodes"] == []
    assert "updatedBy" not in found


@covers("updateSiteAgentSettingsById", 200)
def test_writing_agent_settings_says_by_whom(published: Api) -> None:
    made = published.put(f"{DOCS}/agent-settings", SETTINGS)
    assert (made["scans"], made["updatedBy"]) == ({"topics": "auto"}, "ada")
    assert made["editing"]["customInstructions"]["nodes"][0]["type"] == "paragraph"
    assert published.get(f"{DOCS}/agent-settings") == made


def test_the_same_agent_settings_again_change_nothing(published: Api) -> None:
    before = published.put(f"{DOCS}/agent-settings", SETTINGS)
    published.clock.pass_by(minutes=1)
    assert published.as_("grace-token").put(f"{DOCS}/agent-settings", SETTINGS) == before


@pytest.mark.parametrize("missing", ["scans", "findings", "editing"])
@covers("updateSiteAgentSettingsById", 400)
def test_agent_settings_are_only_written_whole(published: Api, missing: str) -> None:
    body = {name: value for name, value in SETTINGS.items() if name != missing}
    assert missing in published.refused(400, "PUT", f"{DOCS}/agent-settings", body)


# --- MCP servers ----------------------------------------------------------------------------------


@covers("createSiteMcpServer", 201)
@covers("listSiteMcpServers", 200)
@covers("getSiteMcpServerById", 200)
def test_an_mcp_server_is_read_back_with_its_headers(published: Api) -> None:
    made = published.make(SERVERS, SEARCH)
    assert made["headers"] == SEARCH["headers"]
    assert made["transport"] == "sse"
    assert "condition" not in made
    assert published.items(SERVERS) == [made]
    assert published.get(f"{SERVERS}/{made['id']}") == made


def test_the_names_of_mcp_servers_need_not_differ(published: Api) -> None:
    assert published.make(SERVERS, SEARCH)["id"] != published.make(SERVERS, SEARCH)["id"]


@covers("updateSiteMcpServerById", 200)
def test_what_a_change_of_an_mcp_server_does_not_name_stays_and_headers_are_replaced(published: Api) -> None:
    made = published.make(SERVERS, {**SEARCH, "condition": "visitor.claims.isBeta"})
    changed = published.patch(f"{SERVERS}/{made['id']}", {"headers": {"X-Key": "k"}})
    assert changed == {**made, "headers": {"X-Key": "k"}}


def test_a_condition_of_null_is_none(published: Api) -> None:
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
def test_an_mcp_server_is_refused_where_the_platform_refuses_it(published: Api, wrong: Any) -> None:
    assert next(iter(wrong)) in published.refused(400, "POST", SERVERS, {**SEARCH, **wrong})


def test_headers_are_shown_to_admins_alone(published: Api) -> None:
    published.as_("kim-token").refused(403, "GET", SERVERS)


@covers("deleteSiteMcpServerById", 204)
def test_what_belongs_to_a_site_goes_with_it(published: Api) -> None:
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
def test_a_channel_is_pending_until_a_person_lets_it_in(published: Api) -> None:
    made = published.make(CHANNELS, SLACK)
    assert (made["status"], made["role"], made["answers"]) == ("pending", "support", 0)
    assert published.items(CHANNELS) == [made]
    assert published.get(f"{CHANNELS}/{made['id']}") == made


@covers("updateSiteChannelById", 200)
def test_a_channel_is_changed_by_its_role_or_by_its_settings(published: Api) -> None:
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
def test_a_channel_is_refused_where_the_platform_refuses_it(published: Api, wrong: Any) -> None:
    published.refused(400, "POST", CHANNELS, wrong)


@covers("updateSiteChannelById", 400)
def test_a_channel_keeps_its_type(published: Api) -> None:
    made = published.make(CHANNELS, SLACK)
    other = {"type": "builtin:discord", "setupSettings": {}}
    assert "builtin:slack" in published.refused(400, "PATCH", f"{CHANNELS}/{made['id']}", other)


@covers("deleteSiteChannelById", 204)
def test_a_channel_is_deleted_once(published: Api) -> None:
    made = published.make(CHANNELS, SLACK)
    published.ok("DELETE", f"{CHANNELS}/{made['id']}", status=205)
    published.ok("DELETE", f"{CHANNELS}/{made['id']}", status=204)


# --- all of it ------------------------------------------------------------------------------------


def test_a_world_has_all_of_it(published: Api) -> None:
    published.make(SERVERS, {**SEARCH, "condition": "visitor.claims.isBeta"})
    published.make(CHANNELS, SLACK)
    published.put(f"{DOCS}/agent-settings", {**SETTINGS, "editing": {"customInstructions": DOCUMENT}})
    paths = (SERVERS, CHANNELS, f"{DOCS}/agent-settings")
    before, state = [published.get(path) for path in paths], published.state()
    published.server.reset(state)
    assert [published.get(path) for path in paths] == before


def test_with_other_profiles_nothing_is_there(api: Api, reference: Api) -> None:
    for caller in (api, reference):
        for path in (SERVERS, CHANNELS, f"{DOCS}/agent-settings"):
            caller.refused(404, "GET", path)
