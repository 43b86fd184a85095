"""A receiver of webhooks that stores what it gets, and gives configured responses."""

import contextlib
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Post:
    """One POST as it arrived; `at` is in seconds of the monotonic clock."""

    at: float
    webhook_id: str
    body: bytes


class Receiver:
    """Answers what `respond` says (200 to everything), once `before_answer` has returned."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.posts: list[Post] = []
        self.before_answer: Callable[[Post], object] = lambda _: None
        self.respond: Callable[[Post], tuple[int, Mapping[str, str]]] = lambda _: (200, {})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]  # killed senders
        if tls is not None:  # the handshake waits for the thread of the connection
            self.server.socket = tls.wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"

    def ids(self) -> list[str]:
        """Of every POST so far, in the order of arrival."""
        return [post.webhook_id for post in list(self.posts)]

    def take(self, post: Post) -> tuple[int, Mapping[str, str]]:
        """The status and the headers of the answer."""
        self.posts.append(post)
        self.before_answer(post)
        return self.respond(post)


def handler_of(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            post = Post(time.monotonic(), self.headers["webhook-id"], body)
            status, headers = receiver.take(post)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None: ...

    return Handler


@contextlib.contextmanager
def receiving(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """A receiver for the length of the block."""
    receiver = Receiver(tls)
    thread = threading.Thread(target=receiver.server.serve_forever, args=[0.05], daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.server.shutdown()
        receiver.server.server_close()
        thread.join()
