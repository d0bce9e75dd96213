"""Which file an entry stands in, and the bytes of every file.

dpsync.yaml                    the organizations: their settings and singletons
ORG/PLACE.yaml                 the entries of one place
ORG/PLACE/KEY.yaml             one entry, where its kind has a tree below it
ORG/PLACE/KEY….md|pem|json     long values, named by {file: …}
ORG/PLACE/KEY.PLACE.csv        many entries of one place, a row each, where their kind may stand in rows
schemas/dpsync.schema.json     for editors
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from dpsync.config.compose import WHOLE, WORD
from dpsync.config.rows import WORD as ROWS_WORD
from dpsync.config.rows import rows_of
from dpsync.config.schema import configuration_schema
from dpsync.importing.creation.entries import DescribedEntries, DescribedEntry
from dpsync.importing.creation.inventory import FoundObject, Inventory
from dpsync.importing.numbering import first_free
from dpsync.importing.rows import Cells, file_text, row
from dpsync.importing.values import FileContent
from dpsync.importing.yaml_text.edit import Uneditable
from dpsync.importing.yaml_text.emit import BlockMapping, document
from dpsync.kinds.kind import Kind, Node, Single
from dpsync.kinds.registry import Registry
from dpsync.kinds.short_forms import short_forms
from dpsync.kinds.types import Json
from dpsync.kinds.types.texts import LongText, Markdown
from dpsync.kinds.watching import ACCESS
from dpsync.model.text import command, json_text

ROOT: Final = "dpsync.yaml"
MANY: Final = 50
"""So many entries that may stand in a file of rows do."""
SCHEMA: Final = "schemas/dpsync.schema.json"
_DEFAULTS: Final = (
    f"Fields with their default value are left out. To write every field: {command('import', '--full')}"
)
_ACCESS: Final = (
    f"{command('drift')} reports each change of access, also of fields and lists that are not in these files."
)


def lay_out(
    registry: Registry,
    whole: Inventory,
    entries: DescribedEntries,
    full: bool = False,
    watch: Sequence[str] = (),
) -> dict[str, bytes]:
    """Every file by its path relative to the project, in the order of paths.

    `watch` are the patterns of places that the policy watches.
    """
    return _Layout(registry, whole, entries, full, watch).files()


def included(paths: Iterable[str]) -> list[str]:
    """What the root file has to include."""
    others = {path for path in paths if path.endswith(".yaml") and path != ROOT}
    return sorted({f"{posixpath.dirname(path)}/*.yaml" for path in others})


class Folder:
    """The files of one project as they come to be. Their names differ in any case of letters."""

    def __init__(self, registry: Registry) -> None:
        self.contents: dict[str, bytes] = {}
        self._taken: set[str] = set()
        schema = json_text(configuration_schema(registry), indent=2)
        self.put(SCHEMA, schema + "\n")

    def put(self, path: str, text: str) -> None:
        self._taken.add(path.casefold())
        self.contents[path] = text.encode()

    def free(self, stem: str, suffix: str) -> str:
        """A path that nothing has yet."""
        return first_free(stem, lambda name: f"{name}{suffix}".casefold() in self._taken) + suffix

    def yaml(self, path: str, value: BlockMapping) -> None:
        schema = posixpath.relpath(SCHEMA, posixpath.dirname(path) or ".")
        schema = schema if schema.startswith("..") else f"./{schema}"
        self.put(path, document(value, f"# yaml-language-server: $schema={schema}"))


class _Layout:
    def __init__(
        self,
        registry: Registry,
        whole: Inventory,
        entries: DescribedEntries,
        full: bool,
        watch: Sequence[str],
    ) -> None:
        self.registry = registry
        self.whole = whole
        self.entries = entries
        self.full = full
        self.watch = watch
        self.folder = Folder(registry)

    def files(self) -> dict[str, bytes]:
        root = self.registry.root
        organizations: dict[str, BlockMapping] = {}
        for item in self.whole.of(root.name):
            settings = {"id": item.live.id, **self._fields(item, ""), **self._places(item, "")}
            for place, kinds in sorted(self.registry.places(root.name).items()):
                if _all(kinds, Single):
                    continue
                if children := self.whole.below(item, kinds):
                    self._place(item, place, kinds, children)
            organizations[item.key] = BlockMapping(settings, self._entry(item).comments)
        head: dict[str, Any] = {"dpsync": 1}
        if include := included(self.folder.contents):
            head["include"] = include
        if self.watch:
            watch = self.watch[0] if len(self.watch) == 1 else [*self.watch]
            head["policy"] = BlockMapping({"watch": watch}, [_ACCESS] if ACCESS in self.watch else [])
        self.folder.yaml(ROOT, root_mapping(head, organizations, [] if self.full else [_DEFAULTS]))
        return dict(sorted(self.folder.contents.items()))

    def _place(
        self, item: FoundObject, place: str, kinds: tuple[Kind, ...], children: list[FoundObject]
    ) -> None:
        """Write the files of one place."""
        if not any(map(self._split, kinds)):
            path = f"{item.key}/{place}.yaml"
            value = _nested(place.split("."), self._entries(children, posixpath.dirname(path)))
            self._included(item, path, value)
            return
        for child in children:
            path = self.folder.free(f"{item.key}/{place}/{_file_name(child.key)}", ".yaml")
            value = _nested(place.split("."), self._entries([child], posixpath.dirname(path)))
            self._included(item, path, value)

    def _split(self, kind: Kind) -> bool:
        """Whether each entry has a file of its own: a tree is long."""
        places = self.registry.places(kind.name).values()
        return any(_all(kinds, Node) for kinds in places)

    def _included(self, item: FoundObject, path: str, value: Mapping[str, Any]) -> None:
        self.folder.yaml(path, BlockMapping({WORD: item.key, **value}))

    # Entries.

    def _entries(self, children: list[FoundObject], directory: str) -> BlockMapping:
        return BlockMapping(
            {item.key: self._body(item, directory) for item in sorted(children, key=lambda i: i.key)}
        )

    def _entry(self, item: FoundObject) -> DescribedEntry:
        return self.entries.by_address[item.address]

    def _body(self, item: FoundObject, directory: str) -> Any:
        """An entry: its main field alone if it has no other field and no comment."""
        kind, comments = item.kind, self._entry(item).comments
        fields = short_forms(kind, self._fields(item, directory))
        below = self._places(item, directory)
        if kind.shorthand is not None and not item.pinned and not below and set(fields) == {kind.shorthand}:
            value = fields[kind.shorthand]
            if kind.only_short or not (comments or isinstance(value, dict)):
                return value
        made = {**({"id": item.live.id} if item.pinned else {}), **fields, **below}
        return BlockMapping(made, comments) if below or comments else made

    def _fields(self, item: FoundObject, directory: str) -> dict[str, Any]:
        fields = self._entry(item).fields
        return {name: self._in_files(item, name, value, directory) for name, value in fields.items()}

    def _in_files(self, item: FoundObject, name: str, value: Any, directory: str) -> Any:
        """A value with its long parts in files of their own; `name` is its dotted path."""
        if isinstance(value, FileContent):
            return self._file(item, name, value, directory)
        if isinstance(value, dict):
            return {
                part: self._in_files(item, f"{name}.{part}", inside, directory)
                for part, inside in value.items()
            }
        return value

    def _file(self, item: FoundObject, name: str, value: FileContent, directory: str) -> dict[str, str]:
        """Write a long value into a file of its own; the reference to it."""
        organization, *rest = item.address.segments
        words = rest if _one_long_field(item.kind) and rest else [*rest, name]
        place, *names = (_file_name(word) for word in words)
        stem = "/".join([_file_name(organization), place, *([".".join(names)] if names else [])])
        path = self.folder.free(stem, value.suffix)
        self.folder.put(path, value.text)
        return {"file": posixpath.relpath(path, directory or ".")}

    def _places(self, item: FoundObject, directory: str) -> dict[str, Any]:
        """What stands below an entry: singles and entries by name, its tree last."""
        places = self.registry.places(item.kind.name)
        made: dict[str, Any] = {}
        if item.parent is None:
            places = {key: kinds for key, kinds in places.items() if _all(kinds, Single)}
        trees = {key for key, kinds in places.items() if _all(kinds, Node)}
        for place in [*sorted(places.keys() - trees), *sorted(trees)]:
            value = self._below(item, place, places[place], directory)
            if value is not None:
                _put(made, place.split("."), value)
        return made

    def _below(self, item: FoundObject, place: str, kinds: tuple[Kind, ...], directory: str) -> Any:
        if _all(kinds, Node):
            nodes = [node for node in item.inside if node.kind.key == place]
            return [self._node(node, directory) for node in nodes] or None
        children = self.whole.below(item, kinds)
        if not children:
            return None
        if _all(kinds, Single):
            return self._single(children[0], directory)
        if rows_of(kinds[0]) is not None and len(children) >= MANY:
            return self._rows(item, kinds[0], children, directory)
        made = self._entries(children, directory)
        short = len(made) < 4 and not any(isinstance(value, dict | list) for value in made.values())
        return dict(made) if short else made

    def _rows(
        self, item: FoundObject, kind: Kind, children: list[FoundObject], directory: str
    ) -> BlockMapping:
        """Many entries as a file of rows; beside it those that no cell can hold."""
        lines: list[Cells] = []
        beside: list[FoundObject] = []
        for child in sorted(children, key=lambda one: one.key):
            try:
                if self._entry(child).comments:
                    raise Uneditable("a CSV row cannot contain a comment")
                pin = {"id": child.live.id} if child.pinned else {}
                lines.append(row(kind, child.key, {**pin, **self._fields(child, directory)}))
            except Uneditable:
                beside.append(child)
        if not lines:
            return self._entries(children, directory)
        organization, place, *names = map(_file_name, (*item.address.segments, kind.key))
        path = self.folder.free("/".join([organization, place, ".".join(names)]), ".csv")
        self.folder.put(path, file_text(kind, lines))
        named = {ROWS_WORD: posixpath.relpath(path, directory or ".")}
        return BlockMapping({**named, **self._entries(beside, directory)})

    def _single(self, item: FoundObject, directory: str) -> Any:
        """A single; None where there is nothing about it that is not so anyway."""
        said = self._entry(item).fields
        kind = item.kind
        anyway = kind.comes_along and all(
            value == one.platform_default and not (one.security or self.full)
            for one, value in ((kind.field(name), value) for name, value in said.items())
        )
        if anyway and not self._places(item, directory):
            return None
        return self._body(item, directory)

    def _node(self, item: FoundObject, directory: str) -> dict[str, Any]:
        shape = item.kind.shape
        assert isinstance(shape, Node)
        made: dict[str, Any] = {"type": shape.type, "key": item.key}
        if item.pinned:
            made["id"] = item.live.id
        made |= {**self._fields(item, directory), **self._places(item, directory)}
        comments = self._entry(item).comments
        if item.inside:
            made["children"] = [self._node(node, directory) for node in item.inside]
        return BlockMapping(made, comments) if item.inside or comments else made


def root_mapping(
    head: Mapping[str, Any], organizations: Mapping[str, BlockMapping], comments: Sequence[str] = ()
) -> BlockMapping:
    """Return the root file, with the keys of the only organization at the top."""
    if len(organizations) != 1:
        return BlockMapping({**head, WHOLE: BlockMapping(organizations)}, [*comments])
    ((key, entry),) = organizations.items()
    return BlockMapping({**head, WORD: key, **entry}, [*comments, *entry.comments])


def _one_long_field(kind: Kind) -> bool:
    """Whether a long value needs no name of its own beside that of its entry."""
    return sum(isinstance(one.type, Markdown | LongText | Json) for one in kind.fields) == 1


def _file_name(key: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", key).strip(".-") or "entry"


def _nested(path: list[str], value: Any) -> dict[str, Any]:
    *around, last = path
    made: dict[str, Any] = {last: value}
    for word in reversed(around):
        made = {word: BlockMapping(made)}
    return made


def _put(made: dict[str, Any], path: list[str], value: Any) -> None:
    """Set a value at a dotted place, the mappings on the way made block by block."""
    *around, last = path
    at = made
    for word in around:
        at = at.setdefault(word, BlockMapping())
    at[last] = value


def _all(kinds: Sequence[Kind], shape: type[Single | Node]) -> bool:
    """Whether the kinds of a place are of a shape: those of one place are all of the same."""
    return all(isinstance(kind.shape, shape) for kind in kinds)
