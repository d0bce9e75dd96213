"""The vocabulary of every output: what is said of a plan, of drift, of an apply and of a value.

In come frozen values of the model, out go sentences in which every foreign text has passed `visible()`. No
word here knows a medium, a colour or a layout. Every room of `render` may call it; so may `cli` and `github`
for what they say beside a document.
"""
