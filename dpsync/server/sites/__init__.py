"""The rules of sites: navigation, visitors and looks.

In go a request's `Context` and a site; out come its navigation as one value, who reaches it, what is a draft,
and how it looks. Answers, handlers and families use it; it knows neither contents nor integrations.
"""
