"""Renders QR codes of join links: PNG, black on white, with the border that scanners need."""

import base64
import io

import segno

SCALE = 8
BORDER = 4


def render_png(text: str) -> bytes:
    """Renders `text` as a PNG with error correction M or better."""
    buffer = io.BytesIO()
    segno.make_qr(text, error="m").save(buffer, kind="png", scale=SCALE, border=BORDER)
    return buffer.getvalue()


def render_data_uri(text: str) -> str:
    """Renders `text` as a data URI of a PNG."""
    return "data:image/png;base64," + base64.b64encode(render_png(text)).decode()
