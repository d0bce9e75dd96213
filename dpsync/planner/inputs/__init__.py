"""Both sides of a plan under one set of names: what the files want (desired) and what is live
(snapshot), with what people have answered.

In come `Desired`, `Snapshot`, the git base and the typed answers. Out goes `Sides`, with four views of
it: `names` (who is called what), `lineage` (what is in what), `policies` (what the policy says about a
thing) and `values` (a field as it is compared, shown and sent). Every other room may use this one; it
uses none of them.
"""
