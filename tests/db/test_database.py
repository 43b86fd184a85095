"""How the service holds its connections to PostgreSQL."""

import pytest
from django.db import connection


@pytest.mark.django_db
def test_a_process_that_hangs_in_a_transaction_loses_its_locks() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW idle_in_transaction_session_timeout")
        assert cursor.fetchone() == ("30s",)


@pytest.mark.django_db
def test_a_server_that_is_gone_without_a_word_is_noticed() -> None:
    connection.ensure_connection()
    parameters = connection.connection.info.get_parameters()
    assert {
        name: parameters.get(name)
        for name in ("keepalives_idle", "keepalives_interval", "keepalives_count")
    } == {"keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3"}
