"""What a declaration says of a kind, in words: its place in the files, and how one is recognised and made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module

from dpsync.kinds.kind import ByHand, Call, Entries, Field, Kind, Node, Single
from dpsync.kinds.profiles import PROFILES
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Table
from dpsync.model.texts.command import command
from dpsync.model.texts.words import are, plural
from dpsync.render.words.fields import call_words, listed, type_words


def premise(kind: Kind) -> str:
    """What the file of a kind says at its top; empty for a kind that has no such file."""
    try:
        module = import_module(f"dpsync.kinds.declarations.{kind.name}")
    except ModuleNotFoundError:
        return ""
    return re.sub(r"\s+", " ", module.__doc__ or "").strip()


def place_words(registry: Registry, kind: Kind) -> str:
    parents = [registry[name] for name in kind.parents]
    match kind.shape:
        case Node(type=type_):
            roots = [parent.one for parent in parents if not isinstance(parent.shape, Node)]
            where = [f"at the root of the `{kind.key}` of {owner}" for owner in roots]
            holders = [other for other in registry.kinds.values() if kind.name in _holds(other)]
            where += [f"among the `children` of {holder.one}" for holder in holders]
            return f"a node of `type: {type_}`, {' or '.join(where)}; `key` is its local key"
        case Entries(natural=natural, default=default, rows=rows):
            at = f"of {listed((parent.one for parent in parents), 'or')}" if parents else "at the top"
            key = f"its `{natural}`" if natural else "a local name"
            if default:
                key += f", and its `{default}` where that is not written"
            more = "; a file of rows, which `file:` names, may hold them" if rows is not None else ""
            return f"entries of `{kind.key}:` {at}; the key of an entry is {key}{_short(kind)}{more}"
    return f"`{kind.key}:` of {parents[0].one}, one each{_short(kind)}"


def _short(kind: Kind) -> str:
    if kind.shorthand is None:
        return ""
    if kind.only_short:
        return f"; the value is the `{kind.shorthand}` itself"
    return f"; `{{ {kind.shorthand}: … }}` may be shortened to its value"


def _holds(kind: Kind) -> tuple[str, ...]:
    return kind.shape.holds if isinstance(kind.shape, Node) else ()


def address_words(registry: Registry, kind: Kind) -> list[str]:
    """One for each kind that it may belong to."""
    own = kind.name.upper()
    if kind.parent is None:
        return [own]
    found = []
    for parent in (registry[name] for name in kind.parents):
        inside = isinstance(kind.shape, Node) and isinstance(parent.shape, Node)
        for above in address_words(registry, parent):
            place = above if inside else f"{above}/{kind.key.replace('.', '/')}"
            found.append(place if isinstance(kind.shape, Single) else f"{place}/{own}")
    return found


def identity_words(registry: Registry, kind: Kind) -> str:
    if isinstance(kind.shape, Single):
        return f"its place: {registry[kind.parents[0]].one} has one"
    members = {str(key).partition(".")[0] for key in kind.identity if "." in str(key) and "$" not in str(key)}
    ways = ["`id:`", *(f"any member of `{name}`" for name in sorted(members))]
    for key in kind.identity if not members else ():
        names = (key,) if isinstance(key, str) else key
        ways.append(" with ".join(_key_name(name) for name in names))
    if kind.sole_key is not None:
        ways.append(f"`{kind.sole_key}` where a single unclaimed one has it")
    tie_breakers = listed(f"`{name}`" for name in kind.tie_breakers) if kind.tie_breakers else ""
    return ", then ".join(ways) + (
        f"; of several, the one with the same {tie_breakers}" if tie_breakers else ""
    )


def _key_name(name: str) -> str:
    of_child = name.removeprefix("$child.")
    return f"`{name}`" if of_child == name else f"the `{of_child}` of its first child"


# What can be done with it.


def creation_words(kind: Kind) -> str:
    match kind.create:
        case Call():
            along = ", together with its first child" if kind.create.also_creates else ""
            return call_words(kind.create) + along
        case ByHand() if kind.parent is None:
            return "never; it is found, or nothing is planned"
        case ByHand(todo=todo):
            return f"by a person only ({todo.format(key='them')}); until then the entry is blocked"
    return "along with what it belongs to"


def deletion_words(kind: Kind) -> str:
    if kind.delete is None:
        return "never"
    only = ", and only when it is empty" if kind.lifecycle.on_delete == "lifted" else ""
    return f"{call_words(kind.delete)}, where `prune` covers it{only}"


def rules_words(registry: Registry, kind: Kind) -> Iterable[str]:
    if kind.update and kind.update.complete:
        yield "Changing sends every field: as it is declared, else as it is live."
    elif kind.update and kind.update.whole:
        yield "Changing replaces; what is not declared is sent again as it is live."
    for word, call in kind.platform.acts.items():
        yield f'`--confirm "{word} ADDRESS"` sends {call_words(call)}.'
    if kind.platform.outputs:
        made = registry[kind.platform.outputs.kind].noun
        yield f"Its key also names the {made} that the platform makes for it."
    if watched := [f"`{field.name}`" for field in kind.fields if field.security]:
        yield f"{command('import')} writes {listed(watched)} whatever the value is."
        defaults = [f"`{field.name}`" for field in kind.fields if field.security and field.watchable]
        if defaults := [name for name in defaults if not kind.field(name.strip("`")).required]:
            said = f"Where {listed(defaults)} is the platform's default"
            yield f"{said}, it writes no line and has `policy: watch` watch that."
    if kind.synced is not None:
        decided = [*kind.synced.fields, *([registry.tree_word(kind.name)] if kind.synced.tree else [])]
        left = f"{listed(f'`{name}`' for name in decided)} {are(len(decided))} left alone"
        yield f"While the platform syncs it with a repository (Git Sync), {left}."
        yield "With `takeover: true` in the entry all of it is written all the same."
    if kind.content:
        yield "It is content: not replaced to change a field, nor deleted without an answer that names it."
    if kind.mistakable:
        yield "Where one could be there already under another name, it is asked before one is made."
    if kind.guard:
        yield f"Somebody always stays `{kind.guard.value}`: a plan that leaves nobody is refused."
        if kind.guard.own:
            yield f"The token's own user never stops being `{kind.guard.value}`."
    for holder, order in registry.list_orders(kind.name).items():
        if order.order:
            where = f"in {registry[holder].one} is managed where it has `{order.name}:`"
            yield f"Their order {where}, by {call_words(order.order.call)}."
    if kind.order:
        yield f"Siblings stand in the order of the file, by {call_words(kind.order.call)}."
    if isinstance(kind.shape, Node) and kind.shape.holds:
        least = f", at least {kind.shape.least}" if kind.shape.least else ""
        nouns = " and ".join(plural(registry[name].noun) for name in kind.shape.holds)
        yield f"Its `children` are {nouns}{least}."


def profile_words(registry: Registry, kind: Kind, profile: str) -> list[str]:
    """What a declaration says otherwise for servers with this profile, beside what they lack."""
    found: list[str] = []
    serving = Registry(registry.declared.values(), PROFILES[profile])
    if kind.name not in serving:
        return found
    there = serving[kind.name]
    own = kind.on_profiles.get(profile, {})
    if "read" in own:
        found.append(f"read at `{there.read.path}`")
    if "update" in own and there.update:
        found.append(f"changed by {call_words(there.update)} with the declared members alone")
    if there.inherits:
        noun = registry[there.inherits].noun
        found.append(f"answers have what holds: that of the {noun} where it has none")
    for before in kind.fields:
        phrases = list(_field_differences(registry, before, there.field(before.name)))
        if phrases and before.name not in there.unsupported_fields:
            found.append(f"`{before.name}`: {', '.join(phrases)}")
    return found


def _field_differences(registry: Registry, before: Field, after: Field) -> Iterator[str]:
    one, other = before.type, after.type
    if isinstance(one, Table) and isinstance(other, Table) and one.keys == other.keys:
        one, other = one.values, other.values
    value = type_words(registry, other)
    if value != type_words(registry, one):
        yield value
    if after.required and not before.required:
        yield "required"
    if after.null != before.null:
        yield f"null is {after.null}"
    if after.platform_default is None and before.platform_default is not None:
        yield "no default is known"
