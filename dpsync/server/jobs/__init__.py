"""Work that goes on after its request was answered.

Handlers put jobs into the queue, in the transaction of their request; the queue runs them on the event
loop. Beside it: whom the companion contacts, and the stand-ins for what the platform has done by others:
a translator, an analyst, a checker of OpenAPI documents. What each job does is in `handlers.jobs`.
"""
