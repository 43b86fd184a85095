"""Receipts of clients/python: read, redeemed and verified with pinned keys."""

import builtins
import json
import time
from typing import Any

import pytest
import requests
import reviewloop
from django.conf import settings
from reviewloop import ANY_ARGUMENTS, Client, InvalidReceipt, verify_receipt

from accounts.models import User
from tests.clients.conftest import Shell, finish
from tests.clients.gate import Fault, Gate
from tests.clients.receipts import ISSUER, MALFORMED, claims, forgeries, new_key, public, sign
from tests.reviews.approvals import ARGUMENTS, decide, turn_into_approval
from tests.reviews.conftest import Make, make

__all__ = ["make"]  # a fixture

KEY = new_key()
FORGERIES = forgeries(KEY)


@pytest.fixture
def approved(make: Make, member: User) -> str:
    request = make()
    turn_into_approval(request.pk)
    decide(request.pk, member)
    return str(request.pk)


@pytest.mark.django_db(transaction=True)
class TestService:
    def test_a_receipt_verifies_with_the_pinned_keys(
        self, client: Client, service: str, approved: str, member: User
    ) -> None:
        pinned = requests.get(f"{service}/.well-known/jwks.json", timeout=30).json()
        receipt = client.requests.receipt(approved)
        stated = verify_receipt(
            receipt["receipt"], pinned, issuer=settings.SITE_URL, arguments=ARGUMENTS
        )
        assert stated["sub"] == approved
        assert stated["answered_by"] == [{"id": member.pk, "name": member.name}]
        assert receipt["redeemed_at"] is None

    def test_it_is_redeemed_once(self, client: Client, approved: str) -> None:
        with pytest.raises(reviewloop.ArgumentsDiffer) as differs:
            client.requests.redeem(approved, {**ARGUMENTS, "amount": 41})
        assert differs.value.path == "arguments.amount"
        with pytest.raises(reviewloop.ArgumentsDiffer) as differs:
            client.requests.redeem(approved, ARGUMENTS, name="delete_everything")
        assert differs.value.path == "name"
        receipt = client.requests.redeem(approved, ARGUMENTS, name="refund")
        assert receipt == client.requests.receipt(approved)
        with pytest.raises(reviewloop.AlreadyRedeemed) as again:
            client.requests.redeem(approved, ARGUMENTS)
        assert again.value.redeemed_at == receipt["redeemed_at"]

    def test_a_refusal_is_not_repeated_but_a_lost_response_is(
        self, client: Client, gate: Gate, approved: str
    ) -> None:
        gate.faults = [Fault(is_forwarded=True, method="POST")]
        receipt = client.requests.redeem(approved, ARGUMENTS)
        assert receipt["redeemed_at"]
        assert len(gate.keys()) == 2
        assert len(set(gate.keys())) == 1
        with pytest.raises(reviewloop.AlreadyRedeemed):
            client.requests.redeem(approved, ARGUMENTS)
        assert len(gate.keys()) == 3

    def test_under_one_key_one_process_runs_it(
        self, client: Client, gate: Gate, approved: str
    ) -> None:
        """A worker that waited for the first one gets its response too, and does not run it."""
        gate.faults = [Fault(is_forwarded=True, method="POST")]  # its response is lost
        first = client.requests.redeem(approved, ARGUMENTS, idempotency_key="refund-1042")
        with pytest.raises(reviewloop.AlreadyRedeemed) as again:
            client.requests.redeem(approved, ARGUMENTS, idempotency_key="refund-1042")
        assert again.value.redeemed_at == first["redeemed_at"]
        gate.faults = [
            Fault(409, {"Retry-After": "0"}, method="POST")
        ]  # the first is still running
        with pytest.raises(reviewloop.AlreadyRedeemed):
            client.requests.redeem(approved, ARGUMENTS, idempotency_key="refund-1042")
        assert len(gate.keys()) == 5

    def test_who_was_not_approved(self, client: Client, make: Make) -> None:
        request = make()
        with pytest.raises(reviewloop.InvalidCall, match="response_type must be approval"):
            client.requests.receipt(request.pk)
        with pytest.raises(reviewloop.InvalidCall, match="response_type must be approval"):
            client.requests.redeem(request.pk, {})

    def test_the_command(self, shell: Shell, approved: str) -> None:
        words = ("redeem", approved, "--arguments")
        code, printed, complaint = finish(shell.start(*words, "{}"))
        assert (code, printed) == (1, "")
        assert "Arguments differ from the approved ones: {'path': 'arguments.order'}" in complaint
        other = (*words, json.dumps(ARGUMENTS), "--name", "delete_everything")
        code, printed, complaint = finish(shell.start(*other))
        assert (code, printed) == (1, "")
        assert "Name differs from the approved one: {'path': 'name'}" in complaint
        code, printed, _ = finish(shell.start(*words, json.dumps(ARGUMENTS), "--name", "refund"))
        assert code == 0
        assert printed.count(".") == 2
        code, _, complaint = finish(shell.start(*words, json.dumps(ARGUMENTS), "--json"))
        assert code == 1
        assert "already redeemed" in complaint
        code, _, complaint = finish(shell.start(*words, "[1]"))
        assert code == 2
        assert "not a JSON object" in complaint


class TestVerifying:
    @pytest.mark.parametrize(
        "keys",
        [public(KEY), [public(new_key()), public(KEY)], {"keys": [public(KEY)]}],
        ids=["a key", "keys", "a set"],
    )
    def test_pinned_keys(self, keys: Any) -> None:
        stated = claims()
        token = sign(KEY, stated)
        for arguments in (ARGUMENTS, dict(reversed(ARGUMENTS.items())), ANY_ARGUMENTS):
            assert verify_receipt(token, keys, issuer=ISSUER, arguments=arguments) == stated

    @pytest.mark.parametrize("name", FORGERIES)
    def test_forgeries(self, name: str) -> None:
        with pytest.raises(InvalidReceipt):
            verify_receipt(FORGERIES[name], public(KEY), issuer=ISSUER, arguments=ARGUMENTS)

    def test_it_is_for_one_call(self) -> None:
        expected: dict[str, Any] = {"name": "refund", "loop_id": "b" * 24, "request_id": "a" * 24}
        given: dict[str, Any] = {"issuer": ISSUER, "arguments": ARGUMENTS}
        token = sign(KEY, claims())
        assert verify_receipt(token, public(KEY), **given, **expected)["sub"] == "a" * 24
        for check in expected:
            for wrong in ("another", "", None):
                with pytest.raises(InvalidReceipt, match="the receipt has another"):
                    verify_receipt(token, public(KEY), **given, **{**expected, check: wrong})

    @pytest.mark.parametrize("arguments", [None, [], "", 0])
    def test_no_arguments_are_not_any_arguments(self, arguments: Any) -> None:
        """`answer.arguments` is None where nobody approved."""
        with pytest.raises(InvalidReceipt, match="there are no arguments"):
            verify_receipt(sign(KEY, claims()), public(KEY), issuer=ISSUER, arguments=arguments)

    @pytest.mark.contract("receipt.leeway")
    def test_clocks_may_differ_by_a_minute(self) -> None:
        given: dict[str, Any] = {"issuer": ISSUER, "arguments": ARGUMENTS}
        now = int(time.time())
        early = sign(KEY, claims(iat=now + 30))
        late, later = (sign(KEY, claims(exp=now - seconds)) for seconds in (30, 90))
        for token in (early, late):
            assert verify_receipt(token, public(KEY), **given)
        for token, leeway in ((later, 60), (late, 0), (early, 0)):
            with pytest.raises(InvalidReceipt, match="the receipt is not valid"):
                verify_receipt(token, public(KEY), **given, leeway=leeway)

    @pytest.mark.parametrize("issuer", ["", None, []])
    def test_no_issuer_is_not_any_issuer(self, issuer: Any) -> None:
        for stated in (claims(), claims(iss="")):
            with pytest.raises(InvalidReceipt, match="the issuer is missing"):
                verify_receipt(sign(KEY, stated), public(KEY), issuer=issuer, arguments=ARGUMENTS)

    @pytest.mark.parametrize("keys", MALFORMED, ids=repr)
    def test_keys_that_are_none(self, keys: Any) -> None:
        with pytest.raises(InvalidReceipt, match="the pinned keys are no JWKs"):
            verify_receipt(
                sign(KEY, claims(), kid=None), keys, issuer=ISSUER, arguments=ANY_ARGUMENTS
            )

    def test_no_key_is_no_key(self) -> None:
        with pytest.raises(InvalidReceipt, match="none of these keys"):
            verify_receipt(
                sign(KEY, claims()), {"keys": []}, issuer=ISSUER, arguments=ANY_ARGUMENTS
            )
        elliptic = {"kty": "EC", "crv": "P-256", "kid": KEY.kid}
        with pytest.raises(InvalidReceipt, match="none of these keys"):
            verify_receipt(sign(KEY, claims()), elliptic, issuer=ISSUER, arguments=ANY_ARGUMENTS)

    @pytest.mark.parametrize("arguments", [{"amount": 2**53}, {"a": "\ud800"}, {"\ud800": 1}])
    def test_arguments_without_a_canonical_form(self, arguments: dict[str, Any]) -> None:
        with pytest.raises(InvalidReceipt, match="no canonical form"):
            verify_receipt(sign(KEY, claims()), public(KEY), issuer=ISSUER, arguments=arguments)

    def test_without_its_packages_it_says_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        known = builtins.__import__

        def refuse(name: str, *rest: Any, **named: Any) -> Any:
            if name in ("jwt", "rfc8785"):
                raise ModuleNotFoundError(f"No module named {name!r}")
            return known(name, *rest, **named)

        monkeypatch.setattr(builtins, "__import__", refuse)
        with pytest.raises(reviewloop.ConfigurationError, match=r"reviewloop\[receipts\]"):
            verify_receipt(sign(KEY, claims()), public(KEY), issuer=ISSUER, arguments=ANY_ARGUMENTS)
