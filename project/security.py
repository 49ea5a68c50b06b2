"""What every request and answer has to be: no NUL in an address, and a policy for browsers."""

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

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


@sync_and_async_middleware
def storable_addresses(get_response: Next) -> Next:
    """Answer an address that holds a NUL with 400: a database would refuse to look for it."""

    def refuse(request: HttpRequest) -> None:
        if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            raise BadRequest("An address has no NUL in it.")

    def pass_on(request: HttpRequest) -> Response | Awaitable[Response]:
        refuse(request)
        return get_response(request)

    async def await_it(request: HttpRequest) -> Response:
        refuse(request)
        response: Response = await get_response(request)  # type: ignore[misc]
        return response

    return await_it if iscoroutinefunction(get_response) else pass_on


def with_policy(response: Response) -> Response:
    """Add the policy to a response, unless it has a stricter one of its own."""
    response.headers.setdefault("Content-Security-Policy", POLICY)
    return response
