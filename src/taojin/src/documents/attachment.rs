//! Makes a document of what was read of a file.

use chrono::{DateTime, Duration, FixedOffset};

use taojin_attachments::{Attachment, FileType, Heading, Member, Part, Place};
use taojin_crawl::store::Announcement;
use taojin_extract::structure::{Block, BlockKind, Row, Structure};
use taojin_extract::{
    Clock, DateSource, Document, FilePart, Kind, Provenance, SourceFile, add_habits, find_day,
    read_listed_date,
};

/// Parts of a document whose places are kept.
const MOST_PARTS: usize = 2_000;
/// Characters of a title or of the name of a part.
const TITLE_CHARS: usize = 200;
/// Headings among which a line is looked for: one may have been cut, or joined to what follows.
const NEXT_HEADINGS: usize = 3;
/// Lines of a page that must be full for paragraphs to be made of them.
const FULL_LINES: usize = 3;
/// How far before the page that offers it a file may have been made: a form is older than what is written into it.
const OLDEST_DAYS: i64 = 366;
/// How far after the page: its time may be that of a day, and clocks differ.
const NEWEST_DAYS: i64 = 2;

/// What is known of a file beside its bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Origin<'a> {
    /// Its address; empty where it has none.
    pub(crate) url: &'a str,
    /// What it is called where it lies.
    pub(crate) name: &'a str,
    /// Name of its site in the configuration.
    pub(crate) site: Option<&'a str>,
    /// What the page that offers it says of it.
    pub(crate) announced: Option<&'a Announcement>,
    /// Its size in bytes.
    pub(crate) bytes: u64,
    /// When it came, Unix milliseconds.
    pub(crate) at_ms: i64,
    /// Minutes east of UTC of the days that it names.
    pub(crate) offset_min: i32,
}

/// The document of a file. What it does not say itself of its title and its date, the page that offers it says.
pub(crate) fn of_attachment(read: Attachment, origin: &Origin<'_>) -> Document {
    let mut text = Text::default();
    let title = title(&read, origin);
    let (published, date_source) = published(&read, origin, title.as_deref()).unzip();
    let author = Some(read.authors.join(" ")).filter(|names| !names.is_empty());
    text.add(read.parts, &read.headings, read.file_type, None);
    text.add_members(read.members, "");
    let whole = text.lines.join("\n");
    let mut structure = Structure::new(text.blocks);
    add_habits(&whole, &[], &mut structure);
    let page = origin.announced;
    let mut document = Document {
        url: origin.url.to_owned(),
        site: origin.site.map(str::to_owned),
        title,
        published,
        provenance: Provenance {
            confidence: 1.0,
            date_source,
            ratio_lines: None,
            text_cut: false,
        },
        author,
        text: whole,
        structure,
        kind: Kind::Attachment,
        method: "file".to_owned(),
        file: Some(SourceFile {
            format: read.file_type.as_str().to_owned(),
            bytes: origin.bytes,
            pages: read.pages,
            page_url: page.map(|page| page.page_url.clone()),
            page_title: page.and_then(|page| page.page_title.clone()),
            parts: text.parts,
        }),
        ..Document::default()
    };
    document.drop_controls();
    document
}

/// Paragraphs, what they are, and where parts begin among them.
#[derive(Default)]
struct Text {
    lines: Vec<String>,
    blocks: Vec<Block>,
    parts: Vec<FilePart>,
}

impl Text {
    fn add(
        &mut self,
        parts: Vec<Part>,
        headings: &[Heading],
        file_type: FileType,
        member: Option<&str>,
    ) {
        let mut headings = headings;
        for part in parts {
            let place = match part.place {
                Place::Whole => None,
                Place::Page(n) | Place::Slide(n) | Place::Chapter(n) => Some(n.to_string()),
                Place::Sheet(name) => Some(name),
            };
            let names = member.map(str::to_owned).into_iter().chain(place);
            let name = names.collect::<Vec<String>>().join(" · ");
            let is_laid_out = matches!(file_type, FileType::Pdf | FileType::Ofd);
            let lines = if has_rows(file_type) {
                rows(&part.text)
            } else {
                paragraphs(&part.text, is_laid_out)
            };
            if lines.is_empty() {
                continue;
            }
            if !name.is_empty() && self.parts.len() < MOST_PARTS {
                self.parts.push(FilePart {
                    name: name.chars().take(TITLE_CHARS).collect(),
                    after: u32::try_from(self.lines.len()).unwrap_or(u32::MAX),
                });
            }
            self.mark_lines(&lines, &mut headings);
            self.lines.extend(lines);
        }
    }

    /// Notes what the lines of a part are: rows, whose cells tabs part, and the next of the `headings`.
    fn mark_lines(&mut self, lines: &[String], headings: &mut &[Heading]) {
        let mut in_table = false;
        for (at, line) in (self.lines.len()..).zip(lines) {
            let heading = headings
                .iter()
                .take(NEXT_HEADINGS)
                .position(|next| next.text == *line);
            let is_row = line.contains('\t');
            let kind = if let Some(nth) = heading {
                let level = headings[nth].level;
                *headings = headings.get(nth + 1..).unwrap_or_default();
                BlockKind::Heading(level)
            } else if is_row {
                BlockKind::Row(Row {
                    first: !in_table,
                    ..Row::default()
                })
            } else {
                BlockKind::Plain
            };
            in_table = is_row && heading.is_none();
            if kind != BlockKind::Plain {
                self.blocks.push(Block {
                    at: u32::try_from(at).unwrap_or(u32::MAX),
                    kind,
                    ..Block::default()
                });
            }
        }
    }

    /// Members under their names; those that cannot be read are named only.
    fn add_members(&mut self, members: Vec<Member>, above: &str) {
        for member in members {
            let name = format!("{above}{}", member.name);
            match member.content {
                Ok(read) => {
                    self.add(read.parts, &read.headings, read.file_type, Some(&name));
                    self.add_members(read.members, &format!("{name}/"));
                }
                Err(_) => self.lines.extend(paragraphs(&name, false)),
            }
        }
    }
}

/// The lines of a text. A row of a table may begin with empty cells.
fn rows(text: &str) -> Vec<String> {
    let is_indent = |c: char| c.is_whitespace() && c != '\t';
    let lines = text
        .lines()
        .map(|line| line.trim_end().trim_start_matches(is_indent));
    lines
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether the lines of a kind of file begin with a tab only where a cell is empty.
fn has_rows(file_type: FileType) -> bool {
    use FileType::{Csv, Doc, Docx, Odp, Ods, Odt, Ppt, Pptx, Rtf, Xls, Xlsx};
    matches!(
        file_type,
        Csv | Doc | Docx | Odp | Ods | Odt | Ppt | Pptx | Rtf | Xls | Xlsx
    )
}

/// The paragraphs of a text. The lines of a page that is laid out end where the page does: one that is full and ends no sentence
/// goes on in the next.
fn paragraphs(text: &str, is_laid_out: bool) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    if !is_laid_out {
        return lines.map(str::to_owned).collect();
    }
    let width = |line: &str| {
        line.chars()
            .map(|c| if c.is_ascii() { 1 } else { 2 })
            .sum::<usize>()
    };
    let widest = lines.clone().map(width).max().unwrap_or_default();
    let is_full = |line: &str| width(line) * 5 >= widest * 4;
    // A page of headings alone has no paragraphs.
    let has_paragraphs = lines.clone().filter(|line| is_full(line)).count() >= FULL_LINES;
    let mut out: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in lines {
        match out.last_mut().filter(|_| goes_on) {
            Some(before) => {
                let ends_word = before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == ',');
                if ends_word && line.starts_with(|c: char| c.is_ascii_alphanumeric()) {
                    before.push(' ');
                }
                before.push_str(line);
            }
            None => out.push(line.to_owned()),
        }
        let ends = |c: char| "。！？；：.!?;:…”」』".contains(c);
        let ends = line.ends_with(ends) || line.contains('\t') || ends_in_figure(line);
        goes_on = has_paragraphs && is_full(line) && !ends;
    }
    out
}

/// Whether a line ends as a row of a table does: in a figure with its marks, `14,038.38` or `5 %`.
fn ends_in_figure(line: &str) -> bool {
    let last = line.rsplit(' ').next().unwrap_or_default();
    let is_figure = |c: char| c.is_ascii_digit() || ",.-%".contains(c);
    last.contains([',', '.', '%']) && last.chars().all(is_figure)
}

/// Its own title, what the page calls it, or the name of the file.
fn title(read: &Attachment, origin: &Origin<'_>) -> Option<String> {
    let announced = origin.announced.map(|page| without_suffix(&page.name));
    let named = announced.clone();
    let names = [
        read.title.clone(),
        announced.filter(|name| !is_link_word(name)),
        origin.name.rsplit('/').next().map(without_suffix),
        named,
    ];
    let mut names = names.into_iter().flatten();
    let name = names.find(|name| name.chars().any(char::is_alphanumeric))?;
    Some(name.chars().take(TITLE_CHARS).collect())
}

/// Whether a link to a file says only that there is one: 点击下载, 附件1.
fn is_link_word(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "附件",
        "附表",
        "附图",
        "点击",
        "点此",
        "请点击",
        "这里",
        "此处",
        "查看",
        "预览",
        "浏览",
        "打开",
        "立即",
        "下载",
        "全文",
        "正文",
        "原文",
        "文件",
        "文档",
        "更多",
        "详情",
        "阅读",
        "在线",
        "本地",
        "download",
        "attachment",
        "click",
        "here",
        "view",
        "file",
        "pdf",
        "word",
        "excel",
        "doc",
        "docx",
        "xls",
        "xlsx",
    ];
    let mut rest = name.to_lowercase();
    for word in WORDS {
        rest = rest.replace(word, "");
    }
    let is_number = |c: char| "一二三四五六七八九十".contains(c) || c.is_numeric();
    !rest.chars().any(|c| c.is_alphabetic() && !is_number(c))
}

/// The name of a file without its ending and what follows that, its size mostly.
fn without_suffix(name: &str) -> String {
    let name = name.trim();
    let ending = |(_, end): &(&str, &str)| {
        let end: String = end
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        (2..=4).contains(&end.len())
    };
    let bare = name.rsplit_once('.').filter(ending).map(|(bare, _)| bare);
    bare.unwrap_or(name).trim().to_owned()
}

/// Its day, and where that is from: the list that offers it, the file where that can be true beside the page, its title, and
/// at last the page.
fn published(
    read: &Attachment,
    origin: &Origin<'_>,
    title: Option<&str>,
) -> Option<(String, DateSource)> {
    let clock = Clock {
        now_ms: Some(origin.at_ms),
        offset_min: Some(origin.offset_min),
        month_first: false,
        republic: false,
    };
    let page = origin.announced;
    let of_list = || read_listed_date(page?.listed.as_deref()?, &clock);
    let of_title = || {
        let names = [title, page.map(|page| page.name.as_str())];
        names
            .into_iter()
            .flatten()
            .find_map(|name| find_day(name, &clock))
    };
    let of_page = page.and_then(|page| page.published.clone());
    // What a list says of this file goes before what the file says: that is often the day of a form.
    of_list()
        .map(|day| (day, DateSource::List))
        .or_else(|| Some((own_day(read, origin, of_page.as_deref())?, DateSource::File)))
        .or_else(|| Some((of_title()?, DateSource::Title)))
        .or_else(|| Some((of_page.clone()?, DateSource::Page)))
}

/// When the file was made, as it says itself, if that can be true beside the day of the page that offers it.
fn own_day(read: &Attachment, origin: &Origin<'_>, of_page: Option<&str>) -> Option<String> {
    // A file that was changed long after it was made was made of another one, or of an office's form.
    let is_old = |made: &i64| {
        read.modified
            .is_some_and(|at| at - made > OLDEST_DAYS * 86_400)
    };
    let own = read.created.filter(|made| !is_old(made)).or(read.modified);
    let zone = FixedOffset::east_opt(origin.offset_min * 60)?;
    let own = DateTime::from_timestamp(own?, 0)?.with_timezone(&zone);
    let day = of_page.and_then(|text| text.get(..10));
    let day = day.and_then(|text| text.parse::<chrono::NaiveDate>().ok());
    let can_be_true = day.is_none_or(|day| {
        let own = own.date_naive();
        own >= day - Duration::days(OLDEST_DAYS) && own <= day + Duration::days(NEWEST_DAYS)
    });
    let is_past = own.timestamp_millis() <= origin.at_ms;
    (is_past && can_be_true).then(|| own.format("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use taojin_attachments::Unreadable;

    use super::*;

    fn file(title: Option<&str>, created: Option<&str>, modified: Option<&str>) -> Attachment {
        let seconds = |day: &str| {
            let time = DateTime::parse_from_rfc3339(&format!("{day}T20:00:00Z"));
            time.expect("a day").timestamp()
        };
        Attachment {
            file_type: FileType::Pdf,
            title: title.map(str::to_owned),
            authors: Vec::new(),
            created: created.map(seconds),
            modified: modified.map(seconds),
            pages: Some(2),
            parts: Vec::new(),
            headings: Vec::new(),
            members: Vec::new(),
            garbled_pages: 0,
            is_cut: false,
        }
    }

    #[test]
    fn page_fills_what_file_leaves_open() {
        let announced = Announcement {
            name: "附件2：价格表.pdf（238KB）".to_owned(),
            page_url: "https://a.example/notice".to_owned(),
            page_title: Some("通知".to_owned()),
            published: Some("2026-05-06".to_owned()),
            listed: None,
        };
        let origin = Origin {
            name: "P0202605.pdf",
            announced: Some(&announced),
            at_ms: 1_800_000_000_000,
            offset_min: 480,
            ..Origin::default()
        };
        for (own, created, modified, title, day) in [
            (None, None, None, "附件2：价格表", "2026-05-06"),
            // Eight in the evening is the next day in Beijing.
            (
                Some("运价表"),
                Some("2026-05-03"),
                None,
                "运价表",
                "2026-05-04",
            ),
            // Of a year before, of a year to come, and of a form that was filled in later.
            (
                None,
                Some("2019-01-01"),
                None,
                "附件2：价格表",
                "2026-05-06",
            ),
            (
                None,
                Some("2026-08-01"),
                None,
                "附件2：价格表",
                "2026-05-06",
            ),
            (
                None,
                Some("1996-12-17"),
                Some("2026-04-30"),
                "附件2：价格表",
                "2026-05-01",
            ),
        ] {
            let document = of_attachment(file(own, created, modified), &origin);
            assert_eq!(document.title.as_deref(), Some(title));
            assert_eq!(document.published.as_deref(), Some(day), "{created:?}");
            let read = document.file.expect("a file");
            assert_eq!(read.page_url.as_deref(), Some("https://a.example/notice"));
        }
        // A list that offers files with their days, and pages no day: what the list says, the file, its title.
        for (listed, name, created, day) in [
            (
                Some("2018-03-20"),
                "年报.pdf",
                Some("2026-01-09"),
                Some("2018-03-20"),
            ),
            (None, "年报.pdf", Some("2010-04-01"), Some("2010-04-02")),
            (None, "年报（2019年4月18日）.pdf", None, Some("2019-04-18")),
            (None, "2019 年年报.pdf", None, None),
        ] {
            let announced = Announcement {
                name: name.to_owned(),
                listed: listed.map(str::to_owned),
                published: None,
                ..announced.clone()
            };
            let origin = Origin {
                announced: Some(&announced),
                ..origin
            };
            let document = of_attachment(file(None, created, None), &origin);
            assert_eq!(document.published.as_deref(), day, "{name}");
        }
        // Where nobody says anything, the name of the file is left.
        let alone = Origin {
            announced: None,
            ..origin
        };
        let document = of_attachment(file(None, None, None), &alone);
        assert_eq!(document.title.as_deref(), Some("P0202605"));
        assert_eq!(document.published, None);
    }

    #[test]
    fn lines_of_a_page_become_paragraphs() {
        let page = "关于价格的通知\n根据管道运输价格管理办法经成本监审现将核定的\n\
            管道运输价格印发给你们请认真执行具体价格见附件并于\n本月底前上报。\n\
            各企业应当按照核定的价格与用户签订合同不得擅自\n提高价格。";
        let joined = paragraphs(page, true);
        assert_eq!(joined.len(), 3, "{joined:?}");
        assert!(joined[1].ends_with("并于本月底前上报。"));
        assert_eq!(paragraphs(page, false).len(), 6);
        // Rows of a table are full as well.
        let table = "经营活动产生的现金流量净额 -4,194,229.68\n投资活动产生的现金流量净额 -14,038.38\n\
            筹资活动产生的现金流量净额 2,035,170.22\n现金及现金等价物净增加额为 12.55%\n合计";
        assert_eq!(paragraphs(table, true).len(), 5);
        let words = "Gas prices are set by the commission every year and\n\
            published with the notice, which every company must\nread before it signs a contract with any customer of\nits own.";
        let joined = paragraphs(words, true);
        assert!(joined[0].contains("year and published"), "{joined:?}");
    }

    #[test]
    fn link_word_is_no_title() {
        let titled = |link: &str| {
            let announced = Announcement {
                name: link.to_owned(),
                page_url: "https://a.example/notice".to_owned(),
                ..Announcement::default()
            };
            let origin = Origin {
                name: "水价表.xlsx",
                announced: Some(&announced),
                ..Origin::default()
            };
            of_attachment(file(None, None, None), &origin).title
        };
        for link in [
            "点击下载",
            "附件1",
            "附件二：",
            "Download PDF",
            "查看全文（PDF）",
        ] {
            assert_eq!(titled(link).as_deref(), Some("水价表"), "{link}");
        }
        assert_eq!(titled("附件1：电价表").as_deref(), Some("附件1：电价表"));
    }

    #[test]
    fn rows_keep_empty_cells() {
        assert_eq!(
            rows("　\t产量\t\n\n\t\t12\n  正文\t "),
            ["\t产量", "\t\t12", "正文"]
        );
    }

    #[test]
    fn parts_know_their_places() {
        let part = |place: Place, text: &str| Part {
            place,
            text: text.to_owned(),
        };
        let mut whole = file(None, None, None);
        whole.parts = vec![
            part(Place::Page(1), "第一页\n第二段"),
            part(Place::Page(2), " \n"),
            part(Place::Page(3), "第三页"),
        ];
        let mut inner = file(None, None, None);
        inner.parts = vec![part(Place::Sheet("明细".to_owned()), "金额")];
        whole.members = vec![
            Member {
                name: "表.xlsx".to_owned(),
                content: Ok(inner),
            },
            Member {
                name: "图.pdf".to_owned(),
                content: Err(Unreadable::Scanned),
            },
        ];
        let document = of_attachment(whole, &Origin::default());
        assert_eq!(document.text, "第一页\n第二段\n第三页\n金额\n图.pdf");
        let file = document.file.expect("a file");
        let parts = file
            .parts
            .iter()
            .map(|part| (part.name.as_str(), part.after));
        let expected = [("1", 0), ("3", 2), ("表.xlsx · 明细", 3)];
        assert_eq!(parts.collect::<Vec<_>>(), expected);
        assert_eq!(file.part_of(1).map(|part| part.name.as_str()), Some("1"));
    }

    #[test]
    fn headings_and_rows_of_a_file() {
        let heading = |level, text: &str| Heading {
            level,
            text: text.to_owned(),
        };
        let read = Attachment {
            file_type: FileType::Docx,
            parts: vec![Part {
                place: Place::Whole,
                text: "总则\n正文第一段。\n井\t产量\nA\t\t7\n第二章 附则\n1. 甲方\n2. 乙方\n"
                    .to_owned(),
            }],
            headings: vec![heading(1, "总则"), heading(2, "没有的标题")],
            ..file(None, None, None)
        };
        let document = of_attachment(read, &Origin::default());
        let wanted = "# 总则\n\n正文第一段。\n\n| 井 | 产量 |  |\n| --- | --- | --- |\n| A |  | 7 |\n\n## 第二章 附则\n\n1. 甲方\n2. 乙方\n";
        assert_eq!(document.markdown(), wanted);
    }
}
