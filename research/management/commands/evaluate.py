"""`manage.py evaluate`: run a list of questions through the real pipeline and score the reports."""

from __future__ import annotations

import asyncio
import time
from argparse import ArgumentParser
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from statistics import mean
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from research.evaluation import TOP, Score, read_questions, score_question
from research.models.library import Collection

_USER = "evaluation"


class Command(BaseCommand):
    """Scores the reports of this installation's model on questions with known answers."""

    help = "Research each question of a file and score the reports, 0 to 3."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the questions, the collection and what to show."""
        parser.add_argument("questions", help="A JSON file: question, corpus, nuggets.")
        parser.add_argument("--collection", required=True, help="The documents to answer from.")
        parser.add_argument("--corpus", help="Only the questions of this corpus.")
        parser.add_argument("--save", help="A folder to write the reports to.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run every question and print its score, then the means."""
        collection = Collection.objects.filter(name=options["collection"], owner=None).first()
        if collection is None:
            raise CommandError(f"There is no collection {options['collection']!r}.")
        try:
            questions = read_questions(options["questions"], options["corpus"])
        except (OSError, ValueError, KeyError) as error:
            raise CommandError(f"{options['questions']}: {error}") from error
        if not questions:
            raise CommandError("There are no such questions.")
        # The engine sits above the tools that this module is tested with: it is looked up late.
        research_once = import_module("research.engine.offline").research_once
        user, _ = get_user_model().objects.get_or_create(
            **{get_user_model().USERNAME_FIELD: _USER}, defaults={"is_active": False}
        )
        scores: dict[str, list[Score]] = defaultdict(list)
        started = time.monotonic()
        for number, question in enumerate(questions, 1):
            body = asyncio.run(research_once(question.text, user, [collection.pk]))
            result = score_question(question, body)
            scores[question.corpus].append(result)
            self.stdout.write(f"{result.first:.2f} {result.whole:.2f}  {question.text}")
            for nugget in result.missing:
                self.stdout.write(f"            missing: {nugget}")
            if options["save"]:
                folder = Path(options["save"])
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{number:03}.md").write_text(f"# {question.text}\n\n{body}\n", "utf-8")
        seconds = (time.monotonic() - started) / len(questions)
        self.stdout.write(f"{seconds:.2f} s a question")
        for corpus, found in scores.items():
            self.stdout.write(self._mean(corpus, found))
        every = [one.first for found in scores.values() for one in found]
        self.stdout.write(f"mean {mean(every):.2f}")

    def _mean(self, name: str, found: list[Score]) -> str:
        first, whole = mean(one.first for one in found), mean(one.whole for one in found)
        return (
            f"{name or 'all'}: {first:.2f} of {TOP:.0f} at first sight, "
            f"{whole:.2f} in the whole report ({len(found)})"
        )
