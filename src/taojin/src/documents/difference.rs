//! How a text differs from what it said before, for a person. In: two texts. Out: lines that are the same, added, removed
//! or changed, and within a changed line the characters. A Chinese text has no blanks between words, so that a character
//! is the smallest part; letters and digits that stand together are one. Ends in time: what is too long to compare
//! closely is shown as removed and added.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, diff_ratio};

use crate::serve::{DiffLine, DiffPart};

/// Time for one text; afterwards the rest is compared roughly. A page of news takes less than a millisecond.
const TIME: Duration = Duration::from_millis(200);
/// Lines that are shown around what differs.
const CONTEXT: usize = 1;
/// Lines with less in common than this are two lines, not one that was changed.
const ALIKE: f32 = 0.5;
/// How far ahead the other half of a changed line is looked for.
const AHEAD: usize = 8;
/// Longest line that is compared character by character, in bytes.
const CLOSE_BYTES: usize = 20_000;
/// Same parts between two that differ are shown with them when they are this short: nobody can read confetti.
const CONFETTI_CHARS: usize = 2;

/// The lines that differ, with some around them; none where the texts say the same. Blank lines do not count.
/// Takes until `until` at most.
pub(super) fn lines(before: &str, after: &str, until: Instant) -> Vec<DiffLine> {
    let deadline = until.min(Instant::now() + TIME);
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
    match out
        .iter()
        .all(|line| matches!(&*line.line, "same" | "left_out"))
    {
        true => Vec::new(),
        false => out,
    }
}

fn filled(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).collect()
}

/// Lines that are the same: those beside a difference, and how many are between.
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
    use super::*;
    use proptest::prelude::*;

    fn lines(before: &str, after: &str) -> Vec<DiffLine> {
        super::lines(before, after, Instant::now() + TIME)
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
    fn a_chinese_line_differs_in_its_characters() {
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
    fn numbers_and_words_are_whole_and_there_is_no_confetti() {
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
    fn other_lines_are_not_one_that_changed() {
        assert_eq!(
            shown("油价今日上涨。\n完", "招聘启事\n完"),
            ["-油价今日上涨。", "+招聘启事", "=完"]
        );
        assert_eq!(shown("一\n\n二", "一\n 二 "), [""; 0]);
        assert_eq!(shown("", "一"), ["+一"]);
    }

    #[test]
    fn a_line_that_was_put_in_before_a_changed_one_is_told_apart() {
        assert_eq!(
            shown("川南页岩气产量创新高", "本报讯\n川南页岩气产量创下新高"),
            ["+本报讯", "~川南页岩气产量创{+下+}新高"]
        );
    }

    #[test]
    fn huge_texts_take_bounded_time() {
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
        fn both_texts_can_be_read_out_of_it(before in "[油气 a1。\n]{0,40}", after in "[油气 a1。\n]{0,40}") {
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
