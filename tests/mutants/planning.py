"""Mistakes in planning: digests, order, deletions, guards, exposures and URLs.

These modules import dpsync inside of functions only: they are loaded before dpsync is (breaking.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


def digest_with_origins(original: Any, self: Any) -> bytes:
    """Let the digest of a plan depend on the lines where entries are written."""
    return original(self) + repr(self.origins).encode()


def move_all_but_one(_original: Any, numbers: Sequence[int]) -> list[int]:
    """Move all siblings but one."""
    return [*numbers[-1:]]


def prune_everywhere(_original: Any, *_: Any) -> bool:
    """Prune every place, whatever the policy says."""
    return True


def delete_against_the_flag(original: Any, sides: Any, decided: Any) -> Any:
    """Delete in spite of --no-delete."""
    from msgspec.structs import replace

    return original(replace(sides, options=replace(sides.options, delete=True)), decided)


def delete_with_unreadable_dependents(_original: Any, sides: Any, roots: Any, decided: Any) -> Any:
    """Delete objects although their dependents cannot be read."""
    from dpsync.planner.deletions import planned_cascade

    return roots, planned_cascade(sides, roots, decided), {}


def protect_from_direct_deletion_only(original: Any, decided: Any) -> Iterator[Any]:
    """Protect an object against direct deletion, but not against the deletion of its parent."""
    roots = {str(address) for address in decided.deletions.addresses}
    yield from (refusal for refusal in original(decided) if refusal.address in roots)


def return_nothing(_original: Any, *_: Any) -> tuple[()]:
    """Refuse, ask and list nothing; add no edge."""
    return ()


def add_path_of_default(original: Any, one: Any, around: Any) -> Any:
    """Add the path of a default child to its URL."""
    from msgspec.structs import replace

    url = one.kind.url
    if url is not None and one.fields.get(url.bare or "") is True:
        one = replace(one, fields={**one.fields, url.bare: False})
    return original(one, around)


def delete_content_unasked(original: Any, decided: Any) -> Any:
    """Delete content without an answer that names it."""
    from msgspec.structs import replace

    return replace(original(decided), need_address={}, need_number={})


def count_missing_as_removed(_original: Any, _self: Any, _identity: Any) -> Any:
    """Take every entry that is missing for an entry that a person removed."""
    from dpsync.planner.policy import Removal

    return Removal()


def show_missing_files_as_deleted(_original: Any, _self: Any, _commit: str, _file: str) -> str:
    """Take every file that the configuration does not read for a deleted one."""
    return ""


def hold_nothing(_original: Any, _self: Any, _identity: Any) -> bool:
    """Take every object for an empty one."""
    return False


def write_synced_fields(_original: Any, self: Any, address: Any, field: str | None = None) -> bool:
    """Write fields that the platform syncs with a repository."""
    return self.now.ignores(address, field)
