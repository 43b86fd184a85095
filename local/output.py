"""Copies the output of child processes to ours, each line after the child's name."""

import os
import selectors
from typing import IO

LINE_LIMIT = 4000  # bytes; a writable pipe accepts 4096 without blocking
WRITE_SECONDS = 1.0  # seconds to wait for a blocked reader; then lines are dropped


def label(name: str) -> bytes:
    """Returns the prefix of a child's lines."""
    return f"{name:<6} | ".encode()


class Output:
    """Writes without blocking: a slow or closed reader of our output must not stop the service."""

    def __init__(self, wakeup: int, descriptor: int = 1) -> None:
        self._descriptor = descriptor
        self._seconds_to_wait = WRITE_SECONDS
        self._partial: dict[int, bytes] = {}
        self._last: dict[bytes, bytes] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(wakeup, selectors.EVENT_READ)

    def follow(self, name: str, pipe: IO[bytes] | None) -> None:
        """Copies the lines of `pipe` from now on, until its end."""
        if pipe is not None:
            os.set_blocking(pipe.fileno(), False)
            self._partial[pipe.fileno()] = b""
            self._selector.register(pipe, selectors.EVENT_READ, label(name))

    def pump(self, seconds: float) -> None:
        """Copies new lines; waits up to `seconds` for lines or a signal."""
        for key, _ in self._selector.select(seconds):
            try:
                data = os.read(key.fd, 65536)
            except BlockingIOError:
                continue
            if key.data is None:
                continue
            *lines, rest = (self._partial[key.fd] + data).split(b"\n")
            if data and len(rest) < LINE_LIMIT:
                self._partial[key.fd] = rest
            else:
                lines += [rest] if rest else []
                self._partial[key.fd] = b""
            for line in lines:
                if line.strip():
                    self._last[key.data] = line
                    self._write(key.data + line)
            if not data:
                self._forget(key)

    def _forget(self, key: selectors.SelectorKey) -> None:
        self._selector.unregister(key.fileobj)
        del self._partial[key.fd]
        if not isinstance(key.fileobj, int):
            key.fileobj.close()  # type: ignore[attr-defined]

    def say(self, text: str) -> None:
        """Writes lines of our own."""
        for line in text.splitlines():
            self._write(line.encode())

    def read_last(self, name: str) -> str:
        """Returns the last line that a child wrote, '' if it wrote none."""
        return self._last.get(label(name), b"").decode(errors="replace").strip()

    def _write(self, line: bytes) -> None:
        with selectors.DefaultSelector() as writable:
            try:
                writable.register(self._descriptor, selectors.EVENT_WRITE)
            except PermissionError:  # a plain file is always writable
                pass
            else:
                if not writable.select(self._seconds_to_wait):
                    self._seconds_to_wait = 0
                    return
        try:
            os.write(self._descriptor, line[:LINE_LIMIT] + b"\n")
            self._seconds_to_wait = WRITE_SECONDS
        except OSError:
            self._seconds_to_wait = 0
