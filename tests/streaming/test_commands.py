"""What a client may send: read strictly, answered kindly, broken by nothing."""

from __future__ import annotations

import json
from typing import Any, Literal
from uuid import uuid4

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming import commands
from streaming.commands import Answer, Command, Credit, Subscribe, message_id, parse
from streaming.exceptions import BadRequest
from streaming.faces import Filter

RUN = str(uuid4())
GOOD: dict[str, Any] = {"type": "subscribe", "id": 1, "sub": "s1", "run": RUN}

any_text = st.text(st.characters(codec=None, exclude_categories=[]))
json_values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)


def test_a_subscription_is_read_with_its_defaults() -> None:
    command = parse(json.dumps(GOOD))
    assert isinstance(command, Subscribe)
    assert (command.cursor, command.snapshot, command.window) == ("start", False, None)
    assert (command.face, command.filter.build()) == ("native", Filter())


def test_a_filter_is_read() -> None:
    filter = {"stream_token": ["task_1"], "source_member": ["leader", "研究员"]}
    command = parse(json.dumps(GOOD | {"filter": filter}))
    assert isinstance(command, Subscribe)
    assert command.filter.build() == Filter(frozenset({"task_1"}), frozenset({"leader", "研究员"}))


def test_fields_that_are_not_known_are_ignored() -> None:
    assert isinstance(parse(json.dumps(GOOD | {"new": {"a": 1}})), Subscribe)


def test_credit_has_no_id() -> None:
    credit = parse('{"type":"credit","sub":"s1","cursor":"e7:120"}')
    assert credit == Credit(type="credit", sub="s1", cursor="e7:120")


@pytest.mark.parametrize(
    "change",
    [
        {"id": None}, {"id": "1"}, {"id": 1.5}, {"id": True}, {"id": -1}, {"id": 2**60},
        {"sub": ""}, {"sub": "a b"}, {"sub": 'a"b'}, {"sub": "x" * 65}, {"sub": "\ud800"},
        {"sub": "字"}, {"sub": "s1\n"}, {"sub": None},
        {"run": "7"}, {"run": 7}, {"run": None},
        {"filter": {"stream_token": []}}, {"filter": {"source_member": []}},
        {"filter": {"lane": ["x"]}}, {"filter": {"stream_token": "task_1"}},
        {"filter": {"stream_token": ["x"] * 65}}, {"filter": {"stream_token": ["x" * 65]}},
        {"filter": {"stream_token": [None]}}, {"filter": {"\ud800": ["x"]}}, {"filter": []},
        {"window": 0}, {"window": -1}, {"window": 5000}, {"window": "many"},
        {"cursor": 7}, {"cursor": "x" * 65}, {"snapshot": "perhaps"},
        {"face": "no-such-face"}, {"face": "\ud800"}, {"locale": "../../etc"},
        {"type": "fly"}, {"type": None}, {"type": ["subscribe"]}, {"type": "\ud800"},
    ],
    ids=str,
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_a_reason(change: dict[str, Any]) -> None:
    with pytest.raises(BadRequest) as refused:
        parse(json.dumps(GOOD | change))
    assert refused.value.message
    assert len(refused.value.message) < 500
    refused.value.message.encode()


@pytest.mark.parametrize("missing", ["type", "id", "sub", "run"])
def test_what_is_missing_is_named(missing: str) -> None:
    given = {key: value for key, value in GOOD.items() if key != missing}
    with pytest.raises(BadRequest, match=missing if missing != "type" else "command"):
        parse(json.dumps(given))


@given(any_text | json_values.map(json.dumps))
def test_whatever_is_sent_is_read_or_refused_with_an_answer_that_can_be_sent(text: str) -> None:
    try:
        parse(text)
    except BadRequest as error:
        msgspec.json.encode([message_id(text), error.message])


@given(st.fixed_dictionaries({}, optional=dict.fromkeys([*GOOD, "filter"], json_values)))
def test_nearly_good_commands_too(fields: dict[str, Any]) -> None:
    text = json.dumps(GOOD | fields)
    try:
        parse(text)
    except BadRequest as error:
        msgspec.json.encode([message_id(text), error.message])


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ('{"id":7,"type":"fly"}', 7),
        ('{"id":"7"}', None),
        ('{"id":true}', None),
        ('{"id":1.0}', None),
        ("[1]", None),
        ("{", None),
        ("[" * 60_000, None),
        ('{"id":' + "9" * 400 + "}", None),
        ('{"id":' + "9" * 5000 + "}", None),
        ('{"id":-5}', None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_broken_message_is_answered_by_its_id_where_it_has_one(text: str, id: int | None) -> None:
    assert message_id(text) == id


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "{", '{"type":"ping","id":1', "[]", "null", "NaN", "7", '"ping"', "{}"),
        *('{"type":"ping","id":NaN}', '{"type":"ping","id":Infinity}', "[" * 60_000),
        *('{"a":' * 10_000 + "1" + "}" * 10_000, "\ud800", '{"type":"ping","id":1}{}'),
    ],
    ids=lambda text: text[:30].encode(errors="replace").decode(),
)  # fmt: skip
def test_what_is_no_command_is_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        parse(text)


def test_a_command_of_an_application_is_known_by_its_type(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Wave(Command):
        type: Literal["wave"]
        to: str

    async def wave(runtime: Any, principal: Any, command: Any) -> Answer:
        return Answer({"to": command.to})

    monkeypatch.setattr(commands, "REGISTRY", {})
    with pytest.raises(BadRequest):
        parse('{"type":"wave","id":1,"to":"bob"}')
    commands.register(Wave, wave)
    assert parse('{"type":"wave","id":1,"to":"bob"}') == Wave(type="wave", id=1, to="bob")
    with pytest.raises(BadRequest, match="to"):
        parse('{"type":"wave","id":1}')
