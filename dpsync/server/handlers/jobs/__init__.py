"""Carry out operations that continue in a job: specifications, translations, analyses of conversations.

Input: the `Context` of a checked request, or the arguments of a job.
Output: the body of the response, or an `ApiError`; a job changes records after the response.
"""
