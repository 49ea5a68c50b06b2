"""The pages: each a few lines around the fold, a row, or an action."""

from .account import SignIn, SignOut
from .evidence import BlobText, SourcePage, ToolPage
from .home import Home, Start
from .runs import Cancel, ReportMarkdown, RunPage, TaskPage

__all__ = [
    "BlobText",
    "Cancel",
    "Home",
    "ReportMarkdown",
    "RunPage",
    "SignIn",
    "SignOut",
    "SourcePage",
    "Start",
    "TaskPage",
    "ToolPage",
]
