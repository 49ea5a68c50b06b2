"""The pages."""

from django.urls import path

from . import views

urlpatterns = [
    path("signin/", views.SignIn.as_view(), name="signin"),
    path("signout/", views.SignOut.as_view(), name="signout"),
    path("", views.Home.as_view(), name="home"),
    path("runs/", views.Start.as_view(), name="start"),
    path("runs/<uuid:run_id>/", views.RunPage.as_view(), name="run"),
    path("runs/<uuid:run_id>/cancel/", views.Cancel.as_view(), name="cancel"),
    path("runs/<uuid:run_id>/report.md", views.ReportMarkdown.as_view(), name="report-markdown"),
    path("runs/<uuid:run_id>/tasks/<int:task_id>/", views.TaskPage.as_view(), name="task"),
    path("runs/<uuid:run_id>/tools/<path:tool_call_id>/", views.ToolPage.as_view(), name="tool"),
    path("runs/<uuid:run_id>/sources/<int:source_id>/", views.SourcePage.as_view(), name="source"),
    path("runs/<uuid:run_id>/blobs/<str:hash>", views.BlobText.as_view(), name="blob"),
]
