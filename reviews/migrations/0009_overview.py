"""Indexes for the days of the overview: answers with their times, and timeouts."""

from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("loops", "0001_initial"),
        ("reviews", "0008_my_work"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.AddIndex(
            "request",
            models.Index(
                fields=["creator", "response_at"],
                include=["created_at"],
                condition=Q(response_at__isnull=False),
                name="request_answers",
            ),
        ),
        migrations.AddIndex(
            "request",
            models.Index(
                fields=["creator", "timeout_at"],
                condition=Q(status="timeout"),
                name="request_timeouts",
            ),
        ),
    ]
