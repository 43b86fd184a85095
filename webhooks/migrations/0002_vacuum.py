"""A delivery is updated when it is claimed and when it is recorded, and its state is in most
indexes. Claims walk the small index of what waits: what has left it must be cleared away soon,
however large the log has grown."""

from django.db import migrations

SET = """
ALTER TABLE webhooks_delivery SET (
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000,
    autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE webhooks_attempt SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
"""
RESET = """
ALTER TABLE webhooks_delivery RESET (
    autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold,
    autovacuum_analyze_scale_factor);
ALTER TABLE webhooks_attempt RESET (
    autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold);
"""


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0001_tables")]
    operations = [migrations.RunSQL(SET, RESET)]
