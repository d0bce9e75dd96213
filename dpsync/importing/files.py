"""Write the files of an import, and keep what a person wrote in dpsync.yaml.

`write_files` writes all files or none, and never overwrites work that is not committed. `copy_root_settings`
copies the policy and the environments of the present root file into the new one. `CachingClient` keeps the
responses of one import, so that the new files are planned with the same responses that they were made from.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from dpsync import disk
from dpsync.client.client import JSON, PAGE_LIMIT, Params, ReadClient
from dpsync.config.compose import ORGANIZATIONS_KEY, SINGLE_ORGANIZATION_KEY
from dpsync.config.discovery import ROOT_NAMES
from dpsync.config.git import NoRepositoryError, Repository
from dpsync.config.yaml_reader import decode
from dpsync.importing.edit_yaml import TextEdit, UneditableError, YamlFile, apply_edits, comments
from dpsync.importing.layout import ROOT_FILE
from dpsync.importing.write_yaml import on_one_line
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.nodes import Mapping as MappingNode
from dpsync.model.nodes import Node, Scalar, node_value


class CachingClient(ReadClient):
    """Sends each GET once. Remembers whole lists, since the client reads a changing list twice."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._answers: dict[str, JSON] = {}
        self._list_texts: dict[str, str] = {}
        self._lists: dict[str, list[dict[str, Any]]] = {}

    def get(self, path: str, params: Params | None = None) -> JSON:
        """Return the response, from memory if the request was sent before. A failed request is sent again."""
        request = json.dumps([path, sorted((params or {}).items())])
        if request in self._answers:
            self.observer.add_reads(-1)
        else:
            self._answers[request] = super().get(path, params)
        return self._answers[request]

    def text(self, path: str) -> str:
        """Return the text, from memory if the request was sent before."""
        if path in self._list_texts:
            self.observer.add_reads(-1)
        else:
            self._list_texts[path] = super().text(path)
        return self._list_texts[path]

    def pages(self, path: str, params: Params | None = None, limit: int = PAGE_LIMIT) -> list[dict[str, Any]]:
        """Return the items of all pages, from memory if the requests were sent before."""
        request = json.dumps([path, sorted((params or {}).items()), limit])
        if request in self._lists:
            self.observer.add_reads(-1)
        else:
            self._lists[request] = super().pages(path, params, limit)
        return self._lists[request]


FileState = Literal["new", "replaced", "unchanged"]


class WrittenFile(Struct, frozen=True):
    """A file and whether it is new, replaced or unchanged. The path is relative to the project."""

    path: str
    state: FileState


def write_files(
    directory: Path, files: Mapping[str, bytes], stray: tuple[str, ...] = (), force: bool = False
) -> list[WrittenFile]:
    """Write the files below a directory, all or none, and return the state of each.

    `stray` are existing files that the import does not write but that the configuration would include.
    Raises DiagnosticError: exit 4 if uncommitted work would be overwritten (`force` allows it), or if
    `stray` files would become part of the new configuration; exit 1 if writing failed.
    """
    states = {path: _file_state(directory / path, content) for path, content in files.items()}
    problems = [
        *_blocked_path_errors(directory, files),
        *_outside_project_errors(directory, files),
        *_other_root_file_errors(directory, files),
        *(
            Diagnostic(
                "stray",
                f"{path} exists and would become part of the configuration",
                hint="the import writes nothing into this file. Delete the file, or move it to another "
                "directory",
            )
            for path in stray
        ),
    ]
    if not force:
        replaced = [path for path, state in states.items() if state == "replaced"]
        problems += _uncommitted_errors(directory, replaced)
    if problems:
        raise DiagnosticError(problems, Exit.REFUSED)
    _write_all_or_none(
        directory, {path: files[path] for path, state in states.items() if state != "unchanged"}
    )
    return [WrittenFile(path, state) for path, state in sorted(states.items())]


def _file_state(path: Path, content: bytes) -> FileState:
    """Return whether writing the content creates the file, replaces its content, or changes nothing."""
    if not os.path.lexists(path):
        return "new"
    try:
        return "unchanged" if disk.read(path, len(content), follow=False) == content else "replaced"
    except OSError:
        return "replaced"


def _uncommitted_errors(directory: Path, paths: list[str]) -> list[Diagnostic]:
    """Return an error for each existing file whose content git could not restore after it is overwritten.

    Its content is not committed, or it is in no repository.
    """
    if not paths:
        return []
    hint = "commit the file, import into another directory, or use --force"
    try:
        repository = Repository.containing(directory)
        lost = {repository.top / name for name in repository.uncommitted_names(directory)}
        why = "has changes that are not committed"
    except NoRepositoryError as reason:
        lost, why = {directory.resolve()}, f"exists already, and git cannot restore the file: {reason}"
        hint = reason.hint or hint
    return [
        Diagnostic("exists", f"{path} {why}", hint=hint)
        for path in paths
        if lost & {directory.resolve() / path, *(directory.resolve() / path).parents}
    ]


def _blocked_path_errors(directory: Path, paths: Mapping[str, bytes]) -> list[Diagnostic]:
    """Return an error for each path at which something other than a file or a link exists."""
    kinds = {path: disk.kind_of(directory / path) for path in paths}
    return [
        Diagnostic(
            "exists", f"{path} exists and is {kind}, not a regular file", hint=f"move or remove {path}"
        )
        for path, kind in kinds.items()
        if kind not in (None, "a link")
    ]


def _outside_project_errors(directory: Path, paths: Mapping[str, bytes]) -> list[Diagnostic]:
    """Return an error for each path outside the project: behind a link, or below a `.git` directory."""
    errors = []
    for path in paths:
        try:
            disk.name_in_project((directory / path).parent, directory)
        except OSError as error:
            message = f"{path} would be written outside {directory}: {disk.error_reason(error)}"
            errors.append(
                Diagnostic("outside", message, hint="remove the link, or write to another directory")
            )
    return errors


def _other_root_file_errors(directory: Path, paths: Mapping[str, bytes]) -> list[Diagnostic]:
    """Return an error if a root file with the other name exists: a configuration has one root file."""
    if paths.keys().isdisjoint(ROOT_NAMES):
        return []
    return [
        Diagnostic(
            "exists",
            f"the directory already has a root file, {name}",
            hint="remove the file, or import into another directory",
        )
        for name in ROOT_NAMES
        if name not in paths and (directory / name).exists()
    ]


def _write_all_or_none(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a directory: first all of them under temporary names, then rename them.

    If an error occurs, remove the temporary files and the new directories. Raises DiagnosticError.
    """
    target_by_temporary_file: dict[Path, Path] = {}
    new_directories: list[Path] = []
    try:
        for name, content in files.items():
            path = directory / name
            new_directories += _create_directories(path.parent)
            target_by_temporary_file[disk.new_file_beside(path, content)] = path
        while target_by_temporary_file:
            temporary_file, path = next(iter(target_by_temporary_file.items()))
            temporary_file.replace(path)
            del target_by_temporary_file[temporary_file]
    except OSError as error:
        for temporary_file in target_by_temporary_file:
            temporary_file.unlink(missing_ok=True)
        for empty in reversed(new_directories):
            if not any(empty.iterdir()):
                empty.rmdir()
        message = f"cannot write {error.filename or directory}: {disk.error_reason(error)}"
        raise DiagnosticError([Diagnostic("unwritable", message)], Exit.FAILED) from None


def _create_directories(path: Path) -> list[Path]:
    """Create a directory and its parents, and return those that are new."""
    missing = [parent for parent in reversed((path, *path.parents)) if not parent.exists()]
    for parent in missing:
        parent.mkdir()
    return missing


_GENERATED_COMMENT = re.compile(
    r"# (yaml-language-server|Not imported:|Fields with their default|`dpsync drift` reports)"
)
_VARIABLE = re.compile(r"(?<!\$)\$\{(\w+)")

FindProblem = Callable[[Mapping[str, bytes]], str | None]
"""Returns the first error in the files of a configuration."""


class CopiedSettings(Struct, frozen=True):
    """The new files with the settings that were copied, and one line for each setting that is lost."""

    files: Mapping[str, bytes]
    lost: tuple[str, ...] = ()


def copy_root_settings(
    present: bytes, files: Mapping[str, bytes], find_problem: FindProblem
) -> CopiedSettings:
    """Copy the policy and the environments of the replaced root file into the new root file.

    A part that would make the new files invalid is not copied; `find_problem` checks this. The result lists
    what is lost: parts, includes, variables and comments. `present` is the content of the replaced file.
    """
    try:
        old = YamlFile(decode(present, ROOT_FILE)[0], ROOT_FILE)
    except UneditableError:
        return CopiedSettings(files, (f"{ROOT_FILE}: everything, because dpsync cannot read the file",))
    root = old.root if isinstance(old.root, MappingNode) else MappingNode((), old.root.span)
    new_files, lost = dict(files), list[str]()
    for name, insert in _parts_to_copy(old, root):
        try:
            candidate = {**new_files, ROOT_FILE: insert(new_files[ROOT_FILE].decode()).encode()}
            problem = find_problem(candidate)
        except UneditableError as why:
            problem = str(why)
        if problem is None:
            new_files = candidate
        else:
            lost.append(f"{name}: {problem}")
    text = new_files[ROOT_FILE].decode()
    new_root = YamlFile(text, ROOT_FILE).root
    new_includes = _list_texts(new_root.get("include")) if isinstance(new_root, MappingNode) else []
    lost += [
        f'include "{pattern}": the new files contain the entries'
        for pattern in _list_texts(root.get("include"))
        if pattern not in new_includes
    ]
    lost_variables = {name: None for name in _VARIABLE.findall(old.text) if f"${{{name}" not in text}
    lost += [
        f"the variable ${{{name}}}: the file contains the value from GitBook instead"
        for name in lost_variables
    ]
    lost_comments = [
        comment
        for comment in (comments(old.text) - comments(text)).elements()
        if not _GENERATED_COMMENT.match(comment)
    ]
    return CopiedSettings(new_files, (*lost, *(f"the comment {comment}" for comment in lost_comments)))


def _parts_to_copy(old: YamlFile, root: MappingNode) -> list[tuple[str, Callable[[str], str]]]:
    """Return the parts of the root file to copy: settings of the policy, and the environments.

    Each part has a name, and a function that inserts the part into the text of the new root file.
    """
    parts: list[tuple[str, Callable[[str], str]]] = []
    policy = root.get("policy")
    for key, value in policy if isinstance(policy, MappingNode) else ():
        if key.text == "watch":
            parts.append(("policy.watch", _watch_inserter(_list_texts(value))))
        else:
            parts.append((f"policy.{key.text}", _line_inserter(_source_lines(old, key, value), "policy")))
    for key, value in root:
        if key.text == "environments":
            parts.append((key.text, _line_inserter(_source_lines(old, key, value), None)))
    return parts


def _source_lines(document: YamlFile, key: Scalar, value: Node) -> list[str]:
    """Return the lines of a key and its value, with the comments above them, and without their indentation.

    Comments that dpsync generates are not included.
    """
    begin, (start, end) = document.node_range(key)[0], document.node_range(value)
    if start < begin:
        raise UneditableError("the value is a YAML alias")
    column = begin - document.starts[key.span.line - 1]
    head = document.text[document.starts[key.span.line - 1] : begin]
    end = begin + len(document.text[begin:end].rstrip())
    if head.strip():  # a key in a flow mapping
        return document.text[begin:end].splitlines()
    lines = document.text[begin : document.end_of_line(end)].splitlines()
    comments_above = list[str]()
    for line in reversed(document.text[: document.starts[key.span.line - 1]].splitlines()):
        if not line.lstrip().startswith("#") or _GENERATED_COMMENT.match(line.lstrip()):
            break
        comments_above.insert(0, line.strip())
    return [
        *comments_above,
        lines[0],
        *(line[column:] if not line[:column].strip() else line for line in lines[1:]),
    ]


def _line_inserter(lines: list[str], parent: str | None) -> Callable[[str], str]:
    """Return a function that inserts lines into the text of a root file.

    The lines go to the end of the mapping with the key `parent`. If there is no such mapping, it is added
    above the organizations; if `parent` is None, the lines themselves are added there.
    """

    def insert(text: str) -> str:
        """Return the text of a root file with the lines."""
        document = YamlFile(text, ROOT_FILE)
        root = document.root
        assert isinstance(root, MappingNode)
        block = root.get(parent) if parent else None
        if isinstance(block, MappingNode) and len(block):
            _, last = list(block)[-1]
            start, end = document.node_range(last)
            position = document.end_of_line(start + len(text[start:end].rstrip()))
            return apply_edits(text, [TextEdit(position, position, "".join(f"\n  {line}" for line in lines))])
        key = next(key for key, _ in root if key.text in (SINGLE_ORGANIZATION_KEY, ORGANIZATIONS_KEY))
        position = document.starts[key.span.line - 1]
        inserted_lines = [f"{parent}:", *(f"  {line}" for line in lines)] if parent else lines
        return apply_edits(
            text, [TextEdit(position, position, "".join(f"{line}\n" for line in inserted_lines))]
        )

    return insert


def _watch_inserter(patterns: list[str]) -> Callable[[str], str]:
    """Return a function that adds patterns to `policy.watch` in the text of a root file.

    A pattern may end with `=VALUE`. It is not added if the file has the pattern with any value.
    """

    def insert(text: str) -> str:
        """Return the text of a root file with the missing patterns."""
        document = YamlFile(text, ROOT_FILE)
        assert isinstance(document.root, MappingNode)
        policy = document.root.get("policy")
        if not isinstance(policy, MappingNode) or "watch" not in policy:
            return _line_inserter([f"watch: {on_one_line(patterns)}"], "policy")(text)
        key, node = next((key, node) for key, node in policy if key.text == "watch")
        present = _list_texts(node)
        named = {pattern.partition("=")[0] for pattern in present}
        missing_patterns = [pattern for pattern in patterns if pattern.partition("=")[0] not in named]
        return (
            apply_edits(text, document.edits(key, node, [*present, *missing_patterns]))
            if missing_patterns
            else text
        )

    return insert


def _list_texts(node: Node | None) -> list[str]:
    """Return the items of a YAML list as texts; a single value counts as a list of one item."""
    value = None if node is None else node_value(node)
    return [] if value is None else [str(item) for item in value] if isinstance(value, list) else [str(value)]
