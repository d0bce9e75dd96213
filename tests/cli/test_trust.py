"""An address that git does not have may have a token only if a person trusts it; ordinary work is not asked.

The host of these tests is on loopback, where only the companion's documented tokens need no trust.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.world import load_builtin_world
from tests.cli.conftest import Run
from tests.cli.test_environment_source import GITHUB, GITLAB, configuration
from tests.cli.test_overlays import git
from tests.patience import PATIENCE
from tests.recording_host import RecordingHost

SECRET = "a-real-token"


@pytest.fixture
def host() -> Iterator[RecordingHost]:
    with RecordingHost() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a directory outside of git and set real tokens for its environments."""
    for name in (*GITHUB, *GITLAB, "CI", "DPSYNC_URL", "DPSYNC_TOKEN", "DPSYNC_ENV"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", SECRET)
    monkeypatch.setenv("DPSYNC_TOKEN_OTHER", SECRET)
    made = tmp_path / "checkout"
    made.mkdir()
    return made


def write(folder: Path, text: str) -> None:
    (folder / "dpsync.yaml").write_text(text, encoding="utf-8")


def commit(folder: Path, text: str) -> None:
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    write(folder, text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "a configuration")


def nothing_around(folder: Path, url: str) -> str:
    write(folder, configuration(url))
    return "the files are not in a git repository"


def no_commit(folder: Path, url: str) -> str:
    git(folder, "init", "-q", "-b", "main")
    write(folder, configuration(url))
    return "the repository has no commit"


def file_never_added(folder: Path, url: str) -> str:
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    write(folder, configuration(url))
    git(folder, "add", "-A")
    return "does not contain this environment"


def address_changed(folder: Path, url: str) -> str:
    commit(folder, configuration("https://docs.acme.example"))
    write(folder, configuration(url))
    return "has the url https://docs.acme.example and the token DPSYNC_TOKEN_PROD"


def variable_changed(folder: Path, url: str) -> str:
    commit(folder, configuration(url, "DPSYNC_TOKEN_OTHER"))
    write(folder, configuration(url))
    return f"has the url {url} and the token DPSYNC_TOKEN_OTHER"


def environment_added(folder: Path, url: str) -> str:
    commit(folder, configuration(url, name="other"))
    write(folder, configuration(url))
    return "does not contain this environment"


UNCOMMITTED = [
    nothing_around, no_commit, file_never_added, address_changed, variable_changed, environment_added,
]  # fmt: skip
Lay = Callable[[Path, str], str]


@pytest.mark.parametrize("lay", UNCOMMITTED, ids=lambda lay: lay.__name__.replace("_", " "))
def test_token_is_not_sent_to_uncommitted_environment_url(
    lay: Lay, folder: Path, host: RecordingHost, run: Run
) -> None:
    """A directory out of an archive, or a line that somebody added, would else send the token anywhere."""
    why = lay(folder, host.url)
    ended = run("plan", "-C", str(folder), "--env", "prod")
    assert (ended.code, host.requests) == (4, [])
    assert "error[untrusted-environment]" in ended.err
    assert why in ended.err
    assert "dpsync.yaml:5:10" in ended.err
    assert "anyway, add --trust-environment prod" in ended.err
    assert SECRET not in ended.err + ended.out


@pytest.mark.parametrize("lay", UNCOMMITTED, ids=lambda lay: lay.__name__.replace("_", " "))
def test_trust_flag_allows_sending_token_to_uncommitted_url(
    lay: Lay, folder: Path, host: RecordingHost, run: Run
) -> None:
    lay(folder, host.url)
    ended = run("plan", "-C", str(folder), "--env", "prod", "--trust-environment", "prod")
    assert (ended.code, host.tokens) == (1, {SECRET})
    assert "trust" not in ended.err
    assert run("plan", "-C", str(folder), "--env", "prod").code == 4  # the flag is for one run


@pytest.mark.parametrize("command", ["apply --yes", "drift", "list", "ids", "import", "rehearse", "world x"])
def test_every_command_refuses_uncommitted_environment_url(
    command: str, folder: Path, host: RecordingHost, run: Run
) -> None:
    write(folder, configuration(host.url))
    ended = run(*command.split(), "-C", str(folder), "--env", "prod")
    assert (ended.code, host.requests) == (4, [])
    run(*command.split(), "-C", str(folder), "--env", "prod", "--trust-environment", "prod")
    assert host.tokens == {SECRET}


@pytest.mark.parametrize("command", ["doctor", "serve --from-live --port 0"])
def test_doctor_and_serve_accept_trust_flag(
    command: str, folder: Path, host: RecordingHost, run: Run
) -> None:
    write(folder, configuration(host.url))
    ended = run(*command.split(), "-C", str(folder), "--env", "prod")
    assert (ended.code != 0, host.requests) == (True, [])
    assert "--trust-environment prod" in " ".join((ended.out + ended.err).split())
    run(*command.split(), "-C", str(folder), "--env", "prod", "--trust-environment", "prod")
    assert host.tokens == {SECRET}


# Ordinary work.


def committed(folder: Path, url: str) -> None:
    commit(folder, configuration(url))


def committed_with_other_edits(folder: Path, url: str) -> None:
    commit(folder, configuration(url))
    text = configuration(url).replace("title: Acme", "title: Acne")
    write(folder, text + "    limits: { rate: 100/s }\n")


def committed_with_a_slash(folder: Path, url: str) -> None:
    commit(folder, configuration(f"{url}/"))
    write(folder, configuration(url))


def committed_below_the_top(folder: Path, url: str) -> None:
    git(folder, "init", "-q", "-b", "main")
    (folder / "docs").mkdir()
    write(folder / "docs", configuration(url))
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "a configuration")


def committed_on_a_detached_head(folder: Path, url: str) -> None:
    commit(folder, configuration(url))
    git(folder, "checkout", "-q", "--detach")


@pytest.mark.parametrize(
    "lay",
    [
        committed, committed_with_other_edits, committed_with_a_slash, committed_below_the_top,
        committed_on_a_detached_head,
    ],
    ids=lambda lay: lay.__name__.replace("_", " "),
)  # fmt: skip
def test_token_is_sent_to_committed_url_without_prompt(
    lay: Callable[[Path, str], None], folder: Path, host: RecordingHost, run: Run
) -> None:
    lay(folder, host.url)
    at = folder / "docs" if (folder / "docs").exists() else folder
    ended = run("plan", "-C", str(at), "--env", "prod")
    assert (ended.code, host.tokens) == (1, {SECRET})
    assert "trust" not in ended.err


def test_environment_url_from_variable_needs_no_token_consent(
    folder: Path, host: RecordingHost, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable is that of the person who runs dpsync."""
    monkeypatch.setenv("DPSYNC_URL_PROD", host.url)
    commit(folder, configuration('"${DPSYNC_URL_PROD}"'))
    run("plan", "-C", str(folder), "--env", "prod")
    assert host.tokens == {SECRET}


def test_local_server_url_needs_no_token_consent(
    folder: Path, platform: ThreadedServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trying things out with `dpsync serve` needs no commit and no flag."""
    for name in ("DPSYNC_URL", "DPSYNC_TOKEN"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", "ada-token")
    write(folder, configuration(platform.url))
    ended = run("plan", "-C", str(folder), "--env", "prod")
    assert (ended.code, "trust" in ended.err) == (0, False)


def test_local_server_test_tokens_match_documented_tokens() -> None:
    from dpsync.model.urls import COMPANION_TOKENS

    assert set(load_builtin_world()["tokens"]) == COMPANION_TOKENS


def test_url_from_shell_variable_needs_no_token_consent(
    folder: Path, host: RecordingHost, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, configuration("https://docs.acme.example"))
    monkeypatch.setenv("DPSYNC_URL", host.url)
    monkeypatch.setenv("DPSYNC_TOKEN", "the-token-of-the-shell")
    monkeypatch.setenv("DPSYNC_ENV", "prod")
    assert run("plan", "-C", str(folder)).code == 1
    assert host.tokens == {"the-token-of-the-shell"}


# The flag.


def test_trust_flag_for_other_environment_exits_64(folder: Path, host: RecordingHost, run: Run) -> None:
    write(folder, configuration(host.url))
    for words, said in (
        (("--env", "prod", "--trust-environment", "production"), "the chosen environment is prod"),
        (("--trust-environment", "prod"), "no environment is chosen"),
    ):
        ended = run("plan", "-C", str(folder), *words)
        assert (ended.code, said in ended.err, host.requests) == (64, True, [])


def test_unnecessary_trust_flag_prints_note(folder: Path, host: RecordingHost, run: Run) -> None:
    commit(folder, configuration(host.url))
    ended = run("plan", "-C", str(folder), "--env", "prod", "--trust-environment", "prod")
    assert "note: --trust-environment is not necessary, because HEAD" in ended.err
    assert host.tokens == {SECRET}


def test_trust_flag_has_no_effect_in_pull_request(
    folder: Path, host: RecordingHost, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever can write a workflow's arguments once must not open it to every later pull request."""
    commit(folder, configuration(host.url, name="other"))
    event = {"pull_request": {"base": {"ref": "main", "sha": git(folder, "rev-parse", "HEAD").strip()}}}
    path = folder.parent / "event.json"
    path.write_text(json.dumps(event), encoding="utf-8")
    for name, value in {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": str(path)}.items():
        monkeypatch.setenv(name, value)
    write(folder, configuration(host.url))
    ended = run("plan", "-C", str(folder), "--env", "prod", "--trust-environment", "prod")
    assert (ended.code, host.requests) == (4, [])
    assert "--trust-environment has no effect here" in ended.err


def test_consent_flag_is_printed_but_not_journaled(
    folder: Path, platform: ThreadedServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A journal may come from somebody else: what it prints must not trust an address for its reader."""
    for name in ("DPSYNC_URL", "DPSYNC_TOKEN"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", "ada-token")
    write(folder, configuration(platform.url).replace("title: Acme", "title: Acne"))
    flags = ("-C", str(folder), "--env", "prod", "--trust-environment", "prod")
    ended = run("plan", *flags, "--out", "saved.json")
    assert f"dpsync apply -C {folder} --env prod --trust-environment prod saved.json" in ended.err
    assert run("apply", *flags, "--yes").code == 0
    (journal,) = (folder / ".dpsync" / "journal").glob("*.jsonl")
    assert "trust" not in journal.read_text(encoding="utf-8")


# In a terminal.


class Terminal:
    """A person at a terminal, who answers the question about trust."""

    def __init__(self, programs: Path, state: Path) -> None:
        self.program, self.state = programs / "dpsync", state

    def run(self, folder: Path, *words: str, answer: str = "") -> tuple[int, str]:
        """Run a command; the answer is typed if dpsync asks. The exit code, and what was said."""
        ours, theirs = pty.openpty()
        gone = ("CI", "DPSYNC_URL", "DPSYNC_TOKEN", "DPSYNC_ENV", *GITHUB, *GITLAB)
        env = {name: value for name, value in os.environ.items() if name not in gone}
        env |= {"DPSYNC_TOKEN_PROD": SECRET, "XDG_STATE_HOME": str(self.state), "TERM": "dumb"}
        process = subprocess.Popen(
            [self.program, *words, "-C", str(folder), "--env", "prod"], env=env, stdin=theirs, stderr=theirs,
            stdout=subprocess.PIPE, text=True, close_fds=True,
        )  # fmt: skip
        os.close(theirs)
        said = b""
        try:
            while piece := os.read(ours, 65536):
                said += piece
                if said.rstrip().endswith(b"[y/N]:"):
                    os.write(ours, f"{answer}\n".encode())
        except OSError:
            pass  # the other side is closed: everything has been read
        process.communicate(timeout=PATIENCE)
        os.close(ours)
        return process.returncode, " ".join(said.decode().split())


@pytest.fixture
def terminal(programs: Path, tmp_path: Path) -> Terminal:
    return Terminal(programs, tmp_path / "state")


QUESTION = "from now on? [y/N]"


def test_token_consent_prompt_appears_once_per_url(
    folder: Path, host: RecordingHost, terminal: Terminal
) -> None:
    write(folder, configuration(host.url))
    code, said = terminal.run(folder, "plan", answer="y")
    assert (code, host.tokens) == (1, {SECRET})
    assert 'dpsync.yaml:5:10: the URL of the environment "prod" is not committed: ' in said
    assert "the files are not in a git repository" in said
    assert f"dpsync would send the token in DPSYNC_TOKEN_PROD to {host.url}." in said
    assert f"Trust this URL in {folder} {QUESTION}" in said
    host.requests.clear()
    for command in ("plan", "drift"):
        code, said = terminal.run(folder, command)
        assert (code, QUESTION in said) == (1, False)
    assert host.requests != []
    with RecordingHost() as other:
        write(folder, configuration(other.url))
        code, said = terminal.run(folder, "plan", answer="n")
        assert (code, QUESTION in said, other.requests) == (4, True, [])


@pytest.mark.parametrize("answer", ["n", ""])
def test_declined_token_consent_prompt_sends_no_requests(
    answer: str, folder: Path, host: RecordingHost, terminal: Terminal
) -> None:
    write(folder, configuration(host.url))
    for _ in range(2):
        code, said = terminal.run(folder, "plan", answer=answer)
        assert (code, QUESTION in said, host.requests) == (4, True, [])


def test_token_consent_is_saved_per_git_checkout(
    folder: Path, host: RecordingHost, terminal: Terminal
) -> None:
    other = folder.parent / "other"
    other.mkdir()
    for at in (folder, other):
        write(at, configuration(host.url))
        assert QUESTION in terminal.run(at, "plan", answer="y")[1]


def test_yes_flag_does_not_answer_token_consent_prompt(
    folder: Path, host: RecordingHost, terminal: Terminal
) -> None:
    write(folder, configuration(host.url))
    code, said = terminal.run(folder, "apply", "--yes", answer="n")
    assert (code, QUESTION in said, host.requests) == (4, True, [])
    code, said = terminal.run(folder, "apply", "--yes", "--no-input", answer="y")
    assert (code, QUESTION in said, host.requests) == (4, False, [])


def test_committed_environment_url_shows_no_token_consent_prompt(
    folder: Path, host: RecordingHost, terminal: Terminal
) -> None:
    commit(folder, configuration(host.url))
    code, said = terminal.run(folder, "plan")
    assert (code, QUESTION in said, host.tokens) == (1, False, {SECRET})


@pytest.mark.parametrize("place", [".dpsync", "state"])
def test_token_consent_saved_inside_checkout_is_ignored(
    place: str, folder: Path, host: RecordingHost, terminal: Terminal
) -> None:
    """An attacker could commit the file of an answer, if dpsync looked for it in the checkout."""
    write(folder, configuration(host.url))
    inside = folder / place
    terminal.run(folder, "plan", answer="y")
    kept: list[Any] = [path for path in terminal.state.rglob("*") if path.is_file()]
    assert len(kept) == 1
    for target in (inside / "dpsync" / "trusted", inside / "trusted", inside):
        target.mkdir(parents=True, exist_ok=True)
        (target / kept[0].name).write_bytes(kept[0].read_bytes())
    host.requests.clear()
    terminal.state = inside
    code, said = terminal.run(folder, "plan", answer="n")
    assert (code, QUESTION in said, host.requests) == (4, True, [])
    code, said = terminal.run(folder, "plan", answer="y")
    assert "will ask again" in said


def test_symlinked_token_consent_file_is_ignored(
    folder: Path, host: RecordingHost, terminal: Terminal
) -> None:
    write(folder, configuration(host.url))
    terminal.run(folder, "plan", answer="y")
    (kept,) = [path for path in terminal.state.rglob("*") if path.is_file()]
    copy = folder / "answer"
    kept.rename(copy)
    kept.symlink_to(copy)
    host.requests.clear()
    code, said = terminal.run(folder, "plan", answer="n")
    assert (code, QUESTION in said, host.requests) == (4, True, [])
