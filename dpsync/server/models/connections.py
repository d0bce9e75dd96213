"""Models of context connections, through which a site's agents read questions and conversations.

The settings of a connection depend on its connector. They can contain tokens.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from .base import AnswerBody, Body, Id, Stamp, Url, Urls, absent

Connector = Annotated[
    str,
    Field(
        pattern=r"^(integration:[^:]+|builtin:(email|api|website|youtube|github-discussions|github-issues"
        r"|intercom|front|zendesk|zoho-desk|freshdesk|pylon|hubspot|linear|jira))$"
    ),
]
Given = Annotated[str, Field(min_length=1)]
Repository = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$")]
VideoChannel = Annotated[str, Field(pattern=r"^(UC[A-Za-z0-9_-]{22}|@[A-Za-z0-9._-]{3,100})$")]
ChangeRequestWord = Literal["draft", "open", "archived", "merged"]


class OfWebsite(Body):
    url: Url


class OfYoutube(Body):
    channelId: VideoChannel


class OfRepository(Body):
    repository: Repository
    token: Given


class OfToken(Body):
    token: Given


class OfZendesk(Body):
    subdomain: Given
    email: Given
    apiToken: Given


class OfZohoDesk(Body):
    dataCenter: Given
    orgId: Given
    clientId: Given
    clientSecret: Given
    refreshToken: Given


class OfFreshdesk(Body):
    domain: Given
    apiKey: Given


class OfJira(Body):
    baseUrl: Url
    apiEmail: str = Field(min_length=1, max_length=254, pattern=r"^[^@\s]+@[^@\s]+$")
    apiToken: str = Field(min_length=1, max_length=1024)
    statusMapping: dict[ChangeRequestWord, Annotated[str, Field(min_length=1, max_length=255)]] = absent()


SETUPS: dict[str, type[Body]] = {
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
"""By connector what it is set up with. The others take nothing."""


def _settings(setup: type[Body], given: dict[str, Any] | None) -> dict[str, Any]:
    """Return the settings that the connector knows.

    An error message does not contain the value, because the value may be a token.
    """
    try:
        return setup.model_validate(given or {}).given()
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(map(str, ("setupSettings", *first["loc"])))
        raise ValueError(f"{where}: {first['msg']}") from None


class Usage(Body):
    """`sync`: whether the state of change requests is written to what the connection leads to."""

    changeRequests: bool
    search: bool
    sync: bool = absent()
    searchBoost: Literal["x0.8", "x1.0", "x1.2"]


class IngestionAddress(AnswerBody):
    ingestionAddress: str = absent()


class ContextConnection(AnswerBody):
    object: Literal["context-connection"]
    id: Id
    connector: Connector
    setupSettings: dict[str, Any] = absent()
    label: str = absent(max_length=128)
    filter: str = absent(max_length=1024)
    status: Literal["pending", "syncing", "succeeded", "failed"]
    records: int
    failureMessage: str = absent()
    failureReason: Literal[
        "authentication", "misconfigured", "rate_limited", "upstream_unavailable", "unknown"
    ] = absent()
    email: IngestionAddress = absent()
    usageSettings: Usage
    createdAt: Stamp
    syncedAt: Stamp = absent()
    urls: Urls


class ConnectionUpdate(Body):
    """A connector that is named comes with all that it is set up with."""

    connector: Connector = absent()
    setupSettings: dict[str, Any] = absent()
    usageSettings: Usage = absent()
    label: str = absent(max_length=128)
    filter: str = absent(max_length=1024)

    @model_validator(mode="after")
    def _of_its_connector(self) -> Self:
        given = "setupSettings" in self.model_fields_set
        if "connector" not in self.model_fields_set:
            if given:
                raise ValueError("setupSettings: also set the connector")
            return self
        setup = SETUPS.get(self.connector)
        if setup is not None:
            self.setupSettings = _settings(setup, self.setupSettings)
        elif given:
            self.model_fields_set.discard("setupSettings")
        return self


class ConnectionCreate(ConnectionUpdate):
    """It takes no label."""

    connector: Connector


class ConnectionTest(AnswerBody):
    object: Literal["context-connection-test-result"]
    success: bool
    error: str = absent()
