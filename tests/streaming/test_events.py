"""The envelope: encoded once, read back as it was, never larger than it may be."""

from __future__ import annotations

import hashlib
import inspect
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from streaming import vocabulary as v
from streaming.events import BLOB_PREVIEW, DATA, Event, Voice, decode, draft
from streaming.exceptions import EventTooLarge
from streaming.members import Role
from streaming.text import clean, clean_json

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=64)
voices = st.builds(
    Voice,
    source_member=st.none() | names,
    role=st.none() | st.sampled_from(Role),
    stream_token=st.none() | names,
    step=st.none() | st.integers(0, 99),
    task_id=st.none() | st.integers(0, 99),
    agent_id=st.none() | names,
    parent_id=st.none() | names,
    work=st.none() | names,
    attempt=st.none() | st.integers(0, 9),
)
any_text = st.text(st.characters(codec=None, exclude_categories=[]))
json_values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)


@given(voices, any_text, st.integers(1, 2**40))
def test_an_event_is_read_back_as_it_was_said(voice: Voice, text: str, seq: int) -> None:
    encoded = draft(voice, v.MessageDelta(message_id="m", delta=text)).encode(seq)
    event = decode(encoded)
    assert event.voice == voice
    assert (event.v, event.seq, event.type) == (1, seq, "message.delta")
    assert event.data == {"message_id": "m", "delta": clean(text)}
    assert json.loads(encoded)["data"] == event.data  # and any JSON reader reads the same
    assert "\n" not in encoded  # SSE needs one line


@given(st.dictionaries(any_text, json_values, max_size=4))
def test_custom_data_keeps_all_that_its_sender_put_there(given_data: dict[str, Any]) -> None:
    data = v.Custom.model_validate(clean_json(given_data))
    event = decode(draft(Voice(), data, type="custom.x").encode(1))
    assert event.data == json.loads(json.dumps(clean_json(given_data)))


def test_a_voice_that_is_not_set_leaves_no_key() -> None:
    event = json.loads(draft(Voice(), v.Status(message="x")).encode(3))
    assert list(event) == ["v", "seq", "ts", "type", "data"]


def test_our_own_writers_may_say_nothing_that_is_not_in_the_vocabulary() -> None:
    with pytest.raises(ValidationError):
        v.Status(message="x", extra=1)  # type: ignore[call-arg]
    with pytest.raises(ValidationError):
        v.MessageStarted(message_id="m", kind="song")  # type: ignore[arg-type]


def test_a_reader_ignores_keys_and_types_that_it_does_not_know() -> None:
    event = decode('{"v":2,"seq":1,"ts":2,"type":"new.type","mood":"odd","data":{"a":{"b":1}}}')
    assert isinstance(event, Event)
    assert event.type == "new.type"
    assert event.data == {"a": {"b": 1}}


# --- long text ---------------------------------------------------------------------------------
@pytest.mark.parametrize("letter", ["a", "é", "字", "🦀", '"', "\x01"])
@given(st.integers(0, 70_000), voices)
def test_whatever_the_length_an_event_fits_and_the_whole_text_is_kept(
    letter: str, length: int, voice: Voice
) -> None:
    item = draft(voice, v.MessageCompleted(message_id="m", text=letter * length))
    encoded = item.encode(2**60)
    assert len(encoded.encode()) <= 65_536
    data = json.loads(encoded)["data"]
    if item.blob is None:
        assert data["text"] == letter * length
        assert "blob" not in data
        return
    assert item.blob.text == letter * length
    digest = hashlib.sha256(item.blob.text.encode()).hexdigest()
    assert data["blob"] == {"hash": digest, "length": length}
    assert (letter * length).startswith(data["text"])
    assert BLOB_PREVIEW - 4 < len(data["text"].encode()) <= BLOB_PREVIEW


def test_a_long_text_is_cut_between_letters_and_a_short_one_is_left_whole() -> None:
    short = draft(Voice(), v.MessageCompleted(message_id="m", text="x" * 60_000))
    assert short.blob is None
    long = draft(Voice(), v.MessageCompleted(message_id="m", text="x" + "🦀" * 30_000))
    assert json.loads(long.data)["text"] == "x" + "🦀" * 511


def test_what_has_no_long_text_may_be_too_large() -> None:
    with pytest.raises(EventTooLarge):
        draft(Voice(), v.Status(message="x" * 70_000))
    with pytest.raises(EventTooLarge):
        draft(Voice(), v.ToolFinished(tool_call_id="t", tool="x" * 70_000, result="y" * 70_000))


def test_every_long_field_has_a_place_for_its_blob() -> None:
    long = {type: model.long for type, model in DATA.items() if model.long}
    assert set(long) >= {"message.completed", "tool.finished", "note.saved", "report.completed"}
    for type, name in long.items():
        assert {name, "blob"} <= set(DATA[type].model_fields)


def test_every_type_says_what_it_means() -> None:
    for type, model in DATA.items():
        assert inspect.getdoc(model) != inspect.getdoc(model.__base__), type


# --- cleaning ----------------------------------------------------------------------------------
@given(any_text)
def test_clean_text_can_be_stored_anywhere_and_clean_text_is_left_alone(text: str) -> None:
    cleaned = clean(text)
    assert "\0" not in cleaned
    cleaned.encode()
    assert clean(cleaned) == cleaned
    if cleaned != text:
        assert "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text)


def test_halves_of_a_letter_that_belong_together_are_joined() -> None:
    assert clean("a\ud83e\udd80b") == "a🦀b"
    assert clean("a\ud83eb\udd80\0") == "a\ufffdb\ufffd\ufffd"


@given(json_values)
def test_clean_json_is_json(value: Any) -> None:
    text = json.dumps(clean_json(value), allow_nan=False, ensure_ascii=False)
    text.encode()
    assert "\\u0000" not in text
