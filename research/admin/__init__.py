"""The admin: for reading. What the log tells of is changed by actions alone."""

from django.contrib import admin

from . import accounts, evidence, library, notes, runs, stream, work  # noqa: F401  they register

admin.site.enable_nav_sidebar = False  # its room is the lists': the first page leads everywhere
