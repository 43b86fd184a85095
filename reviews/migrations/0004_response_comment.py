"""Adds the comment that a reviewer may write with an answer."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0003_test_pushes")]
    operations = [
        migrations.AddField("request", "response_comment", models.TextField(null=True)),
        AddConstraintNotValid(
            "request",
            models.CheckConstraint(
                condition=models.Q(response_comment__isnull=True) | models.Q(status="completed"),
                name="request_comment_only_on_an_answer",
            ),
        ),
    ]
