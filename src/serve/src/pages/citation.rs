//! How to cite a document. In: what is known of it. Out: one line in the manner of GB/T 7714-2015, and a plain one. What
//! is not known is left out, never made up.

use chrono::{DateTime, FixedOffset};

use taojin_extract::Document;

/// Bytes of a date in ISO 8601.
const DATE_BYTES: usize = 10;

/// A document's citations, each one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Citation {
    /// GB/T 7714-2015: `李四. 题名[EB/OL]. 新华社, (2026-05-01)[2026-11-22]. https://…`
    pub(crate) standard: String,
    /// `李四: 题名. 新华社, 2026-05-01. https://…`
    pub(crate) plain: String,
}

impl Citation {
    /// The citations of a document that is read at `now_ms`, in the zone of the readers.
    pub(crate) fn of(document: &Document, now_ms: i64, utc_offset_minutes: i32) -> Citation {
        let known = |text: &Option<String>| text.as_deref().map(one_line).filter(|t| !t.is_empty());
        let title = known(&document.title).unwrap_or_else(|| one_line(&document.url));
        let outlet = known(&document.source).or_else(|| known(&document.site));
        let author = known(&document.author).filter(|author| outlet.as_ref() != Some(author));
        let date = document.published.as_deref().and_then(date).unwrap_or("");
        let url = one_line(&document.url);

        let by = author
            .as_ref()
            .map(|a| format!("{a}. "))
            .unwrap_or_default();
        let read = today(now_ms, utc_offset_minutes);
        let outlet_part = outlet.as_ref().map(|o| format!("{o}, "));
        let published = match date {
            "" => String::new(),
            date => format!("({date})"),
        };
        let standard = format!(
            "{by}{title}[EB/OL]. {}{published}[{read}]. {url}",
            outlet_part.unwrap_or_default()
        );

        let by = author.map(|a| format!("{a}: ")).unwrap_or_default();
        let when: Vec<&str> = [outlet.as_deref().unwrap_or_default(), date]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        let when = match when.as_slice() {
            [] => String::new(),
            parts => format!("{}. ", parts.join(", ")),
        };
        let stop = match title.ends_with(['。', '.', '？', '?', '！', '!']) {
            true => "",
            false => ".",
        };
        let plain = format!("{by}{title}{stop} {when}{url}");
        Citation { standard, plain }
    }
}

/// The day of a time in ISO 8601.
fn date(text: &str) -> Option<&str> {
    let date = text.trim().get(..DATE_BYTES)?;
    chrono::NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?;
    Some(date)
}

fn today(now_ms: i64, utc_offset_minutes: i32) -> String {
    let seconds = utc_offset_minutes.saturating_mul(60);
    let zone = FixedOffset::east_opt(seconds);
    let now = DateTime::from_timestamp_millis(now_ms).unwrap_or_default();
    let now = zone.map_or_else(|| now.fixed_offset(), |zone| now.with_timezone(&zone));
    now.format("%Y-%m-%d").to_string()
}

/// Runs of white space and control characters as one space.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-22 01:00 in Beijing, still the day before in Greenwich.
    const NOW_MS: i64 = 1_795_280_400_000;

    fn document() -> Document {
        Document {
            url: "https://a.example/1".to_owned(),
            title: Some("渤海深井\n获得高产".to_owned()),
            ..Document::default()
        }
    }

    #[test]
    fn a_citation_names_author_outlet_date_and_address() {
        let document = Document {
            author: Some("李四".to_owned()),
            source: Some("新华社".to_owned()),
            site: Some("转载网".to_owned()),
            published: Some("2026-05-01T08:30:00+08:00".to_owned()),
            ..document()
        };
        let citation = Citation::of(&document, NOW_MS, 480);
        assert_eq!(
            citation.standard,
            "李四. 渤海深井 获得高产[EB/OL]. 新华社, (2026-05-01)[2026-11-22]. https://a.example/1"
        );
        assert_eq!(
            citation.plain,
            "李四: 渤海深井 获得高产. 新华社, 2026-05-01. https://a.example/1"
        );
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let citation = Citation::of(&document(), NOW_MS, 0);
        assert_eq!(
            citation.standard,
            "渤海深井 获得高产[EB/OL]. [2026-11-21]. https://a.example/1"
        );
        assert_eq!(citation.plain, "渤海深井 获得高产. https://a.example/1");
    }
}
