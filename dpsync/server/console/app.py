"""Serve the console (the web page of the local server) as an ASGI application around the control plane.

The control plane has the operations that control the local server. The console answers only requests that the
control plane accepts too, by the same check of peer, `Host`, `Origin` and `Sec-Fetch-Site`. All other
requests, and all other paths, go to the control plane.
"""

import base64
import hashlib
import logging
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from markupsafe import Markup
from pydantic import ValidationError
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from dpsync import __version__

from ..control.faults import FaultSchedule, format_validation_error
from ..control.plane import ControlPlane
from ..control.request_guard import from_this_machine
from ..control.request_log import LoggedRequest
from ..errors import ApiError
from ..http.request_parsing import raw_path, read_body
from ..records.world_origin import load_origin
from ..store import StoreError
from . import resources, switches, tree
from .plan_runner import PlanOutput, PlanProgram, PlanRunner
from .safe_text import escape_invisible, mask_query

PAGES_PREFIX = "/_dpsync/page/"
_API_PREFIX = f"{PAGES_PREFIX}api"
_MAX_REQUESTS_SHOWN = 300
"""The maximum number of logged requests that a page shows."""
_MAX_UNFOLDED_LINES = 40
"""The maximum length of a list that is unfolded when the page opens."""
_CSP_DENY_ALL = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
_log = logging.getLogger("dpsync.server")

if TYPE_CHECKING:
    from jinja2 import Environment

PageHandler = Callable[[Request], Awaitable[Response]]


class Console:
    """An ASGI application around a control plane. `program` prints the plan of a directory."""

    def __init__(self, plane: ControlPlane, program: PlanProgram | None = None) -> None:
        self.plane = plane
        self.gateway = plane.gateway
        self._companion = plane.companion
        self._store = plane.store
        self._planner = PlanRunner(program) if program else None
        self._handlers: dict[tuple[str, str], PageHandler] = {
            ("GET", "/"): self._organization_page,
            ("GET", f"{PAGES_PREFIX}requests"): self._requests_page,
            ("GET", f"{PAGES_PREFIX}requests.json"): self._new_requests,
            ("POST", f"{PAGES_PREFIX}requests/clear"): self._clear_requests,
            ("GET", f"{PAGES_PREFIX}switches"): self._switches_page,
            ("POST", f"{PAGES_PREFIX}switches/flip"): self._toggle_switch,
            ("POST", f"{PAGES_PREFIX}switches/add"): self._add_fault,
            ("POST", f"{PAGES_PREFIX}switches/remove"): self._remove_rule,
            ("POST", f"{PAGES_PREFIX}switches/clock"): self._set_clock,
            ("POST", f"{PAGES_PREFIX}switches/reset"): self._reset_world,
            ("GET", f"{PAGES_PREFIX}plan"): self._plan_page,
            ("GET", f"{PAGES_PREFIX}plan/report"): self._plan_report,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer requests for console pages from this machine. Pass all others to the control plane."""
        # The console only reads `/`: the API answers a write to `/`.
        is_for_console = scope["type"] == "http" and (
            (scope["path"] == "/" and scope["method"] in ("GET", "HEAD"))
            or scope["path"].startswith(PAGES_PREFIX)
        )
        if not is_for_console or not from_this_machine(Request(scope)):
            await self.plane(scope, receive, send)
            return
        try:
            response = await self._dispatch(Request(scope, receive))
        except StoreError as error:
            _log.error("%s %s: %s", scope["method"], scope["path"], error)
            response = self._error_page(503, "The database is unavailable: see the log of the local server.")
        except ApiError as error:
            response = self._error_page(error.status, error.message)
        await response(scope, receive, send)

    def shut_down(self) -> None:
        """End all requests and plans in progress, because the local server stops."""
        self.gateway.cancel_waits()
        if self._planner:
            self._planner.stop()

    async def _dispatch(self, request: Request) -> Response:
        """Return the page for a request: of an API resource if the path has the prefix, or of a handler."""
        method = "GET" if request.method == "HEAD" else request.method
        path = request.url.path
        if path.startswith(f"{_API_PREFIX}/v1/") and method == "GET":
            return await self._resource_page(request)
        page = self._handlers.get((method, path))
        if page is None:
            return self._error_page(404, f"The page {path} does not exist.")
        return await page(request)

    # --- what is there ----------------------------------------------------------------------------------

    async def _organization_page(self, request: Request) -> Response:
        """Return the page of an organization: the one in the query, or else the first one."""
        with self._store.read_transaction():
            organizations = tree.organization_titles(self._store)
            chosen = request.query_params.get("organization") or (
                organizations[0][0] if organizations else ""
            )
            organization = tree.load_organization_tree(self._store, chosen)
        if organization is None and organizations:
            return self._error_page(404, f"The organization {chosen} does not exist.")
        return self._render_page(
            "organization", known=organizations, one=organization, listed=_MAX_UNFOLDED_LINES
        )

    async def _resource_page(self, request: Request) -> Response:
        """Return the page of a resource: the path after the console's API prefix is a path of the API."""
        raw = raw_path(request.scope).split(b"?")[0].removeprefix(_API_PREFIX.encode())
        resource = await resources.read_resource(
            self._companion, request.scope, raw, request.scope["query_string"]
        )
        return self._render_page("resource", found=resource, status=200 if resource.operation else 404)

    # --- what was asked ---------------------------------------------------------------------------------

    async def _requests_page(self, request: Request) -> Response:
        """Return the page of the most recent logged requests, the newest first."""
        del request
        log = self.gateway.log
        entries = list(log.entries)[-_MAX_REQUESTS_SHOWN:]
        first_number = log.dropped + len(log.entries) - len(entries) + 1
        rows = [_request_row(number, entry) for number, entry in enumerate(entries, first_number)]
        return self._render_page(
            "requests", rows=rows[::-1], alone=self.plane.single_process, most=_MAX_REQUESTS_SHOWN,
            cleared=log.clear_count,
            last=first_number + len(entries) - 1,
        )  # fmt: skip

    async def _new_requests(self, request: Request) -> Response:
        """Return the requests that were logged after the last one on the page, as JSON for its script.

        The query has the number of that request (`after`), and how often the log was cleared (`cleared`): if
        that differs, all requests are new.
        """
        log = self.gateway.log
        after, cleared = (request.query_params.get(name, "0") for name in ("after", "cleared"))
        last_number = log.dropped + len(log.entries)
        last_shown = (
            int(after) if after.isdecimal() and len(after) < 16 and cleared == str(log.clear_count) else 0
        )
        new_count = min(max(0, last_number - last_shown), _MAX_REQUESTS_SHOWN)
        entries = list(log.entries)[len(log.entries) - new_count :]
        rows = [
            _request_row(number, entry) for number, entry in enumerate(entries, last_number - new_count + 1)
        ]
        answer = {"last": last_number, "cleared": log.clear_count, "rows": rows}
        return _response(to_json(answer), "application/json", _CSP_DENY_ALL)

    async def _clear_requests(self, request: Request) -> Response:
        """Clear the request log."""
        await _read_form(request)
        self.gateway.log.clear()
        return _redirect_to(f"{PAGES_PREFIX}requests")

    # --- switches ---------------------------------------------------------------------------------------

    async def _switches_page(self, request: Request, error: str = "", status: int = 200) -> Response:
        """Return the page with fault presets, custom rules and the clock. `error` is shown at the top."""
        del request
        schedule, clock = self.gateway.faults, self.plane.get_clock(None)
        return self._render_page(
            "switches", status=status, wrong=error, alone=self.plane.single_process, clock=clock,
            switches=switches.list_switches(schedule), others=switches.list_custom_rules(schedule),
            presets=switches.PRESETS, often=switches.FREQUENCIES, ahead=switches.CLOCK_STEPS,
            operations=sorted(self._companion.operation_ids),
        )  # fmt: skip

    async def _toggle_switch(self, request: Request) -> Response:
        """Turn a fault preset on or off."""
        form = await _read_form(request)
        return await self._run_action(
            request, lambda: switches.toggle_preset(self._fault_schedule(), form.get("name", ""))
        )

    async def _add_fault(self, request: Request) -> Response:
        """Add a fault rule for one operation, as chosen in the form."""
        form = await _read_form(request)
        arguments = (form.get(name, "") for name in ("operation", "fault", "often"))
        return await self._run_action(request, lambda: switches.add_rule(self._fault_schedule(), *arguments))

    async def _remove_rule(self, request: Request) -> Response:
        """Remove a fault rule."""
        form = await _read_form(request)
        return await self._run_action(
            request, lambda: switches.remove_rule(self._fault_schedule(), form.get("rule", ""))
        )

    def _fault_schedule(self) -> FaultSchedule:
        """Return the fault schedule.

        Raise ValueError if several processes serve, because each has its own.
        """
        if not self.plane.single_process:
            raise ValueError("faults need a single server process: start the local server with --workers 1")
        return self.gateway.faults

    async def _set_clock(self, request: Request) -> Response:
        """Freeze the clock, return to real time, set a time, or advance the clock by a step of the form."""
        form = await _read_form(request)
        match form.get("do"):
            case "freeze":
                setting: dict[str, Any] = {"frozen": self.plane.get_clock(None)["now"]}
            case "real":
                setting = {"real": True}
            case "at":
                setting = {"frozen": f"{form.get('at', '')}{'Z' if form.get('at') else ''}"}
            case step:
                setting = {"advance": switches.CLOCK_STEPS.get(step or "", ("", 0))[1]}
        return await self._run_action(request, lambda: self.plane.set_clock(setting))

    async def _reset_world(self, request: Request) -> Response:
        """Reset all data to those with which the server started (its world), if the form confirms it."""
        form = await _read_form(request)
        if form.get("sure") != "yes":
            return await self._switches_page(
                request, "Nothing was reset. Confirm that you want to lose all changes.", 400
            )
        return await self._run_action(request, lambda: self.plane.reset(None))

    async def _run_action(self, request: Request, action: Callable[[], object]) -> Response:
        """Call `action` and redirect to the page of switches, or show that page with the error."""
        try:
            action()
        except ValidationError as error:
            return await self._switches_page(request, format_validation_error(error, "the form"), 400)
        except ApiError as error:
            return await self._switches_page(request, error.message, 400)
        except ValueError as error:
            return await self._switches_page(request, str(error), 400)
        return _redirect_to(f"{PAGES_PREFIX}switches")

    # --- the plan ---------------------------------------------------------------------------------------

    async def _plan_page(self, request: Request) -> Response:
        """Return the page that embeds the plan, if a program prints plans."""
        del request
        return self._render_page("plan", program=self._planner.program if self._planner else None)

    async def _plan_report(self, request: Request) -> Response:
        """Return the page that the program printed.

        The sandbox policy gives the page an origin of its own, so that no script of the page can use a
        switch.
        """
        admins = resources.list_admins(self._store)
        if self._planner is None or not admins:
            why = (
                "Start the local server with --plan DIRECTORY to see a plan."
                if admins
                else "No organization has an admin, and a plan needs the token of an admin."
            )
            return self._error_page(404, why)
        output: PlanOutput = await self._planner.run(self._store, admins[0], _server_url(request.scope))
        if not output.html.lstrip().lower().startswith("<!doctype html"):
            return self._render_page("unplanned", planned=output, status=200)
        policy = "sandbox allow-scripts; frame-ancestors 'self'"
        return _response(output.html.encode(), "text/html; charset=utf-8", policy)

    # --- how a page is made -----------------------------------------------------------------------------

    def _render_page(self, name: str, *, status: int = 200, **values: Any) -> Response:
        """Return a page from the template `NAME.html`. Its policy allows only the own style and script."""
        origin = load_origin(self._store)
        common_values = {
            "page": name, "pages": PAGES_PREFIX, "api": _API_PREFIX,
            "banner": origin.notice if origin is not None else "",
            "version": __version__, "profile": self._companion.profile, "plan_is_there": self._planner,
        }  # fmt: skip
        text = _templates().get_template(f"{name}.html").render({**common_values, **values})
        policy = (
            f"default-src 'none'; style-src '{_csp_hash('page.css')}'; script-src '{_csp_hash('page.js')}'; "
            "connect-src 'self'; img-src data:; frame-src 'self'; form-action 'self'; base-uri 'none'; "
            "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        )
        return _response(text.encode(), "text/html; charset=utf-8", policy, status)

    def _error_page(self, status: int, why: str) -> Response:
        """Return a page that shows an error, as plain text if the database is unavailable."""
        try:
            return self._render_page("trouble", status=status, why=why)
        except StoreError:  # each page shows a banner that is in the database
            return Response(why, status, media_type="text/plain")


def _server_url(scope: Scope) -> str:
    """Return the address at which the local server received the request.

    The `Host` header may name a forwarded port, which has another address outside.
    """
    host, port = scope["server"]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _request_row(number: int, entry: LoggedRequest) -> dict[str, Any]:
    """Return a logged request as the page shows it, without secrets."""
    query = f"?{mask_query(entry.query)}" if entry.query else ""
    status = entry.status
    return {
        "number": number,
        "method": escape_invisible(entry.method),
        "path": escape_invisible(f"{entry.path}{query}"),
        "operation": entry.operation or "",
        "caller": escape_invisible(entry.caller) or "unknown",
        "status": "no response" if status is None else str(status),
        "failed": status is None or status >= 400,
        "ms": f"{entry.ms:.1f}",
        "fault": entry.fault or "",
    }


async def _read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form, each once. Raise ApiError 415 if the request is not a form.

    Every handler that changes state reads the form, and so refuses all other requests.
    """
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/x-www-form-urlencoded":
        raise ApiError(415, "This request must come from a form of this page.")
    fields = parse_qs((await read_body(request)).decode("latin-1"), keep_blank_values=True, max_num_fields=20)
    return {name: values[0] for name, values in fields.items()}


def _redirect_to(path: str) -> Response:
    """Return a redirect that the browser follows with GET."""
    return _response(b"", "text/plain", _CSP_DENY_ALL, 303, {"location": path})


def _response(
    content: bytes,
    content_type: str,
    policy: str,
    status: int = 200,
    extra_headers: dict[str, str] | None = None,
) -> Response:
    """Return a response with the security headers of the console and the given content security policy."""
    headers = {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",  # without a referrer, forms of this page would send no Origin
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
        **(extra_headers or {}),
    }
    return Response(content, status, headers, content_type)


@cache
def _templates() -> "Environment":
    """Return the template environment.

    It escapes each value, shows invisible characters, and raises an error for a missing value.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined  # slow to import, and rarely needed

    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=escape_invisible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["style"] = Markup(_read_asset("page.css"))  # noqa: S704
    environment.globals["script"] = Markup(_read_asset("page.js"))  # noqa: S704
    return environment


@cache
def _read_asset(name: str) -> str:
    """Return the text of a file in the directory of the templates."""
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def _csp_hash(name: str) -> str:
    """Return the hash of a style or script with which the content security policy allows it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(_read_asset(name).encode()).digest()).decode()}"
