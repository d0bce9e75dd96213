"""Part 4.8: who comes into an organization, and how."""

from ..handlers import joining, saml
from ..models import joining as mj
from ..models import saml as ml
from .rows import ADDED, ORG, delete, get, listing, patch, post

INVITES = ORG + "/link-invites"
SAML = ORG + "/saml/{samlProviderId}"

OPERATIONS = [
    listing("listOrganizationInvites", INVITES, joining.list_invites, mj.LinkInvite, needs="admin",
            **ADDED),
    post("createOrganizationInvite", INVITES, joining.create_invite, mj.LinkInvite, mj.LinkInviteCreate,
         status=201, errors=(409,), **ADDED),
    get("getOrganizationInviteById", INVITES + "/{inviteId}", joining.get_invite, mj.LinkInvite,
        needs="admin", **ADDED),
    delete("deleteOrganizationInviteById", INVITES + "/{inviteId}", joining.delete_invite),
    post("joinOrganization", ORG + "/join", joining.join_organization, None, status=204, needs=None,
         errors=(400,)),
    listing("searchOrganizationContent", ORG + "/search", joining.search_organization, mj.SpaceHit,
            mj.SearchQuery),
    listing("listSAMLProvidersInOrganizationById", ORG + "/saml", saml.list_providers, ml.SamlProvider,
            needs="admin"),
    post("createOrganizationSAMLProvider", ORG + "/saml", saml.create_provider, ml.SamlProvider,
         ml.SamlProviderCreate, status=201),
    get("getOrganizationSAMLProviderById", SAML, saml.get_provider, ml.SamlProvider, needs="admin"),
    patch("updateOrganizationSAMLProvider", SAML, saml.update_provider, ml.SamlProvider,
          ml.SamlProviderUpdate),
    delete("deleteOrganizationSAMLProvider", SAML, saml.delete_provider),
    get("listSSOProviderLoginsInOrganization", ORG + "/sso", saml.list_logins, ml.SsoLogins),
]  # fmt: skip
