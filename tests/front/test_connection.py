"""What a connection does between a thread and the event loop, in the order that is rarely seen."""

import asyncio
from typing import Any, cast

import pytest

from front.connection import Connection
from front.limits import Limits
from front.reading import Message


class Server:
    """Keeps what the threads would get."""

    limits = Limits()

    def __init__(self) -> None:
        self.threads = self
        self.submitted: list[Any] = []
        self.submit = self.submitted.append


class Transport(asyncio.Transport):
    def write(self, data: Any) -> None:
        """Its buffer has room."""


@pytest.fixture
def connection() -> Connection:
    """A connection for whose response a thread has just made the first part."""
    one = Connection(cast(Any, Server()))
    one._transport = Transport()
    one.current = Message({}, "1.1", 0)
    one.pause_writing()  # the response before has filled the buffer
    one.current.parts = object()
    return one


def submitted(connection: Connection) -> list[Any]:
    return cast(Server, connection.server).submitted


def test_the_next_part_is_made_once(connection: Connection) -> None:
    message = cast(Message, connection.current)
    connection.resume_writing()  # before the loop has seen the first part
    connection.send(message, b"1")
    assert submitted(connection) == [(connection, message)]


def test_it_is_made_when_the_client_has_taken_the_last_one(connection: Connection) -> None:
    message = cast(Message, connection.current)
    connection.send(message, b"1")
    assert submitted(connection) == []
    for _ in range(2):
        connection.resume_writing()
    assert submitted(connection) == [(connection, message)]
