"""In and out."""

from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.utils.translation import gettext as _

from research.signin import WAIT, used_up


class Patient(AuthenticationForm):
    """Says so when there are no tries left."""

    def get_invalid_login_error(self) -> ValidationError:
        """Return what was wrong, the same for every name."""
        if self.request and used_up(self.request, self.cleaned_data.get("username") or ""):
            minutes = WAIT.seconds // 60
            message = _("Too many tries. Wait %(minutes)s minutes, then try again.")
            return ValidationError(message, "too_many", {"minutes": minutes})
        return super().get_invalid_login_error()


class PatientAdmin(Patient, AdminAuthenticationForm):
    """The same, for who may enter the admin."""


class SignIn(LoginView):
    """Ask who somebody is. `next` leads only to this site."""

    template_name = "research/signin.html"
    redirect_authenticated_user = True
    authentication_form = Patient

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Show the form again, with 429 where there are no tries left."""
        response = super().form_invalid(form)
        if form.has_error("__all__", "too_many"):
            response.status_code = 429
            response.headers["Retry-After"] = str(WAIT.seconds)
        return response


class AdminSignIn(SignIn):
    """The admin's door: who is in already but is no member of staff is asked again."""

    redirect_authenticated_user = False
    authentication_form = PatientAdmin
    next_page = "admin:index"


class SignOut(LogoutView):
    """End the session; by POST only."""
