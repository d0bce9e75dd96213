"""Convert recorded responses of GitBook to a `WorldDraft`, from which `world.py` makes the final data.

`response_table.py` maps each path to a function `take_…` here. Paths are processed in the order of their
length, so that a parent comes before its children. Secrets such as keys and tokens of share links are left
out or replaced. The other functions (`add_roles`, `add_customizations`, …) join parts when all responses are
converted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final

from msgspec import Struct

from dpsync.kinds.kind import TreeNode
from dpsync.kinds.registry import build_registry
from dpsync.rehearse.world_draft import (
    COMPUTED_MEMBERS,
    HIDDEN_TEXT,
    Json,
    WorldDraft,
    assume_site,
    hide_secret_settings,
    only_members,
    without_members,
)

_ADD_REFERENCED: Final[dict[str, Callable[[WorldDraft, str, str], None]]] = {
    "spaces": WorldDraft.add_space,
    "sites": assume_site,
}
"""Functions that add the object at which an installation is active, by level."""


def take_integrations(draft: WorldDraft, items: list[Json]) -> None:
    """Add the published integrations in a response."""
    for item in items:
        add_published_integration(draft, item)


def add_published_integration(draft: WorldDraft, integration: Json) -> None:
    """Add a published integration, and its owner's fields. Pictures and scripts are not in responses."""
    owner = integration["owner"]
    owner_draft = draft.get_organization(str(owner["id"]))
    if not owner_draft.fields:
        owner_draft.fields = without_members(owner, "id", *COMPUTED_MEMBERS)
    data = without_members(integration, "owner", "icon", "previewImages", *COMPUTED_MEMBERS)
    draft.published_integrations[integration["name"]] = {**data, "owner": owner["id"]}


def take_installations(draft: WorldDraft, items: list[Json], organization: str) -> None:
    """Add the installations of an organization, and the integrations that they install."""
    for item in items:
        add_published_integration(draft, item["integration"])
        installation, name = item["installation"], item["integration"]["name"]
        data = without_members(installation, "status", "spaces", "sites", "target", *COMPUTED_MEMBERS)
        if installation.get("status") == "paused":
            data["status"] = "paused"
        draft.get_organization(organization).installations[installation["id"]] = {**data, "integration": name}


def take_installation_places(
    draft: WorldDraft, items: list[Json], _: str, installation: str, level: str
) -> None:
    """Keep the list of spaces or sites where an installation is active, until all objects are read."""
    draft.installation_places.append((level, installation, items))


def add_installation_places(draft: WorldDraft, level: str, installation: str, items: list[Json]) -> None:
    """Add the places where an installed integration is active, with its settings there.

    `level` is "spaces" or "sites". A response names a place by its id, or has the whole object.
    """
    word = level.removesuffix("s")
    for organization in draft.organizations.values():
        data = organization.installations.get(installation)
        for item in items if data is not None else ():
            target = item[word] if isinstance(item[word], str) else item[word]["id"]
            _ADD_REFERENCED[level](draft, organization.id, target)
            placement = {word: target, **only_members(item, "configuration", "externalIds")}
            assert data is not None
            data.setdefault(level, []).append(placement)


def take_specifications(draft: WorldDraft, items: list[Json], organization: str) -> None:
    """Add OpenAPI specifications, with their latest versions, as database records of the local server.

    In the usual form of its data, the server (companion) would start to process pending specifications.
    """
    for item in items:
        doc = without_members(item, "id", "slug", "lastProcessedErrorCount", *COMPUTED_MEMBERS)
        draft.add_record("openapi-spec", item["id"], doc, organization, organization, ref=item["slug"])
        if last := item.get("lastVersion"):
            version = {"createdAt": item.get("lastProcessedAt") or item["createdAt"]}
            draft.add_record("openapi-version", last, version, organization, item["id"])
            draft.versions[organization, item["slug"]] = version


def take_text(draft: WorldDraft, text: Any, organization: str, slug: str) -> None:
    """Add the text of the latest version of a specification, whose versions are taken before."""
    if (version := draft.versions.get((organization, slug))) is not None:
        version["text"] = text


def take_translations(draft: WorldDraft, items: list[Json], organization: str) -> None:
    """Add translations as database records of the local server, so that it starts no translation.

    Also add the source space and the resulting space of each translation, if they were not read.
    """
    for item in items:
        doc = without_members(item, "id", "result", *COMPUTED_MEMBERS)
        source, result = item["source"]["space"], (item.get("result") or {}).get("space")
        for space in filter(None, (source, result)):
            draft.add_space(organization, space)
        draft.add_record("translation", item["id"], doc, organization, organization, source, ref=result or "")


_ROLE_SUBJECTS = {"users": "user", "teams": "team"}


def take_organizations(draft: WorldDraft, items: list[Json]) -> None:
    """Add the organizations in a response."""
    for item in items:
        take_organization(draft, item, str(item["id"]))


def take_organization(draft: WorldDraft, body: Json, id: str) -> None:
    """Add the fields of an organization."""
    fields = without_members(body, "id", *COMPUTED_MEMBERS)
    if logo := (body.get("urls") or {}).get("logo"):
        fields["logo"] = logo
    draft.get_organization(id).fields = fields


def take_caller(draft: WorldDraft, body: Json) -> None:
    """Add the user who owns the token, as the caller."""
    draft.caller = draft.add_user(body)


def take_members(draft: WorldDraft, items: list[Json], organization: str) -> None:
    """Add the members of an organization with their roles."""
    owner = draft.get_organization(organization)
    owner.members_read = True
    for item in items:
        user = draft.add_user(item["user"])
        names = ("role", "disabled", "joinedAt", "sso", "lastSeenAt")
        owner.members[user] = {"user": user, **{name: item[name] for name in names if name in item}}


def take_teams(draft: WorldDraft, items: list[Json], organization: str) -> None:
    """Add the teams of an organization, still without members."""
    owner = draft.get_organization(organization)
    owner.teams = {item["id"]: only_members(item, "id", "title", "createdAt") for item in items}


def take_team(draft: WorldDraft, items: list[Json], organization: str, team: str) -> None:
    """Add the members of a team with their roles. They are also members of the organization."""
    owner = draft.get_organization(organization)
    people = []
    for item in items:
        user = draft.add_user(item["organization"]["user"])
        people.append({"user": user, "role": (item.get("team") or {}).get("role")})
        draft.add_member(owner, user)
    owner.teams.setdefault(team, {"id": team})["members"] = people


def take_saml(draft: WorldDraft, items: list[Json], organization: str) -> None:
    """Add the SAML providers of an organization, and the teams to which they add new members."""
    providers = []
    for item in items:
        provider = without_members(item, "status", "service", "defaultTeam", *COMPUTED_MEMBERS)
        if team := (item.get("defaultTeam") or {}).get("id"):
            provider["defaultTeam"] = team
            draft.get_organization(organization).teams.setdefault(
                team, only_members(item["defaultTeam"], "id", "title")
            )
        providers.append(provider)
    draft.get_organization(organization).parts["samlProviders"] = providers


def take_instructions(draft: WorldDraft, body: Json, organization: str) -> None:
    """Add the instructions of an organization for agents."""
    draft.get_organization(organization).parts["agentInstructions"] = body["instructions"]


def take_glossary(draft: WorldDraft, items: list[Json], organization: str) -> None:
    """Add the glossary of an organization for translations."""
    draft.get_organization(organization).parts["glossary"] = [
        without_members(item, *COMPUTED_MEMBERS) for item in items
    ]


def take_grants(draft: WorldDraft, items: list[Json], list_path: str, id: str, subject_list: str) -> None:
    """Keep the roles of users or teams (`subject_list`) on an object, until all objects are read.

    `list_path` is the list with the object, as `spaces` or `orgs/o1/sites`.
    """
    draft.role_grants.append((list_path.rpartition("/")[2], id, subject_list, items))


def add_roles(draft: WorldDraft, target: str, id: str, subject_list: str, items: list[Json]) -> None:
    """Add the roles of users or teams on one object, and the users and teams themselves.

    `target` is the list of the object ("collections", "spaces" or "sites"), and `subject_list` is "users" or
    "teams". `items` is the response.
    """
    for organization in draft.organizations.values():
        target_data = getattr(organization, target).get(id)
        if target_data is None:
            continue
        roles: Json = {}
        for item in items:
            subject = item[_ROLE_SUBJECTS[subject_list]]
            roles[subject["id"]] = item["permission"]
            if subject_list == "users":
                draft.add_member(organization, draft.add_user(subject))
            else:
                organization.teams.setdefault(
                    subject["id"], only_members(subject, "id", "title", "createdAt")
                )
        target_data.setdefault("permissions", {})[subject_list] = roles


_OMITTED_SITE_MEMBERS = ("siteSpaces", "features", "appliedType", "proxy", "styleguide")


def take_sites(draft: WorldDraft, items: list[Json], organization: str) -> None:
    """Add the sites in a list of an organization."""
    for item in items:
        take_site(draft, item, organization, item["id"])


def take_site(draft: WorldDraft, body: Json, organization: str, id: str) -> None:
    """Add the fields of a site, without the objects in it.

    The space that is its style guide is remembered, for `mark_styleguides`.
    """
    data = without_members(body, *_OMITTED_SITE_MEMBERS, *COMPUTED_MEMBERS)
    if origin := (body.get("proxy") or {}).get("origin"):
        data["proxy"] = origin
    if guide := (body.get("styleguide") or {}).get("space"):
        data["styleguide"] = guide
        draft.styleguides.append((organization, guide))
    draft.get_site(organization, id).update(data)


def mark_styleguides(draft: WorldDraft) -> None:
    """Mark the spaces that sites use as style guides, even if the spaces were not read."""
    for organization, guide in draft.styleguides:
        draft.add_space(organization, guide)
        draft.get_organization(organization).spaces[guide]["type"] = "styleguide"


def take_share_links(draft: WorldDraft, items: list[Json], organization: str, site: str) -> None:
    """Add share links without their URLs, which contain tokens: the companion makes new ones."""
    draft.get_site(organization, site)["shareLinks"] = [
        without_members(item, *COMPUTED_MEMBERS) for item in items
    ]


def take_access(draft: WorldDraft, body: Json, organization: str, site: str) -> None:
    """Add the visitor authentication of a site, without its private key."""
    draft.get_site(organization, site)["visitorAuth"] = without_members(body, "privateKey", *COMPUTED_MEMBERS)


def take_claims(draft: WorldDraft, body: Json, organization: str, site: str) -> None:
    """Add the schema of visitor claims of a site."""
    draft.get_site(organization, site)["adaptiveSchema"] = body["jsonSchema"]


def take_agent_settings(draft: WorldDraft, body: Json, organization: str, site: str) -> None:
    """Add the settings of a site for agents."""
    settings = without_members(body, "updatedAt", "updatedBy", *COMPUTED_MEMBERS)
    draft.get_site(organization, site)["agentSettings"] = settings


def take_mcp_servers(draft: WorldDraft, items: list[Json], organization: str, site: str) -> None:
    """Add MCP servers with the names of their headers. The values may be secret and are replaced."""
    servers = [without_members(item, *COMPUTED_MEMBERS) for item in items]
    for server in servers:
        if isinstance(server.get("headers"), dict):
            server["headers"] = dict.fromkeys(server["headers"], HIDDEN_TEXT)
    draft.get_site(organization, site)["mcpServers"] = servers


def take_channels(draft: WorldDraft, items: list[Json], organization: str, site: str) -> None:
    """Add the channels of a site."""
    draft.get_site(organization, site)["channels"] = [
        without_members(item, "answers", *COMPUTED_MEMBERS) for item in items
    ]


def take_connections(draft: WorldDraft, items: list[Json], organization: str, site: str) -> None:
    """Add connections. Keys and tokens in their settings are replaced."""
    connections = [without_members(item, "email", *COMPUTED_MEMBERS) for item in items]
    for connection in connections:
        if "setupSettings" in connection:
            connection["setupSettings"] = hide_secret_settings(connection["setupSettings"])
    draft.get_site(organization, site)["contextConnections"] = connections


def take_topics(draft: WorldDraft, items: list[Json], organization: str, site: str) -> None:
    """Add the topics of a site, parents first, because a topic may refer only to an earlier topic."""
    topics = []
    for item in sorted(items, key=lambda item: "parent" in item):
        topic = without_members(item, "parent", *COMPUTED_MEMBERS)
        if item.get("parent"):
            topic["parent"] = item["parent"]["id"]
        topics.append(topic)
    draft.get_site(organization, site)["topics"] = topics


_OMITTED_SPACE_MEMBERS = ("visibility", "organization", "revision", "comments", "changeRequests",
                  "changeRequestsOpen", "changeRequestsDraft")  # fmt: skip


def take_collections(draft: WorldDraft, items: list[Json], organization: str) -> None:
    """Add the collections of an organization."""
    owner = draft.get_organization(organization)
    owner.collections = {
        item["id"]: without_members(item, "organization", *COMPUTED_MEMBERS) for item in items
    }


def take_spaces(draft: WorldDraft, items: list[Json], organization: str) -> None:
    """Add the spaces of an organization in listed order, before spaces that are in no list."""
    owner = draft.get_organization(organization)
    unlisted, owner.spaces = owner.spaces, {}
    for item in items:
        take_space(draft, item, item["id"], organization)
    owner.spaces = {**owner.spaces, **{id: space for id, space in unlisted.items() if id not in owner.spaces}}


def take_space(draft: WorldDraft, body: Json, id: str, organization: str = "") -> None:
    """Add the fields of a space."""
    owner = draft.get_organization(organization or body["organization"])
    owner.spaces[id] = without_members(body, *_OMITTED_SPACE_MEMBERS, *COMPUTED_MEMBERS)
    if icon := (body.get("urls") or {}).get("icon"):
        owner.spaces[id]["icon"] = icon


def take_order(draft: WorldDraft, items: list[Json], collection: str) -> None:
    """Keep the order of the spaces in a collection."""
    draft.orders[collection] = [item["id"] for item in items]


def take_pages(draft: WorldDraft, body: Json, space: str) -> None:
    """Record the page tree of a space, without page texts."""
    draft.pages[space] = [_page_outline(page) for page in body.get("pages", [])]


def _page_outline(parent: Json) -> Json:
    """Return a page with its children, without texts."""
    children = [_page_outline(page) for page in parent.get("pages", [])]
    return {**only_members(parent, "id", "title", "type", "slug"), "pages": children}


def add_pages_to_spaces(draft: WorldDraft) -> None:
    """Add the page trees that were read to their spaces."""
    for owner in draft.organizations.values():
        for id in owner.spaces.keys() & draft.pages.keys():
            owner.spaces[id]["content"] = {"pages": draft.pages[id]}


_OMITTED_NODE_MEMBERS = ("siteSpaces", "children", "sections", "sectionGroup", "section", "space",
                 "hasAdvancedCustomizationFeature")  # fmt: skip


class _NodeKind(Struct, frozen=True):
    """How a world represents one kind of navigation node."""

    type: str
    has_children: bool
    content_member: str | None
    """The member that contains the shown space."""


@cache
def _node_kinds() -> dict[str, _NodeKind]:
    """Return the form of each kind of navigation node, by the `object` member in responses."""
    return {
        kind.shape.wire_type: _NodeKind(
            kind.shape.yaml_type,
            bool(kind.shape.child_kinds),
            next(
                (field.name for field in kind.reference_fields if field.response_path == f"{field.name}.id"),
                None,
            ),
        )
        for kind in build_registry().in_dependency_order
        if isinstance(kind.shape, TreeNode)
    }


def take_structure(draft: WorldDraft, body: Json, organization: str, site: str) -> None:
    """Add the navigation of a site that was read as a tree."""
    nodes = [_world_node(draft, node, organization) for node in body["structure"]]
    draft.get_site(organization, site)["structure"] = nodes


def take_nodes(draft: WorldDraft, items: list[Json], organization: str, site: str, which: str) -> None:
    """Keep one of the lists of navigation nodes of a site (`which`), until all lists are read."""
    draft.navigation_lists[organization, site][which] = items


def _world_node(draft: WorldDraft, node: Json, organization: str) -> Json:
    """Return a navigation node of a response, with its children, in the form of the local server's data.

    Spaces that the node shows are added to the draft if they were not read. A title that is equal to the
    space's title is omitted, because the server computes it.
    """
    kind = _node_kinds()[node["object"]]
    data = {"type": kind.type, **without_members(node, *_OMITTED_NODE_MEMBERS, *COMPUTED_MEMBERS)}
    if kind.content_member is not None:
        space = node[kind.content_member]
        if space["id"] not in draft.get_organization(organization).spaces:
            take_space(draft, space, space["id"], organization)
        data[kind.content_member] = space["id"]
        if node.get("title") == space.get("title"):
            data.pop("title", None)
    elif kind.has_children:
        children = node.get("children") or node.get("siteSpaces") or ()
        data["children"] = [_world_node(draft, child, organization) for child in children]
    return data


def take_customization(draft: WorldDraft, body: Json, organization: str, site: str) -> None:
    """Add the customization of a site."""
    draft.get_site(organization, site)["customization"] = body


def take_own_customization(
    draft: WorldDraft, body: Json, organization: str, site: str, site_space: str
) -> None:
    """Keep the own customization of a site space, until the navigation is complete."""
    del organization, site
    draft.customizations[site_space] = body


def take_whole_customization(
    draft: WorldDraft, body: Json, organization: str, site: str, site_space: str
) -> None:
    """Keep the customization of a site space: the part that differs from that of the site."""
    draft.customizations[site_space] = _difference_from_inherited(
        body, draft.get_site(organization, site).get("customization", {})
    )


def take_redirects(draft: WorldDraft, items: list[Json], organization: str, site: str) -> None:
    """Add the redirects of a site."""
    draft.get_site(organization, site)["redirects"] = [
        without_members(item, *COMPUTED_MEMBERS) for item in items
    ]


def join_navigation_lists(
    draft: WorldDraft, lists: dict[str, list[Json]], organization: str, site: str
) -> None:
    """Set the navigation tree of a site whose nodes were read as several flat lists.

    `lists` has the lists "site-spaces", "section-groups" and "sections". The id "" stands for no parent. The
    lists in `nodes_by_parent` are filled after they become a node's children.
    """
    site_spaces_by_section: dict[str, list[Json]] = defaultdict(list)
    for site_space in lists.get("site-spaces", ()):
        site_spaces_by_section[site_space.get("section") or ""].append(
            _world_node(draft, site_space, organization)
        )
    nodes_by_parent: dict[str, list[Json]] = defaultdict(list)
    for list_name in ("section-groups", "sections"):
        for item in lists.get(list_name, ()):
            node = _world_node(draft, {**item, "children": (), "siteSpaces": ()}, organization)
            node["children"] = (
                nodes_by_parent[item["id"]]
                if list_name == "section-groups"
                else site_spaces_by_section[item["id"]]
            )
            nodes_by_parent[item.get("sectionGroup") or ""].append(node)
    draft.get_site(organization, site)["structure"] = nodes_by_parent[""] or site_spaces_by_section[""]


def add_customizations(draft: WorldDraft) -> None:
    """Add the own customization of each site space to its navigation node."""
    for organization in draft.organizations.values():
        for site in organization.sites.values():
            for node in _all_nodes(site.get("structure", ())):
                if own := draft.customizations.get(node["id"]):
                    node["customization"] = own


def keep_redirects_without_node(draft: WorldDraft) -> None:
    """Move redirects whose destination node was not read from the sites' data to database records.

    The local server rejects such a redirect in a site's data, but loads records unchanged. The destination
    is listed as assumed.
    """
    for organization in draft.organizations.values():
        for site in organization.sites.values():
            known_ids = {node["id"] for node in _all_nodes(site.get("structure", ()))}
            kept_redirects = []
            for redirect in site.get("redirects", ()):
                destination = redirect["destination"]
                node = destination.get("siteSectionId") or destination.get("siteSpaceId")
                if node is None or node in known_ids:
                    kept_redirects.append(redirect)
                    continue
                kind = "section" if destination["kind"] == "site-section" else "site-space"
                doc = without_members(redirect, "id", "source")
                draft.add_record(
                    "redirect", redirect["id"], doc, organization.id, site["id"], f"{kind}:{node}",
                    ref=redirect["source"],
                )  # fmt: skip
                draft.assumed.append(
                    f"the destination of the redirect {redirect['source']} of the site {site['id']}"
                )
            if "redirects" in site:
                site["redirects"] = kept_redirects


def _all_nodes(nodes: Iterable[Json]) -> Iterable[Json]:
    """Yield all nodes of a navigation, at any depth."""
    for node in nodes:
        yield node
        yield from _all_nodes(node.get("children", ()))


def _difference_from_inherited(own: Json, inherited: Json) -> Json:
    """Return the part of a customization (`own`) that differs from the inherited one (`inherited`)."""
    differing = {}
    for name, value in own.items():
        if isinstance(value, dict) and isinstance(inherited.get(name), dict):
            value = _difference_from_inherited(value, inherited[name])
            if not value:
                continue
        elif value == inherited.get(name):
            continue
        differing[name] = value
    return differing
