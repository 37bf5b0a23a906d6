//! Finds the author of each record of a group. The place of the name is chosen by votes over the whole group: by the names
//! of elements, by links to people's pages, by a position before the time. A sentence is never taken for a name.

use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt as _, HashSet};

use super::record::{self, Key, Record, RecordPiece, Role};
use super::{time_cues, words};
use crate::cues;
use crate::page::{Attr, NodeId, Page, Tag};

/// Longest name, in bytes.
const MAX_NAME: usize = 72;
/// Support that a place must have on average.
const LEAST_SUPPORT: f32 = 1.5;

/// A writer found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Writer {
    /// Index of the piece that holds the name.
    pub piece: usize,
    /// The name as printed.
    pub name: String,
    /// The page calls it a name, it is not only where one would be.
    pub named: bool,
}

/// The writers of the records. `times` are the pieces with the main time.
pub(super) fn find_authors(
    page: &Page,
    records: &[Record],
    roles: &[Vec<Role>],
    times: &[Option<usize>],
) -> Vec<Option<Writer>> {
    // For each place: support, names, records that have it, one more than the last of these.
    let mut votes: HashMap<Key, (f32, HashSet<&str>, usize, usize)> = HashMap::new();
    let mut order: Vec<Key> = Vec::new();
    let mut known: HashMap<Key, f32> = HashMap::new();
    let mut own: Vec<Vec<(usize, f32)>> = Vec::with_capacity(records.len());
    for (at, record) in records.iter().enumerate() {
        let mut mine = Vec::new();
        let mut before = 0;
        for (index, piece) in record.pieces.iter().enumerate() {
            let role = roles[at][index];
            let support = support(page, record, role, (index, before), times[at], &mut known);
            // A time that is first does not push the name behind it away, nor do buttons and counts of votes.
            let is_beside =
                matches!(role, Role::Tool | Role::Count) || index == 0 && role == Role::Time;
            before += usize::from(!is_beside);
            if support <= 0.0 {
                continue;
            }
            mine.push((index, support));
            let vote = votes.entry(piece.slot).or_insert_with(|| {
                order.push(piece.slot);
                Default::default()
            });
            if vote.3 != at + 1 {
                vote.0 += support;
                vote.1.insert(&piece.text);
                vote.2 += 1;
                vote.3 = at + 1;
            }
        }
        own.push(mine);
    }
    // Names differ from record to record; what is the same everywhere is a label.
    let worth = |slot: &Key| {
        let (sum, texts, count, _) = &votes[slot];
        sum * (texts.len() as f32 / *count as f32).max(0.2)
    };
    let mut best: Option<(Key, f32)> = None;
    for slot in &order {
        let worth = worth(slot);
        if votes[slot].0 >= LEAST_SUPPORT * votes[slot].2 as f32 && best.is_none_or(|b| worth > b.1)
        {
            best = Some((*slot, worth));
        }
    }
    (0..records.len())
        .map(|at| {
            let record = &records[at];
            let in_slot = |c: &&(usize, f32)| best.is_some_and(|b| record.pieces[c.0].slot == b.0);
            let strongest = || {
                own[at]
                    .iter()
                    .filter(|c| c.1 >= LEAST_SUPPORT)
                    .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
            };
            let chosen = own[at].iter().find(in_slot).or_else(strongest)?;
            let piece = &record.pieces[chosen.0];
            let named = has_author_name(page, record, piece);
            let name = clean_name(&piece.text, roles[at][chosen.0] == Role::Time);
            (!name.is_empty()).then_some(Writer {
                piece: chosen.0,
                name,
                named,
            })
        })
        .collect()
}

/// The place at which most records have the writer.
pub(super) fn find_usual_slot(records: &[Record], writers: &[Option<Writer>]) -> Option<Key> {
    let mut counts: Vec<(Key, usize)> = Vec::new();
    for (record, writer) in records.iter().zip(writers) {
        let Some(writer) = writer else { continue };
        let slot = record.pieces[writer.piece].slot;
        match counts.iter_mut().find(|c| c.0 == slot) {
            Some(count) => count.1 += 1,
            None => counts.push((slot, 1)),
        }
    }
    let most = counts.iter().map(|c| c.1).max()?;
    counts.iter().find(|c| c.1 == most).map(|c| c.0)
}

/// What the elements around a piece are called speaks for its being a name.
fn find_called(page: &Page, record: &Record, piece: &RecordPiece) -> f32 {
    let mut sum = 0.0;
    for (level, at) in record
        .around(piece)
        .take(4)
        .enumerate()
        .filter(|(_, at)| *at != 0)
    {
        let node = record.elements[at].node;
        let weight = if level == 0 { 1.0 } else { 0.7 };
        // A link to a person's page is a name, whatever words its classes of colours and sizes have.
        let to_person =
            page.node(node).tag == Tag::A && page.attr(node, Attr::Href).is_some_and(is_person);
        if !to_person && record::is_called(page, node, words::NOT_AUTHOR) {
            sum -= 1.5 * weight;
        }
        if is_declared(page, node) {
            sum += 3.0;
        } else if record::is_called(page, node, words::AUTHOR) {
            sum += 2.0 * weight;
        }
        if to_person {
            sum += 2.0;
        }
    }
    sum
}

/// How much speaks for a piece being the writer's name; 0 when it cannot be. `before` are the pieces before it, at
/// `index`, that push a name away.
fn support(
    page: &Page,
    record: &Record,
    role: Role,
    (index, before): (usize, usize),
    time: Option<usize>,
    known: &mut HashMap<Key, f32>,
) -> f32 {
    let piece = &record.pieces[index];
    if role == Role::Time {
        // `张三 发表于 2019-1-1`: name and time in one text.
        let name = clean_name(&piece.text, true);
        return if Some(index) == time && is_name(&name) && !words::is_tool(&name) {
            LEAST_SUPPORT
        } else {
            0.0
        };
    }
    if !matches!(role, Role::Text | Role::Label | Role::Count) || !is_name(&piece.text) {
        return 0.0;
    }
    let mut sum = *known
        .entry(piece.slot)
        .or_insert_with(|| find_called(page, record, piece));
    if let Some(time) = time {
        let same = record.pieces[time].line == piece.line;
        sum += if same && index < time {
            1.0
        } else if index < time {
            0.5
        } else {
            0.2
        };
    }
    sum += if before == 0 {
        1.0
    } else if before < 3 {
        0.5
    } else {
        0.0
    };
    sum += if piece.linked || is_in_tag(page, record, piece, &[Tag::B, Tag::STRONG, Tag::CITE]) {
        0.5
    } else {
        0.0
    };
    if role == Role::Text { sum } else { sum * 0.5 }
}

fn is_in_tag(page: &Page, record: &Record, piece: &RecordPiece, tags: &[Tag]) -> bool {
    record
        .around(piece)
        .take(2)
        .any(|e| tags.contains(&page.node(record.elements[e].node).tag))
}

/// Classes of a writer's name.
static WRITERS: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("class.writer"));

/// The markup itself says that this is the writer.
fn is_declared(page: &Page, node: NodeId) -> bool {
    let prop = page.attr(node, Attr::Itemprop).unwrap_or_default();
    let rel = page.attr(node, Attr::Rel).unwrap_or_default();
    let class = page.attr(node, Attr::Class).unwrap_or_default();
    matches!(prop, "author" | "creator")
        || rel.split_ascii_whitespace().any(|r| r == "author")
        || class
            .split_ascii_whitespace()
            .any(|c| WRITERS.iter().any(|known| known == c))
}

/// True when the elements around the piece are called a writer.
pub(super) fn has_author_name(page: &Page, record: &Record, piece: &RecordPiece) -> bool {
    is_name(&piece.text)
        && record.around(piece).take(3).filter(|e| *e != 0).any(|e| {
            let node = record.elements[e].node;
            let href = page.attr(node, Attr::Href);
            record::is_called(page, node, words::AUTHOR)
                || is_declared(page, node)
                || href.is_some_and(is_person)
        })
}

/// URLs of people's pages.
pub(super) fn is_person(href: &str) -> bool {
    static PARTS: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("link.person"));
    let begins = |part: &String| {
        let name = part.strip_prefix('/');
        name.is_some_and(|name| href.starts_with(name))
    };
    PARTS.iter().any(|part| href.contains(part.as_str())) || PARTS.iter().any(begins)
}

/// Short, without the signs of a sentence.
fn is_name(text: &str) -> bool {
    let text = words::strip_comment_label(text).unwrap_or(text);
    text.len() <= MAX_NAME
        && text.chars().any(char::is_alphanumeric)
        && !text.ends_with(['。', '！', '？', '!', '?', ';', '；'])
        && !text.contains(['，', '。', '：', '？', '！'])
        && !text.starts_with("ip:")
        && text.split_whitespace().count() <= 5
}

/// A name without what is around it: `作者：`, brackets, the time.
fn clean_name(text: &str, with_time: bool) -> String {
    let name = strip_ending(strip_label(if with_time {
        find_beside_time(text)
    } else {
        text
    }));
    name.trim_start_matches(|c: char| c == '@' || c.is_whitespace())
        .to_owned()
}

/// What is before the time of a text, or else behind it; all of a text without a time.
fn find_beside_time(text: &str) -> &str {
    let Some(range) = time_cues::find_time(text) else {
        return text;
    };
    let before = text.get(..range.start).unwrap_or_default().trim();
    if before.is_empty() {
        text.get(range.end..).unwrap_or_default().trim()
    } else {
        before
    }
}

/// Words before a name, with a colon; of those of Latin letters there may be none. Words behind a name.
static WORDS: LazyLock<[Vec<String>; 2]> =
    LazyLock::new(|| ["comment.name.before", "comment.name.after"].map(cues::words));

fn strip_label(text: &str) -> &str {
    if let Some(name) = words::strip_comment_label(text) {
        return name;
    }
    WORDS[0].iter().fold(text, |rest, label| {
        let (head, after) = rest.split_at_checked(label.len()).unwrap_or_default();
        if !head.eq_ignore_ascii_case(label) {
            return rest;
        }
        let after = after.trim_start();
        let latin = label.is_ascii().then_some(after);
        let inner = after.strip_prefix([':', '：']).or(latin);
        inner.unwrap_or(rest).trim_start()
    })
}

/// Signs between a name and what is behind it.
const JOINTS: &str = ":：,，|-–—@[【(（/·•";

/// The text without a word behind the name; a short one counts only where a sign is before it.
fn strip_ending(text: &str) -> &str {
    let is_joint = |c: char| c.is_whitespace() || JOINTS.contains(c);
    let text = text.trim_end_matches(is_joint);
    let before = WORDS[1].iter().find_map(|ending| {
        let before = text.strip_suffix(ending.as_str())?;
        (before.ends_with(is_joint) || (!before.is_empty() && ending.len() > 3)).then_some(before)
    });
    before.map_or(text, |before| before.trim_end_matches(is_joint))
}

/// The writer of the quoted comment of a record.
pub(super) fn find_quoted_author(page: &Page, record: &Record, roles: &[Role]) -> Option<String> {
    let quotes = || {
        record
            .pieces
            .iter()
            .zip(roles)
            .filter(|(_, role)| **role == Role::Quote)
            .map(|(piece, _)| piece)
    };
    let named = quotes().find(|piece| has_author_name(page, record, piece));
    named
        .or_else(|| quotes().next().filter(|p| p.linked && is_name(&p.text)))
        .map(|p| clean_name(&p.text, false))
}
