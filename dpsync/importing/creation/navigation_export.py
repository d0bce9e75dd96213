"""The navigation of a declared site → the file in which the platform's site-wide git sync keeps it.

It is made of the files alone. What the file must have and the configuration does not say is an error, never
a guess: where the platform reads the file, a made-up path would be a new URL. What it cannot say is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from dpsync.importing.creation.entries import LeftOut
from dpsync.importing.creation.navigation_file import CODE, SCHEMA, NavigationFile, NavigationKinds
from dpsync.importing.creation.navigation_replaced import ExportedNode, ReplacedFile
from dpsync.importing.numbering import first_free
from dpsync.importing.values import Unwritable, Writing
from dpsync.importing.yaml_text.emit import BlockMapping, Verbatim, document
from dpsync.kinds.kind import Kind
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.text import command, json_text
from dpsync.model.values import Ref, Value

_WRITING = Writing(lambda kinds, id: id, lambda path: "")


class Exported(Struct, frozen=True):
    """What the file says, as data, and what of the site it does not say."""

    data: dict[str, Any]
    left_out: tuple[LeftOut, ...]

    def yaml(self) -> str:
        """The text of the file."""
        whole = _verbatim({name: value for name, value in self.data.items() if name != SCHEMA[0]})
        return document(BlockMapping(whole), f"{SCHEMA[0]}: {SCHEMA[1]}")

    def json(self) -> str:
        """The same as JSON."""
        return json_text(self.data, indent=2) + "\n"


def export(
    desired: Desired, registry: Registry, site: str, replaced: NavigationFile | None = None
) -> Exported:
    """Return the navigation of the site with this address, or with this key if only one site has it.

    Settings that only the `replaced` file has, such as the directory of a space, stay at the same node.

    Raises DiagnosticError (exit 5) where there is no such site, and where the file would not be valid.
    """
    tree = NavigationKinds.of(registry)
    owner = _owner(desired, tree, site)
    exporting = _Exporting(desired, tree, owner.address.child(*tree.place.split(".")))
    data = exporting.site(owner)
    if exporting.problems:
        raise DiagnosticError(exporting.problems, Exit.INVALID, desired.texts)
    around: dict[str, Any] = {}
    if replaced is not None:
        replaced_file = ReplacedFile.of(replaced, tree)
        replaced_file.copy_settings(data, exporting.nodes)
        around = replaced_file.keys_beside_site()
        exporting.left_out += replaced_file.lost_settings()
    return Exported({SCHEMA[0]: SCHEMA[1], **around, tree.owner.name: data}, tuple(exporting.left_out))


def _owner(desired: Desired, tree: NavigationKinds, named: str) -> Entry:
    """The entry of the site that is meant."""
    all_ = [entry for entry in desired.resources.values() if entry.kind == tree.owner.name]
    exact = [entry for entry in all_ if str(entry.address) == named]
    found = exact or [entry for entry in all_ if entry.key == named]
    if len(found) == 1:
        return found[0]
    known = ", ".join(str(entry.address) for entry in all_) or "none"
    what = (
        f'several entries have the key "{named}"'
        if found
        else f'your files contain no {tree.owner.noun} "{named}"'
    )
    raise DiagnosticError([Diagnostic(CODE, what, hint=f"your files contain: {known}")], Exit.INVALID)


class _Exporting(Struct):
    desired: Desired
    tree: NavigationKinds
    root: Address
    """The address of the navigation, with which all node addresses begin."""
    problems: list[Diagnostic] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    nodes: list[ExportedNode] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    chosen: dict[tuple[str, str, Address | None], list[Entry]] = field(default_factory=dict)
    """Those of whom one must be it, by kind, flag and place; empty where one is."""
    settled: set[tuple[str, str, Address | None]] = field(default_factory=set)
    """Where one is."""

    def site(self, owner: Entry) -> dict[str, Any]:
        """What the file says of the site and all that is in its navigation."""
        kind = self.tree.owner
        made = {kind.title: self._text(kind, owner, kind.title)}
        self._others(owner, (kind.title,))
        for scope in self.desired.scopes.values():
            if scope.parent == owner.address and scope.address.last != self.tree.place:
                why = "a navigation file contains only the navigation"
                self.left_out.append(LeftOut(str(scope.address), None, why, scope.span))
        nodes = [node for child in owner.children for node in self._node(child)]
        for (_, flag, _), entries in self.chosen.items():
            if entries:
                first, *_ = entries
                why = f"no entry of this list has {flag}: true, so GitBook refuses this navigation file"
                self.left_out.append(LeftOut(str(first.address), flag, why, first.span))
        return {**made, self.tree.place: nodes}

    def _node(self, address: Address) -> Iterator[dict[str, Any]]:
        entry = self.desired.resources.get(address)
        if entry is None:
            return
        kind = self.tree.registry[entry.kind]
        assert isinstance(kind.shape, NodeShape)
        shape = kind.shape
        made: dict[str, Any] = {"type": shape.type, "key": self._key(entry)}
        self.nodes.append(ExportedNode(kind, address.segments[len(self.root.segments) :], made))
        said = shape.file_names
        content = self.tree.content(kind)
        space = self._content(content[1], content[0].name, entry, shape) if content is not None else None
        if content is not None and space is not None:
            made[content[1].title] = space.pop(content[1].title)
        public_values = self._single_values(kind, entry)
        if content is not None and content[1].title in public_values:
            self._write_public_title(made, content[1].title, public_values, entry, content[0].name)
        for name in said:
            value = self._value(kind, entry, name) if name in kind.written_fields else public_values.get(name)
            if value is not None:
                made[name] = value
        for name in shape.file_always:
            if name not in made:
                message = (
                    f'the {kind.noun} "{entry.key}" has no {name}, and the navigation file needs a value'
                )
                there = command("import", "--update", str(entry.address.field(name)))
                hint = f"to write the {name} from GitBook into your files: {there}"
                self.problems.append(Diagnostic(CODE, message, entry.span, str(address), hint))
        if content is not None:
            made["content"] = {"directory": None, **(space or {})}
        self._others(entry, (*said, *((content[0].name,) if content else ())))
        self._choice(kind, entry)
        if shape.holds:
            made["children"] = [node for child in entry.children for node in self._node(child)]
        yield made

    def _single_values(self, kind: Kind, entry: Entry) -> dict[str, Value]:
        """Return the settings of the object below a node that a navigation file can have.

        A public title is one. Other settings are reported.
        """
        single = self.tree.file_single(kind)
        below = self.desired.resources.get(entry.address.child(single[0])) if single is not None else None
        if single is None or below is None:
            return {}
        _, kind, names = single
        self._others(below, names)
        values = {name: self._value(kind, below, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    def _write_public_title(
        self, made: dict[str, Any], title: str, public_values: dict[str, Value], entry: Entry, name: str
    ) -> None:
        """Write the title that the site shows, and report the different title of the space."""
        target = entry.fields[name]
        if title in made and made[title] != public_values[title] and isinstance(target, Ref):
            shown = self.desired.resources[target.address]
            why = f"the site shows the title of {entry.address} instead, so the file contains that title"
            self.left_out.append(LeftOut(str(shown.address), title, why, shown.where(title)))
        made[title] = public_values[title]

    def _choice(self, kind: Kind, entry: Entry) -> None:
        """Note who may be the one of which there must be one among its siblings."""
        for one in kind.fields:
            if one.one_per is not None:
                place = entry.parent if one.one_per == "parent" else None
                others = self.chosen.setdefault((kind.name, one.name, place), [])
                is_first = (kind.name, one.name, place) not in self.settled
                if entry.fields.get(one.name) is True:
                    self.settled.add((kind.name, one.name, place))
                    others.clear()
                elif is_first:
                    others.append(entry)

    def _key(self, entry: Entry) -> str:
        """The key of a node. In the file it is unique among all nodes: one inside of others says in what."""
        key = entry.key
        if key in self.keys:
            above = self.desired.resources.get(entry.parent) if entry.parent is not None else None
            key = f"{above.key if above else entry.kind}-{key}"
        key = first_free(key, self.keys.__contains__)
        self.keys.add(key)
        if key != entry.key:
            why = f'a navigation file cannot contain a key twice, so the new key is "{key}"'
            self.left_out.append(LeftOut(str(entry.address), "key", why, entry.span))
        return key

    def _content(self, kind: Kind, name: str, entry: Entry, shape: NodeShape) -> dict[str, Any] | None:
        """What the file says of that which a node shows: its title first."""
        target = entry.fields.get(name)
        target_entry = self.desired.resources.get(target.address) if isinstance(target, Ref) else None
        title = target_entry.fields.get(kind.title) if target_entry is not None else None
        if target_entry is None or not isinstance(title, str):
            message = f'the {kind.noun} that "{entry.key}" shows has no {kind.title} in your files'
            hint = f'add the {kind.noun} with its {kind.title} below "{kind.key}"'
            self.problems.append(Diagnostic(CODE, message, entry.where(name), str(entry.address), hint))
            return None
        more = {
            one: target_entry.fields[one]
            for one in shape.file_content
            if target_entry.fields.get(one) is not None
        }
        return {kind.title: title, **more}

    def _value(self, kind: Kind, entry: Entry, name: str) -> Value:
        """The value of a field that the file may have; None where it says nothing."""
        value = entry.fields.get(name)
        one = kind.field(name)
        if value is None or value == one.absent:
            return None
        try:
            _WRITING.value(one.type, value)
        except Unwritable as why:
            self.left_out.append(LeftOut(str(entry.address), name, str(why), entry.where(name)))
            return None
        return value

    def _text(self, kind: Kind, entry: Entry, name: str) -> str:
        value = self._value(kind, entry, name)
        return value if isinstance(value, str) else ""

    def _others(self, entry: Entry, said: tuple[str, ...]) -> None:
        """Name what an entry says and the file cannot."""
        kind = self.tree.registry[entry.kind]
        for name, value in entry.fields.items():
            one = kind.field(name)
            if name in said or one.nest or value is None or value == one.absent:
                continue
            why = f"a navigation file cannot contain this field of {kind.one}"
            self.left_out.append(LeftOut(str(entry.address), name, why, entry.where(name)))


def _verbatim(value: Any) -> Any:
    """The same data for the writer of YAML: every text as it is, every mapping in lines of its own."""
    if isinstance(value, dict):
        made = {Verbatim(name): _verbatim(item) for name, item in value.items()}
        return BlockMapping(made) if made else made
    if isinstance(value, list):
        return [_verbatim(item) for item in value]
    return Verbatim(value) if isinstance(value, str) else value
