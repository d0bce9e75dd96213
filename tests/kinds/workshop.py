"""A toy workshop: kinds declared with the words of the odd ones out, and a strict server for them."""

from __future__ import annotations

from dpsync.kinds.kind import (
    BusyState,
    Delete,
    EntryMapping,
    Field,
    Kind,
    ListRead,
    Outputs,
    Patch,
    PlatformWork,
    Post,
    Put,
    SingleEntry,
    SingleRead,
)
from dpsync.kinds.types import Enum, Json, Object, Reference, Table, Text
from dpsync.kinds.types.texts import LongText

from .toy_http import Json as Body
from .toy_http import Platform, ToyHttpError, exactly, page, pick, route

WORDS = "{parent}/words"
PRINT = {"...": "$fields", "shop": "$shop"}


def _operation(**operation: str) -> Body:
    return {"operations": [operation]}


def workshop_kinds() -> list[Kind]:
    shop = Kind(
        name="shop", parent=None, key="organizations", shape=EntryMapping(), url_path="/shops/{id}",
        read=SingleRead(), search_list=ListRead("/shops"), natural_keys=("name",),
        fields=(Field("name", Text(1, 20), written_in="neither"),),
    )  # fmt: skip
    tool = Kind(
        name="tool", parent="shop", key="tools", shape=EntryMapping(key_field="brand"),
        url_path="/brands/{id}", id_path="{brand.name}/tools/{tool.id}", read=ListRead("{parent}/tools"),
        natural_keys=("brand",), title_field="brand",
        create=Post(
            "/brands/{brand}/tools", {"shop": "$shop"}, id_source="$brand/tools/{id}", repeat="look_up"
        ),
        update=Patch("{self}", replaces_object=True, repeat="safe"), delete=Delete(repeat="safe"),
        platform_work=PlatformWork(
            busy=BusyState("state", ("warming",)),
            user_actions={"test": Post("{self}/test", None, repeat="never")},
        ),
        fields=(
            Field("brand", Text(1, 20), written_in="neither", read_path="brand.name"),
            Field(
                "settings", Json(is_partial=True, may_contain_secrets=True), written_in="update",
                read_path="tool.settings", value_when_absent={},
            ),
            Field("state", Enum(("warming", "ready")), written_in="neither", read_path="tool.state"),
            Field("poster", Reference.to("poster", "order"), written_in="update", read_path="tool.poster"),
        ),
    )  # fmt: skip
    sign = Kind(
        name="sign", parent="tool", key="sign", shape=SingleEntry(exists_with_parent=True),
        url_path="{parent}/sign", read=SingleRead(), update=Put("{self}", repeat="safe"),
        shorthand_field="text", fields=(Field("text", Text(1, 20), written_in="update"),),
    )  # fmt: skip
    word = Kind(
        name="word", parent="shop", key="words", shape=EntryMapping(), url_path=WORDS, read=ListRead(WORDS),
        natural_keys=("terms.en", "terms.de"), title_field="terms", shorthand_field="terms",
        create=Put(WORDS, _operation(type="insert", terms="$terms"), repeat="look_up"),
        update=Put(WORDS, _operation(type="update", id="$id", terms="$terms"), repeat="safe"),
        delete=Put(WORDS, _operation(type="delete", id="$id"), repeat="safe"),
        fields=(Field("terms", Table(Enum(("en", "de")), Text(1, 20), min_keys=1), required=True),),
    )  # fmt: skip
    poster = Kind(
        name="poster", parent="shop", key="posters", shape=EntryMapping(default_key_field="code"),
        url_path="{parent}/posters/{id}", id_path="code", has_unique_id=False,
        read=ListRead("{parent}/posters"), natural_keys=("code",), title_field="code",
        create=Put("{parent}/posters/{code}", PRINT, id_source="$code", repeat="safe"),
        update=Put("{self}", PRINT, sends_every_field=True, repeat="safe"),
        fields=(
            Field("code", Text(1, 9), written_in="create", required=True), Field("colour", Text(1, 20)),
            Field(
                "source", Object({"url": Text(), "text": LongText(is_write_only=True)}, exactly_one=True),
                read_path={"url": "sourceURL"},
            ),
        ),
    )  # fmt: skip
    order = Kind(
        name="order", parent="shop", key="orders", shape=EntryMapping(), url_path="{parent}/orders/{id}",
        read=ListRead("{parent}/orders"), natural_keys=("title",),
        create=Post("{parent}/orders", repeat="look_up"),
        platform_work=PlatformWork(
            outputs=Outputs("poster", id_field="made.code"), busy=BusyState("state", ("working",))
        ),
        fields=(
            Field("title", Text(1, 9), written_in="create", required=True),
            Field("made", Reference.to("poster"), written_in="neither", read_path="made.code"),
            Field("state", Enum(("working", "done")), written_in="neither"),
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
            raise ToyHttpError(422, "no such poster")
        found = pick(self.tools[brand], tool)
        found.update(body)
        return found

    @route("POST", "/brands/{}/tools/{}/test")
    def try_tool(self, brand: str, tool: str, _body: Body) -> None:
        self.tested.append(f"{brand} at {pick(self.tools[brand], tool)['settings']['speed']['most']}")

    @route("DELETE", "/brands/{}/tools/{}")
    def delete_tool(self, brand: str, tool: str, _body: Body) -> None:
        self.tools[brand].remove(pick(self.tools[brand], tool))

    @route("GET", "/brands/{}/tools/{}/sign")
    def get_sign(self, _brand: str, tool: str) -> Body:
        return self.signs[tool]

    @route("PUT", "/brands/{}/tools/{}/sign")
    def put_sign(self, _brand: str, tool: str, body: Body) -> Body:
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
                    raise ToyHttpError(422, "no such operation")

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
