"""Apply the rules of sites: navigation, visitors and customization, without content and integrations.

Input: the `Context` of a request, and a site.
Output: the navigation as one value, who can reach the site, what is a draft, and the customization.
"""
