"""The vocabulary of a kind: words only, no behaviour.

Every layer reads these words; none knows a kind by name.

Templates. In paths: `{organization}` and other kinds' names are ids of ancestors, `{parent}` is the parent's
own URL, `{id}` the object's id, `{value}` and `{old}` the ids a field refers to. In bodies: "$fields" is
everything that goes along, "$id", "$value", "$old", "$wire" (a node's type on the wire), "$position",
"$child.NAME" (a field of the first child), "$NAME" (a field). A "..." key spreads its value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dpsync.kinds.types import Type

ANY = "*"
"""In a `via` map: every value that has no call of its own."""


@dataclass(frozen=True)
class Call:
    """One writing request. `gives` is where the answer has the new id ("$NAME": a field known before)."""

    method: str
    path: str
    body: Any = "$fields"
    gives: str = "id"
    makes: str | None = None
    """Where the answer has the id of the first child that the platform makes along with it."""
    whole: bool = False
    """The body replaces everything: undeclared members are sent again as they are live."""
    answers: str | None = None
    """The `object` that a proper answer has; another answer means that it did not happen."""


def Post(path: str, body: Any = "$fields", **words: Any) -> Call:
    return Call("POST", path, body, **words)


def Put(path: str, body: Any = "$fields", **words: Any) -> Call:
    return Call("PUT", path, body, **words)


def Patch(path: str, body: Any = "$fields", **words: Any) -> Call:
    return Call("PATCH", path, body, **words)


def Delete(path: str = "{self}") -> Call:
    return Call("DELETE", path, None)


@dataclass(frozen=True)
class ByHand:
    """What a person must do, since no request can. `{key}` is the entry's key."""

    todo: str


@dataclass(frozen=True)
class Pages:
    """A paged list of full objects."""

    path: str


@dataclass(frozen=True)
class One:
    """One object by its own URL."""

    path: str = "{self}"


@dataclass(frozen=True)
class Tree:
    """One answer that holds every node below the owner, in order."""

    path: str
    root: str


@dataclass(frozen=True)
class Entries:
    """A mapping of local keys. With `natural` the key of an entry *is* that field."""

    natural: str | None = None


@dataclass(frozen=True)
class Single:
    """One per parent. `always`: it exists with its parent; else a 404 means that it was never set."""

    always: bool = False


@dataclass(frozen=True)
class Node:
    """An entry of an ordered tree. `children` is where the answer has what it holds, `holds` which kinds."""

    type: str
    wire: str
    children: str | None = None
    holds: tuple[str, ...] = ()
    alone: bool = False
    """At the root it stands only among its own kind."""
    least: int = 0
    """How many children it must have."""


@dataclass(frozen=True)
class Order:
    """Siblings have an order that a call changes. `pointer` names a sibling inside the call's `$position`.

    For nodes the order is that of the tree. Else `field` is the list on the holding kind (`within`), and
    `read` where the present order is read.
    """

    call: Call
    pointer: Any
    within: str | None = None
    field: str | None = None
    read: Pages | None = None


@dataclass(frozen=True)
class Outputs:
    """Objects of another kind that belong to this one: referable, never matched, imported or pruned alone."""

    kind: str
    read: str


@dataclass(frozen=True)
class Guard:
    """One holder of this value must always remain; with `own`, the token's own user is never touched."""

    field: str
    value: str
    own: bool = False


@dataclass(frozen=True)
class Field:
    """One managed property.

    It has the platform's name, in YAML and on the wire, unless `read` or `write` say otherwise.
    """

    name: str
    type: Type
    on: Literal["create", "update", "both", "neither"] = "both"
    read: str | None = "="
    """Where an answer has it, dotted. "=" is the name itself, "" the whole answer; None cannot be read."""
    write: str | None = None
    create_as: str | None = None
    """Its name in the creating call, where that differs from `write`."""
    via: Call | Mapping[Any, Call] | None = None
    null: Literal["refused", "clear", "empty"] = "refused"
    absent: Any = None
    nest: bool = False
    one_per: str | None = None
    unique: str | None = None
    after: tuple[str, ...] = ()
    exposure: tuple[Any, ...] = ()
    """Its values from least to most exposed: up is written last, down first."""
    required: bool = False

    @property
    def source(self) -> str | None:
        return self.name if self.read == "=" else self.read

    @property
    def wire(self) -> str:
        return self.write or self.name


@dataclass(frozen=True)
class Kind:
    """One thing that can be managed. docs/kinds.md explains each word."""

    name: str
    parent: tuple[str, ...] | str | None
    key: str
    shape: Entries | Single | Node
    at: str
    read: Pages | One | Tree
    fields: tuple[Field, ...]
    label: str = ""
    """What people call one of them."""
    id: str = "id"
    own_id: bool = True
    """Whether the id names one everywhere.

    That of a person who is in several places does not: there is one below each parent.
    """
    title: str = "title"
    """The field that people know an undeclared one by."""
    identity: tuple[str | tuple[str, ...], ...] = ()
    near: tuple[str, ...] = ()
    find: Pages | None = None
    """Where it is looked up by its natural key when it has no parent."""
    create: Call | ByHand | None = None
    update: Call | None = None
    delete: Call | None = None
    order: Order | None = None
    shorthand: str | None = None
    content: bool = False
    on_delete: Literal["gone", "lifted"] = "gone"
    after: tuple[str, ...] = ()
    outputs: Outputs | None = None
    guard: Guard | None = None
    shown_in: Pages | None = None
    """The objects that show this one and lose it when it is deleted."""

    @property
    def parents(self) -> tuple[str, ...]:
        return (self.parent,) if isinstance(self.parent, str) else self.parent or ()

    @property
    def noun(self) -> str:
        return self.label or self.name.replace("_", " ")

    @property
    def one(self) -> str:
        """The noun with its article."""
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"

    def identity_of(self, id: str, parent: tuple[str, str] | None) -> tuple[str, str]:
        """What names one object among all live ones: its kind and id, with the parent's where it needs it."""
        return self.name, id if self.own_id or parent is None else "/".join((*parent, id))

    @property
    def natural(self) -> str | None:
        return self.shape.natural if isinstance(self.shape, Entries) else None

    @property
    def nest(self) -> Field | None:
        return next((field for field in self.fields if field.nest), None)

    def field(self, name: str) -> Field:
        return next(field for field in self.fields if field.name == name)
