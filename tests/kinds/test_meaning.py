"""Check the declarations of each kind about access and visibility.

A declaration with the opposite meaning would give people access without a question, and no other part of
the declaration would contradict it.

The tables are complete: a new field that opens something, and a new kind, need their line here.
"""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.kinds.kind import Field, Restriction, SingleEntry
from dpsync.kinds.registry import build_registry
from dpsync.kinds.shared.fields import MERGE_RESTRICTION
from dpsync.kinds.types import Json

REGISTRY = build_registry().with_all_kinds
KINDS = REGISTRY.declared.values()

LEVELS = "guest < read < comment < edit < review < create < admin"
ROLES = LEVELS.removeprefix("guest < ")
RULES = "by what is lifted; free: none, rules without any; opens: allow_bypass"
ORDERED = {
    "collection.defaultLevel": LEVELS,
    "agent_settings.scans": "{'topics': 'never'} < {'topics': 'auto'}",
    "agent_settings.findings": " < ".join(
        f"{{'changeRequests': '{word}'}}" for word in ("never", "auto-fixable", "always")
    ),
    "channel.role": "support < collaborator",
    "external_link.draft": "True < False",
    "installation.space_selection": "selected < all",
    "installation.site_selection": "selected < all",
    "member.role": LEVELS,
    "member.sso": "False < True",
    "member_permission.role": ROLES,
    "openapi.visibility": "private < public",
    "organization.defaultRole": LEVELS,
    "organization.sso": "True < False",
    "organization.ai": "False < True",
    "organization.inviteLinks": "False < True",
    "published_integration.visibility": "private < unlisted < public",
    "published_integration.target": "space < site < organization < all",
    "redirect.draft": "True < False",
    "saml.defaultRole": LEVELS,
    "section.draft": "True < False",
    "section_group.draft": "True < False",
    "share_link.active": "False < True",
    "site.visibility": "visitor-auth < share-link < unlisted < public",
    "site.defaultLevel": LEVELS,
    "site.agentsContext": "excluded < included",
    "site.published": "False < True",
    "site_space.hidden": "True < False",
    "site_space.draft": "True < False",
    "space.editMode": "locked < live",
    "space.defaultLevel": LEVELS,
    "team_member.role": "member < owner",
    "team_permission.role": ROLES,
    "topic.usageSettings": "{'changeRequests': False} < {'changeRequests': True}",
    "translation_access.defaultLevel": LEVELS,
}
"""Of fields with a few values: what opens more stands behind what opens less."""


def exposing() -> list[tuple[str, Field]]:
    return [
        (f"{kind.name}.{field.name}", field) for kind in KINDS for field in kind.fields if field.widening_rule
    ]


def test_exposure_values_are_ordered_from_least_to_most() -> None:
    found = {
        name: field.widening_rule for name, field in exposing() if isinstance(field.widening_rule, tuple)
    }
    assert {name: " < ".join(map(str, values)) for name, values in found.items()} == ORDERED


def test_expected_visibility_fields_declare_exposure_order() -> None:
    """`exposure` orders the steps of a plan; `raised` alone lists a change."""
    shown = [name for name, field in exposing() if isinstance(field.exposure, tuple) and field.exposure]
    assert shown == [
        *("external_link.draft", "openapi.visibility", "redirect.draft", "section.draft"),
        *("section_group.draft", "share_link.active", "site.visibility", "site.published"),
        *("site_space.hidden", "site_space.draft"),
    ]


BY_CHANGE = {
    "changed": """channel.setupSettings context_connection.setupSettings
        context_connection.usageSettings external_link.url mcp_server.url mcp_server.headers
        published_integration.script
        saml.entityID
        saml.ssoURL saml.certificate saml.defaultTeam visitor_auth.backend visitor_auth.fallbackURL
        visitor_auth.logoutURL""",
    "set": """installation.configuration installation_site.configuration installation_space.configuration
        published_integration.contentSecurityPolicy site.proxy""",
    "added": """installation.externalIds installation_site.externalIds installation_space.externalIds
        organization.emailDomains published_integration.scopes""",
    "linked": "published_integration.externalLinks",
    "hosts": "openapi.source",
}


@pytest.mark.parametrize("word", BY_CHANGE)
def test_expected_fields_widen_access_when_changed(word: str) -> None:
    found = {name for name, field in exposing() if field.widening_rule == word}
    looks = {
        name for name in found if name.partition(".")[0] in ("customization", "site_space_customization")
    }
    assert found - looks == set(BY_CHANGE[word].split())


def test_customization_fields_widen_access_when_links_change() -> None:
    for name in ("customization", "site_space_customization"):
        assert {field.widens_when for field in REGISTRY[name].fields} == {"linked"}
        assert len(REGISTRY[name].fields) == 20


LIFTED: dict[str, Restriction] = {
    name: Restriction()
    for name in (
        "context_connection.filter", "external_link.condition", "mcp_server.condition",
        "section.condition", "site_space.condition",
    )
} | {"site.adaptiveContent": Restriction(unrestricted_values=({"enabled": False},))} | {
    f"{kind}.mergeRules": MERGE_RESTRICTION
    for kind in ("organization", "space", "translation_access")
}  # fmt: skip


def test_fields_restricting_access_equal_expected_fields() -> None:
    assert {
        name: field.widening_rule
        for name, field in exposing()
        if isinstance(field.widening_rule, Restriction)
    } == LIFTED


def kinds_with(word: str, value: Any = True) -> set[str]:
    return {kind.name for kind in KINDS if getattr(kind, word) == value}


@pytest.mark.parametrize(
    ("word", "names"),
    [
        # One more of them opens something; one fewer does; it lets people into what it belongs to.
        (
            "creation_widens_access",
            """channel context_connection external_link installation installation_site
            installation_space mcp_server member
            member_permission published_integration redirect saml share_link team_member team_permission""",
        ),
        ("deletion_widens_access", "saml"),
        ("opens_parent", "share_link"),
        # Deleting one takes something away that making it again does not bring back.
        ("has_content", "collection installation openapi published_integration saml section site space team"
         " translation"),
        ("is_part_of_output", "translation_access"),
    ],
)  # fmt: skip
def test_kinds_with_each_flag_equal_expected_kinds(word: str, names: str) -> None:
    assert kinds_with(word) == set(names.split())


def test_kinds_without_own_id_equal_expected_kinds() -> None:
    assert kinds_with("has_unique_id", value=False) == {
        *("installation_site", "installation_space", "member", "member_permission", "openapi"),
        *("team_member", "team_permission"),
    }


def test_security_fields_equal_expected_fields() -> None:
    """Every one that says who may do or see what; these alone open something and are settings of content."""
    quiet = {name for name, field in exposing() if not field.can_widen_access}
    looks = {
        name for name in quiet if name.partition(".")[0] in ("customization", "site_space_customization")
    }
    assert quiet - looks == {
        *("external_link.condition", "external_link.draft", "installation.configuration"),
        *("installation.externalIds", "installation_site.configuration", "installation_site.externalIds"),
        *("installation_space.configuration", "installation_space.externalIds", "openapi.source"),
        *("organization.ai", "published_integration.externalLinks", "published_integration.script"),
        *("published_integration.contentSecurityPolicy", "section.condition", "section.draft"),
        *(
            "context_connection.filter",
            "mcp_server.condition",
            "topic.usageSettings",
            "section_group.draft",
            "site.adaptiveContent",
            "site.agentsContext",
            "site_space.condition",
        ),
        *("site_space.draft", "site_space.hidden", "space.editMode"),
    }
    named = {f"{kind.name}.{field.name}" for kind in KINDS for field in kind.fields if field.can_widen_access}
    resolved = {
        f"{kind.name}.{field.name}"
        for kind in KINDS
        for field in kind.fields
        if kind.follows_from_roles(field) or kind.redirects is not None
    }
    assert named - resolved - {name for name, _ in exposing()} == set()


def test_kinds_declare_expected_values_that_make_objects_visible() -> None:
    assert {kind.name: kind.visible_when for kind in KINDS if kind.visible_when} == {
        "section": {"draft": (False,)},
        "section_group": {"draft": (False,)},
        "site": {"published": (True,), "visibility": ("public", "unlisted", "visitor-auth")},
        "site_space": {"draft": (False,)},
    }


def test_absent_security_field_means_least_access() -> None:
    """For access the least, since that is null there; else what the platform has where nobody set it."""
    found = {
        name: field.value_when_absent for name, field in exposing() if field.value_when_absent is not None
    }
    levels = {name for name, absent in found.items() if absent == "guest"}
    assert levels == {name for name in levels if ORDERED[name] == LEVELS}
    nothing = {name for name, absent in found.items() if absent in ([], {}, {"enabled": False})}
    rest = {name: absent for name, absent in found.items() if name not in levels | nothing}
    assert rest.pop("share_link.active") is True
    assert rest.pop("team_member.role") == "member"
    assert set(rest.values()) == {False}


@pytest.mark.parametrize(
    ("shape", "names"),
    [
        (
            SingleEntry(exists_with_parent=True),
            "agent_instructions agent_settings customization site_space_customization visitor_auth",
        ),
        (SingleEntry(), "adaptive_schema translation_access"),
    ],
    ids=["always there", "made"],
)
def test_single_entry_kinds_equal_expected_kinds(shape: SingleEntry, names: str) -> None:
    assert {kind.name for kind in KINDS if kind.shape == shape} == set(names.split())


@pytest.mark.parametrize("name", ["customization", "site_space_customization"])
def test_customization_objects_manage_only_declared_members(name: str) -> None:
    found = [field.type for field in REGISTRY[name].fields]
    objects = [one for one in found if isinstance(one, Json) and one.json_schema["type"] == "object"]
    assert len(objects) == 17
    assert {(one.is_partial, one.may_contain_secrets, one.secrets_are_rare, one.tag) for one in objects} == {
        (True, True, True, "kind")
    }
