"""A toy workshop: kinds declared with the words of the odd ones out, and a strict server for them."""

from __future__ import annotations

from dpsync.kinds.kind import (
    Busy,
    Delete,
    Entries,
    Field,
    Kind,
    One,
    Outputs,
    Pages,
    Patch,
    PlatformWork,
    Post,
    Put,
    Single,
)
from dpsync.kinds.types import Enum, Json, Object, Reference, Table, Text
from dpsync.kinds.types.texts import LongText

from .toy_http import Json as Body
from .toy_http import Platform, Refusal, exactly, page, pick, route

WORDS = "{parent}/words"
PRINT = {"...": "$fields", "shop": "$shop"}


def _operation(**operation: str) -> Body:
    return {"operations": [operation]}


def workshop_kinds() -> list[Kind]:
    shop = Kind(
        name="shop", parent=None, key="organizations", shape=Entries(), at="/shops/{id}", read=One(),
        find=Pages("/shops"), identity=("name",), fields=(Field("name", Text(1, 20), on="neither"),),
    )  # fmt: skip
    tool = Kind(
        name="tool", parent="shop", key="tools", shape=Entries(natural="brand"), at="/brands/{id}",
        id="{brand.name}/tools/{tool.id}", read=Pages("{parent}/tools"), identity=("brand",), title="brand",
        create=Post("/brands/{brand}/tools", {"shop": "$shop"}, gives="$brand/tools/{id}", repeat="look_up"),
        update=Patch("{self}", whole=True, repeat="safe"), delete=Delete(repeat="safe"),
        platform=PlatformWork(
            busy=Busy("state", ("warming",)), acts={"test": Post("{self}/test", None, repeat="never")}
        ),
        fields=(
            Field("brand", Text(1, 20), on="neither", read="brand.name"),
            Field("settings", Json(partial=True, secrets=True), on="update", read="tool.settings", absent={}),
            Field("state", Enum(("warming", "ready")), on="neither", read="tool.state"),
            Field("poster", Reference.to("poster", "order"), on="update", read="tool.poster"),
        ),
    )  # fmt: skip
    sign = Kind(
        name="sign", parent="tool", key="sign", shape=Single(always=True), at="{parent}/sign", read=One(),
        update=Put("{self}", repeat="safe"), shorthand="text",
        fields=(Field("text", Text(1, 20), on="update"),),
    )  # fmt: skip
    word = Kind(
        name="word", parent="shop", key="words", shape=Entries(), at=WORDS, read=Pages(WORDS),
        identity=("terms.en", "terms.de"), title="terms", shorthand="terms",
        create=Put(WORDS, _operation(type="insert", terms="$terms"), repeat="look_up"),
        update=Put(WORDS, _operation(type="update", id="$id", terms="$terms"), repeat="safe"),
        delete=Put(WORDS, _operation(type="delete", id="$id"), repeat="safe"),
        fields=(Field("terms", Table(Enum(("en", "de")), Text(1, 20), least=1), required=True),),
    )  # fmt: skip
    poster = Kind(
        name="poster", parent="shop", key="posters", shape=Entries(default="code"),
        at="{parent}/posters/{id}",
        id="code", own_id=False, read=Pages("{parent}/posters"), identity=("code",), title="code",
        create=Put("{parent}/posters/{code}", PRINT, gives="$code", repeat="safe"),
        update=Put("{self}", PRINT, complete=True, repeat="safe"),
        fields=(
            Field("code", Text(1, 9), on="create", required=True),
            Field("colour", Text(1, 20)),
            Field("source", Object({"url": Text(), "text": LongText(unreadable=True)}, one=True),
                  read={"url": "sourceURL"}),
        ),
    )  # fmt: skip
    order = Kind(
        name="order", parent="shop", key="orders", shape=Entries(), at="{parent}/orders/{id}",
        read=Pages("{parent}/orders"), identity=("title",), create=Post("{parent}/orders", repeat="look_up"),
        platform=PlatformWork(outputs=Outputs("poster", read="made.code"), busy=Busy("state", ("working",))),
        fields=(
            Field("title", Text(1, 9), on="create", required=True),
            Field("made", Reference.to("poster"), on="neither", read="made.code"),
            Field("state", Enum(("working", "done")), on="neither"),
        ),
    )  # fmt: skip
    return [shop, tool, sign, word, poster, order]


class Workshop(Platform):
    """Keeps the texts of posters to itself, and gives every new tool a setting of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.tools: dict[str, list[Body]] = {}
        self.signs: dict[str, Body] = {}
        self.words: list[Body] = []
        self.posters: dict[str, Body] = {}
        self.tested: list[str] = []
        self.orders: list[Body] = []
        self.patience = 3
        """How often it must be asked for an order before it is done."""

    @route("GET", "/shops/{}")
    def shop(self, id: str) -> Body:
        return {"id": id, "name": "Shop"}

    @route("GET", "/shops/sh/tools")
    def get_tools(self) -> Body:
        return page(
            [
                {"brand": {"name": brand}, "tool": tool}
                for brand, tools in self.tools.items()
                for tool in tools
            ]
        )

    @route("POST", "/brands/{}/tools")
    def post_tool(self, brand: str, body: Body) -> Body:
        exactly(body, needs=("shop",))
        tool = {"id": self.number("tool"), "settings": {"speed": {"least": 1, "most": 9}}, "state": "ready"}
        self.tools.setdefault(brand, []).append(tool)
        self.signs[tool["id"]] = {"text": "new"}
        return tool

    @route("GET", "/brands/{}/tools/{}")
    def get_tool(self, brand: str, tool: str) -> Body:
        return pick(self.tools[brand], tool)

    @route("PATCH", "/brands/{}/tools/{}")
    def patch_tool(self, brand: str, tool: str, body: Body) -> Body:
        exactly(body, may=("settings", "poster"))
        if body.get("poster") not in (None, *self.posters):
            raise Refusal(422, "no such poster")
        found = pick(self.tools[brand], tool)
        found.update(body)
        return found

    @route("POST", "/brands/{}/tools/{}/test")
    def test_tool(self, brand: str, tool: str, body: Body) -> None:
        self.tested.append(f"{brand} at {pick(self.tools[brand], tool)['settings']['speed']['most']}")

    @route("DELETE", "/brands/{}/tools/{}")
    def delete_tool(self, brand: str, tool: str, body: Body) -> None:
        self.tools[brand].remove(pick(self.tools[brand], tool))

    @route("GET", "/brands/{}/tools/{}/sign")
    def get_sign(self, brand: str, tool: str) -> Body:
        return self.signs[tool]

    @route("PUT", "/brands/{}/tools/{}/sign")
    def put_sign(self, brand: str, tool: str, body: Body) -> Body:
        exactly(body, needs=("text",))
        self.signs[tool] = body
        return body

    @route("GET", "/shops/sh/words")
    def get_words(self) -> Body:
        return page(self.words)

    @route("PUT", "/shops/sh/words")
    def put_words(self, body: Body) -> None:
        for operation in body["operations"]:
            match operation:
                case {"type": "insert", "terms": terms}:
                    self.words.append({"id": self.number("word"), "terms": terms})
                case {"type": "update", "id": id, "terms": terms}:
                    pick(self.words, id)["terms"] = terms
                case {"type": "delete", "id": id}:
                    self.words.remove(pick(self.words, id))
                case _:
                    raise Refusal(422, "no such operation")

    @route("GET", "/shops/sh/orders")
    def get_orders(self) -> Body:
        return page(self.orders)

    @route("POST", "/shops/sh/orders")
    def post_order(self, body: Body) -> Body:
        exactly(body, needs=("title",))
        self.orders.append({"id": self.number("order"), **body, "state": "working"})
        return self.orders[-1]

    @route("GET", "/shops/sh/orders/{}")
    def get_order(self, order: str) -> Body:
        found = pick(self.orders, order)
        self.patience -= 1
        if self.patience == 0:
            code = self.number("p")
            self.posters[code] = {"code": code, "colour": "white"}
            found |= {"state": "done", "made": {"code": code}}
        return found

    @route("GET", "/shops/sh/posters")
    def get_posters(self) -> Body:
        return page(
            [{key: value for key, value in item.items() if key != "text"} for item in self.posters.values()]
        )

    @route("PUT", "/shops/sh/posters/{}")
    def put_poster(self, code: str, body: Body) -> Body:
        exactly(body, needs=("shop",), may=("colour", "source", "code"))
        source = body.get("source", {})
        self.posters[code] = {"code": code, "colour": body.get("colour", "white")}
        if "url" in source:
            self.posters[code]["sourceURL"] = source["url"]
        if "text" in source:
            self.posters[code]["text"] = source["text"]
        return self.posters[code]
