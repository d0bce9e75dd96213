"""A person at a terminal: runs `apply` there and types an answer to each prompt."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.patience import PATIENCE

from .places import Work

PROMPT = re.compile(r"(?:^|\n)([^\n]*(?:\[y/N\]:?|:|\?) )$")
QUIET = 0.4
"""Seconds without output after which a line that looks like a prompt is one."""


@dataclass(frozen=True)
class Talk:
    """What happened at the terminal."""

    code: int
    said: str
    prompts: tuple[str, ...]
    out: str


def apply_at_terminal(work: Work, programs: Path, same: bool) -> Talk:
    """Run `apply` in a terminal and agree. `same`: a new entry is the first object that dpsync offers."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [programs / "dpsync", "apply", "-C", str(work.directory), *work.place.flags, "--color", "never"],
        env=work.env, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True, close_fds=True,
    )  # fmt: skip
    os.close(theirs)
    said, prompts, since = "", [], 0
    while True:
        ready = select.select([ours], [], [], QUIET)[0]
        if ready:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux: the other side is closed
                break
            if not piece:
                break
            said += piece.decode().replace("\r\n", "\n")
            continue
        found = PROMPT.search(said[since:])
        if found:
            prompts.append(found[1])
            since = len(said)
            os.write(ours, f"{_answer(found[1], same)}\n".encode())
    out, _ = process.communicate(timeout=PATIENCE)
    os.close(ours)
    return Talk(process.returncode, said, tuple(prompts), out)


def _answer(prompt: str, same: bool) -> str:
    """Return what a person types who wants the plan to be carried out."""
    if "[y/N]" in prompt:
        return "y"
    if new := re.search(r"^Type .*?(\bnew\b(?: \d+)?)", prompt):
        return "1" if same else new[1]
    if subject := re.search(r"ype the (?:number|address)[^(]*\((.+?)\):", prompt):
        return subject[1]
    typed = re.search(r'[Tt]ype "(delete \d+)"', prompt)
    return typed[1] if typed else ""
