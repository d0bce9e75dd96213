"""Send requests to GitBook's API: authentication, deadlines, retries, rate limits and pages.

Input: a URL, a token, and the method, path and body of each request.
Output: JSON, or an exception that says whether the request may have had an effect. `ReadClient` cannot write.
"""
