"""Accounts, keys and the audit log."""

from collections.abc import Callable

import pytest
from django.db import IntegrityError, transaction

from accounts import key_format, services
from accounts.audit import record
from accounts.models import ApiKey, AuditEntry, User


def test_keys_have_the_published_form_and_are_kept_as_digests(owner: User) -> None:
    key, secret = services.create_api_key(user=owner, name="CI")
    assert secret.startswith("rl_live_")
    assert len(secret) == 8 + 30 + 6
    assert key_format.is_well_formed(secret)
    assert not key_format.is_well_formed(secret[:-1] + ("a" if secret[-1] != "a" else "b"))
    assert bytes(key.digest) == key_format.digest(secret)
    assert (key.prefix, key.last_four) == (secret[:12], secret[-4:])
    assert secret not in str(vars(key))


@pytest.mark.parametrize("state", ["revoked", "deleted"])
def test_revoked_and_deleted_are_final(owner: User, state: str) -> None:
    key, _ = services.create_api_key(user=owner, name="CI")
    services.set_key_state(key=key, state=ApiKey.State(state))
    with pytest.raises(services.FinalKeyState):
        services.set_key_state(key=key, state=ApiKey.State.ACTIVE)


def test_a_deactivated_key_can_be_activated_again(owner: User) -> None:
    key, _ = services.create_api_key(user=owner, name="CI")
    for state in (ApiKey.State.INACTIVE, ApiKey.State.ACTIVE):
        assert services.set_key_state(key=key, state=state).state == state
    actions = AuditEntry.objects.order_by("created_at", "id").values_list("action", flat=True)
    assert list(actions) == ["key.created", "key.inactive", "key.active"]


@pytest.mark.parametrize(
    "change", [lambda entry: entry.delete(), lambda entry: entry.save(force_update=True)]
)
def test_the_audit_log_only_grows(owner: User, change: Callable[[AuditEntry], object]) -> None:
    record(account_id=owner.pk, actor_id=owner.pk, action="test")
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        change(AuditEntry.objects.get())


def test_addresses_are_unique_in_any_case(owner: User) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        services.create_account(email="OWNER@example.com")


def test_a_reserved_id_is_stable_and_becomes_the_accounts(db: None, owner: User) -> None:
    reserved = services.reserve_user_id(email="New@example.com")
    assert services.reserve_user_id(email="new@EXAMPLE.com") == reserved
    stranger = services.create_account(email="new@example.com")
    assert stranger.pk != reserved
    assert services.reserve_user_id(email="new@example.com") == reserved
    stranger.emailaddress_set.all().delete()  # type: ignore[attr-defined]
    stranger.email = "other@example.com"
    stranger.save()
    person = services.create_account(email="new@example.com", verified=True)
    assert person.pk == reserved
    assert services.reserve_user_id(email="new@example.com") == reserved
    of_owner = services.reserve_user_id(email=owner.email)
    assert of_owner != owner.pk
    assert services.reserve_user_id(email=owner.email) == of_owner


def test_an_address_that_changes_hands_gets_another_id(db: None) -> None:
    """The first holder keeps the id that was reserved, and nobody else's invitations."""
    reserved = services.reserve_user_id(email="new@example.com")
    first = services.create_account(email="new@example.com", verified=True)
    first.emailaddress_set.update(email="other@example.com")  # type: ignore[attr-defined]
    first.email = "other@example.com"
    first.save()
    again = services.reserve_user_id(email="new@example.com")
    assert again != reserved
    assert services.reserve_user_id(email="new@example.com") == again
    assert services.create_account(email="new@example.com", verified=True).pk == again


def test_the_first_holders_id_is_not_given_to_the_next_account(db: None) -> None:
    reserved = services.reserve_user_id(email="new@example.com")
    first = services.create_account(email="new@example.com", verified=True)
    first.emailaddress_set.update(email="other@example.com")  # type: ignore[attr-defined]
    User.objects.filter(pk=first.pk).update(email="other@example.com")
    assert services.create_account(email="new@example.com", verified=True).pk != reserved
