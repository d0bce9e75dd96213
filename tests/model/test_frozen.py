"""Models that are printed or saved are frozen and accept declared members only."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from pydantic import BaseModel

import dpsync


def classes() -> Iterator[type[Any]]:
    for module in walk_packages(dpsync.__path__, "dpsync."):
        if module.name.endswith("__main__") or module.name.startswith("dpsync.server"):
            continue
        found = vars(import_module(module.name)).values()
        yield from (one for one in found if isinstance(one, type) and one.__module__ == module.name)


CLASSES = [*classes()]


def test_output_models_are_frozen_and_forbid_extra_fields() -> None:
    models = [one for one in CLASSES if issubclass(one, BaseModel)]
    assert len(models) > 30
    said = {(one.model_config.get("frozen"), one.model_config.get("extra")) for one in models}
    assert said == {(True, "forbid")}
