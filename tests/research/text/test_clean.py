"""Text as it may be stored."""

from hypothesis import given, settings
from hypothesis import strategies as st

from research.text.clean import clean_text, unwrap
from research.text.language import language


@settings(deadline=None)
@given(st.text(st.characters(codec=None)))
def test_every_cleaned_text_can_be_stored(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode("utf-8")
    assert "\x00" not in cleaned
    assert "\r" not in cleaned
    assert clean_text(cleaned) == cleaned


def test_lone_surrogates_are_taken_out() -> None:
    assert clean_text("a\ud800b") == "ab"


def test_all_line_ends_become_one_kind() -> None:
    assert clean_text("a\r\nb\rc\u2028d") == "a\nb\nc\nd"


def test_wrapped_english_lines_are_joined_with_a_blank() -> None:
    assert unwrap("one\n  two   three\n") == "one two three"


def test_wrapped_chinese_lines_are_joined_without_one() -> None:
    assert unwrap("软件\n包 apt\n管理") == "软件包 apt 管理"


def test_the_language_is_that_of_most_words() -> None:
    assert language("TeamOutputSchema 如何标注成员归属？") == "zh"
    assert language("What does 软件包 mean in Debian?") == "en"
    assert language("") == "en"
