"""Distribute imported entries over files. `make_configuration` returns the new files in memory.

dpsync.yaml                    the organizations with their settings and single objects
ORG/PLACE.yaml                 the entries of one list
ORG/PLACE/KEY.yaml             one entry, if its kind has a tree below it
ORG/PLACE/KEY….md|pem|json     long values, named by {file: …}
ORG/PLACE/KEY.PLACE.csv        many entries of one list, if their kind allows CSV files
`root_file`, `workflow_files` and others return the other files of a new project, for `dpsync init`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from dpsync import __commit__, __version__, disk
from dpsync.client.client import ReadClient
from dpsync.config.compose import ORGANIZATIONS_KEY, SINGLE_ORGANIZATION_KEY
from dpsync.config.csv_rows import FILE_KEY as ROWS_WORD
from dpsync.config.csv_rows import row_format
from dpsync.config.discovery import IDS_NAME, IncludedFile, matches_include
from dpsync.config.load import load_from
from dpsync.config.schema import configuration_schema
from dpsync.importing.csv_files import Cells, cells_of_entry, csv_text
from dpsync.importing.edit_yaml import UneditableError
from dpsync.importing.entries import DescribedEntries, DescribedEntry, LeftOut, RequiredSecret, describe
from dpsync.importing.inventory import Inventory, InventoryObject, first_unused_name, read_inventory
from dpsync.importing.keys import ids_lines, name_objects
from dpsync.importing.left_out import add_comments, left_out, watched_patterns
from dpsync.importing.values import FileContent
from dpsync.importing.write_yaml import BlockMapping, yaml_document
from dpsync.kinds.kind import Kind, SingleEntry, TreeNode
from dpsync.kinds.registry import Registry
from dpsync.kinds.short_forms import shorten_fields
from dpsync.kinds.types import Json
from dpsync.kinds.types.texts import LongText, Markdown
from dpsync.kinds.watch_patterns import ACCESS_WORD
from dpsync.model import nodes
from dpsync.model.desired import Desired
from dpsync.model.diagnostic import Diagnostic, Findings
from dpsync.model.ids import IdsFile, LinesByAddress
from dpsync.model.text import format_command, json_text

ROOT_FILE: Final = "dpsync.yaml"
CSV_FROM_ENTRIES: Final = 50
"""So many entries that may stand in a file of rows do."""
SCHEMA_FILE: Final = "schemas/dpsync.schema.json"
_DEFAULTS_COMMENT: Final = (
    "Fields with their default value are left out. To write every field: "
    f"{format_command('import', '--full')}"
)
_ACCESS_COMMENT: Final = (
    f"{format_command('drift')} reports changed fields that give access, also fields that are not in these "
    f"files. {format_command('drift', '--everything')} also reports new objects that give access."
)


def lay_out(
    registry: Registry,
    inventory: Inventory,
    entries: DescribedEntries,
    full: bool = False,
    watch: Sequence[str] = (),
) -> dict[str, bytes]:
    """Return every file by its path relative to the project, ordered by path.

    `watch` has the patterns of the lists that the policy watches.
    """
    return _Layout(registry, inventory, entries, full, watch).files()


def include_patterns(paths: Iterable[str]) -> list[str]:
    """Return the patterns that the root file must include."""
    others = {path for path in paths if path.endswith(".yaml") and path != ROOT_FILE}
    return sorted({f"{posixpath.dirname(path)}/*.yaml" for path in others})


class NewFiles:
    """The new files of a project. File names differ even if the case of letters is ignored."""

    def __init__(self, registry: Registry) -> None:
        self.contents: dict[str, bytes] = {}
        self._taken: set[str] = set()
        schema = json_text(configuration_schema(registry), indent=2)
        self.add(SCHEMA_FILE, schema + "\n")

    def add(self, path: str, text: str) -> None:
        """Add a file."""
        self._taken.add(path.casefold())
        self.contents[path] = text.encode()

    def unused_path(self, stem: str, suffix: str) -> str:
        """Return the path `stem` + `suffix`, with a number after the stem if another file has the path."""
        return first_unused_name(stem, lambda name: f"{name}{suffix}".casefold() in self._taken) + suffix

    def add_yaml(self, path: str, value: BlockMapping) -> None:
        """Add a YAML file, whose first line refers editors to the JSON Schema."""
        schema = posixpath.relpath(SCHEMA_FILE, posixpath.dirname(path) or ".")
        schema = schema if schema.startswith("..") else f"./{schema}"
        self.add(path, yaml_document(value, f"# yaml-language-server: $schema={schema}"))


class _Layout:
    """Writes the entries of an inventory into files."""

    def __init__(
        self,
        registry: Registry,
        inventory: Inventory,
        entries: DescribedEntries,
        full: bool,
        watch: Sequence[str],
    ) -> None:
        self.registry = registry
        self.inventory = inventory
        self.entries = entries
        self.full = full
        self.watch = watch
        self.new_files = NewFiles(registry)

    def files(self) -> dict[str, bytes]:
        """Return all files by path: the root file, the included files, and the files of long values.

        The settings of an organization are in the root file, and each of its lists is in an included file.
        """
        root = self.registry.root
        organizations: dict[str, BlockMapping] = {}
        for organization in self.inventory.objects_of_kind(root.name):
            settings = {
                "id": organization.live.id,
                **self._field_data(organization, ""),
                **self._data_below(organization, ""),
            }
            for list_key, kinds in sorted(self.registry.kinds_by_list_key(root.name).items()):
                if _have_shape(kinds, SingleEntry):
                    continue
                if children := self.inventory.children(organization, kinds):
                    self._write_list(organization, list_key, kinds, children)
            organizations[organization.key] = BlockMapping(
                settings, self._described_entry(organization).comments
            )
        head: dict[str, Any] = {"dpsync": 1}
        if include := include_patterns(self.new_files.contents):
            head["include"] = include
        if self.watch:
            watch = self.watch[0] if len(self.watch) == 1 else [*self.watch]
            head["policy"] = BlockMapping(
                {"watch": watch}, [_ACCESS_COMMENT] if ACCESS_WORD in self.watch else []
            )
        self.new_files.add_yaml(
            ROOT_FILE, root_mapping(head, organizations, [] if self.full else [_DEFAULTS_COMMENT])
        )
        return dict(sorted(self.new_files.contents.items()))

    def _write_list(
        self,
        organization: InventoryObject,
        list_key: str,
        kinds: tuple[Kind, ...],
        children: list[InventoryObject],
    ) -> None:
        """Write the entries of one list of an organization into one file.

        If the entries contain trees, which are long, each entry gets its own file.
        """
        contain_trees = any(
            _have_shape(kinds_below, TreeNode)
            for kind in kinds
            for kinds_below in self.registry.kinds_by_list_key(kind.name).values()
        )
        if not contain_trees:
            path = f"{organization.key}/{list_key}.yaml"
            value = _nest(list_key.split("."), self._entries_by_key(children, posixpath.dirname(path)))
            self._write_included_file(organization, path, value)
            return
        for child in children:
            path = self.new_files.unused_path(
                f"{organization.key}/{list_key}/{_file_name(child.key)}", ".yaml"
            )
            value = _nest(list_key.split("."), self._entries_by_key([child], posixpath.dirname(path)))
            self._write_included_file(organization, path, value)

    def _write_included_file(
        self, organization: InventoryObject, path: str, value: Mapping[str, Any]
    ) -> None:
        """Write a file that the root file includes: the key of its organization, then a part of it."""
        self.new_files.add_yaml(path, BlockMapping({SINGLE_ORGANIZATION_KEY: organization.key, **value}))

    # Entries.

    def _entries_by_key(self, children: list[InventoryObject], directory: str) -> BlockMapping:
        """Return the entries of these objects by key. `directory` is that of the file with the entries."""
        return BlockMapping(
            {obj.key: self._entry_data(obj, directory) for obj in sorted(children, key=lambda i: i.key)}
        )

    def _described_entry(self, obj: InventoryObject) -> DescribedEntry:
        """Return the fields and comments of the entry of an object."""
        return self.entries.by_address[obj.address]

    def _entry_data(self, obj: InventoryObject, directory: str) -> Any:
        """Return the YAML data of an entry, or only its main field if there is nothing else to write.

        `directory` is the directory of the file with the entry, to which paths of long values are relative.
        """
        kind, comments = obj.kind, self._described_entry(obj).comments
        fields = shorten_fields(kind, self._field_data(obj, directory))
        values_below = self._data_below(obj, directory)
        if (
            kind.shorthand_field is not None
            and not obj.pinned
            and not values_below
            and set(fields) == {kind.shorthand_field}
        ):
            value = fields[kind.shorthand_field]
            if kind.is_always_shorthand or not (comments or isinstance(value, dict)):
                return value
        values = {**({"id": obj.live.id} if obj.pinned else {}), **fields, **values_below}
        return BlockMapping(values, comments) if values_below or comments else values

    def _field_data(self, obj: InventoryObject, directory: str) -> dict[str, Any]:
        """Return the fields of an entry as YAML data, with long values moved to files of their own."""
        fields = self._described_entry(obj).fields
        return {
            name: self._with_long_values_in_files(obj, name, value, directory)
            for name, value in fields.items()
        }

    def _with_long_values_in_files(self, obj: InventoryObject, name: str, value: Any, directory: str) -> Any:
        """Return YAML data with its long parts moved to files. `name` is the dotted path of the value."""
        if isinstance(value, FileContent):
            return self._write_long_value(obj, name, value, directory)
        if isinstance(value, dict):
            return {
                part: self._with_long_values_in_files(obj, f"{name}.{part}", inside, directory)
                for part, inside in value.items()
            }
        return value

    def _write_long_value(
        self, obj: InventoryObject, name: str, value: FileContent, directory: str
    ) -> dict[str, str]:
        """Write a long value into its own file, and return the reference `{file: PATH}`.

        The file is named after the address of the entry, and after the field if the kind has several fields
        with long values. An example is `acme/sites/docs.description.md`.
        """
        organization, *other_segments = obj.address.segments
        long_fields = sum(isinstance(field_.type, Markdown | LongText | Json) for field_ in obj.kind.fields)
        words = other_segments if long_fields == 1 and other_segments else [*other_segments, name]
        list_key, *names = (_file_name(word) for word in words)
        stem = "/".join([_file_name(organization), list_key, *([".".join(names)] if names else [])])
        path = self.new_files.unused_path(stem, value.suffix)
        self.new_files.add(path, value.text)
        return {"file": posixpath.relpath(path, directory or ".")}

    def _data_below(self, obj: InventoryObject, directory: str) -> dict[str, Any]:
        """Return the data of the objects in an entry by list key, sorted, with navigation trees at the end.

        These are lists and singles (objects that their parent has exactly once). The lists of an organization
        are left out, because they have files of their own.
        """
        kinds_by_list_key = self.registry.kinds_by_list_key(obj.kind.name)
        values: dict[str, Any] = {}
        if obj.parent is None:
            kinds_by_list_key = {
                key: kinds for key, kinds in kinds_by_list_key.items() if _have_shape(kinds, SingleEntry)
            }
        trees = {key for key, kinds in kinds_by_list_key.items() if _have_shape(kinds, TreeNode)}
        for list_key in [*sorted(kinds_by_list_key.keys() - trees), *sorted(trees)]:
            value = self._list_data(obj, list_key, kinds_by_list_key[list_key], directory)
            if value is not None:
                *outer_keys, last = list_key.split(".")
                mapping = values
                for word in outer_keys:
                    mapping = mapping.setdefault(word, BlockMapping())
                mapping[last] = value
        return values

    def _list_data(self, obj: InventoryObject, list_key: str, kinds: tuple[Kind, ...], directory: str) -> Any:
        """Return the YAML data of a list, a tree or a single (an only object) below `obj`; None to omit it.

        Many entries become a CSV file if their kind allows that. A few short entries may be on one line.
        """
        if _have_shape(kinds, TreeNode):
            nodes = [node for node in obj.nodes_inside if node.kind.key == list_key]
            return [self._node_data(node, directory) for node in nodes] or None
        children = self.inventory.children(obj, kinds)
        if not children:
            return None
        if _have_shape(kinds, SingleEntry):
            return self._single_data(children[0], directory)
        if row_format(kinds[0]) is not None and len(children) >= CSV_FROM_ENTRIES:
            return self._write_csv_file(obj, kinds[0], children, directory)
        entries = self._entries_by_key(children, directory)
        short = len(entries) < 4 and not any(isinstance(value, dict | list) for value in entries.values())
        return dict(entries) if short else entries

    def _write_csv_file(
        self, obj: InventoryObject, kind: Kind, children: list[InventoryObject], directory: str
    ) -> BlockMapping:
        """Write entries into a CSV file, and return the YAML data of the list.

        The data has the path of the CSV file, and the entries that no row can contain.
        """
        lines: list[Cells] = []
        entries_without_row: list[InventoryObject] = []
        for child in sorted(children, key=lambda found_object: found_object.key):
            try:
                if self._described_entry(child).comments:
                    raise UneditableError("a CSV row cannot contain a comment")
                pin = {"id": child.live.id} if child.pinned else {}
                lines.append(cells_of_entry(kind, child.key, {**pin, **self._field_data(child, directory)}))
            except UneditableError:
                entries_without_row.append(child)
        if not lines:
            return self._entries_by_key(children, directory)
        organization, list_key, *names = map(_file_name, (*obj.address.segments, kind.key))
        path = self.new_files.unused_path("/".join([organization, list_key, ".".join(names)]), ".csv")
        self.new_files.add(path, csv_text(kind, lines))
        named = {ROWS_WORD: posixpath.relpath(path, directory or ".")}
        return BlockMapping({**named, **self._entries_by_key(entries_without_row, directory)})

    def _single_data(self, obj: InventoryObject, directory: str) -> Any:
        """Return the YAML data of a single, an object that its parent has exactly once.

        None if all its values are defaults, unless a value can widen access.
        """
        written = self._described_entry(obj).fields
        kind = obj.kind
        is_default = kind.exists_with_parent and all(
            value == field_.platform_default and not (field_.can_widen_access or self.full)
            for field_, value in ((kind.field(name), value) for name, value in written.items())
        )
        if is_default and not self._data_below(obj, directory):
            return None
        return self._entry_data(obj, directory)

    def _node_data(self, obj: InventoryObject, directory: str) -> dict[str, Any]:
        """Return the YAML data of a navigation node with its children."""
        shape = obj.kind.shape
        assert isinstance(shape, TreeNode)
        data: dict[str, Any] = {"type": shape.yaml_type, "key": obj.key}
        if obj.pinned:
            data["id"] = obj.live.id
        data |= {**self._field_data(obj, directory), **self._data_below(obj, directory)}
        comments = self._described_entry(obj).comments
        if obj.nodes_inside:
            data["children"] = [self._node_data(node, directory) for node in obj.nodes_inside]
        return BlockMapping(data, comments) if obj.nodes_inside or comments else data


def root_mapping(
    head: Mapping[str, Any], organizations: Mapping[str, BlockMapping], comments: Sequence[str] = ()
) -> BlockMapping:
    """Return the YAML data of a root file.

    `head` are the first keys, such as the version. The fields of a single organization are at the top of the
    file, after `organization: KEY`; several organizations are in a mapping.
    """
    if len(organizations) != 1:
        return BlockMapping({**head, ORGANIZATIONS_KEY: BlockMapping(organizations)}, [*comments])
    ((key, entry),) = organizations.items()
    return BlockMapping({**head, SINGLE_ORGANIZATION_KEY: key, **entry}, [*comments, *entry.comments])


def _file_name(key: str) -> str:
    """Return a key as part of a file name, with other characters than A-Z, a-z, 0-9, `.` and `_` as `-`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", key).strip(".-") or "entry"


def _nest(path: list[str], value: Any) -> dict[str, Any]:
    """Return a value at a path of keys: `["a", "b"]` gives `{a: {b: value}}`."""
    *outer_keys, last = path
    nested: dict[str, Any] = {last: value}
    for word in reversed(outer_keys):
        nested = {word: BlockMapping(nested)}
    return nested


def _have_shape(kinds: Sequence[Kind], shape: type[SingleEntry | TreeNode]) -> bool:
    """Return whether the kinds of a list have a shape; all kinds of one list have the same shape."""
    return all(isinstance(kind.shape, shape) for kind in kinds)


class NewConfiguration(Struct, frozen=True):
    """The files of a configuration, what they leave out and why, and the variables to set."""

    files: Mapping[str, bytes]
    left_out: tuple[LeftOut, ...] = ()
    required_secrets: tuple[RequiredSecret, ...] = ()
    ids: Mapping[str, LinesByAddress] = field(default_factory=dict)
    """The lines for the ids file, by organization id."""

    def find_stray_files(self, directory: Path) -> tuple[str, ...]:
        """Return the existing files that are not new and that the configuration would include."""
        paths = (path for pattern in include_patterns(self.files) for path in directory.glob(pattern))
        names = {path.relative_to(directory).as_posix() for path in paths}
        return tuple(sorted(names - self.files.keys() - {IDS_NAME}))

    def load(self, registry: Registry) -> tuple[Desired, Findings]:
        """Load the configuration from the files in memory, and return it with its findings."""
        return load_from(MemoryFiles(self.files), registry, {})


def make_configuration(
    client: ReadClient,
    registry: Registry,
    named: Sequence[str],
    parallelism: int,
    full: bool,
    ids: IdsFile,
) -> NewConfiguration:
    """Read organizations, and return the files of a new configuration.

    An object with a line in `ids` keeps its key. Raises ClientError, and DiagnosticError for unknown names.
    """
    inventory = read_inventory(client, registry, named, parallelism, full)
    all_objects = tuple(inventory.objects)
    objects_without_key = name_objects(registry, inventory, ids.sections.get(client.platform))
    entries = describe(registry, inventory, full)
    add_comments(inventory, objects_without_key, entries)
    watch = watched_patterns(registry, inventory, all_objects, full)
    return NewConfiguration(
        lay_out(registry, inventory, entries, full, watch),
        tuple(left_out(inventory, objects_without_key, entries)),
        tuple(entries.required_secrets),
        ids_lines(inventory),
    )


class MemoryFiles:
    """The files of a project in memory, with the interface of `config.discovery.Files`."""

    root = ROOT_FILE

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def included(self, include: nodes.Node, at: str = "") -> tuple[list[IncludedFile], list[Diagnostic]]:
        """Return the files in memory that the patterns of `include` match, sorted, and no problems."""
        del at
        patterns = (
            [node for node in include if isinstance(node, nodes.Scalar)]
            if isinstance(include, nodes.Sequence)
            else []
        )
        included_files = [
            IncludedFile(name, Path(name), node.span)
            for node in patterns
            for name in self._files
            if name != self.root
            and (matches_include(name, str(node.value)) if "*" in node.text else name == node.text)
        ]
        return sorted({file.name: file for file in included_files}.values(), key=attrgetter("name")), []

    def real_name(self, name: str) -> str | None:
        """Return the normalized path of a file; None for a path outside the project."""
        plain = posixpath.normpath(name)
        return None if plain.startswith(("..", "/")) else plain

    def read(self, name: str, limit: int) -> bytes:
        """Return the content of a file, cut after one byte more than the limit. Raises FileNotFoundError."""
        if name not in self._files:
            raise FileNotFoundError(2, "the file is not in the project")
        return self._files[name][: limit + 1]


EDITOR_SETTINGS_FILE: Final = ".vscode/settings.json"
GITIGNORE_FILE: Final = ".gitignore"
WORKFLOWS: Final = ("plan", "apply", "drift")
_PACKAGE: Final = Path(__file__).parents[1]
_TEMPLATES: Final = (_PACKAGE / "workflows.examples", _PACKAGE.parent / "examples" / "workflows")
"""The directories of the templates: in a wheel, and in a checkout."""
_MAX_TEMPLATE_BYTES: Final = 1 << 16
_PLAIN: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .@/-]*")
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_KEY: Final = re.compile(r"[^A-Za-z0-9._-]+")


class WorkflowSettings(Struct, frozen=True):
    """The values for the workflow templates. `directory` is that of the configuration in the checkout.

    With a repository, the jobs run only there and not in its forks. `action` is the commit of dpsync's action
    that the jobs use.
    """

    directory: str = "."
    environment: str = "production"
    repository: str | None = None
    action: str = __commit__

    def problem(self) -> str | None:
        """Return why a value cannot be written into a workflow; None if all can."""
        for setting, value in (("the directory", self.directory), ("the environment", self.environment)):
            if value != "." and not _PLAIN.fullmatch(value):
                return f"{setting} {value!r} contains characters with a special meaning in workflows"
        if self.repository is not None and not _REPOSITORY.fullmatch(self.repository):
            return f"the repository {self.repository!r} does not have the form OWNER/NAME"
        if not _COMMIT.fullmatch(self.action):
            return (
                f"--action-ref: {self.action!r} is not the id of a commit (40 digits). A tag or a branch is "
                "not safe, because somebody can move the tag or branch to other code"
            )
        return None


def root_file(organization: str) -> bytes:
    """Return the root file of one organization that manages nothing yet."""
    key = _KEY.sub("-", organization).strip("-._") or "mine"
    comments = [
        "dpsync does not change objects and fields that your files do not contain.",
        f"For a list of everything that you can write here: {format_command('explain')}",
    ]
    root = BlockMapping({"dpsync": 1, SINGLE_ORGANIZATION_KEY: key, "id": organization}, comments)
    return yaml_document(root, f"# yaml-language-server: $schema=./{SCHEMA_FILE}").encode()


def schema_file(registry: Registry) -> bytes:
    """Return the JSON Schema for editors."""
    return (json_text(configuration_schema(registry), indent=2) + "\n").encode()


def editor_settings() -> bytes:
    """Return the editor settings that map the schema to the root file."""
    settings = {"yaml.schemas": {f"./{SCHEMA_FILE}": [ROOT_FILE]}}
    return (json_text(settings, indent=2) + "\n").encode()


def gitignore_file() -> bytes:
    """Return the `.gitignore` file, which leaves out journals and the ids of platforms on loopback."""
    return f"{disk.OWN_DIRECTORY_NAME}/\n".encode()


def workflow_files(settings: WorkflowSettings) -> dict[str, bytes]:
    """Return the workflows by their path in the checkout. Every action is pinned to a commit.

    Raises ValueError for settings that cannot be written, and OSError without the templates.
    """
    if problem := settings.problem():
        raise ValueError(problem)
    return {f".github/workflows/{name}.yml": _workflow_text(name, settings).encode() for name in WORKFLOWS}


def _workflow_text(name: str, settings: WorkflowSettings) -> str:
    """Return the workflow `name` ("plan", "apply" or "drift"): its template with the settings filled in."""
    folder = next((path for path in _TEMPLATES if path.is_dir()), _TEMPLATES[0])
    text = disk.read(folder / f"{name}.yml", _MAX_TEMPLATE_BYTES).decode()
    path_pattern = "**" if settings.directory == "." else f"{settings.directory}/**"
    text = text.replace('"docs-platform/**"', json_text(path_pattern))
    text = text.replace(
        "working-directory: docs-platform", f"working-directory: {json_text(settings.directory)}"
    )
    text = text.replace("environment: production", f"environment: {json_text(settings.environment)}")
    release = f" # v{__version__}" if settings.action == __commit__ else ""
    text = re.sub(r"dpsync/dpsync@[0-9a-f]{40} # .*", f"dpsync/dpsync@{settings.action}{release}", text)
    if settings.repository is not None:
        condition = f"    if: github.repository == '{settings.repository}'\n"
        text = re.sub(r"^    runs-on:", f"{condition}    runs-on:", text, flags=re.MULTILINE)
    return text
