"""The table of the worker's heartbeats."""

from django.db import models


class Heartbeat(models.Model):
    """When a sweep last ran: one row each."""

    name = models.CharField(primary_key=True, max_length=50)
    beat_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
