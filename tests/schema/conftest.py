"""Queries of the database's catalogue."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

Rows = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def rows(db: None) -> Rows:
    """`rows(sql, params)` is what the database answers."""

    def ask(sql: str, params: Any = None) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(sql, params)
            answer: list[tuple[Any, ...]] = cursor.fetchall()
        return answer

    return ask
