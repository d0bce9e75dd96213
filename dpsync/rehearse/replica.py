"""Run the local server of a rehearsal in this process and in memory, with the data of the live organization.

No port is opened and no host is contacted: requests go to the application as values, in the thread of its
event loop. A path that the plan's token may not read stays refused, and a response that the data of the local
server cannot represent is returned as it was recorded.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from dpsync.client.platform import WORLD_HEADER
from dpsync.client.recording import Recording, filters_of
from dpsync.client.retry import Clock
from dpsync.client.transport import Request, Response, Stats
from dpsync.rehearse.world import World
from dpsync.rehearse.world_draft import Json

if TYPE_CHECKING:
    from dpsync.server.http.app import Companion
    from dpsync.server.store import Record

T = TypeVar("T")
_TIMEOUT_SECONDS = 600.0
"""Seconds after which a request counts as a fault of dpsync itself."""
_PLACEHOLDER_SPECIFICATION = (
    '{"openapi": "3.1.0", "info": {"title": "Placeholder: a rehearsal does not download the specification", '
    '"version": "0"}, "paths": {}}'
)


class Replica:
    """A local copy of GitBook for a rehearsal: `with Replica(world, profile, recording) as replica:`.

    It runs a local server in memory, with the data `world` and the API version `profile`. It is a transport
    for clients. `after_write` is called after each successful write, before the next one.
    """

    def __init__(self, world: World, profile: str, recording: Recording) -> None:
        self._world, self._profile, self._recording = world, profile, recording
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="rehearsal", daemon=True)
        self._write_lock = threading.Lock()
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._refused = {
            (answer.path, answer.filters) for answer in recording.joined_answers() if answer.status == 403
        }
        self._recorded_only = {(answer.path, answer.filters) for answer in world.unknown} | {("/user", ())}
        self._recorded_reads = {(answer.path, answer.filters) for answer in recording.joined_answers()}
        self._name = recording.header(WORLD_HEADER)
        self.initial_ids: set[str] = set()
        """The ids of all objects from before the rehearsal."""
        self.guessed_lists: set[str] = set()
        """Lists of what was there from the start that were read now, and not when the plan was made."""
        self.after_write: Callable[[Request], None] = lambda _: None
        self.fetched_urls: set[str] = set()
        """The addresses from which a real platform would have fetched a document."""

    def __enter__(self) -> Replica:
        self._thread.start()
        try:
            self.app = self._run_on_loop(self._open())
        except BaseException:
            self._end()
            raise
        self.initial_ids = {record.id for record in self.app.store.all_records()}
        return self

    def __exit__(self, *_: object) -> None:

        async def close_store() -> None:
            self.app.store.close()

        self._run_on_loop(close_store())
        self._end()

    def _end(self) -> None:
        """Stop the thread with the event loop."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()

    def __repr__(self) -> str:
        return "Replica()"

    async def _open(self) -> Companion:
        """Start the companion (the local server that imitates GitBook) with the data of the world.

        Raises NoCompanionError if packages of the companion are missing, and WorldLoadError if the companion
        refuses the data. Id counters start after the recorded ids, so that new objects get unused ids.
        """
        import logging

        from dpsync.server.extras import MissingPackageError, companion_packages

        try:
            with companion_packages():
                from dpsync.server.http.app import build_companion
                from dpsync.server.resources import RECORD_KINDS
                from dpsync.server.store import open_store
                from dpsync.server.world import describe_error, load_world
        except MissingPackageError as missing:
            raise NoCompanionError(str(missing)) from None

        logging.getLogger("dpsync.server").addHandler(logging.NullHandler())
        store = open_store(":memory:")
        try:
            load_world(store, self._world.data)
        except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise WorldLoadError(describe_error(error)) from None
        store.set_counters(_start_counters(store.all_records(), RECORD_KINDS.id_prefixes))
        return build_companion(
            store, profile=self._profile, outside_services=_outside_stand_in(self.fetched_urls)
        )

    def _run_on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the companion's event loop, and return its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=_TIMEOUT_SECONDS)

    # --- the transport --------------------------------------------------------------------------------

    def send(self, request: Request) -> Response:
        """Return the companion's response, or the recorded one if the companion's data cannot represent it.

        The companion is the local server that imitates GitBook. Reads that the token may not do (403) are
        also answered from the recording. Writes run one at a time, and `after_write` is called after each.
        """
        with self._lock:
            self._counts[request.method] += 1
        if request.method != "GET":
            with self._write_lock:
                answer = self._run_on_loop(self._answer(request))
                if answer.status < 300:
                    self.after_write(request)
            return answer
        read = (request.path, filters_of(request.query))
        if read in self._refused or read in self._recorded_only:
            recorded = self._recording.find_answer(request.path, request.query)
            if recorded is not None:
                return recorded
        if read not in self._recorded_reads:
            self._note_guess(request)
        return self._run_on_loop(self._answer(request))

    def close(self) -> None:
        """Do nothing, because a client of a rehearsal ends before the replica does."""

    def stats(self) -> Stats:
        with self._lock:
            return Stats(self._counts.total(), dict(self._counts))

    def _note_guess(self, request: Request) -> None:
        """Add the path of a read to `guessed_lists`, if it reads a list in an object that existed before.

        The plan did not read this list, so the companion (the local server) serves it as empty. That may be
        wrong, so the rehearsal reports it. A path such as `/spaces/{id}/comments` reads a list.
        """
        path = f"/v1{request.path}"
        operation, segments = self.app.find_operation({"type": "http", "method": "GET", "path": path,
                                                       "raw_path": path.encode(), "headers": []})  # fmt: skip
        template = operation.path.strip("/").split("/") if operation is not None else []
        ids = [segment for name, segment in zip(template, segments[1:], strict=False) if name.startswith("{")]
        if template and not template[-1].startswith("{") and ids and self.initial_ids.issuperset(ids):
            with self._lock:
                self.guessed_lists.add(request.path)

    async def _answer(self, request: Request) -> Response:
        """Call the companion (the local server, an ASGI application) with a request, without a network.

        A response to a read has the world name that the recording has, and not that of the new companion:
        otherwise the client would take the replica for another platform than the one of the plan.
        """
        path = f"/v1{request.path}"
        headers = [(b"host", b"rehearsal"), (b"authorization", f"Bearer {self._world.token}".encode())]
        if request.body is not None:
            headers.append((b"content-type", b"application/json"))
            headers.append((b"content-length", str(len(request.body)).encode()))
        scope = {
            "type": "http", "http_version": "1.1", "method": request.method, "scheme": "https",
            "path": unquote(path), "raw_path": path.encode(), "query_string": request.query.encode(),
            "headers": headers, "server": ("rehearsal", 443), "client": ("rehearsal", 0),
        }  # fmt: skip
        sent: list[MutableMapping[str, Any]] = []

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": request.body or b"", "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        head, *parts = sent
        headers_out = {name.decode().lower(): value.decode() for name, value in head["headers"]}
        headers_out.pop(WORLD_HEADER, None)
        if self._name is not None and request.method == "GET":
            headers_out[WORLD_HEADER] = self._name
        return Response(head["status"], headers_out, b"".join(part.get("body", b"") for part in parts))

    # --- its state ------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Let the companion finish its background work."""
        self._run_on_loop(self.app.wait_for_jobs())

    def sites(self, ids: set[str] | None = None) -> list[Json]:
        """Return the sites with everything in them, or only the sites with these `ids`.

        They have the form of a world: the data file from which the companion (the local server) starts.
        """

        async def dump_sites() -> list[Json]:
            from dpsync.server.records.world_sections import WorldDumper
            from dpsync.server.resources import RECORD_KINDS

            dumper = WorldDumper(self.app.store, RECORD_KINDS.world_sections)
            records = self.app.store.find("site")
            return [
                {"id": site.id, **site.doc, **dumper.dump_children(site)}
                for site in records
                if ids is None or site.id in ids
            ]

        return self._run_on_loop(dump_sites())

    def specifications(self) -> list[Json]:
        """Return the OpenAPI specifications as the companion stores them."""

        async def read_specifications() -> list[Json]:
            return [{"slug": record.ref, **record.doc} for record in self.app.store.find("openapi-spec")]

        return self._run_on_loop(read_specifications())

    def count_objects(self) -> Counter[tuple[str, str]]:
        """Return the number of objects by (kind, id), to compare two rehearsals of the same plan.

        Objects that are new in the rehearsal count under the id "", because their ids differ between runs.
        """

        async def count_records() -> Counter[tuple[str, str]]:
            records = (
                record for record in self.app.store.all_records() if record.kind not in _TEMPORARY_KINDS
            )
            return Counter(
                (record.kind, record.id if record.id in self.initial_ids else "") for record in records
            )

        return self._run_on_loop(count_records())


_TEMPORARY_KINDS = {
    "audit-event",
    "job",
    "event",
    "waiting-event",
    "revision",
    "openapi-version",
    "deleted-space",
}
"""Kinds of records of which a repeated request may leave one more. They are not objects of the platform."""


def _start_counters(records: Iterable[Record], prefixes: Mapping[str, str]) -> dict[str, int]:
    """Return the highest number in the recorded ids of each kind, to start the companion's id counters.

    So no new object gets a recorded id. Ids have the form `PREFIX-NUMBER`, with a prefix for each kind.
    """
    last: dict[str, int] = {}
    for record in records:
        kind = record.kind.removeprefix("deleted-")
        prefix, _, number = record.id.rpartition("-")
        if prefixes.get(kind) == prefix and number.isdecimal():
            last[kind] = max(last.get(kind, 0), int(number))
    return last


def check_world(data: Json) -> None:
    """Check that the companion (the local server that imitates GitBook) can load a world (its data).

    Raises NoCompanionError if packages of it are missing, and WorldLoadError if it rejects the data.
    """
    from dpsync.server.extras import MissingPackageError, companion_packages

    try:
        with companion_packages():
            from dpsync.server.store import open_store
            from dpsync.server.world import describe_error, load_world
    except MissingPackageError as missing:
        raise NoCompanionError(str(missing)) from None
    store = open_store(":memory:")
    try:
        load_world(store, data)
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as wrong:
        raise WorldLoadError(describe_error(wrong)) from None
    finally:
        store.close()


class NoCompanionError(Exception):
    """The companion is not installed. The message names the missing package."""


class WorldLoadError(Exception):
    """The companion rejects the platform's data. The message has the reason."""


class InstantClock(Clock):
    """A clock for clients of a replica that never waits.

    A wait lets the companion finish its work, and moves the clock forward.
    """

    def __init__(self, replica: Replica) -> None:
        self._replica = replica
        self._waited = 0.0

    def now(self) -> float:
        """Return the time in seconds, including the skipped waits."""
        return super().now() + self._waited

    def wait(self, seconds: float, cancelled: threading.Event) -> None:
        """Let the companion finish its work instead of waiting."""
        del cancelled
        self._waited += seconds
        self._replica.finish()


def _outside_stand_in(fetched: set[str]) -> Any:
    """Return an `OutsideServices` that contacts no host, and adds the URLs that it should fetch to `fetched`.

    It returns a placeholder for each OpenAPI specification. Used instead of real downloads in a rehearsal.
    """
    from dpsync.server.jobs.outside_services import OutsideServices

    class NoOutsideServices(OutsideServices):
        async def fetch(self, url: str) -> str:
            fetched.add(url)
            return _PLACEHOLDER_SPECIFICATION

        async def post(self, url: str, content: bytes) -> int:
            del url, content
            return 200

    return NoOutsideServices()
