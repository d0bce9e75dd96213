"""The same configuration and platform give the same plan bytes, however files are cut and keys ordered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dpsync.api import Session, load

from .laws import law, plan_of
from .organizations import Draw, Fields
from .platform import REGISTRY, Platform, case


@law(40)
def test_plan_is_independent_of_files_keys_and_parallelism(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=4)
    platform.start(made)
    plan = plan_of(platform, platform.session(made.configuration, parallelism=1)).plan

    root = write_in_parts(draw, made.configuration, platform.directory / "parts")

    for parallelism in (1, 4, 16):
        again = platform.plan(Session(load(root, {}), REGISTRY, parallelism)).plan
        assert again.canonical_json() == plan.canonical_json()
        assert again.digest == plan.digest


def write_in_parts(draw: Draw, configuration: Fields, directory: Path) -> Path:
    """Write the same configuration to up to three files, with the keys of its mappings in another order."""
    files: list[Fields] = [{}, {}, {}]
    for key, organization in configuration["organizations"].items():
        for name, value in draw.shuffled(list(organization.items())):
            entries = (
                value.items()
                if name in ("teams", "members", "collections", "spaces", "sites") and value
                else ()
            )
            for entry, content in draw.shuffled(list(entries)):
                _in(draw, files, key).setdefault(name, {})[entry] = _reordered(draw, content)
            if not entries:
                _in(draw, files, key)[name] = _reordered(draw, value)
    directory.mkdir(exist_ok=True)
    names = [f"part{number}.yaml" for number, file in enumerate(files) if file]
    for number, file in enumerate(files):
        text = json.dumps({"organizations": file})
        (directory / f"part{number}.yaml").write_text(text, encoding="utf-8")
    root = {**configuration, "include": draw.shuffled(names), "organizations": {}}
    del root["organizations"]
    path = directory / "dpsync.yaml"
    path.write_text(json.dumps(root), encoding="utf-8")
    return path


def _in(draw: Draw, files: list[Fields], organization: str) -> Fields:
    found: Fields = draw.pick(files).setdefault(organization, {})
    return found


def _reordered(draw: Draw, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reordered(draw, item) for key, item in draw.shuffled(list(value.items()))}
    if isinstance(value, list):
        return [_reordered(draw, item) for item in value]
    return value
