"""The calls of readability-lxml: `from taojin.readability import Document`."""
from __future__ import annotations

from . import extract as _extract


class Document:
    """A page, read when it is first asked for anything."""

    def __init__(self, input, url=None):
        self._input, self._url, self._read = input, url, None

    @property
    def document(self):
        """The `taojin.Document`."""
        if self._read is None:
            self._read = _extract(self._input, self._url)
        return self._read

    def title(self):
        """The headline, without the name of the site."""
        return self.document.title or "[no-title]"

    def short_title(self):
        """The same: it is short already."""
        return self.title()

    def author(self):
        """Who wrote it."""
        return self.document.author or "[no-author]"

    def summary(self, html_partial=False):
        """The main text as HTML, with its headings, lists, tables, code, links and pictures."""
        body = "<div>" + self.document.html + "</div>"
        return body if html_partial else f"<html><body>{body}</body></html>"
