"""Show a page for people at `/`: the data, the request log, and switches for faults and the clock.

Input: the state of the local server, and the forms of the page.
Output: HTML from templates. The page needs no network and no build, and works without its script.

Every text of the platform is foreign. The templates escape each value, show invisible characters, and isolate
the direction of a text. Nothing here may show a token or a secret.
"""
