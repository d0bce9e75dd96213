"""Record one part of the behavior of a checkout, in a process that `__main__` starts for this part."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from .operations import record_operations
from .pairs import record_applies, record_pairs
from .running import runner
from .situations import record_situations


def main(checkout: Path, part: str, seed: int, first: int, last: int, target: Path) -> None:
    """Write the records of a part to `target`, which exists only when it is complete."""
    # The companions end with this process, also if somebody ends it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    unfinished = target.with_suffix(".unfinished")
    with runner(checkout) as running, unfinished.open("w", encoding="utf-8") as file:
        match part:
            case "pairs":
                records = record_pairs(running, seed, first, last)
            case "applies":
                records = record_applies(running, seed, first, last)
            case _ if part.startswith("operations of "):
                records = record_operations(running, part.removeprefix("operations of "), last)
            case "situations":
                records = record_situations(running, last)
            case _:
                raise ValueError(part)
        for name, text in records:
            file.write(json.dumps([name, text], ensure_ascii=False) + "\n")
    unfinished.rename(target)


if __name__ == "__main__":
    checkout, part, seed, first, last, target = sys.argv[1:]
    main(Path(checkout), part, int(seed), int(first), int(last), Path(target))
