"""The benchmarks run, and measure what they say; with sizes too small to mean anything."""

from __future__ import annotations

import json
import subprocess
import sys
from math import ceil
from pathlib import Path

import pytest
import yaml

from benchmarks import (
    applies,
    companion,
    imports,
    octodns,
    organization,
    plans,
    reader,
    reads,
    server,
    slopes,
    start,
)
from benchmarks.shapes import SHAPES
from dpsync.api import Session, load_registry
from dpsync.client.client import ReadClient
from dpsync.config.load import load
from dpsync.server.process.threaded_server import ThreadedServer

from .examples import REGISTRY
from .markdown import ROOT


def run(*arguments: str) -> str:
    return run_python("-m", *arguments)


def run_python(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def test_reader_benchmark_compares_all_readers() -> None:
    first, _, *rows = run("benchmarks.reader", "--resources", "60", "--rounds", "1").splitlines()
    assert first.startswith("60 resources, ")
    assert [row[:34].strip() for row in rows] == list(reader.READERS.values())
    assert all(float(cell) > 0 for row in rows for cell in row[34:].replace(",", "").split())


def test_live_read_benchmark_counts_requests() -> None:
    head, *rows = run("benchmarks.reads", "--sizes", "5").splitlines()
    assert [int(cell) for row in rows for cell in row.split()] == [5, 1, 1, 1, 9, 9, 7]
    assert head.split()[-1] == "changes"


@pytest.mark.parametrize("resources", [1, 200, 1000])
def test_benchmark_configuration_is_valid_with_requested_size(resources: int, tmp_path: Path) -> None:
    root = tmp_path / "dpsync.yaml"
    root.write_text("".join(reader.configuration(resources)), encoding="utf-8")
    desired, found = load(root, REGISTRY, {})
    assert not found
    assert abs(len(desired.entries) - resources) <= 50


@pytest.mark.parametrize("size", [1, 60, 120])
def test_plan_request_count_depends_only_on_size(size: int, server: ThreadedServer, tmp_path: Path) -> None:
    found = reads.count(server, size, tmp_path)
    lists = (
        ceil(size / 1000) + 4
    )  # spaces; members, teams, sites, and translations for the sake of the spaces
    assert found["unchanged"] == found["changed"] == 1 + lists + found["teams"] + found["sites"] + 1
    assert found["unchanged changes"] == 0
    assert found["changed changes"] == found["spaces"] + found["teams"] + found["sites"]


def test_server_benchmark_covers_every_load(tmp_path: Path) -> None:
    ours = server.companion(tmp_path)
    answers, document = server.examples_of(ours)
    assert answers["get"] in answers["list"]["items"]
    assert len(answers["list"]["items"]) == server.LISTED
    mocked = server.prism("prism", tmp_path, answers, document)
    assert mocked.loads.keys() == ours.loads.keys() == server.moto("moto_server").loads.keys()
    assert answers["get"]["title"] in (tmp_path / "openapi.json").read_text(encoding="utf-8")


def test_server_benchmark_reports_missed_targets() -> None:
    def measured(requests: float, seconds: float) -> dict[str, float]:
        return {"get": requests, "list": requests, "patch": requests, "start-up": seconds, "resident": 50}

    told = server.report({"dpsync": measured(1000, 1), "moto": measured(90, 4), "prism": measured(500, 2)})
    assert told == [
        "get: 2.0 times prism, not 10",
        "list: 2.0 times prism, not 3",
        "start-up: 2.0 times prism, not 3",
    ]


@pytest.mark.parametrize("name", SHAPES)
def test_scaling_benchmark_case_has_expected_changes(name: str) -> None:
    shape = SHAPES[name](6)
    changed = slopes.run(shape)()
    assert changed == shape.changes if shape.changes is not None else 0 < changed < 6


def test_scaling_benchmark_prints_measured_rows() -> None:
    shapes = ["teams, unchanged", "applying creates"]
    only = [argument for shape in shapes for argument in ("--only", shape)]
    head, _, *rows = run("benchmarks.slopes", "--sizes", "3", "6", "--most", "1000", *only).splitlines()
    assert head == "| shape | 3 (s) | 6 (s) | to 6 |"
    assert [row.split(" | ")[0] for row in rows] == [f"| {shape}" for shape in shapes]
    assert all(float(cell) >= 0 for row in rows for cell in row.strip("| ").split(" | ")[1:])


def test_local_server_benchmark_measures_two_sizes() -> None:
    head, _, *rows = run(
        "benchmarks.companion", "--sizes", "100", "200", "--rounds", "1", "--most", "1000"
    ).splitlines()
    assert head.count("100 (ms)") == head.count("200 (ms)") == 2
    assert [row.split(" | ")[0] for row in rows] == [f"| `{path}`" for path in companion.PATHS]
    assert all(float(cell) > 0 for row in rows for cell in row.strip("| ").split(" | ")[1:])


def test_startup_benchmark_measures_every_command() -> None:
    found = start.measure(rounds=1)
    assert [command for command, _ in found] == [start.CLICK, *start.GOALS]
    assert all(seconds > 0 for seconds in found.values())


def test_plan_benchmark_compares_with_script() -> None:
    head, _, *rows = run("benchmarks.plans", "--entries", "10", "--rounds", "1").splitlines()
    assert head.startswith("| latency, in flight | program | CPU (s)")
    assert [row.split(" | ")[1] for row in rows] == ["script", "dpsync"] * len(plans.SITUATIONS)
    assert all(float(cell) > 0 for row in rows for cell in row.strip("| ").split(" | ")[2:])


def test_apply_benchmark_compares_with_script() -> None:
    head, _, *rows = run("benchmarks.applies", "--writes", "10", "--rounds", "1").splitlines()
    assert head.startswith("| in flight | program | CPU (s) | CPU a write (ms)")
    assert [row.split(" | ")[1] for row in rows] == ["script", "dpsync"] * len(applies.FLIGHTS)
    assert all(float(cell) > 0 for row in rows for cell in row.strip("| ").split(" | ")[2:])


def test_import_benchmark_compares_with_script() -> None:
    head, _, *rows = run("benchmarks.imports", "--entries", "20", "--rounds", "1").splitlines()
    assert head.startswith("| latency, in flight | program | CPU (s) | CPU a request (ms)")
    assert [row.split(" | ")[1] for row in rows] == ["script", "dpsync"] * len(imports.SITUATIONS)
    assert all(float(cell) > 0 for row in rows for cell in row.strip("| ").split(" | ")[2:])


def test_plan_benchmark_without_octodns_exits_1() -> None:
    command = [sys.executable, "-m", "benchmarks.plans", "--octodns", sys.executable]
    told = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
    assert (told.returncode, told.stderr) == (
        1,
        f"octoDNS is missing: {sys.executable} -m pip install octodns\n",
    )


def test_octodns_benchmark_creates_requested_records(tmp_path: Path) -> None:
    octodns.prepared(tmp_path / "octodns", 7)
    declared = yaml.safe_load((tmp_path / "octodns/zones/example.com.yaml").read_text(encoding="utf-8"))
    live = json.loads((tmp_path / "octodns/live.json").read_text(encoding="utf-8"))
    assert len(declared) == 7
    assert [{"name": name, **record} for name, record in declared.items()] == live


def test_plan_benchmark_organization_has_requested_size(server: ThreadedServer, tmp_path: Path) -> None:
    server.reset(organization.world(300))
    root = tmp_path / "dpsync.yaml"
    root.write_text(organization.configuration(300), encoding="utf-8")
    desired, found = load(root, REGISTRY, {})
    assert not found
    assert abs(len(desired.entries) - 300) <= 30
    with ReadClient(server.url, organization.TOKEN) as client:
        assert not Session(desired, load_registry(desired.profile)).plan(client).plan.changes


def test_benchmark_configuration_splits_into_equal_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    organization.put_into(whole, 300)
    monkeypatch.setattr(organization, "_IN_A_FILE", 200)
    organization.put_into(parts, 300)
    assert len(list(parts.rglob("*.yaml"))) > 10
    assert addresses(parts) == addresses(whole)


def addresses(directory: Path) -> set[str]:
    desired, found = load(directory / "dpsync.yaml", REGISTRY, {})
    assert not found
    return {str(address) for address in desired.entries}


def test_scaling_benchmark_detects_superlinear_growth_at_any_doubling() -> None:
    assert not slopes.steep([1, 2.4, 4, 8], most=2.4)
    assert slopes.steep([1, 2.5, 5, 10], most=2.4)
    assert slopes.steep([1, 2, 5, 10], most=2.4)
    assert slopes.steep([1, 2, 4, 10], most=2.4)


COUNTING = """
import sys
from pathlib import Path
from benchmarks import slopes
from benchmarks.shapes import Shape

slopes.run = lambda shape: lambda: Path(sys.argv[1], str(shape.changes)).open("a").write(".")
print(len(slopes.measure(lambda size: Shape({}, changes=size), [1000, 2000, 4000], rounds=2)))
"""


def test_scaling_benchmark_repeats_small_sizes_more_often(tmp_path: Path) -> None:
    assert run_python("-c", COUNTING, str(tmp_path)) == "3\n"
    runs = {int(file.name): file.stat().st_size for file in tmp_path.iterdir()}
    assert runs == {1000: 8, 2000: 4, 4000: 2}


def test_rate_limit_benchmark_reports_no_refused_requests() -> None:
    first, second = run("benchmarks.pace", "--limit", "600/m", "--teams", "2").splitlines()
    assert first.endswith(" requests, 0 refused, 2 steps done")
    assert "ratio" in second


def test_rehearsal_benchmark_compares_with_plan() -> None:
    numbers = ("--entries", "60", "--changes", "5", "--rounds", "1")
    head, _, *rows = run("benchmarks.rehearsals", *numbers).splitlines()
    assert head.startswith("| entries, changes | program | CPU (s) | CPU / change (ms)")
    assert [row.split(" | ")[1] for row in rows] == ["plan", "rehearse"]
    assert all(float(cell) > 0 for row in rows for cell in row.strip("| ").split(" | ")[2:])
