"""What an error code means to a person: a sentence, and what to do next.

Codes are stable and go over the wire; these words are for pages, exports and the terminal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.utils import translation
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from streaming.exceptions import StreamingError


@dataclass(frozen=True, slots=True)
class Told:
    """An error in words."""

    says: Any
    next: Any = ""


ASK_AGAIN = _("Run it again; if it happens once more, tell who runs this site, with the code.")
THEIR_TURN = _("The team goes on with other sources.")
OTHER_ARGUMENTS = _("The team may try again in other words.")
SETTINGS = _("Whoever runs this site can mend that in its settings. Then run it again.")

CODES: dict[str, Told] = {
    # of models
    "provider_auth": Told(_("The model's provider refuses the key."), SETTINGS),
    "rate_limited": Told(
        _("The model's provider asks to wait."), _("Run it again in a few minutes.")
    ),
    "quota_exceeded": Told(_("The budget at the model's provider is used up."), SETTINGS),
    "context_too_long": Told(
        _("There was more text than the model can read at once."),
        _("Ask a narrower question, or look in fewer collections."),
    ),
    "model_not_found": Told(_("The provider does not know this model."), SETTINGS),
    "model_timeout": Told(
        _("The model did not answer in time."), _("Run it again in a few minutes.")
    ),
    "model_unreachable": Told(
        _("The model's provider cannot be reached."),
        _("Check the network of the server, then run it again."),
    ),
    "provider_error": Told(
        _("The model's provider answered with an error."), _("Run it again in a few minutes.")
    ),
    "model_settings": Told(_("The settings of the model are not right."), SETTINGS),
    "bad_model_output": Told(_("The model's answers could not be used."), ASK_AGAIN),
    "token_limit": Told(
        _("The model's answer was cut off."), _("Ask a narrower question, or run it again.")
    ),
    "limit_reached": Told(
        _("A limit of this piece of work is reached."),
        _("Ask a narrower question, or run it again."),
    ),
    # of the run and its tasks
    "plan_failed": Told(_("No plan could be made."), _("Ask in other words, or run it again.")),
    "research_failed": Told(
        _("Every task failed."), _("See in the timeline why, then run it again.")
    ),
    "report_failed": Told(
        _("No part of the report could be written."),
        _("What was found is kept under Sources and Notes. Run it again."),
    ),
    "no_source": Told(
        _("No source says anything about it."),
        _("Add documents to the library, look in more places, or ask in other words."),
    ),
    "gave_up": Told(_("It was begun several times and never ended."), ASK_AGAIN),
    "interrupted": Told(
        _("It was interrupted."), _("It is done again by itself, unless the run was stopped.")
    ),
    "storage": Told(
        _("What was said could not be written down."),
        _("See whether the server's disk is full, then run it again."),
    ),
    "event_too_large": Told(_("A text was too long to be written down."), ASK_AGAIN),
    "internal": Told(_("Something went wrong here."), ASK_AGAIN),
    # of what people ask of a run
    "not_running": Told(_("This run has ended, or is being stopped.")),
    "not_paused": Told(_("This run is not paused.")),
    "too_late": Told(_("The report is being written already.")),
    "no_member": Told(_("There is no such member.")),
    "no_task": Told(_("There is no such task.")),
    "not_failed": Told(_("This task needs no other try.")),
    "empty_text": Told(_("Write what the team is to do.")),
    "empty_topic": Told(_("Ask a question.")),
    "too_many_steers": Told(_("This run takes no more messages.")),
    "key_reused": Told(_("Load this page again, then try once more.")),
    "still_running": Told(_("This run goes on still. Cancel it first.")),
    "no_provider": Told(_("This site does not search there.")),
    "no_collection": Told(_("There is no such collection.")),
    "empty_note": Told(_("A note needs a title and a text.")),
    "too_many_notes": Told(_("This run keeps no more notes.")),
    "note_changed": Told(_("This note was changed in the meantime.")),
    # of tools
    "bad_arguments": Told(_("The tool was asked in a way it does not know."), OTHER_ARGUMENTS),
    "tool_retry": Told(_("The tool could not do this."), OTHER_ARGUMENTS),
    "blocked_address": Told(_("This address is not one that may be read from here."), THEIR_TURN),
    "bad_url": Told(_("This is no address of a page."), OTHER_ARGUMENTS),
    "too_large": Told(_("This is larger than what is read here."), THEIR_TURN),
    "too_slow": Told(_("The answer did not come in time."), THEIR_TURN),
    "unreachable": Told(_("The site cannot be reached."), THEIR_TURN),
    "bad_status": Told(_("The site answered with an error."), THEIR_TURN),
    "bad_answer": Told(_("The site answered with something that cannot be read."), THEIR_TURN),
    "site_busy": Told(_("The site asks to be left alone for a while."), THEIR_TURN),
    "redirect": Told(_("The site led from page to page, and to none."), THEIR_TURN),
    "broken": Told(_("The page could not be read."), THEIR_TURN),
    "unsupported": Told(_("This is a kind of file that is not read here."), THEIR_TURN),
    "empty": Told(_("There is nothing in it."), THEIR_TURN),
    "no_text": Told(_("There is no text in it, perhaps only pictures of text."), THEIR_TURN),
    "protected": Told(_("It is protected by a password."), THEIR_TURN),
    "unpacks_too_large": Told(_("This is larger than what is read here."), THEIR_TURN),
    "binary": Told(_("This is no text."), THEIR_TURN),
    "scanned": Told(_("Its pages are pictures of text."), THEIR_TURN),
    "too_long": Told(_("This has more pages than are read here."), THEIR_TURN),
    "fetch_limit": Told(
        _("This run has fetched as many pages as it may."), _("It goes on with what it has.")
    ),
    "search_down": Told(_("The search did not answer."), THEIR_TURN),
}


ASKED = {"too_long": Told(_("This is longer than it may be."))}
"""Codes that mean something else where a person asked than where a tool read."""

LOGGED = (
    gettext_noop("Nothing that was found answers it."),
    gettext_noop("Nothing was found."),
    gettext_noop("It had not begun when the report was asked for."),
    gettext_noop("The process that worked on it ended; it is done again."),
    gettext_noop("It failed; it is tried again."),
    gettext_noop("The plan could not be read."),
)
"""Sentences without a code that the team writes into the log, which speaks English."""


def told(code: str | None) -> Told | None:
    """Return what a code means, or None for one that has no words here."""
    return CODES.get(code or "")


def answer(error: StreamingError) -> str:
    """Return why what a person asked for was refused, in their language."""
    known = ASKED.get(error.code) or told(error.code)
    return str(known.says) if known else error.message


def in_words(text: str, code: str | None = None) -> str:
    """Return a sentence of the log in the reader's language: by its code, or by itself."""
    known = told(code)
    if known and code == "internal":
        number = re.search(r"\([0-9a-f]{12}\)", text)
        return f"{known.says} {number[0]}" if number else str(known.says)
    if known:
        return str(known.says)
    return translation.gettext(text) if text in LOGGED else text
