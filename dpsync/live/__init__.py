"""Read the platform with GET requests: lists, trees and single settings, never one request per list item.

Input: a `ReadClient`, `Desired`, the git base and the ids file.
Output: a `Snapshot` of the live objects with their matches, and the lists that deletes depend on.
"""
