"""What hangs on mails: PDF, tables and pictures, byte for byte the same at every build."""

from __future__ import annotations

import csv
import io
import zipfile
from typing import Any
from xml.sax.saxutils import escape

from PIL import Image, ImageDraw, ImageFont

from officeseed import words

_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_KINDS = {
    "pdf": ("application", "pdf"),
    "csv": ("text", "plain"),
    "xlsx": ("application", "vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "png": ("image", "png"),
}


def paper(key: str) -> tuple[bytes, str, str, str]:
    """Return what hangs on a mail: its content, its type in two parts, and its name."""
    one = words("papers")["paper"][key]
    make = {"pdf": _pdf, "csv": _csv, "xlsx": _xlsx, "png": _png}[one["kind"]]
    return (make(one), *_KINDS[one["kind"]], one["name"])


def _csv(one: dict[str, Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(one["rows"])
    return text.getvalue().encode()


def _pdf(one: dict[str, Any]) -> bytes:
    """One page of lines."""
    shown = "".join(
        f"({line.translate(str.maketrans({c: chr(92) + c for c in '()' + chr(92)}))}) Tj T*\n"
        for line in one["lines"]
    )
    stream = f"BT /F1 11 Tf 15 TL 60 780 Td\n{shown}ET".encode("latin-1")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
            b" /Resources << /Font << /F1 5 0 R >> >> >>"
        ),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>",
    ]
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n" % (len(objects) + 1, table)
    return bytes(out) + b"%%EOF\n"


def _xlsx(one: dict[str, Any]) -> bytes:
    rows = "".join(f"<row>{''.join(_cell(value) for value in row)}</row>" for row in one["rows"])
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/>'
        "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1"'
        f' Type="{_RELATED}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_SHEET}" xmlns:r="{_RELATED}"><sheets>'
        '<sheet name="Rates" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{_RELATED}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_SHEET}"><sheetData>{rows}</sheetData>'
        "</worksheet>",
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in parts.items():
            package.writestr(
                zipfile.ZipInfo(name, (2026, 9, 1, 9, 0, 0)), f"<?xml version='1.0'?>{text}"
            )
    return out.getvalue()


def _cell(value: str) -> str:
    if value.replace(".", "", 1).isdigit():
        return f"<c><v>{value}</v></c>"
    return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'


def _png(one: dict[str, Any]) -> bytes:
    """Bars with their numbers."""
    bars, font = one["bars"], ImageFont.load_default()
    picture = Image.new("RGB", (420, 60 + 40 * len(bars)), "white")
    draw = ImageDraw.Draw(picture)
    draw.text((12, 10), one["title"], "black", font)
    longest = max(number for _, number in bars)
    for row, (label, number) in enumerate(bars):
        top = 40 + 40 * row
        draw.text((12, top + 6), label, "black", font)
        draw.rectangle((140, top, 140 + 200 * number // longest, top + 22), "#2f6f4f")
        draw.text((150 + 200 * number // longest, top + 6), str(number), "black", font)
    out = io.BytesIO()
    picture.resize((840, picture.height * 2), Image.Resampling.NEAREST).save(out, "PNG")
    return out.getvalue()
