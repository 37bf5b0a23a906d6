use std::io::{Read, Write};

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::{Row, RowAccessor};

use super::*;
use taojin_extract::{Attachment, Comment, Meta, SourceFile};
use taojin_search::index::Watermark;

fn stored(at: u64) -> StoredDocument {
    let comment = |author: Option<&str>, text: &str| Comment {
        author: author.map(str::to_owned),
        published: None,
        text: text.to_owned(),
        ..Comment::default()
    };
    StoredDocument {
        fingerprint: at,
        seq: at,
        fetched_ms: 1_700_000_000_000 + at.cast_signed(),
        changed_ms: 0,
        document: Document {
            url: format!("https://oil.example/{at}"),
            addresses: (0..at % 3)
                .map(|n| format!("https://oil.example/copy/{at}-{n}"))
                .collect(),
            title: (!at.is_multiple_of(3)).then(|| format!("第{at}号\"公告\"")),
            published: Some("2026-05-01".to_owned()).filter(|_| at.is_multiple_of(2)),
            site: at.is_multiple_of(2).then(|| {
                if at.is_multiple_of(4) {
                    "甲站"
                } else {
                    "乙站"
                }
                .to_owned()
            }),
            text: "页岩油产量。\n第二段".to_owned(),
            meta: noted(at.is_multiple_of(5)),
            attachments: Vec::from_iter(at.is_multiple_of(5).then(|| Attachment {
                url: "https://oil.example/1.pdf".to_owned(),
                name: "附件1".to_owned(),
                format: "pdf".to_owned(),
                published: None,
            })),
            file: at.is_multiple_of(7).then(|| SourceFile {
                format: "pdf".to_owned(),
                bytes: 12_345,
                pages: Some(12),
                page_url: Some("https://oil.example/list".to_owned()),
                ..SourceFile::default()
            }),
            comments: (0..at % 4)
                .map(|n| comment((n == 1).then_some("李四"), &format!("评论{n}")))
                .collect(),
            ..Document::default()
        },
    }
}

fn noted(is_notice: bool) -> Meta {
    let mut meta = Meta::default();
    if is_notice {
        meta.add("发文字号".to_owned(), "国发〔2026〕12号".to_owned());
        meta.add("索引号".to_owned(), "000014349/2026-00012".to_owned());
    }
    meta
}

fn exported(format: Format, count: u64) -> Vec<u8> {
    let titles = [("甲站", "甲站日报")].map(|(name, title)| (name.to_owned(), title.to_owned()));
    let mut sink = Sink::new(format, Vec::new(), 480, titles.into()).unwrap();
    for at in 0..count {
        sink.write(stored(at)).unwrap();
    }
    sink.finish().unwrap()
}

#[test]
fn jsonl_round_trip() {
    let plain = exported(Format::Jsonl, 20);
    let packed = exported(Format::JsonlZstd, 20);
    assert_eq!(zstd::decode_all(packed.as_slice()).unwrap(), plain);
    let lines: Vec<&str> = std::str::from_utf8(&plain).unwrap().lines().collect();
    assert_eq!(lines.len(), 20);
    for (at, line) in (0..).zip(lines) {
        let document: Document = serde_json::from_str(line).unwrap();
        assert_eq!(document, stored(at).document);
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["id"], format!("{at:016x}"));
        assert_eq!(value["fetched_ms"], 1_700_000_000_000 + at);
        let title = value["site_title"].as_str();
        assert_eq!(title, at.is_multiple_of(4).then_some("甲站日报"), "{at}");
    }
}

/// Name, attributes and text of an element.
type XmlElement = (String, Vec<(String, String)>, String);

/// The elements of XML in their order.
fn read_xml(bytes: &[u8]) -> Vec<XmlElement> {
    use quick_xml::escape::unescape;
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(std::str::from_utf8(bytes).unwrap());
    let (mut elements, mut open): (Vec<XmlElement>, Vec<usize>) = (Vec::new(), Vec::new());
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(start) => {
                let attributes = start.attributes().map(|attribute| {
                    let attribute = attribute.expect("well-formed");
                    let value = unescape(&attribute.value).unwrap().into_owned();
                    (attribute.key.as_ref().to_owned(), value)
                });
                open.push(elements.len());
                let name = start.name().as_ref().to_owned();
                elements.push((name, attributes.collect(), String::new()));
            }
            Event::End(_) => drop(open.pop().expect("an open element")),
            Event::Text(text) => {
                if let Some(at) = open.last() {
                    elements[*at].2.push_str(&text);
                }
            }
            Event::GeneralRef(name) => {
                let text = unescape(&format!("&{};", &*name)).unwrap().into_owned();
                elements[*open.last().expect("an open element")]
                    .2
                    .push_str(&text);
            }
            Event::Eof => {
                assert!(open.is_empty());
                return elements;
            }
            _ => {}
        }
    }
}

#[test]
fn xml_holds_records() {
    let elements = read_xml(&exported(Format::Xml, 20));
    assert_eq!(elements[0].0, "documents");
    let texts = |name: &str| -> Vec<&str> {
        let named = elements.iter().filter(|(own, ..)| own == name);
        named.map(|(_, _, text)| text.as_str()).collect()
    };
    assert_eq!(texts("document").len(), 20);
    let ids: Vec<String> = (0..20).map(|at| format!("{at:016x}")).collect();
    assert_eq!(texts("id"), ids);
    assert_eq!(texts("发文字号"), ["国发〔2026〕12号"; 4]);
    assert_eq!(texts("site_title"), ["甲站日报"; 5]);
    assert_eq!(texts("title")[0], "第1号\"公告\"");
    assert_eq!(read_xml(&exported(Format::Xml, 0)).len(), 1);
}

#[test]
fn xml_hostile_fields() {
    let mut meta = Meta::default();
    let hostile =
        "]]>&amp;<x a='\"'>\u{0}\u{8}\u{fffe}\u{ffff}<!-- -->\r\n\t<![CDATA[\u{85}\u{fffd}😀";
    let kept = "]]>&amp;<x a='\"'><!-- -->\r\n\t<![CDATA[\u{85}\u{fffd}😀";
    let labels = [
        "片 长", "1号", "a:b", "xmlns", "XML", "field", "-", "<b>", "\u{0}", "a\"b", "\u{d7}",
        "a\nb",
    ];
    for label in labels {
        meta.add(label.to_owned(), hostile.to_owned());
    }
    for (label, value) in [
        ("片长", "171 分钟"),
        ("上映日期", "1993-01-01"),
        ("主演", "甲 / 乙 / 丙"),
        ("_ok-1.2·", "值"),
    ] {
        meta.add(label.to_owned(), value.to_owned());
    }
    let mut document = stored(1);
    document.document.meta = meta;
    document.document.title = Some(hostile.to_owned());
    document.document.text = hostile.to_owned();
    let mut sink = Sink::new(Format::Xml, Vec::new(), 480, TitlesByName::new()).unwrap();
    sink.write(document).unwrap();
    let elements = read_xml(&sink.finish().unwrap());
    let find = |name: &str| -> Vec<&XmlElement> {
        elements.iter().filter(|(own, ..)| own == name).collect()
    };
    assert_eq!(find("title")[0].2, kept);
    let others = find("field");
    assert_eq!(others.len(), labels.len());
    for (label, (_, attributes, text)) in labels.iter().zip(others) {
        let name = label.replace('\u{0}', "");
        assert_eq!(attributes, &[("name".to_owned(), name)]);
        assert_eq!(text, kept, "{label}");
    }
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        find("片长")[0].1,
        [pair("number", "171"), pair("unit", "分钟")]
    );
    assert_eq!(find("片长")[0].2, "171 分钟");
    assert_eq!(find("上映日期")[0].1, [pair("date", "1993-01-01")]);
    assert_eq!(find("主演")[0].2, "甲 / 乙 / 丙");
    assert_eq!(find("_ok-1.2·")[0].2, "值");
}

fn comments(row: &Row, column: usize) -> Vec<(Option<String>, String)> {
    let list = row.get_list(column).unwrap();
    let read = |element: &::parquet::record::Field| match element {
        ::parquet::record::Field::Group(group) => (
            group.get_string(0).ok().cloned(),
            group.get_string(2).unwrap().clone(),
        ),
        other => panic!("{other:?}"),
    };
    list.elements().iter().map(read).collect()
}

#[test]
fn parquet_holds_all_groups() {
    // More than one row group, and the last one not full.
    let bytes = exported(Format::Parquet, 12_345);
    let file = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    assert_eq!(file.num_row_groups(), 3);
    let mut rows = 0;
    for (at, row) in (0..).zip(file.get_row_iter(None).unwrap()) {
        let row = row.unwrap();
        let wanted = stored(at);
        assert_eq!(*row.get_string(0).unwrap(), wanted.id());
        assert_eq!(*row.get_string(1).unwrap(), wanted.document.url);
        assert_eq!(row.get_string(4).ok().cloned(), wanted.document.title);
        // 2026-05-01 00:00 in UTC+8.
        let moment = row.get_timestamp_millis(6).ok();
        assert_eq!(moment, at.is_multiple_of(2).then_some(1_777_564_800_000));
        assert_eq!(*row.get_string(12).unwrap(), wanted.document.text);
        let said: Vec<(Option<String>, String)> = wanted
            .document
            .comments
            .into_iter()
            .map(|c| (c.author, c.text))
            .collect();
        assert_eq!(comments(&row, 13), said, "{at}");
        let fields = format!("{:?}", row.get_list(15).unwrap());
        assert_eq!(
            fields.contains("国发〔2026〕12号"),
            at.is_multiple_of(5),
            "{fields}"
        );
        let files = format!("{:?}", row.get_list(16).unwrap());
        assert_eq!(
            files.contains("https://oil.example/1.pdf"),
            at.is_multiple_of(5),
            "{files}"
        );
        let file = wanted.document.file.as_ref();
        let format = row.get_string(17).ok().cloned();
        assert_eq!(format, file.map(|file| file.format.clone()));
        assert_eq!(row.get_long(18).ok(), file.map(|_| 12_345));
        assert_eq!(row.get_long(19).ok(), file.map(|_| 12));
        let page = row.get_string(20).ok().cloned();
        assert_eq!(page, file.and_then(|file| file.page_url.clone()));
        let addresses = format!("{:?}", row.get_list(22).unwrap());
        for url in &wanted.document.addresses {
            assert!(addresses.contains(url.as_str()), "{url}: {addresses}");
        }
        assert_eq!(
            row.get_list(22).unwrap().len(),
            wanted.document.addresses.len()
        );
        assert_eq!(*row.get_string(23).unwrap(), stored(at).document.markdown());
        let title = row.get_string(21).ok().map(String::as_str);
        assert_eq!(title, at.is_multiple_of(4).then_some("甲站日报"), "{at}");
        rows += 1;
    }
    assert_eq!(rows, 12_345);
}

#[test]
fn empty_export_is_complete() {
    assert_eq!(exported(Format::Jsonl, 0), b"");
    let file = SerializedFileReader::new(bytes::Bytes::from(exported(Format::Parquet, 0))).unwrap();
    assert_eq!(file.metadata().file_metadata().num_rows(), 0);
}

#[test]
fn draft_abandoned_keeps_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out.jsonl");
    std::fs::write(&path, "old").unwrap();
    let mut draft = Draft::new(&path).unwrap();
    draft.write_all(b"half a").unwrap();
    draft.flush().unwrap();
    drop(draft);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    let mut draft = Draft::new(&path).unwrap();
    draft.write_all(b"new").unwrap();
    draft.publish().unwrap();
    let mut text = String::new();
    std::fs::File::open(&path)
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "new");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn draft_leftover_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out.jsonl");
    let left = dir.path().join(".out.jsonl.Ab12Cd.partial");
    let foreign = dir.path().join(".other.jsonl.Ab12Cd.partial");
    std::fs::write(&left, "half").unwrap();
    std::fs::write(&foreign, "half").unwrap();
    let first = Draft::new(&path).unwrap();
    assert!(!left.exists() && foreign.exists());
    // One that is being written stays.
    let second = Draft::new(&path).unwrap();
    first.publish().unwrap();
    second.publish().unwrap();
    assert!(path.exists());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[test]
fn watermark_holds_for_same_export() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mark.json");
    let first = WatermarkFile::read(&path, "all documents").unwrap();
    assert_eq!(first.after(), Watermark::default());
    let reached = Watermark {
        seq: 7,
        fetched_ms: 1_700_000_000_000,
    };
    first.write(reached).unwrap();
    assert_eq!(
        WatermarkFile::read(&path, "all documents").unwrap().after(),
        reached
    );
    let foreign = WatermarkFile::read(&path, "site \"a\"")
        .unwrap_err()
        .to_string();
    assert!(
        foreign.contains("belongs to an export of all documents"),
        "{foreign}"
    );
    for broken in ["", "{}", "7", "{\"export\":\"all documents\"}"] {
        std::fs::write(&path, broken).unwrap();
        let error = WatermarkFile::read(&path, "all documents").unwrap_err();
        assert!(matches!(error, MarkError::Other(_)), "{broken}: {error}");
    }
    let nowhere = WatermarkFile::read(&dir.path().join("no/such/mark"), "x").unwrap();
    assert!(matches!(nowhere.write(reached), Err(MarkError::Io { .. })));
}
