"""A receiver of webhooks that keeps what it gets, and can be made to wait."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Post:
    """One POST as it arrived; `at` is in seconds of the monotonic clock."""

    at: float
    webhook_id: str
    body: bytes


class Receiver:
    """Answers 200 to everything, once `before_answer` has returned."""

    def __init__(self) -> None:
        self.posts: list[Post] = []
        self.before_answer: Callable[[Post], object] = lambda _: None
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]  # killed senders
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"

    def ids(self) -> list[str]:
        """Of every POST so far, in the order of arrival."""
        return [post.webhook_id for post in list(self.posts)]

    def take(self, post: Post) -> None:
        self.posts.append(post)
        self.before_answer(post)


def handler_of(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.take(Post(time.monotonic(), self.headers["webhook-id"], body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None: ...

    return Handler


@contextlib.contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver for the length of the block."""
    receiver = Receiver()
    thread = threading.Thread(target=receiver.server.serve_forever, args=[0.05], daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.server.shutdown()
        receiver.server.server_close()
        thread.join()
