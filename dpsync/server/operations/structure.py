"""Navigation of a site."""

from ..handlers.sites import structure
from ..models import structure as ms
from .rows import ADDED, MOVED, SITE, delete, get, listing, patch, post

SECTION = SITE + "/sections/{siteSectionId}"
GROUP = SITE + "/section-groups/{siteSectionGroupId}"
PLACE = SITE + "/site-spaces/{siteSpaceId}"
LINK = SITE + "/external-links/{siteExternalLinkId}"

_SHARED = "Lists entries in navigation order. Returns 404 for an invalid `shareKey` of a share-link site."
_MOVED = "Moves among siblings only. Returns 409 if the order stays the same and 400 for an invalid position."

OPERATIONS = [
    get("getSiteStructure", SITE + "/structure", structure.get_structure, ms.Structure, **ADDED,
        note="Includes drafts and hidden site spaces."),
    patch("sortSiteStructure", SITE + "/structure/sort", structure.sort_structure, ms.SortedNode, ms.Sort,
          minimal=True, **ADDED,
          needs="edit",
          note="Accepts an order that changes nothing."),
    listing("listSiteSections", SITE + "/sections", structure.list_sections, ms.SiteSection, ms.SharedQuery,
            note=_SHARED),
    post("addSectionToSite", SITE + "/sections", structure.create_section, ms.SiteSection,
         ms.SectionCreate, status=201, minimal=True,
         needs="create",
         note="Adds the section at the end, with a path made from the title. A null `spaceId` creates a "
         "space."),
    delete("deleteSiteSectionById", SECTION, structure.delete_section,
           needs="create",
           note="Deletes the section's site spaces and redirects, and keeps the spaces."),
    patch("updateSiteSectionById", SECTION, structure.update_section, ms.SiteSection, ms.SectionUpdate,
          errors=(409,), minimal=True,
          needs="edit",
          note="Returns 409 if another section of the site has the path."),
    post("moveSiteSection", SECTION + "/move", structure.move_section, ms.SiteSection, ms.NodeMove,
         deprecated=True, **MOVED, needs="edit", note=_MOVED),
    listing("listSiteSectionGroups", SITE + "/section-groups", structure.list_groups, ms.SiteSectionGroup,
            note="Lists nested groups too, each group before its content."),
    post("addSectionGroupToSite", SITE + "/section-groups", structure.create_group, ms.SiteSectionGroup,
         ms.GroupCreate, status=201, minimal=True,
         needs="create",
         note="Moves the named sections into the new group. Groups nest at most 50 deep."),
    patch("updateSiteSectionGroupById", GROUP, structure.update_group, ms.SiteSectionGroup, ms.GroupUpdate,
          minimal=True,
          needs="edit",
          note="Returns 400 if the group would be inside itself."),
    delete("deleteSiteSectionGroupById", GROUP, structure.delete_group,
           needs="create",
           note="Moves the group's content to the group's position."),
    post("addSectionToGroup", GROUP + "/sections", structure.add_group_section, ms.SiteSectionGroup,
         ms.GroupSection, status=201,
         needs="edit",
         note="Moves the section to the end of the group."),
    delete("removeSectionFromGroup", GROUP + "/sections/{siteSectionId}", structure.remove_group_section,
           needs="edit",
           note="Moves the section to the end of the site's top level."),
    post("moveSiteSectionGroup", GROUP + "/move", structure.move_group, ms.SiteSectionGroup, ms.NodeMove,
         **MOVED, needs="edit", note=_MOVED),
    listing("listSiteSpaces", SITE + "/site-spaces", structure.list_site_spaces, ms.SiteSpace,
            ms.SiteSpacesQuery,
            note="Lists entries in navigation order. `default=true` finds the default site space of each "
            "section."),
    post("addSpaceToSite", SITE + "/site-spaces", structure.create_site_space, ms.SiteSpace,
         ms.SiteSpaceCreate, status=201, minimal=True,
         needs="create",
         note="Adds the site space at the end. A site can show a space more than once."),
    delete("deleteSiteSpaceById", PLACE, structure.delete_site_space,
           needs="create",
           note="Deletes the site space's customization and redirects, and keeps an empty section."),
    patch("updateSiteSpaceById", PLACE, structure.update_site_space, ms.SiteSpace, ms.SiteSpaceUpdate,
          errors=(409,), minimal=True,
          needs="edit",
          note="Returns 409 if another site space of the section has the path."),
    post("moveSiteSpace", PLACE + "/move", structure.move_site_space, ms.SiteSpace, ms.NodeMove,
         deprecated=True, **MOVED, needs="edit", note=_MOVED),
    post("createSiteExternalLink", SITE + "/external-links", structure.create_link, ms.SiteExternalLink,
         ms.LinkCreate, status=201, minimal=True, **ADDED,
         needs="create",
         note="Adds the link at the end of `parent`, or at the site's top level."),
    patch("updateSiteExternalLinkById", LINK, structure.update_link, ms.SiteExternalLink, ms.LinkUpdate,
          minimal=True, **ADDED,
          needs="edit",
          note="Moves the link to the end of the new `parent`."),
    delete("deleteSiteExternalLinkById", LINK, structure.delete_link, **ADDED,
           needs="create"),
]  # fmt: skip
