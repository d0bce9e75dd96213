"""Describe kinds in sentences for users: place, address, identity, creation and deletion."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.importing.write_yaml import on_one_line
from dpsync.kinds.examples import key_example, value_example
from dpsync.kinds.kind import Entries, Kind, Node, Single
from dpsync.kinds.meanings import NOTES
from dpsync.kinds.registry import Registry
from dpsync.model.text import plural
from dpsync.render.words.fields import listed


def heading(kind: Kind) -> str:
    """Return the noun of a kind as a heading."""
    return kind.noun[0].upper() + kind.noun[1:]


def place_words(registry: Registry, kind: Kind) -> str:
    """Return where entries of a kind are in the files, as a noun phrase."""
    parents = [registry[name] for name in kind.parents]
    match kind.shape:
        case Node(type=type_):
            roots = [parent.one for parent in parents if not isinstance(parent.shape, Node)]
            where = [f"the key `{kind.key}` of {listed(roots, 'or')}"]
            holders = [other.one for other in registry.kinds.values() if kind.name in _holds(other)]
            where += [f"the key `children` of {listed(holders, 'or')}"] if holders else []
            return f"{' or '.join(where)}, with `type: {type_}`"
        case Entries() if not parents:
            return f"the key `{kind.key}` at the top of the file"
    return f"the key `{kind.key}` of {listed((parent.one for parent in parents), 'or')}"


def key_words(registry: Registry, kind: Kind) -> str:
    """Return the meaning of an entry's key; "" for a kind without keys."""
    match kind.shape:
        case Single():
            return ""
        case Node():
            return "`key`, a name of your choice"
        case Entries(natural=natural):
            example = f"such as {key_example(registry, kind)}"
            return f"the {natural}, {example}" if natural else f"a name of your choice, {example}"


def _holds(kind: Kind) -> tuple[str, ...]:
    return kind.shape.holds if isinstance(kind.shape, Node) else ()


def address_words(registry: Registry, kind: Kind) -> list[str]:
    """Return an example of the address below each kind of parent."""
    own = key_example(registry, kind)
    if kind.parent is None:
        return [own]
    found = []
    for parent in (registry[name] for name in kind.parents):
        inside = isinstance(kind.shape, Node) and isinstance(parent.shape, Node)
        for above in address_words(registry, parent):
            place = above if inside else f"{above}/{kind.key.replace('.', '/')}"
            found.append(place if isinstance(kind.shape, Single) else f"{place}/{own}")
    return found


def identity_words(kind: Kind) -> str:
    """Return how dpsync finds an object without `id`, in sentences; "" if the place or the key suffices."""
    if isinstance(kind.shape, Single) or kind.natural is not None:
        return ""
    members = {str(key).partition(".")[0] for key in kind.identity if "." in str(key) and "$" not in str(key)}
    ways = [f"one of the texts in `{name}`" for name in sorted(members)]
    for key in kind.identity if not members else ():
        names = (key,) if isinstance(key, str) else key
        ways.append(" and ".join(_key_name(name) for name in names))
    if kind.sole_key is not None:
        ways.append(f"`{kind.sole_key}` if only one {kind.noun} has this `{kind.sole_key}`")
    order = f"by {', otherwise by '.join(ways)}"
    if len(ways) > 2:
        order = "in this order: " + ", ".join(f"({n}) by {way}" for n, way in enumerate(ways, 1))
    found = f"If the entry has no `id`, dpsync finds an existing {kind.noun} {order}."
    if not kind.tie_breakers:
        return found
    parent = "the parent in the navigation"
    tie_breakers = [parent if kind.field(name).nest else f"`{name}`" for name in kind.tie_breakers]
    return f"{found} If several {plural(kind.noun)} match, dpsync also compares {listed(tie_breakers)}."


def _key_name(name: str) -> str:
    of_child = name.removeprefix("$child.")
    return f"`{name}`" if of_child == name else f"`{of_child}` of the first child"


def rules_words(registry: Registry, kind: Kind) -> Iterator[str]:
    """Yield what users must know about creating, changing and deleting objects of a kind."""
    noun, objects = kind.noun, plural(kind.noun)
    yield from NOTES.get(kind.name, ())
    if isinstance(kind.shape, Single) and kind.parent is not None:
        yield from _single(registry, kind)
    if identity := identity_words(kind):
        yield identity
    if kind.shorthand is not None and not kind.only_short:
        field, key = kind.field(kind.shorthand), key_example(registry, kind)
        value = on_one_line(value_example(registry, kind, field))
        yield f"You can write `{key}: {value}` instead of `{key}: {{ {field.name}: {value} }}`."
    if isinstance(kind.shape, Node) and kind.shape.least:
        children = listed((registry[name].noun for name in kind.shape.holds), "or")
        yield f"{kind.one.capitalize()} needs at least {kind.shape.least} {children} in `children`."
    if kind.order:
        yield (
            f"dpsync gives {objects} the same order in GitBook as in your file, and does not move {objects} "
            "without an entry."
        )
    if kind.platform.outputs:
        made = registry[kind.platform.outputs.kind].noun
        yield f"To refer to the {made} that GitBook creates for {kind.one}, use the key of the {noun}."
    for word in kind.platform.acts:
        address = address_words(registry, kind)[0]
        command = f'`dpsync apply --confirm "{word} {address}"`'
        yield f"To {word} {kind.one} again, use a command such as {command}."
    if kind.content:
        unused = (
            f", unless the {noun} is empty and no object refers to the {noun}" if kind.can_be_empty else ""
        )
        yield f"Deleting {kind.one} needs your confirmation{unused}."
    if kind.lifecycle.on_delete == "lifted":
        yield f"A plan that deletes {kind.one} must also empty the {noun}."
    if kind.delete is None and not isinstance(kind.shape, Single):
        yield f"dpsync cannot delete {kind.one}."
    if kind.guard:
        holder = registry[kind.parents[0]].noun
        yield f"dpsync refuses a plan that leaves the {holder} without {_article(kind.guard.value)}."
        if kind.guard.own:
            yield f"dpsync refuses a plan that removes the role `{kind.guard.value}` from your own user."
    if kind.synced is not None:
        decided = [*kind.synced.fields, *([registry.tree_word(kind.name)] if kind.synced.tree else [])]
        fields = listed(f"`{name}`" for name in decided)
        word = "fields" if len(decided) > 1 else "field"
        yield (
            f"While Git Sync manages {kind.one}, dpsync changes the {word} {fields} only if the entry has "
            "`takeover: true`."
        )


def _single(registry: Registry, kind: Kind) -> Iterator[str]:
    noun = "object of this type" if " to " in kind.noun else kind.noun.partition(" of ")[0]
    number = "" if noun.endswith("s") else "exactly one "
    verbs = "can create and change" if kind.create is not None else "can change"
    holder = registry[kind.parents[0]].noun
    yield f"Each {holder} has {number}{noun}, which dpsync {verbs} but not delete."


def _article(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} `{word}`"
