//! What a hostile file may do to its reader: fail, and nothing else.

use std::fs;
use std::io::{Cursor, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use taojin_attachments::contained::{ARGUMENT, Limits};
use taojin_attachments::{Attachment, FileType, Unreadable};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{block_on, patient, reader};
use crate::support::folder::{Folder, assert_has};
use crate::support::wait_until;

const RTF: &[u8] = br"{\rtf1\ansi\ansicpg936 {\info{\title \'cd\'a8\'d6\'aa}}\'cd\'a8\'d6\'aa\par \'d5\'fd\'ce\'c4}";

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer
            .start_file(*name, SimpleFileOptions::default())
            .expect("started");
        writer.write_all(bytes).expect("written");
    }
    writer.finish().expect("finished").into_inner()
}

fn office(folder: &str, part: &str, xml: &str) -> Vec<u8> {
    let relation =
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument";
    let relations = format!(
        "<Relationships><Relationship Id='r' Type='{relation}' Target='{folder}/{part}'/></Relationships>"
    );
    zip(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("_rels/.rels", relations.as_bytes()),
        (&format!("{folder}/{part}"), xml.as_bytes()),
    ])
}

fn open_document(content: &str) -> Vec<u8> {
    zip(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("content.xml", content.as_bytes()),
    ])
}

/// A PDF of these objects.
fn pdf(objects: &[&str]) -> Vec<u8> {
    let numbered = objects.iter().zip(1..);
    let objects: String = numbered
        .map(|(object, number)| format!("{number} 0 obj {object} endobj\n"))
        .collect();
    format!("%PDF-1.4\n{objects}trailer << /Root 1 0 R >>\n%%EOF\n").into_bytes()
}

/// Files that fool, flood or exhaust whoever reads them.
fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let catalog = "<< /Type /Catalog /Pages 2 0 R >>";
    let pages = "<< /Type /Pages /Kids [3 0 R] /Count 2147483647 >>";
    let page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9e9 9e9] /Contents 4 0 R /Resources << /XObject << /X 4 0 R >> >> >>";
    let deep = |open: &str, close: &str| open.repeat(200_000) + "x" + &close.repeat(200_000);
    let namespace = "xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'";
    let word = |body: &str| {
        let xml = format!("<w:document {namespace}><w:body>{body}</w:body></w:document>");
        office("word", "document.xml", &xml)
    };
    let entities: String = (1..40)
        .map(|i| format!("<!ENTITY e{i} '&e{0};&e{0};'>", i - 1))
        .collect();
    let entities = format!("<!DOCTYPE a [<!ENTITY e0 'ha'>{entities}]>");
    let sheet = "<worksheet><dimension ref='A1:XFD1048576'/><sheetData><row r='1048576'><c r='XFD1048576' t='s'><v>99999999</v></c>\
                 </row></sheetData><mergeCells><mergeCell ref='A1:XFD1048576'/></mergeCells></worksheet>";
    let workbook = "<workbook><sheets><sheet name='a' sheetId='1' id='r'/></sheets></workbook>";
    vec![
        ("300 MB of blanks.zip", zip(&[("a.txt", &vec![b' '; 300 << 20])])),
        ("deep elements.docx", word(&deep("<w:p>", "</w:p>"))),
        ("deep tables.docx", word(&deep("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"))),
        ("deep elements.odt", open_document(&deep("<text:p>", "</text:p>"))),
        ("entities.docx", word(&format!("{entities}<w:p><w:r><w:t>&e39;</w:t></w:r></w:p>"))),
        ("entities.odt", open_document(&format!("{entities}<text:p>&e39;</text:p>"))),
        ("far cell.xlsx", zip(&[
            ("[Content_Types].xml", b"<Types/>"),
            ("xl/workbook.xml", workbook.as_bytes()),
            ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
        ])),
        ("blanks.odt", open_document(&"<text:p><text:s text:c='4000000000'/></text:p>".repeat(1000))),
        ("run of characters.ofd", zip(&[
            ("OFD.xml", b"<DocBody><DocRoot>D.xml</DocRoot></DocBody>"),
            ("D.xml", &b"<Page ID='1' BaseLoc='P.xml'/>".repeat(3000)),
            ("P.xml", b"<TextObject Size='1e38'><TextCode DeltaX='g 4000000000 1e38'>text</TextCode></TextObject>"),
        ])),
        ("itself as kid.pdf", pdf(&[catalog, "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 9 >>"])),
        ("itself as form.pdf", pdf(&[
            catalog,
            pages,
            page,
            "<< /Type /XObject /Subtype /Form /Length 24 /Resources << /XObject << /X 4 0 R >> >> >> stream\n/X Do /X Do /X Do /X Do\nendstream",
        ])),
        ("huge length.pdf", pdf(&[catalog, pages, page, "<< /Length 99999999999999 >> stream\nBT ET\nendstream"])),
        ("deep arrays.pdf", pdf(&[catalog, &deep("[", "]")])),
        ("deep dictionaries.pdf", pdf(&[catalog, &deep("<</A", ">>")])),
        ("deep groups.rtf", format!("{{\\rtf1 {}", "{".repeat(3_000_000)).into_bytes()),
        ("binary.rtf", b"{\\rtf1 \\bin2147483647 a}".to_vec()),
        ("deep parts.eml", {
            let part = |i: u32| format!("Content-Type: multipart/mixed; boundary=b{i}\r\n\r\n--b{i}\r\n");
            let parts: String = (0..20_000).map(part).collect();
            format!("From: a@example.com\r\nSubject: a\r\n{parts}").into_bytes()
        }),
        ("no sectors.doc", [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec(), vec![0xff; 504]].concat()),
        ("nothing else.rar", b"Rar!\x1a\x07\x01\0\x33\x92\xb5\xe5\x0a\x01\x05\x06\0\x05\x01\x01\x80\x80\0".to_vec()),
        ("nothing else.7z", [b"7z\xbc\xaf\x27\x1c\0\x04".to_vec(), vec![0xff; 24]].concat()),
    ]
}

fn assert_reads(read: Result<Attachment, Unreadable>) {
    let read = read.expect("an honest file");
    assert_eq!(
        (read.title.as_deref(), &*read.text()),
        (Some("通知"), "通知\n正文")
    );
}

#[test]
fn hostile_files_cost_their_child_only() {
    let reader = reader(patient());
    for (name, bytes) in hostile() {
        let read = block_on(reader.read(&bytes, name));
        if let Ok(attachment) = &read {
            let text = attachment.text();
            assert!(text.len() <= taojin_attachments::MAX_TEXT_BYTES, "{name}");
        }
        assert_ne!(read, Err(Unreadable::TimedOut), "{name}");
        assert_reads(block_on(reader.read(RTF, "a.rtf")));
    }
}

#[test]
fn child_ends_at_each_limit() {
    let zeros = zip(&[("a.txt", &vec![b'a'; 200 << 20])]);
    for (limits, why, case) in [
        (
            Limits {
                time: Duration::ZERO,
                ..patient()
            },
            Unreadable::TimedOut,
            "time",
        ),
        (
            Limits {
                memory_bytes: 200 << 20,
                ..patient()
            },
            Unreadable::Crashed,
            "memory",
        ),
        (
            Limits {
                file_bytes: 1000,
                ..patient()
            },
            Unreadable::TooLarge,
            "size",
        ),
    ] {
        assert_eq!(
            block_on(reader(limits).read(&zeros, "a.zip")),
            Err(why),
            "{case}"
        );
    }
}

/// By the clock it has more, since it comes last at the processor.
#[test]
fn child_ends_at_its_processor_time() {
    let text = "一份很长的文件的内容\n".repeat(2 << 20);
    let texts = zip(&[("a.txt", text.as_bytes())]);
    let limits = Limits {
        time: Duration::from_secs(1),
        ..patient()
    };
    let started = Instant::now();
    let read = block_on(reader(limits).read(&texts, "a.zip"));
    assert_eq!(read, Err(Unreadable::TimedOut), "{:?}", started.elapsed());
    assert!(block_on(reader(patient()).read(&texts, "a.zip")).is_ok());
}

#[test]
fn child_limits_itself() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_taojin"))
        .args([ARGUMENT, "1000000000", "7"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let limits = format!("/proc/{}/limits", child.id());
    let limits_of = || fs::read_to_string(&limits).unwrap_or_default();
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    wait_until("its last limit", || {
        limits_of()
            .lines()
            .map(words)
            .any(|line| line.starts_with("Max core file size 0 0"))
    });
    let limits: Vec<String> = limits_of().lines().map(words).collect();
    for line in [
        "Max cpu time 7 7",
        "Max address space 1000000000 1000000000",
        "Max open files 3 3",
        "Max file size 0 0",
        "Max processes 0 0",
    ] {
        assert!(
            limits.iter().any(|found| found.starts_with(line)),
            "{line}: {limits:#?}"
        );
    }
    child.kill().expect("ended");
    child.wait().expect("reaped");
}

/// The unit tests of the crate show what a confined process can try; this, that the program's child is one before it reads.
#[test]
fn child_confines_itself() {
    // A descriptor that is inherited, as a careless parent leaves one.
    let script = format!("exec \"$0\" {ARGUMENT} 1000000000 7 7</etc/passwd");
    let mut child = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_taojin")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let own = |name: &str| format!("/proc/{}/{name}", child.id());
    let status = || fs::read_to_string(own("status")).unwrap_or_default();
    let has = |line: &str| status().lines().any(|found| found == line);
    wait_until("its filter of system calls", || has("Seccomp:\t2"));
    assert!(has("NoNewPrivs:\t1"), "{}", status());
    let descriptors = fs::read_dir(own("fd")).expect("its descriptors");
    let mut descriptors: Vec<_> = descriptors
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    descriptors.sort();
    assert_eq!(descriptors, ["0", "1", "2"]);
    let stat = fs::read_to_string(own("stat")).expect("its state");
    let (_, stat) = stat.rsplit_once(") ").expect("a name");
    let niceness = stat.split(' ').nth(16);
    assert_eq!(niceness, Some("19"), "{stat}");
    child.kill().expect("ended");
    child.wait().expect("reaped");
}

#[test]
fn child_reads_wanted_kinds_only() {
    let archive = zip(&[("a.pdf", RTF)]);
    let read = |kinds: &[FileType]| {
        let reader = reader(patient()).only(kinds.iter().copied().collect());
        block_on(reader.read(&archive, "a.rtf"))
    };
    let off = |kind: &str| Unreadable::NotRead(format!("{kind} (crawl.attachment_types)"));
    assert_eq!(read(&[FileType::Rtf]), Err(off("a ZIP archive")));
    for (kinds, content) in [
        (&[FileType::Zip, FileType::Pdf][..], Err(off("rtf"))),
        (&[FileType::Zip, FileType::Rtf], Ok(FileType::Rtf)),
    ] {
        let found = read(kinds).expect("an archive");
        let member = found.members[0].content.clone();
        assert_eq!(member.map(|read| read.file_type), content);
    }
}

#[test]
fn extract_prints_attachments() {
    let at = Folder::new("", &[]);
    fs::create_dir(at.file("saved")).expect("made");
    at.write("saved/a.rtf", RTF);
    at.write("saved/b.csv", "名称,数量\n甲,1\n乙,2\n");
    at.write("saved/c.zip", zip(&[("d.rtf", RTF)]));
    let output = at.run(&["extract", "--json", "saved"]).good();
    let lines = output.lines();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(lines[0]["kind"], "attachment");
    assert_eq!(lines[0]["file"]["format"], "rtf");
    assert_eq!(lines[0]["title"], "通知");
    assert_eq!(lines[1]["text"], "名称,数量\n甲,1\n乙,2");
    let part = json!({ "name": "d.rtf", "after": 1 });
    assert_eq!(lines[2]["file"]["parts"], json!([part]), "{lines:?}");
    let output = at.run(&["extract", "saved/c.zip"]).good();
    let texts = ["title      c\n", "file       zip, ", "\n通知\n正文\n"];
    assert_has(&output.out, &texts);
}
