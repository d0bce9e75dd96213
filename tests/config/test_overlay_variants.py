"""Overlays that select another variant of a value: members of the previous variant are dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpsync.api import load
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.values import to_plain

BASE = """\
dpsync: 1
organizations:
  acme:
    id: acme
    agentInstructions: Be kind.
    spaces:
      guides: { title: Guides, mergeRules: { type: rules, rules: [{ rule: require_at_least_one_review }] } }
    openapi: { shop: { source: { url: "https://api.acme.example/openapi.json" } } }
    sites:
      docs:
        title: Acme Docs
        customization:
          favicon: { emoji: 1f4d6 }
        structure:
          - { type: section, key: news, title: News, path: news,
              children: [{ type: space, key: en, space: guides, path: en }] }
          - { type: external-link, key: blog, title: Blog, url: "https://blog.acme.example" }
        redirects:
          /a: { destination: { kind: external, url: "https://a.example" }, draft: true }
          /b: { destination: { kind: site-space, siteSpaceId: news/en } }
"""
TO_SECTION = "{ kind: site-section, siteSectionId: news }"
FIELDS: dict[str, tuple[str, str, str, Any]] = {
    "destination of another kind": (
        f"sites: {{ docs: {{ redirects: {{ /a: {{ destination: {TO_SECTION} }} }} }} }}",
        "acme/sites/docs/redirects//a",
        "destination",
        {"kind": "site-section", "siteSectionId": "acme/sites/docs/structure/news"},
    ),
    "destination that shares a member with the previous one": (
        "sites: { docs: { redirects: { /b: { destination: { kind: site-page, pageId: p1 } } } } }",
        "acme/sites/docs/redirects//b",
        "destination",
        {"kind": "site-page", "siteSpaceId": "acme/sites/docs/structure/news/en", "pageId": "p1"},
    ),
    "destination of the same kind": (
        'sites: { docs: { redirects: { /a: { destination: { kind: external, url: "https://b.x" } } } } }',
        "acme/sites/docs/redirects//a",
        "destination",
        {"kind": "external", "url": "https://b.x"},
    ),
    "fields beside another destination are kept": (
        f"sites: {{ docs: {{ redirects: {{ /a: {{ destination: {TO_SECTION} }} }} }} }}",
        "acme/sites/docs/redirects//a",
        "draft",
        True,
    ),
    "other merge rules": (
        "spaces: { guides: { mergeRules: { type: inherit } } }",
        "acme/spaces/guides",
        "mergeRules",
        {"type": "inherit"},
    ),
    "another source of a specification": (
        'openapi: { shop: { source: { text: "openapi: 3.1.0" } } }',
        "acme/openapi/shop",
        "source",
        {"text": "openapi: 3.1.0"},
    ),
    "another of two exclusive members": (
        "sites: { docs: { customization: { favicon: { icon: { light: a, dark: b } } } } }",
        "acme/sites/docs/customization",
        "favicon",
        {"icon": {"light": "a", "dark": "b"}},
    ),
    "a file in place of a text": (
        "agentInstructions: { file: agents.md }",
        "acme/agentInstructions",
        "instructions",
        "Be brief.\n",
    ),
}


def _load(directory: Path, overlay: str) -> Any:
    (directory / "dpsync.yaml").write_text(BASE)
    (directory / "prod.yaml").write_text(f"organizations:\n  acme:\n    {overlay}\n")
    (directory / "agents.md").write_text("Be brief.\n")
    return load(directory / "dpsync.yaml", {}, overlays=[directory / "prod.yaml"])


@pytest.mark.parametrize(("overlay", "address", "field", "value"), FIELDS.values(), ids=FIELDS)
def test_overlay_can_switch_to_another_value_variant(
    tmp_path: Path, overlay: str, address: str, field: str, value: Any
) -> None:
    entries = {str(entry.address): entry for entry in _load(tmp_path, overlay).entries.values()}
    assert _readable(entries[address].fields[field]) == value


def test_overlay_matches_email_keys_regardless_of_case(tmp_path: Path) -> None:
    """Otherwise an overlay could not change a member whose e-mail is spelled in another case."""
    (tmp_path / "dpsync.yaml").write_text(
        "dpsync: 1\norganizations: { acme: { id: acme, members: { Ada@acme.example: { role: read } } } }\n"
    )
    (tmp_path / "prod.yaml").write_text("organizations: { acme: { members: { ada@Acme.example: admin } } }\n")
    loaded = load(tmp_path / "dpsync.yaml", {}, overlays=[tmp_path / "prod.yaml"])
    roles = {str(entry.address): entry.fields.get("role") for entry in loaded.entries.values()}
    assert roles == {"acme": None, "acme/members/ada@acme.example": "admin"}


def test_overlay_can_change_node_type(tmp_path: Path) -> None:
    """Leftover members of the previous type would make the node invalid."""
    children = "[{ type: space, key: b, space: guides }]"
    node = f"{{ type: section, key: blog, path: blog, children: {children} }}"
    overlay = f"sites: {{ docs: {{ structure: [{node}] }} }}"
    entries = {str(entry.address): entry for entry in _load(tmp_path, overlay).entries.values()}
    blog = entries["acme/sites/docs/structure/blog"]
    assert (blog.kind, blog.fields["title"], "url" in blog.fields) == ("section", "Blog", False)


def test_conflicting_variant_member_reports_both_files(tmp_path: Path) -> None:
    overlay = "sites: { docs: { redirects: { /a: { destination: { siteSectionId: guides } } } } }"
    with pytest.raises(DiagnosticError) as error:
        _load(tmp_path, overlay)
    [finding] = error.value.diagnostics
    assert finding.message == (
        '"siteSectionId" is not allowed, because dpsync.yaml:19:38 contains "kind: external"'
    )
    assert (str(finding.span), finding.hint) == ("prod.yaml:3:56", "also set kind: site-section")


def _readable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _readable(item) for name, item in value.items()}
    return str(value.address) if hasattr(value, "address") else to_plain(value)
