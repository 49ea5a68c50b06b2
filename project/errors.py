"""What a person sees when something of ours broke: an id to report, and nothing else."""

import logging
import secrets

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

logger = logging.getLogger(__name__)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer with an id that stands in the log beside the exception."""
    error_id = secrets.token_hex(6)
    logger.error("error_id=%s %s %s", error_id, request.method, request.path)
    if request.path.startswith("/api/"):
        message = f"Something went wrong here. Please report the id {error_id}."
        body = {"code": "internal", "message": message, "error_id": error_id, "retryable": True}
        return JsonResponse({"error": body}, status=500)
    # Without the request: no context processor may fail a second time.
    return HttpResponse(render_to_string("500.html", {"error_id": error_id}), status=500)
