"""A toy studio: kinds declared with the words that few kinds need, and a strict server for them."""

from __future__ import annotations

from dpsync.kinds.kind import (
    Delete,
    EntryMapping,
    Field,
    Kind,
    LastHolderGuard,
    ListRead,
    ManualStep,
    Outputs,
    Patch,
    PlatformWork,
    Post,
    Put,
    SingleEntry,
    SingleRead,
)
from dpsync.kinds.types import Enum, Flag, Reference, Text

from .toy_http import Json, Platform, ToyHttpError, exactly, page, pick, route


def toy_kinds() -> list[Kind]:
    studio = Kind(
        name="studio", parent=None, key="organizations", shape=EntryMapping(), url_path="/studios/{id}",
        read=SingleRead(), search_list=ListRead("/studios"), natural_keys=("name",),
        fields=(Field("name", Text(1, 20), written_in="neither"),),
    )  # fmt: skip
    artist = Kind(
        name="artist", parent="studio", key="artists", shape=EntryMapping(key_field="email"),
        has_unique_id=False, url_path="{parent}/artists/{id}", read=ListRead("{parent}/artists"),
        natural_keys=("email",), title_field="email", shorthand_field="role",
        create=ManualStep("ask {key} to come"), update=Patch("{self}", repeat="safe"),
        delete=Delete(repeat="safe"),
        guard=LastHolderGuard("role", "boss", protects_token_user=True),
        fields=(
            Field("email", Text(3, 50, format="email"), written_in="neither"),
            Field("role", Enum(("boss", "hand")), required=True),
        ),
    )  # fmt: skip
    crew = Kind(
        name="crew", parent="studio", key="crews", shape=EntryMapping(), url_path="{parent}/crews/{id}",
        read=ListRead("{parent}/crews"), natural_keys=("title",),
        create=Put("{parent}/crews", repeat="look_up"), delete=Delete(repeat="safe"),
        fields=(
            Field("title", Text(1, 20), written_in="create", required=True),
            Field("lead", Reference.to("artist"), written_in="create"),
        ),
    )  # fmt: skip
    paper = Kind(
        name="paper", parent="studio", key="papers", shape=EntryMapping(), url_path="/papers/{id}",
        read=ListRead("{parent}/papers"), natural_keys=("title",),
        create=Post("{parent}/papers", repeat="look_up"), update=Patch("{self}", repeat="safe"),
        delete=Delete(repeat="safe"), has_content=True,
        fields=(
            Field("title", Text(1, 20), required=True),
            Field("beside", Reference.to("paper", "copy"), written_in="update"),
        ),
    )  # fmt: skip
    box = Kind(
        name="box", parent="studio", key="boxes", shape=EntryMapping(), url_path="/boxes/{id}",
        read=ListRead("{parent}/boxes"), natural_keys=("title",),
        create=Post("{parent}/boxes", repeat="look_up"), delete=Delete(repeat="safe"),
        fields=(Field("title", Text(1, 20), written_in="create", required=True),),
    )  # fmt: skip
    grant = Kind(
        name="grant", parent=("paper", "box"), key="permissions.crews", shape=EntryMapping(key_field="crew"),
        url_path="{parent}/permissions/{id}", id_path="crew.id", has_unique_id=False,
        read=ListRead("{parent}/permissions"), natural_keys=("crew",), title_field="crew",
        shorthand_field="role", delete=Delete(repeat="safe"), update=Patch("{self}", repeat="safe"),
        create=Post(
            "{parent}/permissions", {"crews": ["$crew"], "role": "$role"}, id_source="$crew", repeat="safe"
        ),
        fields=(
            Field("crew", Reference.to("crew"), written_in="neither", read_path="crew.id"),
            Field("role", Enum(("write", "look")), read_path="level", required=True),
        ),
    )  # fmt: skip
    copy = Kind(
        name="copy", parent="studio", key="copies", shape=EntryMapping(), url_path="{parent}/copies/{id}",
        read=ListRead("{parent}/copies"), natural_keys=(("of", "colour"),), title_field="colour",
        create=Post("{parent}/copies", repeat="look_up"), delete=Delete(repeat="safe"),
        platform_work=PlatformWork(outputs=Outputs("paper", id_field="made.id")),
        fields=(
            Field("of", Reference.to("paper"), written_in="create", read_path="of.id", required=True),
            Field("colour", Text(1, 20), written_in="create", required=True),
            Field("made", Reference.to("paper"), written_in="neither", read_path="made.id"),
        ),
    )  # fmt: skip
    style = Kind(
        name="style", parent="studio", key="style", shape=SingleEntry(exists_with_parent=True),
        url_path="{parent}/style", read=SingleRead(),
        update=Put("{self}", replaces_object=True, repeat="safe"),
        fields=(
            Field("ink", Text(1, 20), written_in="update"),
            Field("thin", Flag(), written_in="update", value_when_absent=False),
        ),
    )  # fmt: skip
    door = Kind(
        name="door", parent="studio", key="door", shape=SingleEntry(), url_path="{parent}/door",
        read=SingleRead(), create=Put("{self}", repeat="safe"), update=Patch("{self}", repeat="safe"),
        fields=(
            Field("colour", Text(1, 20), required=True), Field("code", Text(secret=True), read_path=None),
            Field("key", Text(1, 20), read_path=None),
        ),
    )  # fmt: skip
    return [studio, artist, crew, paper, box, grant, copy, style, door]


class Studio(Platform):
    """Makes a paper out of every copy, whenever `work` is called. The door tells nobody its code or key."""

    def __init__(self) -> None:
        super().__init__()
        self.artists: list[Json] = [
            {"id": "a1", "email": "Ada@studio.example", "role": "boss"},
            {"id": "a2", "email": "bo@studio.example", "role": "hand"},
        ]
        self.crews: list[Json] = []
        self.papers: list[Json] = []
        self.boxes: list[Json] = []
        self.copies: list[Json] = []
        self.grants: dict[tuple[str, str], list[Json]] = {}
        self.style: Json = {"ink": "blue", "thin": True, "smell": "roses"}
        self.door: Json = None
        self.code: str | None = None

    def work(self) -> None:
        for copy in self.copies:
            if "made" not in copy:
                title = pick(self.papers, copy["of"]["id"])["title"]
                self.papers.append({"id": f"x{len(self.papers)}", "title": title, "beside": None})
                self.grants["papers", self.papers[-1]["id"]] = []
                copy["made"] = {"id": self.papers[-1]["id"]}

    @route("GET", "/user")
    def user(self) -> Json:
        return {"id": "a1"}

    @route("GET", "/studios/{}")
    def studio(self, id: str) -> Json:
        return {"id": id, "name": "Studio"}

    @route("GET", "/studios/st/artists")
    def get_artists(self) -> Json:
        return page(self.artists)

    @route("PATCH", "/studios/st/artists/{}")
    def patch_artist(self, artist: str, body: Json) -> Json:
        exactly(body, needs=("role",))
        pick(self.artists, artist).update(body)
        return pick(self.artists, artist)

    @route("DELETE", "/studios/st/artists/{}")
    def delete_artist(self, artist: str, _body: Json) -> None:
        self.artists.remove(pick(self.artists, artist))

    @route("GET", "/studios/st/crews")
    def get_crews(self) -> Json:
        return page(self.crews)

    @route("PUT", "/studios/st/crews")
    def put_crew(self, body: Json) -> Json:
        exactly(body, needs=("title",), may=("lead",))
        self.crews.append({"id": self.number("crew"), **body})
        return self.crews[-1]

    @route("DELETE", "/studios/st/crews/{}")
    def delete_crew(self, crew: str, _body: Json) -> None:
        self.crews.remove(pick(self.crews, crew))
        for place, grants in self.grants.items():
            self.grants[place] = [grant for grant in grants if grant["crew"]["id"] != crew]

    @route("GET", "/studios/st/papers")
    def get_papers(self) -> Json:
        return page(self.papers)

    @route("POST", "/studios/st/papers")
    def post_paper(self, body: Json) -> Json:
        exactly(body, needs=("title",))
        self.papers.append({"id": f"x{len(self.papers)}", "beside": None, **body})
        self.grants["papers", self.papers[-1]["id"]] = []
        return self.papers[-1]

    @route("PATCH", "/papers/{}")
    def patch_paper(self, paper: str, body: Json) -> Json:
        exactly(body, may=("title", "beside"))
        if body.get("beside"):
            pick(self.papers, body["beside"])
        pick(self.papers, paper).update(body)
        return pick(self.papers, paper)

    @route("DELETE", "/papers/{}")
    def delete_paper(self, paper: str, _body: Json) -> None:
        self.papers.remove(pick(self.papers, paper))

    @route("GET", "/studios/st/boxes")
    def get_boxes(self) -> Json:
        return page(self.boxes)

    @route("POST", "/studios/st/boxes")
    def post_box(self, body: Json) -> Json:
        exactly(body, needs=("title",))
        self.boxes.append({"id": f"x{len(self.boxes)}", **body})  # ids of papers and of boxes may be equal
        self.grants["boxes", self.boxes[-1]["id"]] = []
        return self.boxes[-1]

    def place(self, word: str, id: str) -> list[Json]:
        pick(self.papers if word == "papers" else self.boxes, id)
        return self.grants[word, id]

    @route("GET", "/{}/{}/permissions")
    def get_grants(self, word: str, id: str) -> Json:
        return page(self.place(word, id))

    @route("POST", "/{}/{}/permissions")
    def post_grant(self, word: str, id: str, body: Json) -> None:
        exactly(body, needs=("crews", "role"))
        for crew in body["crews"]:
            found = pick(self.crews, crew)
            self.place(word, id).append({"crew": found, "level": body["role"]})

    def grant(self, word: str, id: str, crew: str) -> Json:
        for grant in self.place(word, id):
            if grant["crew"]["id"] == crew:
                return grant
        raise ToyHttpError(404, "no such grant")

    @route("PATCH", "/{}/{}/permissions/{}")
    def patch_grant(self, word: str, id: str, crew: str, body: Json) -> None:
        exactly(body, needs=("role",))
        self.grant(word, id, crew)["level"] = body["role"]

    @route("DELETE", "/{}/{}/permissions/{}")
    def delete_grant(self, word: str, id: str, crew: str, _body: Json) -> None:
        self.place(word, id).remove(self.grant(word, id, crew))

    @route("GET", "/studios/st/copies")
    def get_copies(self) -> Json:
        return page(self.copies)

    @route("POST", "/studios/st/copies")
    def post_copy(self, body: Json) -> Json:
        exactly(body, needs=("of", "colour"))
        paper = pick(self.papers, body["of"])
        self.copies.append({"id": self.number("copy"), "of": {"id": paper["id"]}, "colour": body["colour"]})
        return self.copies[-1]

    @route("DELETE", "/studios/st/copies/{}")
    def delete_copy(self, copy: str, _body: Json) -> None:
        self.copies.remove(pick(self.copies, copy))

    @route("GET", "/studios/st/style")
    def get_style(self) -> Json:
        return self.style

    @route("PUT", "/studios/st/style")
    def put_style(self, body: Json) -> Json:
        exactly(body, needs=("ink", "thin", "smell"))
        self.style = body
        return self.style

    @route("GET", "/studios/st/door")
    def get_door(self) -> Json:
        if self.door is None:
            raise ToyHttpError(404, "there is no door")
        return self.door

    @route("PUT", "/studios/st/door")
    def put_door(self, body: Json) -> Json:
        exactly(body, needs=("colour",), may=("code", "key"))
        self.door, self.code = {"colour": body["colour"]}, body.get("code", self.code)
        return self.door

    @route("PATCH", "/studios/st/door")
    def patch_door(self, body: Json) -> Json:
        exactly(body, may=("colour", "code", "key"))
        self.door["colour"] = body.get("colour", self.door["colour"])
        return self.door
