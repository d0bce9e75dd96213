"""Part 4.8: who comes into an organization, and how."""

from ..families.settings import SAML
from ..handlers.people import joining
from ..models import joining as mj
from .rows import ADDED, ORG, Rows, delete, get, listing, patch, post

INVITES = ORG + "/link-invites"

_PROVIDERS = Rows(SAML)

_MANAGED_BY = (
    "By admins of what it leads to: of the organization, or of the space or collection (viewInviteLinks)."
)

OPERATIONS = [
    post("inviteUsersToOrganization", ORG + "/invites", joining.invite_users, mj.Invited, mj.Invites,
         decided="Whoever is invited is a member at once, with the role given with the e-mail, else the "
         "common one, else the default role; for an e-mail that nobody has, a user is made. Members "
         "stay as they are and are not counted in invited. With sso, e-mails of domains that are not "
         "the organization's fail.", **ADDED),
    post("joinOrganizationWithInvite", ORG + "/invites/{inviteId}", joining.use_invite, mj.Joined,
         needs=None,
         decided="Uses a link invite. Nobody gets less than they had; with one to a space or collection a "
         "stranger becomes a guest with that role there. 404 also while invite links are off.",
         **ADDED),
    listing("listOrganizationInvites", INVITES, joining.list_invites, mj.LinkInvite,
            decided="Those that the caller may manage. " + _MANAGED_BY, **ADDED),
    post("createOrganizationInvite", INVITES, joining.create_invite, mj.LinkInvite, mj.LinkInviteCreate,
         status=201, needs=None, errors=(403, 409),
         decided=_MANAGED_BY + " 409 while the organization has invite links turned off.", **ADDED),
    get("getOrganizationInviteById", INVITES + "/{inviteId}", joining.get_invite, mj.LinkInvite,
        errors=(403,), decided=_MANAGED_BY, **ADDED),
    patch("updateOrganizationInviteById", INVITES + "/{inviteId}", joining.update_invite, mj.LinkInvite,
          mj.LinkInviteUpdate, needs=None, errors=(403,),
          decided=_MANAGED_BY + " The role of one to the organization, the level of one to a space or "
          "collection; the other is 400.", **ADDED),
    delete("deleteOrganizationInviteById", INVITES + "/{inviteId}", joining.delete_invite, needs=None,
           errors=(403,), decided=_MANAGED_BY),
    post("joinOrganization", ORG + "/join", joining.join_organization, None, status=204, needs=None,
         errors=(400,),
         decided="With the default role. 400 without a verified e-mail; 404 for an organization that is not "
         "there or not open to the domain, and for a disabled member. Who is a member stays so."),
    listing("searchOrganizationContent", ORG + "/search", joining.search_organization, mj.SpaceHit,
            mj.SearchQuery),
    _PROVIDERS.list("listSAMLProvidersInOrganizationById", needs="admin"),
    _PROVIDERS.create(
        "createOrganizationSAMLProvider",
        decided="Labels are not unique. It is pending until entityID, certificate and ssoURL are set. A "
        "default team that is not there is 404."),
    _PROVIDERS.get("getOrganizationSAMLProviderById", needs="admin"),
    _PROVIDERS.update(
        "updateOrganizationSAMLProvider",
        decided="No request unsets ssoURL. Only deleting the team unsets defaultTeam. A null "
        "defaultRole means guest. The answer for a provider without ssoURL omits the member; on "
        "published, whose document requires ssoURL, the answer contains an empty text."),
    _PROVIDERS.delete("deleteOrganizationSAMLProvider"),
    get("listSSOProviderLoginsInOrganization", ORG + "/sso", joining.list_logins, mj.SsoLogins,
        decided="For every member; active providers only."),
]  # fmt: skip
