"""Indexes for every filter and order of the lists, and vacuum in time for them.

Without the visibility map an index-only scan fetches every row after all, and without fresh
statistics the planner does not know that few rows are overdue. At the default scale of 20 % a
table of a million rows is vacuumed once in 200,000 changes: too late.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Case, F, Q, When

# On the words of `request_due`: a partial index keeps no statistics that the planner would use.
STATISTICS = """
CREATE STATISTICS request_due_at
    ON (CASE WHEN status IN ('pending', 'claimed') THEN timeout_at END) FROM reviews_request;
"""
VACUUM = """
ALTER TABLE reviews_request SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02);
-- every sum is a row that is updated in place, again and again: room for its next version
ALTER TABLE reviews_tally SET (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
-- rows live for a second: what they leave behind is cleared away at once, whatever the size
ALTER TABLE reviews_tallychange SET (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
"""
NO_VACUUM = """
ALTER TABLE reviews_request RESET (
    autovacuum_vacuum_scale_factor, autovacuum_vacuum_insert_scale_factor,
    autovacuum_analyze_scale_factor);
ALTER TABLE reviews_tally RESET (
    fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold);
ALTER TABLE reviews_tallychange RESET (
    autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold,
    autovacuum_vacuum_insert_scale_factor, autovacuum_vacuum_cost_delay);
"""


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0005_tally"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.RemoveIndex("request", "request_account_priority"),
        migrations.AddIndex(
            "request",
            models.Index(
                fields=["loop", "status", "-priority_rank", "-created_at", "-id"],
                name="request_loop_both",
            ),
        ),
        migrations.RemoveIndex("request", "request_due"),
        migrations.AddIndex(
            "request",
            models.Index(
                Case(When(status__in=["pending", "claimed"], then=F("timeout_at"))),
                condition=Q(status__in=["pending", "claimed"]),
                name="request_due",
            ),
        ),
        migrations.RunSQL(STATISTICS, "DROP STATISTICS request_due_at"),
        migrations.AlterField(
            "request",
            "response_by",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="answers",
                to=settings.AUTH_USER_MODEL,
                db_index=False,
            ),
        ),
        migrations.AddIndex(
            "request",
            models.Index(
                fields=["response_by"],
                condition=Q(response_by__isnull=False),
                name="request_answered_by",
            ),
        ),
        migrations.RunSQL(VACUUM, NO_VACUUM),
    ]
