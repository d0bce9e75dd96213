"""The companion against two servers that people mock APIs with: moto_server and Prism. Ratios of one run.

    python -m benchmarks.server --moto PATH/moto_server --prism PATH/prism [--seconds 3] [--rounds 3]

Both are found on PATH when nothing is said (`pip install 'moto[server]'`, `npm install
@stoplight/prism-cli`), and so is `wrk`, which makes the load. All servers run on this machine in one run,
each with its own defaults; rounds are interleaved, and what is printed are medians.

get: one object of about 1 KB. list: 100 of them. patch: one changed. moto serves S3 for this (get, list and
put of objects), Prism the companion's own OpenAPI document, with the companion's answers as its examples, so
that it has nothing to make up. start-up: from the start of the process to the first good answer. reset: back
to the state at the start; Prism has no state.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

TOKEN = "ada-token"  # noqa: S105  (of the world below, and of nothing else)
JSON = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/s3/aws4_request, Signature=x"}
LISTED = 100


@dataclass(frozen=True)
class Load:
    """One kind of request."""

    method: str
    path: str
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Server:
    """How one is started, found to be ready, filled, asked and reset."""

    name: str
    command: Callable[[int], list[str]]
    ready: Load
    loads: Mapping[str, Load]
    fill: Callable[[str], None] = lambda _url: None
    reset: Load | None = None


def world() -> dict[str, Any]:
    """Return an organization with as many spaces as a list shows, each about 1 KB in an answer."""
    return {
        "users": [{"id": "ada", "displayName": "Ada", "email": "ada@acme.example"}],
        "tokens": {TOKEN: "ada"},
        "organizations": [
            {
                "id": "acme",
                "title": "Acme",
                "members": [{"user": "ada", "role": "admin"}],
                "spaces": [
                    {"id": f"space{n}", "title": f"Space {n}", "language": "en"} for n in range(LISTED)
                ],
            }
        ],
    }


def companion(directory: Path) -> Server:
    start = directory / "world.json"
    start.write_text(json.dumps(world()), encoding="utf-8")

    def command(port: int) -> list[str]:
        return [sys.executable, "-m", "dpsync", "serve", "--port", str(port), "--world", str(start)]

    one = Load("GET", "/v1/spaces/space7", headers=JSON)
    return Server(
        "dpsync",
        command,
        one,
        {
            "get": one,
            "list": Load("GET", f"/v1/orgs/acme/spaces?limit={LISTED}", headers=JSON),
            "patch": Load("PATCH", "/v1/spaces/space7", json.dumps({"title": "Changed"}), JSON),
        },
        reset=Load("POST", "/_dpsync/reset", headers=JSON),
    )


def moto(program: str) -> Server:
    body = "x" * 1024

    def fill(url: str) -> None:
        with httpx.Client(base_url=url, trust_env=False, headers=SIGNED) as http:
            http.put("/bucket").raise_for_status()
            for number in range(LISTED):
                http.put(f"/bucket/object{number}", content=body).raise_for_status()

    return Server(
        "moto",
        lambda port: [program, "-H", "127.0.0.1", "-p", str(port)],
        Load("GET", "/", headers=SIGNED),
        {
            "get": Load("GET", "/bucket/object7", headers=SIGNED),
            "list": Load("GET", f"/bucket?list-type=2&max-keys={LISTED}", headers=SIGNED),
            "patch": Load("PUT", "/bucket/object7", body, SIGNED),
        },
        fill,
        Load("POST", "/moto-api/reset"),
    )


def prism(program: str, directory: Path, examples: Mapping[str, Any], document: dict[str, Any]) -> Server:
    for (path, method), example in {
        ("/spaces/{spaceId}", "get"): examples["get"],
        ("/orgs/{organizationId}/spaces", "get"): examples["list"],
        ("/spaces/{spaceId}", "patch"): examples["get"],
    }.items():
        full = path if path in document["paths"] else f"/v1{path}"
        content = document["paths"][full][method]["responses"]["200"]["content"]["application/json"]
        content["example"] = example
    prefix = "/v1" if "/v1/spaces/{spaceId}" in document["paths"] else ""
    document["servers"] = [{"url": "http://127.0.0.1"}]
    file = directory / "openapi.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    one = Load("GET", f"{prefix}/spaces/space7", headers=JSON)
    return Server(
        "prism",
        lambda port: [program, "mock", "-h", "127.0.0.1", "-p", str(port), str(file)],
        one,
        {
            "get": one,
            "list": Load("GET", f"{prefix}/orgs/acme/spaces?limit={LISTED}", headers=JSON),
            "patch": Load("PATCH", f"{prefix}/spaces/space7", json.dumps({"title": "Changed"}), JSON),
        },
    )


# --- running ----------------------------------------------------------------------------------------


@dataclass
class Running:
    process: subprocess.Popen[bytes]
    url: str
    seconds: float


@contextmanager
def running(server: Server) -> Iterator[Running]:
    """Start a server, wait until it is ready, and yield it with its start-up time."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.perf_counter()
    process = subprocess.Popen(
        server.command(port),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "LOG_LEVEL": "warn"},
    )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_ready(server, url, process)
        yield Running(process, url, time.perf_counter() - began)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_until_ready(server: Server, url: str, process: subprocess.Popen[bytes]) -> None:
    with httpx.Client(base_url=url, trust_env=False, timeout=30) as http:
        while True:
            if process.poll() is not None:
                raise SystemExit(f"{server.name} ended with {process.returncode}: {server.command(0)}")
            try:
                if ask(http, server.ready).is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.01)


def ask(http: httpx.Client, load: Load) -> httpx.Response:
    return http.request(load.method, load.path, content=load.body or None, headers=dict(load.headers))


def throughput(url: str, load: Load, seconds: float) -> float:
    """Good requests per second over 16 connections."""
    with httpx.Client(base_url=url, trust_env=False, timeout=30) as http:
        ask(http, load).raise_for_status()
    script = f'wrk.method = "{load.method}"\n'
    if load.body:
        script += f"wrk.body = {lua(load.body)}\n"
    script += "".join(f"wrk.headers[{lua(name)}] = {lua(value)}\n" for name, value in load.headers.items())
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(script)
        file.flush()
        output = subprocess.run(
            ["wrk", "-t1", "-c16", f"-d{seconds}s", "-s", file.name, url + load.path],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    if "Non-2xx" in output:
        raise SystemExit(f"{load.method} {load.path}: not all answers were good\n{output}")
    return float(re.search(r"Requests/sec:\s+([\d.]+)", output).group(1))  # type: ignore[union-attr]


def lua(text: str) -> str:
    """Return a Lua string literal. JSON's escapes of quotes and backslashes are valid in Lua, too."""
    return json.dumps(text, ensure_ascii=False)


def resident(process: subprocess.Popen[bytes]) -> float:
    """MB of all processes of the server."""
    pages = 0
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.getsid(int(entry.name)) == process.pid:
                pages += int((entry / "statm").read_text().split()[1])
        except OSError:
            continue
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def reset_time(url: str, load: Load) -> float:
    with httpx.Client(base_url=url, trust_env=False, timeout=30) as http:
        began = time.perf_counter()
        ask(http, load).raise_for_status()
        return time.perf_counter() - began


def measure(servers: list[Server], seconds: float, rounds: int) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, list[float]]] = {server.name: {} for server in servers}

    def note(server: Server, what: str, value: float) -> None:
        found[server.name].setdefault(what, []).append(value)

    for _ in range(rounds):
        for server in servers:
            with running(server) as started:
                note(server, "start-up", started.seconds)
                server.fill(started.url)
                for what, load in server.loads.items():
                    note(server, what, throughput(started.url, load, seconds))
                note(server, "resident", resident(started.process))
                if server.reset:
                    note(server, "reset", reset_time(started.url, server.reset))
    return {
        name: {what: statistics.median(values) for what, values in measured.items()}
        for name, measured in found.items()
    }


def examples_of(server: Server) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the companion's answers to the reading loads, and its OpenAPI document."""
    with running(server) as started, httpx.Client(base_url=started.url, trust_env=False) as http:
        answers = {what: ask(http, load).json() for what, load in server.loads.items() if what != "patch"}
        return answers, http.get("/v1/openapi.json").json()


# --- the report -------------------------------------------------------------------------------------

TARGETS = (
    ("get", "moto", 10.0),
    ("get", "prism", 10.0),
    ("list", "moto", 4.0),
    ("list", "prism", 3.0),
    ("start-up", "moto", 3.0),
    ("start-up", "prism", 3.0),
)
"""How many times better the companion must be: more requests, or less time."""


def ratio(measured: Mapping[str, Mapping[str, float]], what: str, peer: str) -> float:
    ours, theirs = measured["dpsync"][what], measured[peer][what]
    return theirs / ours if what in ("start-up", "resident", "reset") else ours / theirs


def report(measured: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Print the table and return the missed targets."""
    names = list(measured)
    print(
        f"{'':10}" + "".join(f"{name:>12}" for name in names) + "".join(f"{'× ' + n:>10}" for n in names[1:])
    )
    units = {"start-up": "s", "resident": "MB", "reset": "s"}
    for what in ("get", "list", "patch", "start-up", "resident", "reset"):
        row = f"{what:10}"
        for name in names:
            value = measured[name].get(what)
            row += f"{'–' if value is None else f'{value:,.3g} ' + units.get(what, '/s'):>12}"
        for name in names[1:]:
            row += f"{f'{ratio(measured, what, name):.1f}' if what in measured[name] else '–':>10}"
        print(row)
    return [
        f"{what}: {ratio(measured, what, peer):.1f} times {peer}, not {least:g}"
        for what, peer, least in TARGETS
        if ratio(measured, what, peer) < least
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="The companion against moto_server and Prism.")
    parser.add_argument("--moto", default=shutil.which("moto_server"))
    parser.add_argument("--prism", default=shutil.which("prism"))
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for name in ("moto", "prism"):
        if getattr(given, name) is None:
            sys.exit(f"{name} is not on PATH: say where it is with --{name}")
    if shutil.which("wrk") is None:
        sys.exit("wrk is not on PATH: apt-get install wrk")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        ours = companion(directory)
        examples, document = examples_of(ours)
        servers = [ours, moto(given.moto), prism(given.prism, directory, examples, document)]
        missed = report(measure(servers, given.seconds, given.rounds))
    for line in missed:
        print(f"missed: {line}")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
