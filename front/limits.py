"""What a client may send, and how slowly. Sizes are in bytes, times in seconds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits of one worker process."""

    target: int = 16 * 1024  # path and query: 414
    head: int = 64 * 1024  # request line and headers: 431
    headers: int = 100
    body: int = 1024 * 1024  # 413
    bodies: int = 64 * 1024 * 1024  # of all requests together, without `free` of each: 503
    free: int = 16 * 1024
    unsent: int = 128 * 1024 * 1024  # of all responses together
    connections: int = 4000
    waiting: int = 3000  # of the connections, those whose request is answered later
    waiting_of_one: int = 1500  # and of these, those of one group
    streams: int = 1000  # and of the connections, those that are streams
    streams_of_one: int = 50
    pipelined: int = 64  # requests that are read before the first one is answered

    first: float = 20.0  # from the connection to the first byte
    idle: float = 75.0  # between two requests
    head_seconds: float = 10.0  # 408
    body_seconds: float = 10.0  # 408, and a second more for each `body_rate` bytes received,
    body_rate: int = 4096
    body_longest: float = 60.0  # but never more than this
    stalled: float = 30.0  # a client that takes nothing of its response
    linger: float = 2.0  # for a client that still sends when its response is complete
    parting: float = (
        2.0  # for idle connections when the server stops: a proxy has closed them by then
    )
    stopping: float = 5.0  # for requests that are still being received when the server stops
    readiness: float = 10.0  # for /readyz

    def body_deadline(self, begun: float, received: int) -> float:
        """Returns the time by which more of a body must have arrived."""
        allowed = self.body_seconds + received / self.body_rate
        return begun + min(allowed, self.body_longest)


class Memory:
    """Counts the bytes of all bodies that are held; small ones are free."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.held = 0

    def take(self, before: int, size: int) -> bool:
        """Counts `size` more bytes of a body that has `before`; False if there is no room."""
        free = self.limits.free
        more = max(before + size - free, 0) - max(before - free, 0)
        if self.held + more > self.limits.bodies:
            return False
        self.held += more
        return True

    def give_back(self, size: int) -> None:
        """Forgets a body of `size` bytes."""
        self.held -= max(size - self.limits.free, 0)
