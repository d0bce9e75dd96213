"""Part 4.4: the navigation of a site."""

from ..handlers import structure
from ..models import sites as ms
from .rows import ADDED, MOVED, SITE, delete, get, listing, patch, post

SECTION = SITE + "/sections/{siteSectionId}"
GROUP = SITE + "/section-groups/{siteSectionGroupId}"
PLACE = SITE + "/site-spaces/{siteSpaceId}"

OPERATIONS = [
    get("getSiteStructure", SITE + "/structure", structure.get_structure, ms.Structure, **ADDED),
    patch("sortSiteStructure", SITE + "/structure/sort", structure.sort_structure, ms.SortedNode, ms.Sort,
          **ADDED),
    listing("listSiteSections", SITE + "/sections", structure.list_sections, ms.SiteSection, ms.SharedQuery),
    post("createSiteSection", SITE + "/sections", structure.create_section, ms.SiteSection,
         ms.SectionCreate, status=201),
    delete("deleteSiteSection", SECTION, structure.delete_section),
    patch("updateSiteSection", SECTION, structure.update_section, ms.SiteSection, ms.SectionUpdate,
          errors=(409,)),
    post("moveSiteSection", SECTION + "/move", structure.move_section, ms.SiteSection, ms.NodeMove,
         deprecated=True, **MOVED),
    listing("listSiteSectionGroups", SITE + "/section-groups", structure.list_groups, ms.SiteSectionGroup),
    post("createSiteSectionGroup", SITE + "/section-groups", structure.create_group, ms.SiteSectionGroup,
         ms.GroupCreate, status=201),
    patch("updateSiteSectionGroup", GROUP, structure.update_group, ms.SiteSectionGroup, ms.GroupUpdate),
    delete("deleteSiteSectionGroup", GROUP, structure.delete_group),
    post("addSectionToGroup", GROUP + "/sections", structure.add_group_section, ms.SiteSectionGroup,
         ms.GroupSection, status=201),
    delete("removeSectionFromGroup", GROUP + "/sections/{siteSectionId}", structure.remove_group_section),
    post("moveSiteSectionGroup", GROUP + "/move", structure.move_group, ms.SiteSectionGroup, ms.NodeMove,
         **MOVED),
    listing("listSiteSpaces", SITE + "/site-spaces", structure.list_site_spaces, ms.SiteSpace,
            ms.SiteSpacesQuery),
    post("createSiteSpace", SITE + "/site-spaces", structure.create_site_space, ms.SiteSpace,
         ms.SiteSpaceCreate, status=201),
    delete("deleteSiteSpace", PLACE, structure.delete_site_space),
    patch("updateSiteSpace", PLACE, structure.update_site_space, ms.SiteSpace, ms.SiteSpaceUpdate,
          errors=(409,)),
    post("moveSiteSpace", PLACE + "/move", structure.move_site_space, ms.SiteSpace, ms.NodeMove,
         deprecated=True, **MOVED),
]  # fmt: skip
