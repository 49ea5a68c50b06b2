"""The ASGI application: pages, static files, websockets, and the engine beside them."""

import os
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import WebsocketDenier
from django.core.asgi import get_asgi_application
from django.urls import path, re_path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
pages = get_asgi_application()  # before anything that needs the applications

import pydantic_ai  # noqa: F401  0.8 s that the first visitor should not wait for
from django.conf import settings

from research.engine import boot
from streaming.consumers import ApiConsumer, BrowserConsumer

from .bodies import BodyLimits, bound_daphne
from .checks import refuse_to_start_wrong
from .doors import Doors
from .origins import OwnOrigins
from .static import StaticFiles

refuse_to_start_wrong()  # servers run no checks by themselves

# Who is refused here has reached no code of a consumer: a wrong Origin, an unknown path.
browsers: Any = OwnOrigins(
    AuthMiddlewareStack(BrowserConsumer.as_asgi()), settings.WEBSOCKET_ORIGINS
)
programs: Any = ApiConsumer.as_asgi()  # a token only: no session, so no Origin
websockets: Any = URLRouter(
    [
        path("ws/v1/", browsers),
        path("ws/api/v1/", programs),
        re_path(r"", WebsocketDenier.as_asgi()),
    ]
)
bound_daphne(settings.UPLOAD_REQUEST_BYTES)
bounded = BodyLimits(
    StaticFiles(pages),
    small=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    large=settings.UPLOAD_REQUEST_BYTES,
)
doors = Doors(boot.start, boot.stop)
application = ProtocolTypeRouter(
    {
        "http": bounded,
        "websocket": doors.shield(websockets),
        "lifespan": doors.lifespan,
    }
)
