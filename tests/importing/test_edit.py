"""Whatever stood under a key, in whichever style: an edit makes it the new value and moves nothing else."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dpsync.config.yaml_reader import read
from dpsync.importing.edit_yaml import UneditableError, YamlFile, apply_edits
from tests.soak import examples

from .test_emit import TEXTS, VALUES, read_back

BEFORE = "# the top\nfirst: &a [1, 2]   # one\n\n"
AFTER = "\nlast: *a\n# the end\n"
SIMPLE = st.sampled_from(["a", "b", "ada@acme.example", "https://acme.example/x", "two words", 1, True, None])
LIKELY = st.recursive(
    SIMPLE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=12,
)


def edited(text: str, value: Any) -> str:
    document = YamlFile(text, "made.yaml")
    key = document.root.key("key")
    return apply_edits(text, document.edits(*document.value_of(key.span), value))


def readable(text: str) -> bool:
    return read(text, "made.yaml")[1] == []


@settings(suppress_health_check=list(HealthCheck), max_examples=examples(40, soak=2000))
@given(
    LIKELY | VALUES, LIKELY | VALUES, st.booleans(), st.sampled_from([2, 4]), st.sampled_from(["", "  # why"])
)
def test_yaml_edit_replaces_value_and_keeps_surroundings(
    old: Any, new: Any, flow: bool, indent: int, comment: str
) -> None:
    written = yaml.safe_dump(
        {"key": old}, default_flow_style=flow, indent=indent, allow_unicode=True, width=10**6
    )
    written = written.strip("\n")[1:-1] if flow else written.rstrip("\n")
    one_line = "\n" not in written
    text = BEFORE + written + (comment if one_line else "") + AFTER
    assume("$" not in written and readable(text) and read_back(text)["key"] == old)
    try:
        after = edited(text, new)
    except UneditableError:
        assume(False)
    assert after.startswith(BEFORE)
    assert after.endswith((comment if one_line else "") + AFTER)
    assert read_back(after)["key"] == new
    assert read_back(after)["last"] == [1, 2]


@given(TEXTS, TEXTS)
def test_yaml_edit_of_quoted_text_is_readable(old: str, new: str) -> None:
    text = "key: '" + old.replace("'", "''") + "'\n"
    assume("\n" not in old and "$" not in old and readable(text))
    assert read_back(edited(text, new))["key"] == new
