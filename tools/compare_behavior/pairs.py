"""Record plans, drift and applies of generated pairs."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator

from .generator import Generator, Pair
from .running import Proxy, Result, Runner, changes, pretty

Record = tuple[str, str]
_FORMATS = ("markdown", "html", "github", "sarif", "junit", "codequality")
_SHOWN = {
    "verbose": ["-v"],
    "quiet": ["-q"],
    "summary": ["--summary"],
    "color": ["--color", "always"],
    **{name: ["--format", name] for name in _FORMATS},
}
"""The flags of `dpsync show` by the name of the output."""
_OTHER_COMMANDS = (
    "plan -v", "drift --format markdown", "drift -v", "list", "list --format json", "graph", "graph --plan",
    "validate --format json", "config", "doctor", "fmt --diff", "ids", "rehearse", "import --force",
)  # fmt: skip
"""What only every tenth pair runs. `import` is the last one, since it replaces the files."""
_INVALID, _CHANGES, _REFUSED = 5, 2, 4
_ATTEMPTS = 6


def record_pairs(runner: Runner, seed: int, first: int, last: int) -> Iterator[Record]:
    """Yield the plan in every format, the drift, and the requests of each pair from `first` until `last`."""
    generator = Generator(seed)
    for number in range(first, last):
        yield from (
            (f"pair {number}, {name}", text) for name, text in _record_pair(runner, generator, number)
        )


def record_applies(runner: Runner, seed: int, first: int, last: int) -> Iterator[Record]:
    """Yield what an apply of each pair does, and what a revert of the apply does."""
    generator = Generator(-seed)
    proxy = Proxy()
    for number in range(first, last):
        records = _record_apply(runner, generator, number, proxy)
        yield from ((f"apply {number}, {name}", text) for name, text in records)
    proxy.close()


def shown(result: Result) -> str:
    """Return the exit code and both outputs as one text."""
    text = f"exit {result.exit}\n{result.out}"
    return f"{text}--- stderr\n{result.err}" if result.err else text


def _record_pair(runner: Runner, generator: Generator, number: int) -> Iterator[Record]:
    pair, _, records = _usable_pair(runner, generator, number, (0, _CHANGES, _REFUSED))
    yield from records
    if not pair:
        return
    companion = runner.companion(pair.profile)
    companion.client.delete("/_dpsync/requests").raise_for_status()
    plan = runner.run(["plan", "--parallelism", "1", "--format", "json", *pair.flags], companion.url)
    yield "plan (json)", shown(plan)
    yield "requests of the plan", "\n".join(companion.requests())
    runner.write({"plan.out.json": plan.out}, new=False)
    for name, flags in _SHOWN.items():
        yield f"plan ({name})", shown(runner.run(["show", "plan.out.json", *flags]))
    (runner.directory / "plan.out.json").unlink()
    yield "drift", shown(runner.run(["drift"], companion.url))
    yield "drift (json)", shown(runner.run(["drift", "--format", "json"], companion.url))
    if number % 10 == 9:
        for command in _OTHER_COMMANDS:
            yield command, shown(runner.run(shlex.split(command), companion.url))
        yield (
            "imported files",
            "\n".join(
                f"{path.relative_to(runner.directory)}:\n{path.read_text(encoding='utf-8')}"
                for path in sorted(runner.directory.rglob("*.yaml"))
                if ".dpsync" not in path.parts
            ),
        )


def _record_apply(runner: Runner, generator: Generator, number: int, proxy: Proxy) -> Iterator[Record]:
    pair, plan, records = _usable_pair(runner, generator, number, (_CHANGES, _REFUSED))
    yield from records
    if not pair:
        return
    companion = runner.companion(pair.profile)
    before = companion.world()
    proxy.target = companion.url
    proxy.requests.clear()
    flags = ["--yes", "--no-input", "--parallelism", "1", *pair.flags]
    flags += [word for answer in _answers(plan.out + plan.err) for word in ("--confirm", answer)]
    yield "report", shown(runner.run(["apply", *flags], proxy.url))
    yield "requests", runner.normalize("\n".join(proxy.requests))
    yield "changed data", "\n".join(changes(before, companion.world()))
    journals = sorted((runner.directory / ".dpsync" / "journal").glob("*.jsonl"))
    for journal in journals:
        entries = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
        yield "journal", runner.normalize(pretty(entries))
        for name in ("json", "markdown", "html"):
            yield f"report ({name})", shown(runner.run(["show", str(journal), "--format", name]))
    ids = runner.directory / ".dpsync" / "ids.yaml"
    yield "ids file", runner.normalize(ids.read_text(encoding="utf-8")) if ids.exists() else "none"
    yield "next plan", shown(runner.run(["plan", *pair.flags], companion.url))
    if journals:
        yield "history", shown(runner.run(["history"]))
        proxy.requests.clear()
        yield "revert", shown(runner.run(["revert", "--last", "--yes", "--parallelism", "1"], proxy.url))
        yield "requests of the revert", runner.normalize("\n".join(proxy.requests))
        yield "data that the revert left changed", "\n".join(changes(before, companion.world()))


def _usable_pair(
    runner: Runner, generator: Generator, number: int, exits: tuple[int, ...]
) -> tuple[Pair | None, Result, list[Record]]:
    """Prepare the first attempt whose plan ends with one of `exits`; also return the plans until then."""
    records: list[Record] = []
    for attempt in range(_ATTEMPTS):
        pair = generator.pair(number, attempt)
        records += _prepare(runner, pair)
        plan = runner.run(["plan", "--detailed-exitcode", *pair.flags], runner.companion(pair.profile).url)
        records.append((f"plan of attempt {attempt}", shown(plan)))
        if plan.exit in exits:
            return pair, plan, records
        if plan.exit == _INVALID:
            findings = runner.run(["validate", "--format", "json"])
            records.append((f"findings of attempt {attempt}", shown(findings)))
    return None, plan, records


def _prepare(runner: Runner, pair: Pair) -> Iterator[Record]:
    """Load the data of a pair and write its files."""
    companion = runner.companion(pair.profile)
    if refused := companion.load(pair.world):
        yield "refused data", refused
        companion.reset()
    if pair.committed:
        runner.write({".gitignore": ".dpsync/\n", **pair.committed})
        runner.commit()
    runner.write(pair.files, new=not pair.committed)


def _answers(text: str) -> list[str]:
    """Return the answers that a plan asks for."""
    return list(dict.fromkeys(re.findall(r'--confirm "([^"]+)"', text)))
