"""Characters that nobody sees, written out."""

import pytest

from web.sanitize import show_invisible

# Default_Ignorable_Code_Point of Unicode 16.0 (DerivedCoreProperties.txt), and U+2800.
RANGES = (
    "00AD 034F 061C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-206F 3164 FE00-FE0F "
    "FEFF FFA0 FFF0-FFF8 1BCA0-1BCA3 1D173-1D17A E0000-E0FFF 2800"
)


@pytest.mark.parametrize("span", RANGES.split())
@pytest.mark.parametrize("around", ["", "a", " ", "9", "\u3164"])
def test_all_are_written_out(span: str, around: str) -> None:
    first, _, last = span.partition("-")
    sides = show_invisible(around)
    for number in range(int(first, 16), int(last or first, 16) + 1):
        shown = show_invisible(f"{around}{chr(number)}{around}")
        assert shown == f"{sides}‹U+{number:04X}›{sides}"


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",
        "क्\u200dष",
        "ന്\u200d",
        "ᠠ\u180b",
        "葛\U000e0100",
        "❤\ufe0f",
        "1\ufe0f\u20e3",
        "👩\u200d🚀",
        "👩🏽\u200d❤\ufe0f\u200d👨",
    ],
)
def test_what_gives_a_shape_stays(text: str) -> None:
    assert show_invisible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay\u200dpal.com", "pay‹U+200D›pal.com"),
        ("می\u200c\u200cخواهم", "می\u200c‹U+200C›خواهم"),
        ("👩\u200dx", "👩‹U+200D›x"),
        ("a\ufe0f\u200d🚀", "a‹U+FE0F›‹U+200D›🚀"),
        ("1\ufe0f", "1‹U+FE0F›"),
        ("\u2800\ufe0f", "‹U+2800›‹U+FE0F›"),
        ("\u061c\u200d", "‹U+061C›‹U+200D›"),
    ],
)
def test_what_only_hides_is_written_out(text: str, shown: str) -> None:
    assert show_invisible(text) == shown
