"""`manage.py api_token USER`: tokens for API clients: made, listed, revoked."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from research.access import new_token, revoke
from research.models import ApiToken, Scope
from research.terminal.language import SpeakingCommand


class Command(SpeakingCommand):
    """Makes a token and prints it, once; or lists or revokes those of a user."""

    about = gettext_lazy("Make an API token for a user, and print it. Only its hash is kept.")

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the user's name, and what the token is for; or what to do with those there are."""
        parser.add_argument("username")
        parser.add_argument("--name", default="", help=_("What the token is for."))
        parser.add_argument(
            "--scope",
            action="append",
            choices=Scope.values,
            help=_(
                "What it is good for; may be given several times. Everything, if it is not given."
            ),
        )
        parser.add_argument(
            "--expires",
            default="90",
            metavar="DAYS",
            help=_("After how many days it ends, or never. 90, if it is not given."),
        )
        parser.add_argument("--list", action="store_true", help=_("List the user's tokens."))
        parser.add_argument(
            "--revoke", metavar="PREFIX", help=_("Revoke the token that begins so.")
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it."""
        user = get_user_model().objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(_("There is no user %s.") % options["username"])
        if options["list"]:
            self._list(user)
        elif options["revoke"]:
            self._revoke(user, options["revoke"])
        else:
            scopes, lasts = options["scope"] or Scope.values, _lasts(options["expires"])
            self.stdout.write(new_token(user, options["name"][:80], set(scopes), lasts))

    def _list(self, user: Any) -> None:
        for token in ApiToken.objects.filter(user=user):
            ends = (
                _("never ends")
                if token.expires_at is None
                else f"{_('ends')} {token.expires_at:%Y-%m-%d}"
            )
            state = _("revoked") if token.revoked_at else _("expired") if token.expired else ends
            used = (
                f"{_('last used')} {token.last_used_at:%Y-%m-%d}"
                if token.last_used_at
                else _("never used")
            )
            self.stdout.write(
                f"{token}  {state:15}  {used:15}  {','.join(token.scopes)}  {token.name}"
            )

    def _revoke(self, user: Any, prefix: str) -> None:
        found = ApiToken.objects.filter(user=user, revoked_at=None)
        # What is typed may be the prefix that a list shows, or the whole token.
        found = found.filter(pk__in=[row.pk for row in found if prefix.startswith(row.prefix)])
        if found.count() != 1:
            raise CommandError(
                _("%(count)d tokens begin with %(prefix)s.")
                % {"count": found.count(), "prefix": prefix[:8]}
            )
        revoke(found)
        self.stdout.write(_("Revoked %s") % f"{prefix[:8]}…")


def _lasts(text: str) -> timedelta | None:
    if text == "never":
        return None
    if not text.isdecimal() or not 0 < int(text) <= 3650:
        raise CommandError(_("--expires takes a number of days, up to 3650, or never."))
    return timedelta(days=int(text))
