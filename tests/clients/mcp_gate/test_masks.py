"""Secrets in arguments: people do not see them, and the server gets them."""

import pytest

from accounts.models import User
from loops.models import Loop
from tests.clients.mcp_gate.conftest import Stand, open_request
from tests.clients.mcp_gate.test_deciding import decide, told

pytestmark = pytest.mark.django_db(transaction=True)
TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
ARGUMENTS = {"order": f"1042?token={TOKEN}", "amount": 80.5}
SHOWN = {"order": "1042?token=[masked 1]", "amount": 80.5}


def test_an_approved_call_runs_with_them(stand: Stand, loop: Loop, member: User) -> None:
    with stand.host(stand.command()) as host:
        calling = host.call("refund", **ARGUMENTS)
        request = open_request()
        assert request.response_config["proposal"]["arguments"] == SHOWN
        assert "Masked, and not sent: [masked 1]." in request.request_text
        decide(member, "approve")
        assert told(calling)[0] is False
    assert stand.calls == [{"tool": "refund", **ARGUMENTS}]


def test_an_edit_beside_them(stand: Stand, loop: Loop, member: User) -> None:
    with stand.host(stand.command()) as host:
        calling = host.call("refund", **ARGUMENTS)
        decide(member, "edit", arguments={"order": "1043?token=[masked 1]", "amount": 25.5})
        assert f'became "1043?token={TOKEN}"' in told(calling)[1]
    assert stand.calls == [{"tool": "refund", "order": f"1043?token={TOKEN}", "amount": 25.5}]


@pytest.mark.parametrize("order", ["1042", "1042?token=[masked 1][masked 1]"])
def test_an_edit_that_touches_them(stand: Stand, loop: Loop, member: User, order: str) -> None:
    with stand.host(stand.command()) as host:
        calling = host.call("refund", **ARGUMENTS)
        decide(member, "edit", arguments={"order": order, "amount": 80.5})
        is_error, text = told(calling)
    assert is_error
    assert "the edit touches a value that was masked" in text
    assert stand.calls == []


def test_without_masks(stand: Stand, loop: Loop, member: User) -> None:
    with stand.host(stand.command("--no-mask")) as host:
        calling = host.call("refund", **ARGUMENTS)
        assert open_request().response_config["proposal"]["arguments"] == ARGUMENTS
        decide(member, "approve")
        told(calling)
    assert stand.calls == [{"tool": "refund", **ARGUMENTS}]
