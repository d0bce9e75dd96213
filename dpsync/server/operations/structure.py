"""Part 4.4: the navigation of a site."""

from ..handlers.sites import structure
from ..models import structure as ms
from .rows import ADDED, MOVED, SITE, delete, get, listing, patch, post

SECTION = SITE + "/sections/{siteSectionId}"
GROUP = SITE + "/section-groups/{siteSectionGroupId}"
PLACE = SITE + "/site-spaces/{siteSpaceId}"
LINK = SITE + "/external-links/{siteExternalLinkId}"

_SHARED = (
    "In the order of the navigation. On a share-link site, published URLs are in answers to the secret of an "
    "active share link only, and another `shareKey` is 404."
)
_MOVED = (
    "Among its siblings only; a position that names no sibling, or both sides, is 400, none is the end. 409 "
    "when the order stays as it is. A neighbour is named by `id` or by the member of its own type."
)

OPERATIONS = [
    get("getSiteStructure", SITE + "/structure", structure.get_structure, ms.Structure, **ADDED,
        decided="A site with a section, group or external link is of type `sections`, any other of type "
        "`siteSpaces`. Drafts and hidden site spaces are in it."),
    patch("sortSiteStructure", SITE + "/structure/sort", structure.sort_structure, ms.SortedNode, ms.Sort,
          minimal=True, **ADDED,
          needs="edit",
          decided="As a move, but an order that stays as it is is no failure."),
    listing("listSiteSections", SITE + "/sections", structure.list_sections, ms.SiteSection, ms.SharedQuery,
            decided=_SHARED),
    post("addSectionToSite", SITE + "/sections", structure.create_section, ms.SiteSection,
         ms.SectionCreate, status=201, minimal=True,
         needs="create",
         decided="At the end of its group or of the root; its path is a slug of its title, unique in the "
         "site. Without a title it has that of the space. The first one is the default. On a site "
         "with site spaces at its root, those first move into a section titled like the site. An "
         "addition: `spaceId` null makes a new space."),
    delete("deleteSiteSectionById", SECTION, structure.delete_section,
           needs="create",
           decided="With its site spaces, and the redirects that lead to it or to one of them; the spaces "
           "stay. When it was the default, the first section left is. A section that is not there "
           "is 204."),
    patch("updateSiteSectionById", SECTION, structure.update_section, ms.SiteSection, ms.SectionUpdate,
          errors=(409,), minimal=True,
          needs="edit",
          decided="A path of another section of the site is 409. `defaultSiteSpace` must be one of this "
          "section's: 400. Moved to another group (an addition), it goes to the end there."),
    post("moveSiteSection", SECTION + "/move", structure.move_section, ms.SiteSection, ms.NodeMove,
         deprecated=True, **MOVED, needs="edit", decided=_MOVED),
    listing("listSiteSectionGroups", SITE + "/section-groups", structure.list_groups, ms.SiteSectionGroup,
            decided="Groups in other groups, too, each before what is in it. With the profile of the "
            "reference `children` holds sections only."),
    post("addSectionGroupToSite", SITE + "/section-groups", structure.create_group, ms.SiteSectionGroup,
         ms.GroupCreate, status=201, minimal=True,
         needs="create",
         decided="Without a title it is `Untitled`. Sections named come from where they were, in the order "
         "of the body. Groups are nested at most 50 deep: 400. As with sections, a flat site gets "
         "a section for its site spaces."),
    patch("updateSiteSectionGroupById", GROUP, structure.update_group, ms.SiteSectionGroup, ms.GroupUpdate,
          minimal=True,
          needs="edit",
          decided="A group cannot come into itself, nor into a group below it: 400."),
    delete("deleteSiteSectionGroupById", GROUP, structure.delete_group,
           needs="create",
           decided="What is in it moves to where it stood."),
    post("addSectionToGroup", GROUP + "/sections", structure.add_group_section, ms.SiteSectionGroup,
         ms.GroupSection, status=201,
         needs="edit",
         decided="From wherever it was to the end of the group; a section that is in it keeps its place."),
    delete("removeSectionFromGroup", GROUP + "/sections/{siteSectionId}", structure.remove_group_section,
           needs="edit",
           decided="The section goes to the end of the root, also from a group in a group."),
    post("moveSiteSectionGroup", GROUP + "/move", structure.move_group, ms.SiteSectionGroup, ms.NodeMove,
         **MOVED, needs="edit", decided=_MOVED),
    listing("listSiteSpaces", SITE + "/site-spaces", structure.list_site_spaces, ms.SiteSpace,
            ms.SiteSpacesQuery,
            decided=_SHARED + " Each section has a default of its own: `default=true` finds all of these."),
    post("addSpaceToSite", SITE + "/site-spaces", structure.create_site_space, ms.SiteSpace,
         ms.SiteSpaceCreate, status=201, minimal=True,
         needs="create",
         decided="At the end of the section; its path is a slug of the title of the space, unique beside "
         "its siblings. The first there is the default. A space may be shown more than once. If a "
         "site of the type `site` has no sections, a section with the title of the site is created first. "
         "Additions: a title of its own, a draft, and a `pageId`, which is kept as it came."),
    delete("deleteSiteSpaceById", PLACE, structure.delete_site_space,
           needs="create",
           decided="With its customization and the redirects that lead to it. When it was the default, the "
           "first one left beside it is. Its section stays, even empty. One that is not there is "
           "204."),
    patch("updateSiteSpaceById", PLACE, structure.update_site_space, ms.SiteSpace, ms.SiteSpaceUpdate,
          errors=(409,), minimal=True,
          needs="edit",
          decided="A path of a sibling is 409; sections are apart. With another space the path stays."),
    post("moveSiteSpace", PLACE + "/move", structure.move_site_space, ms.SiteSpace, ms.NodeMove,
         deprecated=True, **MOVED, needs="edit", decided=_MOVED),
    post("createSiteExternalLink", SITE + "/external-links", structure.create_link, ms.SiteExternalLink,
         ms.LinkCreate, status=201, minimal=True, **ADDED,
         needs="create",
         decided="At the end of `parent`, a group, or of the root. Like a section, the first one on a flat "
         "site makes a section of its site spaces."),
    patch("updateSiteExternalLinkById", LINK, structure.update_link, ms.SiteExternalLink, ms.LinkUpdate,
          minimal=True, **ADDED,
          needs="edit",
          decided="`parent` moves it to the end of another group, null to the end of the root."),
    delete("deleteSiteExternalLinkById", LINK, structure.delete_link, **ADDED,
           needs="create",
           decided="One that is not there is 204."),
]  # fmt: skip
