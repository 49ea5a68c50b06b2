"""The admin: for reading. What the log tells of is changed by actions alone."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from . import accounts, evidence, library, notes, runs, stream, work  # noqa: F401  they register

admin.site.enable_nav_sidebar = False  # its room is the lists': the first page leads everywhere
admin.site.site_header = admin.site.site_title = "Soundings"
admin.site.index_title = _("Administration")
