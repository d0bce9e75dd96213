"""OpenAPI specifications."""

from ..handlers.jobs import specifications as specs
from ..models import openapi as mp
from .rows import ADDED, ORG, delete, get, listing, patch, post, put

SPEC = ORG + "/openapi/{specSlug}"
VERSIONS = SPEC + "/versions"
LATEST = VERSIONS + "/latest"
VERSION = VERSIONS + "/{versionId}"

_CONTENT = "Returns the document as JSON. Returns 409 for YAML that contains itself."
_RAW = "Returns the original text."

OPERATIONS = [
    listing("listOpenAPISpecs", ORG + "/openapi", specs.list_specs, mp.OpenAPISpec, needs="read",
            note="Lists the oldest specifications first."),
    post("createOpenAPISpec", ORG + "/openapi", specs.create_spec, mp.OpenAPISpec, mp.SpecCreate,
         status=201, needs="create",
         note="Takes a `url` or a `text`, creates a private specification, and processes the source "
         "afterwards."),
    get("getOpenAPISpecBySlug", SPEC, specs.get_spec, mp.OpenAPISpec, needs="read",
        note="Keeps `lastVersion` when processing fails, and sets `lastProcessErrorCode`."),
    put("createOrUpdateOpenAPISpecBySlug", SPEC, specs.put_spec, mp.OpenAPISpec, mp.SpecPut,
        needs="create", creates=True,
        note="Processes the source at each call. Returns 201 for a new specification."),
    patch("updateOpenAPISpecBySlug", SPEC, specs.update_spec, mp.OpenAPISpec, mp.SpecUpdate,
          needs="create", note="Changes the required `visibility` without processing the source."),
    delete("deleteOpenAPISpecBySlug", SPEC, specs.delete_spec, needs="create",
           note="Deletes all versions too, and stops processing."),
    listing("listOpenAPISpecVersions", VERSIONS, specs.list_versions, mp.OpenAPISpecVersion, needs="read",
            **ADDED, note="Lists a version for each successful processing, oldest versions first."),
    get("getLatestOpenAPISpecVersion", LATEST, specs.get_version, mp.OpenAPISpecVersion, needs="read",
        **ADDED, note="Returns 404 until a processing succeeds."),
    get("getLatestOpenAPISpecVersionContent", LATEST + "/content", specs.get_version_content,
        mp.VersionContent, needs="read", errors=(409,), **ADDED, note=_CONTENT),
    get("getLatestOpenAPISpecVersionContentRaw", LATEST + "/content/raw", specs.get_raw_version,
        mp.RawContent, needs="read", raw=True, **ADDED, note=_RAW),
    get("getOpenAPISpecVersionById", VERSION, specs.get_version, mp.OpenAPISpecVersion, needs="read",
        **ADDED),
    get("getOpenAPISpecVersionContentById", VERSION + "/content", specs.get_version_content,
        mp.VersionContent, needs="read", errors=(409,), **ADDED, note=_CONTENT),
    get("getOpenAPISpecVersionContentRawById", VERSION + "/content/raw", specs.get_raw_version,
        mp.RawContent, needs="read", raw=True, **ADDED, note=_RAW),
]  # fmt: skip
