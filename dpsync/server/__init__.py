"""The companion: a local service that serves the platform's API with real state.

It is an independent witness. It is written from the API's own description and imports nothing from the rest
of dpsync, so a plan that converges on it proves something. Its rooms, from the door to the floor; each is
called only by rooms above it:

    process       starts it: as a process of its own, or in a thread of a test
    console       the page for people: what is there, what was asked, the switches
    control       stands in front of the API: latency, rate limits, faults, a clock that stands still
    world, http   the state to start from; the service that takes requests and answers them
    operations    the table of what is served: one row each
    families      the declarations of all kinds of records
    handlers      what each operation does
    answers       what the API says of a record
    spaces, sites, integrations     the rules of each of these
    jobs          work that goes on after its request was answered
    records       what all kinds of records have in common
    request       one request, checked, and the state that it may touch
    access        who may do what
    models, content, store          shapes; content of pages; the database
    errors, clock, extras           what any room may use
"""
