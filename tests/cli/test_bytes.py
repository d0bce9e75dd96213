"""One configuration, one plan, to the byte: the order of keys says nothing, inside a value either."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Run

BLOCK = Path(__file__).parent / "block"
MORE = {
    "customization": {
        "styling": {"primaryColor": {"light": "#ff0000", "dark": "#00ff00"}, "corners": "straight"},
        "themes": {"default": "light", "toggeable": False},
    },
    "redirects": {"/old": {"destination": {"kind": "external", "url": "https://x.example/"}}},
}
"""Values with several keys of their own, beside those of the block."""
RULES = {
    "mergeRules": {
        "type": "rules",
        "rules": [{"rule": "allow_bypass", "users": ["ada@acme.example"]}],
    }
}


def shuffled(value: Any, dice: random.Random) -> Any:
    """Return the same value with the keys of every mapping in another order."""
    if isinstance(value, dict):
        keys = list(value)
        dice.shuffle(keys)
        return {key: shuffled(value[key], dice) for key in keys}
    if isinstance(value, list):
        return [shuffled(item, dice) for item in value]
    return value


def write(source: Path, target: Path, dice: random.Random | None) -> Path:
    """Copy a project, add fields and rewrite its files; with `dice`, in another order of keys."""
    shutil.copytree(source, target)
    for path in [*target.rglob("*.yaml"), *target.rglob("*.json")]:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
        if path.name == "dpsync.yaml":
            value["organizations"]["acme"]["sites"]["docs"] |= MORE
            value["organizations"]["acme"]["spaces"]["news"] |= RULES
        value = shuffled(value, dice) if dice else value
        text = json.dumps(value) if path.suffix == ".json" else yaml.safe_dump(value, sort_keys=False)
        path.write_text(text, encoding="utf-8")
    return target


def plans(run: Run, directory: Path) -> tuple[str, str, str]:
    """Return the plan as JSON, as text and as it is saved, without places and directory of its files."""
    document = json.loads(run("plan", "-C", str(directory), "--format", "json").out)
    document["plan"].pop("origins", None)
    text = run("plan", "-C", str(directory)).out
    # A plan that is refused is not saved.
    answers = dict.fromkeys(re.findall(r'--confirm "(delete [^"]+)"', text))
    confirm = [word for answer in answers for word in ("--confirm", answer)]
    file = directory / "plan.json"
    assert run("plan", "-C", str(directory), *confirm, "--out", str(file)).code == 0
    saved = json.loads(file.read_text(encoding="utf-8"))
    saved["plan"].pop("origins", None)
    printed = json.dumps(document), re.sub(r"[\w./-]+:\d+(:\d+)?", "PLACE", text), json.dumps(saved)
    json_text, plan_text, saved_text = (one.replace(str(directory), "DIRECTORY") for one in printed)
    return json_text, plan_text, saved_text


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.usefixtures("platform")
def test_plan_is_identical_for_reordered_keys(run: Run, tmp_path: Path, seed: int) -> None:
    written = plans(run, write(BLOCK, tmp_path / "one", None))
    assert '"adaptiveSchema"' in written[0]
    assert plans(run, write(BLOCK, tmp_path / "two", random.Random(seed))) == written
