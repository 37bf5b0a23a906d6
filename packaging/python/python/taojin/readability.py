"""The calls of readability-lxml: `from taojin.readability import Document`."""
from __future__ import annotations

from html import escape as _escape

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
        """The main text as HTML: a p for each paragraph, an img for each picture at its place."""
        parts = []
        images = list(self.document.images)
        for before, paragraph in enumerate(self.document.text.splitlines()):
            parts += self._images(images, before)
            parts.append(f"<p>{_escape(paragraph)}</p>")
        parts += self._images(images, None)
        body = "<div>" + "".join(parts) + "</div>"
        return body if html_partial else f"<html><body>{body}</body></html>"

    @staticmethod
    def _images(images, before):
        taken = []
        while images and (before is None or images[0].after <= before):
            image = images.pop(0)
            if image.url:
                taken.append(f'<img src="{_escape(image.url)}" alt="{_escape(image.alt)}"/>')
        return taken
