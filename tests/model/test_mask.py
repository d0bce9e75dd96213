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
from dpsync.model.deferred import Deferred
from dpsync.model.journal import Outcome, Report
from dpsync.model.mask import HIDDEN, SHORTEST, Mask
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
def test_it_is_found_in_every_form(form: str) -> None:
    assert Mask([SECRET])(f"it said {form}, twice: {form}.") == f"it said {HIDDEN}, twice: {HIDDEN}."


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
def test_it_is_found_in_base64_for_urls_of_a_longer_text(before: str) -> None:
    secret = (
        "ÿþ~?>~ÿ?>?ÿþ~?>"  # nearly every group of it has a character that the alphabets write in two ways
    )
    written = base64.b64encode(f"{before}{secret}!".encode()).decode()
    text = base64.urlsafe_b64encode(f"{before}{secret}!".encode()).decode()
    assert {"+", "/"} & set(written[8:-8])
    assert HIDDEN in Mask([secret])(text)


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=9, max_size=30), st.text(max_size=5))
def test_it_is_found_in_the_base64_of_a_longer_text(secret: str, before: str) -> None:
    """As in basic authentication. Of the characters at its ends, some belong to what is around it, too."""
    try:
        text = base64.b64encode(f"{before}:{secret}".encode()).decode()
    except UnicodeEncodeError:
        assume(False)
    masked = Mask([secret])(f"Basic {text}")
    assert HIDDEN in masked
    assert len(masked) <= len("Basic ") + len(HIDDEN) + len(base64.b64encode(f"{before}:".encode())) + 8


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=SHORTEST, max_size=40), st.text(), st.text()
)
def test_no_text_holds_it_afterwards(secret: str, before: str, after: str) -> None:
    assume(secret.strip() and len(secret.strip()) >= SHORTEST)
    assume(secret not in HIDDEN)
    masked = Mask([secret])(f"{before}{secret}{after}")
    assert secret not in masked.replace(HIDDEN, "")


def test_it_is_found_where_it_was_made_visible_and_in_our_own_json() -> None:
    secret = "pässwörd\x1b\u202e\n\U000e0041x"
    for form in (visible(secret), json_text(secret)[1:-1]):
        assert Mask([secret])(f"<{form}>") == f"<{HIDDEN}>"


@given(st.text(max_size=100))
def test_without_values_nothing_is_changed(text: str) -> None:
    assert Mask()(text) == text
    assert Mask([""])(text) == text


def test_what_is_too_short_is_left_alone() -> None:
    assert Mask(["docs", "12345", "a"])("docs 12345 a") == "docs 12345 a"
    assert Mask(["hunter"])("hunter2") == f"{HIDDEN}2"


def test_a_private_key_is_found_line_by_line() -> None:
    key = "-----BEGIN KEY-----\nAbCdEfGhIjKlMnOpQrSt\nUvWxYz0123456789abcd\n-----END KEY-----\n"
    assert Mask([key])("it begins AbCdEfGhIjKlMnOpQrSt") == f"it begins {HIDDEN}"
    assert Mask([key])(repr(key)) == f"'{HIDDEN}'"


def test_a_line_of_a_secret_is_hidden_by_itself_from_sixteen_characters_on() -> None:
    mask = Mask(["abcdefghijklmno\nABCDEFGHIJKLMNOP"])
    assert mask("abcdefghijklmno ABCDEFGHIJKLMNOP") == f"abcdefghijklmno {HIDDEN}"


def test_of_base64_eight_characters_are_enough_to_be_hidden() -> None:
    """Six bytes between others; of five bytes no more than one group of four is theirs alone."""
    for before in ("", "a", "ab"):
        long = base64.b64encode(f"{before}s3cr3t-key".encode()).decode()
        short = base64.b64encode(f"{before}s3cr3t".encode()).decode()
        assert HIDDEN in Mask(["s3cr3t-key"])(long)
        assert (HIDDEN in Mask(["s3cr3t"])(short)) is (before == "")
    assert HIDDEN in Mask(["s3cr3t7"])(base64.b64encode(b"s3cr3t7!?").decode())


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "abcd", "abcde"])
@pytest.mark.parametrize("secret", ["s3cr3t-key-9", "s3cr3t-key-90", "s3cr3t-key-901"])
def test_of_base64_every_group_that_is_the_secrets_alone_is_hidden_and_no_other(
    before: str, secret: str
) -> None:
    text = base64.b64encode(f"{before}{secret}!?!?".encode()).decode()
    first, last = -(-len(before) // 3) * 4, (len(before) + len(secret)) // 3 * 4
    hidden, rest = Mask([secret])(text).split(HIDDEN)
    assert (hidden, text.endswith(rest)) == (text[:first], True)
    assert len(text) - last - 3 <= len(rest) <= len(text) - last


def test_of_two_the_longer_one_is_taken_first() -> None:
    assert Mask(["abcdef", "abcdefghi"])("abcdefghi abcdef") == f"{HIDDEN} {HIDDEN}"


def test_a_mask_does_not_give_its_values_away() -> None:
    assert SECRET not in repr(Mask([SECRET]))


def test_of_data_keys_and_values_are_masked_and_what_a_schema_fixes_stays() -> None:
    mask = Mask(["create", "update", "format", "address", "s3cr3t"])
    difference = Difference(field="title", before={"s3cr3t": ["s3cr3t", 1]}, after="x")
    change = Change(address="acme/s3cr3t", kind="team", action="update", differences=(difference,))
    plan = Plan(changes=(change,), bindings={"acme/s3cr3t": "s3cr3t"})
    outcome = Outcome(
        step="acme/s3cr3t update", address="acme/s3cr3t", verb="update", result="failed", error="s3cr3t!"
    )
    masked = mask.model(Report(plan=plan.digest, outcomes=(outcome,), remaining=plan))
    assert "s3cr3t" not in masked.model_dump_json()
    assert masked.remaining is not None
    assert masked.remaining.changes[0].action == "update"
    assert masked.remaining.changes[0].differences[0].before == {HIDDEN: [HIDDEN, 1]}
    assert masked.remaining.format == "dpsync.plan/1"
    assert Report.model_validate_json(masked.model_dump_json()) == masked


@pytest.mark.parametrize("elsewhere", [False, True])
def test_what_is_made_later_is_masked_when_it_is_made(elsewhere: bool) -> None:
    """Whether or not the secret is in what is there already."""
    at = Span("s3cr3t.yaml", 1, 1, 1, 2)
    plan = Plan(
        platform="http://s3cr3t.example" if elsewhere else "",
        origins=Deferred(lambda: [("acme/s3cr3t", at)], Origin.of),
    )
    masked = Mask(["s3cr3t"]).model(Report(plan=plan.digest, remaining=plan)).remaining
    assert masked is not None
    assert masked.origins == {f"acme/{HIDDEN}": Origin(file=f"{HIDDEN}.yaml", line=1, column=1)}


def test_what_is_made_later_is_not_made_to_be_masked() -> None:
    made: list[str] = []
    origins: Deferred[Origin] = Deferred(lambda: [made.append("made")][:0], Origin.of)
    Mask(["s3cr3t"]).model(Plan(origins=origins))
    assert not made


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://ada:hunter2@x.example/", f"https://ada:{HIDDEN}@x.example/"),
        ("ftp://:a@b@x.example", f"ftp://:{HIDDEN}@x.example"),
        ("https://ghp_0123456789@x.example", f"https://{HIDDEN}@x.example"),
        ("https:\\/\\/ada:hunter2@x.example", f"https:\\/\\/ada:{HIDDEN}@x.example"),
        (f"https://ada:{HIDDEN}@x.example", f"https://ada:{HIDDEN}@x.example"),
        ("https://*****@x.example", "https://*****@x.example"),
        ("ssh://git@x.example/a", "ssh://git@x.example/a"),
        ("https://x.example:443/@ada, ada@x.example", "https://x.example:443/@ada, ada@x.example"),
    ],
)
def test_password_in_a_url_is_masked(text: str, masked: str) -> None:
    assert Mask()(text) == masked
    assert Mask().data({"a": [text]}) == {"a": [masked]}
