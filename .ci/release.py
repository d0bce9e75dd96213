"""Makes a release: checks its tag, builds what is published, twice, and writes the bill of materials.

    python .ci/release.py check v1.2.3 refs/remotes/origin/main
    python .ci/release.py sources FOLDER
    python .ci/release.py build

A release is built from the files of HEAD, not from the working copy, and knows its commit (`__commit__`):
`dpsync init --workflows` pins the action to it. The build needs the packages of .ci/release.txt, which
`make lock` writes from the group `release` of pyproject.toml.
The time in the files is that of the commit, or SOURCE_DATE_EPOCH where that is set.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
MATERIALS = "dpsync.cdx.json"


def main(words: list[str]) -> int:
    """Do what the arguments say; 1 where something is not as it has to be."""
    match words:
        case ["check", tag, branch]:
            problems = [*wrong(tag), *off_branch(tag, branch)]
        case ["sources", folder]:
            problems = export(Path(folder))
        case ["build"]:
            problems = build()
        case _:
            sys.exit(__doc__)
    for problem in problems:
        print(problem, file=sys.stderr)
    return int(bool(problems))


def wrong(tag: str) -> list[str]:
    """Return the reasons why a tag cannot become a release; an empty list if it can."""
    found = re.search(
        r'^__version__ = "(.+)"$', (ROOT / "dpsync" / "__init__.py").read_text(encoding="utf-8"), re.M
    )
    version = found[1] if found else ""
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.search(r"^## (.+)$", changes, re.M)
    problems = []
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        problems.append(f"dpsync/__init__.py: {version!r} is no version X.Y.Z")
    if tag != f"v{version}":
        problems.append(f"the tag is {tag}, and the version v{version}")
    if heading is None or not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", heading[1]):
        problems.append(f'CHANGELOG.md does not begin with "## {version} (YYYY-MM-DD)"')
    return problems


def off_branch(tag: str, branch: str) -> list[str]:
    """Return what is wrong with the place of a tag's commit: only a commit of the branch is released.

    `branch` is a full name (refs/…), since a tag may be called origin/main.
    """
    commit = git("rev-parse", "--verify", "--quiet", f"refs/tags/{tag}^{{commit}}").stdout.strip()
    if not commit:
        return [f"there is no tag {tag} of a commit here: fetch the tags"]
    ancestor = git("merge-base", "--is-ancestor", commit, branch)
    if ancestor.returncode == 1:
        return [f"the commit {commit} of {tag} is not on {branch}: merge it, then move the tag to the merge"]
    if ancestor.returncode:
        return [f"git cannot compare {tag} with {branch}: {ancestor.stderr.strip()}"]
    if commit != said("git", "rev-parse", "HEAD"):
        return [f"{tag} is the commit {commit}, and another one is checked out"]
    return []


def git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)


def export(folder: Path) -> list[str]:
    """Write the files of HEAD into a new folder, with its commit in the package; return what is wrong."""
    commit = said("git", "rev-parse", "HEAD")
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    module = folder / "dpsync" / "__init__.py"
    text, found = re.subn(
        r'^__commit__ = ""$', f'__commit__ = "{commit}"', module.read_text(encoding="utf-8"), flags=re.M
    )
    module.write_text(text, encoding="utf-8")
    return [] if found == 1 else ['dpsync/__init__.py has no line __commit__ = ""']


def build() -> list[str]:
    """Write the distributions and the bill of materials into dist/; what differs between two builds."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or said("git", "log", "-1", "--format=%ct")
    surroundings = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
    with tempfile.TemporaryDirectory() as made:
        sources, again = Path(made) / "sources", Path(made) / "again"
        if problems := export(sources):
            return problems
        for folder in (DIST, again):
            command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
            subprocess.run(command, cwd=sources, env=surroundings, check=True)
        different = [
            path.name
            for path in sorted(again.iterdir())
            if path.read_bytes() != (DIST / path.name).read_bytes()
        ]
    lists = [
        "requirements",
        "action/requirements.txt",
        "--pyproject",
        "pyproject.toml",
        "--output-reproducible",
    ]
    command = [sys.executable, "-m", "cyclonedx_py", *lists, "--output-file", str(DIST / MATERIALS)]
    subprocess.run(command, cwd=ROOT, env=surroundings, check=True)
    return [f"{name} is not the same when it is built again" for name in different]


def said(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
