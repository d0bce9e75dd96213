"""Define the API operations on joining an organization: method, path, models and handler of each.

Topics: invitations, invite links, SAML providers; and the search in an organization.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from ..handlers.people import joining
from ..models import joining as mj
from ..resources.settings import SAML_PROVIDERS
from .builders import FULL_ONLY, ORG, CrudOperations, delete, get, listing, patch, post

TITLE = "Invitations and sign-in"

INVITES = ORG + "/link-invites"

_PROVIDERS = CrudOperations(SAML_PROVIDERS)

_MANAGED_BY_NOTE = "Only admins of the object to which the invitation gives access can call this operation."

OPERATIONS = [
    post("inviteUsersToOrganization", ORG + "/invites", joining.invite_users, mj.Invited, mj.Invites,
         note="Each invited user becomes a member at once. For an unknown e-mail address, creates a user.",
         **FULL_ONLY),
    post("joinOrganizationWithInvite", ORG + "/invites/{inviteId}", joining.accept_invite, mj.Joined,
         required_role=None,
         note="Accepts a link invitation. The invitation never makes the caller's role weaker.",
         **FULL_ONLY),
    listing("listOrganizationInvites", INVITES, joining.list_invites, mj.LinkInvite,
            note="Lists the invitations that the caller can manage.", **FULL_ONLY),
    post("createOrganizationInvite", INVITES, joining.create_invite, mj.LinkInvite, mj.LinkInviteCreate,
         status=201, required_role=None, error_statuses=(403, 409),
         note=_MANAGED_BY_NOTE + " Returns 409 if the organization has turned off link invitations.",
         **FULL_ONLY),
    get("getOrganizationInviteById", INVITES + "/{inviteId}", joining.get_invite, mj.LinkInvite,
        error_statuses=(403,), note=_MANAGED_BY_NOTE, **FULL_ONLY),
    patch("updateOrganizationInviteById", INVITES + "/{inviteId}", joining.update_invite, mj.LinkInvite,
          mj.LinkInviteUpdate, required_role=None, error_statuses=(403,),
          note=_MANAGED_BY_NOTE, **FULL_ONLY),
    delete("deleteOrganizationInviteById", INVITES + "/{inviteId}", joining.delete_invite, required_role=None,
           error_statuses=(403,), note=_MANAGED_BY_NOTE),
    post("joinOrganization", ORG + "/join", joining.join_organization, None, status=204, required_role=None,
         error_statuses=(400,),
         note="Returns 400 if the caller has no verified e-mail address, and 404 if the "
              "organization does not accept the domain of the address."),
    listing("searchOrganizationContent", ORG + "/search", joining.search_organization, mj.SpaceHit,
            mj.SearchQuery),
    _PROVIDERS.list("listSAMLProvidersInOrganizationById", required_role="admin"),
    _PROVIDERS.create(
        "createOrganizationSAMLProvider",
        note="The provider is `pending` until `entityID`, `certificate` and `ssoURL` have values."),
    _PROVIDERS.get("getOrganizationSAMLProviderById", required_role="admin"),
    _PROVIDERS.update(
        "updateOrganizationSAMLProvider",
        note="Cannot clear `ssoURL` or `defaultTeam`."),
    _PROVIDERS.delete("deleteOrganizationSAMLProvider"),
    get("listSSOProviderLoginsInOrganization", ORG + "/sso", joining.list_saml_logins, mj.SsoLogins,
        note="Lists the active SAML providers. Every member can call this operation."),
]  # fmt: skip
