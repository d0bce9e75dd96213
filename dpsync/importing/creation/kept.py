"""What a person wrote in the root file, carried over into the root file of a new import."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from dpsync.config.compose import WHOLE, WORD
from dpsync.config.yaml_reader import decode
from dpsync.importing.edit_yaml import Document, TextEdit, Uneditable, apply_edits, comments
from dpsync.importing.layout import ROOT
from dpsync.importing.write_yaml import on_one_line
from dpsync.model.nodes import Mapping as MappingNode
from dpsync.model.nodes import Node, Scalar, plain

_OWN_COMMENT = re.compile(
    r"# (yaml-language-server|Not imported:|Fields with their default|`dpsync drift` reports)"
)
_VARIABLE = re.compile(r"(?<!\$)\$\{(\w+)")

FindProblem = Callable[[Mapping[str, bytes]], str | None]
"""Returns the first error in the files of a configuration."""


class Kept(Struct, frozen=True):
    """The files with what was carried over, and one line for each thing that was not."""

    files: Mapping[str, bytes]
    lost: tuple[str, ...] = ()


def keep_root(present: bytes, files: Mapping[str, bytes], find_problem: FindProblem) -> Kept:
    """Carry the policy and the environments of the present root file over into new files.

    What makes the new files invalid is left out.
    """
    try:
        old = Document(decode(present, ROOT)[0], ROOT)
    except Uneditable:
        return Kept(files, (f"{ROOT}: everything, because dpsync cannot read the file",))
    root = old.root if isinstance(old.root, MappingNode) else MappingNode((), old.root.span)
    made, lost = dict(files), list[str]()
    for name, insert in _pieces(old, root):
        try:
            tried = {**made, ROOT: insert(made[ROOT].decode()).encode()}
            problem = find_problem(tried)
        except Uneditable as why:
            problem = str(why)
        if problem is None:
            made = tried
        else:
            lost.append(f"{name}: {problem}")
    lost += _lost_includes(root, made[ROOT].decode())
    text = made[ROOT].decode()
    gone = {name: None for name in _VARIABLE.findall(old.text) if f"${{{name}" not in text}
    lost += [f"the variable ${{{name}}}: the file contains the value from GitBook instead" for name in gone]
    left = [one for one in (comments(old.text) - comments(text)).elements() if not _OWN_COMMENT.match(one)]
    return Kept(made, (*lost, *(f"the comment {one}" for one in left)))


def _pieces(old: Document, root: MappingNode) -> list[tuple[str, Callable[[str], str]]]:
    """Return the parts to carry over, each with its name and the function that inserts it into a text."""
    found: list[tuple[str, Callable[[str], str]]] = []
    policy = root.get("policy")
    for key, value in policy if isinstance(policy, MappingNode) else ():
        if key.text == "watch":
            found.append(("policy.watch", _watching(_texts(value))))
        else:
            found.append((f"policy.{key.text}", _inserting(_source(old, key, value), "policy")))
    for key, value in root:
        if key.text == "environments":
            found.append((key.text, _inserting(_source(old, key, value), None)))
    return found


def _source(document: Document, key: Scalar, value: Node) -> list[str]:
    """Return the lines of a key and its value, with the comments above and without indentation."""
    begin, (start, end) = document.range(key)[0], document.range(value)
    if start < begin:
        raise Uneditable("the value is a YAML alias")
    column = begin - document.starts[key.span.line - 1]
    head = document.text[document.starts[key.span.line - 1] : begin]
    end = begin + len(document.text[begin:end].rstrip())
    if head.strip():  # a key in a flow mapping
        return document.text[begin:end].splitlines()
    lines = document.text[begin : document.end_of_line(end)].splitlines()
    above = list[str]()
    for line in reversed(document.text[: document.starts[key.span.line - 1]].splitlines()):
        if not line.lstrip().startswith("#") or _OWN_COMMENT.match(line.lstrip()):
            break
        above.insert(0, line.strip())
    return [*above, lines[0], *(line[column:] if not line[:column].strip() else line for line in lines[1:])]


def _inserting(lines: list[str], parent: str | None) -> Callable[[str], str]:
    """Return the function that inserts lines at the end of a block, or above the organizations."""

    def insert(text: str) -> str:
        document = Document(text, ROOT)
        root = document.root
        assert isinstance(root, MappingNode)
        block = root.get(parent) if parent else None
        if isinstance(block, MappingNode) and len(block):
            _, last = list(block)[-1]
            start, end = document.range(last)
            at = document.end_of_line(start + len(text[start:end].rstrip()))
            return apply_edits(text, [TextEdit(at, at, "".join(f"\n  {line}" for line in lines))])
        key = next(key for key, _ in root if key.text in (WORD, WHOLE))
        at = document.starts[key.span.line - 1]
        whole = [f"{parent}:", *(f"  {line}" for line in lines)] if parent else lines
        return apply_edits(text, [TextEdit(at, at, "".join(f"{line}\n" for line in whole))])

    return insert


def _watching(wanted: list[str]) -> Callable[[str], str]:
    """Return the function that adds patterns to `policy.watch`."""

    def insert(text: str) -> str:
        document = Document(text, ROOT)
        assert isinstance(document.root, MappingNode)
        policy = document.root.get("policy")
        if not isinstance(policy, MappingNode) or "watch" not in policy:
            return _inserting([f"watch: {on_one_line(wanted)}"], "policy")(text)
        key, node = next((key, node) for key, node in policy if key.text == "watch")
        present = _texts(node)
        named = {one.partition("=")[0] for one in present}
        more = [one for one in wanted if one.partition("=")[0] not in named]
        return apply_edits(text, document.edits(key, node, [*present, *more])) if more else text

    return insert


def _lost_includes(root: MappingNode, text: str) -> list[str]:
    """Return a line for each pattern of `include` that the new root file does not have."""
    new = Document(text, ROOT).root
    present = _texts(new.get("include")) if isinstance(new, MappingNode) else []
    lost = [one for one in _texts(root.get("include")) if one not in present]
    return [f'include "{one}": the new files contain the entries' for one in lost]


def _texts(node: Node | None) -> list[str]:
    """Return the texts of a list, or the only text."""
    value = None if node is None else plain(node)
    return [] if value is None else [str(one) for one in value] if isinstance(value, list) else [str(value)]
