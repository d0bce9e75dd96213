"""Apply the rules of sites: navigation, visitors and looks. It knows neither content nor integrations.

Input: the `Context` of a request, and a site.
Output: the navigation as one value, who can reach the site, what is a draft, and how the site looks.
"""
