"""Every call updates the row of its key and hour: room on the page for its next version, so that
no index changes and no bloat is left, and vacuum by the number of updates, not of rows."""

from django.db import migrations

SET = """
ALTER TABLE accounts_usage SET (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
    autovacuum_analyze_scale_factor = 0.05);
"""
RESET = """
ALTER TABLE accounts_usage RESET (
    fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold,
    autovacuum_analyze_scale_factor);
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_holders_pages")]
    operations = [migrations.RunSQL(SET, RESET)]
