"""What a plan or a drift tells of one address. In its JSON the address is a text."""

from __future__ import annotations

from dpsync.model.entries.address import Address, FieldAddress
from dpsync.model.frozen import Frozen


class Addressed(Frozen):
    """`address` is the text of an address, or of one with a field."""

    address: str

    @property
    def location(self) -> Address:
        """The address as a value; of a field, that of its entry."""
        return FieldAddress.parse(self.address).address
