"""Settings: the language, the password, the keys of one's programs, what this site uses."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.views import PasswordChangeView
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.generic import TemplateView, View

from research.access import new_token, revoke
from research.forms import TokenForm
from research.models import ApiToken

ROLES = {
    "leader": gettext_lazy("Leads"),
    "researcher": gettext_lazy("Researches"),
    "writer": gettext_lazy("Writes"),
}


@method_decorator(never_cache, name="dispatch")
class Settings(LoginRequiredMixin, TemplateView):
    """The page."""

    template_name = "research/settings.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the tokens, and what this site uses."""
        return super().get_context_data(**{**context_of(self.request), **kwargs})


@method_decorator(never_cache, name="dispatch")
class NewToken(LoginRequiredMixin, View):
    """Make an API token. The answer shows it: it is kept nowhere, so not for a redirect either."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """Lead to the page: what a reload without its form asks for."""
        return redirect("settings")

    def post(self, request: HttpRequest) -> HttpResponse:
        """Make it, or say what was wrong."""
        form = TokenForm(request.POST)
        if not form.is_valid():
            context = {**context_of(request), "form": form}
            return render(request, "research/settings.html", context, status=422)
        given = form.cleaned_data
        lasts = timedelta(days=int(given["days"])) if given["days"] else None
        token = new_token(request.user, given["name"], given["scopes"], lasts)
        return render(request, "research/settings.html", {**context_of(request), "token": token})


class RevokeToken(LoginRequiredMixin, View):
    """Revoke one of one's own tokens; what is open by it is closed."""

    def get(self, request: HttpRequest, token_id: int) -> HttpResponse:
        """Lead to the page."""
        self._own(request, token_id)
        return redirect("settings")

    def post(self, request: HttpRequest, token_id: int) -> HttpResponse:
        """Revoke it."""
        revoke(self._own(request, token_id))
        messages.success(request, _("The token is revoked."))
        return redirect("settings")

    @staticmethod
    def _own(request: HttpRequest, token_id: int) -> Any:
        tokens = ApiToken.objects.filter(user=_user(request), pk=token_id)
        if not tokens.exists():
            raise Http404("There is no such token.")
        return tokens


@method_decorator(never_cache, name="dispatch")
class ChangePassword(PasswordChangeView):
    """Change the password; all other sessions end."""

    template_name = "research/settings_password.html"
    success_url = reverse_lazy("settings")

    def form_valid(self, form: Any) -> HttpResponse:
        """Change it and say so."""
        response = super().form_valid(form)
        messages.success(
            self.request, _("The password is changed. Everywhere else you are signed out.")
        )
        return response


def context_of(request: HttpRequest) -> dict[str, Any]:
    """Return what the page shows to this user."""
    models = settings.RESEARCH_MODELS
    return {
        "form": TokenForm(),
        "tokens": ApiToken.objects.filter(user=_user(request), revoked_at=None),
        "models": [(ROLES.get(role, role), _name(name)) for role, name in models.items()],
        "providers": getattr(settings, "SEARCH_PROVIDERS", ["library"]),
    }


def _user(request: HttpRequest) -> Any:
    return request.user  # signed in: every view here asks for that


def _name(model: str) -> str:
    """Return the name of a role's model; of a scripted one not where its script is."""
    name = model or settings.RESEARCH_MODEL
    return name.partition(":")[0] if name.startswith("scripted:") else name
