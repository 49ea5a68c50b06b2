"""Text as an attack on time and on the templates: bombs, slow expressions, ways around escaping."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from research import rendering
from research.llm.keyless import candidates
from research.text import markers, tokens
from research.text.clean import clean_text

ROOT = Path(__file__).resolve().parent.parent.parent

# --- what is trusted to be HTML ------------------------------------------------------------------
TRUST = re.compile(
    r"mark_safe\(|SafeString\(|\|\s*safe\b|\|\s*safeseq\b|autoescape off|innerHTML|outerHTML =|"
    r"insertAdjacentHTML|document\.write|\beval\(|new Function|\.html_safe|__html__"
)
ALLOWED = {
    "research/rendering.py": 3,  # made of escaped text, or cleaned by an allow-list
    "research/faces/fragments.py": 3,  # what a template of ours rendered, put together
    "templates/research/settings_password.html": 1,  # Django's own list of rules for passwords
    "research/static/research/page.js": 3,  # what the server rendered: the same as the page
    "research/static/research/home.js": 2,  # the page itself, fetched again
}


def test_html_is_trusted_in_few_places_and_each_is_known() -> None:
    found: dict[str, int] = {}
    for folder in ("project", "research", "streaming", "templates"):
        for path in sorted((ROOT / folder).rglob("*")):
            ours = path.suffix in (".py", ".html", ".js", ".txt") and path.name != "idiomorph.js"
            if ours and (count := len(TRUST.findall(path.read_text()))):
                found[path.relative_to(ROOT).as_posix()] = count
    assert found == ALLOWED


def test_no_template_writes_into_a_script_or_a_style() -> None:
    for path in (ROOT / "templates").rglob("*.html"):
        text = path.read_text()
        assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>|<style|\bstyle=|\son\w+=", text), path


# --- bombs ---------------------------------------------------------------------------------------
MOST = rendering.LONGEST
BOMBS = {
    "quotes": ">" * 20_000 + " x",
    "quotes apart": "> " * 20_000 + "x",
    "lists": "".join("  " * depth + "- x\n" for depth in range(1_500)),
    "lists in a line": "- " * 20_000 + "x",
    "table": "|".join("a" * 3_000) + "\n" + "|".join("-" * 3_000) + "\n",
    "references": "".join(f"[r{n}]: http://a.b/{n}\n" for n in range(20_000)),
    "used": "[r]: http://a.b\n\n" + "[r]" * 30_000,
    "brackets": "[" * MOST,
    "links begun": "[a](" * (MOST // 4),
    "stars": "***a" * (MOST // 4),
    "ticks": "".join("`" * count + " " for count in range(440)),
    "tags begun": "<a " * (MOST // 3),
    "a megabyte": "*a* [b](http://c.d) `e` " * 45_000,
    "fences": "```\n" * (MOST // 4),
    "one word": "a" * 50_000 + "!",
    "citations": "[1]" * (MOST // 3),
    "blanks": "[a](" + " " * MOST,
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_shown_in_a_second_of_computing(bomb: str) -> None:
    rendering.markdown("warm")
    began = time.process_time()
    shown = rendering.markdown(bomb)
    assert time.process_time() - began < 1.0
    assert shown


# --- slow expressions ----------------------------------------------------------------------------
LONG = 50_000
PUMPS = (
    *("a", "A ", " ", "\t", "\n", "0", "1,", "1.", "-", "_", ".", "..", "/", "[", "[S", "(", "<"),
    *("<a ", "`", "*", "a-", "a_b.", "Aa ", "http://", "a@", "的", "。", "“", "\\", "&", "&#", "="),
)  # fmt: skip
READERS: dict[str, Callable[[str], object]] = {
    "words": tokens.tokens,
    "markers": lambda text: list(markers.find_markers(text)),
    "streaming": rendering.streaming,
    "clean": clean_text,
    "host": rendering.host_of,
    "code": candidates.is_debris,
}
"""What reads texts of strangers in the process of the server, with expressions of ours."""


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_long_text_is_read_in_linear_time(read: Callable[[str], object]) -> None:
    slow = []
    for pump in PUMPS:
        times = []
        for length in (LONG // 4, LONG):
            text = pump * (length // len(pump)) + "!"
            began = time.process_time()
            read(text)
            times.append(time.process_time() - began)
        if times[1] > 0.05 and times[1] > 9 * times[0]:  # four times the text: linear is four
            slow.append((pump, times))
    assert slow == []
