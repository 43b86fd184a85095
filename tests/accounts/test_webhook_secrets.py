"""Webhook secrets: encrypted at rest, set, rotated, and printed by a command (issue 3, gap 44)."""

import base64
import io
import threading
from datetime import timedelta

import pytest
from cryptography.fernet import Fernet, InvalidToken
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models.functions import Now
from pytest_django import DjangoAssertNumQueries, Settings

from accounts import secret_services, vault
from accounts.models import AuditEntry, User, WebhookSecret
from accounts.webhook_secrets import Secret

pytestmark = pytest.mark.django_db
OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))
MISSING = "A secret was sealed with a key that ENCRYPTION_KEYS lacks."


def secret_of(account: User) -> str:
    return secret_services.read_secrets(account.pk).current.text


def run(name: str, *arguments: str) -> tuple[str, str]:
    """What a command printed, and what it said beside that."""
    out, beside = io.StringIO(), io.StringIO()
    call_command(name, *arguments, stdout=out, stderr=beside)
    return out.getvalue(), beside.getvalue()


def actions(account: User) -> list[str]:
    rows = AuditEntry.objects.filter(account=account, action__startswith="webhook_secret")
    return list(rows.order_by("created_at", "id").values_list("action", flat=True))


class TestAtRest:
    def test_every_account_has_one_of_its_own_that_stays(self, owner: User, member: User) -> None:
        first = secret_of(owner)
        assert len(base64.b64decode(first.removeprefix("whsec_"), validate=True)) == 32
        assert secret_of(owner) == first != secret_of(member)

    def test_the_table_holds_ciphertext_alone(self, owner: User, settings: Settings) -> None:
        settings.ENCRYPTION_KEYS = [OLD]
        secret_services.set_secret(account=owner, text="a secret of my own")
        fresh = secret_services.rotate_secret(account=owner)
        with connection.cursor() as cursor:
            cursor.execute("SELECT sealed, previous_sealed, w::text FROM accounts_webhooksecret w")
            ((sealed, previous, row),) = cursor.fetchall()
        assert Fernet(OLD).decrypt(bytes(sealed)).decode() == fresh.text
        assert Fernet(OLD).decrypt(bytes(previous)).decode() == "a secret of my own"
        for text in (fresh.text, "a secret of my own"):
            assert text not in row
            assert text.encode() not in bytes(sealed) + bytes(previous)
            assert text.encode().hex() not in row
        assert not any(fresh.text in entry.subject for entry in AuditEntry.objects.all())

    def test_keys_change_one_after_the_other(
        self, owner: User, member: User, settings: Settings
    ) -> None:
        settings.ENCRYPTION_KEYS = [OLD]
        before = secret_of(owner)
        settings.ENCRYPTION_KEYS = [NEW, OLD]
        assert secret_of(owner) == before
        theirs = secret_of(member)
        rotated = secret_services.rotate_secret(account=owner).text

        printed, beside = run("rotatekeys")
        assert (printed, beside) == ("", "Secrets of 2 accounts now use the first key.\n")
        settings.ENCRYPTION_KEYS = [NEW]
        secrets = secret_services.read_secrets(owner.pk)
        assert [secret.text for secret in secrets.in_use] == [rotated, before]
        assert secret_of(member) == theirs
        for row in WebhookSecret.objects.all():
            with pytest.raises(InvalidToken):
                Fernet(OLD).decrypt(bytes(row.sealed))

    def test_an_old_one_whose_time_is_over_stands_in_nobodys_way(
        self, owner: User, settings: Settings
    ) -> None:
        settings.ENCRYPTION_KEYS = [OLD]
        secret_of(owner)
        settings.ENCRYPTION_KEYS = [NEW, OLD]
        fresh = secret_services.rotate_secret(account=owner)
        WebhookSecret.objects.filter(pk=owner.pk).update(previous_until=Now())
        settings.ENCRYPTION_KEYS = [NEW]
        run("rotatekeys")
        row = WebhookSecret.objects.get(pk=owner.pk)
        assert (row.previous_sealed, row.previous_issued, row.previous_until) == (None,) * 3
        assert secret_of(owner) == fresh.text

    def test_a_missing_key_is_a_sentence_and_changes_nothing(
        self, owner: User, member: User, settings: Settings
    ) -> None:
        settings.ENCRYPTION_KEYS = [OLD]
        before = secret_of(owner)
        settings.ENCRYPTION_KEYS = [NEW]
        theirs = secret_of(member)
        rows = list(WebhookSecret.objects.order_by("pk").values())
        with pytest.raises(vault.Unreadable, match=MISSING):
            secret_of(owner)
        with pytest.raises(CommandError, match=f"^{MISSING} Nothing was changed.$"):
            run("rotatekeys")
        for arguments in ([], ["--rotate"]):
            with pytest.raises(CommandError, match=f"^{MISSING}$"):
                run("webhooksecret", owner.email, *arguments)
        assert list(WebhookSecret.objects.order_by("pk").values()) == rows
        settings.ENCRYPTION_KEYS = [NEW, OLD]
        assert (secret_of(owner), secret_of(member)) == (before, theirs)

    def test_a_lost_key_is_overcome_by_setting_a_secret(
        self, owner: User, settings: Settings
    ) -> None:
        settings.ENCRYPTION_KEYS = [OLD]
        secret_of(owner)
        settings.ENCRYPTION_KEYS = [NEW]
        secret_services.set_secret(account=owner, text="a secret of my own")
        assert secret_of(owner) == "a secret of my own"

    def test_they_are_read_with_one_statement(
        self, owner: User, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        secret_services.read_secrets(owner.pk)
        with django_assert_num_queries(1):
            secret_services.read_secrets(owner.pk)


class TestSet:
    @pytest.mark.parametrize("text", ["x" * 8, "x" * 256, "ü" * 256, "🗝" * 8, "not  padded"])
    def test_it_is_taken_as_it_is(self, owner: User, text: str) -> None:
        secret_services.set_secret(account=owner, text=text)
        assert secret_services.read_secrets(owner.pk).current == Secret(text, issued=False)
        assert actions(owner) == ["webhook_secret.set"]

    @pytest.mark.parametrize(
        "text", ["", "x" * 7, "x" * 257, " " * 8, "x" * 8 + "\x00", "x" * 8 + "\ud800"]
    )
    def test_or_refused(self, owner: User, text: str) -> None:
        before = secret_of(owner)
        with pytest.raises(
            secret_services.UnacceptableSecret,
            match=r"^A webhook secret has 8 to 256 characters\.$",
        ):
            secret_services.set_secret(account=owner, text=text)
        assert secret_of(owner) == before
        assert actions(owner) == []


class TestRotate:
    def test_the_old_one_stays_for_a_day(self, owner: User) -> None:
        old = secret_of(owner)
        new = secret_services.rotate_secret(account=owner)
        secrets = secret_services.read_secrets(owner.pk)
        assert new.issued
        assert [secret.text for secret in secrets.in_use] == [new.text, old]
        assert secrets.plain_key == old.encode()
        row = WebhookSecret.objects.get(pk=owner.pk)
        assert row.previous_until is not None
        assert row.previous_until - row.changed_at == timedelta(hours=24)
        WebhookSecret.objects.filter(pk=owner.pk).update(previous_until=Now())
        assert secret_services.read_secrets(owner.pk).in_use == (new,)

    def test_not_again_before_it_is_over_unless_forced(self, owner: User) -> None:
        secret_of(owner)
        first = secret_services.rotate_secret(account=owner)
        with pytest.raises(secret_services.RotationUnderWay):
            secret_services.rotate_secret(account=owner)
        assert secret_of(owner) == first.text
        second = secret_services.rotate_secret(account=owner, force=True)
        assert secret_services.read_secrets(owner.pk).in_use == (second, first)
        WebhookSecret.objects.filter(pk=owner.pk).update(previous_until=Now())
        secret_services.rotate_secret(account=owner)
        assert actions(owner) == ["webhook_secret.rotated"] * 3

    def test_the_holder_ends_it(self, owner: User) -> None:
        secret_services.end_rotation(account=owner)
        assert actions(owner) == []
        new = secret_services.rotate_secret(account=owner)
        secret_services.end_rotation(account=owner)
        assert secret_services.read_secrets(owner.pk).in_use == (new,)
        assert actions(owner) == ["webhook_secret.rotated", "webhook_secret.rotation_ended"]

    def test_the_holder_has_nothing_to_end_once_its_time_is_over(self, owner: User) -> None:
        secret_services.rotate_secret(account=owner)
        WebhookSecret.objects.filter(pk=owner.pk).update(previous_until=Now())
        secret_services.end_rotation(account=owner)
        assert actions(owner) == ["webhook_secret.rotated"]
        assert WebhookSecret.objects.get(pk=owner.pk).previous_sealed is None

    def test_setting_one_ends_it(self, owner: User) -> None:
        secret_services.rotate_secret(account=owner)
        secret_services.set_secret(account=owner, text="a secret of my own")
        assert len(secret_services.read_secrets(owner.pk).in_use) == 1

    @pytest.mark.django_db(transaction=True)
    def test_of_two_at_once_one_wins(self, owner: User) -> None:
        old = secret_of(owner)
        together = threading.Barrier(2)
        ends: list[str] = []

        def rotate() -> None:
            together.wait(10)
            try:
                ends.append(secret_services.rotate_secret(account=owner).text)
            except secret_services.RotationUnderWay:
                ends.append("under way")
            connection.close()

        threads = [threading.Thread(target=rotate) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert sorted(ends)[0] == "under way"
        in_use = [secret.text for secret in secret_services.read_secrets(owner.pk).in_use]
        assert in_use == [sorted(ends)[1], old]


class TestCommand:
    def test_it_prints_the_secret_alone(self, owner: User) -> None:
        assert run("webhooksecret", " OWNER@example.com ") == (secret_of(owner) + "\n", "")

    def test_it_sets(self, owner: User) -> None:
        printed = run("webhooksecret", owner.email, "--set", "a secret of my own")
        assert printed == ("a secret of my own\n", "")
        assert secret_of(owner) == "a secret of my own"

    def test_it_rotates_and_prints_the_new_one(self, owner: User) -> None:
        old = secret_of(owner)
        printed, _ = run("webhooksecret", owner.email, "--rotate")
        assert printed.strip() == secret_of(owner) != old
        with pytest.raises(CommandError, match="--force to end it"):
            run("webhooksecret", owner.email, "--rotate")
        again, _ = run("webhooksecret", owner.email, "--rotate", "--force")
        assert again != printed

    def test_it_ends_a_rotation(self, owner: User) -> None:
        new, _ = run("webhooksecret", owner.email, "--rotate")
        assert run("webhooksecret", owner.email, "--end-rotation") == (new, "")
        assert len(secret_services.read_secrets(owner.pk).in_use) == 1

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (["nobody@example.com"], "There is no account 'nobody@example.com'."),
            (["owner@example.com", "--set", "short"], "has 8 to 256 characters"),
            (["owner@example.com", "--set", ""], "has 8 to 256 characters"),
            (["owner@example.com", "--set", "x" * 9, "--rotate"], "not allowed with argument"),
        ],
    )
    def test_or_says_why_not(self, owner: User, arguments: list[str], sentence: str) -> None:
        before = secret_of(owner)
        with pytest.raises(CommandError, match=sentence):
            run("webhooksecret", *arguments)
        assert secret_of(owner) == before
