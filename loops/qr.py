"""QR codes of join links: PNG, black on white, with the quiet zone scanners want."""

import base64
import io

import segno

SCALE = 8
BORDER = 4


def png(text: str) -> bytes:
    """The PNG of `text`, error correction M or better."""
    buffer = io.BytesIO()
    segno.make_qr(text, error="m").save(buffer, kind="png", scale=SCALE, border=BORDER)
    return buffer.getvalue()


def data_uri(text: str) -> str:
    """The same as a data URI."""
    return "data:image/png;base64," + base64.b64encode(png(text)).decode()
