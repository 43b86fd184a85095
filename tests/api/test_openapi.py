"""/openapi.json: complete, correct, and with the error sentences of the contract."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]
from pytest_django import Settings

from accounts.models import User
from api.errors import ApiError, MethodNotAllowed, UnknownHost
from api.openapi.pages import build_document
from api.serializers.requests import RequestInput
from api.urls import urlpatterns
from api.views import ApiView, UnknownPath
from loops.models import Loop
from reviews.models import Request
from reviews.response_types import list_names
from reviews.services import answer_request, claim_request
from tests.conftest import Api
from webhooks.models import Delivery

METHODS = {"get", "post", "put", "delete"}
OPERATIONS = {
    "checkKey": ("get", "/v1/test"),
    "createLoop": ("post", "/v1/api/loops"),
    "listLoops": ("get", "/v1/api/loops"),
    "readLoop": ("get", "/v1/api/loops/{loop_id}"),
    "updateLoop": ("put", "/v1/api/loops/{loop_id}"),
    "deleteLoop": ("delete", "/v1/api/loops/{loop_id}"),
    "listMembers": ("get", "/v1/api/loops/{loop_id}/members"),
    "removeMember": ("delete", "/v1/api/loops/{loop_id}/members/{user_id}"),
    "createRequest": ("post", "/v1/api/loops/{loop_id}/requests"),
    "listLoopRequests": ("get", "/v1/api/loops/{loop_id}/requests"),
    "listRequests": ("get", "/v1/api/requests"),
    "readRequest": ("get", "/v1/api/requests/{request_id}"),
    "cancelRequest": ("delete", "/v1/api/requests/{request_id}"),
    "giveFeedback": ("post", "/v1/api/requests/{request_id}/feedback"),
    "readReceipt": ("get", "/v1/api/requests/{request_id}/receipt"),
    "redeemReceipt": ("post", "/v1/api/requests/{request_id}/redeem"),
    "listWebhookEndpoints": ("get", "/v1/api/webhook-endpoints"),
    "createWebhookEndpoint": ("post", "/v1/api/webhook-endpoints"),
    "readWebhookEndpoint": ("get", "/v1/api/webhook-endpoints/{endpoint_id}"),
    "updateWebhookEndpoint": ("put", "/v1/api/webhook-endpoints/{endpoint_id}"),
    "deleteWebhookEndpoint": ("delete", "/v1/api/webhook-endpoints/{endpoint_id}"),
    "rotateWebhookEndpointSecret": ("post", "/v1/api/webhook-endpoints/{endpoint_id}/rotate"),
    "readLoopStatistics": ("get", "/v1/api/loops/{loop_id}/statistics"),
    "exportDecisions": ("get", "/v1/api/loops/{loop_id}/decisions"),
    "listReviewRequests": ("get", "/v1/review/requests"),
    "readReviewRequest": ("get", "/v1/review/requests/{request_id}"),
    "claimReviewRequest": ("post", "/v1/review/requests/{request_id}/claim"),
    "releaseReviewRequest": ("post", "/v1/review/requests/{request_id}/release"),
    "answerReviewRequest": ("post", "/v1/review/requests/{request_id}/answer"),
    "streamEvents": ("get", "/v1/api/events"),
}
EVENTS, LINES = "text/event-stream", "text/jsonl"


@pytest.fixture(scope="module")
def api_document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(build_document())
    return found


def operation(api_document: dict[str, Any], name: str) -> dict[str, Any]:
    method, path = OPERATIONS[name]
    found: dict[str, Any] = api_document["paths"][path][method]
    return found


def answers_of(api_document: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    """The JSON answers of an operation by status, references followed."""
    return {
        status: follow(api_document, answer)
        for status, answer in operation(api_document, name)["responses"].items()
        if not {EVENTS, LINES} & answer.get("content", {}).keys()
    }


def follow(api_document: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """What a reference refers to, or the value itself."""
    if "$ref" not in found:
        return found
    _, _, kind, name = found["$ref"].split("/")
    referred: dict[str, Any] = api_document["components"][kind][name]
    return referred


def schema_of(api_document: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """The schema of the body of an answer."""
    return follow(api_document, answer["content"]["application/json"]["schema"])


def complaints(api_document: dict[str, Any], schema: dict[str, Any], value: object) -> list[str]:
    """What is wrong with a value; references lead into the document."""
    rooted = {**schema, "components": api_document["components"]}
    validator = Draft202012Validator(rooted, format_checker=FormatChecker())
    return [error.message for error in validator.iter_errors(value)]


def examples(content: dict[str, Any]) -> Iterator[Any]:
    if "example" in content:
        yield content["example"]
    for named in content.get("examples", {}).values():
        yield named["value"]


def sentences(value: Any) -> Iterator[str]:
    """Every sentence that a schema allows as `msg`."""
    if isinstance(value, dict):
        properties = value.get("properties", {})
        yield from properties.get("msg", {}).get("enum", [])
        for child in value.values():
            yield from sentences(child)
    elif isinstance(value, list):
        for child in value:
            yield from sentences(child)


def test_it_needs_no_key_and_costs_nothing(client: Client) -> None:
    response = client.get("/openapi.json")
    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"
    assert "X-RateLimit-Limit" not in response
    assert response.json()["openapi"] == "3.1.0"


def test_the_generator_has_nothing_to_warn_of(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("spectacular", "--fail-on-warn", "--validate", "--format", "openapi-json")
    assert capsys.readouterr().err == ""


def test_every_operation_is_there_and_no_other(api_document: dict[str, Any]) -> None:
    found = {
        described["operationId"]: (method, path)
        for path, methods in api_document["paths"].items()
        for method, described in methods.items()
    }
    assert found == OPERATIONS


def test_every_address_of_the_api_is_described() -> None:
    served: set[tuple[str, str]] = set()
    for pattern in urlpatterns:
        view = getattr(getattr(pattern, "callback", None), "view_class", None)
        if view and issubclass(view, ApiView) and view is not UnknownPath:
            path = re.sub(r"\(\?P<(\w+)>.*?\)", r"{\1}", pattern.pattern.regex.pattern)
            path = "/" + path.removeprefix("^").removesuffix(r"/?\Z")
            served.update((method, path) for method in METHODS if hasattr(view, method))
    assert served == set(OPERATIONS.values())


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_says_what_it_is(api_document: dict[str, Any], name: str) -> None:
    method, path = OPERATIONS[name]
    described = operation(api_document, name)
    assert described["summary"]
    assert described["description"].endswith(".")
    assert described["security"] == [{"reviewToken" if "/review/" in path else "key": []}]
    in_path = {item["name"] for item in described.get("parameters", []) if item["in"] == "path"}
    assert in_path == set(re.findall(r"{(\w+)}", path))
    has_body = method in ("post", "put") and not path.endswith(("/claim", "/release"))
    assert ("requestBody" in described) == has_body


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_answer_is_an_envelope(api_document: dict[str, Any], name: str) -> None:
    answers = answers_of(api_document, name)
    assert {"401", "429", "500", "503"} < set(answers)
    for status, answer in answers.items():
        headers = {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
        headers |= {"RateLimit", "RateLimit-Policy"}
        if status == "429" or (name, status) == ("createRequest", "201"):
            headers.add("Link")
        if status in ("409", "429", "503"):
            headers.add("Retry-After")
        assert set(answer["headers"]) == headers
        schema = schema_of(api_document, answer)
        for variant in schema.get("oneOf", [schema]):
            assert set(variant["properties"]) == {"error", "msg", "data"}
            assert set(variant["required"]) == {"error", "msg", "data"}
            assert variant["additionalProperties"] is False
            assert variant["properties"]["error"] == {"const": int(status) >= 400}


@pytest.mark.parametrize("name", OPERATIONS)
def test_examples_fit_their_schemas(api_document: dict[str, Any], name: str) -> None:
    contents = [answer["content"] for answer in answers_of(api_document, name).values()]
    body = operation(api_document, name).get("requestBody")
    for content in [*contents, *([body["content"]] if body else [])]:
        media = content["application/json"]
        given = list(examples(media))
        assert given
        for value in given:
            assert complaints(api_document, media["schema"], value) == []


def test_the_guide_names_no_other_addresses(api_document: dict[str, Any]) -> None:
    guide = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text("utf-8")
    called = set(re.findall(r"\$URL(/[^\s\"?]+)", guide))
    named = set(re.findall(r"(/v1/[\w/{}-]+)", guide))
    addresses = {re.sub(r"{\w+}", "{}", path) for path in api_document["paths"]}
    assert {re.sub(r"\$[A-Z]+", "{}", f"/v1{path}") for path in called} <= addresses
    assert {re.sub(r"{\w+}|[0-9a-f]{24}", "{}", path) for path in named} <= addresses
    assert called


def every_error(parent: type[ApiError] = ApiError) -> Iterator[type[ApiError]]:
    for child in parent.__subclasses__():
        yield child
        yield from every_error(child)


@pytest.mark.parametrize("name", OPERATIONS)
def test_sentences_are_those_of_the_errors(api_document: dict[str, Any], name: str) -> None:
    known: dict[str, set[str]] = {}
    for error in every_error():
        known.setdefault(str(error.status), set()).add(error.sentence)
    for status, answer in answers_of(api_document, name).items():
        allowed = set(sentences(schema_of(api_document, answer)))
        assert allowed <= known.get(status, set())
        assert bool(allowed) == (int(status) >= 400)


def test_every_sentence_of_the_contract_is_in_it(api_document: dict[str, Any]) -> None:
    in_document = set(sentences(api_document))
    for error in every_error():
        if error in (MethodNotAllowed, UnknownHost):  # of no operation
            assert f"'{error.sentence}'" in api_document["info"]["description"]
        elif error.sentence != ApiError.sentence:
            assert error.sentence in in_document, error.__name__


def test_the_stream_is_one_of_server_sent_events(api_document: dict[str, Any]) -> None:
    described = operation(api_document, "streamEvents")
    content = described["responses"]["200"]["content"]
    assert list(content) == [EVENTS]
    assert content[EVENTS]["schema"] == {"type": "string"}
    assert content[EVENTS]["example"].startswith("id: ")
    assert [(item["name"], item["in"]) for item in described["parameters"]] == [
        ("after", "query"),
        ("Last-Event-ID", "header"),
    ]
    assert set(sentences(answers_of(api_document, "streamEvents")["429"])) == {
        "API rate limit exceeded",
        "Too many event streams",
    }


def test_success_sentences(api_document: dict[str, Any]) -> None:
    found = {}
    for name in OPERATIONS:
        answers = answers_of(api_document, name)
        if name in ("streamEvents", "exportDecisions"):
            continue
        (done,) = [status for status in answers if status < "400"]
        schema = answers[done]["content"]["application/json"]["schema"]
        found[name] = (int(done), schema["properties"]["msg"]["const"])
    assert found == {
        "checkKey": (200, "API key is valid"),
        "createLoop": (201, "Loop created successfully with QR code"),
        "listLoops": (200, "Loops retrieved successfully"),
        "readLoop": (200, "Loop retrieved successfully"),
        "updateLoop": (200, "Loop updated successfully"),
        "deleteLoop": (200, "Loop deleted successfully"),
        "listMembers": (200, "Loop members retrieved successfully"),
        "removeMember": (200, "Member removed from loop successfully"),
        "createRequest": (201, "Request created and broadcasted successfully"),
        "listLoopRequests": (200, "Loop requests retrieved successfully"),
        "listRequests": (200, "Requests retrieved successfully"),
        "readRequest": (200, "Request retrieved successfully"),
        "cancelRequest": (200, "Request cancelled successfully"),
        "listWebhookEndpoints": (200, "Webhook endpoints retrieved successfully"),
        "createWebhookEndpoint": (201, "Webhook endpoint created successfully"),
        "readWebhookEndpoint": (200, "Webhook endpoint retrieved successfully"),
        "updateWebhookEndpoint": (200, "Webhook endpoint updated successfully"),
        "deleteWebhookEndpoint": (200, "Webhook endpoint deleted successfully"),
        "rotateWebhookEndpointSecret": (200, "Webhook secret rotated successfully"),
        "readLoopStatistics": (200, "Loop statistics retrieved successfully"),
        "giveFeedback": (200, "Feedback added successfully"),
        "readReceipt": (200, "Receipt retrieved successfully"),
        "redeemReceipt": (200, "Approval redeemed successfully"),
        "listReviewRequests": (200, "Review requests retrieved successfully"),
        "readReviewRequest": (200, "Review request retrieved successfully"),
        "claimReviewRequest": (200, "Request claimed successfully"),
        "releaseReviewRequest": (200, "Request released successfully"),
        "answerReviewRequest": (200, "Request answered successfully"),
    }


def test_it_says_where_the_service_is_and_who_runs_it(
    api_document: dict[str, Any], settings: Settings
) -> None:
    info = api_document["info"]
    assert api_document["servers"][0]["url"] == info["contact"]["url"] == settings.SITE_URL
    assert info["license"]["identifier"] == "MIT"
    declared = {tag["name"] for tag in api_document["tags"]}
    used = {tag for name in OPERATIONS for tag in operation(api_document, name)["tags"]}
    assert declared == used | {"Events"}


def keywords(value: Any) -> Iterator[str]:
    """The keywords of a schema and of its parts; names of properties are none."""
    if isinstance(value, list):
        for child in value:
            yield from keywords(child)
    elif isinstance(value, dict):
        for word, child in value.items():
            yield word
            parts = child.values() if word == "properties" else [child]
            for part in parts:
                yield from keywords(part)


def test_generators_understand_every_schema(api_document: dict[str, Any]) -> None:
    """They take fields with a default as mandatory, and drop what allOf makes with const."""
    asked = [
        parameter["schema"]
        for name in OPERATIONS
        for parameter in operation(api_document, name).get("parameters", [])
    ]
    used = set(keywords([asked, api_document["components"]["schemas"]]))
    assert not used & {"default", "allOf", "not", "if", "dependentRequired"}


@pytest.mark.parametrize("response_type", list_names())
def test_a_new_request_is_complete_in_itself(
    api_document: dict[str, Any], response_type: str
) -> None:
    schemas = api_document["components"]["schemas"]
    new = schemas["NewRequest"]
    assert new["discriminator"]["propertyName"] == "response_type"
    reference = new["discriminator"]["mapping"][response_type]
    assert {"$ref": reference} in new["oneOf"]
    schema = follow(api_document, {"$ref": reference})
    assert schema["type"] == "object"
    assert set(schema["properties"]) == set(RequestInput().fields)
    assert schema["properties"]["response_type"]["const"] == response_type
    assert set(schema["required"]) == {
        name for name, field in RequestInput().fields.items() if field.required
    }


def test_every_component_is_used(api_document: dict[str, Any]) -> None:
    text = json.dumps(api_document)
    for name in api_document["components"]["schemas"]:
        assert f'"#/components/schemas/{name}"' in text, name


@pytest.mark.parametrize("event", ["request.claimed", "request.completed", "request.cancelled"])
def test_events_fit_their_schema(
    api_document: dict[str, Any], event: str, loop: Loop, member: User, owner_key: str
) -> None:
    body = operation(api_document, "createRequest")["requestBody"]["content"]["application/json"]
    asked = body["examples"]["single_select"]["value"] | {"callback_url": "https://example.com/"}
    created = Api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", asked).json()
    request = Request.objects.get(pk=created["data"]["request_id"])
    if event == "request.claimed":
        claim_request(request=request, reviewer_id=member.pk)
    elif event == "request.completed":
        answer_request(request=request, reviewer_id=member.pk, answer="refund")
    else:
        Api(owner_key).delete(f"/v1/api/requests/{request.pk}")

    sent = json.loads(bytes(Delivery.objects.get().body))
    assert sent["event"] == event
    told = api_document["webhooks"][event]["post"]["requestBody"]["content"]["application/json"]
    assert complaints(api_document, told["schema"], sent) == []


def test_the_events_are_those_of_the_states(api_document: dict[str, Any]) -> None:
    assert set(api_document["webhooks"]) == {
        "request.created",
        "request.claimed",
        "request.completed",
        "request.timeout",
        "request.cancelled",
    }
