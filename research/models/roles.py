"""What the roles of the team protocol are called."""

from django.utils.translation import gettext_lazy as _

from streaming.members import Role

ROLES = [
    (Role.LEADER.value, _("Leader")),
    (Role.TEAMMATE.value, _("Teammate")),
    (Role.HUMAN_AGENT.value, _("Person")),
    (Role.PASSIVE_HUMAN.value, _("Person who listens")),
    (Role.BRIDGE_AGENT.value, _("Bridge")),
    (Role.WORKER.value, _("Worker")),
    (Role.EXTERNAL_CLI.value, _("Command line")),
]
