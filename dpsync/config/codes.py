"""The stable codes of what this package finds while reading files, each with its one-line title."""

from __future__ import annotations

from typing import Final

SYNTAX: Final = "DP101"
ENCODING: Final = "DP102"
CHARACTER: Final = "DP103"
FILE_SIZE: Final = "DP104"
DEPTH: Final = "DP105"
NODES: Final = "DP106"
TEXT_SIZE: Final = "DP107"
ALIASES: Final = "DP108"
ALIAS: Final = "DP109"
DUPLICATE_KEY: Final = "DP110"
KEY: Final = "DP111"
MERGE_KEY: Final = "DP112"
TAG: Final = "DP113"
NUMBER: Final = "DP114"
DOCUMENTS: Final = "DP115"
YAML_VERSION: Final = "DP116"
FORMAT_VERSION: Final = "DP117"
SHAPE: Final = "DP118"

NO_ROOT: Final = "DP120"
TWO_ROOTS: Final = "DP121"
UNREADABLE: Final = "DP122"
INCLUDE: Final = "DP123"
NO_MATCH: Final = "DP124"
OUTSIDE: Final = "DP125"
NOT_A_FILE: Final = "DP126"
TOP_KEY: Final = "DP127"
GIVEN_TWICE: Final = "DP128"
EMPTY: Final = "DP129"
NOT_INCLUDED: Final = "DP130"

MISSING_VARIABLE: Final = "DP131"
MALFORMED_VARIABLE: Final = "DP132"
VARIABLE_VALUE: Final = "DP133"

BASE: Final = "DP140"
ENVIRONMENT: Final = "DP141"
NO_ENVIRONMENT: Final = "DP142"

IDS_SHAPE: Final = "DP150"
IDS_ADDRESS: Final = "DP151"
IDS_ID: Final = "DP152"
IDS_TWICE: Final = "DP153"
IDS_CONFLICT: Final = "DP154"

TITLES: Final[dict[str, str]] = {
    SYNTAX: "The file is not valid YAML",
    ENCODING: "The file is not UTF-8 text",
    CHARACTER: "A character that may not occur in a configuration",
    FILE_SIZE: "The file is too large",
    DEPTH: "Lists and mappings are nested too deeply",
    NODES: "The file holds too many values",
    TEXT_SIZE: "One text is too long",
    ALIASES: "The file holds too many aliases",
    ALIAS: "An alias that names no finished anchor",
    DUPLICATE_KEY: "A key is given twice in one mapping",
    KEY: "A key that is not one line of text",
    MERGE_KEY: 'Merge keys ("<<") are not supported',
    TAG: "Tags are not supported",
    NUMBER: "A number that JSON cannot hold",
    DOCUMENTS: "The file holds more than one document",
    YAML_VERSION: "The file asks for another version of YAML",
    FORMAT_VERSION: "The version of the configuration format is missing or unknown",
    SHAPE: "A mapping is expected here",
    NO_ROOT: "No configuration file was found",
    TWO_ROOTS: "Two configuration files in one directory",
    UNREADABLE: "A file cannot be read",
    INCLUDE: "An include is not a relative path or pattern",
    NO_MATCH: "An include matches no file",
    OUTSIDE: "An include leads outside the project",
    NOT_A_FILE: "An include is not a regular file",
    TOP_KEY: "A key that is not allowed at the top of this file",
    GIVEN_TWICE: "One value is given in two files",
    EMPTY: "The configuration is empty",
    NOT_INCLUDED: "A file that was a part of the configuration, and that nothing includes",
    MISSING_VARIABLE: "A variable is not set",
    MALFORMED_VARIABLE: 'A "${" that is not a variable',
    VARIABLE_VALUE: "The value of a variable cannot be used",
    BASE: "A commit cannot be the git base",
    ENVIRONMENT: "An environment is not as it should be",
    NO_ENVIRONMENT: "There is no such environment",
    IDS_SHAPE: "The ids file is not as it should be",
    IDS_ADDRESS: "A line of the ids file is for no entry",
    IDS_ID: "A line of the ids file has no id",
    IDS_TWICE: "An entry has two lines in the ids file",
    IDS_CONFLICT: "The ids file has conflict markers",
}
