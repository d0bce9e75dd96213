"""The file in which the platform's site-wide git sync keeps the navigation of one site: reading one.

It is a stranger's file: it is read under the same limits as a configuration. Everything that is said about it
has its line. What may stand in a navigation is known by the kinds, not here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct

from dpsync import disk
from dpsync.config import codes
from dpsync.config.yaml_reader import DEFAULT_LIMITS, decode, read
from dpsync.kinds.kind import Field, Kind
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Reference
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, Span

NAMES: Final = ("gitbook-docs.yaml", "docs.yaml")
"""What the platform calls the file, newest first."""
SCHEMA: Final = ("$schema", "https://api.gitbook.com/gitbook-docs.yaml")
"""The line by which editors know the file."""
VERSION: Final = ("version", 1)
"""The version of the format; a file without one has this one."""
CODE: Final = "navigation"
"""The code of everything that is wrong with such a file."""


class NavigationKinds(Struct, frozen=True):
    """The kinds that a navigation is made of, as the registry has them.

    `owner` is the kind that has one, `place` the word under which it stands there, `by_type` the kinds of
    its nodes by the word of the file.
    """

    registry: Registry
    owner: Kind
    place: str
    by_type: dict[str, Kind]

    @staticmethod
    def of(registry: Registry) -> NavigationKinds:
        """The tree of this registry: the platform's file knows one."""
        owner, place, kinds = next(
            (kind, place, kinds)
            for kind in registry.ordered
            for place, kinds in registry.places(kind.name).items()
            if isinstance(kinds[0].shape, NodeShape)
        )
        by_type: dict[str, Kind] = {
            kind.shape.type: kind for kind in kinds if isinstance(kind.shape, NodeShape)
        }
        return NavigationKinds(registry, owner, place, by_type)

    def content(self, kind: Kind) -> tuple[Field, Kind] | None:
        """The field of a node that says what it shows, and the kind of that."""
        for one in kind.fields:
            if one.required and not one.nest and isinstance(one.type, Reference):
                return one, self.registry[one.type.kinds[0]]
        return None

    def file_single(self, kind: Kind) -> tuple[str, Kind, tuple[str, ...]] | None:
        """Return key, kind and fields of the object below a node that has further settings, if any."""
        assert isinstance(kind.shape, NodeShape)
        if kind.shape.file_single is None:
            return None
        word, names = kind.shape.file_single
        return word, self.registry.places(kind.name)[word][0], names

    def single_fields(self, kind: Kind) -> tuple[str, ...]:
        """Return the keys of a node in the file that set fields of the object below the node."""
        single = self.file_single(kind)
        return single[2] if single is not None else ()

    def exported_names(self, kind: Kind) -> frozenset[str]:
        """Return the keys that an export can write to a node of the file."""
        assert isinstance(kind.shape, NodeShape)
        own = {name for name in kind.shape.file_names if name in kind.written_fields}
        content = self.content(kind)
        titles = {content[1].title} if content is not None else set()
        return frozenset(own | titles | set(self.single_fields(kind)))

    def is_inside(self, kind: Kind) -> bool:
        """Whether a node has its place below the node that holds it, and not beside it."""
        return any(isinstance(self.registry[name].shape, NodeShape) for name in kind.parents)

    def inside(self, kind: Kind) -> dict[str, Kind]:
        """The kinds that a node may hold, by the word of the file."""
        holds = kind.shape.holds if isinstance(kind.shape, NodeShape) else ()
        return {word: one for word, one in self.by_type.items() if one.name in holds}


class NavigationFile(Struct, frozen=True):
    """A navigation file: its root node, its site node, and the unknown keys beside the site."""

    root: Mapping
    site: Mapping
    others: tuple[Scalar, ...]
    texts: dict[str, str]
    """The text of the file by its name, to show lines of it."""


def found_in(directory: Path) -> list[Path]:
    """The navigation files of a directory, by the names that the platform gives them."""
    return [directory / name for name in NAMES if (directory / name).is_file()]


def read_navigation(path: Path, name: str, tree: NavigationKinds, project: Path) -> NavigationFile:
    """Read a navigation file, which findings call `name`.

    Raises DiagnosticError (exit 5) for a file of another shape, a file inside `.git`, and a symbolic
    link that leads out of the project or its checkout.
    """
    try:
        data = disk.read(disk.inside(path, project), DEFAULT_LIMITS.bytes, follow=False)
    except disk.OutsideProject as error:
        message = f"dpsync does not read {name}: {disk.why(error)}"
        hint = "pass the path of the file itself, not of a symbolic link. dpsync reads no file inside .git"
        raise DiagnosticError([Diagnostic(codes.OUTSIDE, message, hint=hint)], Exit.INVALID) from None
    except OSError as error:
        message = f"cannot read {path}: {disk.why(error)}"
        raise DiagnosticError([Diagnostic(CODE, message)], Exit.INVALID) from None
    texts = {name: decode(data, name)[0]}
    node, problems = read(data, name)
    if problems:
        raise DiagnosticError(problems, Exit.INVALID, texts)
    found = _wrong(node, name, tree)
    if found is not None:
        raise DiagnosticError([found], Exit.INVALID, texts)
    assert isinstance(node, Mapping)
    known = (SCHEMA[0], VERSION[0], tree.owner.name)
    site = node.get(tree.owner.name)
    assert isinstance(site, Mapping)
    return NavigationFile(node, site, tuple(key for key, _ in node if key.text not in known), texts)


def _wrong(node: Node | None, name: str, tree: NavigationKinds) -> Diagnostic | None:
    """What of the outermost levels is not as it must be."""
    hint = f"pass {' or '.join(NAMES)}, the navigation file of GitBook's Git Sync"
    if not isinstance(node, Mapping):
        at = node.span if node is not None else Span.start_of(name)
        return Diagnostic(
            CODE, f'a navigation file must be a mapping with the key "{tree.owner.name}"', at, hint=hint
        )
    version = node.get(VERSION[0])
    if version is not None and not (isinstance(version, Scalar) and _is_version(version)):
        message = (
            f"dpsync reads only version {VERSION[1]} of navigation files, but this file has another version"
        )
        return Diagnostic(
            CODE, message, version.span, hint=f'write "{VERSION[0]}: {VERSION[1]}", or remove the line'
        )
    site = node.get(tree.owner.name)
    if not isinstance(site, Mapping):
        at = site.span if site is not None else node.span
        return Diagnostic(
            CODE, f'a navigation file needs a mapping below the key "{tree.owner.name}"', at, hint=hint
        )
    nodes = site.get(tree.place)
    if not isinstance(nodes, Sequence):
        at = nodes.span if nodes is not None else site.span
        return Diagnostic(
            CODE, f'the {tree.owner.noun} needs a list below the key "{tree.place}"', at, hint=hint
        )
    return None


def _is_version(node: Scalar) -> bool:
    return type(node.value) in (int, float) and node.value == VERSION[1]
