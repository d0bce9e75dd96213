"""Part 4.10: OpenAPI specifications."""

from ..handlers import openapi
from ..models import openapi as mp
from .rows import ORG, delete, get, listing, patch, post, put

SPEC = ORG + "/openapi/{specSlug}"

OPERATIONS = [
    listing("listOpenAPISpecs", ORG + "/openapi", openapi.list_specs, mp.OpenAPISpec, needs="read"),
    post("createOpenAPISpec", ORG + "/openapi", openapi.create_spec, mp.OpenAPISpec, mp.SpecCreate,
         status=201, needs="create"),
    get("getOpenAPISpecBySlug", SPEC, openapi.get_spec, mp.OpenAPISpec, needs="read"),
    put("createOrUpdateOpenAPISpecBySlug", SPEC, openapi.put_spec, mp.OpenAPISpec, mp.SpecPut,
        needs="create", creates=True),
    patch("updateOpenAPISpecBySlug", SPEC, openapi.update_spec, mp.OpenAPISpec, mp.SpecUpdate,
          needs="create"),
    delete("deleteOpenAPISpecBySlug", SPEC, openapi.delete_spec, needs="create"),
]  # fmt: skip
