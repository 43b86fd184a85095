"""Adds the table of answers, and a trigger that fills it for the version before.

That version serves until the new one has started, and completes requests without a row here. A row
that the new version has written is left alone.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from db.columns import ExactJSONField, OwnedIdField, bucket_constraint
from db.ids import owned_id_sql

TRIGGER = f"""
CREATE FUNCTION reviews_request_answer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO reviews_answer (id, request_id, account_id, loop_id, person_id, data, comment,
                                asked_at, answered_at)
    VALUES ({owned_id_sql("NEW.creator_id")}, NEW.id, NEW.creator_id, NEW.loop_id,
            NEW.response_by_id, NEW.response_data, NEW.response_comment, NEW.created_at,
            NEW.response_at)
    ON CONFLICT ON CONSTRAINT one_answer_a_person DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER request_answer AFTER UPDATE OF status ON reviews_request
    FOR EACH ROW WHEN (NEW.status = 'completed' AND OLD.status <> 'completed')
    EXECUTE FUNCTION reviews_request_answer();
"""  # noqa: S608 (nothing in it comes from outside)
NO_TRIGGER = """
DROP TRIGGER request_answer ON reviews_request;
DROP FUNCTION reviews_request_answer();
"""


def person(**options: object) -> models.ForeignKey:  # type: ignore[type-arg]
    return models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=django.db.models.deletion.PROTECT,
        db_index=False,
        **options,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("loops", "0007_ids_of_invitations"),
        ("reviews", "0021_index_of_metadata"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.AlterField("request", "response_by", person(null=True, related_name="+")),
        migrations.CreateModel(
            name="Answer",
            fields=[
                ("id", OwnedIdField(owner="account_id", serialize=False)),
                ("data", ExactJSONField()),
                ("comment", models.TextField(null=True)),
                ("asked_at", models.DateTimeField()),
                ("answered_at", models.DateTimeField()),
                ("account", person(db_constraint=False, related_name="+")),
                (
                    "loop",
                    models.ForeignKey(
                        "loops.loop",
                        on_delete=django.db.models.deletion.PROTECT,
                        db_constraint=False,
                        db_index=False,
                        related_name="+",
                    ),
                ),
                ("person", person(related_name="answers")),
                (
                    "request",
                    models.ForeignKey(
                        "reviews.request",
                        on_delete=django.db.models.deletion.CASCADE,
                        db_index=False,
                        related_name="answers",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["person", "-answered_at", "-id"], name="answer_person"),
                    models.Index(
                        fields=["account", "person", "-asked_at", "-request"],
                        name="answer_account_person",
                    ),
                    models.Index(
                        fields=["account", "answered_at"],
                        include=["asked_at"],
                        name="answer_account",
                    ),
                    models.Index(fields=["loop", "-asked_at", "-id"], name="answer_loop"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=["request", "person"], name="one_answer_a_person"
                    ),
                    bucket_constraint("account_id", name="answer_in_bucket"),
                ],
            },
        ),
        migrations.RunSQL(TRIGGER, NO_TRIGGER),
    ]
