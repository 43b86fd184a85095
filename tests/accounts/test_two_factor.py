"""Two-factor sign-in: its secrets are encrypted, and change keys with the others."""

import io
import json

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from cryptography.fernet import Fernet
from django.core.management import call_command
from pytest_django import Settings

from accounts import vault
from accounts.models import User
from accounts.second_factor import TwoFactorAdapter

pytestmark = pytest.mark.django_db
SEED = "JBSWY3DPEHPK3PXP"
OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))


def test_secrets_are_encrypted_at_rest(owner: User) -> None:
    TOTP.activate(owner, SEED)
    codes = RecoveryCodes.activate(owner).get_unused_codes()
    rows = list(Authenticator.objects.filter(user_id=owner.pk).order_by("type"))
    stored = json.dumps([row.data for row in rows])
    assert SEED not in stored
    assert not any(code in stored for code in codes)
    assert vault.open_sealed(rows[1].data["secret"].encode()) == SEED


def test_keys_change_one_after_the_other(owner: User, settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    TOTP.activate(owner, SEED)
    codes = RecoveryCodes.activate(owner).get_unused_codes()
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    call_command("rotatekeys", stderr=io.StringIO())
    settings.ENCRYPTION_KEYS = [NEW]
    recovery, totp = Authenticator.objects.filter(user_id=owner.pk).order_by("type")
    assert TwoFactorAdapter().decrypt(totp.data["secret"]) == SEED
    assert RecoveryCodes(recovery).get_unused_codes() == codes
    settings.ENCRYPTION_KEYS = [OLD]
    with pytest.raises(vault.Unreadable):
        RecoveryCodes(recovery).get_unused_codes()
