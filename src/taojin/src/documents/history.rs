//! The earlier versions of a document, and what differs from version to version.
//!
//! Differences are whole lines and parts of lines. They are bounded in time: what would take longer is shown less exactly.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, diff_ratio};

use super::decode;
use crate::serve::{DiffLine, DiffPart, DocumentKey, FieldChange, HistoryAnswer, VersionAnswer};
use taojin_crawl::store::{DocumentRow, Reader, StoreError};
use taojin_extract::Document;
use taojin_uri::CrawlUri;

/// What is said of a row that cannot be read; the program's log has the reason.
pub(super) const DAMAGED: &str = "damaged in the store";
/// Versions of one answer; the default setting keeps 20.
const VERSIONS_MAX: usize = 100;
/// Text of all differences of one answer, in bytes, about.
const DIFF_BYTES: usize = 1 << 20;
/// Time for all of them; those that are left then are not shown. Less than half of what a request may take.
const TIME: Duration = Duration::from_secs(2);
/// Lines of one difference.
const DIFF_LINES: usize = 2_000;

/// The history of a document; `None` if nothing is known of it.
pub(super) fn read_history(
    reader: &Reader,
    key: &DocumentKey,
) -> Result<Option<HistoryAnswer>, StoreError> {
    let fingerprint = match key {
        DocumentKey::Id(id) => *id,
        DocumentKey::Url(uri) => fingerprint(reader, uri)?,
    };
    let rows = reader.document_history(fingerprint)?;
    let uri = match (key, rows.first()) {
        (DocumentKey::Url(uri), None) => Some(uri.clone()),
        (_, Some(row)) => CrawlUri::parse(&row.url).ok(),
        (DocumentKey::Id(_), None) => None,
    };
    let takedown = uri.map(|uri| reader.takedown(&uri)).transpose()?.flatten();
    let Some(first) = rows.first() else {
        return Ok(takedown.map(|takedown| HistoryAnswer {
            url: takedown.url,
            state: "taken_down".to_owned(),
            gone_ms: Some(takedown.at_ms),
            ..empty(fingerprint)
        }));
    };
    let mut answer = HistoryAnswer {
        url: first.url.clone(),
        site: Some(first.site.clone()).filter(|site| !site.is_empty()),
        ..empty(fingerprint)
    };
    if let Some(takedown) = takedown {
        answer.state = "taken_down".to_owned();
        answer.gone_ms = Some(takedown.at_ms);
        return Ok(Some(answer));
    }
    if first.body.is_none() {
        answer.gone_ms = Some(first.changed_ms);
    }
    // The end of the document may be forgotten before its last version is.
    if reader
        .document(fingerprint)?
        .is_none_or(|row| row.body.is_none())
    {
        answer.state = "gone".to_owned();
    }
    answer.left_out = rows.len().saturating_sub(VERSIONS_MAX) as u64;
    answer.versions = versions(reader, &rows);
    Ok(Some(answer))
}

fn empty(fingerprint: u64) -> HistoryAnswer {
    HistoryAnswer {
        id: format!("{fingerprint:016x}"),
        url: String::new(),
        site: None,
        state: "present".to_owned(),
        gone_ms: None,
        versions: Vec::new(),
        left_out: 0,
    }
}

/// Key of the document at an address: its own, or that of the one that stands for this page.
fn fingerprint(reader: &Reader, uri: &CrawlUri) -> Result<u64, StoreError> {
    let own = reader.addresses().document_key(uri)?;
    let present = reader.document(own)?.is_some_and(|row| row.body.is_some());
    let record = if present { None } else { reader.lookup(uri)? };
    let stands_for = match record.and_then(|record| record.visit.alias_of) {
        Some(id) => reader.addresses().fingerprint_of(id)?,
        None => None,
    };
    Ok(stands_for.unwrap_or(own))
}

/// A row, and its document or why there is none.
struct Version<'a> {
    row: &'a DocumentRow,
    document: Option<Document>,
    damaged: bool,
}

/// What differences may still take.
struct Room {
    bytes: usize,
    until: Instant,
}

fn versions(reader: &Reader, rows: &[DocumentRow]) -> Vec<VersionAnswer> {
    // One more than is listed, to compare the last one with.
    let some = rows.iter().take(VERSIONS_MAX + 1);
    let read: Vec<Version<'_>> = some.map(|row| version(reader, row)).collect();
    let mut left = Room {
        bytes: DIFF_BYTES,
        until: Instant::now() + TIME,
    };
    let listed = read.iter().take(VERSIONS_MAX).enumerate();
    listed
        .map(|(at, version)| {
            let older = read.get(at + 1..).unwrap_or_default();
            let before = older.iter().find(|version| version.document.is_some());
            answer(version, before, &mut left)
        })
        .collect()
}

fn version<'a>(reader: &Reader, row: &'a DocumentRow) -> Version<'a> {
    let stored = decode(reader, row).inspect_err(|error| {
        tracing::error!(error = format!("{error:#}"), "a version cannot be read");
    });
    Version {
        row,
        damaged: stored.is_err(),
        document: stored.ok().flatten().map(|stored| stored.document),
    }
}

fn answer(version: &Version<'_>, before: Option<&Version<'_>>, left: &mut Room) -> VersionAnswer {
    let row = version.row;
    let change = match &row.body {
        None => "deleted",
        Some(_) if row.first_seq == row.seq => "new",
        Some(_) => "changed",
    };
    let document = version.document.as_ref();
    let mut answer = VersionAnswer {
        version: row.version,
        seq: row.seq,
        change: change.to_owned(),
        changed_ms: row.changed_ms,
        title: document.and_then(|d| d.title.clone()),
        published: document.and_then(|d| d.published.clone()),
        author: document.and_then(|d| d.author.clone()),
        source: document.and_then(|d| d.source.clone()),
        characters: document.map_or(0, |d| d.text.chars().count() as u64),
        compared_with: None,
        fields: Vec::new(),
        diff: Vec::new(),
        diff_cut: false,
        unreadable: version.damaged.then(|| DAMAGED.to_owned()),
    };
    if let (Some(after), Some(before)) = (document, before)
        && let Some(old) = &before.document
    {
        answer.compared_with = Some(before.row.version);
        answer.fields = fields(old, after);
        (answer.diff, answer.diff_cut) = cut(&old.text, &after.text, left);
    }
    answer
}

/// The difference of two texts, as far as there is room for it, and whether something is left out.
fn cut(before: &str, after: &str, left: &mut Room) -> (Vec<DiffLine>, bool) {
    if left.bytes == 0 || Instant::now() > left.until {
        return (Vec::new(), before != after);
    }
    let mut lines = lines(before, after, left.until);
    let mut shown = 0;
    for line in lines.iter().take(DIFF_LINES) {
        if left.bytes == 0 {
            break;
        }
        let bytes: usize = line.parts.iter().map(|part| part.text.len()).sum();
        left.bytes = left.bytes.saturating_sub(bytes);
        shown += 1;
    }
    let is_cut = shown < lines.len();
    lines.truncate(shown);
    (lines, is_cut)
}

fn fields(before: &Document, after: &Document) -> Vec<FieldChange> {
    let count = |n: usize| Some(n.to_string());
    let all = [
        ("title", before.title.clone(), after.title.clone()),
        (
            "published",
            before.published.clone(),
            after.published.clone(),
        ),
        ("author", before.author.clone(), after.author.clone()),
        ("source", before.source.clone(), after.source.clone()),
        (
            "comments",
            count(before.comments.len()),
            count(after.comments.len()),
        ),
        (
            "images",
            count(before.images.len()),
            count(after.images.len()),
        ),
        (
            "attachments",
            count(before.attachments.len()),
            count(after.attachments.len()),
        ),
    ];
    let differ = all.into_iter().filter(|(_, before, after)| before != after);
    let change = |(field, before, after): (&str, _, _)| FieldChange {
        field: field.to_owned(),
        before,
        after,
    };
    differ.map(change).collect()
}

/// Time for one text; afterwards the rest is compared roughly. A page of news takes less than a millisecond.
const LINES_TIME: Duration = Duration::from_millis(200);
/// Lines that are shown around what differs.
const CONTEXT: usize = 1;
/// Lines with less in common than this are two lines, not one that was changed.
const ALIKE: f32 = 0.5;
/// How far ahead the other half of a changed line is searched for.
const AHEAD: usize = 8;
/// Longest line that is compared character by character, in bytes.
const CLOSE_BYTES: usize = 20_000;
/// Same parts between two that differ are shown with them when they are this short: nobody can read confetti.
const CONFETTI_CHARS: usize = 2;

/// The lines that differ, with some around them; `None` if the texts say the same. Blank lines do not count.
/// Takes until `until` at most.
pub(super) fn lines(before: &str, after: &str, until: Instant) -> Vec<DiffLine> {
    let deadline = until.min(Instant::now() + LINES_TIME);
    let (old, new) = (filled(before), filled(after));
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline));
    let mut out = Vec::new();
    // Lines that went and lines that came, up to the next that are the same.
    let (mut gone, mut come) = (0..0, 0..0);
    for (at, op) in ops.iter().enumerate() {
        if !matches!(op, DiffOp::Equal { .. }) {
            gone = op.old_range().start.min(gone.start)..op.old_range().end;
            come = op.new_range().start.min(come.start)..op.new_range().end;
            continue;
        }
        replaced(&old[gone], &new[come], deadline, &mut out);
        let ends = (at == 0, at + 1 == ops.len());
        same(&old[op.old_range()], ends, &mut out);
        gone = op.old_range().end..op.old_range().end;
        come = op.new_range().end..op.new_range().end;
    }
    replaced(&old[gone], &new[come], deadline, &mut out);
    if out
        .iter()
        .all(|line| matches!(&*line.line, "same" | "left_out"))
    {
        Vec::new()
    } else {
        out
    }
}

fn filled(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).collect()
}

/// Lines that are the same: those alongside a difference, and how many are between.
fn same(lines: &[&str], (first, last): (bool, bool), out: &mut Vec<DiffLine>) {
    let head = if first { 0 } else { CONTEXT };
    let tail = if last { 0 } else { CONTEXT };
    // A line that says "one line is left out" is no shorter than that line.
    if lines.len() <= head + tail + 1 {
        out.extend(lines.iter().map(|line| whole("same", line)));
        return;
    }
    let end = lines.len() - tail;
    out.extend(lines[..head].iter().map(|line| whole("same", line)));
    out.push(DiffLine {
        line: "left_out".to_owned(),
        parts: Vec::new(),
        lines: Some((end - head) as u64),
    });
    out.extend(lines[end..].iter().map(|line| whole("same", line)));
}

/// Lines in the place of others: each old one with the new one that it became, if there is one.
fn replaced(old: &[&str], new: &[&str], deadline: Instant, out: &mut Vec<DiffLine>) {
    let mut next = 0;
    for line in old {
        let ahead = new.get(next..).unwrap_or_default().iter().take(AHEAD);
        let found = ahead
            .enumerate()
            .map(|(at, other)| (at, likeness(line, other, deadline)))
            .filter(|(_, likeness)| *likeness >= ALIKE)
            .max_by(|(_, a), (_, b)| a.total_cmp(b));
        let Some((at, _)) = found else {
            out.push(whole("removed", line));
            continue;
        };
        let paired = next + at;
        out.extend(new[next..paired].iter().map(|line| whole("added", line)));
        out.push(DiffLine {
            line: "changed".to_owned(),
            parts: parts(line, new[paired], deadline),
            lines: None,
        });
        next = paired + 1;
    }
    out.extend(new[next..].iter().map(|line| whole("added", line)));
}

/// Share of two lines that is the same.
fn likeness(a: &str, b: &str, deadline: Instant) -> f32 {
    if a.len().max(b.len()) > CLOSE_BYTES || Instant::now() > deadline {
        return 0.0;
    }
    let (a, b) = (tokens(a), tokens(b));
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &a, &b, Some(deadline));
    diff_ratio(&ops, a.len(), b.len())
}

fn whole(kind: &str, line: &str) -> DiffLine {
    let part = if kind == "same" { "same" } else { kind };
    DiffLine {
        line: kind.to_owned(),
        parts: vec![part_of(part, line)],
        lines: None,
    }
}

fn part_of(part: &str, text: &str) -> DiffPart {
    DiffPart {
        part: part.to_owned(),
        text: text.to_owned(),
    }
}

/// What a line became, part by part.
fn parts(before: &str, after: &str, deadline: Instant) -> Vec<DiffPart> {
    let (old, new) = (tokens(before), tokens(after));
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline));
    let text = |tokens: &[&str], range: Range<usize>| tokens[range].concat();
    let (mut out, mut removed, mut added) = (Vec::new(), String::new(), String::new());
    let flush = |removed: &mut String, added: &mut String, out: &mut Vec<DiffPart>| {
        for (part, text) in [("removed", removed), ("added", added)] {
            if !text.is_empty() {
                out.push(part_of(part, text));
                text.clear();
            }
        }
    };
    for (at, op) in ops.iter().enumerate() {
        let (old_text, new_text) = (text(&old, op.old_range()), text(&new, op.new_range()));
        let between = at > 0 && at + 1 < ops.len();
        let confetti = between && old_text.chars().count() < CONFETTI_CHARS;
        if matches!(op, DiffOp::Equal { .. }) && !confetti {
            flush(&mut removed, &mut added, &mut out);
            out.push(part_of("same", &old_text));
        } else {
            removed.push_str(&old_text);
            added.push_str(&new_text);
        }
    }
    flush(&mut removed, &mut added, &mut out);
    out
}

/// Letters and digits that stand together, and every other character by itself.
fn tokens(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_ascii_alphanumeric());
        let end = match word.unwrap_or(rest.len()) {
            0 => first.len_utf8(),
            end => end,
        };
        let (token, after) = rest.split_at(end);
        out.push(token);
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(before: &str, after: &str) -> Vec<DiffLine> {
        super::lines(before, after, Instant::now() + LINES_TIME)
    }

    /// `=same` `-removed` `+added` `~changed`, with the parts of a changed line as `[-old-]{+new+}`.
    fn shown(before: &str, after: &str) -> Vec<String> {
        let part = |part: &DiffPart| match &*part.part {
            "removed" => format!("[-{}-]", part.text),
            "added" => format!("{{+{}+}}", part.text),
            _ => part.text.clone(),
        };
        let line = |line: &DiffLine| match (&*line.line, line.lines) {
            (_, Some(n)) => format!("…{n}"),
            ("same", _) => format!("={}", line.parts[0].text),
            ("removed", _) => format!("-{}", line.parts[0].text),
            ("added", _) => format!("+{}", line.parts[0].text),
            _ => format!("~{}", line.parts.iter().map(part).collect::<String>()),
        };
        lines(before, after).iter().map(line).collect()
    }

    #[test]
    fn diff_chinese_characters() {
        let before = "川南页岩气水平井产量创新高。\n储气库转入注气。\n三\n四\n五\n六";
        let after = "川南页岩气水平井日产量再创新高。\n储气库转入注气。\n三\n四\n五\n六\n全文完。";
        assert_eq!(
            shown(before, after),
            [
                "~川南页岩气水平井{+日+}产量{+再+}创新高。",
                "=储气库转入注气。",
                "…3",
                "=六",
                "+全文完。"
            ]
        );
    }

    #[test]
    fn diff_keeps_words_whole() {
        assert_eq!(
            shown(
                "今年产量 1250 万吨，增长 6.5%",
                "今年产量 1380 万吨，增长 7.5%"
            ),
            ["~今年产量 [-1250-]{+1380+} 万吨，增长 [-6-]{+7+}.5%"]
        );
        assert_eq!(
            shown(
                "甲公司与乙方的合同昨天签字生效",
                "甲公司和丙方及合同昨天签字生效"
            ),
            ["~甲公司[-与乙方的-]{+和丙方及+}合同昨天签字生效"]
        );
    }

    #[test]
    fn diff_unlike_lines_apart() {
        assert_eq!(
            shown("油价今日上涨。\n完", "招聘启事\n完"),
            ["-油价今日上涨。", "+招聘启事", "=完"]
        );
        assert_eq!(shown("一\n\n二", "一\n 二 "), [""; 0]);
        assert_eq!(shown("", "一"), ["+一"]);
    }

    #[test]
    fn diff_inserted_before_changed() {
        assert_eq!(
            shown("川南页岩气产量创新高", "本报讯\n川南页岩气产量创下新高"),
            ["+本报讯", "~川南页岩气产量创{+下+}新高"]
        );
    }

    #[test]
    fn diff_time_is_bounded() {
        let line =
            |n: usize, salt: usize| format!("第{}行{}", n * salt % 7_919, "页岩气产量".repeat(20));
        let text = |salt| {
            (0..20_000)
                .map(|n| line(n, salt))
                .collect::<Vec<_>>()
                .join("\n")
        };
        let (before, after) = (text(31), text(37));
        let started = Instant::now();
        assert!(!lines(&before, &after).is_empty());
        let one_line = "油".repeat(2_000_000);
        assert!(!lines(&one_line, &format!("气{one_line}")).is_empty());
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "{:?}",
            started.elapsed()
        );
    }

    proptest! {
        #[test]
        fn diff_contains_both_texts(before in "[油气 a1。\n]{0,40}", after in "[油气 a1。\n]{0,40}") {
            let found = lines(&before, &after);
            let side = |without: &str| -> String {
                let parts = found.iter().flat_map(|line| &line.parts);
                parts.filter(|part| part.part != without).map(|part| part.text.as_str()).collect()
            };
            let left_out = found.iter().any(|line| line.lines.is_some());
            let plain = |text: &str| filled(text).concat();
            if found.is_empty() {
                prop_assert_eq!(plain(&before), plain(&after));
            } else if !left_out {
                prop_assert_eq!(side("added"), plain(&before));
                prop_assert_eq!(side("removed"), plain(&after));
            }
        }
    }
}
