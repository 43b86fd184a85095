"""A product that has one response type more."""

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

import api.openapi.document
from api.openapi import answers, examples, requests
from api.openapi.pages import build_document
from reviews.response_types import TYPES
from tests.reviews.response_types.date import Date

TEMPLATES = Path(__file__).parent / "templates"


def read_types_anew() -> None:
    """What the OpenAPI document says of types is read once, when the process starts."""
    for module in (answers, examples, requests, api.openapi.document):
        importlib.reload(module)
    build_document.cache_clear()


@pytest.fixture
def date_type() -> Iterator[None]:
    """Lists the type 'date', which has no widget yet; the next test finds everything as it was."""
    TYPES["date"] = Date()
    read_types_anew()
    yield
    del TYPES["date"]
    read_types_anew()


@pytest.fixture
def date_widget(settings: Settings) -> None:
    """Adds the one template that the type needs."""
    engine = settings.TEMPLATES[0]
    settings.TEMPLATES = [{**engine, "DIRS": [*engine["DIRS"], TEMPLATES]}]
