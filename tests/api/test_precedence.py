"""Which of several errors the response names."""

import pytest

from accounts.models import ApiKey, User
from accounts.services import create_api_key
from loops.models import Loop
from tests.api.wire import NOWHERE, Api, Ask, refused, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("steady_hour")]


@pytest.mark.contract("http.precedence")
def test_each_step_comes_before_the_next(
    api: Api, owner: User, member_key: str, plenty: str, loop: Loop, ask: Ask
) -> None:
    """One call with every fault; each fault that is mended shows the next."""
    key, secret = create_api_key(user=owner, name="one", permissions=[], hourly_limit=1)
    bearer = f"Bearer {secret}"
    User.objects.filter(pk=owner.pk).update(is_active=False)
    malformed = "/v1/api/requests/x/feedback"

    refused(send("POST", "/v1/api/request/x/feedback", "x", b"{"), 404, "Not found")
    refused(send("PUT", malformed, "x", b"{"), 405, "Method not allowed")
    refused(
        send("POST", malformed, "x", b"{"),
        401,
        "Invalid Authorization header format. Use 'Bearer <api_key>'",
    )
    ApiKey.objects.filter(pk=key.pk).update(state="inactive")
    refused(send("POST", malformed, bearer, b"{"), 401, "API key is inactive")
    ApiKey.objects.filter(pk=key.pk).update(state="active")
    api(secret).get("/v1/test")
    assert send("POST", malformed, bearer, b"{").status_code == 429
    ApiKey.objects.filter(pk=key.pk).update(hourly_limit=None, permissions=["requests:write"])
    refused(send("POST", malformed, bearer, b"{"), 403, "Access denied to this resource")
    User.objects.filter(pk=owner.pk).update(is_active=True)
    ApiKey.objects.filter(pk=key.pk).update(permissions=["requests:read"])
    refused(send("POST", malformed, bearer, b"{"), 403, "Access denied to this resource")
    ApiKey.objects.filter(pk=key.pk).update(permissions=["requests:write"])
    refused(send("POST", malformed, bearer, b"{"), 400, "Invalid request ID format")
    unknown = f"/v1/api/requests/{NOWHERE}/feedback"
    refused(send("POST", unknown, bearer, b"{"), 404, "Request not found")
    path = f"/v1/api/requests/{ask()}/feedback"
    refused(send("POST", path, f"Bearer {member_key}", b"{"), 403, "Access denied to this request")
    refused(
        send("POST", path, bearer, b"{"),
        400,
        "Feedback can only be added to completed requests",
    )


@pytest.mark.contract("http.precedence")
def test_the_loop_comes_before_the_member_and_the_query(
    api: Api, owner_key: str, outsider_key: str, loop: Loop
) -> None:
    response = api(owner_key).delete(f"/v1/api/loops/{NOWHERE}/members/x")
    refused(response, 404, "Loop not found")
    response = api(outsider_key).delete(f"/v1/api/loops/{loop.pk}/members/x")
    refused(response, 403, "Only loop creator can remove members")
    response = api(outsider_key).get(f"/v1/api/loops/{loop.pk}/requests?limit=0")
    refused(response, 403, "Access denied to this loop")


@pytest.mark.contract("http.precedence")
def test_permission_comes_before_the_body(owner: User) -> None:
    _, secret = create_api_key(user=owner, name="one", permissions=["loops:read"])
    answer = send("POST", "/v1/api/loops", f"Bearer {secret}", b"{")
    refused(answer, 403, "Access denied to this resource")
