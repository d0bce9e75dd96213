"""What a command says when it ends otherwise than it should, and with which code: plain values."""

from __future__ import annotations

import json
import signal

import click
import pytest

from dpsync.apply.journal import JournalFullError, LockedError, NoStateDirectoryError
from dpsync.apply.saved_plan import NotApprovedError, StaleStateError
from dpsync.cli.applying import show_plan
from dpsync.cli.connection import Connection
from dpsync.cli.exit_codes import exit_on_errors
from dpsync.cli.failures import client_diagnostic, explain_error
from dpsync.cli.foreign_flags import check_foreign_flags, move_directory_flag
from dpsync.cli.main import root, run
from dpsync.cli.output import Output, make_output
from dpsync.cli.rehearsing import rehearsal_exit_code
from dpsync.cli.signals import EndedBySignal
from dpsync.client import errors
from dpsync.client.errors import ClientError, NotSentError, UnknownOutcomeError
from dpsync.client.proxy import Route, Setting
from dpsync.model.change import Blocked
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.plan import Origin, Plan, Rehearsal
from dpsync.model.question import Refusal

TO = Connection("https://p.example", "s3cret", "DPSYNC_URL", "DPSYNC_TOKEN")
PROXY = Route(proxy=Setting("HTTPS_PROXY", "http://proxy:3128"))
TRUST = Route(certificates=Setting("SSL_CERT_FILE", "/c.pem"))
UNREAD = Route(ignored_variables=("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"))


def not_sent(
    reason: errors.NotSentReason, detail: str = "", way: Route = errors.DEFAULT_ROUTE
) -> NotSentError:
    return NotSentError("GET", "/user", reason, detail, way)


def unknown(reason: errors.UnknownReason, way: Route = errors.DEFAULT_ROUTE) -> UnknownOutcomeError:
    return UnknownOutcomeError("GET", "/user", reason, route=way)


# Requests that failed.


@pytest.mark.parametrize(
    ("error", "code", "hint"),
    [
        (not_sent("refused"), "unreachable", "check DPSYNC_URL, and check that the server is running"),
        (not_sent("dns"), "unreachable", "check the host name in DPSYNC_URL"),
        (
            not_sent("dns", way=PROXY),
            "unreachable",
            "check HTTPS_PROXY. To connect without the proxy, add the host to NO_PROXY",
        ),
        (
            not_sent("refused", way=PROXY),
            "unreachable",
            "check HTTPS_PROXY. To connect without the proxy, add the host to NO_PROXY",
        ),
        (not_sent("tls"), "unreachable", "check DPSYNC_URL: the server may not support https"),
        (not_sent("too long"), "unreachable", "an id from the server is too long"),
        (not_sent("certificate", "it has EXPIRED"), "unreachable", "the clock of this machine is wrong"),
        (not_sent("certificate", "not yet valid"), "unreachable", "the clock of this machine is wrong"),
        (
            not_sent("certificate", "hostname mismatch"),
            "unreachable",
            "the certificate belongs to another host name",
        ),
        (
            not_sent("certificate", "not valid for 'x'"),
            "unreachable",
            "the certificate belongs to another host name",
        ),
        (
            not_sent("certificate", "self-signed", TRUST),
            "unreachable",
            "certificate of the issuer to SSL_CERT_FILE (/c.pem)",
        ),
        (not_sent("certificate", "self-signed"), "unreachable", "to a file in SSL_CERT_FILE"),
        (
            not_sent("certificate", "self-signed", UNREAD),
            "unreachable",
            "SSL_CERT_FILE. dpsync does not read REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE",
        ),
        (unknown("timeout"), "timeout", "allow more time with --timeout SECONDS"),
        (unknown("closed", PROXY), "request", "check HTTPS_PROXY (http://proxy:3128), or exclude the host"),
        (unknown("closed"), "request", "and the network, then try again"),
        (errors.UnauthorizedError("GET", "/user", 401, ""), "unauthorized", "check DPSYNC_TOKEN"),
        (
            errors.ForbiddenError("GET", "/user", 403, ""),
            "forbidden",
            "use the token of a user with more rights",
        ),
        (errors.NotFoundError("GET", "/user", 404, ""), "request", "the API version (--profile)"),
        (errors.ServerFaultError("GET", "/user", 501, ""), "request", "the API version (--profile)"),
        (errors.ServerFaultError("GET", "/user", 500, ""), "request", "try again"),
        (
            errors.NotJsonError("GET", "/user", 200, "text/html", "HTML"),
            "not-json",
            "may come from a login page or a proxy",
        ),
        (
            errors.UnexpectedResponseError("/user", "x", "1", "title", "a text", "7"),
            "bad-answer",
            "the API version (--profile)",
        ),
        (errors.InvalidListError("/user", "cursor repeated", 2), "bad-list", "try again"),
        (errors.RateLimitedError("GET", "/user"), "rate-limited", "try again later"),
    ],
)
def test_failed_request_has_code_and_hint(error: ClientError, code: str, hint: str) -> None:
    """Otherwise, the platform is blamed for what a proxy has done.

    Otherwise, that the platform has another edition of the API is told by nobody.
    Otherwise, an address that is right is called wrong, for a proxy that does not know it.
    Otherwise, the platform is blamed for a proxy that lets nothing through.
    Otherwise, whose certificate has expired is told to trust it.
    Otherwise, whoever has reached another host is told to trust it.
    Otherwise, a file of certificates that is read is told to be named.
    """
    found = client_diagnostic(error, TO)
    assert found.code == code
    assert hint in str(found.hint)
    assert "s3cret" not in f"{found.message} {found.hint}"


def test_connection_error_names_proxy_only_if_used() -> None:
    """Otherwise, where no proxy stands between a failed request ends in a mistake of dpsync's."""
    assert "through the proxy" in client_diagnostic(not_sent("refused", way=PROXY), TO).message
    assert "through the proxy" not in client_diagnostic(not_sent("refused"), TO).message


@pytest.mark.parametrize(
    ("error", "code", "exit_"),
    [
        (StaleStateError({"acme/teams/a": "it was renamed"}), "stale", Exit.REFUSED),
        (NotApprovedError("a", "b"), "not-approved", Exit.REFUSED),
        (LockedError("acme"), "locked", Exit.REFUSED),
        (NoStateDirectoryError("there is no home"), "state", Exit.FAILED),
        (JournalFullError("no room"), "journal", Exit.FAILED),
        (not_sent("refused"), "unreachable", Exit.FAILED),
    ],
)
def test_apply_start_error_has_diagnostic_and_exit_code(error: Exception, code: str, exit_: Exit) -> None:
    """Otherwise, a plan that is stale is told as a mistake of dpsync's, and not as refused.

    Otherwise, that another plan was approved is told as a mistake of dpsync's.
    Otherwise, that somebody else is applying is told as a mistake of dpsync's.
    Otherwise, a home that nobody may write to is told as a mistake of dpsync's.
    Otherwise, a disk without room is told as a mistake of dpsync's.
    """
    known = explain_error(error, TO)
    assert known is not None
    assert ([one.code for one in known[0]], known[1]) == ([code], exit_)


def test_stale_plan_error_shows_source_line_if_known() -> None:
    """Otherwise, what is stale and stands in no file ends in a mistake of dpsync's."""
    error = StaleStateError(
        {"acme/a": "so", "acme/b": "so"}, {"acme/a": Origin(file="f.yaml", line=3, column=2)}
    )
    known = explain_error(error, TO)
    assert known is not None
    assert [one.span and (one.span.file, one.span.line) for one in known[0]] == [("f.yaml", 3), None]


def test_malformed_connection_setting_is_usage_error() -> None:
    """Otherwise, an address that cannot be used is told as a request that failed."""
    for part, words in (
        ("url", "DPSYNC_URL is odd"), ("token", "DPSYNC_TOKEN is odd"), ("proxy", "^is odd"),
    ):  # fmt: skip
        with pytest.raises(click.UsageError, match=words):
            explain_error(errors.InvalidClientValueError(part, "is odd"), TO)


# How a command ends.


def out(format_: str = "text") -> Output:
    return make_output(format_, "never", 0, False)


def ended(error: Exception, format_: str = "text") -> int:
    with pytest.raises(click.exceptions.Exit) as end, exit_on_errors(out(format_), TO):
        raise error
    return end.value.exit_code


@pytest.fixture(autouse=True)
def no_debugging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DPSYNC_DEBUG", raising=False)


def test_internal_error_exits_1_without_details(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, nobody can find out where a mistake comes from.

    Otherwise, a mistake is told as lines of code, with values in them.
    """
    assert ended(KeyError("s3cret")) == Exit.FAILED
    said = capsys.readouterr().err
    assert "an internal error (KeyError)" in said
    assert "s3cret" not in said
    monkeypatch.setenv("DPSYNC_DEBUG", "1")
    with pytest.raises(KeyError), exit_on_errors(out()):
        raise KeyError


def test_diagnostic_error_prints_json_document_on_request(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Otherwise, what a program reads as a document is mixed with words, or missing."""
    wrong = DiagnosticError([Diagnostic("x", "it is odd")], Exit.INVALID)
    assert ended(wrong) == Exit.INVALID
    assert capsys.readouterr().out == ""
    assert ended(wrong, "json") == Exit.INVALID
    assert json.loads(capsys.readouterr().out)["exit"] == Exit.INVALID


@pytest.mark.parametrize(
    "error", [click.UsageError("x"), click.exceptions.Exit(2), click.Abort(), KeyboardInterrupt()]
)
def test_exit_and_usage_exceptions_pass_through_unchanged(error: BaseException) -> None:
    """Otherwise, a chosen exit code or a signal is reported as an internal error of dpsync."""
    with pytest.raises(type(error)), exit_on_errors(out()):
        raise error


@pytest.mark.parametrize(
    ("plan", "rehearsal", "code"),
    [
        (Plan(refusals=(Refusal(code="x", address="a", message="so", way_out="do it"),)), None, Exit.REFUSED),
        (Plan(), None, Exit.DONE),
        (Plan(blocked=(Blocked(address="a", reason="so"),)), None, Exit.PARTIAL),
    ],
)
def test_rehearse_exit_code_for_unrehearsed_plan(plan: Plan, rehearsal: Rehearsal | None, code: Exit) -> None:
    """Otherwise, a plan that may not be applied passes for one that was rehearsed.

    Otherwise, what is left to people is told as rehearsed.
    """
    assert rehearsal_exit_code(plan, rehearsal) is code


def test_apply_exits_1_when_plan_was_not_printed() -> None:
    """Otherwise, a plan that nobody could read is applied."""
    unseen = out()
    unseen.is_stdout_closed = True
    with pytest.raises(click.exceptions.Exit) as end:
        show_plan(unseen, Plan())
    assert end.value.exit_code == Exit.FAILED


# What people type who know other tools.


@pytest.mark.parametrize(
    ("typed", "use"),
    [
        (["apply", "-auto-approve"], "--yes"),
        (["apply", "--auto-approve"], "--yes"),
        (["plan", "-out=FILE"], "-o FILE"),
        (["plan", "--target=x"], "--select ADDRESS"),
        (["plan", "--json"], "--format json"),
        (["plan", "--var", "a=b\nc"], "an environment variable"),
    ],
)
def test_foreign_flag_error_suggests_dpsync_flag(typed: list[str], use: str) -> None:
    """Otherwise, `-out=FILE` of another tool writes the plan into a file `ut=FILE`."""
    with pytest.raises(click.UsageError, match=use):
        check_foreign_flags(typed)


@pytest.mark.parametrize(
    "typed", [["plan", "--out=FILE"], ["version", "--json"], ["plan", "--", "-target"], ["plan", "-o", "out"]]
)
def test_valid_flags_pass_foreign_flag_check(typed: list[str]) -> None:
    """Otherwise, a name that begins with a dash can be given to no command.

    Otherwise, the flags of this tool are refused.
    Otherwise, `version --json`, which programs ask for, is refused.
    """
    check_foreign_flags(typed)


def test_duplicate_directory_flag_is_rejected() -> None:
    """Otherwise, of two directories one is planned, and it is not said which."""
    with pytest.raises(click.UsageError, match="appears twice"):
        move_directory_flag(["-C", "a", "plan", "--directory=b"])


# The program.


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    """Return a list; the command raises the exception that the test puts into it."""
    raised: list[BaseException] = []

    def fail(**_: object) -> None:
        raise raised[0]

    monkeypatch.setattr(root, "main", fail)
    monkeypatch.setattr("dpsync.cli.output.redirect_stdout_to_null", lambda: None)
    return raised


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (click.UsageError("x"), Exit.USAGE),
        (click.ClickException("x"), Exit.FAILED),
        (KeyboardInterrupt(), Exit.INTERRUPTED),
        (click.Abort(), Exit.INTERRUPTED),
        (EndedBySignal(signal.SIGTERM), Exit.TERMINATED),
        (BrokenPipeError(), Exit.DONE),
        (OSError(28, "no room"), Exit.FAILED),
    ],
)
def test_exception_maps_to_exit_code(error: BaseException, code: Exit, stopped: list[BaseException]) -> None:
    """Otherwise, wrong usage ends with 2, which says that there are changes.

    Otherwise, a signal ends in lines of code.
    Otherwise, whoever reads only the first lines of a help text is told of a failure.
    Otherwise, a result without room is told as written.
    Otherwise, who has ended a run is told wrongly.
    """
    stopped.append(error)
    assert run(["version"]) == code


def test_usage_error_escapes_control_characters(
    stopped: list[BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise, a name in a file rewrites what the terminal shows."""
    stopped.append(click.UsageError("no such file: \x1b[31m‮"))
    run(["version"])
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert "‮" not in said
