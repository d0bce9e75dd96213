"""A secret is found in the forms in which a platform may repeat it, and nothing else is changed."""

from __future__ import annotations

import base64
import html
import json
import re
import urllib.parse

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpsync.model.change import Change, Difference
from dpsync.model.deferred import LazyMapping
from dpsync.model.journal import Outcome, Report
from dpsync.model.mask import MASK_TEXT, MIN_SECRET_CHARS, Mask
from dpsync.model.nodes import Span
from dpsync.model.plan import Origin, Plan
from dpsync.model.text import json_text
from dpsync.render.visible import visible

SECRET = 'pa"Ss/Wo+Rd=ü & 100%\\x'
FORMS = {
    "as it is": SECRET,
    "JSON": json.dumps(SECRET)[1:-1],
    "JSON in UTF-8": json.dumps(SECRET, ensure_ascii=False)[1:-1],
    "JSON with escaped slashes": json.dumps(SECRET)[1:-1].replace("/", "\\/"),
    "Python": repr(SECRET)[1:-1],
    "a URL": urllib.parse.quote(SECRET, safe=""),
    "a path": urllib.parse.quote(SECRET),
    "small digits": re.sub("%..", lambda found: found[0].lower(), urllib.parse.quote(SECRET, safe="")),
    "a form": urllib.parse.quote_plus(SECRET),
    "HTML": html.escape(SECRET),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64 for URLs": base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("="),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_secret_mask_finds_secret_in_every_encoding(form: str) -> None:
    assert Mask([SECRET])(f"it said {form}, twice: {form}.") == f"it said {MASK_TEXT}, twice: {MASK_TEXT}."


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
def test_secret_mask_finds_secret_in_urlsafe_base64(before: str) -> None:
    secret = (
        "ÿþ~?>~ÿ?>?ÿþ~?>"  # nearly every group of it has a character that the alphabets write in two ways
    )
    written = base64.b64encode(f"{before}{secret}!".encode()).decode()
    text = base64.urlsafe_b64encode(f"{before}{secret}!".encode()).decode()
    assert {"+", "/"} & set(written[8:-8])
    assert MASK_TEXT in Mask([secret])(text)


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=9, max_size=30), st.text(max_size=5))
def test_secret_mask_finds_secret_inside_longer_base64(secret: str, before: str) -> None:
    """As in basic authentication. Of the characters at its ends, some belong to what is around it, too."""
    try:
        text = base64.b64encode(f"{before}:{secret}".encode()).decode()
    except UnicodeEncodeError:
        assume(False)
    masked = Mask([secret])(f"Basic {text}")
    assert MASK_TEXT in masked
    assert len(masked) <= len("Basic ") + len(MASK_TEXT) + len(base64.b64encode(f"{before}:".encode())) + 8


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=MIN_SECRET_CHARS, max_size=40),
    st.text(),
    st.text(),
)
def test_masked_text_never_contains_secret(secret: str, before: str, after: str) -> None:
    assume(secret.strip() and len(secret.strip()) >= MIN_SECRET_CHARS)
    assume(secret not in MASK_TEXT)
    masked = Mask([secret])(f"{before}{secret}{after}")
    assert secret not in masked.replace(MASK_TEXT, "")


def test_secret_mask_finds_secret_in_escaped_text() -> None:
    secret = "pässwörd\x1b\u202e\n\U000e0041x"
    for form in (visible(secret), json_text(secret)[1:-1]):
        assert Mask([secret])(f"<{form}>") == f"<{MASK_TEXT}>"


@given(st.text(max_size=100))
def test_secret_mask_without_secrets_changes_no_text(text: str) -> None:
    assert Mask()(text) == text
    assert Mask([""])(text) == text


def test_secret_mask_ignores_secrets_below_minimum_length() -> None:
    assert Mask(["docs", "12345", "a"])("docs 12345 a") == "docs 12345 a"
    assert Mask(["hunter"])("hunter2") == f"{MASK_TEXT}2"


def test_secret_mask_hides_each_line_of_private_key() -> None:
    key = "-----BEGIN KEY-----\nAbCdEfGhIjKlMnOpQrSt\nUvWxYz0123456789abcd\n-----END KEY-----\n"
    assert Mask([key])("it begins AbCdEfGhIjKlMnOpQrSt") == f"it begins {MASK_TEXT}"
    assert Mask([key])(repr(key)) == f"'{MASK_TEXT}'"


def test_mask_hides_secret_lines_of_sixteen_characters() -> None:
    mask = Mask(["abcdefghijklmno\nABCDEFGHIJKLMNOP"])
    assert mask("abcdefghijklmno ABCDEFGHIJKLMNOP") == f"abcdefghijklmno {MASK_TEXT}"


def test_secret_mask_ignores_base64_matches_below_eight_characters() -> None:
    """Six bytes between others; of five bytes no more than one group of four is theirs alone."""
    for before in ("", "a", "ab"):
        long = base64.b64encode(f"{before}s3cr3t-key".encode()).decode()
        short = base64.b64encode(f"{before}s3cr3t".encode()).decode()
        assert MASK_TEXT in Mask(["s3cr3t-key"])(long)
        assert (MASK_TEXT in Mask(["s3cr3t"])(short)) is (before == "")
    assert MASK_TEXT in Mask(["s3cr3t7"])(base64.b64encode(b"s3cr3t7!?").decode())


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "abcd", "abcde"])
@pytest.mark.parametrize("secret", ["s3cr3t-key-9", "s3cr3t-key-90", "s3cr3t-key-901"])
def test_secret_mask_hides_exact_base64_groups_of_secret(before: str, secret: str) -> None:
    text = base64.b64encode(f"{before}{secret}!?!?".encode()).decode()
    first, last = -(-len(before) // 3) * 4, (len(before) + len(secret)) // 3 * 4
    hidden, rest = Mask([secret])(text).split(MASK_TEXT)
    assert (hidden, text.endswith(rest)) == (text[:first], True)
    assert len(text) - last - 3 <= len(rest) <= len(text) - last


def test_secret_mask_replaces_longer_secret_first() -> None:
    assert Mask(["abcdef", "abcdefghi"])("abcdefghi abcdef") == f"{MASK_TEXT} {MASK_TEXT}"


def test_secret_mask_repr_hides_secrets() -> None:
    assert SECRET not in repr(Mask([SECRET]))


def test_mask_covers_data_but_not_schema_values() -> None:
    mask = Mask(["create", "update", "format", "address", "s3cr3t"])
    difference = Difference(field="title", before={"s3cr3t": ["s3cr3t", 1]}, after="x")
    change = Change(address="acme/s3cr3t", kind="team", action="update", differences=(difference,))
    plan = Plan(changes=(change,), bindings={"acme/s3cr3t": "s3cr3t"})
    outcome = Outcome(
        step="acme/s3cr3t update", address="acme/s3cr3t", verb="update", result="failed", error="s3cr3t!"
    )
    masked = mask.mask_model(Report(plan=plan.digest, outcomes=(outcome,), remaining=plan))
    assert "s3cr3t" not in masked.model_dump_json()
    assert masked.remaining is not None
    assert masked.remaining.changes[0].action == "update"
    assert masked.remaining.changes[0].differences[0].before == {MASK_TEXT: [MASK_TEXT, 1]}
    assert masked.remaining.format == "dpsync.plan/1"
    assert Report.model_validate_json(masked.model_dump_json()) == masked


@pytest.mark.parametrize("elsewhere", [False, True])
def test_secret_mask_hides_secrets_in_deferred_values(elsewhere: bool) -> None:
    """Whether or not the secret is in what is there already."""
    at = Span("s3cr3t.yaml", 1, 1, 1, 2)
    plan = Plan(
        platform="http://s3cr3t.example" if elsewhere else "",
        origins=LazyMapping(lambda: [("acme/s3cr3t", at)], Origin.of),
    )
    masked = Mask(["s3cr3t"]).mask_model(Report(plan=plan.digest, remaining=plan)).remaining
    assert masked is not None
    assert masked.origins == {f"acme/{MASK_TEXT}": Origin(file=f"{MASK_TEXT}.yaml", line=1, column=1)}


def test_secret_mask_does_not_evaluate_deferred_values() -> None:
    made: list[str] = []
    origins: LazyMapping[Origin] = LazyMapping(lambda: [made.append("made")][:0], Origin.of)
    Mask(["s3cr3t"]).mask_model(Plan(origins=origins))
    assert not made


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://ada:hunter2@x.example/", f"https://ada:{MASK_TEXT}@x.example/"),
        ("ftp://:a@b@x.example", f"ftp://:{MASK_TEXT}@x.example"),
        ("https://ghp_0123456789@x.example", f"https://{MASK_TEXT}@x.example"),
        ("https:\\/\\/ada:hunter2@x.example", f"https:\\/\\/ada:{MASK_TEXT}@x.example"),
        (f"https://ada:{MASK_TEXT}@x.example", f"https://ada:{MASK_TEXT}@x.example"),
        ("https://*****@x.example", "https://*****@x.example"),
        ("ssh://git@x.example/a", "ssh://git@x.example/a"),
        ("https://x.example:443/@ada, ada@x.example", "https://x.example:443/@ada, ada@x.example"),
    ],
)
def test_secret_mask_hides_password_in_url(text: str, masked: str) -> None:
    assert Mask()(text) == masked
    assert Mask().mask_data({"a": [text]}) == {"a": [masked]}
