"""Define the API operations on the navigation of a site: method, path, models and handler of each.

Topics: sections, section groups, site spaces and external links.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from ..handlers.sites import structure
from ..models import structure as ms
from .builders import FULL_ONLY, MOVE_OPTIONS, SITE, delete, get, listing, patch, post

TITLE = "Navigation of a site"

SECTION = SITE + "/sections/{siteSectionId}"
GROUP = SITE + "/section-groups/{siteSectionGroupId}"
SITE_SPACE = SITE + "/site-spaces/{siteSpaceId}"
LINK = SITE + "/external-links/{siteExternalLinkId}"

_SHARED_NOTE = (
    "Lists the sections in the order of the navigation. If the visibility of the site is `share-link`, "
    "returns 404 for an invalid `shareKey`."
)
_MOVE_NOTE = (
    "Moves the object only within its parent. Returns 409 if the order does not change, and 400 if the "
    "position is invalid."
)

OPERATIONS = [
    get("getSiteStructure", SITE + "/structure", structure.get_structure, ms.Structure, **FULL_ONLY,
        note="The response includes drafts and hidden site spaces."),
    patch("sortSiteStructure", SITE + "/structure/sort", structure.sort_structure, ms.SortedNode, ms.Sort,
          allows_minimal=True, **FULL_ONLY,
          required_role="edit",
          note="Succeeds even if the order does not change."),
    listing("listSiteSections", SITE + "/sections", structure.list_sections, ms.SiteSection, ms.SharedQuery,
            note=_SHARED_NOTE),
    post("addSectionToSite", SITE + "/sections", structure.create_section, ms.SiteSection,
         ms.SectionCreate, status=201, allows_minimal=True,
         required_role="create",
         note="Adds the section after all other sections, with a path that is made from the title. If "
              "`spaceId` is null, also creates a space."),
    delete("deleteSiteSectionById", SECTION, structure.delete_section,
           required_role="create",
           note="Also deletes the site spaces and redirects of the section, but not the spaces."),
    patch("updateSiteSectionById", SECTION, structure.update_section, ms.SiteSection, ms.SectionUpdate,
          error_statuses=(409,), allows_minimal=True,
          required_role="edit",
          note="Returns 409 if another section of the site has the same path."),
    post("moveSiteSection", SECTION + "/move", structure.move_section, ms.SiteSection, ms.NodeMove,
         deprecated=True, **MOVE_OPTIONS, required_role="edit", note=_MOVE_NOTE),
    listing("listSiteSectionGroups", SITE + "/section-groups", structure.list_groups, ms.SiteSectionGroup,
            note="Also lists groups inside other groups. A group comes before the groups that it contains."),
    post("addSectionGroupToSite", SITE + "/section-groups", structure.create_group, ms.SiteSectionGroup,
         ms.GroupCreate, status=201, allows_minimal=True,
         required_role="create",
         note="Moves the sections that the body lists into the new group. Groups can be at most 50 levels "
              "deep."),
    patch("updateSiteSectionGroupById", GROUP, structure.update_group, ms.SiteSectionGroup, ms.GroupUpdate,
          allows_minimal=True,
          required_role="edit",
          note="Returns 400 if the group would be inside itself."),
    delete("deleteSiteSectionGroupById", GROUP, structure.delete_group,
           required_role="create",
           note="Moves the sections and groups inside the group to the position of the group."),
    post("addSectionToGroup", GROUP + "/sections", structure.add_group_section, ms.SiteSectionGroup,
         ms.GroupSection, status=201,
         required_role="edit",
         note="Moves the section to the end of the group."),
    delete("removeSectionFromGroup", GROUP + "/sections/{siteSectionId}", structure.remove_group_section,
           required_role="edit",
           note="Moves the section to the end of the site's top level."),
    post("moveSiteSectionGroup", GROUP + "/move", structure.move_group, ms.SiteSectionGroup, ms.NodeMove,
         **MOVE_OPTIONS, required_role="edit", note=_MOVE_NOTE),
    listing("listSiteSpaces", SITE + "/site-spaces", structure.list_site_spaces, ms.SiteSpace,
            ms.SiteSpacesQuery,
            note="Lists the site spaces in the order of the navigation. With `default=true`, lists only the "
                 "default site space of each section."),
    post("addSpaceToSite", SITE + "/site-spaces", structure.create_site_space, ms.SiteSpace,
         ms.SiteSpaceCreate, status=201, allows_minimal=True,
         required_role="create",
         note="Adds the site space at the end. A site can show a space more than once."),
    delete("deleteSiteSpaceById", SITE_SPACE, structure.delete_site_space,
           required_role="create",
           note="Also deletes the customization and redirects of the site space. Keeps a section that "
                "becomes empty."),
    patch("updateSiteSpaceById", SITE_SPACE, structure.update_site_space, ms.SiteSpace, ms.SiteSpaceUpdate,
          error_statuses=(409,), allows_minimal=True,
          required_role="edit",
          note="Returns 409 if another site space of the section has the same path."),
    post("moveSiteSpace", SITE_SPACE + "/move", structure.move_site_space, ms.SiteSpace, ms.NodeMove,
         deprecated=True, **MOVE_OPTIONS, required_role="edit", note=_MOVE_NOTE),
    post("createSiteExternalLink", SITE + "/external-links", structure.create_link, ms.SiteExternalLink,
         ms.LinkCreate, status=201, allows_minimal=True, **FULL_ONLY,
         required_role="create",
         note="Adds the link at the end of `parent`. Without `parent`, adds the link at the end of the "
              "site's top level."),
    patch("updateSiteExternalLinkById", LINK, structure.update_link, ms.SiteExternalLink, ms.LinkUpdate,
          allows_minimal=True, **FULL_ONLY,
          required_role="edit",
          note="If the body has a new `parent`, moves the link to the end of this parent."),
    delete("deleteSiteExternalLinkById", LINK, structure.delete_link, **FULL_ONLY,
           required_role="create"),
]  # fmt: skip
