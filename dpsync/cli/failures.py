"""Turn exceptions of an apply and of the client into findings (messages with a code) and an exit code.

Not in `exit_codes`, because this module loads the client, which many commands do not need.
"""

from __future__ import annotations

from typing import Final

import click

from dpsync.apply.journal import JournalFullError, LockedError, NoStateDirectoryError
from dpsync.apply.saved_plan import NotApprovedError, StaleStateError
from dpsync.cli.connection import Connection
from dpsync.client import errors
from dpsync.config.git import NoRepositoryError
from dpsync.model.diagnostic import Diagnostic, Exit
from dpsync.model.nodes import Span
from dpsync.model.refusals import LOCKED, NOT_APPROVED, STALE


def explain_error(error: Exception, connection: Connection | None) -> tuple[list[Diagnostic], Exit] | None:
    """Return the findings and the exit code for an exception; None for an internal error of dpsync.

    Raises UsageError if the address or the token cannot be used. `connection` is the server, for the
    messages.
    """
    match error:
        case StaleStateError():
            diagnostics = []
            for address, why in sorted(error.stale.items()):
                origin, span = error.origins.get(address), None
                if origin is not None:
                    line, column = origin.line, origin.column
                    span = Span(origin.file, line, column, line, column + 1)
                diagnostics.append(STALE.diagnostic(address, span, why=why))
            return diagnostics, STALE.exit
        case NotApprovedError():
            return [NOT_APPROVED.diagnostic(approved=error.approved, found=error.found)], NOT_APPROVED.exit
        case LockedError():
            return [LOCKED.diagnostic(organization=error.organization)], LOCKED.exit
        case NoStateDirectoryError():
            hint = "set XDG_STATE_HOME to a directory in which you can write"
            return [Diagnostic("state", str(error), hint=hint)], Exit.FAILED
        case JournalFullError():
            return [
                Diagnostic("journal", str(error), hint="check the disk space and the permissions of .dpsync")
            ], Exit.FAILED
        case NoRepositoryError():
            return [Diagnostic("git", str(error), hint=error.hint)], Exit.FAILED
        case errors.InvalidClientValueError():
            raise click.UsageError(malformed_message(error, connection)) from None
        case errors.ClientError():
            return [client_diagnostic(error, connection)], Exit.FAILED
    return None


OTHER_PLATFORM_HINT: Final = "check the URL of GitBook, and the API version (--profile)"


def malformed_message(error: errors.InvalidClientValueError, connection: Connection | None) -> str:
    """Return a sentence about a setting with an invalid value, with the name of the setting."""
    if error.part in ("proxy", "certificates"):
        return error.problem  # names the variable
    names = {"url": connection.url_from, "token": connection.token_from} if connection else {}
    return f"{names.get(error.part, error.part)} {error.problem}"


def client_diagnostic(error: errors.ClientError, connection: Connection | None) -> Diagnostic:
    """Return the finding about a failed request: what happened, at which URL and operation, what to do.

    `connection` is None if the server is not known; the finding then says "the platform".
    """
    operation = f"{error.method} {error.path}"
    url, url_from = (connection.url, connection.url_from) if connection else ("the platform", "its address")
    token_from = connection.token_from if connection else "the token"
    match error:
        case errors.NotSentError():
            proxy = error.route.proxy
            proxy_text = f" through the proxy {proxy.value} from {proxy.variable}" if proxy else ""
            message = f"dpsync cannot connect to {url}{proxy_text}: {error.explanation()}"
            return Diagnostic("unreachable", message, hint=_unreachable_hint(error, url_from))
        case errors.UnknownOutcomeError(reason="timeout"):
            hint = f"check {url_from}, or allow more time with --timeout SECONDS"
            return Diagnostic("timeout", f"{url}: {operation}: {error.describe()}", hint=hint)
        case errors.UnknownOutcomeError() if error.route.proxy:
            hint = f"check {error.route.proxy}, or exclude the host from the proxy with NO_PROXY"
            return Diagnostic("request", f"{url}: {operation}: {error.describe()}", hint=hint)
        case errors.UnknownOutcomeError():
            hint = f"check {url_from} and the network, then try again"
            return Diagnostic("request", f"{url}: {operation}: {error.describe()}", hint=hint)
        case errors.UnauthorizedError():
            hint = f"check {token_from}: the token may be revoked, or belong to another server"
            return Diagnostic(
                "unauthorized", f"GitBook did not accept the token (401): {operation}", hint=hint
            )
        case errors.ForbiddenError():
            hint = "use the token of a user with more rights"
            return Diagnostic(
                "forbidden",
                f"the user of the token is not allowed to send this request (403): {operation}",
                hint=hint,
            )
        case errors.NotFoundError() | errors.ServerFaultError(status=501):
            hint = OTHER_PLATFORM_HINT
            return Diagnostic("request", str(error), hint=hint)
        case errors.NotJsonError():
            hint = f"check {url_from}: the response may come from a login page or a proxy"
            message = (
                f"the response to {operation} does not come from the GitBook "
                f"API: {error.found} (status {error.status})"
            )
            return Diagnostic("not-json", message, hint=hint)
        case errors.UnexpectedResponseError():
            message = f"the response to {operation} is not as expected: {error.describe()}"
            hint = OTHER_PLATFORM_HINT
            return Diagnostic("bad-answer", message, hint=hint)
        case errors.InvalidListError():
            message = (
                f"the list of objects in the response to {operation} is incomplete or contradicts itself: "
                f"{error.fault} (page {error.page} of the list)"
            )
            return Diagnostic("bad-list", message, hint="try again")
        case errors.RateLimitedError():
            return Diagnostic(
                "rate-limited",
                f"GitBook demands a longer pause than dpsync accepts: {error}",
                hint="try again later",
            )
    return Diagnostic("request", str(error), hint="try again")


def _unreachable_hint(error: errors.NotSentError, url_from: str) -> str:
    """Return what to check if a request could not be sent, for example the proxy or the certificate."""
    proxy = error.route.proxy
    match error.reason:
        case "certificate":
            route, detail = error.route, error.detail.lower()
            if "expired" in detail or "not yet valid" in detail:
                return "the server needs a new certificate, or the clock of this machine is wrong"
            if "mismatch" in detail or "not valid for" in detail:
                return f"check {url_from}: the certificate belongs to another host name"
            if route.certificates:
                return f"add the certificate of the issuer to {route.certificates}"
            ignored = " or ".join(route.ignored_variables)
            return (
                "add the certificate of the issuer to the certificates of this machine, or to a file in "
                f"SSL_CERT_FILE{f'. dpsync does not read {ignored}' if ignored else ''}"
            )
        case "tls":
            return f"check {url_from}: the server may not support https"
        case "too long":
            return "an id from the server is too long. Check that the server provides the GitBook API"
        case "dns" if not proxy:
            return f"check the host name in {url_from}"
    if proxy:
        return f"check {proxy.variable}. To connect without the proxy, add the host to NO_PROXY"
    return f"check {url_from}, and check that the server is running"
