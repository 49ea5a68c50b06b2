"""Static files, straight from the source tree: nothing has to be collected first."""

from contextlib import closing

from asgiref.sync import sync_to_async
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from .security import with_policy


class StaticFiles(ASGIStaticFilesHandler):
    """Serve them with the headers that pages get, and never stale."""

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the file, or 304 where the browser has it."""
        response = await super().get_response_async(request)
        if isinstance(response, FileResponse):
            response = await sync_to_async(_whole, thread_sensitive=False)(response)
        response.headers["Cache-Control"] = "no-cache"  # ask again; 304 while it is unchanged
        response.headers["X-Content-Type-Options"] = "nosniff"
        return with_policy(response)


def _whole(response: FileResponse) -> HttpResponse:
    # A file is read piece by piece, which ASGI can only do asynchronously; ours are small.
    with closing(response):
        return HttpResponse(b"".join(response), headers=dict(response.headers))
