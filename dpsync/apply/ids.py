"""Which live object each address is, while things are made: all steps of an apply read it and write to it."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from dpsync.model.address import Address


class Ids:
    """Ids by address. Threads share it, so that every access takes the lock."""

    def __init__(self, known: Mapping[Address, str]) -> None:
        self._lock = threading.Lock()
        self._ids: dict[Address, str] = {}
        self._addresses: dict[str, set[Address]] = {}
        for address, id in known.items():
            self.put(address, id)

    def get(self, address: Address) -> str | None:
        with self._lock:
            return self._ids.get(address)

    def put(self, address: Address, id: str) -> None:
        with self._lock:
            if (before := self._ids.get(address)) is not None:
                self._addresses[before].discard(address)
            self._ids[address] = id
            self._addresses.setdefault(id, set()).add(address)

    def addresses(self, id: str) -> frozenset[Address]:
        """Every address with this id: that of a person is the id of a member in several places."""
        with self._lock:
            return frozenset(self._addresses.get(id, ()))
