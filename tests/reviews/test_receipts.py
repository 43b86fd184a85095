"""What becomes of receipts: rotated keys, removed texts, erased people."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jwt
import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now
from django.test import Client
from pytest_django import Settings

from accounts import vault
from accounts.models import User
from config import key_rotation
from reviews import erasing, retention, tasks
from reviews.models import Receipt, Request, SigningKey
from reviews.receipts import signing_keys
from tests.conftest import Api
from tests.reviews.approvals import (
    ARGUMENTS,
    PROPOSAL,
    add_answer,
    decide,
    let_expire,
    turn_into_approval,
)
from tests.reviews.conftest import Make
from tests.reviews.test_retention import let_pass

pytestmark = pytest.mark.django_db


def approve(make: Make, person: User, action: str = "approve", **config: Any) -> Request:
    request = make()
    turn_into_approval(request.pk, **config)
    decide(request.pk, person, action)
    request.refresh_from_db()
    return request


def read(api: type[Api], key: str, request: Request) -> dict[str, Any]:
    response = api(key).get(f"/v1/api/requests/{request.pk}/receipt")
    assert response.status_code == 200, response.content
    found: dict[str, Any] = response.json()["data"]
    return found


def published() -> list[str]:
    keys: list[dict[str, str]] = Client().get("/.well-known/jwks.json").json()["keys"]
    assert all(set(key) == {"kty", "crv", "x", "kid", "use", "alg"} for key in keys)
    return [key["kid"] for key in keys]


def claims_of(token: str) -> dict[str, Any]:
    """Verifies the receipt with the keys that are published now."""
    keys = jwt.PyJWKSet.from_dict(Client().get("/.well-known/jwks.json").json())
    kid = jwt.get_unverified_header(token)["kid"]
    claims: dict[str, Any] = jwt.decode(token, keys[kid], algorithms=["EdDSA"])
    return claims


class TestSigningKeys:
    def test_the_thumbprint_is_that_of_rfc_8037(self) -> None:
        public = {
            "crv": "Ed25519",
            "kty": "OKP",
            "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        }
        thumbprint = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
        assert signing_keys.compute_thumbprint(public) == thumbprint

    def test_the_first_key_is_made_when_it_is_needed(self) -> None:
        assert published() == published() == [SigningKey.objects.get().pk]

    def test_caches_may_keep_the_keys_for_five_minutes(self) -> None:
        response = Client().get("/.well-known/jwks.json")
        assert response["Cache-Control"] == "public, max-age=300"
        assert not response.cookies
        assert Client().head("/.well-known/jwks.json").status_code == 200
        assert Client().post("/.well-known/jwks.json").status_code == 405

    @pytest.mark.django_db(transaction=True)
    def test_two_processes_make_one(self) -> None:
        def sign(_: int) -> str:
            try:
                return signing_keys.read_signing_key()[0]
            finally:
                connection.close()

        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(sign, range(8)))) == 1
        assert SigningKey.objects.count() == 1

    def test_the_private_key_is_nowhere_but_sealed(
        self, make: Make, member: User, owner_key: str, api: type[Api],
    ) -> None:  # fmt: skip
        data = read(api, owner_key, approve(make, member))
        secret = signing_keys.read_signing_key()[1]._jwk_data["d"]
        row = SigningKey.objects.get()
        shown = f"{row.public} {data} {Client().get('/.well-known/jwks.json').content!r}"
        assert secret not in shown
        assert secret.encode() not in bytes(row.sealed)
        assert secret in vault.open_sealed(row.sealed)

    def test_after_a_rotation_the_old_key_verifies_until_its_receipts_expire(
        self, make: Make, member: User, owner_key: str, api: type[Api],
        capsys: pytest.CaptureFixture[str],
    ) -> None:  # fmt: skip
        before, later = approve(make, member), approve(make, member)
        (old,) = published()
        data = read(api, owner_key, before)
        call_command("rotatesigningkey")
        new = capsys.readouterr().out.strip()
        assert published() == [new, old]
        assert claims_of(data["receipt"])["sub"] == before.pk
        assert jwt.get_unverified_header(read(api, owner_key, later)["receipt"])["kid"] == new
        assert SigningKey.objects.get(pk=old).sealed is None
        body = {"arguments": ARGUMENTS}
        path = f"/v1/api/requests/{before.pk}/redeem"
        assert api(owner_key).post(path, body).status_code == 200
        let_expire(before.pk)
        assert published() == [new]

    def test_a_compromised_key_is_not_published_any_more(
        self, make: Make, member: User, owner_key: str, api: type[Api],
        capsys: pytest.CaptureFixture[str],
    ) -> None:  # fmt: skip
        """Redeeming asks the database, not the key."""
        request, later = approve(make, member), approve(make, member)
        (old,) = published()
        token = read(api, owner_key, request)["receipt"]
        call_command("rotatesigningkey", "--compromised")
        new = capsys.readouterr().out.strip()
        assert published() == [new] != [old]
        with pytest.raises(KeyError, match="keyset has no key"):
            claims_of(token)
        assert claims_of(read(api, owner_key, later)["receipt"])["sub"] == later.pk
        path = f"/v1/api/requests/{request.pk}/redeem"
        assert api(owner_key).post(path, {"arguments": ARGUMENTS}).status_code == 200

    def test_an_earlier_key_can_be_compromised_too(
        self, make: Make, member: User, owner_key: str, api: type[Api],
        capsys: pytest.CaptureFixture[str],
    ) -> None:  # fmt: skip
        (old,) = published()
        read(api, owner_key, approve(make, member))
        new = signing_keys.rotate()
        assert published() == [new, old]
        call_command("rotatesigningkey", "--compromised", old)
        assert capsys.readouterr().out.strip() == new
        assert published() == [new]
        call_command("rotatesigningkey", f"--compromised={new}")
        assert published() == [capsys.readouterr().out.strip()] != [new]
        with pytest.raises(CommandError, match="No key that signs receipts has the id x"):
            call_command("rotatesigningkey", "--compromised", "x")

    def test_an_old_key_without_receipts_is_not_published(self) -> None:
        (old,) = published()
        new = signing_keys.rotate()
        assert published() == [new] != [old]

    def test_two_keys_cannot_sign(self) -> None:
        published()
        with pytest.raises(IntegrityError), transaction.atomic():
            SigningKey.objects.create(id="x", public={}, sealed=b"x")
        with pytest.raises(IntegrityError), transaction.atomic():
            SigningKey.objects.create(id="x", public={}, sealed=b"x", retired_at=Now())

    def test_new_encryption_keys_cover_it(self, settings: Settings) -> None:
        kid, _ = signing_keys.read_signing_key()
        old, new = settings.ENCRYPTION_KEYS, Fernet.generate_key().decode()
        settings.ENCRYPTION_KEYS = [new, *old]
        assert key_rotation.count_by_key() == (0, 1)
        call_command("rotatekeys")
        settings.ENCRYPTION_KEYS = [new]
        assert key_rotation.count_by_key() == (0, 0)
        assert signing_keys.read_signing_key()[0] == kid

    def test_without_the_encryption_key_nothing_is_signed(
        self, make: Make, member: User, owner_key: str, api: type[Api], settings: Settings
    ) -> None:
        request = approve(make, member)
        published()
        settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
        response = api(owner_key).get(f"/v1/api/requests/{request.pk}/receipt")
        assert (response.status_code, response.json()["msg"]) == (
            500,
            "Failed to retrieve receipt",
        )
        assert not Receipt.objects.exists()


class TestRetention:
    @pytest.mark.parametrize("is_read_before", [True, False])
    def test_without_its_texts_an_approval_can_be_proved_and_redeemed(
        self, make: Make, member: User, owner_key: str, api: type[Api], settings: Settings,
        is_read_before: bool,
    ) -> None:  # fmt: skip
        settings.KEEP_TEXTS_DAYS = 1
        request = approve(make, member, approval_valid_seconds=2_592_000)
        before = read(api, owner_key, request) if is_read_before else None
        let_pass(2)
        assert retention.prune(until=time.monotonic() + 10) == 1
        stored = Request.objects.get(pk=request.pk)
        assert stored.response_data == {"action": "approve", "edited": []}
        assert stored.response_config == {"proposal": {"name": "refund"}}
        data = read(api, owner_key, request)
        assert before in (None, data)
        assert claims_of(data["receipt"])["name"] == "refund"
        path = f"/v1/api/requests/{request.pk}/redeem"
        response = api(owner_key).post(path, {"arguments": {**ARGUMENTS, "amount": 1}})
        assert (response.status_code, response.json()["data"]) == (409, {"path": "arguments"})
        assert api(owner_key).post(path, {"arguments": ARGUMENTS}).status_code == 200

    def test_what_was_proposed_goes_whatever_was_decided(
        self, make: Make, member: User, settings: Settings
    ) -> None:
        settings.KEEP_TEXTS_DAYS = 1
        refused, asked_back = (approve(make, member, each) for each in ("reject", "respond"))
        Request.objects.filter(pk=asked_back.pk).update(
            response_data={"action": "respond", "message": "Ada wants more"}
        )
        let_pass(2)
        assert retention.prune(until=time.monotonic() + 10) == 2
        for request, action in ((refused, "reject"), (asked_back, "respond")):
            request.refresh_from_db()
            assert request.response_data == {"action": action}
            assert PROPOSAL["arguments"]["order"] not in str(request.response_config)
        assert not Receipt.objects.exists()

    def test_a_removed_request_takes_its_receipt_along(
        self, make: Make, member: User, owner_key: str, api: type[Api], settings: Settings
    ) -> None:
        settings.KEEP_REQUESTS_DAYS = 1
        request = approve(make, member)
        read(api, owner_key, request)
        let_pass(2)
        assert retention.prune(until=time.monotonic() + 10) == 1
        assert not Receipt.objects.exists()
        response = api(owner_key).get(f"/v1/api/requests/{request.pk}/receipt")
        assert (response.status_code, response.json()["msg"]) == (404, "Request not found")


class TestErasure:
    def test_an_erased_person_has_a_pseudonym_in_receipts(
        self, make: Make, member: User, owner_key: str, api: type[Api]
    ) -> None:
        requests = [approve(make, member) for _ in range(2)]
        before = [read(api, owner_key, request) for request in requests]
        erasing.begin(person=member)
        member.refresh_from_db()
        # at once in what is read, later in what is stored
        first = claims_of(read(api, owner_key, requests[0])["receipt"])
        assert tasks.finish_erasing() == 1
        stored = [claims_of(Receipt.objects.get(pk=request.pk).token) for request in requests]
        assert stored[0] == first
        for old, new in zip(before, stored, strict=True):
            claims = claims_of(old["receipt"])
            assert claims.pop("answered_by") == [{"id": member.pk, "name": "Member"}]
            assert new.pop("answered_by") == [{"id": member.pk, "name": member.name}]
            assert new == claims

    def test_of_several_approvers_only_the_erased_one_is_renamed(
        self, make: Make, member: User, owner: User, owner_key: str, api: type[Api]
    ) -> None:
        request = approve(make, owner)
        add_answer(request.pk, member, request.response_data)
        policy = {"rule": "unanimous", "answers": 2, "blind": True, "exclude_creator": False}
        Request.objects.filter(pk=request.pk).update(
            policy={**policy, "veto": []}, outcome="decided"
        )
        before = claims_of(read(api, owner_key, request)["receipt"])
        owner.name = "Somebody Else"
        owner.save(update_fields=["name"])
        erasing.begin(person=member)
        member.refresh_from_db()
        after = claims_of(read(api, owner_key, request)["receipt"])
        assert after["answered_by"] == [
            before["answered_by"][0],
            {"id": member.pk, "name": member.name},
        ]
        assert tasks.finish_erasing() == 1
        assert claims_of(Receipt.objects.get().token) == after

    def test_the_key_of_a_new_signature_is_published(
        self, make: Make, member: User, owner_key: str, api: type[Api]
    ) -> None:
        request = approve(make, member)
        read(api, owner_key, request)
        second = signing_keys.rotate()
        erasing.begin(person=member)
        receipt = read(api, owner_key, request)["receipt"]
        third = signing_keys.rotate()
        assert published() == [third, second]
        assert claims_of(receipt)["sub"] == request.pk

    def test_the_receipts_of_an_erased_account_go(
        self, make: Make, member: User, owner: User, owner_key: str, api: type[Api]
    ) -> None:
        read(api, owner_key, approve(make, member))
        erasing.begin(person=owner)
        assert tasks.finish_erasing() == 1
        assert not Receipt.objects.exists()
        assert not Request.objects.exists()
