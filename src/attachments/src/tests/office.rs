//! Office Open XML as other programs than Office write it, and what Office shows of a file.

use super::{read_ok, zip};
use crate::han_numbers::HanStyle;
use crate::number_format::{NumberFormat, built_in};
use crate::{FileType, Place};

const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// A part with the relations of it, each an identifier, a kind and a target.
fn part(path: &str, xml: &str, relations: &[(&str, &str, &str)]) -> Vec<(String, String)> {
    let (folder, name) = path
        .rsplit_once('/')
        .map_or(("", path), |(folder, name)| (folder, name));
    let relations: String = relations
        .iter()
        .map(|(id, kind, target)| {
            format!("<Relationship Id='{id}' Type='{RELATIONS}/{kind}' Target='{target}'/>")
        })
        .collect();
    let slash = if folder.is_empty() { "" } else { "/" };
    vec![
        (path.to_owned(), xml.to_owned()),
        (
            format!("{folder}{slash}_rels/{name}.rels"),
            format!("<Relationships>{relations}</Relationships>"),
        ),
    ]
}

fn package(parts: Vec<Vec<(String, String)>>) -> Vec<u8> {
    let parts: Vec<(String, String)> = parts
        .into_iter()
        .flatten()
        .filter(|(_, xml)| !xml.is_empty())
        .collect();
    let parts: Vec<(&str, &[u8])> = parts
        .iter()
        .map(|(name, xml)| (&**name, xml.as_bytes()))
        .collect();
    zip(&parts)
}

/// A workbook of one sheet.
fn xlsx(sheet: &str, styles: &str, strings: &str) -> Vec<u8> {
    package(vec![
        part("", "", &[("a", "officeDocument", "xl/workbook.xml")]),
        part(
            "xl/workbook.xml",
            "<workbook><sheets><sheet name='表' sheetId='1' r:id='a'/></sheets></workbook>",
            &[
                ("a", "worksheet", "worksheets/sheet1.xml"),
                ("b", "styles", "styles.xml"),
                ("c", "sharedStrings", "s.xml"),
            ],
        ),
        part(
            "xl/worksheets/sheet1.xml",
            &format!("<worksheet>{sheet}</worksheet>"),
            &[],
        ),
        part(
            "xl/styles.xml",
            &format!("<styleSheet>{styles}</styleSheet>"),
            &[],
        ),
        part("xl/s.xml", &format!("<sst>{strings}</sst>"), &[]),
    ])
}

/// A document with more parts, which relations `n`, `s`, `d` name as numbering, styles and SmartArt.
fn docx(body: &str, numbering: &str, styles: &str, diagram: &str) -> Vec<u8> {
    package(vec![
        part("", "", &[("a", "officeDocument", "/WORD\\Document.XML")]),
        part(
            "word/document.xml",
            &format!(
                "<q:document xmlns:q='http://purl.oclc.org/ooxml/wordprocessingml/main'><q:body>{body}</q:body></q:document>"
            ),
            &[
                ("n", "numbering", "lists.xml"),
                ("s", "styles", "looks.xml"),
                ("d", "diagramData", "../d.xml"),
            ],
        ),
        part(
            "word/lists.xml",
            &format!("<w:numbering>{numbering}</w:numbering>"),
            &[],
        ),
        part(
            "word/looks.xml",
            &format!("<w:styles>{styles}</w:styles>"),
            &[],
        ),
        part(
            "d.xml",
            &format!("<dgm:dataModel>{diagram}</dgm:dataModel>"),
            &[],
        ),
    ])
}

#[test]
pub(super) fn packages_of_other_programs() {
    let strings =
        "<x:sst><x:si><x:t><![CDATA[橡木桌]]></x:t></x:si><x:si><x:t>椅</x:t></x:si></x:sst>";
    let sheet = "<x:worksheet><x:sheetData><x:row><x:c t='s'><x:v>0</x:v></x:c><x:c t='s'><x:v>1</x:v></x:c></x:row>\
                 </x:sheetData></x:worksheet>";
    let book =
        "<x:workbook><x:sheets><x:sheet name='货单' sheetId='7' q:id='k'/></x:sheets></x:workbook>";
    let by_relations = package(vec![
        part("", "", &[("a", "officeDocument", "book.xml")]),
        part(
            "book.xml",
            book,
            &[
                ("k", "worksheet", "/Parts\\One.xml"),
                ("b", "sharedStrings", "STRINGS.xml"),
            ],
        ),
        part("parts/one.xml", sheet, &[]),
        part("strings.xml", strings, &[]),
    ]);
    let types = "<Types><Override PartName='/b.xml' ContentType='application/vnd.openxmlformats-officedocument.spreadsheetml.\
                 sheet.main+xml'/><Override PartName='/One.xml' ContentType='application/vnd.openxmlformats-officedocument.\
                 spreadsheetml.worksheet+xml'/></Types>";
    let sheet = "<worksheet><sheetData><row><c t='inlineStr'><is><r><t>橡木</t></r><r><t>桌</t></r></is></c><c t='str'>\
                 <v>椅</v></c></row></sheetData></worksheet>";
    let by_types = zip(&[
        ("[CONTENT_TYPES].XML", types.as_bytes()),
        ("B.xml", book.as_bytes()),
        ("one.XML", sheet.as_bytes()),
    ]);
    for (bytes, case) in [(by_relations, "relations"), (by_types, "content types")] {
        let found = read_ok(&bytes, "a.xls");
        assert_eq!(found.file_type, FileType::Xlsx, "{case}");
        assert_eq!(
            found.parts[0].place,
            Place::Sheet("货单".to_owned()),
            "{case}"
        );
        assert_eq!(found.text(), "橡木桌\t椅", "{case}");
    }
    let slides = package(vec![
        part("", "", &[("a", "officeDocument", "p/main.xml")]),
        part(
            "p/main.xml",
            "<p:presentation><p:sldId id='256' r:id='y'/><p:sldId id='257' r:id='x'/><p:sldId id='258' r:id='z'/></p:presentation>",
            &[
                ("x", "slide", "one.xml"),
                ("y", "slide", "two.xml"),
                ("z", "slide", "three.xml"),
            ],
        ),
        part(
            "p/one.xml",
            "<p:sld><p:sp><a:p><a:r><a:t>后一页</a:t></a:r></a:p></p:sp></p:sld>",
            &[],
        ),
        part(
            "p/two.xml",
            "<p:sld><p:sp><p:ph type='title'/><a:p><a:r><a:t>前一页</a:t></a:r></a:p></p:sp><a:tbl><a:tr><a:tc><a:p/></a:tc>\
             <a:tc><a:p><a:r><a:t>乙</a:t></a:r></a:p></a:tc></a:tr></a:tbl></p:sld>",
            &[],
        ),
        part(
            "p/three.xml",
            "<p:sld show='0'><a:p><a:r><a:t>藏起来的一页</a:t></a:r></a:p></p:sld>",
            &[],
        ),
    ]);
    let found = read_ok(&slides, "a.pptx");
    assert_eq!(
        (found.title.as_deref(), found.pages),
        (Some("前一页"), Some(2))
    );
    assert_eq!(found.text(), "前一页\n\t乙\n后一页");
}

#[test]
fn number_formats() {
    for (code, value, shown) in [
        ("General", 0.1 + 0.2, "0.3"),
        ("General", 2.0 / 3.0, "0.666666667"),
        ("General", -1234.5, "-1234.5"),
        ("General", 31_415_926_535_897.0, "31415926535897"),
        ("General", 6.02e23, "6.02E+23"),
        ("G/通用格式\"吨\"", 12.0, "12吨"),
        ("0.00%", 0.12345, "12.35%"),
        ("0%", 1.005, "101%"),
        ("0.00", 1.005, "1.01"),
        ("#,##0.00", 9_876_543.2, "9,876,543.20"),
        ("#,##0;(#,##0)", -4321.0, "(4,321)"),
        ("[$€-2]\\ #,##0.0", 1999.96, "€ 2,000.0"),
        ("[>=10000]0!.0,\"万\";0", 65_432.0, "6.5万"),
        ("[>=10000]0!.0,\"万\";0", 654.0, "654"),
        ("0.0,,", 12_345_678.0, "12.3"),
        ("000-0000-0000", 13_800_001_111.0, "138-0000-1111"),
        ("00000", 42.0, "00042"),
        ("0.###", 2.5, "2.5"),
        ("0.00E+00", 123_456.0, "1.23E+05"),
        ("# ?/?", 2.75, "2 3/4"),
        ("0;-0;;@", 0.0, ""),
        (built_in(43), 0.0, "-"),
        (built_in(44), 88.0, "¥ 88.00"),
        ("[DBNum2][$-804]General", 10_203.0, "壹万零贰佰零叁"),
        ("[DBNum1]General", 16.0, "十六"),
        ("yyyy-mm-dd hh:mm:ss", 36_526.75, "2000-01-01 18:00:00"),
        ("yyyy\"年\"m\"月\"d\"日\";@", 36_526.0, "2000年1月1日"),
        ("[$-804]aaaa", 36_526.0, "星期六"),
        (
            "[DBNum1]yyyy\"年\"m\"月\"d\"日\"",
            36_556.0,
            "二〇〇〇年一月三十一日",
        ),
        ("d-mmm-yy", 36_526.0, "1-Jan-00"),
        ("h:mm AM/PM", 0.5625, "1:30 PM"),
        ("上午/下午h\"时\"", 0.25, "上午6时"),
        ("[h]:mm", 1.75, "42:00"),
        ("mm:ss.0", 0.000_118, "00:10.2"),
        ("h:mm:ss", 0.999_999, "0:00:00"),
        (built_in(57), 36_526.0, "2000年1月"),
        (built_in(58), 36_526.0, "1月1日"),
        (built_in(31), 60.0, "1900年2月29日"),
        (built_in(14), -1.0, "-1"),
        ("@", 5.0, "5"),
    ] {
        assert_eq!(
            NumberFormat::new(code).show(value, false),
            shown,
            "{code}: {value}"
        );
    }
    let day = NumberFormat::new("yyyy/m/d");
    assert_eq!(day.show(35_064.0, true), "2000/1/1", "counted from 1904");
    assert_eq!(
        NumberFormat::new("0;0;0;\"编号\"@").show_text("甲"),
        "编号甲"
    );
    assert_eq!(HanStyle::Everyday.count(100_010_000), "一亿零一万");
}

#[test]
fn sheet_cells_are_shown() {
    let styles = "<numFmts><numFmt numFmtId='200' formatCode='0.0&quot;℃&quot;'/></numFmts><cellXfs><xf numFmtId='0'/>\
                  <xf numFmtId='200'/></cellXfs>";
    let strings = "<si><t>水温_x000D_表</t><rPh sb='0' eb='1'><t>すいおん</t></rPh></si><si><t>_x005F_x000D_</t></si>";
    let sheet = "<cols><col min='4' max='4' hidden='1'/></cols><sheetData><row r='2'><c r='B2' t='s'><v>0</v></c></row>\
                 <row r='3'><c r='B3' t='s'><v>1</v></c><c r='C3'/><c r='D3' t='str'><v>藏列</v></c><c r='E3' t='b'><v>1</v></c>\
                 </row><row r='4' hidden='1'><c r='B4'><v>4444</v></c></row><row r='5'><c r='C5' t='e'><v>#N/A</v></c>\
                 <c r='E5' s='1'><v>21.25</v></c></row><row r='6'><c r='B6'><v>1</v></c><c r='C6'><v>2</v></c><c r='XFD6'><v>9</v>\
                 </c></row></sheetData><mergeCells><mergeCell ref='B6:C7'/></mergeCells>";
    let text = read_ok(&xlsx(sheet, styles, strings), "a.xlsx").text();
    assert_eq!(
        text,
        "水温 表\n_x000D_\t\tTRUE\n\t#N/A\t21.3℃\n1\t\t\t\t\t\t\t\t\t\t\t9"
    );
}

#[test]
fn word_shows_text_without_changes() {
    let run = |text: &str| format!("<q:r><q:t>{text}</q:t></q:r>");
    let vanished = "<q:r><q:rPr><q:vanish/></q:rPr><q:t>隐去</q:t></q:r>";
    let by_style = "<q:r><q:rPr><q:rStyle q:val='H'/></q:rPr><q:t>隐去</q:t></q:r>";
    let shape = |form: &str, text: &str| {
        format!(
            "<mc:{form}><q:txbxContent><q:p>{}</q:p></q:txbxContent></mc:{form}>",
            run(text)
        )
    };
    let body = [
        format!("<q:p>{}{vanished}{by_style}<q:del>{}</q:del>{}</q:p>", run("桥长"), run("删去"), run("九十米")),
        format!("<q:p><q:pPr><q:rPr><q:del/></q:rPr></q:pPr>{}</q:p><q:p>{}</q:p>", run("前半"), run("后半")),
        format!("<q:p><q:moveFrom>{}</q:moveFrom></q:p><q:p><q:moveTo>{}</q:moveTo></q:p>", run("移来"), run("移来")),
        format!(
            "<q:p>{}<q:r><mc:AlternateContent>{}{}</mc:AlternateContent></q:r></q:p>",
            run("图："),
            shape("Choice", "河道"),
            shape("Fallback", "河道")
        ),
        format!(
            "<q:p><mc:AlternateContent><mc:Choice><pic/></mc:Choice>{}</mc:AlternateContent></q:p>",
            shape("Fallback", "旧图")
        ),
        "<q:p><q:r><dgm:relIds r:dm='d'/></q:r></q:p>".to_owned(),
        "<q:p><q:r><q:fldChar q:fldCharType='begin'/></q:r><q:r><q:t>域代码</q:t></q:r><q:r><q:fldChar \
         q:fldCharType='separate'/></q:r><q:r><q:t>第3页</q:t></q:r><q:r><q:fldChar q:fldCharType='end'/></q:r></q:p>"
            .to_owned(),
        format!(
            "<q:tbl><q:tr><q:tc><q:tcPr><q:vMerge q:val='restart'/></q:tcPr><q:p>{}</q:p></q:tc><q:tc><q:tcPr><q:gridSpan \
             q:val='2'/></q:tcPr><q:p>{}</q:p></q:tc><q:tc><q:p>{}</q:p></q:tc></q:tr><q:tr><q:tc><q:tcPr><q:vMerge/></q:tcPr>\
             <q:p/></q:tc><q:tc><q:p/></q:tc><q:tc><q:p>{}</q:p></q:tc></q:tr><q:tr><q:trPr><q:del/></q:trPr><q:tc><q:p>{}\
             </q:p></q:tc></q:tr></q:tbl>",
            run("东岸"),
            run("水位"),
            run("备注"),
            run("5"),
            run("删去的行")
        ),
    ];
    let styles = "<w:style w:styleId='B'><w:rPr><w:vanish/></w:rPr></w:style><w:style w:styleId='H'><w:basedOn w:val='B'/></w:style>";
    let diagram = "<dgm:pt><dgm:t><a:p><a:r><a:t>组织图</a:t></a:r></a:p></dgm:t></dgm:pt>";
    let text = read_ok(&docx(&body.concat(), "", styles, diagram), "a.docx").text();
    assert_eq!(
        text,
        "桥长九十米\n前半后半\n\n移来\n图：\n河道\n\n旧图\n\n组织图\n第3页\n东岸\t水位\t\t备注\n\t\t5"
    );
}

#[test]
fn word_numbers_paragraphs() {
    let level = |level: u32, format: &str, text: &str, more: &str| {
        format!(
            "<w:lvl w:ilvl='{level}'><w:start w:val='1'/><w:numFmt w:val='{format}'/>{more}<w:lvlText w:val='{text}'/></w:lvl>"
        )
    };
    let numbering = [
        "<w:abstractNum w:abstractNumId='0'>".to_owned(),
        level(0, "chineseCountingThousand", "第%1章", "<w:pStyle w:val='Chapter'/><w:suff w:val='nothing'/>"),
        level(1, "decimal", "%1.%2", "<w:isLgl/>"),
        level(2, "lowerLetter", "(%3)", ""),
        level(3, "upperRoman", "%4.", "<w:lvlRestart w:val='0'/>"),
        level(4, "bullet", "●", ""),
        "</w:abstractNum><w:num w:numId='5'><w:abstractNumId w:val='0'/></w:num>".to_owned(),
        "<w:num w:numId='6'><w:abstractNumId w:val='0'/><w:lvlOverride w:ilvl='0'><w:startOverride w:val='9'/></w:lvlOverride></w:num>"
            .to_owned(),
    ];
    let styles = "<w:style w:styleId='Chapter'><w:pPr><w:numPr><w:numId w:val='5'/></w:numPr></w:pPr></w:style>";
    let by_style = |text: &str| {
        format!("<q:p><q:pPr><q:pStyle q:val='Chapter'/></q:pPr><q:r><q:t>{text}</q:t></q:r></q:p>")
    };
    let numbered = |list: u32, level: u32, text: &str| {
        format!(
            "<q:p><q:pPr><q:numPr><q:ilvl q:val='{level}'/><q:numId q:val='{list}'/></q:numPr></q:pPr><q:r><q:t>{text}</q:t></q:r></q:p>"
        )
    };
    let body = [
        by_style("总则"),
        numbered(5, 1, "范围"),
        numbered(5, 2, "甲类"),
        numbered(5, 2, "乙类"),
        numbered(5, 3, "注"),
        numbered(5, 4, "点"),
        by_style("附则"),
        numbered(5, 1, "施行"),
        numbered(5, 2, "丙类"),
        numbered(5, 3, "又注"),
        numbered(0, 0, "无号"),
        numbered(6, 0, "另起"),
        numbered(6, 0, "再一"),
    ];
    let text = read_ok(
        &docx(&body.concat(), &numbering.concat(), styles, ""),
        "a.docx",
    )
    .text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "第一章总则",
            "1.1 范围",
            "(a) 甲类",
            "(b) 乙类",
            "I. 注",
            "点",
            "第二章附则",
            "2.1 施行",
            "(a) 丙类",
            "II. 又注",
            "无号",
            "第九章另起",
            "第十章再一"
        ]
    );
}

#[test]
pub(super) fn office_in_one_xml_file() {
    let sheets = "<?xml version='1.0'?><?mso-application progid='Excel.Sheet'?><ss:Workbook><ss:Styles><ss:Style ss:ID='p'>\
                  <ss:NumberFormat ss:Format='Percent'/></ss:Style></ss:Styles><ss:Worksheet ss:Name='产量'><ss:Table><ss:Row>\
                  <ss:Cell><ss:Data ss:Type='String'>矿井</ss:Data></ss:Cell><ss:Cell ss:Index='3' ss:StyleID='p'><ss:Data \
                  ss:Type='Number'>0.5</ss:Data></ss:Cell></ss:Row></ss:Table></ss:Worksheet></ss:Workbook>";
    let found = read_ok(sheets.as_bytes(), "a.xls");
    assert_eq!(
        (found.file_type, &*found.text()),
        (FileType::Xls, "矿井\t\t50.00%")
    );
    let old = "<?xml version='1.0'?><w:wordDocument><w:body><w:p><w:pPr><w:listPr><w:ilvl w:val='0'/><w:ilfo w:val='1'/><wx:t \
               wx:val='一、'/></w:listPr></w:pPr><w:r><w:t>开工</w:t></w:r></w:p></w:body></w:wordDocument>";
    let found = read_ok(old.as_bytes(), "a.doc");
    assert_eq!(
        (found.file_type, &*found.text()),
        (FileType::Doc, "一、 开工")
    );
    let flat = format!(
        "<pkg:package><pkg:part pkg:name='/_rels/.rels' pkg:contentType='x'><pkg:xmlData><Relationships><Relationship Id='a' \
         Type='{RELATIONS}/officeDocument' Target='word/d.xml'/></Relationships></pkg:xmlData></pkg:part><pkg:part \
         pkg:name='/word/d.xml' pkg:contentType='application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'>\
         <pkg:xmlData><w:document><w:body><w:p><w:r><w:t>竣工</w:t></w:r></w:p></w:body></w:document></pkg:xmlData></pkg:part>\
         </pkg:package>"
    );
    let found = read_ok(flat.as_bytes(), "a.doc");
    assert_eq!((found.file_type, &*found.text()), (FileType::Docx, "竣工"));
}

/// A record of an old workbook.
fn record(kind: u16, data: &[&[u8]]) -> Vec<u8> {
    let data = data.concat();
    let length = u16::try_from(data.len()).expect("a short record");
    [&kind.to_le_bytes()[..], &length.to_le_bytes(), &data].concat()
}

#[test]
pub(super) fn old_workbook_values_are_shown() {
    let words =
        |words: &[u16]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let number = |row: u16, column: u16, style: u16, value: f64| {
        record(
            0x0203,
            &[&words(&[row, column, style]), &value.to_le_bytes()],
        )
    };
    let sheet = [
        record(0x0809, &[&words(&[0x0600, 0x0010, 0, 0])]),
        record(0x007d, &[&words(&[1, 1, 0, 0, 1, 0])]),
        record(0x0208, &[&words(&[1, 0, 3, 0, 0, 0, 0x20, 0])]),
        number(0, 0, 1, 0.075),
        number(0, 1, 0, 77.0),
        record(
            0x027e,
            &[&words(&[0, 2, 2]), &((45_000_u32 << 2) | 2).to_le_bytes()],
        ),
        number(1, 0, 0, 88.0),
        record(
            0x00bd,
            &[
                &words(&[2, 2, 1]),
                &((25_u32 << 2) | 3).to_le_bytes(),
                &words(&[0]),
                &((9_u32 << 2) | 2).to_le_bytes(),
                &words(&[3]),
            ],
        ),
        record(0x0205, &[&words(&[3, 0, 0]), &[0x2a, 1]]),
        record(0x000a, &[]),
    ]
    .concat();
    let format = words("0.0%".encode_utf16().collect::<Vec<u16>>().as_slice());
    let styles = [(0_u16, 0_u16), (0, 170), (0, 31)]
        .map(|(font, format)| record(0x00e0, &[&words(&[font, format]), &[0; 16]]));
    let bound = |at: usize, state: u8, name: &str| {
        let at = u32::try_from(at).expect("a small file");
        record(
            0x0085,
            &[&at.to_le_bytes(), &[state, 0, 1, 0], name.as_bytes()],
        )
    };
    let globals = |at: usize| {
        [
            record(0x0809, &[&words(&[0x0600, 0x0005, 0, 0])]),
            record(0x041e, &[&words(&[170, 4]), &[1], &format]),
            styles.concat(),
            bound(at, 1, "A"),
            bound(at, 0, "B"),
            record(0x000a, &[]),
        ]
        .concat()
    };
    let stream = [globals(globals(0).len()), sheet].concat();
    let mut file = cfb::CompoundFile::create(std::io::Cursor::new(Vec::new())).expect("created");
    let mut workbook = file.create_stream("/Workbook").expect("created");
    std::io::Write::write_all(&mut workbook, &stream).expect("written");
    drop(workbook);
    let found = read_ok(&file.into_inner().into_inner(), "a.xls");
    assert_eq!(found.parts.len(), 1, "the hidden sheet is left out");
    assert_eq!(found.parts[0].place, Place::Sheet("B".to_owned()));
    assert_eq!(found.text(), "7.5%\t2023年3月15日\n\t25.0%\t9\n#N/A");
}
