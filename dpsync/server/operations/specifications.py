"""Define the API operations on OpenAPI specifications: method, path, models and handler of each.

Topics: specifications of an organization and their versions.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from ..handlers.jobs import specifications as specs
from ..models import openapi as mp
from .builders import FULL_ONLY, ORG, delete, get, listing, patch, post, put

TITLE = "OpenAPI specifications"

SPEC = ORG + "/openapi/{specSlug}"
VERSIONS = SPEC + "/versions"
LATEST = VERSIONS + "/latest"
VERSION = VERSIONS + "/{versionId}"

_CONTENT_NOTE = "Returns the document as JSON. Returns 409 if a YAML alias makes the document contain itself."
_RAW_NOTE = "Returns the specification as a file, without changes."

OPERATIONS = [
    listing("listOpenAPISpecs", ORG + "/openapi", specs.list_specs, mp.OpenAPISpec, required_role="read",
            note="Lists the oldest specifications first."),
    post("createOpenAPISpec", ORG + "/openapi", specs.create_spec, mp.OpenAPISpec, mp.SpecCreate,
         status=201, required_role="create",
         note="Creates a private specification from a `url` or a `text`. Processes the source in the "
              "background."),
    get("getOpenAPISpecBySlug", SPEC, specs.get_spec, mp.OpenAPISpec, required_role="read",
        note="If the source cannot be processed, `lastVersion` is the previous version, and "
             "`lastProcessErrorCode` contains the error."),
    put("createOrUpdateOpenAPISpecBySlug", SPEC, specs.put_spec, mp.OpenAPISpec, mp.SpecPut,
        required_role="create", may_create=True,
        note="Processes the source at each call. Returns 201 for a new specification."),
    patch("updateOpenAPISpecBySlug", SPEC, specs.update_spec, mp.OpenAPISpec, mp.SpecUpdate,
          required_role="create",
          note="Changes `visibility`, which the body must contain. Does not process the "
               "source."),
    delete("deleteOpenAPISpecBySlug", SPEC, specs.delete_spec, required_role="create",
           note="Also deletes all versions, and stops processing."),
    listing("listOpenAPISpecVersions", VERSIONS, specs.list_versions, mp.OpenAPISpecVersion,
            required_role="read",
            **FULL_ONLY, note="Lists one version for each successful processing, with the oldest version "
                              "first."),
    get("getLatestOpenAPISpecVersion", LATEST, specs.get_version, mp.OpenAPISpecVersion, required_role="read",
        **FULL_ONLY, note="Returns 404 until processing succeeds for the first time."),
    get("getLatestOpenAPISpecVersionContent", LATEST + "/content", specs.get_version_content,
        mp.VersionContent, required_role="read", error_statuses=(409,), **FULL_ONLY, note=_CONTENT_NOTE),
    get("getLatestOpenAPISpecVersionContentRaw", LATEST + "/content/raw", specs.get_raw_version,
        mp.RawContent, required_role="read", returns_text=True, **FULL_ONLY, note=_RAW_NOTE),
    get("getOpenAPISpecVersionById", VERSION, specs.get_version, mp.OpenAPISpecVersion, required_role="read",
        **FULL_ONLY),
    get("getOpenAPISpecVersionContentById", VERSION + "/content", specs.get_version_content,
        mp.VersionContent, required_role="read", error_statuses=(409,), **FULL_ONLY, note=_CONTENT_NOTE),
    get("getOpenAPISpecVersionContentRawById", VERSION + "/content/raw", specs.get_raw_version,
        mp.RawContent, required_role="read", returns_text=True, **FULL_ONLY, note=_RAW_NOTE),
]  # fmt: skip
