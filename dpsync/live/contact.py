"""Compare the shapes of a platform's answers with the declarations, by one GET for each kind of object.

Nothing that is returned here holds a value of the platform: no id, title, e-mail, or key of a mapping.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import ceil
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.client.client import PAGE_LIMIT, ReadClient
from dpsync.client.errors import ClientError, Interrupted, NotSent, Unauthorized, Unknown
from dpsync.kinds.kind import Kind, Lists, Node, One, Pages, Single, Tree
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Enum, Many, Object, OneOf
from dpsync.kinds.types.base import MISSING, Misfit, Type, unlike
from dpsync.kinds.urls import Chain, expand, split_query
from dpsync.live.decode import NOTHING, Misshapen, compose, misfits, walk

_MOST: Final = 50
"""Items of a list that are compared."""
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_USER: Final = "/user"


class Difference(Struct, frozen=True, order=True):
    """One way in which an answer differs. `member` is "" for the answer itself; `*` is a key of a mapping."""

    operation: str
    member: str
    expected: str
    found: str


class Contacted(Struct, frozen=True):
    """The answer to one GET. `operation` is the path with names in braces in place of ids.

    `members` has the JSON types of each declared member, `more` the names of the other members.
    """

    operation: str
    status: int | None
    kinds: tuple[str, ...] = ()
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    more: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()


class Contact(Struct, frozen=True):
    """The result of comparing all responses."""

    answers: tuple[Contacted, ...]
    refused: tuple[str, ...]
    """The kinds that this token may not read."""
    untried: tuple[str, ...]
    """The kinds that were not read, because there is no object that they are in."""
    requests: int
    """About how many requests a first import and its plan send."""

    @property
    def differences(self) -> tuple[Difference, ...]:
        return tuple(sorted({one for answer in self.answers for one in answer.differences}))


def contact(client: ReadClient, registry: Registry, named: str | None = None) -> Contact:
    """Send one GET for each kind of object, and compare the answers with the declarations.

    `named` is the id or the natural key of an organization; without it, the first one is read.
    Raises ClientError if nothing answers, or if the token is not accepted.
    """
    examination = _Examination(client, registry)
    if registry.profile.has("GET", _USER):
        examination.user()
    examination.organizations(named)
    for kind in registry.ordered:
        if kind.parent is not None:
            examination.read(kind)
    return examination.result()


class _Examination:
    """One run of `contact`. `_chains` has the path of ids to the first object found of each kind."""

    def __init__(self, client: ReadClient, registry: Registry) -> None:
        self._client = client
        self._registry = registry
        self._known = frozenset(_member_names(registry))
        self._answers: dict[str, Contacted] = {}
        self._chains: dict[str, Chain] = {}
        self._counts: dict[str, int] = {}
        self._refused: list[str] = []
        self._untried: list[str] = []

    def user(self) -> None:
        """Compare the response with the owner of the token."""
        body = self._get(_USER, None, _USER, ())
        if body is None:
            return
        if not isinstance(body, dict):
            self._add_differences(_USER, [unlike(body, "an object")])
            return
        wanted = ("id", "displayName", "email")
        self._add_differences(
            _USER,
            [
                unlike(body[name], "a text").inside(name) if name in body else Misfit(name, "a text", MISSING)
                for name in wanted
                if not isinstance(body.get(name), str)
            ],
        )

    def organizations(self, named: str | None) -> None:
        """Read the organizations, and the chosen one by its own URL."""
        root = self._registry.root
        if root.find is None:
            return
        path, query = split_query(root.find.path)
        items = self._read_first_page(root, path, query, root.find.path)
        keys = [key for key in root.identity if isinstance(key, str)]
        chosen = [
            id
            for item in items
            if (id := compose(item, root.id)) is not None
            and (named is None or named == id or named in [item.get(key) for key in keys])
        ]
        if chosen or named is not None:
            id = chosen[0] if chosen else str(named)
            self._chains[root.name] = ((root.name, id),)
            self._counts[root.name] = 1
            operation = expand(self._registry, root, root.at, f"{{{root.name}}}", ())
            body = self._get(expand(self._registry, root, root.at, id, ()), None, operation, (root.noun,))
            if body is not None:
                self._compare(operation, root, [body], "")

    def read(self, kind: Kind) -> None:
        """Read the objects of a kind below the first object that they can be in."""
        parents = (self._registry.tree_owner(kind),) if kind.in_tree else kind.parents
        chain = next((self._chains[name] for name in parents if name in self._chains), None)
        if chain is None or kind.of_output or (isinstance(kind.read, One) and "{id}" in kind.at):
            self._untried.append(kind.noun)
            return
        named = tuple((name, f"{{{name}}}") for name, _ in chain)
        templates = kind.read.paths if isinstance(kind.read, Lists) else (kind.read.path,)
        for template in templates:
            operation = expand(self._registry, kind, template, None, named)
            if operation in self._answers:  # the kinds of a tree are read together
                continue
            path, query = split_query(expand(self._registry, kind, template, None, chain))
            match kind.read:
                case Pages():
                    found = self._read_first_page(kind, path, query, operation, chain, kind.read.unpaged)
                    self._keep_first(kind, found, chain)
                case Lists():
                    nodes = self._read_first_page(None, path, query, operation)
                    self._compare_nodes(kind, nodes, chain, operation, "items[]")
                case Tree(root=root):
                    nouns = tuple(node.noun for node in self._registry.nodes(kind.key))
                    body = self._get(path, query, operation, nouns)
                    if body is not None:
                        self._compare_tree(kind, body, root, chain, operation, "")
                case One():
                    absent = isinstance(kind.shape, Single) and not kind.shape.always
                    body = self._get(path, query, operation, (kind.noun,), absent)
                    if body is not None:
                        self._compare(operation, kind, [body], "", has_id=not isinstance(kind.shape, Single))

    def result(self) -> Contact:
        """Return what was found so far."""
        return Contact(
            tuple(self._answers.values()), tuple(dict.fromkeys(self._refused)),
            tuple(dict.fromkeys(self._untried)), self._estimate_requests(),
        )  # fmt: skip

    # --- requests -----------------------------------------------------------------------------------------

    def _get(
        self, path: str, query: Mapping[str, Any] | None, operation: str, nouns: tuple[str, ...],
        absent: bool = False,
    ) -> Any:  # fmt: skip
        """Return the body of an answer, None for none. With `absent`, a 404 is as declared."""
        try:
            body = self._client.get(path, dict(query or {}))
        except (Interrupted, NotSent, Unauthorized):
            raise
        except ClientError as error:
            self._answers[operation] = Contacted(operation, error.status, nouns)
            if error.status == 403:
                self._refused += nouns
            elif error.status != 404 or not absent:
                found = "no answer" if isinstance(error, Unknown) else f"status {error.status}"
                expected = "status 200"
                if error.status is not None and error.status < 300:
                    expected, found = "JSON", "another content type"
                self._add_differences(operation, [Misfit("", expected, found)])
            return None
        self._answers[operation] = Contacted(operation, 200, nouns)
        return body

    def _read_first_page(
        self, kind: Kind | None, path: str, query: Mapping[str, Any] | None, operation: str,
        chain: Chain = (), unpaged: bool = False,
    ) -> list[dict[str, Any]]:  # fmt: skip
        """Return the objects in the first page of a list, after comparing the page and the objects."""
        asked = {**(query or {}), **({} if unpaged else {"limit": PAGE_LIMIT})}
        body = self._get(path, asked, operation, (kind.noun,) if kind is not None else ())
        if body is None:
            return []
        self._add_differences(operation, _envelope_misfits(body))
        items = body.get("items") if isinstance(body, dict) else None
        items = items if isinstance(items, list) else []
        if kind is not None:
            count = body.get("count")
            self._counts[kind.name] = count if type(count) is int else len(items)
            items = [one for one in items if not any(_at(one, at) in no for at, no in kind.others.items())]
            self._compare(operation, kind, items[:_MOST], "items[]")
        return [item for item in items if isinstance(item, dict)]

    # --- comparisons --------------------------------------------------------------------------------------

    def _compare(
        self, operation: str, kind: Kind, items: Iterable[Any], at: str, has_id: bool = True
    ) -> None:
        """Compare objects of a kind, and note the types of their members."""
        types: dict[str, set[str]] = {}
        more: set[str] = set()
        declared = {name for item in kind.read_fields for name in _sources(item.source)}
        first = {name.partition(".")[0] for name in declared}
        for item in items:
            self._add_differences(operation, misfits(kind, item, has_id), at)
            self._add_differences(operation, _unknown_words(kind, item), at)
            for name in declared:
                types.setdefault(name, set()).add(_type_at(item, name))
            if isinstance(item, dict):
                more |= {name for name in item if name not in first and _NAME.fullmatch(name)}
        known = self._answers[operation]
        members = {
            self._member(Misfit(name, "", ""), at): tuple(sorted(found)) for name, found in types.items()
        }
        merged = {
            name: tuple(sorted({*known.members.get(name, ()), *members.get(name, ())}))
            for name in sorted({*known.members, *members})
        }
        kinds = tuple(dict.fromkeys((*known.kinds, kind.noun)))
        self._answers[operation] = replace(
            known, kinds=kinds, members=merged, more=tuple(sorted({*known.more, *more}))
        )

    def _add_differences(self, operation: str, found: Iterable[Misfit], at: str = "") -> None:
        """Add differences to an answer, each once, without any key that may be a user's."""
        known = self._answers[operation]
        new = tuple(Difference(operation, self._member(one, at), one.expected, one.found) for one in found)
        self._answers[operation] = replace(
            known, differences=tuple(dict.fromkeys((*known.differences, *new)))
        )

    def _member(self, misfit: Misfit, at: str) -> str:
        """Return the path of a member: `[]` for the place in a list, `*` for a key that nobody declares."""
        parts = [at] if at else []
        for part in misfit.member.split(".") if misfit.member else ():
            if part.isdecimal():
                parts[-1:] = [f"{parts[-1]}[]" if parts else "[]"]
            else:
                parts.append(part if part in self._known else "*")
        return ".".join(parts)

    # --- trees --------------------------------------------------------------------------------------------

    def _compare_tree(
        self,
        kind: Kind,
        holder: Any,
        member: str,
        chain: Chain,
        operation: str,
        at: str,
    ) -> None:
        """Compare the nodes in a member of an answer or of a node, and those in them."""
        nodes = holder.get(member, NOTHING) if isinstance(holder, dict) else NOTHING
        place = f"{at}.{member}".lstrip(".")
        if not isinstance(nodes, list):
            found = MISSING if nodes is NOTHING else unlike(nodes, "").found
            self._add_differences(operation, [Misfit(place, "a list", found)])
            return
        self._compare_nodes(kind, nodes, chain, operation, f"{place}[]")

    def _compare_nodes(self, kind: Kind, nodes: Iterable[Any], chain: Chain, operation: str, at: str) -> None:
        """Compare the nodes of a list or tree, and keep the first node of each kind."""
        by_wire = {
            one.shape.wire: one for one in self._registry.nodes(kind.key) if isinstance(one.shape, Node)
        }
        for node in nodes:
            if not isinstance(node, dict) or not isinstance(node.get("object"), str):
                self._add_differences(operation, [Misfit("object", "a text", _type_at(node, "object"))], at)
                continue
            one = by_wire.get(node["object"])
            if one is None:
                continue
            self._compare(operation, one, [node], at)
            self._counts[one.name] = self._counts.get(one.name, 0) + 1
            if (id := compose(node, one.id)) is not None:
                self._chains.setdefault(one.name, ((one.name, id), *chain))
            assert isinstance(one.shape, Node)
            if one.shape.children and isinstance(kind.read, Tree):
                self._compare_tree(kind, node, one.shape.children, chain, operation, at)

    def _keep_first(self, kind: Kind, items: Iterable[Any], chain: Chain) -> None:
        """Keep the first object of a kind, to read its children below it."""
        id = next((id for item in items if (id := compose(item, kind.id)) is not None), None)
        if id is not None:
            self._chains.setdefault(kind.name, ((kind.name, id), *chain))

    # --- the cost -----------------------------------------------------------------------------------------

    def _estimate_requests(self) -> int:
        """Return about how many requests read everything: each list once for each object that it is in.

        What is in other objects than the first is taken to be as much as in the first one.
        """
        number = 2
        seen: set[str] = set()
        totals = {self._registry.root.name: 1}
        for kind in self._registry.ordered:
            if kind.parent is None:
                continue
            parents = (self._registry.tree_owner(kind),) if kind.in_tree else kind.parents
            around = sum(totals.get(name, 0) for name in parents)
            totals[kind.name] = self._counts.get(kind.name, 0) * max(
                1, totals.get(self._chains[kind.name][1][0], 1) if kind.name in self._chains else 1
            )
            paths = kind.read.paths if isinstance(kind.read, Lists) else (kind.read.path,)
            group = kind.key if kind.in_tree else kind.name
            if group not in seen and kind.noun not in self._refused:
                seen.add(group)
                paged = isinstance(kind.read, Pages)
                pages = ceil(self._counts.get(kind.name, 0) / PAGE_LIMIT) if paged else 1
                number += around * len(paths) * max(1, pages)
        return number


def _envelope_misfits(body: Any) -> Iterator[Misfit]:
    """Yield what is wrong with a page of a list."""
    if not isinstance(body, dict):
        yield unlike(body, "an object")
        return
    items, following, count = (body.get(name, NOTHING) for name in ("items", "next", "count"))
    if not isinstance(items, list):
        yield Misfit("items", "a list", MISSING if items is NOTHING else unlike(items, "").found)
    else:
        for item in items:
            if not isinstance(item, dict):
                yield unlike(item, "an object").inside(0).inside("items")
    if following is not NOTHING and following is not None:
        if not isinstance(following, dict):
            yield unlike(following, "an object").inside("next")
        elif not isinstance(following.get("page"), str | None):
            yield unlike(following["page"], "a text").inside("page").inside("next")
    if count is not NOTHING and count is not None and type(count) is not int:
        yield unlike(count, "a whole number").inside("count")


def _unknown_words(kind: Kind, body: Any) -> Iterator[Misfit]:
    """Yield a misfit for each member with a word that the declaration does not list."""
    for item in kind.read_fields:
        of = item.type.of if isinstance(item.type, Many) else item.type
        if not isinstance(of, Enum) or not isinstance(item.source, str):
            continue
        value = _at(body, item.source)
        values = value if isinstance(value, list) else [value]
        if any(isinstance(one, str) and one not in of.words for one in values):
            yield Misfit(item.source, "a known value", "an unknown value")


def _sources(source: str | Mapping[str, str] | None) -> Iterator[str]:
    """Yield the dotted paths at which answers have a field."""
    if isinstance(source, str):
        yield source
    elif source is not None:
        yield from source.values()


def _at(body: Any, path: str) -> Any:
    """Return the value at a dotted path; NOTHING if there is none or if a parent is not an object."""
    try:
        return walk(body, path)
    except Misshapen:
        return NOTHING


def _type_at(body: Any, path: str) -> str:
    """Return the name of the JSON type at a dotted path, MISSING if there is no value."""
    value = _at(body, path)
    return MISSING if value is NOTHING else unlike(value, "").found


def _member_names(registry: Registry) -> Iterator[str]:
    """Yield every name of a member that a declaration has."""
    yield from ("items", "next", "page", "count", "object", "id", "displayName", "email")
    for kind in registry.ordered:
        yield from (part for name in re.findall(r"[\w.]+", kind.id) for part in name.split("."))
        if isinstance(kind.read, Tree):
            yield kind.read.root
        if isinstance(kind.shape, Node) and kind.shape.children:
            yield kind.shape.children
        for item in kind.read_fields:
            yield from (part for name in _sources(item.source) for part in name.split("."))
            yield from _names_in(item.type)


def _names_in(of: Type) -> Iterator[str]:
    """Yield the names of the declared parts of a type."""
    if isinstance(of, Object):
        yield from of.parts
        for part in of.parts.values():
            yield from _names_in(part)
    elif isinstance(of, OneOf):
        yield of.tag
        for form in of.forms.values():
            yield from _names_in(form)
    elif isinstance(of, Many):
        yield from _names_in(of.of)
