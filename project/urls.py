"""The addresses: probes, the admin, and everything of research."""

from django.contrib import admin
from django.urls import include, path

from research.views import AdminSignIn

from . import health

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("admin/login/", AdminSignIn.as_view()),  # one door, with one patience
    path("admin/", admin.site.urls),
    path("", include("research.urls")),
]
handler500 = "project.errors.server_error"
