"""The table of worker heartbeats."""

from django.db import models


class Heartbeat(models.Model):
    """Stores when each sweep (a background job) last ran, one row per sweep."""

    name = models.CharField(primary_key=True, max_length=50)
    beat_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
