"""Agents of the cast."""

import pytest

from tests.api.mcp.wire import Agent
from tests.api.wire import Api


@pytest.fixture
def agent(api: Api, plenty: str) -> Agent:
    """It does not declare tasks."""
    return Agent(api, plenty)


@pytest.fixture
def tasker(api: Api, plenty: str) -> Agent:
    """It declares tasks."""
    return Agent(api, plenty, tasks=True)
