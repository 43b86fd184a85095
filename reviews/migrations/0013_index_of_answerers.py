"""Adds the index on answerers, which 0006 made in the past, and validates the check of 0004."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

from db.operations import AddIndexWhileInUse


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reviews", "0012_requests_by_end")]
    operations = [
        AddIndexWhileInUse(
            "request",
            models.Index(
                fields=["creator", "response_by", "-created_at", "-id"],
                condition=models.Q(("response_by__isnull", False)),
                name="request_by_answerer",
            ),
        ),
        ValidateConstraint("request", "request_comment_only_on_an_answer"),
    ]
