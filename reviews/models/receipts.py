"""The tables of receipts and of the keys that sign them."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.db.models.lookups import IsNull

from db.columns import ExactJSONField, LookupField


class SigningKey(models.Model):
    """A key of the service that signs receipts.

    `id` is the RFC 7638 thumbprint of the public key, which programs know as `kid`. The private
    key is encrypted, and removed as soon as the next key replaces it. A compromised key is not
    published any more, so that nobody trusts what a thief signs with it.
    """

    id = LookupField(primary_key=True, max_length=43, editable=False)
    public = ExactJSONField()  # a JWK (RFC 8037)
    sealed = models.BinaryField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    retired_at = models.DateTimeField(null=True)
    compromised_at = models.DateTimeField(null=True)

    objects: ClassVar[Any] = models.Manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(sealed__isnull=False, retired_at__isnull=True)
                | Q(sealed__isnull=True, retired_at__isnull=False),
                name="signing_key_private_until_retired",
            ),
            models.UniqueConstraint(
                IsNull(F("retired_at"), True),
                condition=Q(retired_at__isnull=True),
                name="signing_key_only_one_signs",
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)


class Receipt(models.Model):
    """The signed receipt of an approval, which a program redeems once.

    It has digests of what was approved, so it outlives the texts of its request.
    """

    request = models.OneToOneField(
        "reviews.Request", primary_key=True, on_delete=models.CASCADE, related_name="receipt"
    )
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        db_constraint=False,  # the request refers to it
    )
    key = models.ForeignKey(SigningKey, on_delete=models.PROTECT, related_name="+", db_index=False)
    token = models.TextField()
    arguments_sha256 = models.CharField(max_length=64)
    expires_at = models.DateTimeField()
    redeemed_at = models.DateTimeField(null=True)
    redeemed_with = models.ForeignKey(
        "accounts.ApiKey", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )

    objects: ClassVar[Any] = models.Manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(redeemed_at__isnull=True, redeemed_with__isnull=True)
                | Q(redeemed_at__isnull=False, redeemed_with__isnull=False),
                name="receipt_redeemed_with_a_key",
            ),
        ]
        indexes = [models.Index(fields=["key", "-expires_at"], name="receipt_of_key")]

    def __str__(self) -> str:
        return str(self.request_id)
