"""Invitations and sign-in."""

from ..families.settings import SAML
from ..handlers.people import joining
from ..models import joining as mj
from .rows import ADDED, ORG, Rows, delete, get, listing, patch, post

INVITES = ORG + "/link-invites"

_PROVIDERS = Rows(SAML)

_MANAGED_BY = "Only admins of the invite's target can call this operation."

OPERATIONS = [
    post("inviteUsersToOrganization", ORG + "/invites", joining.invite_users, mj.Invited, mj.Invites,
         note="Makes each invited user a member at once. Unknown e-mails create users.", **ADDED),
    post("joinOrganizationWithInvite", ORG + "/invites/{inviteId}", joining.use_invite, mj.Joined,
         needs=None,
         note="Uses a link invite. The invite never lowers the caller's role.",
         **ADDED),
    listing("listOrganizationInvites", INVITES, joining.list_invites, mj.LinkInvite,
            note="Lists the invites that the caller can manage.", **ADDED),
    post("createOrganizationInvite", INVITES, joining.create_invite, mj.LinkInvite, mj.LinkInviteCreate,
         status=201, needs=None, errors=(403, 409),
         note=_MANAGED_BY + " Returns 409 if the organization turned link invites off.", **ADDED),
    get("getOrganizationInviteById", INVITES + "/{inviteId}", joining.get_invite, mj.LinkInvite,
        errors=(403,), note=_MANAGED_BY, **ADDED),
    patch("updateOrganizationInviteById", INVITES + "/{inviteId}", joining.update_invite, mj.LinkInvite,
          mj.LinkInviteUpdate, needs=None, errors=(403,),
          note=_MANAGED_BY, **ADDED),
    delete("deleteOrganizationInviteById", INVITES + "/{inviteId}", joining.delete_invite, needs=None,
           errors=(403,), note=_MANAGED_BY),
    post("joinOrganization", ORG + "/join", joining.join_organization, None, status=204, needs=None,
         errors=(400,),
         note="Returns 400 without a verified e-mail, and 404 if the e-mail's domain cannot join."),
    listing("searchOrganizationContent", ORG + "/search", joining.search_organization, mj.SpaceHit,
            mj.SearchQuery),
    _PROVIDERS.list("listSAMLProvidersInOrganizationById", needs="admin"),
    _PROVIDERS.create(
        "createOrganizationSAMLProvider",
        note="Creates a pending provider until `entityID`, `certificate` and `ssoURL` are set."),
    _PROVIDERS.get("getOrganizationSAMLProviderById", needs="admin"),
    _PROVIDERS.update(
        "updateOrganizationSAMLProvider",
        note="Cannot clear `ssoURL` or `defaultTeam`."),
    _PROVIDERS.delete("deleteOrganizationSAMLProvider"),
    get("listSSOProviderLoginsInOrganization", ORG + "/sso", joining.list_logins, mj.SsoLogins,
        note="Lists active providers for every member."),
]  # fmt: skip
