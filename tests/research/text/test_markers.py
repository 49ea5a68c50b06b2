"""`[S12]` and `[S12:100-250]`."""

from hypothesis import given, settings
from hypothesis import strategies as st

from research.text.markers import Marker, find_markers, strip_markers


@settings(deadline=None)
@given(st.integers(0, 10**8), st.integers(0, 10**8), st.integers(1, 1000))
def test_every_marker_is_read_as_it_was_written(source: int, start: int, size: int) -> None:
    for marker in (Marker(source), Marker(source, start, start + size)):
        (found,) = find_markers(f"It is so {marker}.")
        assert found.marker == marker
        assert "It is so "[found.at :] == ""


def test_markers_are_found_where_they_stand() -> None:
    text = "One [S1]. Two [S2:3-9][S3]."
    assert [text[item.at : item.to] for item in find_markers(text)] == ["[S1]", "[S2:3-9]", "[S3]"]


def test_offsets_that_make_no_span_leave_the_source() -> None:
    (found,) = find_markers("[S4:9-3]")
    assert found.marker == Marker(4)
    assert found.marker.start is None


def test_other_brackets_are_no_markers() -> None:
    assert list(find_markers("[1] [S] [S1:2] [Sx] [s1] [S１]")) == []


def test_a_text_without_its_markers_reads_on() -> None:
    assert strip_markers("It is so [S1:2-3]. And so [S2].") == "It is so. And so."
