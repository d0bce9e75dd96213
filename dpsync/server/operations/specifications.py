"""Part 4.10: OpenAPI specifications."""

from ..handlers.jobs import specifications as specs
from ..models import openapi as mp
from .rows import ADDED, ORG, delete, get, listing, patch, post, put

SPEC = ORG + "/openapi/{specSlug}"
VERSIONS = SPEC + "/versions"
LATEST = VERSIONS + "/latest"
VERSION = VERSIONS + "/{versionId}"

_CONTENT = (
    "404 for a version of which nothing is kept. 409 for a YAML document that is part of itself: it has no "
    "end as JSON."
)
_RAW = "The text as it came, as `application/json` or `application/yaml`."

OPERATIONS = [
    listing("listOpenAPISpecs", ORG + "/openapi", specs.list_specs, mp.OpenAPISpec, needs="read",
            decided="Oldest first."),
    post("createOpenAPISpec", ORG + "/openapi", specs.create_spec, mp.OpenAPISpec, mp.SpecCreate,
         status=201, needs="create",
         decided="Private. The source is a `url` or a `text`, one of both. A slug that is taken is 400, as "
         "is one that is longer than 100 characters. Processing starts after the answer."),
    get("getOpenAPISpecBySlug", SPEC, specs.get_spec, mp.OpenAPISpec, needs="read",
        decided="`processingState` goes from pending to progress to complete, also when processing fails: "
        "then `lastProcessErrorCode` says how, and `lastVersion` stays. A text is not readable "
        "here, but in its version."),
    put("createOrUpdateOpenAPISpecBySlug", SPEC, specs.put_spec, mp.OpenAPISpec, mp.SpecPut,
        needs="create", creates=True,
        decided="201 when it was absent, 200 else. Each call processes the source, the same one again, "
        "too. The visibility stays."),
    patch("updateOpenAPISpecBySlug", SPEC, specs.update_spec, mp.OpenAPISpec, mp.SpecUpdate,
          needs="create", decided="`visibility` is needed. It does not process anything."),
    delete("deleteOpenAPISpecBySlug", SPEC, specs.delete_spec, needs="create",
           decided="With its versions; work on it that is under way ends."),
    listing("listOpenAPISpecVersions", VERSIONS, specs.list_versions, mp.OpenAPISpecVersion, needs="read",
            **ADDED, decided="One for each processing that succeeded, oldest first."),
    get("getLatestOpenAPISpecVersion", LATEST, specs.get_version, mp.OpenAPISpecVersion, needs="read",
        **ADDED, decided="404 until the first processing has succeeded."),
    get("getLatestOpenAPISpecVersionContent", LATEST + "/content", specs.get_version_content,
        mp.VersionContent, needs="read", errors=(409,), **ADDED, decided=_CONTENT),
    get("getLatestOpenAPISpecVersionContentRaw", LATEST + "/content/raw", specs.get_raw_version,
        mp.RawContent, needs="read", raw=True, **ADDED, decided=_RAW),
    get("getOpenAPISpecVersionById", VERSION, specs.get_version, mp.OpenAPISpecVersion, needs="read",
        **ADDED),
    get("getOpenAPISpecVersionContentById", VERSION + "/content", specs.get_version_content,
        mp.VersionContent, needs="read", errors=(409,), **ADDED, decided=_CONTENT),
    get("getOpenAPISpecVersionContentRawById", VERSION + "/content/raw", specs.get_raw_version,
        mp.RawContent, needs="read", raw=True, **ADDED, decided=_RAW),
]  # fmt: skip
