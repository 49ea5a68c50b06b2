"""What kind of question it is, and the plan it gets."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from research.llm.keyless.facets import facet_of_intent
from research.llm.keyless.planning import plan
from research.llm.keyless.questions import kind_of, parts
from research.team.plan import Plan
from research.text.language import language


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is a signal?", "def"),
        ("How does caching work?", "how"),
        ("How do I write a command?", "howto"),
        ("What happens when a transaction fails?", "how"),
        ("Why are querysets lazy?", "why"),
        ("When should I use signals?", "when"),
        ("When does a unique constraint allow nulls?", "when"),
        ("Why are uploads a security risk?", "why"),
        ("What should I check before a release?", "howto"),
        ("What are the constraints of partitions?", "limits"),
        ("What are the limits of bulk_create?", "limits"),
        ("What is the difference between null and blank?", "compare"),
        ("How does json differ from jsonb?", "compare"),
        ("Which databases does it support?", "list"),
        ("How many columns can a table have?", "number"),
        ("Does it support async views?", "yesno"),
        ("Database transactions", "topic"),
        ("什么是软件包？", "def"),
        ("如何安装软件包？", "howto"),
        ("为什么要用它？", "why"),
        ("apt 和 dpkg 有什么区别？", "compare"),
        ("有哪些发行版？", "list"),
        ("什么时候应该升级？", "when"),
        ("它有多少软件包？", "number"),
        ("是否支持 arm？", "yesno"),
        ("StreamHandler 的限制", "limits"),
    ],
)
def test_the_words_of_a_question_tell_its_kind(question: str, kind: str) -> None:
    assert kind_of(question) == kind


def test_a_question_with_two_questions_has_two_parts() -> None:
    found = parts("How do I make a custom user model and when must I decide?")
    assert [part.kind for part in found] == ["howto", "when"]
    found = parts("StreamHandler 的职责是什么，为什么保持极简？")
    assert [part.kind for part in found] == ["def", "why"]


def test_an_and_between_things_does_not_part_a_question() -> None:
    (part,) = parts("How do transactions and on_commit work?")
    assert part.entities == ("transactions", "on_commit")


def test_a_comparison_knows_its_sides() -> None:
    assert parts("What is the difference between json and jsonb?")[0].entities == ("json", "jsonb")
    assert parts("apt 和 dpkg 有什么区别？")[0].entities == ("apt", "dpkg")


def test_the_first_task_asks_what_was_asked() -> None:
    first = plan("What is a materialized view?", "en")[0]
    assert first.title == "What is a materialized view?"
    assert "materialized view" in first.query


def test_a_later_part_is_searched_with_the_subject_of_the_first() -> None:
    steps = plan("What is a materialized view and how is it refreshed?", "en")
    assert "materialized view" in steps[1].query


def test_titles_are_in_the_language_of_the_question() -> None:
    assert all(language(step.title) == "zh" for step in plan("什么是虚拟软件包？", "zh"))
    assert all(language(step.title) == "en" for step in plan("What is a view?", "en"))


def test_each_task_carries_its_facet_in_its_intent() -> None:
    for question in ("What is a view?", "什么是视图？"):
        steps = plan(question, language(question))
        assert [facet_of_intent(step.intent) for step in steps] == ["def", "how"]


def test_titles_keep_the_article_of_the_question() -> None:
    assert plan("What is a view?", "en")[1].title == "How a view works"
    assert plan("What are signals?", "en")[1].title == "How signals work"


def test_a_question_that_names_no_plain_topic_is_one_task() -> None:
    question = "How does the server make sure that no event of any run is ever lost?"
    assert [step.title for step in plan(question, "en")] == [question]


def test_a_comparison_asks_for_each_side() -> None:
    titles = [step.title for step in plan("What is the difference between json and jsonb?", "en")]
    assert titles[1:] == ["What json is", "What jsonb is"]


@settings(deadline=None)
@given(st.text(min_size=1, max_size=300))
def test_every_question_gets_a_plan_that_the_team_accepts(question: str) -> None:
    steps = plan(question, language(question))
    answer = {
        "tasks": [
            {"title": step.title, "intent": step.intent, "query": step.query} for step in steps
        ]
    }
    assert Plan.model_validate(answer).tasks
    assert all(step.title.strip() for step in steps)
