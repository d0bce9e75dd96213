"""Find `previously` lines that name nothing: a typing error would create the object a second time. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from dpsync.identity.candidates import Past, key_of
from dpsync.identity.natural_keys import Index, NaturalKeys
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.snapshot import LiveObject
from dpsync.model.text import did_you_mean


def unknown_earlier_names(
    view: NaturalKeys,
    past: Past,
    unmatched: Iterable[Entry],
    live: Sequence[LiveObject],
    declared: Collection[Address],
) -> list[Diagnostic]:
    """Return an error (DP246) for each unmatched entry whose `previously` names nothing.

    A former name is known if a live object or an entry of the git base has it. A former address is known if
    a line of the ids file or a commit has it, and the files no longer declare it.
    """
    asking = [entry for entry in unmatched if entry.has_earlier_name and entry.pin is None]
    if not asking:
        return []
    index = Index(view, live)
    lines = set(past.recorded.orphans.values())
    removed = [address for address in {*lines, *past.entries} if address not in declared]
    return [
        _unknown(view, entry, live, removed)
        for entry in asking
        if not _is_name(view, index, past, entry)
        and not any(
            address not in declared and (address in lines or any(past.earlier_entries(address)))
            for address in entry.former
        )
    ]


def _is_name(view: NaturalKeys, index: Index, past: Past, entry: Entry) -> bool:
    """Return whether a live object or an entry of the git base has one of the former names."""
    before = past.keys(view)
    for fields in entry.previously:
        key = key_of(view.kind, fields)
        value = view.wanted(replace(entry, fields=fields), key)
        in_base = any(before.wanted(earlier, key) == value for earlier in past.entries.values())
        if in_base or index.bearing(key, value):
            return True
    return False


def _unknown(
    view: NaturalKeys, entry: Entry, live: Sequence[LiveObject], removed: Sequence[Address]
) -> Diagnostic:
    kind = view.kind
    names = [value for fields in entry.previously for value in fields.values() if isinstance(value, str)]
    written = list(dict.fromkeys(names or [address.last for address in entry.former]))
    fields = {name for fields in entry.previously for name in fields}
    titles = [value for item in live for name in fields if isinstance(value := item.fields.get(name), str)]
    former = [address for address in removed if address.place == entry.address.place]
    known = [*titles, *(address.last for address in former), *map(str, former)]
    nearest = next(filter(None, (did_you_mean(word, known) for word in written)), None)
    quoted = " and ".join(f'"{word}"' for word in written) or "this"
    message = (
        f"the value of previously matches no object: no live {kind.noun} has the name {quoted}, "
        "and neither the ids file nor git has a removed entry with this key"
    )
    hint = f"if the {kind.noun} is new, remove previously"
    if nearest is not None:
        hint = f'did you mean "{nearest}"? Otherwise, {hint}'
    return Diagnostic("DP246", message, entry.where("previously"), str(entry.address), hint)
