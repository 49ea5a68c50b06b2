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
