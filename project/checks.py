"""System checks: what the settings cannot mean, told in a sentence before anything starts."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from streaming.conf import conf

from . import environment

logger = logging.getLogger(__name__)
TAG = "project"
DEFAULT_ENGINE = "research.engine.local.LocalEngine"
STREAMING_PATHS = ("ACCESS", "AUTHENTICATE", "STILL_IN", "STILL_VISIBLE", "FOLD")


@register(TAG)
def check_settings(**kwargs: Any) -> list[CheckMessage]:
    """Return everything that is wrong with the settings of the project."""
    checks = (_engine, _data_dir, _secrets, _hosts, _addresses, _streaming, _providers)
    return [message for check in checks for message in check()]


def refuse_to_start_wrong() -> None:
    """End the process with what is wrong, if something is."""
    messages = run_checks(tags=[TAG])
    for message in messages:
        if not message.is_serious():
            logger.warning("%s", message)
    if errors := [str(message) for message in messages if message.is_serious()]:
        sys.exit("\n".join(errors))


def _engine() -> Iterator[CheckMessage]:
    try:
        if settings.ENGINE != DEFAULT_ENGINE:  # importing an engine takes a second
            import_string(settings.ENGINE)
    except ImportError as error:
        yield Error(
            f"ENGINE names {settings.ENGINE!r}, which cannot be imported: {error}.",
            hint="Leave it empty, or write the dotted path of an engine class.",
            id="project.E001",
        )


def _data_dir() -> Iterator[CheckMessage]:
    path = settings.DATA_DIR
    if not path.is_dir() or not os.access(path, os.W_OK | os.X_OK):
        yield Error(f"DATA_DIR ({path}) is not a directory I can write to.", id="project.E002")


def _providers() -> Iterator[CheckMessage]:
    known = set(import_string("research.tools.search.names.NAMES"))
    if unknown := sorted(set(settings.SEARCH_PROVIDERS) - known):
        yield Error(
            f"SEARCH_PROVIDERS names {', '.join(unknown)}, which this site does not know.",
            hint=f"It may name {', '.join(sorted(known))}.",
            id="project.E011",
        )


def _secrets() -> Iterator[CheckMessage]:
    key = settings.SECRET_KEY
    if len(key) < environment.MIN_KEY or len(set(key)) < 5 or key.startswith("django-insecure-"):
        yield Error(
            f"SECRET_KEY can be guessed: it needs {environment.MIN_KEY} random characters.",
            hint="Leave it empty: one is made and kept in DATA_DIR.",
            id="project.E003",
        )


def _hosts() -> Iterator[CheckMessage]:
    names = {settings.HOST, *settings.ALLOWED_HOSTS}
    if settings.DEBUG and (names - {*settings.LOCAL_HOSTS, "::1"} or settings.PUBLIC_ORIGIN):
        yield Error(
            "DEBUG shows code and settings to whoever comes in: it is for this machine alone.",
            hint="Unset DEBUG, or HOST, ALLOWED_HOSTS and PUBLIC_URL.",
            id="project.E004",
        )
    if "*" in settings.ALLOWED_HOSTS:
        yield Error(
            "ALLOWED_HOSTS must name the hosts: with '*' anybody can choose the address in links.",
            id="project.E005",
        )
    if settings.HOST in {"0.0.0.0", "::"} and names <= {settings.HOST, *settings.LOCAL_HOSTS}:
        yield Warning(
            f"HOST is {settings.HOST}, but nothing tells by which name people come in.",
            hint="Set PUBLIC_URL or ALLOWED_HOSTS.",
            id="project.W001",
        )
    host = environment.host_of(settings.PUBLIC_ORIGIN)
    if settings.PUBLIC_ORIGIN.startswith("http://") and host not in settings.LOCAL_HOSTS:
        yield Warning(
            "PUBLIC_URL is not https: passwords, cookies and tokens can be read on their way.",
            hint="Put a proxy with a certificate before it, and write https:// in PUBLIC_URL.",
            id="project.W002",
        )


def _addresses() -> Iterator[CheckMessage]:
    try:
        environment.database(settings.DATABASE_URL, settings.DATA_DIR)
    except ValueError as error:
        yield Error(str(error), id="project.E006")
    try:
        environment.channel_layer(settings.REDIS_URL)
    except ValueError as error:
        yield Error(str(error), id="project.E007")
    try:
        environment.origin(settings.PUBLIC_URL)
    except ValueError as error:
        yield Error(str(error), id="project.E008")


def _streaming() -> Iterator[CheckMessage]:
    try:
        names = {name: getattr(conf(), name.lower()) for name in STREAMING_PATHS}
    except ImproperlyConfigured as error:
        yield Error(str(error), id="project.E010")
        return
    for name, path in names.items():
        try:
            import_string(path)
        except ImportError as error:
            yield Error(
                f"STREAMING[{name!r}] names {path!r}, which cannot be imported: {error}.",
                id="project.E010",
            )
