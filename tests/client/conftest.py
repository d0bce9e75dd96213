"""A clock that waits in no time and writes down how long, and an environment without proxies."""

from __future__ import annotations

import threading

import pytest

from dpsync.client.retry import Clock

START = 1_800_000_000.0


class FakeClock(Clock):
    def __init__(self) -> None:
        self.waits: list[float] = []
        self._passed = 0.0
        self._lock = threading.Lock()

    def now(self) -> float:
        return 1000.0 + self._passed

    def wall(self) -> float:
        return START + self._passed

    def wait(self, seconds: float, _cancelled: threading.Event) -> None:
        with self._lock:
            self.waits.append(seconds)
            self._passed += seconds


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
