"""The console: the companion's page for people, at `/`.

It shows what the platform holds, what was asked of it, and the switches for faults and the clock. It is made
of templates on the server, needs no network and no build, and works without its script.

Every text of the platform is foreign: the templates escape each value, show characters that nobody sees, and
keep the direction of a text inside of it. Nothing here may show a token or a secret.
"""
