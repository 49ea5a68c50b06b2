"""In and out."""

from django.contrib.auth.views import LoginView, LogoutView


class SignIn(LoginView):
    """Ask who somebody is. `next` leads only to this site."""

    template_name = "research/signin.html"
    redirect_authenticated_user = True


class SignOut(LogoutView):
    """End the session; by POST only."""
