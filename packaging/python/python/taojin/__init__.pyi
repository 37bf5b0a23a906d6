from datetime import datetime
from typing import final

__all__ = ["Attachment", "Comment", "Document", "Image", "Link", "extract", "__version__"]
__version__: str

@final
class Comment:
    author: str | None
    published: str | None
    text: str
    reply_to: str | None

@final
class Image:
    url: str | None
    alt: str
    after: int
    """Number of paragraphs of the text before it."""

@final
class Link:
    url: str
    text: str

@final
class Attachment:
    url: str
    name: str
    format: str

@final
class Document:
    @property
    def url(self) -> str | None: ...
    @property
    def canonical(self) -> str | None: ...
    @property
    def title(self) -> str | None: ...
    @property
    def published(self) -> str | None:
        """ISO 8601: a date, or date and time with offset."""
    @property
    def author(self) -> str | None: ...
    @property
    def source(self) -> str | None: ...
    @property
    def text(self) -> str:
        """The main text, one paragraph a line."""
    @property
    def markdown(self) -> str:
        """The text with its headings, lists, tables, code, links and pictures; CommonMark with the tables of GitHub, without HTML."""
    @property
    def html(self) -> str:
        """The same as a fragment of HTML of a closed set of elements."""
    @property
    def language(self) -> str | None: ...
    @property
    def charset(self) -> str: ...
    @property
    def kind(self) -> str:
        """article, hub, error or other."""
    @property
    def confidence(self) -> float:
        """How sure the main text is, 0 to 1."""
    @property
    def comments(self) -> list[Comment]: ...
    @property
    def images(self) -> list[Image]: ...
    @property
    def links(self) -> list[Link]: ...
    @property
    def attachments(self) -> list[Attachment]: ...
    def to_json(self) -> str:
        """Everything, as `taojin extract --json` prints it."""

def extract(
    html: bytes | bytearray | memoryview | str,
    url: str | None = None,
    *,
    charset: str | None = None,
    fetched: datetime | None = None,
) -> Document: ...
