"""The writer: one section of the report a work."""

from __future__ import annotations

from pydantic_ai import Agent

from research.actions.report import Kind, finish_section
from research.context import RunFacts, WorkContext
from research.llm.registry import model
from research.models import Note, Source, Work, WorkStatus
from research.text.markers import NOTHING_TO_ADD
from research.tools.search.names import LABELS
from research.tools.search.tool import NO_ANSWER
from research.tools.use import Uses
from streaming import vocabulary as v
from streaming.events import decode
from streaming.models import EventRow

from .prompts import WRITER, NoteText, SectionBrief, section_prompt
from .speech import Speech
from .words import word

agent = Agent(deps_type=Uses, output_type=str, instructions=WRITER, retries=2)


async def write(context: WorkContext) -> None:
    """Write the section that the work is about, from the notes. Without a note none is invented."""
    brief = SectionBrief(
        number=context.input["section"],
        count=context.input["count"],
        kind=context.input["kind"],
        title=context.input["title"],
        task_id=context.input["task_id"],
        intent=context.input["intent"],
    )
    prompt = await context.readers.run(_prompt, context, brief)
    if prompt:
        speech = Speech(context, "writer", model("writer"))
        text = await speech.converse(
            agent, prompt, kind="section", title=brief.title, section=brief.number
        )
        if text.strip() == NOTHING_TO_ADD and brief.kind == "task":
            text = ""  # then the report has no such section
    else:
        text = await context.readers.run(_nothing, context.run)
    kind: Kind = "lead" if brief.kind == "lead" else "task"
    await context.act(finish_section(context.name, kind, brief.title, text))


def _nothing(run: RunFacts) -> str:
    """Return that nothing was found, and who could not be asked."""
    said = EventRow.objects.filter(stream_id=run.id, type=v.Status.type).order_by("seq")
    data = [decode(text).data for text in said.values_list("text", flat=True)]
    silent = [n for one in data if one.get("code") == NO_ANSWER for n in one.get("about") or ()]
    names = [LABELS.get(name, name) for name in dict.fromkeys(silent)]
    text = word("nothing", run.language)
    if names:
        text += word("unasked", run.language).format(word("comma", run.language).join(names))
    return text


def _prompt(context: WorkContext, brief: SectionBrief) -> str:
    """Return the prompt, or nothing where there is no note of a source to write from."""
    run = context.run
    notes = Note.objects.filter(run_id=run.id).select_related("task")
    if brief.task_id is not None:
        notes = notes.filter(task__task_id=brief.task_id)
    texts = [
        NoteText(
            note_id=note.note_id,
            task_id=note.task.task_id if note.task else None,
            title=note.title,
            member=note.member,
            content=note.content,
        )
        for note in notes
    ]
    sources = list(Source.objects.filter(run_id=run.id).values_list("source_id", "title"))
    if not texts or not sources:
        return ""
    before = Work.objects.filter(
        run_id=run.id, name__startswith="write:", status=WorkStatus.COMPLETED
    )
    written = [work.output.get("marked", "") for work in before]
    return section_prompt(run.topic, run.language, brief, texts, sources, written)
