"""API views of webhook endpoints (docs/contract.md, `webhook_endpoint`)."""

from typing import Any, ClassVar

from django.http import HttpResponse

from accounts import endpoint_services
from accounts.models import User, WebhookEndpoint
from accounts.notices import read_origin
from accounts.secret_services import RotationUnderWay as StillValid
from api.authentication import Call
from api.envelope import ok
from api.errors import (
    EndpointNotFound,
    InactiveKey,
    InvalidEndpointId,
    NothingToUpdate,
    RotationUnderWay,
    TooManyEndpoints,
    ValidationFailed,
)
from api.failures import (
    CreateEndpointFailed,
    DeleteEndpointFailed,
    ListEndpointsFailed,
    ReadEndpointFailed,
    RotateSecretFailed,
    UpdateEndpointFailed,
)
from api.serializers.webhook_endpoints import (
    EndpointChanges,
    EndpointInput,
    EndpointSerializer,
    RotateInput,
)
from api.views import ApiView
from db.ids import normalize_id
from loops.models import Loop
from web.phrases import say
from webhooks import endpoints


class EndpointView(ApiView):
    """The base class of the paths of webhook endpoints.

    A change looks at its key again, so a key whose revocation has returned changes none of them.
    """

    def handle(self, call: Call, ids: dict[str, str]) -> HttpResponse:
        try:
            return super().handle(call, ids)
        except endpoint_services.KeyEnded:
            raise InactiveKey from None


class WebhookEndpoints(EndpointView):
    """/api/webhook-endpoints"""

    permissions: ClassVar = {"GET": "loops:write", "POST": "loops:write"}
    failures: ClassVar = {"GET": ListEndpointsFailed, "POST": CreateEndpointFailed}
    has_secret = True

    def get(self, call: Call) -> HttpResponse:
        found = WebhookEndpoint.objects.of_account(call.account.id)
        data = [EndpointSerializer(endpoint).data for endpoint in found]
        shown = {"webhook_endpoints": data, "count": len(data)}
        return ok("Webhook endpoints retrieved successfully", shown)

    def post(self, call: Call) -> HttpResponse:
        fields = read_fields(EndpointInput().check(self.read_body(call)))
        check_loops(fields.get("loop_ids"), call)
        try:
            endpoint, secret = endpoints.create_endpoint(
                account=User.objects.get(pk=call.account.id),
                key_id=call.caller.key_id,
                origin=read_origin(call.request),
                **{"loop_ids": None, **fields},
            )
        except endpoint_services.TooManyEndpoints:
            raise TooManyEndpoints from None
        data = {"webhook_endpoint": EndpointSerializer(endpoint).data, "secret": secret.text}
        return ok("Webhook endpoint created successfully", data, status=201)


class WebhookEndpointDetail(EndpointView):
    """/api/webhook-endpoints/{id}"""

    permissions: ClassVar = dict.fromkeys(("GET", "PUT", "DELETE"), "loops:write")
    failures: ClassVar = {
        "GET": ReadEndpointFailed,
        "PUT": UpdateEndpointFailed,
        "DELETE": DeleteEndpointFailed,
    }

    def get(self, call: Call, endpoint_id: str) -> HttpResponse:
        endpoint = find_endpoint(endpoint_id, call)
        data = {"webhook_endpoint": EndpointSerializer(endpoint).data}
        return ok("Webhook endpoint retrieved successfully", data)

    def put(self, call: Call, endpoint_id: str) -> HttpResponse:
        endpoint = find_endpoint(endpoint_id, call)
        changes = read_fields(EndpointChanges().check(self.read_body(call, empty_is_object=True)))
        if not changes:
            raise NothingToUpdate
        check_loops(changes.get("loop_ids"), call, known=endpoint.loop_ids)
        try:
            endpoints.update_endpoint(
                endpoint=endpoint,
                changes=changes,
                key_id=call.caller.key_id,
                origin=read_origin(call.request),
            )
        except WebhookEndpoint.DoesNotExist:
            raise EndpointNotFound from None
        data = {"webhook_endpoint": EndpointSerializer(endpoint).data}
        return ok("Webhook endpoint updated successfully", data)

    def delete(self, call: Call, endpoint_id: str) -> HttpResponse:
        endpoint = find_endpoint(endpoint_id, call)
        try:
            endpoints.delete_endpoint(endpoint=endpoint, key_id=call.caller.key_id)
        except WebhookEndpoint.DoesNotExist:
            raise EndpointNotFound from None
        return ok("Webhook endpoint deleted successfully", {"webhook_endpoint_id": endpoint.pk})


class WebhookEndpointSecret(EndpointView):
    """/api/webhook-endpoints/{id}/rotate"""

    permissions: ClassVar = {"POST": "loops:write"}
    failures: ClassVar = {"POST": RotateSecretFailed}
    has_secret = True

    def post(self, call: Call, endpoint_id: str) -> HttpResponse:
        endpoint = find_endpoint(endpoint_id, call)
        options = RotateInput().check(self.read_body(call, empty_is_object=True))
        try:
            secret = endpoint_services.rotate(
                endpoint=endpoint,
                key_id=call.caller.key_id,
                origin=read_origin(call.request),
                **options,
            )
        except WebhookEndpoint.DoesNotExist:
            raise EndpointNotFound from None
        except StillValid:
            raise RotationUnderWay from None
        endpoint.refresh_from_db()
        data = {"webhook_endpoint": EndpointSerializer(endpoint).data, "secret": secret.text}
        return ok("Webhook secret rotated successfully", data)


def find_endpoint(raw_id: str, call: Call) -> WebhookEndpoint:
    """Returns an endpoint of the account. Raises InvalidEndpointId, EndpointNotFound."""
    endpoint_id = normalize_id(raw_id)
    if endpoint_id is None:
        raise InvalidEndpointId
    mine = WebhookEndpoint.objects.of_account(call.account.id)
    endpoint: WebhookEndpoint | None = mine.filter(pk=endpoint_id).first()
    if endpoint is None:
        raise EndpointNotFound
    return endpoint


def read_fields(checked: dict[str, Any]) -> dict[str, Any]:
    """Returns the checked fields under the names of their columns."""
    return {"is_on" if name == "enabled" else name: value for name, value in checked.items()}


def check_loops(ids: list[str] | None, call: Call, *, known: list[str] | None = None) -> None:
    """Checks that the account has the loops. Those in `known` may be deleted.

    Raises ValidationFailed.
    """
    wanted = set(ids or ()) - set(known or ())
    own = Loop.objects.of_creator(call.account.id).filter(pk__in=wanted)
    if wanted - set(own.values_list("pk", flat=True)):
        raise ValidationFailed(say("loop_ids must be loops that your account created"))
