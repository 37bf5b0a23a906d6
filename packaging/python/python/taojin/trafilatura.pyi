from typing import Literal, TypedDict

class _Extracted(TypedDict):
    title: str | None
    author: str | None
    date: str | None
    url: str | None
    sitename: str | None
    language: str | None
    text: str
    comments: str
    image: str | None

def extract(
    filecontent: bytes | str,
    url: str | None = None,
    *,
    output_format: Literal["txt", "json", "markdown"] = "txt",
    include_comments: bool = True,
    with_metadata: bool = False,
) -> str | None: ...
def bare_extraction(
    filecontent: bytes | str, url: str | None = None, *, include_comments: bool = True
) -> _Extracted | None: ...
