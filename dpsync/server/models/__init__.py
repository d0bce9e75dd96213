"""Define the shapes of requests and responses as the API describes them: limits, enumerations, names.

Input: JSON bodies and queries.
Output: checked values, and the schemas of the OpenAPI document. The models have no behavior.
"""
