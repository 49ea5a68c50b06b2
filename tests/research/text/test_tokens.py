"""Words as search compares them."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from research.text.headings import acronyms, heading_tokens
from research.text.tokens import content, tokens


def test_words_are_compared_by_their_stems() -> None:
    assert tokens("transactions committing") == tokens("transaction commits")


def test_words_that_say_nothing_give_no_token() -> None:
    assert tokens("What is it, and how does it do that?") == []


def test_an_identifier_is_found_whole_and_by_its_parts() -> None:
    assert {"on_commit", "commit"} <= content("on_commit")
    assert {"abstractbaseuser", "abstract", "user"} <= content("AbstractBaseUser")
    assert {"auth_user_model", "auth", "user", "model"} <= content("AUTH_USER_MODEL")


def test_a_version_is_one_token() -> None:
    assert "5.2" in tokens("Django 5.2.")
    assert "5.2" not in tokens("5 and 2")


def test_chinese_is_compared_by_pairs_of_characters() -> None:
    assert tokens("软件包") == ["软件", "件包"]


def test_chinese_question_words_give_no_token() -> None:
    assert tokens("什么是软件包？") == tokens("软件包")


def test_full_width_letters_are_the_same_words() -> None:
    assert tokens("ＡＰＴ") == tokens("APT")


@settings(deadline=None)
@given(st.text())
def test_every_text_has_tokens_without_blanks(text: str) -> None:
    assert all(token and not token.isspace() for token in tokens(text))


def test_threads_share_the_stemmer_without_mixing_words() -> None:
    words = [f"running{n} walked{n} nationalities" for n in range(200)]
    alone = [tokens(word) for word in words]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(tokens, words)) == alone


@pytest.mark.parametrize(
    ("heading", "short"),
    [("Cross Site Request Forgery protection", "csrf"), ("Write-Ahead Logging", "wal")],
)
def test_a_heading_spells_its_acronym(heading: str, short: str) -> None:
    assert short in acronyms(heading)


def test_a_heading_of_two_words_spells_none() -> None:
    assert acronyms("Test client") == frozenset()


def test_the_question_word_of_a_heading_says_nothing() -> None:
    assert heading_tokens("Why do signals exist?") == heading_tokens("signals exist")
