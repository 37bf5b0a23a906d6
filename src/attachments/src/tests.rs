//! Files made in code: what is read of each kind, what is told of the unreadable, and bombs.

mod confined;
mod office;

use std::io::{Cursor, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::honesty::{clean, is_garbage};
use crate::metadata::{choose_title, keep_persons, parse_time};
use crate::{
    Attachment, FileType, FileTypes, Heading, MAX_DEPTH, MAX_MEMBERS, Member, Place, Unreadable,
    read, read_among,
};

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, bytes) in members {
        writer.start_file(*name, options).expect("started");
        writer.write_all(bytes).expect("written");
    }
    writer.finish().expect("finished").into_inner()
}

/// A PDF of one page with this content, which has the Latin font `/F`, the font without codes `/G` and the picture `/I`. It has no
/// table of objects: readers search for them.
fn pdf(content: &str) -> Vec<u8> {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F 5 0 R /G 6 0 R >> \
         /XObject << /I 8 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >> stream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        "<< /Type /Font /Subtype /Type0 /BaseFont /AAAAAA+Song /Encoding /Identity-H /DescendantFonts [7 0 R] >>".to_owned(),
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /AAAAAA+Song /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) \
         /Supplement 0 >> >>"
            .to_owned(),
        "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >> stream\n0\n\
         endstream"
            .to_owned(),
    ];
    let mut file = "%PDF-1.4\n".to_owned();
    for (number, object) in (1..).zip(objects) {
        file.push_str(&format!("{number} 0 obj {object} endobj\n"));
    }
    file.push_str("trailer << /Root 1 0 R >>\n%%EOF\n");
    file.into_bytes()
}

/// Lines of text at a place, one below the other.
fn column(x: u32, word: &str) -> String {
    // Prose is ragged; what is even may be a table.
    let rest = |i: u32| {
        "and then some words that fill it"
            .get(..12 + (i as usize * 7) % 20)
            .unwrap_or_default()
    };
    let line = |i: u32| {
        format!(
            "BT /F 10 Tf {x} {} Td ({word} line {i} of a column {}) Tj ET\n",
            700 - i * 12,
            rest(i)
        )
    };
    (0..12).map(line).collect()
}

fn ofd(content: &str) -> Vec<u8> {
    zip(&[
        (
            "OFD.xml",
            "<ofd:OFD><ofd:DocBody><ofd:DocInfo><ofd:Title>某市人民政府办公室</ofd:Title><ofd:Author>张三</ofd:Author>\
             <ofd:CreationDate>2021-06-02</ofd:CreationDate></ofd:DocInfo><ofd:DocRoot>/Doc_0/Document.xml</ofd:DocRoot>\
             </ofd:DocBody></ofd:OFD>"
                .as_bytes(),
        ),
        (
            "Doc_0/Document.xml",
            b"<ofd:Document><ofd:CommonData><ofd:TemplatePage ID='9' BaseLoc='Tpls/T.xml'/></ofd:CommonData><ofd:Pages>\
              <ofd:Page ID='1' BaseLoc='Pages/P.xml'/></ofd:Pages></ofd:Document>",
        ),
        (
            "Doc_0/Tpls/T.xml",
            "<ofd:Page><ofd:TextObject Boundary='20 250 80 5' Size='4'><ofd:TextCode X='0' Y='4' DeltaX='g 2 4'>模板页\
             </ofd:TextCode></ofd:TextObject></ofd:Page>"
                .as_bytes(),
        ),
        (
            "Doc_0/Pages/P.xml",
            format!("<ofd:Page><ofd:Template TemplateID='9'/><ofd:Content>{content}</ofd:Content></ofd:Page>").as_bytes(),
        ),
    ])
}

fn docx(body: &str) -> Vec<u8> {
    let xml = format!(
        "<w:document xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'><w:body>{body}</w:body></w:document>"
    );
    let relation =
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument";
    zip(&[
        ("[Content_Types].xml", b"<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'/>"),
        (
            "_rels/.rels",
            format!(
                "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'><Relationship Id='r' \
                 Type='{relation}' Target='word/document.xml'/></Relationships>"
            )
            .as_bytes(),
        ),
        ("word/document.xml", xml.as_bytes()),
    ])
}

fn read_ok(bytes: &[u8], name: &str) -> Attachment {
    read(bytes, name).unwrap_or_else(|why| panic!("{name}: {why}"))
}

#[test]
fn file_type_is_of_content() {
    let ods = b"application/vnd.oasis.opendocument.spreadsheet";
    for (bytes, name, file_type) in [
        (pdf(""), "a.doc", FileType::Pdf),
        (ofd(""), "a.pdf", FileType::Ofd),
        (docx(""), "a.wps", FileType::Docx),
        (zip(&[("mimetype", ods)]), "a", FileType::Ods),
        (zip(&[("a.txt", b"a")]), "a.docx", FileType::Zip),
        (b"{\\rtf1 a}".to_vec(), "a.doc", FileType::Rtf),
        (b"Rar!\x1a\x07\0".to_vec(), "a.zip", FileType::Rar),
        (
            b"From: a@example.com\r\nSubject: b\r\n\r\nc".to_vec(),
            "a.txt",
            FileType::Eml,
        ),
        (
            b"<html><body><table><tr><td>1".to_vec(),
            "a.xls",
            FileType::Html,
        ),
        (b"a,b\n1,2\n3,4\n".to_vec(), "a", FileType::Csv),
        (b"a,b\n1,2\n3,4\n".to_vec(), "a.txt", FileType::Txt),
        (b"a note, of one line".to_vec(), "a.csv", FileType::Csv),
    ] {
        assert_eq!(
            FileType::detect(&bytes, name),
            Ok(file_type),
            "{name}: {file_type:?}"
        );
    }
    let png = FileType::detect(b"\x89PNG\r\n\x1a\n", "a.pdf");
    assert_eq!(png, Err(Unreadable::NotRead("a PNG picture".to_owned())));
    for (file_type, suffix) in FileType::ALL {
        assert_eq!(
            (file_type.as_str(), suffix.parse()),
            (suffix, Ok(file_type))
        );
        let json = serde_json::to_string(&file_type).expect("written");
        assert_eq!(json, format!("\"{}\"", file_type.as_str()));
    }
}

#[test]
fn pdf_columns_come_one_after_the_other() {
    let content = format!("{}{}", column(40, "Left"), column(320, "Right"));
    let text = read_ok(&pdf(&content), "a.pdf").text();
    let last_left = text.rfind("Left line 11").expect("left column");
    let first_right = text.find("Right line 0").expect("right column");
    assert!(last_left < first_right, "{text}");
}

#[test]
fn pdf_text_drawn_twice_comes_once() {
    let draw = |x: f32| format!("BT /F 20 Tf {x} 700 Td (Bold heading) Tj ET\n");
    let found = read_ok(
        &pdf(&format!("{}{}{}", draw(100.0), draw(100.3), draw(100.6))),
        "a.pdf",
    );
    assert_eq!(found.text(), "Bold heading");
    assert_eq!(found.parts[0].place, Place::Page(1));
}

#[test]
fn pdf_files_inside_are_members() {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [(x) 5 0 R] >> >> >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Annots [4 0 R] >>",
        "<< /Subtype /FileAttachment /Rect [0 0 9 9] /FS << /F (b.txt) /EF << /F 7 0 R >> >> >>",
        "<< /Type /Filespec /F (a.txt) /EF << /F 6 0 R >> >>",
        "<< /Length 13 >> stream\nwater figures\nendstream",
        "<< /Length 12 >> stream\npinned notes\nendstream",
    ];
    let mut file = "%PDF-1.4\n".to_owned();
    for (number, object) in (1..).zip(objects) {
        file.push_str(&format!("{number} 0 obj {object} endobj\n"));
    }
    file.push_str("trailer << /Root 1 0 R >>\n%%EOF\n");
    let found = read_ok(file.as_bytes(), "a.pdf");
    let members: Vec<(&str, String)> = found
        .members
        .iter()
        .map(|member| {
            (
                &*member.name,
                member.content.as_ref().map(Attachment::text).expect("read"),
            )
        })
        .collect();
    assert_eq!(
        members,
        [
            ("a.txt", "water figures".to_owned()),
            ("b.txt", "pinned notes".to_owned())
        ]
    );
}

#[test]
fn pdf_unreadable_is_told() {
    let codes: String = (0x21..0x61).map(|code| format!("{code:04x}")).collect();
    for (content, why) in [
        (
            format!("BT /G 10 Tf 40 700 Td <{codes}> Tj ET"),
            Unreadable::Garbled,
        ),
        (
            "q 600 0 0 800 0 0 cm /I Do Q".to_owned(),
            Unreadable::Scanned,
        ),
        ("0 0 m 100 100 l S".to_owned(), Unreadable::NoText),
    ] {
        assert_eq!(read(&pdf(&content), "a.pdf"), Err(why), "{content}");
    }
    assert_eq!(
        read(b"%PDF-1.4\nnothing else", "a.pdf"),
        Err(Unreadable::Damaged)
    );
}

#[test]
fn ofd_text_has_template_and_title() {
    let content = "<ofd:TextObject Boundary='60 40 100 12' Size='8'><ofd:TextCode X='0' Y='8' DeltaX='g 7 8'>关于放假的通知\
                   </ofd:TextCode></ofd:TextObject><ofd:TextObject Boundary='20 60 100 5' Size='4'><ofd:TextCode X='0' Y='4' \
                   DeltaX='g 6 4 -24 g 6 4' DeltaY='g 6 0 5'>第一行的文字第二行的文字</ofd:TextCode></ofd:TextObject>";
    let found = read_ok(&ofd(content), "a.ofd");
    assert_eq!(found.title.as_deref(), Some("关于放假的通知"));
    assert_eq!(
        (found.pages, found.authors, found.created),
        (Some(1), vec!["张三".to_owned()], Some(1_622_592_000))
    );
    for text in ["第一行的文字", "第二行的文字", "模板页"] {
        assert!(
            found.parts[0].text.contains(text),
            "{text}: {}",
            found.parts[0].text
        );
    }
}

#[test]
fn docx_table_and_heading() {
    let found = read_ok(
        &docx(
            "<w:p><w:pPr><w:jc w:val='center'/></w:pPr><w:r><w:t>采购公告</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>甲\
             </w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>乙</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
        ),
        "a.docx",
    );
    assert_eq!(found.title.as_deref(), Some("采购公告"));
    assert_eq!(found.text(), "采购公告\n甲\t乙");
}

#[test]
fn headings_are_named_with_their_level() {
    let paragraph = |properties: &str, text: &str| {
        format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
    };
    let body = [
        paragraph("<w:outlineLvl w:val='0'/>", "第一章"),
        paragraph("", "正文"),
        paragraph("<w:outlineLvl w:val='2'/>", "小节"),
        paragraph("<w:outlineLvl w:val='9'/>", "也是正文"),
    ];
    let heading = |level, text: &str| Heading {
        level,
        text: text.to_owned(),
    };
    let found = read_ok(&docx(&body.concat()), "a.docx");
    assert_eq!(found.headings, [heading(1, "第一章"), heading(3, "小节")]);
    let content = "<office:text><text:h text:outline-level='2'>概况</text:h><text:p>正文</text:p><text:h>附则</text:h></office:text>";
    let odt: &[(&str, &[u8])] = &[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("content.xml", content.as_bytes()),
    ];
    let found = read_ok(&zip(odt), "a.odt");
    assert_eq!(found.headings, [heading(2, "概况"), heading(1, "附则")]);
}

#[test]
fn password_is_told() {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("created");
    file.create_stream("/EncryptedPackage").expect("created");
    let bytes = file.into_inner().into_inner();
    assert_eq!(read(&bytes, "a.docx"), Err(Unreadable::Password));
    let manifest = b"<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>";
    let odt: &[(&str, &[u8])] = &[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("META-INF/manifest.xml", manifest),
        ("content.xml", b"\x12\x80"),
    ];
    assert_eq!(read(&zip(odt), "a.odt"), Err(Unreadable::Password));
}

#[test]
fn rtf_charsets() {
    for (rtf, text) in [
        (
            r"{\rtf1\ansi\ansicpg936{\fonttbl{\f0\fnil SimSun;}}\f0 \'d6\'d0\'b9\'fa\par a}",
            "中国\na",
        ),
        (
            r"{\rtf1\ansi{\fonttbl{\f0\fcharset134 SimSun;}{\f1\fcharset238 Arial;}}\f0\'d6\'d0\f1\'b3}",
            "中ł",
        ),
        (
            r"{\rtf1\uc1\u20013?\u22269?{\*\hidden no}{\info{\title t}}}",
            "中国",
        ),
        (r"{\rtf1 a\cell b\row c\u-10179?\u-8704?}", "a\tb\nc😀"),
    ] {
        assert_eq!(read_ok(rtf.as_bytes(), "a.rtf").text(), text, "{rtf}");
    }
}

#[test]
fn rtf_hidden_text() {
    for (rtf, text, case) in [
        (r"{\rtf1 a{\v b}c\v d\v0 e}", "ace", "hidden"),
        (
            r"{\rtf1 a{\deleted b}{\revised c}\deleted d\plain e}",
            "ace",
            "deleted",
        ),
        (
            r"{\rtf1 a\par{\shp{\*\shpinst{\sp{\sn x}}{\shptxt b\par}}{\shprslt b\par}}c}",
            "a\nb\nc",
            "a shape in two forms",
        ),
        (
            r"{\rtf1\pard\tab a\par\pard\intbl\cell b\cell\row}",
            "a\n\tb",
            "indent and empty cell",
        ),
    ] {
        assert_eq!(read_ok(rtf.as_bytes(), "a.rtf").text(), text, "{case}");
    }
}

#[test]
fn open_document_sheets_and_book_chapters() {
    let ods: &[(&str, &[u8])] = &[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        (
            "content.xml",
            "<office:spreadsheet><table:table table:name='人员'><table:table-row><table:table-cell><text:p>甲</text:p>\
             </table:table-cell><table:table-cell table:number-columns-repeated='16000'><text:p>乙</text:p></table:table-cell>\
             </table:table-row></table:table></office:spreadsheet>"
                .as_bytes(),
        ),
    ];
    let found = read_ok(&zip(ods), "a.ods");
    assert_eq!(
        (&found.parts[0].place, &*found.text()),
        (&Place::Sheet("人员".to_owned()), "甲\t乙")
    );
    let epub: &[(&str, &[u8])] = &[
        ("META-INF/container.xml", b"<rootfile full-path='O/b.opf'/>"),
        (
            "O/b.opf",
            b"<dc:title>A book</dc:title><item id='a' href='1%20a.xhtml'/><item id='b' href='2.xhtml'/><itemref idref='b'/>\
              <itemref idref='a'/>",
        ),
        ("O/1 a.xhtml", b"<html><p>A book ends</p></html>"),
        ("O/2.xhtml", b"<html><p>A book begins</p></html>"),
    ];
    let found = read_ok(&zip(epub), "a.epub");
    assert_eq!(
        (found.title.as_deref(), &*found.text()),
        (Some("A book"), "A book begins\nA book ends")
    );
    assert_eq!(found.parts[1].place, Place::Chapter(2));
}

#[test]
fn page_saved_as_another_file() {
    let table = "<html><head><title>粮价</title></head><body><table><tr><td>地名</td><td></td><td>价</td></tr><tr><td><p>北镇\
                 </p><p>南镇</p></td><td>元</td><td>3.5</td></tr></table><div>单位：<b>元</b></div><div>完</div></body></html>";
    let shown = "地名\t\t价\n北镇 南镇\t元\t3.5\n单位：元\n完";
    let mhtml = format!(
        "MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=\"x\"\r\n\r\n--x\r\nContent-Type: text/html; charset=\"utf-8\"\
         \r\nContent-Transfer-Encoding: 8bit\r\n\r\n{table}\r\n--x\r\nContent-Location: a.png\r\nContent-Type: image/png\r\n\r\nPNG\
         \r\n--x--\r\n"
    );
    for (bytes, name) in [(table, "a.xls"), (&*mhtml, "a.doc")] {
        let found = read_ok(bytes.as_bytes(), name);
        assert_eq!(found.file_type, FileType::Html, "{name}");
        assert_eq!(
            (found.title.as_deref(), &*found.text()),
            (Some("粮价"), shown),
            "{name}"
        );
        assert_eq!(found.members, [], "{name}");
    }
}

#[test]
fn mail_body_and_attachment() {
    let mail = "From: =?GB2312?B?1cXI/Q==?= <a@example.com>\r\nSubject: =?GB2312?B?zajWqg==?=\r\nDate: Fri, 27 Nov 2026 10:00:00 +0800\
                \r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; \
                charset=GB2312\r\n\r\n正文其实是另一种编码\r\n--b\r\nContent-Type: application/octet-stream; name=\"x.csv\"\r\n\
                Content-Disposition: attachment; filename=\"x.csv\"\r\n\r\na,b\r\n1,2\r\n--b--\r\n";
    let found = read_ok(mail.as_bytes(), "a.eml");
    assert_eq!(
        (found.title.as_deref(), &found.authors[..]),
        (Some("通知"), &["张三".to_owned()][..])
    );
    assert_eq!(found.text(), "通知\n正文其实是另一种编码");
    let Member { name, content } = &found.members[0];
    assert_eq!(
        (&**name, content.as_ref().map(|a| a.file_type)),
        ("x.csv", Ok(FileType::Csv))
    );
}

#[test]
fn zip_names_and_members() {
    let mut bytes = zip(&[
        ("xx.txt", "第一份文件的内容".as_bytes()),
        ("b.png", b"\x89PNG\r\n\x1a\n"),
    ]);
    // In GBK, without a flag.
    while let Some(at) = bytes.windows(2).position(|window| window == b"xx") {
        bytes[at..at + 2].copy_from_slice(b"\xb8\xb1");
    }
    let found = read_ok(&bytes, "a.zip");
    assert_eq!(found.text(), "副.txt\nb.png");
    assert_eq!(
        found.members[0].content.as_ref().expect("read").text(),
        "第一份文件的内容"
    );
    assert_eq!(
        found.members[1].content,
        Err(Unreadable::NotRead("a PNG picture".to_owned()))
    );
}

/// Bytes that are written in hexadecimal.
fn bytes(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    let pairs = pairs.map(|pair| str::from_utf8(pair).expect("two digits"));
    pairs
        .map(|pair| u8::from_str_radix(pair, 16).expect("two digits"))
        .collect()
}

#[test]
fn rar_and_7z_members() {
    let rar = bytes(
        "526172211a070100c51a3332030100009b5254561103061c041c0061b7a10c00000452415253726172732f302e31322e330a6d61726b\
         65722d736368656d613d310a16fcbc543c0203233106b0092000000000ee9d3ff080030005612e7478742202001041f2e2e57f8769b4\
         5d0454b0558bfd79c34ce1e8068be1f62eb158f24875d4c3b72e340432fa23dd6a092a020c11522841809092863743e5cd6b39bdb3fa\
         b31ccfec6cba73a04936c997ae482f8890d019b23a3503050000",
    );
    let seven_z = bytes(
        "377abcaf271c00046e21f63734000000000000003700000000000000e196ec99e004af002c5d0072a38d6e7673e1ed065185ebc774b4\
         2bed56ca51ee2edb9716048ff9113604ff2bbfbfddfff1e1fa5decaf0000010406000109340a01ed97e48400070b010001212101160c\
         84b000080a01ee9d3ff000000501110d0061002e0074007800740000000000",
    );
    for (bytes, name) in [(rar, "a.rar"), (seven_z, "a.7z")] {
        let found = read_ok(&bytes, name);
        assert_eq!(found.text(), "a.txt", "{name}");
        let member = found.members[0].content.as_ref().expect("read");
        assert_eq!(member.text(), "压缩文件里的一份通知".repeat(40), "{name}");
    }
}

#[test]
fn kinds_that_are_off_are_not_parsed() {
    let only = |kinds: &[FileType]| kinds.iter().copied().collect::<FileTypes>();
    let off = |kind: &str| {
        Err(Unreadable::NotRead(format!(
            "{kind} (crawl.attachment_types)"
        )))
    };
    let rtf = b"{\\rtf1 text}";
    let mail = b"From: a@example.com\r\nSubject: b\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\
                 Content-Type: application/pdf; name=a.pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\n\r\n{\\rtf1 text}\r\n--b--\r\n";
    let kind_of = |bytes: &[u8], name: &str, wanted: &[FileType]| {
        read_among(bytes, name, only(wanted)).map(|read| read.file_type)
    };
    for (bytes, name, wanted, found, case) in [
        (
            &rtf[..],
            "a.pdf",
            &[FileType::Pdf][..],
            off("rtf"),
            "another name",
        ),
        (
            rtf,
            "a.pdf",
            &[FileType::Rtf],
            Ok(FileType::Rtf),
            "by content",
        ),
        (
            &zip(&[("a.rtf", rtf)]),
            "a.pdf",
            &[FileType::Pdf],
            off("a ZIP archive"),
            "not opened",
        ),
        (
            &docx(""),
            "a.zip",
            &[FileType::Zip],
            off("docx"),
            "an archive that is none",
        ),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
            "a.doc",
            &[FileType::Pdf],
            off("a compound file"),
            "not opened",
        ),
    ] {
        assert_eq!(kind_of(bytes, name, wanted), found, "{name}: {case}");
    }
    for (bytes, name, outer) in [
        (zip(&[("a.pdf", rtf)]), "a.zip", FileType::Zip),
        (mail.to_vec(), "a.eml", FileType::Eml),
    ] {
        let read = |wanted: &[FileType]| {
            let found = read_among(&bytes, name, only(wanted)).expect("read");
            let [member] = &found.members[..] else {
                panic!("{name}: {:?}", found.members)
            };
            member.content.clone().map(|read| read.file_type)
        };
        assert_eq!(read(&[outer, FileType::Rtf]), Ok(FileType::Rtf), "{name}");
        assert_eq!(read(&[outer, FileType::Pdf]), off("rtf"), "{name}");
    }
    let all: FileTypes = FileType::ALL.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!((all, all.to_string().parse()), (FileTypes::ALL, Ok(all)));
    assert_eq!("".parse(), Ok(only(&[])));
}

#[test]
fn bombs_are_bounded() {
    let mut picture = b"\x89PNG\r\n\x1a\n".to_vec();
    picture.resize(40 << 20, 0);
    let zeros = zip(&[("a.png", &picture)]);
    let many_times: Vec<(String, &[u8])> =
        (0..10).map(|i| (format!("{i}.zip"), &zeros[..])).collect();
    let many_times: Vec<(&str, &[u8])> = many_times
        .iter()
        .map(|(name, bytes)| (&**name, *bytes))
        .collect();
    let found = read_ok(&zip(&many_times), "a.zip");
    let why = |member: &Member| member.content.as_ref().err().cloned();
    let inner = found
        .members
        .iter()
        .filter_map(|m| m.content.as_ref().ok())
        .flat_map(|a| &a.members)
        .filter_map(why);
    assert!(
        inner
            .chain(found.members.iter().filter_map(why))
            .any(|why| why == Unreadable::TooLarge)
    );

    let mut nested = b"text".to_vec();
    for _ in 0..MAX_DEPTH + 3 {
        nested = zip(&[("a.zip", &nested)]);
    }
    let mut level = &read_ok(&nested, "a.zip");
    let mut depth = 0;
    while let Ok(inner) = &level.members[0].content {
        (level, depth) = (inner, depth + 1);
    }
    assert_eq!(
        (depth, &level.members[0].content),
        (MAX_DEPTH, &Err(Unreadable::TooLarge))
    );

    let names: Vec<String> = (0..MAX_MEMBERS + 1).map(|i| format!("{i}.txt")).collect();
    let members: Vec<(&str, &[u8])> = names.iter().map(|name| (&**name, &b"text"[..])).collect();
    let found = read_ok(&zip(&members), "a.zip");
    assert_eq!((found.members.len(), found.is_cut), (MAX_MEMBERS, true));

    let entities: String = (1..30)
        .map(|i| format!("<!ENTITY e{i} '&e{};&e{};'>", i - 1, i - 1))
        .collect();
    let bomb = format!(
        "<!DOCTYPE a [<!ENTITY e0 'haha'>{entities}]><office:text><text:p>one &e29;</text:p></office:text>"
    );
    let odt: &[(&str, &[u8])] = &[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("content.xml", bomb.as_bytes()),
    ];
    assert_eq!(read_ok(&zip(odt), "a.odt").text(), "one");
}

#[test]
fn damaged_files_are_read_or_told() {
    let text = format!("{}BT /G 9 Tf <00410042> Tj ET", column(40, "Left"));
    let files = [
        pdf(&text),
        ofd("<ofd:TextObject Boundary='0 0 9 9'><ofd:TextCode DeltaX='g 3 4'>文字</ofd:TextCode></ofd:TextObject>"),
        docx("<w:p><w:r><w:t>文字</w:t></w:r></w:p>"),
        zip(&[("a.pdf", &pdf(&text)), ("b.txt", b"text")]),
        br"{\rtf1\ansicpg936{\fonttbl{\f0\fcharset134 a;}}\f0\u20013?\'d6\'d0\par}".to_vec(),
        b"From: a@example.com\nSubject: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\ntext\n--b--".to_vec(),
    ];
    let mut state: u64 = 0x7461_6f6a_696e;
    let mut below = |end: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize % end
    };
    for file in files {
        assert!(read(&file, "a").is_ok());
        for round in 0..60 {
            let mut copy = file.clone();
            for _ in 0..=round / 4 {
                let at = below(copy.len());
                copy[at] = below(256) as u8;
            }
            if round % 3 == 0 {
                copy.truncate(below(file.len()));
            }
            // Panics of the libraries are caught, and told.
            assert_ne!(read(&copy, "a"), Err(Unreadable::TimedOut));
        }
    }
}

#[test]
fn title_is_sane() {
    let text = "关于印发办法的通知\n各县（市、区）人民政府";
    for (declared, heading, title, case) in [
        (
            "关于印发办法的通知",
            "别的标题",
            Some("关于印发办法的通知"),
            "declared and shown",
        ),
        (
            "去年的另一个文件",
            "关于印发办法的通知",
            Some("关于印发办法的通知"),
            "left over from another document",
        ),
        ("Microsoft Word - 通知.doc", "", None, "printed by Word"),
        ("通知20211102.docx", "", None, "a file name"),
        ("某市人民政府办公室", "", None, "an office"),
        (
            "关于设立某中心",
            "",
            Some("关于设立某中心"),
            "ends like an office",
        ),
        ("PowerPoint 演示文稿", "", None, "of the program"),
        ("文档1", "", None, "of the program, with a number"),
        ("report", "", None, "the name of the file"),
        (
            "去年的另一个文件名",
            "",
            Some("去年的另一个文件名"),
            "nothing else is shown",
        ),
    ] {
        let found = choose_title(
            Some(declared.to_owned()),
            &[heading.to_owned()],
            text,
            "a/report.pdf",
        );
        assert_eq!(found.as_deref(), title, "{case}");
    }
}

#[test]
fn persons_and_days_are_sane() {
    let authors = [
        "Administrator",
        "张三；李四",
        "微软用户",
        "iOFD® 2.1.1 ©2019",
        "张三",
    ]
    .map(str::to_owned);
    assert_eq!(keep_persons(&authors), ["张三", "李四"]);
    for (text, seconds) in [
        ("2021-06-02", Some(1_622_592_000)),
        ("2021-06-02T08:00:00+08:00", Some(1_622_592_000)),
        ("2021-06-02T00:00:00.5", Some(1_622_592_000)),
        ("2013-12-23T23:15:00Z", None),
        ("1601-01-01T00:00:00Z", None),
        ("soon", None),
    ] {
        assert_eq!(parse_time(text), seconds, "{text}");
    }
}

#[test]
fn garbage_is_told_from_text() {
    let rare: String = ('\u{9ea0}'..'\u{9ee0}').collect();
    for (text, garbage, case) in [
        (
            "关于印发《办法》的通知，2021 年 6 月 2 日",
            false,
            "Simplified",
        ),
        (
            "國立臺灣大學關於招生的公告，請各單位轉知",
            false,
            "Traditional",
        ),
        (
            "日本語の文書です。図書館で売られている。",
            false,
            "Japanese",
        ),
        ("الخطوط العربية", false, "Arabic"),
        ("∑ x² ≤ ∞, a → b", false, "mathematics"),
        ("\u{fffd}\u{fffd}\u{fffd} a", true, "replacement characters"),
        ("\u{e001}\u{e002}\u{f0a7} 的", true, "private characters"),
        ("૽⤧⠙ᎀ૽⤧⠙", true, "scripts in no order"),
        (&*rare, true, "rare characters"),
    ] {
        assert_eq!(is_garbage(text), garbage, "{case}");
    }
    assert_eq!(
        clean("⻓⼈ ﬁt\u{200b}\u{a0}x \r\n\r\n\n\na\u{ad}b"),
        "长人 fit x\n\nab"
    );
}
