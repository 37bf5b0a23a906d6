"""The wheel as a program uses it. packaging/test-wheel installs it and runs these."""
import json
import threading
import time
from datetime import datetime, timezone

import pytest

import taojin
from taojin import readability, trafilatura

FIRST = "记者从现场了解到，经过一百二十天的施工，改造工程日前通过验收，现场设备运行平稳。"
SECOND = "项目负责人介绍，今年更换阀门七台，检修人员由三班增加到四班，夜间值守改为屏幕巡检。"
PAGE = (
    "<html><head><meta charset='{charset}'><title>储气库投产 - 西部油气网</title></head><body><h1>储气库投产</h1>"
    "<p>2026-05-03 08:30　来源：西部油气网</p><p>" + FIRST + "</p><p><img src='/a.png' alt='井架'></p><p>" + SECOND + "</p>"
    "<p><a href='/b.html'>下一篇</a></p></body></html>"
)


def page(charset="utf-8"):
    return PAGE.format(charset=charset).encode(charset)


@pytest.mark.parametrize("charset", ["utf-8", "gb18030", "big5"])
def test_bytes_as_fetched(charset):
    text = PAGE if charset != "big5" else PAGE.replace("储", "儲")
    encoded = text.format(charset=charset).encode(charset, "ignore")
    document = taojin.extract(encoded, "https://news.example/a.html")
    assert "投" in document.title and document.published == "2026-05-03T08:30:00+08:00"
    assert document.text.startswith(FIRST[:3]) or charset == "big5"
    assert document.kind == "article" and 0 < document.confidence <= 1


def test_fields():
    document = taojin.extract(page(), "https://news.example/a.html")
    assert document.title == "储气库投产"
    assert document.source == "西部油气网" and document.author is None
    assert document.text == FIRST + "\n" + SECOND
    assert document.language == "zh" and document.charset.lower() == "utf-8"
    assert document.url == "https://news.example/a.html"
    assert [(i.url, i.alt) for i in document.images] == [("https://news.example/a.png", "井架")]
    assert "https://news.example/b.html" in [link.url for link in document.links]
    assert json.loads(document.to_json())["title"] == document.title
    assert "储气库投产" in repr(document)


def test_markdown_and_html():
    table = "<h2>投产之后</h2><table><tr><th>井<th>产量<tr><td>A<td>7</table><ul><li>更换阀门七台，全部国产</ul>"
    html = page().decode().replace("<p><img", table + "<p><img")
    document = taojin.extract(html, "https://news.example/a.html")
    for block in ("\n## 投产之后\n", "\n| 井 | 产量 |\n| --- | --- |\n| A | 7 |\n", "\n- 更换阀门七台", "![井架](https://news.example/a.png)"):
        assert block in document.markdown, document.markdown
    assert "<h2>投产之后</h2>" in document.html and "<td>7</td>" in document.html
    assert "## 投产之后" in trafilatura.extract(html, output_format="markdown")


def test_kinds_of_input():
    wanted = taojin.extract(page()).text
    for html in (page().decode(), bytearray(page()), memoryview(page())):
        assert taojin.extract(html).text == wanted
    # A text has no charset any more, whatever it says of itself.
    assert taojin.extract(PAGE.format(charset="gb2312")).text == wanted
    assert taojin.extract(page()).url is None


def test_mistakes_of_the_caller_are_named_and_pages_raise_nothing():
    with pytest.raises(ValueError, match="url: "):
        taojin.extract(page(), "no address")
    with pytest.raises(ValueError, match="time zone"):
        taojin.extract(page(), fetched=datetime(2026, 1, 1))
    with pytest.raises(TypeError):
        taojin.extract(None)
    with pytest.raises(AttributeError):
        taojin.extract(page()).title = "another"
    for html in (b"", b"\0" * 1000, b"<" * 100_000, b"<div>" * 100_000, bytes(range(256)) * 100, "\ud800".encode("utf-8", "surrogatepass")):
        assert isinstance(taojin.extract(html).text, str)


def test_relative_times_are_told_from_when_it_was_fetched():
    html = "<h1>储气库投产</h1><p>3小时前</p><p>" + FIRST + "</p><p>" + SECOND + "</p>"
    fetched = datetime(2026, 5, 3, 12, tzinfo=timezone.utc)
    assert taojin.extract(html, fetched=fetched).published.startswith("2026-05-03T17:00")


def test_other_threads_go_on():
    big = page().replace(b"</body>", ("<div><p>" + FIRST + "</p></div>").encode() * 20_000 + b"</body>")
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.perf_counter()
    taojin.extract(big)
    ended = time.perf_counter()
    done.set()
    thread.join()
    within = [t for t in ticks if begun + 0.002 < t < ended - 0.002]
    assert ended - begun > 0.02, "too fast to tell"
    assert len(within) >= 3, f"{len(within)} ticks in {ended - begun:.3f} s: the lock was held"


def test_calls_of_trafilatura():
    assert trafilatura.extract(page()) == FIRST + "\n" + SECOND
    found = trafilatura.bare_extraction(page(), "https://news.example/a.html")
    assert found["date"] == "2026-05-03" and found["title"] == "储气库投产" and found["sitename"] == "西部油气网"
    assert json.loads(trafilatura.extract(page(), output_format="json"))["text"] == FIRST + "\n" + SECOND
    assert trafilatura.extract(page(), with_metadata=True).startswith('---\ntitle: "储气库投产"\n')
    assert trafilatura.extract(b"<p>") is None
    with pytest.raises(ValueError, match="output_format"):
        trafilatura.extract(page(), output_format="pdf")
    with pytest.raises(TypeError):
        trafilatura.extract(page(), favor_recall=True)


def test_calls_of_readability():
    document = readability.Document(page(), "https://news.example/a.html")
    assert document.title() == document.short_title() == "储气库投产"
    assert document.summary() == (
        f'<html><body><div><p>{FIRST}</p>\n<p><img src="https://news.example/a.png" alt="井架"></p>\n<p>{SECOND}</p>\n</div></body></html>'
    )
    assert document.summary(html_partial=True).startswith("<div><p>")
    hostile = page().replace("现场".encode(), b"&lt;script&gt;")
    assert "<script>" not in readability.Document(hostile).summary()
