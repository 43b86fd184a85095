"""A mail server on loopback that speaks just enough SMTP."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage


@dataclass
class MailServer:
    """`got` are the emails that it took. `refusal` is what it says to a recipient, or to the email
    itself where it `refuses_data`; while `is_silent` it accepts connections and says nothing."""

    port: int = 0
    got: list[tuple[list[str], EmailMessage]] = field(default_factory=list)
    connections: int = 0
    refusal: str = ""
    refuses_data: bool = False
    is_silent: bool = False
    over: threading.Event = field(default_factory=threading.Event)

    def attend(self, peer: socket.socket) -> None:
        self.connections += 1
        with peer, contextlib.suppress(OSError, ValueError), peer.makefile("rb") as lines:
            peer.settimeout(20)
            if self.is_silent:
                self.over.wait(20)
                return
            self.talk(peer, lines)

    def talk(self, peer: socket.socket, lines: object) -> None:
        recipients: list[str] = []
        say(peer, "220 ready")
        for line in lines:  # type: ignore[attr-defined]
            verb = line[:4].upper()
            if verb == b"RCPT" and self.refusal and not self.refuses_data:
                say(peer, self.refusal)
            elif verb == b"RCPT":
                recipients.append(line.decode().split("<")[1].split(">")[0])
                say(peer, "250 ok")
            elif verb == b"DATA":
                say(peer, "354 go on")
                body = iter(lambda: next(lines), b".\r\n")  # type: ignore[call-overload]
                data = b"".join(each[each.startswith(b"..") :] for each in body)
                if self.refusal:
                    say(peer, self.refusal)
                    continue
                mail = message_from_bytes(data, policy=policy.default)
                self.got.append((recipients, mail))
                recipients = []
                say(peer, "250 taken")
            elif verb == b"QUIT":
                say(peer, "221 bye")
                return
            else:
                say(peer, "250 ok")


def say(peer: socket.socket, line: str) -> None:
    peer.sendall(f"{line}\r\n".encode())


@contextlib.contextmanager
def mail_server() -> Iterator[MailServer]:
    """A mail server for the length of the block."""
    server = MailServer()
    listener = socket.create_server(("127.0.0.1", 0))
    server.port = listener.getsockname()[1]

    def listen() -> None:
        with contextlib.suppress(OSError):
            while True:
                peer, _ = listener.accept()
                threading.Thread(target=server.attend, args=[peer], daemon=True).start()

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)
