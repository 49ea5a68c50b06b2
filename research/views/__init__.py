"""The pages: each a few lines around the fold, a row, or an action."""

from .account import AdminSignIn, SignIn, SignOut
from .documents import DocumentPage, DocumentText, RemoveDocuments, Upload
from .evidence import BlobText, SourcePage, ToolPage
from .home import Home, Start
from .library import CollectionPage, DeleteCollection, Library, Rename
from .notes import DeleteNote, EditNote, NewNote, NotePage, Notes, NotesMarkdown
from .runs import Cancel, DeleteRun, ReportMarkdown, RunPage, TaskPage
from .settings import ChangePassword, NewToken, RevokeToken, Settings

__all__ = [
    "AdminSignIn",
    "BlobText",
    "Cancel",
    "ChangePassword",
    "CollectionPage",
    "DeleteCollection",
    "DeleteNote",
    "DeleteRun",
    "DocumentPage",
    "DocumentText",
    "EditNote",
    "Home",
    "Library",
    "NewNote",
    "NewToken",
    "NotePage",
    "Notes",
    "NotesMarkdown",
    "RemoveDocuments",
    "Rename",
    "ReportMarkdown",
    "RevokeToken",
    "RunPage",
    "Settings",
    "SignIn",
    "SignOut",
    "SourcePage",
    "Start",
    "TaskPage",
    "ToolPage",
    "Upload",
]
