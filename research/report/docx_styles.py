"""The styles of a DOCX file: one scale of type, and a font for Chinese in each of them."""

from __future__ import annotations

from typing import Any

from docx.document import Document as Docx
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Mm, Pt, RGBColor

LATIN, CHINESE, CODE = "Calibri", "Microsoft YaHei", "Consolas"
INK, SOFT, ACCENT, LINE, SUNK = "22262A", "5D636A", "17605A", "DDD7CA", "F5F2EB"


def style_file(file: Docx) -> dict[str, str]:
    """Set the styles of a file; return their ids by name."""
    body = _style(file, "Normal", 10.5, INK).paragraph_format
    body.space_after, body.line_spacing = Pt(7), 1.25
    _border(_style(file, "Title", 22, INK, bold=True), "bottom", ACCENT, 6)
    _style(file, "Subtitle", 9.5, SOFT)
    for level, size in ((1, 16), (2, 13), (3, 11), (4, 10.5)):
        heading = _style(file, f"Heading {level}", size, INK, bold=True).paragraph_format
        heading.space_before, heading.space_after = Pt(22 - 4 * level), Pt(5)
    for name, colour, line in (("Quote", SOFT, LINE), ("Notice", INK, "8A5A00")):
        quote = _border(
            _style(file, name, 10.5 if name == "Quote" else 10, colour), "left", line, 18
        )
        quote.paragraph_format.left_indent = Mm(4)
    _style(file, "List Paragraph", 10.5, INK).paragraph_format.space_after = Pt(3)
    _style(file, "Note", 9, SOFT, italic=True)
    _style(file, "Cell", 9.5, INK).paragraph_format.space_after = Pt(2)
    code = _style(file, "Code", 9, INK, font=CODE)
    shade = OxmlElement("w:shd")
    for key, value in (("val", "clear"), ("color", "auto"), ("fill", SUNK)):
        shade.set(qn(f"w:{key}"), value)
    code.element.get_or_add_pPr().insert_element_before(shade, *_AFTER_SHADE)
    code.paragraph_format.line_spacing = 1.0
    reference = _style(file, "Reference", 9.5, INK).paragraph_format
    reference.left_indent, reference.first_line_indent = Mm(11), Mm(-11)
    reference.tab_stops.add_tab_stop(Mm(11))
    for language in file.styles.element.iter(qn("w:lang")):  # whose signs a substitute font has
        language.set(qn("w:eastAsia"), "zh-CN")
    return {style.name: style.style_id for style in file.styles if style.name}


_AFTER_SHADE = ("w:tabs", "w:spacing", "w:ind", "w:contextualSpacing", "w:jc", "w:outlineLvl")


def _style(
    file: Docx,
    name: str,
    size: float,
    colour: str,
    *,
    bold: bool = False,
    italic: bool = False,
    font: str = LATIN,
) -> Any:
    styles = file.styles
    if name not in styles:
        styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH).base_style = styles["Normal"]
    style: Any = styles[name]
    style.font.size, style.font.color.rgb = Pt(size), RGBColor.from_string(colour)
    style.font.bold = bold
    properties = style.element.get_or_add_rPr()
    for gone in ("w:spacing", "w:kern"):  # letters set apart
        for old in properties.findall(qn(gone)):
            properties.remove(old)
    style.font.italic = italic
    fonts = properties.get_or_add_rFonts()
    fonts.attrib.clear()  # a theme's font would win over the named one
    for kind in ("ascii", "hAnsi", "cs"):
        fonts.set(qn(f"w:{kind}"), font)
    fonts.set(qn("w:eastAsia"), CHINESE)
    return style


def _border(style: Any, side: str, colour: str, size: int) -> Any:
    """Draw a line at one side of a style's paragraphs, in place of those that it had."""
    properties = style.element.get_or_add_pPr()
    for old in properties.findall(qn("w:pBdr")):
        properties.remove(old)
    borders, line = OxmlElement("w:pBdr"), OxmlElement(f"w:{side}")
    for key, value in (("val", "single"), ("sz", size), ("space", 8), ("color", colour)):
        line.set(qn(f"w:{key}"), str(value))
    borders.append(line)
    properties.insert_element_before(borders, "w:shd", *_AFTER_SHADE)
    return style
