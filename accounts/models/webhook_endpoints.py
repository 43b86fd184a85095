"""The table of webhook endpoints."""

from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models.people import User
from accounts.models.webhook_secrets import SealedSecret, previous_whole
from db.columns import bucket_constraint, owned_id_field

MAX_ENDPOINTS = 5  # of an account


class EndpointQuerySet(models.QuerySet["WebhookEndpoint"]):
    """Queries for webhook endpoints."""

    def of_account(self, account_id: str) -> "EndpointQuerySet":
        """Returns the account's endpoints, the oldest first."""
        return self.filter(account_id=account_id).order_by("created_at", "pk")


class WebhookEndpoint(SealedSecret):
    """A receiver of chosen events of an account's requests, with a secret of its own.

    `loop_ids` are the chosen loops, null for all of them; loops that are deleted stay in it and
    match nothing. `slot` is the number of the endpoint in its account, from 1: it bounds how many
    there are, and is part of the names of the endpoint's deliveries (`webhooks.emission`).
    """

    id = owned_id_field("account_id")
    account = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="webhook_endpoints", db_index=False
    )
    slot = models.PositiveSmallIntegerField()
    url = models.TextField()
    events = ArrayField(models.CharField(max_length=40))
    loop_ids = ArrayField(models.CharField(max_length=24), null=True)
    is_on = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    objects: ClassVar[Any] = EndpointQuerySet.as_manager()

    class Meta:
        constraints = [
            bucket_constraint("account_id", name="webhook_endpoint_in_bucket"),
            models.UniqueConstraint(fields=["account", "slot"], name="webhook_endpoint_slot_taken"),
            models.CheckConstraint(
                condition=Q(slot__gte=1, slot__lte=MAX_ENDPOINTS),
                name="webhook_endpoint_slot_known",
            ),
            previous_whole("webhook_endpoint_previous_whole"),
        ]

    def __str__(self) -> str:
        return self.url
