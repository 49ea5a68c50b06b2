"""Static files, straight from the source tree: nothing has to be collected first."""

from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from .security import with_policy


class StaticFiles(ASGIStaticFilesHandler):
    """Serve them with the headers that pages get, and never stale."""

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the file, or 304 where the browser has it."""
        response = await super().get_response_async(request)
        response.headers["Cache-Control"] = "no-cache"  # ask again; 304 while it is unchanged
        response.headers["X-Content-Type-Options"] = "nosniff"
        return with_policy(response)
