"""Longer texts: in place or from a file, certificates without their frame, Markdown with its places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpsync.api import load
from dpsync.config.load import load as load_config
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.kinds.types.texts import Certificate, Markdown
from dpsync.model.address import Address
from dpsync.model.diagnostic import Diagnostic
from tests.certificates import AZURE, OKTA, rewrapped

REGISTRY = load_registry()
OUTSIDE = {"object": "document", "data": {}, "nodes": [{"object": "block", "type": "math", "isVoid": True}]}


def project(directory: Path, body: str, **files: str) -> Path:
    for name, text in files.items():
        (directory / name.replace("_", ".")).write_text(text, encoding="utf-8")
    text = f"dpsync: 1\norganizations:\n  acme:\n    id: acme\n    {body}\n"
    (directory / "dpsync.yaml").write_text(text, encoding="utf-8")
    return directory / "dpsync.yaml"


def found(root: Path) -> list[Diagnostic]:
    return list(load_config(root, REGISTRY, {})[1])


def value(root: Path, address: str, field: str) -> object:
    return load(root, {}).entries[Address.parse(address)].fields[field]


@pytest.mark.parametrize("suffix", ["pem", "yaml", "json", "txt"])
def test_text_is_loaded_from_file_with_any_suffix(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"spec.{suffix}").write_text("openapi: 3.1.0\n", encoding="utf-8")
    root = project(tmp_path, f"openapi: {{ shop: {{ source: {{ text: {{ file: spec.{suffix} }} }} }} }}")
    assert value(root, "acme/openapi/shop", "source") == {"text": "openapi: 3.1.0\n"}


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("{ file: gone.md }", "DP122"),
        ("{ file: ../up.md }", "DP125"),
        ("{ file: 5 }", "DP202"),
        ("[a]", "DP202"),
    ],
)
def test_unreadable_text_file_fails(tmp_path: Path, file: str, code: str) -> None:
    root = project(tmp_path, f"saml: {{ okta: {{ label: Okta, certificate: {file} }} }}")
    assert [item.code for item in found(root)] == [code]


def test_text_length_limit_applies_to_files(tmp_path: Path) -> None:
    body = "saml: { okta: { label: Okta, certificate: { file: a.pem } } }"
    assert [item.code for item in found(project(tmp_path, body, a_pem="x" * 10_001))] == ["DP203"]


KEY = "-----BEGIN PRIVATE KEY-----\nMC4CAQ==\n-----END PRIVATE KEY-----\n"
BARE = "".join(OKTA.splitlines()[1:-1])


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ("okta!", "it is not Base64"),
        ("MIIBgzCCASmgAwIB", "the decoded Base64 data is not a certificate"),
        (OKTA.replace("MIIB", "MIIC"), "the decoded Base64 data is not a certificate"),
        (OKTA.replace("\n", "\n\n*", 1), "it is not Base64"),
        ("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n", "the decoded Base64 data is not"),
        (
            OKTA + "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
            "the decoded Base64 data is not",
        ),
        (KEY, "it contains a private key"),
        (OKTA + KEY, "it contains a private key"),
    ],
)
def test_invalid_certificate_fails_at_its_entry(tmp_path: Path, text: str, wrong: str) -> None:
    """The line of the entry is shown, never one of the file: that may be a key."""
    for said in (json.dumps(text), "{ file: a.pem }"):
        body = f"saml: {{ okta: {{ label: Okta, certificate: {said} }} }}"
        (one,) = found(project(tmp_path, body, a_pem=text))
        assert (one.code, one.severity) == ("DP204", "error")
        assert one.message.startswith(f"the text is not a certificate: {wrong}")
        assert one.span is not None
        column = 5 + body.index(said)
        assert (one.span.file, one.span.line, one.span.column) == ("dpsync.yaml", 5, column)


@pytest.mark.parametrize(
    "text",
    [OKTA, BARE, OKTA.replace("\n", "\r\n"), rewrapped(OKTA), OKTA + AZURE, f"Subject: Okta\n{OKTA}", "null"],
)
def test_valid_certificate_formats_are_accepted(tmp_path: Path, text: str) -> None:
    said = text if text == "null" else json.dumps(text)
    assert found(project(tmp_path, f"saml: {{ okta: {{ label: Okta, certificate: {said} }} }}")) == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("-----BEGIN CERTIFICATE-----\nAB\nCD\n-----END CERTIFICATE-----\n", "ABCD", True),
        ("-----BEGIN CERTIFICATE-----\r\nABCD\r\n-----END CERTIFICATE-----", "AB\nCD\n", True),
        ("subject=Okta\n-----BEGIN CERTIFICATE-----\nABCD\n-----END CERTIFICATE-----\nend", "ABCD", True),
        ("ABCD", "ABCE", False),
    ],
)
def test_certificate_comparison_ignores_pem_header_and_footer(one: str, other: str, same: bool) -> None:
    assert Certificate().equals(one, other) is same
    assert Certificate().equals(other, one) is same


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("---\ndescription: How we write\nicon: pen\n---\n\n# Rules\n", id="fields"),
        pytest.param("---\r\ntags:\r\n  - a\r\n---\r\n# Rules\r\n", id="a list, lines of Windows"),
        pytest.param("---\ntitle: A\n---", id="nothing else"),
    ],
)
def test_front_matter_in_markdown_file_fails(tmp_path: Path, text: str) -> None:
    """Front matter would become a heading, which agents read as an instruction."""
    (one,) = found(project(tmp_path, "agentInstructions: { file: a.md }", a_md=text))
    assert (one.code, str(one.span)) == ("DP209", "a.md:1:1")
    assert "front matter" in one.message


@pytest.mark.parametrize("text", ["---\n\na: b\n\n---\n", "---\nA note\n\n---\n", "a: b\n"])
def test_markdown_divider_is_accepted(tmp_path: Path, text: str) -> None:
    assert found(project(tmp_path, "agentInstructions: { file: a.md }", a_md=text)) == []


def test_markdown_error_in_file_has_file_position(tmp_path: Path) -> None:
    root = project(
        tmp_path, "agentInstructions: { file: a.md }", a_md="# One\n\ntext <b>bold</b>\n\n#### Four\n"
    )
    places = [(item.code, str(item.span)) for item in found(root)]
    assert ("DP209", "a.md:3:6") in places
    assert ("DP209", "a.md:5:1") in places


def test_inline_markdown_error_names_text_line(tmp_path: Path) -> None:
    root = project(tmp_path, 'agentInstructions: "One\\n\\n<b>two</b>"')
    wrong = found(root)
    assert {item.code for item in wrong} == {"DP209"}
    assert all(str(item.span) == "dpsync.yaml:5:24" for item in wrong)
    assert "(in line 3 of the text)" in wrong[0].message


def test_equivalent_markdown_texts_parse_to_equal_values(tmp_path: Path) -> None:
    one = value(
        project(tmp_path, 'agentInstructions: "Some *text*"'), "acme/agentInstructions", "instructions"
    )
    other = value(
        project(tmp_path, 'agentInstructions: "Some _text_\\n"'), "acme/agentInstructions", "instructions"
    )
    assert one == other == "Some _text_\n"


def test_unsupported_markdown_document_is_preserved() -> None:
    kept = Markdown().decode(OUTSIDE)
    assert kept == OUTSIDE
    assert not Markdown().equals("", kept)
    assert Markdown().equals(kept, OUTSIDE)
    assert Markdown().encode(kept) == OUTSIDE
