"""Describe kinds in words: their place in the files, and how objects are matched, created and deleted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module

from dpsync.kinds.kind import ByHand, Call, Entries, Field, Kind, Node, Single
from dpsync.kinds.profiles import PROFILES
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Table
from dpsync.kinds.watching import is_access_default
from dpsync.model.texts.command import command
from dpsync.model.texts.words import are, plural
from dpsync.render.words.fields import call_words, listed, type_words


def premise(kind: Kind) -> str:
    """Return the module docstring of a kind's declaration; "" for a kind without a module."""
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
            return f"a node with `type: {type_}`, {' or '.join(where)}; `key` names it in your files"
        case Entries(natural=natural, default=default, rows=rows):
            at = f"of {listed((parent.one for parent in parents), 'or')}" if parents else "at the top"
            key = f"its `{natural}`" if natural else "a name of your choice"
            if default:
                key += f", and the default of its `{default}`"
            more = "; or `file:` with the path of a CSV file, one entry per row" if rows is not None else ""
            return f"entries of `{kind.key}:` {at}; the key is {key}{_short(kind)}{more}"
    return f"`{kind.key}:` of {parents[0].one}{_short(kind)}"


def _short(kind: Kind) -> str:
    if kind.shorthand is None:
        return ""
    if kind.only_short:
        return f"; the value is the `{kind.shorthand}` itself"
    return f"; `{{ {kind.shorthand}: … }}` may be shortened to its value"


def _holds(kind: Kind) -> tuple[str, ...]:
    return kind.shape.holds if isinstance(kind.shape, Node) else ()


def address_words(registry: Registry, kind: Kind) -> list[str]:
    """Return the form of the address below each kind of parent."""
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
        return f"its parent: {registry[kind.parents[0]].one} has exactly one"
    members = {str(key).partition(".")[0] for key in kind.identity if "." in str(key) and "$" not in str(key)}
    ways = ["`id:`", *(f"any value in `{name}`" for name in sorted(members))]
    for key in kind.identity if not members else ():
        names = (key,) if isinstance(key, str) else key
        ways.append(" with ".join(_key_name(name) for name in names))
    if kind.sole_key is not None:
        ways.append(f"`{kind.sole_key}`, if only one unmatched object has it")
    tie_breakers = listed(f"`{name}`" for name in kind.tie_breakers) if kind.tie_breakers else ""
    return ", then ".join(ways) + (f"; among several, by {tie_breakers}" if tie_breakers else "")


def _key_name(name: str) -> str:
    of_child = name.removeprefix("$child.")
    return f"`{name}`" if of_child == name else f"`{of_child}` of its first child"


# What can be done with it.


def creation_words(kind: Kind) -> str:
    match kind.create:
        case Call():
            along = ", together with its first child" if kind.create.also_creates else ""
            return call_words(kind.create) + along
        case ByHand() if kind.parent is None:
            return "never: it must exist, or there is no plan"
        case ByHand(todo=todo):
            return f"only in GitBook ({todo.format(key='them')}); until then the entry is blocked"
    return "together with its parent"


def deletion_words(kind: Kind) -> str:
    if kind.delete is None:
        return "never"
    only = " and it is empty" if kind.lifecycle.on_delete == "lifted" else ""
    return f"{call_words(kind.delete)}, if `prune` covers it{only}"


def rules_words(registry: Registry, kind: Kind) -> Iterable[str]:
    if kind.update and kind.update.complete:
        yield "An update sends every field; for undeclared fields, it sends the live value again."
    elif kind.update and kind.update.whole:
        yield "An update replaces the whole object; for undeclared fields, it sends the live value again."
    for word, call in kind.platform.acts.items():
        yield f'`--confirm "{word} ADDRESS"` sends {call_words(call)}.'
    if kind.platform.outputs:
        made = registry[kind.platform.outputs.kind].noun
        yield f"Its key also names the {made} that GitBook creates for it."
    security = [field for field in kind.fields if field.security]
    if written := [f"`{field.name}`" for field in security if not is_access_default(kind, field)]:
        yield f"{command('import')} always writes {listed(written)}, so that `drift` reports changes."
    if watched := [f"`{field.name}`" for field in security if is_access_default(kind, field)]:
        yield f"With `watch: access`, `drift` reports changes of {listed(watched)} also if no line has them."
    if kind.synced is not None:
        decided = [*kind.synced.fields, *([registry.tree_word(kind.name)] if kind.synced.tree else [])]
        fields = f"{listed(f'`{name}`' for name in decided)} {are(len(decided))} not changed"
        yield f"While Git Sync connects it to a repository, {fields}, unless you set `takeover: true`."
    if kind.content:
        yield "Never re-created to change a field; deleted only if you confirm it."
    if kind.mistakable:
        yield "If a new entry resembles an existing object, `plan` asks whether that object was renamed."
    if kind.guard:
        yield f"A plan that leaves nobody as `{kind.guard.value}` is refused."
        if kind.guard.own:
            yield f"A plan never takes `{kind.guard.value}` from the token's own user."
    for holder, order in registry.list_orders(kind.name).items():
        if order.order:
            yield (
                f"Their order in {registry[holder].one} is managed if the entry has `{order.name}:`, "
                f"by {call_words(order.order.call)}."
            )
    if kind.order:
        yield f"Siblings are put in the order of the file, by {call_words(kind.order.call)}."
    if isinstance(kind.shape, Node) and kind.shape.holds:
        least = f", at least {kind.shape.least}" if kind.shape.least else ""
        nouns = " and ".join(plural(registry[name].noun) for name in kind.shape.holds)
        yield f"Its `children` are {nouns}{least}."


def profile_words(registry: Registry, kind: Kind, profile: str) -> list[str]:
    """Return how a declaration differs on an API profile, apart from what the profile lacks."""
    found: list[str] = []
    serving = Registry(registry.declared.values(), PROFILES[profile])
    if kind.name not in serving:
        return found
    there = serving[kind.name]
    own = kind.on_profiles.get(profile, {})
    if "read" in own:
        found.append(f"read at `{there.read.path}`")
    if "update" in own and there.update:
        found.append(f"an update sends only the declared fields, by {call_words(there.update)}")
    if there.inherits:
        noun = registry[there.inherits].noun
        found.append(f"responses show the value in force: the {noun}'s, if it has none of its own")
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
        yield "default unknown"
