"""QR codes: read by a scanner, and equal module by module to an independent encoder's."""

import base64
import io
import itertools
from typing import Any

import pytest
import qrcode
import segno
import zxingcpp
from PIL import Image
from qrcode import util
from qrcode.base import rs_blocks

from loops import qr
from loops.models import Loop
from tests.conftest import Api

LEVELS = {
    "L": qrcode.ERROR_CORRECT_L,
    "M": qrcode.ERROR_CORRECT_M,
    "Q": qrcode.ERROR_CORRECT_Q,
    "H": qrcode.ERROR_CORRECT_H,
}
LINKS = [
    "http://127.0.0.1:8000/join/ABCDEFGHJKMN",
    "https://review.example.com/join/2ZHQWF8PNER8",
    "https://" + "a" * 200 + ".example/join/2ZHQWF8PNER8",
]


def scan(png: bytes) -> str:
    """What a scanner reads."""
    (found,) = zxingcpp.read_barcodes(Image.open(io.BytesIO(png)).convert("L"))
    return str(found.text)


@pytest.mark.parametrize("link", LINKS)
def test_a_scanner_reads_the_link(link: str) -> None:
    assert scan(qr.render_png(link)) == link


@pytest.mark.parametrize("link", LINKS)
def test_modules_equal_those_of_an_independent_encoder(link: str) -> None:
    ours = segno.make_qr(link, error="m")
    theirs: Any = qrcode.QRCode(
        version=int(ours.version),
        error_correction=LEVELS[str(ours.error)],
        border=0,
        mask_pattern=ours.mask,
    )
    theirs.data_cache = codewords(link, int(ours.version), LEVELS[str(ours.error)])
    theirs.make(fit=False)
    assert [[bool(module) for module in row] for row in ours.matrix] == theirs.get_matrix()


def codewords(link: str, version: int, level: int) -> Any:
    """The final message of the independent encoder, with its error correction.

    segno puts one zero codeword between the terminator and the pad codewords, where readers no
    longer look (ISO/IEC 18004 would start the pad codewords at once); the padding here does too.
    """
    buffer: Any = util.BitBuffer()
    data = util.QRData(link, mode=util.MODE_8BIT_BYTE)
    buffer.put(data.mode, 4)
    buffer.put(len(data), util.length_in_bits(data.mode, version))
    data.write(buffer)
    buffer.put(0, 4)
    blocks = rs_blocks(version, level)
    capacity = 8 * sum(block.data_count for block in blocks)
    buffer.put(0, 8)
    pads = itertools.cycle((util.PAD0, util.PAD1))
    while len(buffer) < capacity:
        buffer.put(next(pads), 8)
    return util.create_bytes(buffer, blocks)


@pytest.mark.parametrize("link", LINKS)
def test_the_png_draws_those_modules_with_a_quiet_zone(link: str) -> None:
    image = Image.open(io.BytesIO(qr.render_png(link))).convert("L")
    modules = segno.make_qr(link, error="m").matrix
    side = len(modules) + 2 * qr.BORDER
    assert image.size == (side * qr.SCALE, side * qr.SCALE)
    for y, row in enumerate(modules):
        for x, dark in enumerate(row):
            middle = [(n + qr.BORDER) * qr.SCALE + qr.SCALE // 2 for n in (x, y)]
            assert (image.getpixel((middle[0], middle[1])) == 0) == bool(dark)


def test_creation_hands_out_the_same_code_in_both_forms(api: type[Api], owner_key: str) -> None:
    body = {"name": "Refund desk", "icon": "star"}
    data = api(owner_key).post("/v1/api/loops", body).json()["data"]
    kind, _, encoded = data["qr_code_base64"].partition(",")
    assert kind == "data:image/png;base64"
    assert scan(base64.b64decode(encoded)) == data["join_url"]
    loop = Loop.objects.get()
    assert data["join_url"] == f"http://testserver/join/{loop.invite_code}"
    assert data["qr_code_url"] == f"http://testserver/qr/{loop.invite_code}.png"
