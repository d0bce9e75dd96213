"""Imitate GitBook: a local server (the *companion*) with GitBook's API, for tests and rehearsals.

Input: HTTP requests, and a *world*, which is the data that the server starts with.
Output: responses from real state, as the API describes them. The package imports nothing from the rest of
dpsync, so that tests check dpsync against an independent implementation. A *profile* is an API version.
"""

# Each package is imported only by packages above it:
#
# process       starts the server: in a process, or in a thread of a test
# console       the page for people: the data, the request log, the switches
# control       layers in front of the API: latency, rate limits, faults, a clock that can stand still
# world, http   the initial data; the service that routes requests
# operations    the table of operations, one row each
# resources     the declarations of all kinds of records
# handlers      the code of each operation
# responses     the body of a response, made from a record
# spaces, sites, integrations     the rules of each of these
# jobs          work that continues after the response
# records       what all kinds of records share
# request       one checked request, and the state that it may use
# access        who may do what
# models, content, store          shapes; content of pages; the database
# errors, clock, extras           helpers that every package may use
