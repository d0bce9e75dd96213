"""The order of names with numbers, and which siblings keep an order of their own."""

from __future__ import annotations

import pytest

from dpsync.model.address import Address
from dpsync.render.names import in_natural_order, natural_key


@pytest.mark.parametrize(
    ("names", "order"),
    [
        pytest.param(["gen-10", "gen-2"], ["gen-2", "gen-10"], id="number at the end"),
        pytest.param(["v10a", "v2b", "v2a"], ["v2a", "v2b", "v10a"], id="number inside"),
        pytest.param(["10", "9", "a"], ["9", "10", "a"], id="number alone"),
        pytest.param(["a01", "a1", "a001"], ["a001", "a01", "a1"], id="leading zeros"),
        pytest.param(["b", "B", "a"], ["B", "a", "b"], id="no number"),
        pytest.param(["1" * 5000, "2"], ["2", "1" * 5000], id="very long number"),
    ],
)
def test_names_are_sorted_in_natural_number_order(names: list[str], order: list[str]) -> None:
    assert sorted(names, key=natural_key) == order


@pytest.mark.parametrize(
    ("addresses", "order"),
    [
        pytest.param(
            ["acme/sites/d/structure/gen-10", "acme/sites/d/structure/gen-2"],
            ["acme/sites/d/structure/gen-10", "acme/sites/d/structure/gen-2"],
            id="navigation",
        ),
        pytest.param(
            ["acme/spaces/b", "acme/spaces/gen-10", "acme/spaces/a"],
            ["acme/spaces/b", "acme/spaces/gen-10", "acme/spaces/a"],
            id="list with an order",
        ),
        pytest.param(
            ["acme/t/gen-10", "acme/t/gen-10/members/a", "acme/t/gen-2", "acme/t/gen-2/members/b"],
            ["acme/t/gen-2", "acme/t/gen-2/members/b", "acme/t/gen-10", "acme/t/gen-10/members/a"],
            id="parents with their children",
        ),
    ],
)
def test_siblings_with_explicit_order_keep_their_order(addresses: list[str], order: list[str]) -> None:
    """Otherwise, a new navigation is printed by name, and not as readers will see it."""
    assert list(in_natural_order(addresses, Address.parse, lambda _: False)) == order
