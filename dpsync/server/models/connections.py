"""Define request and response models of context connections: services that a site's AI agents read.

The settings of a connection depend on its connector (the type of the service). They can contain tokens.
The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from .base import AnswerBody, Body, Id, Timestamp, Url, Urls, optional_field

Connector = Annotated[
    str,
    Field(
        pattern=r"^(integration:[^:]+|builtin:(email|api|website|youtube|github-discussions|github-issues"
        r"|intercom|front|zendesk|zoho-desk|freshdesk|pylon|hubspot|linear|jira))$"
    ),
]
NonEmptyText = Annotated[str, Field(min_length=1)]
Repository = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$")]
VideoChannel = Annotated[str, Field(pattern=r"^(UC[A-Za-z0-9_-]{22}|@[A-Za-z0-9._-]{3,100})$")]
ChangeRequestStatus = Literal["draft", "open", "archived", "merged"]


class OfWebsite(Body):
    url: Url


class OfYoutube(Body):
    channelId: VideoChannel


class OfRepository(Body):
    repository: Repository
    token: NonEmptyText


class OfToken(Body):
    token: NonEmptyText


class OfZendesk(Body):
    subdomain: NonEmptyText
    email: NonEmptyText
    apiToken: NonEmptyText


class OfZohoDesk(Body):
    dataCenter: NonEmptyText
    orgId: NonEmptyText
    clientId: NonEmptyText
    clientSecret: NonEmptyText
    refreshToken: NonEmptyText


class OfFreshdesk(Body):
    domain: NonEmptyText
    apiKey: NonEmptyText


class OfJira(Body):
    baseUrl: Url
    apiEmail: str = Field(min_length=1, max_length=254, pattern=r"^[^@\s]+@[^@\s]+$")
    apiToken: str = Field(min_length=1, max_length=1024)
    statusMapping: dict[ChangeRequestStatus, Annotated[str, Field(min_length=1, max_length=255)]] = (
        optional_field()
    )


SETUP_MODELS: dict[str, type[Body]] = {
    "builtin:website": OfWebsite,
    "builtin:youtube": OfYoutube,
    "builtin:github-discussions": OfRepository,
    "builtin:github-issues": OfRepository,
    "builtin:zendesk": OfZendesk,
    "builtin:zoho-desk": OfZohoDesk,
    "builtin:freshdesk": OfFreshdesk,
    "builtin:jira": OfJira,
    **{f"builtin:{name}": OfToken for name in ("intercom", "front", "pylon", "hubspot", "linear")},
}
"""The model of the settings of each connector. The other connectors have no settings."""


def _parse_settings(setup: type[Body], values: dict[str, Any] | None) -> dict[str, Any]:
    """Return the settings that the connector knows.

    An error message does not contain the value, because the value may be a token.
    """
    try:
        return setup.model_validate(values or {}).sent_fields()
    except ValidationError as error:
        first_error = error.errors(include_input=False)[0]
        where = ".".join(map(str, ("setupSettings", *first_error["loc"])))
        raise ValueError(f"{where}: {first_error['msg']}") from None


class Usage(Body):
    """`sync`: whether the state of change requests is written to what the connection leads to."""

    changeRequests: bool
    search: bool
    sync: bool = optional_field()
    searchBoost: Literal["x0.8", "x1.0", "x1.2"]


class IngestionAddress(AnswerBody):
    ingestionAddress: str = optional_field()


class ContextConnection(AnswerBody):
    object: Literal["context-connection"]
    id: Id
    connector: Connector
    setupSettings: dict[str, Any] = optional_field()
    label: str = optional_field(max_length=128)
    filter: str = optional_field(max_length=1024)
    status: Literal["pending", "syncing", "succeeded", "failed"]
    records: int
    failureMessage: str = optional_field()
    failureReason: Literal[
        "authentication", "misconfigured", "rate_limited", "upstream_unavailable", "unknown"
    ] = optional_field()
    email: IngestionAddress = optional_field()
    usageSettings: Usage
    createdAt: Timestamp
    syncedAt: Timestamp = optional_field()
    urls: Urls


class ConnectionUpdate(Body):
    """A connector that is named comes with all that it is set up with."""

    connector: Connector = optional_field()
    setupSettings: dict[str, Any] = optional_field()
    usageSettings: Usage = optional_field()
    label: str = optional_field(max_length=128)
    filter: str = optional_field(max_length=1024)

    @model_validator(mode="after")
    def _check_setup_settings(self) -> Self:
        """Check the settings against the model of the connector."""
        has_settings = "setupSettings" in self.model_fields_set
        if "connector" not in self.model_fields_set:
            if has_settings:
                raise ValueError("setupSettings: also set the connector")
            return self
        setup = SETUP_MODELS.get(self.connector)
        if setup is not None:
            self.setupSettings = _parse_settings(setup, self.setupSettings)
        elif has_settings:
            self.model_fields_set.discard("setupSettings")
        return self


class ConnectionCreate(ConnectionUpdate):
    """It takes no label."""

    connector: Connector


class ConnectionTest(AnswerBody):
    object: Literal["context-connection-test-result"]
    success: bool
    error: str = optional_field()
