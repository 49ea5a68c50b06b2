"""The pages."""

from django.urls import include, path
from django.views.i18n import set_language

from . import views

programs = [  # a token only
    path("runs/<uuid:run_id>/export/<str:format>", views.ApiExport.as_view(), name="api-export"),
]
urlpatterns = [
    path("api/", include(programs)),
    path("signin/", views.SignIn.as_view(), name="signin"),
    path("signout/", views.SignOut.as_view(), name="signout"),
    path("language/", set_language, name="set_language"),
    path("settings/", views.Settings.as_view(), name="settings"),
    path("settings/password/", views.ChangePassword.as_view(), name="password"),
    path("settings/tokens/", views.NewToken.as_view(), name="new-token"),
    path(
        "settings/tokens/<int:token_id>/revoke/", views.RevokeToken.as_view(), name="revoke-token"
    ),
    path("notes/", views.Notes.as_view(), name="notes"),
    path("notes/notes.md", views.NotesMarkdown.as_view(), name="notes-markdown"),
    path("notes/new/", views.NewNote.as_view(), name="new-note"),
    path("notes/<int:note>/", views.NotePage.as_view(), name="note"),
    path("notes/<int:note>/edit/", views.EditNote.as_view(), name="edit-note"),
    path("notes/<int:note>/delete/", views.DeleteNote.as_view(), name="delete-note"),
    path("", views.Home.as_view(), name="home"),
    path("runs/", views.Start.as_view(), name="start"),
    path("runs/<uuid:run_id>/", views.RunPage.as_view(), name="run"),
    path("runs/<uuid:run_id>/steer/", views.Control.as_view(asks="steer"), name="steer"),
    path("runs/<uuid:run_id>/pause/", views.Control.as_view(asks="pause"), name="pause"),
    path("runs/<uuid:run_id>/resume/", views.Control.as_view(asks="resume"), name="resume"),
    path("runs/<uuid:run_id>/finish/", views.Control.as_view(asks="finish"), name="finish"),
    path("runs/<uuid:run_id>/cancel/", views.Control.as_view(asks="cancel"), name="cancel"),
    path("runs/<uuid:run_id>/again/", views.Control.as_view(asks="again"), name="again"),
    path("runs/<uuid:run_id>/follow-up/", views.Control.as_view(asks="ask"), name="follow-up"),
    path(
        "runs/<uuid:run_id>/tasks/<int:task_id>/retry/",
        views.Control.as_view(asks="retry"),
        name="retry",
    ),
    path("runs/<uuid:run_id>/delete/", views.DeleteRun.as_view(), name="delete-run"),
    path("runs/<uuid:run_id>/export/<str:format>", views.Export.as_view(), name="export"),
    path("runs/<uuid:run_id>/tasks/<int:task_id>/", views.TaskPage.as_view(), name="task"),
    path("runs/<uuid:run_id>/tools/<path:tool_call_id>/", views.ToolPage.as_view(), name="tool"),
    path("runs/<uuid:run_id>/sources/<int:source_id>/", views.SourcePage.as_view(), name="source"),
    path("runs/<uuid:run_id>/blobs/<str:hash>", views.BlobText.as_view(), name="blob"),
    path("library/", views.Library.as_view(), name="library"),
    path("library/<int:collection_id>/", views.CollectionPage.as_view(), name="collection"),
    path("library/<int:collection_id>/rename/", views.Rename.as_view(), name="rename-collection"),
    path(
        "library/<int:collection_id>/delete/",
        views.DeleteCollection.as_view(),
        name="delete-collection",
    ),
    path("library/<int:collection_id>/upload/", views.Upload.as_view(), name="upload"),
    path(
        "library/<int:collection_id>/remove/",
        views.RemoveDocuments.as_view(),
        name="remove-documents",
    ),
    path(
        "library/<int:collection_id>/documents/<int:document_id>/",
        views.DocumentPage.as_view(),
        name="document",
    ),
    path(
        "library/<int:collection_id>/documents/<int:document_id>/text",
        views.DocumentText.as_view(),
        name="document-text",
    ),
]
