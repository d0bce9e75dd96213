"""Find and read the ids file of a platform, without requests. It says which live object each entry is."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dpsync import disk
from dpsync.apply.ids_on_disk import IdsOnDisk
from dpsync.config.discovery import IDS_NAME
from dpsync.kinds.registry import Registry
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.ids import IdsFile
from dpsync.model.urls import is_loopback

LOCAL_IDS: Final = Path(disk.OWN_DIRECTORY_NAME) / "ids.yaml"
"""Below the directory of the root file, and not in git: the ids of what is on loopback."""


def ids_path(root: Path, url: str) -> Path:
    """Return the path of the ids file for a platform.

    The file is beside the root file and in git. For a loopback platform, which exists only on this machine,
    it is in dpsync's own directory.
    """
    return root.parent / (IDS_NAME if not is_loopback(url) else LOCAL_IDS)


def load_ids(path: Path, registry: Registry | None = None) -> IdsFile:
    """Return the lines of an ids file, or no lines if there is no file.

    Raises DiagnosticError (exit code 5) with all errors in the file.
    """
    return IdsOnDisk(path, (registry or load_registry()).with_all_kinds).read()
