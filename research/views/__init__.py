"""The pages: each a few lines around the fold, a row, or an action."""

from .account import AdminSignIn, SignIn, SignOut
from .api import ApiExport
from .controls import Control
from .documents import DocumentPage, DocumentText, RemoveDocuments, Upload
from .evidence import BlobText, SourcePage, ToolPage
from .export import Export
from .home import Home, Start
from .library import CollectionPage, DeleteCollection, Library, Rename
from .notes import DeleteNote, EditNote, NewNote, NotePage, Notes, NotesMarkdown
from .runs import DeleteRun, RunPage, TaskPage
from .settings import ChangePassword, NewToken, RevokeToken, Settings

__all__ = [
    "AdminSignIn",
    "ApiExport",
    "BlobText",
    "ChangePassword",
    "CollectionPage",
    "Control",
    "DeleteCollection",
    "DeleteNote",
    "DeleteRun",
    "DocumentPage",
    "DocumentText",
    "EditNote",
    "Export",
    "Home",
    "Library",
    "NewNote",
    "NewToken",
    "NotePage",
    "Notes",
    "NotesMarkdown",
    "RemoveDocuments",
    "Rename",
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
