"""Replace variables in values, as in Compose files: `${NAME}`, `${NAME:-default}`, `${NAME:?message}`, `$$`.

The result stays text: `${N}` with N=1 is "1", not a number. A lone `$` is an ordinary character. As in
Compose, `:-` and `:?` treat an empty variable like an unset one. Variables in keys are replaced too, because
some keys are data (the source of a redirect, an e-mail). A key without `${` keeps its `$$`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from collections.abc import Mapping as Environment
from operator import is_
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.config import codes
from dpsync.config.yaml_reader import FORBIDDEN_IN_VALUE, LINE_BREAK
from dpsync.model.diagnostic import Diagnostic, Findings
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, Span

MAX_RESULT_CHARS: Final = 1_000_000
"""The maximum length of one text after substitution, in characters."""
MAX_TOTAL_CHARS: Final = 10_000_000
"""The maximum total length of all texts with variables in one file, in characters."""

_VARIABLE: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:(:-|:\?)(.*))?", re.DOTALL)
_REFERENCE: Final = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)")
_BARE_NAME: Final = re.compile(r"\$[A-Z][A-Z0-9_]+")
_FORMS_HINT: Final = "write ${NAME}, ${NAME:-default} or ${NAME:?message}. For a literal $, write $$"


def escape_value(text: str) -> str:
    """Return a value escaped for a file, so that no part of the value is read as a variable."""
    return text.replace("$", "$$") if "${" in text or "$$" in text or _BARE_NAME.search(text) else text


def escape_key(text: str) -> str:
    """Return a key escaped for a file, so that no part of the key is read as a variable."""
    return text.replace("$", "$$") if "${" in text else text


def referenced_variables(text: str) -> list[str]:
    """Return the names of the variables that a text refers to: only B for `a${B}$${C}`."""
    return [match[1] for match in _REFERENCE.finditer(text) if match[1] is not None]


class WithoutVariables(dict[str, str]):
    """An environment in which every variable is missing, even a variable with a default.

    With it, a configuration has only values that git knows.
    """


class _SubstitutionError(Exception):
    """Ends the substitution of one scalar after its diagnostic was added."""


class Substitution(Struct):
    """Replaces the variables in the texts of one file, and collects findings.

    With the file's text in `source`, a finding points at its `${`, otherwise at the start of the scalar. A
    scalar with a problem keeps its text, and its position is added to `unknown`. Values of variables never
    appear in messages.
    """

    env: Environment[str, str]
    source: str
    diagnostics: Findings = field(default_factory=Findings)
    unknown: set[Span] = field(default_factory=set)
    warned: set[Span] = field(default_factory=set)
    total: int = 0
    # A node with aliases is one object in many places: it is substituted and reported once.
    substituted: dict[int, Node] = field(default_factory=dict)
    line_starts: list[int] = field(default_factory=list)

    def substitute(self, node: Node) -> Node:
        """Return a node and all nodes in it with variables replaced; the same object if it contains none.

        A node that aliases repeat is substituted once.
        """
        if isinstance(node, Scalar) and not (isinstance(node.value, str) and "$" in node.value):
            return node
        result = self.substituted.get(id(node))
        if result is None:
            result = self.substituted[id(node)] = self.substitute_node(node)
        return result

    def substitute_node(self, node: Node) -> Node:
        """Return a node with its variables replaced; the same object if it contains none."""
        if isinstance(node, Scalar):
            return self.substitute_scalar(node)
        if isinstance(node, Sequence):
            items = [self.substitute(item) for item in node.items]
            return node if all(map(is_, items, node.items)) else Sequence(tuple(items), node.span)
        entries = [(self.substitute_key(key), self.substitute(value)) for key, value in node.entries]
        if all(a is b and c is d for (a, c), (b, d) in zip(entries, node.entries, strict=True)):
            return node
        return Mapping(tuple(self.unique_entries(entries)), node.span)

    def substitute_key(self, key: Scalar) -> Scalar:
        """Return a mapping key with its variables replaced, in `value` and `text`."""
        if "${" not in key.text:
            return key
        replaced = self.substitute_scalar(replace(key, value=key.text))
        return replace(replaced, text=str(replaced.value))

    def unique_entries(self, entries: list[tuple[Scalar, Node]]) -> Iterator[tuple[Scalar, Node]]:
        """Yield the first entry of each key, and report keys that are equal after the substitution."""
        first_keys: dict[str, Scalar] = {}
        for key, value in entries:
            if (first_key := first_keys.setdefault(key.text, key)) is key:
                yield key, value
            else:
                related = (("the first one", first_key.span),)
                message = (
                    f'after dpsync has replaced the variables, this key is "{key.text}", '
                    "which the mapping already contains"
                )
                self.diagnostics.append(Diagnostic(codes.DUPLICATE_KEY, message, key.span, related=related))

    def substitute_scalar(self, scalar: Scalar) -> Scalar:
        """Return a scalar with its variables replaced. After a problem, it keeps its text."""
        try:
            value, has_variable = self.substitute_text(scalar)
        except _SubstitutionError:
            return replace(scalar, interpolated=True)
        if has_variable:
            self.total += len(value)
        if self.total > MAX_TOTAL_CHARS:
            self.refuse(
                codes.TEXT_SIZE,
                "after dpsync has replaced the variables, the texts of this file are "
                f"longer than {MAX_TOTAL_CHARS:,} characters",
                scalar,
            )
            return replace(scalar, interpolated=True)
        return replace(scalar, value=value, interpolated=has_variable)

    def substitute_text(self, scalar: Scalar) -> tuple[str, bool]:
        """Return the text with every variable replaced, and whether the text contained a variable.

        Reports every missing variable, then raises _SubstitutionError.
        """
        text = str(scalar.value)
        parts: list[str] = []
        missing: set[str] = set()
        end, length, has_variable = 0, 0, False
        while (offset := text.find("$", end)) >= 0:
            parts.append(text[end:offset])
            if text.startswith("$$", offset):
                part, end = "$", offset + 2
            elif text.startswith("${", offset):
                has_variable = True
                part, end = self.variable_value(scalar, text, offset, missing)
            else:
                part, end = "$", offset + 1
                if (bare_name := _BARE_NAME.match(text, offset)) is not None:
                    self.warn_about_bare_name(scalar, bare_name[0], offset)
            parts.append(part)
            length += len(parts[-2]) + len(part)
            if length > MAX_RESULT_CHARS:
                message = (
                    "after dpsync has replaced the variables, this text is "
                    f"longer than {MAX_RESULT_CHARS:,} characters"
                )
                self.refuse(codes.TEXT_SIZE, message, scalar)
                raise _SubstitutionError
        if missing:
            raise _SubstitutionError
        parts.append(text[end:])
        return "".join(parts), has_variable

    def warn_about_bare_name(self, scalar: Scalar, name: str, offset: int) -> None:
        """Warn about `$NAME`, which shells would read as a variable; dpsync reads only `${NAME}`."""
        if scalar.span in self.warned:
            return
        self.warned.add(scalar.span)
        hint = f"write ${{{name[1:]}}} to use the variable, or ${name} to keep the text {name}"
        span, message = (
            self.span_at(scalar, offset, len(name)),
            f'dpsync reads "{name}" as text, not as a variable',
        )
        self.diagnostics.append(Diagnostic(codes.NO_VARIABLE, message, span, hint=hint, severity="warning"))

    def variable_value(self, scalar: Scalar, text: str, offset: int, missing: set[str]) -> tuple[str, int]:
        """Return the value of the variable at an offset of the text, and the offset behind the variable.

        Raises _SubstitutionError after reporting a malformed variable. A missing variable is reported once,
        and its name is added to `missing`.
        """
        end = text.find("}", offset)
        if end < 0:
            self.refuse(codes.MALFORMED_VARIABLE, '"}" is missing after "${"', scalar, offset, 2, _FORMS_HINT)
            raise _SubstitutionError
        match = _VARIABLE.fullmatch(text, offset + 2, end)
        if match is None:
            self.refuse(
                codes.MALFORMED_VARIABLE,
                f'"{text[offset : end + 1][:60]}" is not a valid variable',
                scalar,
                offset,
                2,
                _FORMS_HINT,
            )
            raise _SubstitutionError
        name, form, argument = match[1], match[2], (match[3] or "")
        if "${" in argument.replace("$$", ""):
            message = f'the text inside "${{{name}{form}…}}" contains another variable'
            self.refuse(
                codes.MALFORMED_VARIABLE,
                message,
                scalar,
                offset,
                2,
                "write a default or message that contains no variable",
            )
            raise _SubstitutionError
        value = self.env.get(name)
        if value is None or (not value and form is not None):
            if form == ":-" and not isinstance(self.env, WithoutVariables):
                return argument.replace("$$", "$"), end + 1
            if name not in missing:
                missing.add(name)
                self.report_missing(
                    scalar, offset, end, name, argument.replace("$$", "$") if form else "", value
                )
            return "", end + 1
        if FORBIDDEN_IN_VALUE.search(value):
            message = f"the value of {name} contains a control character or invalid text"
            self.refuse(codes.VARIABLE_VALUE, message, scalar, offset, end + 1 - offset)
            raise _SubstitutionError
        return value, end + 1

    def report_missing(
        self, scalar: Scalar, offset: int, end: int, name: str, message_in_file: str, value: str | None
    ) -> None:
        """Report a variable that is not set or empty, with the message in the file (`${NAME:?message}`)."""
        message = f"the variable {name} is {'not set' if value is None else 'empty'}"
        hint = f"set the variable, or write a default: ${{{name}:-…}}"
        if message_in_file:
            message, hint = f"{message}: {message_in_file}", f"set the variable {name}"
        self.refuse(codes.MISSING_VARIABLE, message, scalar, offset, end + 1 - offset, hint, cause=name)

    def refuse(
        self, code: str, message: str, scalar: Scalar, offset: int = -1, width: int = 0,
        hint: str | None = None, cause: str | None = None,
    ) -> None:  # fmt: skip
        """Report an error in a scalar, and record that its value is unknown, so that later checks skip it.

        The error is at `offset` in the text, `width` characters long; a negative offset means the whole text.
        """
        self.unknown.add(scalar.span)
        span = scalar.span if offset < 0 else self.span_at(scalar, offset, width)
        self.diagnostics.append(Diagnostic(code, message, span, hint=hint, cause=cause))

    def span_at(self, scalar: Scalar, offset: int, width: int) -> Span:
        """Return the position in the file of the `$` at an offset of the value.

        Quotes, escapes, folding and indentation come between the two, but the nth `$` of the value is the nth
        of the source, unless one was written as an escape or is in a comment: then their numbers differ.
        """
        if not self.source:
            return scalar.span
        if not self.line_starts:
            self.line_starts = [0, *(line_break.end() for line_break in LINE_BREAK.finditer(self.source))]
        span = scalar.span
        begin, end = self.offset(span.line, span.column), self.offset(span.end_line, span.end_column)
        text = str(scalar.value)
        if self.source.count("$", begin, end) != text.count("$"):
            return span
        position = begin - 1
        for _ in range(text.count("$", 0, offset + 1)):
            position = self.source.find("$", position + 1)
        line = bisect_right(self.line_starts, position)
        column = position - self.line_starts[line - 1] + 1
        return Span(span.file, line, column, line, column + width)

    def offset(self, line: int, column: int) -> int:
        """Return the offset in the source of a line and column."""
        start = self.line_starts[line - 1] if line <= len(self.line_starts) else len(self.source)
        return min(start + column - 1, len(self.source))
