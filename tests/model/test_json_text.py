"""No JSON that dpsync puts out hides anything, and every text in it is the same when it is parsed."""

from __future__ import annotations

import ast
import json
import re
import sys
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsync.model.change import Change
from dpsync.model.deferred import LazyMapping
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.nodes import Span
from dpsync.model.plan import Origin, Plan
from dpsync.model.text import json_text
from dpsync.render.json_conversion import findings_document
from dpsync.render.visible import visible

SOURCE = Path(__file__).parents[2] / "dpsync"
# Format characters that have a shape of their own: signs before numbers and joined signs.
VISIBLE_FORMATS = {*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD}
VISIBLE_FORMATS |= {*range(0x13430, 0x13456)}
# Unicode's Default_Ignorable_Code_Point: what a terminal may show as nothing, whatever its category.
IGNORABLE = [
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
]
IGNORABLE += [(0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F)]
IGNORABLE += [(0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A)]
IGNORABLE += [(0xE0000, 0xE0FFF)]
IGNORED = {code for first, last in IGNORABLE for code in range(first, last + 1)}


def is_hidden(code: int) -> bool:
    control = unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    return (control and code not in VISIBLE_FORMATS) or code in IGNORED


@cache
def hidden() -> list[int]:
    return [code for code in range(sys.maxunicode + 1) if is_hidden(code)]


def test_json_output_escapes_every_hidden_character() -> None:
    # One by one: a lone surrogate is written in another way, with all that is beside it.
    for code in hidden():
        written = json_text(f"a{chr(code)}b")
        assert written.isascii()
        assert json.loads(written) == f"a{chr(code)}b"


def test_json_output_keeps_visible_characters() -> None:
    assert json_text({"a": 'ünïcödé 漢字 🎉 ع \\ "'}) == '{"a":"ünïcödé 漢字 🎉 ع \\\\ \\""}'


def test_json_output_escapes_astral_character_as_pair() -> None:
    assert json_text(["\U000e0041"]) == '["\\udb40\\udc41"]'


@pytest.mark.parametrize("value", [Plan(), {"a": [1, {"b": None}], "c": []}])
def test_json_output_is_indented_on_request(value: Any) -> None:
    assert json_text(value, indent=2).startswith("{\n  ")
    assert "\n" not in json_text(value)


# JSON writes two lone halves beside each other as the one character that they are halves of.
TEXTS = st.text(st.characters()).filter(lambda text: not re.search("[\ud800-\udbff][\udc00-\udfff]", text))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.sampled_from([None, 1, 2]))
def test_json_output_survives_parsing_without_hidden_characters(value: Any, indent: int | None) -> None:
    written = json_text(value, indent)
    assert json.loads(written) == value
    assert not any(is_hidden(ord(one)) for one in written if one != "\n")
    written.encode()


def test_json_output_accepts_names_with_invalid_utf8() -> None:
    document = findings_document([Diagnostic("DP1", "caf\udce9", address="\u202ea")], 5)
    found = json.loads(json_text(document, indent=2))["findings"][0]
    assert (found["message"], found["address"]) == ("caf\udce9", "\u202ea")


def test_json_output_of_deferred_values_accepts_invalid_utf8() -> None:
    plan = Plan(
        platform="\udcff", origins=LazyMapping(lambda: [("acme", Span("f.yaml", 1, 2, 1, 3))], Origin.of)
    )
    assert json.loads(json_text(plan))["origins"] == {"acme": {"file": "f.yaml", "line": 1, "column": 2}}


def test_model_json_survives_parsing() -> None:
    plan = Plan(changes=(Change(address="a", kind="team", action="create", label="\u202e\x9b\u200b"),))
    assert Plan.model_validate_json(json_text(plan)) == plan


def test_only_listed_modules_serialize_json_directly() -> None:
    """Every other call that makes JSON is listed with what it is for: none of these texts leaves dpsync."""
    others = {
        "client/responses.py": "the body of a request",
        "config/recorded_values.py": "a text that the reader of files reads",
        "config/ids_file.py": "one text of YAML, whose unseen characters are escaped there",
        "document/comparison.py": "a key for comparing",
        "importing/write_yaml.py": "one scalar of YAML, whose unseen characters are escaped there",
        "importing/files.py": "a key for remembering",
        "importing/values.py": "pieces of one text that json_text could not lay out, escaped piece by piece",
        "model/text.py": "here",
        "model/mask.py": "how a secret may be written, to find it",
        "model/plan.py": "what a digest is made of",
        "model/values.py": "what a digest is made of",
        "planner/rebound_ids.py": "a part of a message, which visible() passes",
        "render/shown_values.py": "how many bytes a value has",
    }
    names = {"to_json", "model_dump_json", "dumps", "dump"}
    found: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        where = path.relative_to(SOURCE).as_posix()
        if where.startswith("server/"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = node.func
                name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
                if name in names:
                    found.add(where)
    assert found == set(others)


def test_terminal_text_hides_only_variation_selectors() -> None:
    shown = visible("".join(map(chr, hidden())))
    assert set(map(chr, hidden())) & set(shown) == {"\ufe0e", "\ufe0f"}
    assert re.fullmatch(r"\\u\{?2800\}?", visible("\u2800"))
