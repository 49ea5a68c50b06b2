"""What every page of a run asks first: may this user see it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.contrib.auth.mixins import LoginRequiredMixin
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import add_never_cache_headers
from django.utils.translation import get_language

from research.access import visible_run
from research.faces.fragments import Scope
from research.models import Run
from research.state import RunState
from streaming.exceptions import NotFound

from .states import state_of


class OfRun(LoginRequiredMixin):
    """A page of one run. A run that one may not see is not there."""

    kwargs: dict[str, Any]
    request: Any

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Let no cache keep what is shown: the next person at this machine may be another."""
        response = super().dispatch(request, *args, **kwargs)
        add_never_cache_headers(response)
        return response

    @cached_property
    def run(self) -> Run:
        """Return the run."""
        try:
            return visible_run(self.request.user, self.kwargs["run_id"])
        except NotFound as error:
            raise Http404(error.message) from None

    @cached_property
    def state(self) -> RunState:
        """Return the run, folded."""
        stream = self.run.stream
        return state_of(self.run.pk, stream.epoch, stream.head)

    @property
    def scope(self) -> Scope:
        """Return what the fragments of this page are rendered for."""
        return Scope.of(self.run.pk, self.run.stream.epoch, get_language() or "en")
