"""Ports for servers of tests and measurements."""

import socket

from bench.serving import free_port


def test_a_connection_never_takes_the_port_of_a_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        connections = [socket.create_connection(server.getsockname()) for _ in range(50)]
        lowest = min(each.getsockname()[1] for each in connections)
        for each in connections:
            each.close()
    assert max(free_port() for _ in range(200)) < lowest
