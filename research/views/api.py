"""What programs ask for over HTTP: with a token and nothing else."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.cache import add_never_cache_headers
from django.views.generic import View

from research.access import may_watch, user_of_token
from research.export import export
from research.sandbox import SandboxError
from streaming.exceptions import Forbidden, NotFound, StreamingError
from streaming.principal import Principal

from .export import STATUS, as_file


class ForPrograms(View):
    """A view that a token opens. A session opens nothing here, so no other site can use one."""

    scope = "runs:read"
    principal: Principal

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer, or say what is wrong as JSON."""
        response = self._answer(request, *args, **kwargs)
        add_never_cache_headers(response)
        return response

    def _answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        principal = user_of_token(token.strip()) if kind.lower() == "bearer" else None
        if principal is None:
            response = problem(401, "unauthorized", "Send a valid token: Authorization: Bearer …")
            response["WWW-Authenticate"] = "Bearer"
            return response
        self.principal = principal
        try:
            principal.require(self.scope)
            return super().dispatch(request, *args, **kwargs)
        except Forbidden as error:
            return problem(403, error.code, error.message)
        except NotFound as error:
            return problem(404, error.code, error.message)
        except StreamingError as error:
            return problem(400, error.code, error.message, error.retryable)

    def http_method_not_allowed(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> JsonResponse:
        """Say so as JSON."""
        response = problem(405, "method_not_allowed", "This is not done by this method.")
        response["Allow"] = super().http_method_not_allowed(request, *args, **kwargs)["Allow"]
        return response


class ApiExport(ForPrograms):
    """A run in one of the formats: the same bytes as on the page."""

    def get(self, request: HttpRequest, run_id: UUID, format: str) -> HttpResponseBase:
        """Return the file."""
        if may_watch(self.principal.user_id, run_id) is None:
            raise NotFound
        try:
            return as_file(request, export(run_id, format))
        except SandboxError as error:
            status = STATUS.get(error.code, 503)
            return problem(status, error.code, error.message, status == 503)


def problem(status: int, code: str, message: str, retryable: bool = False) -> JsonResponse:
    """Return an error as the API tells it."""
    body = {"code": code, "message": message, "retryable": retryable}
    return JsonResponse({"error": body}, status=status)
