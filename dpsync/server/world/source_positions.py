"""Find the line and column at which a value is written in a world file (the initial data of the server)."""

from collections.abc import Iterator, Sequence

import yaml

from ..records.world_schema import Path, WorldProblem

_MAX_PROBLEMS = 20
"""The maximum number of problems that are listed. The others are only counted."""


def error_position(error: Exception) -> str:
    """Return `:LINE:COLUMN` of a YAML error, or "" if the position is unknown."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    return f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""


def format_problems(problems: Sequence[WorldProblem], name: str, text: str) -> Iterator[str]:
    """Yield a message line for each problem, with file, line, column, problem and hint.

    `name` is the path of the file, and `text` its content, which is parsed again to find the positions.
    """
    try:
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:  # JSON with an escape that YAML does not have
        root = None
    marked_problems = [(_find_mark(root, problem.path), problem) for problem in problems]
    marked_problems.sort(key=lambda pair: pair[0].index if pair[0] is not None else 0)
    for mark, problem in marked_problems[:_MAX_PROBLEMS]:
        position = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark is not None else name
        path = f"{_format_path(problem.path)}: " if problem.path else ""
        hint = f" ({problem.hint})" if problem.hint else ""
        yield f"{position}: invalid data: {path}{problem.message}{hint}"
    if len(problems) > _MAX_PROBLEMS:
        yield f"{len(problems) - _MAX_PROBLEMS} more"


def _find_mark(node: yaml.Node | None, path: Path) -> yaml.Mark | None:
    """Return the position in a YAML document of the value at a path; None without a document.

    `path` has keys and indexes. If the value is not written in the document, return the position of the
    innermost part of the path that is.
    """
    mark = node.start_mark if node is not None else None
    for part in path:
        if isinstance(node, yaml.MappingNode):
            pairs = [(key, value) for key, value in node.value if key.value == str(part)]
            if not pairs:
                break
            key, node = pairs[-1]  # if a key is repeated, its last value counts
            mark = key.start_mark
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            mark = node.start_mark
        else:
            break
    return mark


def _format_path(path: Path) -> str:
    """Return a path as text: `organizations[0].members[2].role`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            word = part if part.isidentifier() else repr(part)
            text += f".{word}" if text else word
    return text
