//! Pages whose bytes and declarations disagree.

use encoding_rs::{BIG5, EUC_KR, Encoding, GBK, SHIFT_JIS};

use crate::page::{CharsetSource, Hints, Page, Tag};

const CHINESE: &str =
    "中国石油天然气集团公司今天宣布，塔里木盆地的一口探井获得高产工业油气流，日产原油一百二十吨。";

fn document(declared: &str, text: &str) -> String {
    let meta = if declared.is_empty() {
        String::new()
    } else {
        format!("<meta charset={declared}>")
    };
    format!("<html><head><title>{text}</title>{meta}</head><body><p>{text}</p></body></html>")
}

fn encoded(encoding: &'static Encoding, html: &str) -> Vec<u8> {
    encoding.encode(html).0.into_owned()
}

/// Parses and checks that title and text came out right; gives the charset and how it was found.
fn read(bytes: &[u8], header: Option<&str>, text: &str) -> (&'static str, CharsetSource) {
    let hints = Hints {
        charset: header.map(str::to_owned),
        ..Hints::default()
    };
    let page = Page::parse(bytes, hints);
    for tag in [Tag::TITLE, Tag::P] {
        let at = page.nodes().iter().position(|n| n.tag == tag).unwrap();
        assert_eq!(
            page.inline_text(at as u32),
            text,
            "{tag} as {}",
            page.charset
        );
    }
    (page.charset.leak(), page.charset_source)
}

#[test]
fn charset_right_declaration() {
    let gbk = encoded(GBK, &document("gb2312", CHINESE));
    assert_eq!(read(&gbk, None, CHINESE), ("gb18030", CharsetSource::Meta));
    let utf8 = document("utf-8", CHINESE).into_bytes();
    assert_eq!(read(&utf8, None, CHINESE), ("utf-8", CharsetSource::Meta));
    assert_eq!(
        read(&utf8, Some("UTF-8"), CHINESE),
        ("utf-8", CharsetSource::Header)
    );
}

#[test]
fn charset_wrong_declaration() {
    let utf8 = document("gb2312", CHINESE).into_bytes();
    assert_eq!(
        read(&utf8, None, CHINESE),
        ("utf-8", CharsetSource::Content)
    );
    assert_eq!(
        read(&utf8, Some("gbk"), CHINESE),
        ("utf-8", CharsetSource::Content)
    );
    let gbk = encoded(GBK, &document("utf-8", CHINESE));
    assert_eq!(read(&gbk, None, CHINESE).0, "gb18030");
    assert_eq!(read(&gbk, Some("utf-8"), CHINESE).0, "gb18030");
    assert_eq!(
        read(&gbk, Some("gbk"), CHINESE),
        ("gb18030", CharsetSource::Header)
    );
}

#[test]
fn charset_undeclared() {
    let gbk = encoded(GBK, &document("", CHINESE));
    assert_eq!(read(&gbk, None, CHINESE), ("gb18030", CharsetSource::Guess));
    let utf8 = document("", CHINESE).into_bytes();
    assert_eq!(
        read(&utf8, None, CHINESE),
        ("utf-8", CharsetSource::Content)
    );
    let ascii = document("", "plain").into_bytes();
    assert_eq!(
        read(&ascii, None, "plain"),
        ("utf-8", CharsetSource::Default)
    );
}

#[test]
fn charset_cut_inside_character() {
    let text = CHINESE.repeat(200);
    for shift in ["", "a"] {
        let text = format!("油{shift}{text}");
        let bytes = encoded(GBK, &document("", &text));
        let page = Page::parse(&bytes, Hints::default());
        assert_eq!(page.charset, "gb18030", "{shift}");
    }
}

#[test]
fn charset_long_ascii_start() {
    for (encoding, declared, name) in [
        (GBK, "utf-8", "gb18030"),
        (GBK, "gbk", "gb18030"),
        (encoding_rs::UTF_8, "gbk", "utf-8"),
    ] {
        let long = format!("<!--{}-->", "x".repeat(70_000));
        let html = format!("{long}{}", document(declared, CHINESE));
        assert_eq!(read(&encoded(encoding, &html), None, CHINESE).0, name);
    }
}

#[test]
fn charset_late_declaration() {
    // Too short to guess from: only the declaration, 40 KB into the page, says what these bytes are.
    let script = format!("<script>{}</script>", "x".repeat(40_000));
    let html = format!("<head>{script}<meta charset=big5><title>中</title></head><p>中</p>");
    assert_eq!(
        read(&encoded(BIG5, &html), None, "中"),
        ("big5", CharsetSource::Meta)
    );
}

#[test]
fn charset_split_declaration() {
    for pad in 16_370..16_400 {
        let html = format!(
            "<!--{}--><meta http-equiv=Content-Type content='text/html; charset=shift_jis'><title>中</title><p>中</p>",
            "x".repeat(pad - 60)
        );
        assert_eq!(read(&encoded(SHIFT_JIS, &html), None, "中").0, "shift_jis");
    }
    let html = format!(
        "<!-- <meta charset=big5> --><meta charset=gbk><title>中</title><p>中</p>{}",
        ""
    );
    assert_eq!(read(&encoded(GBK, &html), None, "中").0, "gb18030");
}

#[test]
fn charset_big5_sjis_euckr() {
    for (encoding, label, name, text) in [
        (BIG5, "big5", "big5", "臺灣中油公司今天宣布新的油氣發現"),
        (
            SHIFT_JIS,
            "shift_jis",
            "shift_jis",
            "石油資源開発は新しい油田を発見した",
        ),
        (
            EUC_KR,
            "euc-kr",
            "euc-kr",
            "한국석유공사는 새로운 유전을 발견했다",
        ),
    ] {
        let bytes = encoded(encoding, &document(label, text));
        assert_eq!(read(&bytes, None, text).0, name);
        assert_eq!(read(&bytes, Some(label), text).0, name);
    }
}

#[test]
fn charset_gb18030_four_bytes() {
    let text = "𠀀字与中文";
    for label in ["gb2312", "gbk", "gb18030"] {
        let bytes = encoded(encoding_rs::GB18030, &document(label, text));
        assert_eq!(read(&bytes, None, text).0, "gb18030");
    }
}

#[test]
fn charset_utf16_bom_or_none() {
    let html = document("utf-16", CHINESE);
    for (little, name) in [(true, "utf-16le"), (false, "utf-16be")] {
        let units = html.encode_utf16();
        let bytes: Vec<u8> = if little {
            units.flat_map(u16::to_le_bytes).collect()
        } else {
            units.flat_map(u16::to_be_bytes).collect()
        };
        let mark: &[u8] = if little { &[0xFF, 0xFE] } else { &[0xFE, 0xFF] };
        let marked = [mark, &bytes].concat();
        assert_eq!(read(&marked, None, CHINESE), (name, CharsetSource::Bom));
        let ascii_rich = html.replacen("<html>", &format!("<html>{}", " ".repeat(300)), 1);
        let units = ascii_rich.encode_utf16();
        let bare: Vec<u8> = if little {
            units.flat_map(u16::to_le_bytes).collect()
        } else {
            units.flat_map(u16::to_be_bytes).collect()
        };
        assert_eq!(read(&bare, None, CHINESE), (name, CharsetSource::Content));
    }
    let marked = [&[0xEF, 0xBB, 0xBF], document("gbk", CHINESE).as_bytes()].concat();
    assert_eq!(
        read(&marked, Some("gbk"), CHINESE),
        ("utf-8", CharsetSource::Bom)
    );
}

#[test]
fn charset_few_broken_bytes() {
    let mut bytes = document("utf-8", &CHINESE.repeat(3)).into_bytes();
    bytes.extend_from_slice(b"<div>\xE4\xB8</div>");
    let page = Page::parse(&bytes, Hints::default());
    assert_eq!(page.charset, "utf-8");
    assert!(page.inline_text(0).ends_with('\u{FFFD}'));
}

#[test]
fn charset_unknown_labels() {
    let bytes = document("klingon", CHINESE).into_bytes();
    assert_eq!(read(&bytes, Some("x-nonsense"), CHINESE).0, "utf-8");
}
