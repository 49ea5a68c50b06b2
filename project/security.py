"""The policy that tells a browser what a page may load: only what this server sends."""

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase

POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "form-action 'self'",
    )
)
Response = HttpResponseBase
Next = Callable[[HttpRequest], Response | Awaitable[Response]]


class ContentSecurityPolicy:
    """Put the policy on every response that brings none of its own."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Response | Awaitable[Response]:
        """Pass the request on."""
        response = self.get_response(request)
        if isinstance(response, Response):
            return with_policy(response)
        return self._await(response)

    @staticmethod
    async def _await(response: Awaitable[Response]) -> Response:
        return with_policy(await response)


def with_policy(response: Response) -> Response:
    """Add the policy to a response, unless it has a stricter one of its own."""
    response.headers.setdefault("Content-Security-Policy", POLICY)
    return response
