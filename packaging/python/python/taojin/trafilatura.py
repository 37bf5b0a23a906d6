"""The calls of trafilatura that most programs use: `from taojin import trafilatura`. What has no counterpart is refused by a
TypeError or ValueError, never ignored."""
from __future__ import annotations

import json as _json

from . import extract as _extract


def extract(filecontent, url=None, *, output_format="txt", include_comments=True, with_metadata=False):
    """The text of a page, or None where there is none; output_format is txt, json or markdown."""
    if output_format not in ("txt", "json", "markdown"):
        raise ValueError(f"output_format={output_format!r}: use 'txt', 'json' or 'markdown'")
    document = _extract(filecontent, url)
    if not document.text:
        return None
    found = _to_dict(document, include_comments)
    if output_format == "json":
        return _json.dumps(found, ensure_ascii=False)
    comments = [part for part in found["comments"].split("\n") if part]
    if output_format == "markdown":
        body = "\n\n".join([document.markdown.rstrip("\n"), *comments])
    else:
        body = "\n".join([found["text"], *comments])
    if not with_metadata:
        return body
    names = ("title", "author", "url", "date", "language")
    head = [f"{name}: {_json.dumps(found[name], ensure_ascii=False)}" for name in names if found[name]]
    return "\n".join(["---", *head, "---", body])


def bare_extraction(filecontent, url=None, *, include_comments=True):
    """A dict with title, author, date, url, sitename, language, text, comments and image, or None where there is no text."""
    document = _extract(filecontent, url)
    return _to_dict(document, include_comments) if document.text else None


def _to_dict(document, include_comments):
    images = [image.url for image in document.images if image.url]
    return {
        "title": document.title,
        "author": document.author,
        "date": document.published[:10] if document.published else None,
        "url": document.canonical or document.url,
        "sitename": document.source,
        "language": document.language,
        "text": document.text,
        "comments": "\n".join(c.text for c in document.comments) if include_comments else "",
        "image": images[0] if images else None,
    }
