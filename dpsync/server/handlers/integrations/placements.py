"""Installations of integrations on spaces and sites, and what is enabled there."""

from ... import answers
from ...errors import conflict, missing
from ...integrations import installations
from ...integrations.events import INTEGRATION
from ...integrations.installations import INSTALLATION, ON_SITE, ON_SPACE
from ...request.context import Context
from ...store import Json, Record
from .installations import has_external_id, installation_of, page_by_id, sees_installation, update
from .integrations import administers, called, known, listed


def _on(ctx: Context, kind: str, target: str) -> tuple[Record, Record, Record]:
    """The integration, the installation, and a space or site of its organization, which the caller may view
    and has the role on that the operation needs. Whoever has it, also a guest, may name the installation.
    """
    integration, id = known(ctx), ctx.params["installationId"]
    installation = ctx.store.get(INSTALLATION, id)
    if installation is None or installation.ref != integration.id:
        raise missing("installation", id)
    level = installations.LEVEL[kind]
    found = ctx.load(level, target)
    if found is None or found.organization != installation.organization or not ctx.sees(found):
        listed_to_caller = sees_installation(ctx, integration, installation)
        raise missing(level, target) if listed_to_caller else missing("installation", id)
    ctx.demand(found, ctx.needs)
    return integration, installation, found


def _put_on(ctx: Context, kind: str, target: str) -> Json:
    integration, installation, item = _on(ctx, kind, target)
    if integration.doc["target"] not in ("all", installations.LEVEL[kind]):
        raise conflict(f"the target of {integration.id!r} is {integration.doc['target']}, no {item.kind}")
    id = f"{installation.id}:{item.id}"
    there = ctx.store.get(kind, id)
    if there is None:
        there = Record(kind, id, {"configuration": {}, "externalIds": []}, item.organization, installation.id)
        there.parent, there.ref = integration.id, item.id
        ctx.put(there)
        installations.tell_setup(ctx, integration, there)
    return answers.placed(ctx, there, ctx.query.extended)


def _placed(ctx: Context, kind: str, target: str) -> tuple[Record, Record]:
    integration, installation, item = _on(ctx, kind, target)
    found = ctx.store.get(kind, f"{installation.id}:{item.id}")
    if found is None:
        raise missing(f"installation on the {item.kind}", item.id)
    return integration, found


def _update_on(ctx: Context, kind: str, target: str) -> Json:
    integration, placed = _placed(ctx, kind, target)
    update(ctx, integration, placed)
    return answers.placed(ctx, placed, ctx.query.extended)


def _take_off(ctx: Context, kind: str, target: str) -> None:
    _, installation, item = _on(ctx, kind, target)
    found = ctx.store.get(kind, f"{installation.id}:{item.id}")
    if found is not None:
        installations.take_off(ctx, found)


def _list_on(ctx: Context, integration: Record, found: list[Record]) -> Json:
    """Where the caller may view the space or site; all of them for who publishes the integration."""

    def viewed(record: Record) -> bool:
        item = ctx.load(installations.LEVEL[record.kind], record.ref)
        return item is not None and (administers(ctx, integration) or ctx.sees(item))

    visible, extended = [record for record in found if viewed(record)], ctx.query.extended
    return page_by_id(ctx, visible, lambda record: answers.placed(ctx, record, extended))


def _list_everywhere(ctx: Context, kind: str) -> Json:
    integration = known(ctx)
    found = ctx.store.find(kind, parent=integration.id)
    return _list_on(ctx, integration, [record for record in found if has_external_id(ctx.query, record)])


def _list_below(ctx: Context, kind: str) -> Json:
    integration, installation = installation_of(ctx)
    return _list_on(ctx, integration, ctx.store.find(kind, scope=installation.id))


def list_on_spaces(ctx: Context) -> Json:
    return _list_everywhere(ctx, ON_SPACE)


def list_spaces(ctx: Context) -> Json:
    return _list_below(ctx, ON_SPACE)


def install_on_space(ctx: Context) -> Json:
    return _put_on(ctx, ON_SPACE, ctx.body.space)


def get_on_space(ctx: Context) -> Json:
    return answers.placed(ctx, _placed(ctx, ON_SPACE, ctx.params["spaceId"])[1], ctx.query.extended)


def update_on_space(ctx: Context) -> Json:
    return _update_on(ctx, ON_SPACE, ctx.params["spaceId"])


def uninstall_from_space(ctx: Context) -> None:
    _take_off(ctx, ON_SPACE, ctx.params["spaceId"])


def list_on_sites(ctx: Context) -> Json:
    return _list_everywhere(ctx, ON_SITE)


def list_sites(ctx: Context) -> Json:
    return _list_below(ctx, ON_SITE)


def install_on_site(ctx: Context) -> Json:
    return _put_on(ctx, ON_SITE, ctx.body.siteId)


def get_on_site(ctx: Context) -> Json:
    return answers.placed(ctx, _placed(ctx, ON_SITE, ctx.params["siteId"])[1], ctx.query.extended)


def update_on_site(ctx: Context) -> Json:
    return _update_on(ctx, ON_SITE, ctx.params["siteId"])


def uninstall_from_site(ctx: Context) -> None:
    _take_off(ctx, ON_SITE, ctx.params["siteId"])


# --- enabled on a space or site -----------------------------------------------------------------------


def list_of_space(ctx: Context) -> Json:
    return _list_enabled(ctx, ctx.space(), ON_SPACE)


def list_of_site(ctx: Context) -> Json:
    return _list_enabled(ctx, ctx.site(), ON_SITE)


def _list_enabled(ctx: Context, item: Record, kind: str) -> Json:
    placed = {record.scope: record for record in ctx.store.find(kind, ref=item.id)}
    found = []
    for installation in ctx.store.find(INSTALLATION, organization=item.organization):
        integration = ctx.load(INTEGRATION, installation.ref)
        if (
            integration is not None
            and called(integration, ctx.query.search)
            and installations.enabled(integration, installation, placed.get(installation.id), kind)
        ):
            found.append(integration)
    return listed(ctx, found)
