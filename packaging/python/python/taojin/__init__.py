"""Bytes of a web page in, one document out: title, date, author, text, comments.

>>> import taojin
>>> taojin.extract(b"<title>A well - Daily</title><h1>A well</h1><p>...").title
'A well'
"""
from __future__ import annotations

import datetime as _datetime

from ._taojin import Attachment, Comment, Document, Image, Link, __version__
from ._taojin import extract_page as _extract_page

__all__ = ["Attachment", "Comment", "Document", "Image", "Link", "extract", "__version__"]


def extract(html, url=None, *, charset=None, fetched=None):
    """The document of a page.

    html: the bytes as fetched (the charset is found out), or a text that was decoded before.
    url: where it was fetched; makes links absolute and helps to judge the page.
    charset: what the Content-Type header names, if it does; bytes that prove another go before it.
    fetched: when, as an aware datetime; times such as "3 hours ago" are counted back from it; without it they are left out.

    Raises ValueError for a url that is none. Nothing that a page holds raises.
    """
    if fetched is not None and fetched.tzinfo is None:
        raise ValueError("fetched: give it a time zone, for example datetime.now(timezone.utc)")
    epoch = _datetime.datetime(1970, 1, 1, tzinfo=_datetime.timezone.utc)
    now_ms = None if fetched is None else (fetched - epoch) // _datetime.timedelta(milliseconds=1)
    if isinstance(html, (bytearray, memoryview)):
        html = bytes(html)
    return _extract_page(html, url, charset=charset, now_ms=now_ms)
