"""What looks like a secret is told apart from what people write into settings, and is never shown."""

from __future__ import annotations

import base64
import secrets
from typing import Any

import pytest

from dpsync.kinds.declarations.customization import DEFAULTS
from dpsync.kinds.types.free_form import HIDDEN_SECRET_TEXT, Json, looks_secret
from dpsync.model.values import Secret

LITERAL = "hunter2-hunter2"


SECRET_NAMES = """
token Token slack_token accessToken ACCESS_TOKEN bot-token token2 secret clientSecret password dbPassword
passwd passphrase apiKey api_key APIKey apikey privateKey signing-key credentials authorization
"""
OTHER_NAMES = """
channel tokenType tokenUrl secretName key keyboard publicKey passwordPolicy tokenizer monkey author title
secretary maxTokensUrl compass
"""
SECRET_TEXTS = [
    "xoxb-" + "1234567890-abcdefgh",
    "ghp_" + "a" * 36,
    "glpat-" + "x" * 20,
    "sk_live_" + "4eC39HqLyjWD",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc",
    "Bearer abcdefgh12",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
    "https://ada:hunter2@db.example/x",
    "postgres://u:p@h/db",
    "https://cdn.example/logo.png?alt=media&token=1b2c3d4e",
    "https://hooks.slack.com/services/T0/B0/xyz",
    "9f86d081884c7d659a2feaa0c55ad015",
    "wJalrXUtnFEMI7K7MDENGbPxRfiCYEXAMPLE3KEY",
    "the key is Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZg==",
]
OTHER_TEXTS = [
    "docs",
    "Technical writers",
    "#346DDB",
    "IBMPlexMono",
    "https://acme.example/docs/getting-started",
    "https://cdn.acme.example/assets/logo-9f86d081.svg",
    "https://acme.example/search?q=token&page=2",
    "getting-started-with-part-2-of-3-guides",
    "123e4567-e89b-12d3-a456-426614174000",
    "2024-11-22T01:02:03Z",
    "ReleaseNotes2024Final",
    "internationalization",
    "ada@acme.example",
    "1234567890123456789",
    "window.location.reload()",
    "v1.2.3-beta4",
    "hsl(210, 50%, 40%)",
]


@pytest.mark.parametrize("name", SECRET_NAMES.split())
def test_looks_secret_is_true_for_secret_names(name: str) -> None:
    assert looks_secret(name, "hunter2")
    assert not looks_secret(name, "")
    assert not looks_secret(name, "required")


@pytest.mark.parametrize("name", ["", *OTHER_NAMES.split()])
def test_looks_secret_is_false_for_other_names(name: str) -> None:
    assert not looks_secret(name, "hunter2")


@pytest.mark.parametrize("text", SECRET_TEXTS)
def test_looks_secret_is_true_for_secret_texts(text: str) -> None:
    assert looks_secret("note", text)


@pytest.mark.parametrize("text", OTHER_TEXTS)
def test_looks_secret_is_false_for_ordinary_texts(text: str) -> None:
    assert not looks_secret("note", text)


def leaves(value: Any, name: str = "") -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in leaves(item, key)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item, name)]
    return [(name, value)] if isinstance(value, str) else []


def test_default_customization_contains_no_apparent_secrets() -> None:
    assert [leaf for leaf in leaves(DEFAULTS) if looks_secret(*leaf)] == []


def test_looks_secret_detects_most_random_tokens() -> None:
    made = [secrets.token_hex(16), secrets.token_hex(32), base64.b64encode(secrets.token_bytes(32)).decode()]
    made += [secrets.token_hex(20) for _ in range(47)]
    assert sum(looks_secret("value", text) for text in made) >= 48


def test_displayed_live_value_hides_secrets_beside_declared_values() -> None:
    settings = Json(is_partial=True, may_contain_secrets=True)
    wanted = {"token": "t", "list": [Secret("A"), "b"], "other": "x", "channel": "docs", "more": [1]}
    live = {
        "token": LITERAL, "list": [LITERAL, "c", LITERAL], "other": {"password": LITERAL}, "channel": "news",
        "more": [1, {"secret": LITERAL}], "unmanaged": LITERAL,
    }  # fmt: skip
    assert settings.displayable_live(live, wanted) == {
        "token": HIDDEN_SECRET_TEXT,
        "list": [Secret("A"), HIDDEN_SECRET_TEXT, HIDDEN_SECRET_TEXT],
        "other": HIDDEN_SECRET_TEXT,
        "channel": "news",
        "more": [1, HIDDEN_SECRET_TEXT],
    }
