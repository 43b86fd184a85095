"""API views of receipts: /api/requests/{id}/receipt and /redeem, and the keys that sign them."""

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from api.authentication import Call
from api.envelope import dumps, ok
from api.errors import (
    AlreadyRedeemed,
    DifferentArguments,
    DifferentName,
    NoReceipt,
    ReceiptExpired,
    RequestNotFound,
)
from api.failures import ReadReceiptFailed, RedeemFailed
from api.requests import find_request
from api.serializers.receipts import RedeemInput
from api.views import ApiView
from db.times import iso
from reviews.models import Receipt, Request
from reviews.receipts import services, signing_keys

JWKS_SECONDS = 300  # for which caches may keep the keys


class RequestReceipt(ApiView):
    """/api/requests/{id}/receipt"""

    permissions: ClassVar = {"GET": "requests:read"}
    failures: ClassVar = {"GET": ReadReceiptFailed}

    def get(self, call: Call, request_id: str) -> HttpResponse:
        request = find_request(request_id, Request.objects.visible_to(call.account.id))
        try:
            receipt = services.read_receipt(request)
        except services.NoReceipt as error:
            raise NoReceipt(str(error)) from None
        except Request.DoesNotExist:
            raise RequestNotFound from None
        return ok("Receipt retrieved successfully", serialize(receipt))


class RequestRedemption(ApiView):
    """/api/requests/{id}/redeem"""

    permissions: ClassVar = {"POST": "requests:write"}
    failures: ClassVar = {"POST": RedeemFailed}

    def post(self, call: Call, request_id: str) -> HttpResponse:
        request = find_request(request_id, Request.objects.created_by(call.account.id))
        try:
            services.require_approval(request)
            sent = self.read_body(call)
            self.refuse_repeated(call)
            body = RedeemInput().check(sent)
            receipt = services.redeem(
                request, body["arguments"], name=body.get("name"), key_id=call.caller.key_id
            )
        except services.NoReceipt as error:
            raise NoReceipt(str(error)) from None
        except services.AlreadyRedeemed as error:
            raise AlreadyRedeemed({"redeemed_at": iso(error.at)}) from None
        except services.DifferentName:
            raise DifferentName({"path": "name"}) from None
        except services.DifferentArguments as error:
            raise DifferentArguments({"path": str(error)}) from None
        except services.Expired as error:
            raise ReceiptExpired({"expires_at": iso(error.at)}) from None
        except Request.DoesNotExist:
            raise RequestNotFound from None
        return ok("Approval redeemed successfully", serialize(receipt))


@require_safe
@cache_control(public=True, max_age=JWKS_SECONDS)
def jwks(request: HttpRequest) -> HttpResponse:
    """Responds with the public keys that verify receipts, as a JWK Set (RFC 7517)."""
    keys = dumps({"keys": signing_keys.list_public_keys()})
    return HttpResponse(keys, content_type="application/jwk-set+json")


def serialize(receipt: Receipt) -> dict[str, Any]:
    """Builds the `data` of a receipt."""
    return {
        "request_id": receipt.request_id,
        "receipt": receipt.token,
        "expires_at": iso(receipt.expires_at),
        "redeemed_at": receipt.redeemed_at and iso(receipt.redeemed_at),
    }
