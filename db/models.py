"""The tables of worker heartbeats and of the stop of deliveries."""

from django.db import models
from django.db.models.functions import Now


class Heartbeat(models.Model):
    """Stores when each sweep (a background job) last ran, one row per sweep."""

    name = models.CharField(primary_key=True, max_length=50)
    beat_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class DeliveryStop(models.Model):
    """Stops all deliveries while it has its only row (`db.deliveries`)."""

    id = models.SmallIntegerField(primary_key=True, default=1, db_default=1)
    reason = models.CharField(max_length=200)
    begun_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="delivery_stop_is_one")
        ]

    def __str__(self) -> str:
        return self.reason
