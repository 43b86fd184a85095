"""Empties the database after a test that commits: only the tables that have rows.

Django truncates every table and makes content types and permissions anew, which takes 150 times
as long and was a twentieth of the whole suite.
"""

from django.db import connection

KEPT = {"django_content_type", "auth_permission"}  # made by the migrations, changed by no test
# Neither foreign keys nor the triggers that count have a say; only a superuser may do that.
DELETE = "SET LOCAL session_replication_role = replica; "


def empty_tables() -> None:
    filled = filled_tables()
    if not filled:
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        (is_superuser,) = cursor.fetchone()
        if is_superuser:  # several statements in one string are one transaction
            cursor.execute(DELETE + "; ".join(f"DELETE FROM {table}" for table in filled))
        else:
            cursor.execute(f"TRUNCATE {', '.join(filled)} CASCADE")


def filled_tables() -> list[str]:
    """The tables of the applications that have rows."""
    tables = [name for name in connection.introspection.django_table_names() if name not in KEPT]
    has_rows = (f"SELECT '{table}' WHERE EXISTS (SELECT FROM {table})" for table in tables)
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(has_rows))
        return [name for (name,) in cursor.fetchall()]
