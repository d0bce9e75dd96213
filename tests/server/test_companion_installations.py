"""Installations of integrations: in organizations, on spaces and sites, with their configurations."""

from typing import Any

import pytest
from companion_calls import Api
from covers import covers

ALL = "/integrations"
TOOLS = f"{ALL}/acme-tools"
INSTALLED = f"{TOOLS}/installations/acme-tools-in-acme"
STATUS = f"{ALL}/reactor-status"
IN_ACME = f"{STATUS}/installations/reactor-status-in-acme"
IN_GLOBEX = f"{STATUS}/installations/reactor-status-in-globex"
CONFIGURATIONS = {
    "account": {
        "properties": {
            "text": {"type": "string"},
            "choice": {"type": "string", "enum": ["a", "b"]},
            "count": {"type": "number"},
            "on": {"type": "boolean"},
            "press": {"type": "button", "callback_url": "/press", "button_text": "Press"},
        },
        "required": ["text"],
    },
    "space": {"properties": {"label": {"type": "string"}}, "required": ["label"]},
    "site": {"componentId": "settings"},
}


def publish(api: Api, name: str = "weather", **given: Any) -> str:
    body = {"organization": "acme", "title": "Weather", "visibility": "public", **given}
    api.post(f"{ALL}/{name}", body)
    return f"{ALL}/{name}"


def install(api: Api, integration: str, organization: str = "acme") -> str:
    made = api.make(f"{integration}/installations", {"organization": organization})
    return f"{integration}/installations/{made['id']}"


@pytest.fixture
def weather(api: Api) -> str:
    """Return the path of an installation whose integration has settings at every level."""
    return install(api, publish(api, configurations=CONFIGURATIONS))


def enabled(api: Api, path: str, **query: Any) -> list[str]:
    return [integration["name"] for integration in api.items(f"{path}/integrations", **query)]


# --- installing ---------------------------------------------------------------------------------------


@covers("installIntegration", 201)
@covers("getIntegrationInstallationById", 200)
def test_integration_installation_is_created_with_defaults(api: Api) -> None:
    publish(api)
    made = api.make(f"{ALL}/weather/installations", {"organization": "acme"})
    assert made == api.get(f"{ALL}/weather/installations/{made['id']}")
    assert made["target"] == {"organization": "acme"}
    assert (made["status"], made["configuration"], made["externalIds"]) == ("active", {}, [])
    assert (made["space_selection"], made["site_selection"]) == ("all", "all")
    assert made["createdAt"] == made["updatedAt"]


def test_second_install_returns_existing_installation(api: Api) -> None:
    before = api.get(INSTALLED)
    assert api.make(f"{TOOLS}/installations", {"organization": "acme"}) == before
    assert len(api.items(f"{TOOLS}/installations")) == 1


@covers("installIntegration", 404)
def test_install_without_integration_or_target_returns_404(api: Api) -> None:
    message = api.refused(404, "POST", f"{STATUS}/installations", {"organization": "none"})
    assert message == "installation target: organization 'none' not found"
    api.refused(404, "POST", f"{ALL}/none/installations", {"organization": "acme"})
    api.as_("grace-token").refused(404, "POST", f"{STATUS}/installations", {"organization": "globex"})
    api.as_("hank-token").refused(404, "POST", f"{TOOLS}/installations", {"organization": "globex"})


@covers("installIntegration", 403)
def test_install_requires_create_role(api: Api) -> None:
    path = publish(api)
    rui, lin = api.as_("rui-token"), api.as_("lin-token")
    for caller, may in ((rui, False), (lin, True)):
        assert caller.get("/orgs/acme")["permissions"]["installIntegration"] is may
    rui.refused(403, "POST", f"{path}/installations", {"organization": "acme"})
    install(lin, path)


def test_only_owner_installs_private_integration(api: Api) -> None:
    message = api.refused(403, "POST", f"{TOOLS}/installations", {"organization": "globex"})
    assert "private" in message
    install(api, publish(api, "unlisted", visibility="unlisted"), "globex")


# --- listed -------------------------------------------------------------------------------------------


@covers("listOrganizationInstallations", 200, 403)
def test_organization_installations_are_listed_and_searched(api: Api) -> None:
    items = api.items("/orgs/acme/installations", limit=1)
    assert [item["installation"]["id"] for item in items] == ["acme-tools-in-acme", "reactor-status-in-acme"]
    assert items[1]["installation"] == api.get(IN_ACME)
    assert items[1]["integration"] == api.get(STATUS)
    found = api.items("/orgs/acme/installations", search="REACTOR st")
    assert [item["integration"]["name"] for item in found] == ["reactor-status"]
    api.as_("gus-token").refused(403, "GET", "/orgs/acme/installations")
    api.as_("hank-token").refused(404, "GET", "/orgs/acme/installations")


@covers("listIntegrationInstallations", 200)
def test_integration_installations_are_listed_per_caller_access(api: Api) -> None:
    path = f"{STATUS}/installations"
    both = ["reactor-status-in-acme", "reactor-status-in-globex"]
    assert api.ids(path) == api.ids(path, limit=1) == both
    assert api.as_("hank-token").ids(path) == both
    assert api.as_("homer-token").ids(path) == ["reactor-status-in-globex"]
    assert api.as_("kim-token").ids(path) == ["reactor-status-in-acme"]
    assert api.as_("gus-token").ids(path) == []


@covers("getIntegrationInstallationById", 404)
def test_invisible_installation_returns_404(api: Api) -> None:
    api.as_("kim-token").refused(404, "GET", IN_GLOBEX)
    api.as_("gus-token").refused(404, "GET", IN_ACME)
    api.refused(404, "GET", f"{STATUS}/installations/acme-tools-in-acme")
    api.refused(404, "GET", f"{ALL}/none/installations/acme-tools-in-acme")
    assert api.as_("hank-token").get(IN_ACME)["target"] == {"organization": "acme"}


def test_installations_are_filtered_by_external_id(api: Api) -> None:
    api.patch(IN_ACME, {"externalIds": ["one", "two"]})
    path = f"{STATUS}/installations"
    assert api.ids(path, externalId="two") == ["reactor-status-in-acme"]
    assert api.ids(path, externalId="tw") == []
    spaces, sites = f"{TOOLS}/spaces", f"{TOOLS}/sites"
    assert [item["space"] for item in api.items(spaces, externalId="changelog-1")] == ["changelog"]
    assert api.items(spaces, externalId="docs-1") == []
    api.patch(f"{INSTALLED}/sites/docs", {"externalIds": ["docs-1"]})
    assert [item["site"] for item in api.items(sites, externalId="docs-1")] == ["docs"]


# --- configured ---------------------------------------------------------------------------------------


@covers("updateIntegrationInstallation", 200)
def test_required_settings_make_installation_active(api: Api, weather: str) -> None:
    assert api.get(weather)["status"] == "pending"
    api.clock.pass_by(minutes=1)
    changed = api.patch(weather, {"configuration": {"text": "x", "more": {"kept": [1, None]}}})
    assert changed == api.get(weather)
    assert changed["status"] == "active"
    assert changed["configuration"] == {"text": "x", "more": {"kept": [1, None]}}
    assert changed["updatedAt"] > changed["createdAt"]
    for configuration in ({"count": 1}, {"text": ""}, {"text": None}):
        changed = api.patch(weather, {"configuration": configuration})
        assert (changed["status"], changed["configuration"]) == ("pending", configuration)


def test_setting_default_makes_installation_active(api: Api) -> None:
    assert api.get(INSTALLED)["status"] == "active"
    assert "mode" not in api.get(INSTALLED)["configuration"]


def test_installation_update_keeps_omitted_fields(api: Api) -> None:
    before = api.get(INSTALLED)
    changed = api.patch(INSTALLED, {"externalIds": ["a", "b"], "space_selection": "all"})
    assert (changed["externalIds"], changed["space_selection"]) == (["a", "b"], "all")
    assert changed["configuration"] == before["configuration"]
    assert changed["site_selection"] == "selected"


@covers("updateIntegrationInstallation", 400)
@pytest.mark.parametrize(
    ("configuration", "complaint"),
    [
        ({"text": 1}, "text: must be a string"),
        ({"choice": "c"}, "choice: must be one of a, b"),
        ({"choice": True}, "choice: must be a string"),
        ({"count": "1"}, "count: must be a number"),
        ({"count": True}, "count: must be a number"),
        ({"on": 1}, "on: must be a boolean"),
    ],
)
def test_installation_setting_of_wrong_type_is_refused(
    api: Api, weather: str, configuration: Any, complaint: str
) -> None:
    message = api.refused(400, "PATCH", weather, {"configuration": configuration})
    assert message == f"body.configuration.{complaint}"
    assert api.get(weather)["configuration"] == {}


def test_installation_settings_of_declared_types_are_accepted(api: Api, weather: str) -> None:
    good = {"text": "x", "choice": "b", "count": 1.5, "on": False, "press": "anything"}
    assert api.patch(weather, {"configuration": good})["configuration"] == good


@pytest.mark.parametrize(
    "given",
    [
        {"externalIds": ["x"] * 6},
        {"externalIds": [1]},
        {"space_selection": "some"},
        {"site_selection": None},
        {"configuration": []},
    ],
    ids=str,
)
def test_invalid_installation_fields_are_refused(api: Api, given: Any) -> None:
    assert api.refused(400, "PATCH", INSTALLED, given).startswith(f"body.{next(iter(given))}")


@covers("updateIntegrationInstallation", 403, 404)
def test_installation_update_requires_create_role(api: Api) -> None:
    api.as_("lin-token").patch(INSTALLED, {"externalIds": []})
    api.as_("rui-token").refused(403, "PATCH", INSTALLED, {"externalIds": []})
    api.as_("hank-token").refused(403, "PATCH", IN_ACME, {"externalIds": []})
    api.as_("kim-token").refused(404, "PATCH", IN_GLOBEX, {"externalIds": []})


def test_new_integration_version_updates_installation_status(api: Api, weather: str) -> None:
    publish(api)
    assert api.get(weather)["status"] == "active"
    publish(api, configurations=CONFIGURATIONS)
    assert api.get(weather)["status"] == "pending"


def test_paused_installation_stays_paused_after_configuration(api: Api, builtin_world: Any) -> None:
    acme, *others = builtin_world["organizations"]
    paused = {"id": "paused", "integration": "acme-tools", "status": "paused"}
    api.server.reset({**builtin_world, "organizations": [{**acme, "installations": [paused]}, *others]})
    path = f"{TOOLS}/installations/paused"
    assert api.patch(path, {"configuration": {"server": "x"}})["status"] == "paused"
    assert enabled(api, "/spaces/changelog") == []


def test_installation_counts_its_spaces(api: Api) -> None:
    assert api.get(INSTALLED)["spaces"] == 1
    assert api.patch(INSTALLED, {"space_selection": "all"})["spaces"] == len(api.ids("/orgs/acme/spaces"))


# --- uninstalled --------------------------------------------------------------------------------------


@covers("uninstallIntegration", 204)
def test_uninstall_removes_space_and_site_installations(api: Api) -> None:
    api.delete(INSTALLED)
    api.delete(INSTALLED)
    api.refused(404, "GET", INSTALLED)
    assert api.items(f"{TOOLS}/spaces") == api.items(f"{TOOLS}/sites") == []
    again = install(api, TOOLS)
    assert api.items(f"{again}/spaces") == api.items(f"{again}/sites") == []
    assert api.get(again)["status"] == "pending"


@covers("uninstallIntegration", 403, 404)
def test_uninstall_requires_create_role(api: Api) -> None:
    api.as_("rui-token").refused(403, "DELETE", INSTALLED)
    api.as_("hank-token").refused(403, "DELETE", IN_ACME)
    api.as_("hank-token").refused(404, "DELETE", INSTALLED)
    api.as_("kim-token").refused(404, "DELETE", IN_GLOBEX)
    assert api.get(IN_GLOBEX)["id"] == "reactor-status-in-globex"
    api.as_("lin-token").delete(INSTALLED)


# --- on spaces and sites ------------------------------------------------------------------------------


@covers("installIntegrationOnSpace", 201)
@covers("getIntegrationSpaceInstallation", 200)
@covers("updateIntegrationSpaceInstallation", 200)
def test_integration_is_configured_on_space(api: Api, weather: str) -> None:
    made = api.make(f"{weather}/spaces", {"space": "guides"})
    path = f"{weather}/spaces/guides"
    assert made == api.get(path)
    assert (made["integration"], made["space"], made["status"]) == ("weather", "guides", "pending")
    assert made["installation"] == api.get(weather)["id"]
    changed = api.patch(path, {"configuration": {"label": "x"}, "externalIds": ["g"]})
    assert changed == api.get(path)
    assert (changed["status"], changed["configuration"]) == ("active", {"label": "x"})
    assert api.make(f"{weather}/spaces", {"space": "guides"}) == changed
    assert "label" in api.refused(400, "PATCH", path, {"configuration": {"label": 1}})


@covers("installIntegrationOnSite", 201)
@covers("getIntegrationSiteInstallation", 200)
@covers("updateIntegrationSiteInstallation", 200)
def test_integration_is_configured_on_site(api: Api, weather: str) -> None:
    made = api.make(f"{weather}/sites", {"siteId": "help"})
    path = f"{weather}/sites/help"
    assert made == api.get(path)
    assert (made["integration"], made["site"], made["status"]) == ("weather", "help", "active")
    changed = api.patch(path, {"configuration": {"any": [1]}, "externalIds": ["h"]})
    assert changed == api.get(path)
    assert api.make(f"{weather}/sites", {"siteId": "help"}) == changed


@covers("uninstallIntegrationFromSpace", 204)
@covers("uninstallIntegrationFromSite", 204)
@covers("getIntegrationSpaceInstallation", 404)
@covers("getIntegrationSiteInstallation", 404)
def test_integration_is_uninstalled_from_space_and_site(api: Api) -> None:
    for path in (f"{INSTALLED}/spaces/changelog", f"{INSTALLED}/sites/docs"):
        api.delete(path)
        api.delete(path)
        api.refused(404, "GET", path)
        api.refused(404, "PATCH", path, {"externalIds": []})


@covers("listIntegrationInstallationSpaces", 200)
@covers("listIntegrationInstallationSites", 200)
@covers("listIntegrationSpaceInstallations", 200)
@covers("listIntegrationSiteInstallations", 200)
def test_space_and_site_installations_are_listed(api: Api) -> None:
    for space in ("news", "guides"):
        api.make(f"{INSTALLED}/spaces", {"space": space})
    for of in (INSTALLED, TOOLS):
        spaces = api.items(f"{of}/spaces", limit=1)
        assert [item["space"] for item in spaces] == ["changelog", "guides", "news"]
        assert spaces[0] == api.get(f"{INSTALLED}/spaces/changelog")
        assert [item["site"] for item in api.items(f"{of}/sites")] == ["docs"]
    everywhere = api.items(f"{STATUS}/spaces")
    assert [(item["installation"], item["space"]) for item in everywhere] == [
        ("reactor-status-in-globex", "manual")
    ]


def test_extended_query_returns_full_space_or_site(api: Api) -> None:
    space, site = api.get("/spaces/changelog"), api.get("/orgs/acme/sites/docs")
    for of in (INSTALLED, TOOLS):
        assert api.items(f"{of}/spaces", extended=True)[0]["space"] == space
        assert api.items(f"{of}/sites", extended=True)[0]["site"] == site
    assert api.get(f"{INSTALLED}/spaces/changelog", extended=True)["space"] == space
    assert api.get(f"{INSTALLED}/sites/docs", extended=True)["site"] == site
    made = api.ok("POST", f"{INSTALLED}/sites", {"siteId": "docs"}, 201, params={"extended": True})
    assert made["site"] == site
    assert api.get(f"{INSTALLED}/spaces/changelog", extended=False)["space"] == "changelog"
    assert "query.extended" in api.refused(400, "GET", f"{TOOLS}/spaces", params={"extended": "perhaps"})


def test_space_installations_are_listed_per_caller_access(api: Api) -> None:
    api.patch("/spaces/changelog", {"defaultLevel": None})
    kim = api.as_("kim-token")
    assert kim.items(f"{TOOLS}/spaces") == kim.items(f"{INSTALLED}/spaces") == []
    kim.refused(404, "GET", f"{INSTALLED}/spaces/changelog")
    api.make(f"{IN_ACME}/spaces", {"space": "changelog"})
    shown = api.as_("hank-token").items(f"{STATUS}/spaces", extended=True)
    assert [item["space"] if isinstance(item["space"], str) else item["space"]["id"] for item in shown] == [
        "changelog",
        "manual",
    ]
    assert shown[0]["space"] == "changelog"


@covers("installIntegrationOnSpace", 404)
@covers("installIntegrationOnSite", 404)
def test_install_on_foreign_space_or_site_returns_404(api: Api) -> None:
    for space in ("manual", "none"):
        api.refused(404, "POST", f"{INSTALLED}/spaces", {"space": space})
    for site in ("globex-docs", "none"):
        api.refused(404, "POST", f"{INSTALLED}/sites", {"siteId": site})
    api.refused(404, "POST", f"{TOOLS}/installations/none/spaces", {"space": "guides"})


@covers("installIntegrationOnSpace", 403)
@covers("updateIntegrationSpaceInstallation", 403)
@covers("uninstallIntegrationFromSpace", 403)
def test_space_install_matches_space_permission_flag(api: Api) -> None:
    rui, lin = api.as_("rui-token"), api.as_("lin-token")
    for caller, may in ((rui, False), (lin, True)):
        assert caller.get("/spaces/support")["permissions"]["installIntegration"] is may
        status = 201 if may else 403
        assert caller.call("POST", f"{INSTALLED}/spaces", {"space": "support"}).status_code == status
    path = f"{INSTALLED}/spaces/support"
    rui.refused(403, "PATCH", path, {"externalIds": []})
    rui.refused(403, "DELETE", path)
    lin.patch(path, {"externalIds": []})
    lin.delete(path)
    lin.refused(403, "POST", f"{INSTALLED}/spaces", {"space": "guides"})


@covers("installIntegrationOnSite", 403)
@covers("updateIntegrationSiteInstallation", 403)
@covers("uninstallIntegrationFromSite", 403)
def test_site_install_matches_site_permission_flag(api: Api) -> None:
    rui, lin = api.as_("rui-token"), api.as_("lin-token")
    for caller, may in ((rui, False), (lin, True)):
        assert caller.get("/orgs/acme/sites/help")["permissions"]["installIntegration"] is may
        status = 201 if may else 403
        assert caller.call("POST", f"{INSTALLED}/sites", {"siteId": "help"}).status_code == status
    path = f"{INSTALLED}/sites/help"
    rui.refused(403, "PATCH", path, {"externalIds": []})
    rui.refused(403, "DELETE", path)
    assert rui.get(path)["site"] == "help"
    lin.patch(path, {"externalIds": []})
    lin.delete(path)


@covers("installIntegrationOnSpace", 409)
@covers("installIntegrationOnSite", 409)
def test_install_on_space_or_site_requires_matching_target(api: Api) -> None:
    for target, space, site in (("space", 201, 409), ("site", 409, 201), ("organization", 409, 409)):
        installed = install(api, publish(api, f"for-{target}", target=target))
        assert api.call("POST", f"{installed}/spaces", {"space": "guides"}).status_code == space
        assert api.call("POST", f"{installed}/sites", {"siteId": "help"}).status_code == site


# --- enabled ------------------------------------------------------------------------------------------


@covers("listSpaceIntegrations", 200)
def test_space_lists_its_active_integrations(api: Api) -> None:
    api.as_("hank-token").patch(IN_GLOBEX, {"configuration": {}})  # then it is not active
    assert enabled(api, "/spaces/changelog") == ["acme-tools", "reactor-status"]
    assert enabled(api, "/spaces/guides") == ["reactor-status"]
    assert enabled(api, "/spaces/guides", search="tools") == []
    api.make(f"{INSTALLED}/spaces", {"space": "guides"})
    assert enabled(api, "/spaces/guides", limit=1) == ["acme-tools", "reactor-status"]
    api.patch(INSTALLED, {"configuration": {}})
    assert enabled(api, "/spaces/guides") == ["reactor-status"]
    assert enabled(api, "/spaces/manual") == []
    api.as_("hank-token").refused(404, "GET", "/spaces/guides/integrations")


@covers("listSiteIntegrations", 200)
def test_site_lists_its_active_integrations(api: Api) -> None:
    api.as_("hank-token").patch(IN_GLOBEX, {"configuration": {}})  # then it is not active
    assert enabled(api, "/orgs/acme/sites/docs") == ["acme-tools"]
    api.make(f"{IN_ACME}/sites", {"siteId": "docs"})
    assert enabled(api, "/orgs/acme/sites/docs") == ["acme-tools"]
    api.patch(f"{IN_ACME}/sites/docs", {"configuration": {"banner": False}})
    assert enabled(api, "/orgs/acme/sites/docs") == ["acme-tools", "reactor-status"]
    assert enabled(api, "/orgs/acme/sites/docs", search="status") == ["reactor-status"]
    assert enabled(api, "/orgs/acme/sites/help") == []
    assert enabled(api, "/orgs/globex/sites/globex-docs") == ["control-room"]


# --- what goes ----------------------------------------------------------------------------------------


def test_deleted_space_or_site_loses_its_installations(api: Api) -> None:
    api.delete("/orgs/acme/sites/docs")
    assert api.items(f"{TOOLS}/sites") == []
    api.delete("/spaces/changelog")
    assert api.items(f"{TOOLS}/spaces") == []
    api.post("/spaces/changelog/restore")
    assert api.items(f"{TOOLS}/spaces") == []
    api.refused(404, "GET", f"{INSTALLED}/spaces/changelog")


def test_transferred_space_loses_its_installations(api: Api) -> None:
    api.as_("hank-token").patch(IN_GLOBEX, {"configuration": {}})  # then it is not active
    collection = api.make("/orgs/acme/collections", {"title": "Going"})["id"]
    for parent in ({}, {"parent": collection}):
        space = api.make("/orgs/acme/spaces", {"title": "Going", **parent})["id"]
        api.make(f"{INSTALLED}/spaces", {"space": space})
        moved = f"/collections/{collection}" if parent else f"/spaces/{space}"
        api.post(f"{moved}/transfer", {"organization": "globex"})
        assert [item["space"] for item in api.items(f"{TOOLS}/spaces")] == ["changelog"]
        assert enabled(api, f"/spaces/{space}") == []
