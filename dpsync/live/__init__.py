"""Read GitBook with GET requests: lists, trees and single settings, never one request per list item.

Input: a `ReadClient`, `Desired` (the configuration), the git base (the commit compared with), the ids file.
Output: a `Snapshot` of the live objects with the entries that they match, and the lists that deletes depend
on.
"""
