"""What a client may send and hold, for one worker process (docs/operations.md)."""

from dataclasses import dataclass

# Seconds in which a deadline that is over lets the loop read once more: the bytes may have come in
# time, while the process was stopped or the machine busy.
LAST_LOOK = 0.05
PART = 64 * 1024  # bytes; a streamed response that is longer is made and sent in parts


@dataclass(frozen=True)
class Limits:
    """In bytes and seconds."""

    head: int = 64 * 1024  # and what comes with its last bytes; trailers count like a head
    headers: int = 100
    body: int = 1024 * 1024  # 413
    bodies: int = 64 * 1024 * 1024  # of all requests together, without `free` of each: 503
    free: int = 16 * 1024
    connections: int = 4000
    waiting: int = 3000  # of the connections, those whose response is deferred
    waiting_of_one: int = 1500  # and of these, those of one group
    streams: int = 1000  # and of the connections, those that are streams
    streams_of_one: int = 50
    ahead: int = 8  # requests that are read before the first one is answered

    head_seconds: float = 20.0  # from its first byte, or from the connection
    body_seconds: float = 10.0  # 408, and a second more for each `body_rate` bytes received,
    body_rate: int = 4096
    body_longest: float = 60.0  # but never more than this
    stalled: float = 30.0  # a client that takes nothing of its response
    linger: float = 2.0  # for a client that still sends when its response is complete
    readiness: float = 10.0  # for /readyz
