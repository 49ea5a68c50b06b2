"""The colours can be told apart, by the rules of WCAG 2.2: 4.5 for text, 3 for signs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CSS = (
    Path(__file__).resolve().parents[2] / "research" / "static" / "research" / "base.css"
).read_text()
TOKEN = re.compile(r"--([a-z0-9-]+): (#[0-9a-f]{3,6});")
GROUNDS = ("paper", "sheet", "sunk")
TEXTS = ("ink", "soft", "faint", "accent", "good", "warn", "bad")
ON_ITS_OWN = (
    ("accent-ink", "accent"),
    ("accent", "accent-wash"),
    ("good", "good-wash"),
    ("warn", "warn-wash"),
    ("bad", "bad-wash"),
    ("ink", "warn-wash"),
    ("ink", "mark"),
    *(("paper", f"who-{number}") for number in range(8)),
)


def schemes() -> dict[str, dict[str, str]]:
    light, dark = (
        dict(TOKEN.findall(part)) for part in CSS.split("@media (prefers-color-scheme: dark)")[:2]
    )
    return {"light": light, "dark": light | dark}


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_contrast_is_the_one_of_the_standard() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read_on_every_ground(scheme: str) -> None:
    colours = schemes()[scheme]
    pairs = [(text, ground) for text in TEXTS for ground in GROUNDS] + list(ON_ITS_OWN)
    weak = {
        pair: round(contrast(colours[pair[0]], colours[pair[1]]), 2)
        for pair in pairs
        if contrast(colours[pair[0]], colours[pair[1]]) < 4.5
    }
    assert weak == {}
