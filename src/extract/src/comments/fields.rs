//! Reads the [`RecordFields`] of the records of a group: author, time, text, parent, votes. What all records have at the same
//! place is a label, what differs is data; so fields are found over the whole group, not record by record.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use foldhash::{HashSet, HashSetExt as _};

use super::record::{self, Key, Record, RecordPiece, Role};
use super::time_cues::TIME_LEVELS;
use super::{author, time_cues as signs, words};
use crate::cues;
use crate::literals::Literals;
use crate::page::{NodeId, Page, Tag};

/// Share of the records that must say the same for it to be a label.
const LABEL_SHARE: f32 = 0.34;
/// Fewest records that must say the same.
const LABEL_RECORDS: usize = 3;
/// Least length of a sentence that mentions a time, in bytes.
const SENTENCE_BYTES: usize = 40;
/// Words of a sentence, which a line of name and time does not have.
const SENTENCE_WORDS: usize = 12;
/// Longest label, in bytes.
const LABEL_BYTES: usize = 60;

/// The fields of one record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RecordFields {
    pub author: Option<String>,
    /// The sign of time.
    pub time: Option<NodeId>,
    pub text: String,
    /// Text nodes of the text.
    pub nodes: Vec<NodeId>,
    /// Text nodes of the name and the time.
    pub heads: Vec<NodeId>,
    pub reply_to: Option<String>,
    pub votes: Option<i64>,
    /// The record has buttons of comments: answer, quote, report, vote.
    pub answers: bool,
    /// Bytes of the text inside links.
    pub linked: usize,
    /// Is where most of the group are: the time, the name, the text.
    pub usual: [bool; 3],
    /// The author is called one, or the name links to a person's page.
    pub named: bool,
}

/// The fields of all records of a group.
pub(super) fn read_fields(page: &Page, records: &[Record], signs: &[NodeId]) -> Vec<RecordFields> {
    let labels = RepeatedTexts::find(records);
    let time_slot = find_time_slot(page, records, signs);
    let mut roles: Vec<Vec<Role>> = records
        .iter()
        .map(|record| {
            let role = |piece: &RecordPiece| {
                let elsewhere = time_slot.is_some_and(|slot| slot != piece.slot);
                match guess_role(page, piece, signs, &labels) {
                    // A time that somebody mentions is no time of the record.
                    Role::Time if elsewhere && is_sentence(&piece.text) => Role::Text,
                    role => role,
                }
            };
            record.pieces.iter().map(role).collect()
        })
        .collect();
    let times: Vec<Option<usize>> = records
        .iter()
        .zip(&roles)
        .map(|(record, roles)| find_main_time(record, roles, time_slot))
        .collect();
    let authors = author::find_authors(page, records, &roles, &times);
    for (at, record) in records.iter().enumerate() {
        let name = authors[at].as_ref().map(|a| a.piece);
        if let Some(piece) = name {
            roles[at][piece] = Role::Author;
        }
        mark_quotes(page, record, &mut roles[at], times[at], name);
        mark_heads(record, &mut roles[at], times[at], name);
    }
    let content = find_content_slot(page, records, &roles);
    let author_slot = author::find_usual_slot(records, &authors);
    (0..records.len())
        .map(|at| {
            let author = authors[at].as_ref();
            let mut out = join_text(page, &records[at], &roles[at], content);
            let has = |slot: Option<Key>, piece: Option<usize>| {
                slot.is_some() && piece.map(|p| records[at].pieces[p].slot) == slot
            };
            out.usual = [
                has(time_slot, times[at]),
                has(author_slot, author.map(|a| a.piece)),
                out.usual[2],
            ];
            out.time = times[at].map(|t| records[at].pieces[t].node);
            let heads = times[at].into_iter().chain(author.map(|a| a.piece));
            out.heads = heads
                .map(|at_piece| records[at].pieces[at_piece].node)
                .collect();
            out.author = author.map(|a| a.name.clone());
            out.named = author.is_some_and(|a| a.named);
            out.answers = records[at]
                .pieces
                .iter()
                .any(|p| words::is_answer_tool(&p.text));
            out.votes = read_votes(page, &records[at], &roles[at]);
            let quoted = author::find_quoted_author(page, &records[at], &roles[at]);
            let other = quoted.filter(|name| Some(name) != out.author.as_ref());
            out.reply_to = other.or_else(|| find_addressee(&out.text));
            out
        })
        .collect()
}

/// Texts that many records have at the same place, by their hashes.
struct RepeatedTexts {
    /// Sorted.
    hashes: Vec<u64>,
}

impl RepeatedTexts {
    fn find(records: &[Record]) -> Self {
        if records.len() < LABEL_RECORDS {
            return Self { hashes: Vec::new() };
        }
        // Each text once for a record.
        let mut told: Vec<(u64, usize)> = Vec::new();
        for (at, record) in records.iter().enumerate() {
            let short = record.pieces.iter().filter(|p| p.text.len() <= LABEL_BYTES);
            told.extend(short.map(|piece| (piece.hash(), at)));
        }
        told.sort_unstable();
        told.dedup();
        let least = LABEL_RECORDS.max((records.len() as f32 * LABEL_SHARE) as usize);
        let same = told.chunk_by(|a, b| a.0 == b.0);
        let hashes = same
            .filter(|same| same.len() >= least)
            .map(|same| same[0].0);
        Self {
            hashes: hashes.collect(),
        }
    }

    fn hold(&self, piece: &RecordPiece) -> bool {
        let may = !self.hashes.is_empty() && piece.text.len() <= LABEL_BYTES;
        may && self.hashes.binary_search(&piece.hash()).is_ok()
    }
}

fn guess_role(page: &Page, piece: &RecordPiece, signs: &[NodeId], labels: &RepeatedTexts) -> Role {
    if is_timed(page, piece, signs) {
        Role::Time
    } else if words::is_tool(&piece.text) {
        Role::Tool
    } else if words::is_count(&piece.text) {
        Role::Count
    } else if labels.hold(piece) {
        Role::Label
    } else {
        Role::Text
    }
}

/// Longer than a line of name and time: it ends like a sentence, or has as many words as one.
fn is_sentence(text: &str) -> bool {
    let ends = text.ends_with(['.', '!', '?', '…', '。', '！', '？']);
    text.len() > SENTENCE_BYTES && (ends || text.split_whitespace().count() >= SENTENCE_WORDS)
}

/// The place at which most records contain a time. Of equals the one that is a `<time>`, then the one whose times differ
/// most (the day a writer joined is the same in all posts), then the earliest.
fn find_time_slot(page: &Page, records: &[Record], signs: &[NodeId]) -> Option<Key> {
    let mut found: Vec<(Key, usize, HashSet<&str>, bool)> = Vec::new();
    for record in records {
        let mut seen = HashSet::new();
        for piece in record.pieces.iter().filter(|p| is_timed(page, p, signs)) {
            if !seen.insert(piece.slot) {
                continue;
            }
            let declared = page.node(page.node(piece.node).parent).tag == Tag::TIME;
            match found.iter_mut().find(|f| f.0 == piece.slot) {
                Some(known) => {
                    known.1 += 1;
                    known.2.insert(&piece.text);
                }
                None => found.push((
                    piece.slot,
                    1,
                    HashSet::from_iter([piece.text.as_str()]),
                    declared,
                )),
            }
        }
    }
    let mut best: Option<&(Key, usize, HashSet<&str>, bool)> = None;
    for slot in &found {
        let worth = |f: &(Key, usize, HashSet<&str>, bool)| (f.1, f.3, f.2.len());
        if best.is_none_or(|b| worth(slot) > worth(b)) {
            best = Some(slot);
        }
    }
    best.map(|b| b.0)
}

/// True for a piece that is a sign of time or is in one.
fn is_timed(page: &Page, piece: &RecordPiece, signs: &[NodeId]) -> bool {
    signs.binary_search(&piece.node).is_ok()
        || page
            .ancestors(piece.node)
            .take(TIME_LEVELS)
            .any(|a| page.node(a).tag == Tag::TIME && signs.binary_search(&a).is_ok())
}

fn find_main_time(record: &Record, roles: &[Role], slot: Option<Key>) -> Option<usize> {
    let is_time = |at: &usize| roles[*at] == Role::Time;
    let all = || (0..roles.len()).filter(is_time);
    all()
        .find(|at| Some(record.pieces[*at].slot) == slot)
        .or_else(|| all().next())
}

fn join_text(page: &Page, record: &Record, roles: &[Role], content: Key) -> RecordFields {
    let inside = |piece: &RecordPiece| {
        record
            .around(piece)
            .any(|e| record.elements[e].slot == content)
    };
    let signs = find_signs_of_text(page, record, roles);
    let wanted: [&dyn Fn(usize) -> bool; 4] = [
        &|at| (roles[at] == Role::Text || signs[at]) && inside(&record.pieces[at]),
        &|at| {
            matches!(roles[at], Role::Count | Role::Label | Role::Tool)
                && content != 0
                && inside(&record.pieces[at])
        },
        &|at| roles[at] == Role::Text,
        &|at| roles[at] == Role::Head,
    ];
    let chosen = wanted
        .iter()
        .position(|wanted| (0..roles.len()).any(wanted));
    let mut out = RecordFields::default();
    out.usual[2] = chosen.is_some_and(|at| at < 2);
    let Some(wanted) = chosen.map(|at| wanted[at]) else {
        return out;
    };
    let mut last: Option<&RecordPiece> = None;
    for (at, piece) in record
        .pieces
        .iter()
        .enumerate()
        .filter(|(at, _)| wanted(*at))
    {
        if let Some(last) = last {
            if last.line != piece.line {
                out.text.push('\n');
            } else if last.gaps.1 || piece.gaps.0 {
                out.text.push(' ');
            }
        }
        out.text.push_str(&piece.text);
        out.nodes.push(record.pieces[at].node);
        out.linked += if piece.linked { piece.text.len() } else { 0 };
        last = Some(piece);
    }
    let kept = out
        .text
        .trim_start_matches([':', '：', ' ', '\n', '|', '·'])
        .trim_end();
    out.text = kept.to_owned();
    out
}

/// The numbers and signs that go on with a text on its line, as those of `下降<b>-3</b>%`; not those beside a button, and at
/// the end of a line none in an element of its own, which may be a count of votes.
fn find_signs_of_text(page: &Page, record: &Record, roles: &[Role]) -> Vec<bool> {
    let mut out = vec![false; roles.len()];
    let mut at = 0;
    while at < roles.len() {
        let line = record.pieces[at].line;
        let is_sign = |i: &usize| roles[*i] == Role::Count && record.pieces[*i].line == line;
        let end = at + (at..roles.len()).take_while(is_sign).count();
        if end == at {
            at += 1;
            continue;
        }
        let on_line = |i: &usize| record.pieces.get(*i).is_some_and(|p| p.line == line);
        let around = [at.checked_sub(1), Some(end)].into_iter().flatten();
        let around: Vec<usize> = around.filter(on_line).collect();
        let is_beside = around.iter().all(|i| roles[*i] == Role::Text);
        let elements: Vec<usize> = around.iter().map(|i| record.pieces[*i].element).collect();
        let is_inside = |sign: &RecordPiece| {
            let is_around = |text: &usize| record.elements[*text].above == sign.element;
            page.node(record.elements[sign.element].node)
                .tag
                .is_formatting()
                || elements.contains(&sign.element)
                || elements.iter().any(is_around)
        };
        let is_text = match elements.len() {
            0 => false,
            1 => is_beside && record.pieces[at..end].iter().all(is_inside),
            _ => is_beside,
        };
        out[at..end].fill(is_text);
        at = end;
    }
    out
}

/// Votes for it, less those against when both are stated.
fn read_votes(page: &Page, record: &Record, roles: &[Role]) -> Option<i64> {
    let mut out: Option<i64> = None;
    for (at, piece) in record.pieces.iter().enumerate() {
        if !matches!(roles[at], Role::Count | Role::Tool) {
            continue;
        }
        let Some(number) = words::number(&piece.text) else {
            continue;
        };
        let near: Vec<NodeId> = record
            .around(piece)
            .take(3)
            .filter(|e| *e != 0)
            .map(|e| record.elements[e].node)
            .collect();
        let before = at
            .checked_sub(1)
            .map(|b| record.pieces[b].text.as_str())
            .unwrap_or_default();
        let says = |text: &str| VOTED.stand_in(text);
        let against = near
            .iter()
            .take(2)
            .any(|n| record::is_called(page, *n, words::VOTES_AGAINST));
        let for_it = near
            .iter()
            .any(|n| record::is_called(page, *n, words::VOTES));
        if !against && (for_it || says(&piece.text) || says(before)) {
            out = out.or(Some(number));
        }
    }
    out
}

/// Words next to the number of votes for a comment.
static VOTED: LazyLock<Literals> = LazyLock::new(|| cues::compile_seen(&[("comment.voted", 1)]));

/// What is before the name of the one whom a comment answers.
static REPLY: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("comment.reply_to"));

/// The one a text speaks to first: `@name`, `回复 name:`.
fn find_addressee(text: &str) -> Option<String> {
    let first = text.lines().next()?;
    let behind = |word: &String| {
        let rest = first.strip_prefix(word.as_str())?;
        Some(rest.trim_start().trim_start_matches('@'))
    };
    let answers = || REPLY.iter().find_map(behind);
    let rest = first.strip_prefix('@').or_else(answers)?;
    let name: String = rest
        .chars()
        .take_while(|c| {
            !c.is_whitespace() && !matches!(c, ':' | '：' | ',' | '，' | '。' | '!' | '！')
        })
        .take(40)
        .collect();
    (!name.is_empty()).then_some(name)
}

/// Longest rest of the line of name and time that is not kept, in bytes.
const HEAD_LINE_BYTES: usize = 90;

/// Marks what is in a quoted comment: an element that is called so, or that contains a time and has text of its own
/// next to the record's name, time and other text.
pub(super) fn mark_quotes(
    page: &Page,
    record: &Record,
    roles: &mut [Role],
    time: Option<usize>,
    name: Option<usize>,
) {
    let mut own = vec![false; record.elements.len()];
    for piece in time.into_iter().chain(name) {
        for element in record.around(&record.pieces[piece]) {
            own[element] = true;
        }
    }
    let mut quotes: HashSet<usize> = HashSet::new();
    for (at, piece) in record.pieces.iter().enumerate() {
        if roles[at] != Role::Time || Some(at) == time {
            continue;
        }
        let outermost = record.around(piece).take_while(|e| !own[*e]).last();
        // The same time once more is the record's own, printed for a narrow screen.
        let again = time.is_some_and(|t| has_same_time(page, record.pieces[t].node, piece.node));
        if let Some(element) =
            outermost.filter(|e| !again && is_quote(page, record, roles, *e, name))
        {
            quotes.insert(element);
        }
    }
    for (at, element) in record.elements.iter().enumerate().skip(1) {
        if !own[at] && record::is_called(page, element.node, words::ANSWERED) {
            quotes.insert(at);
        }
    }
    if quotes.is_empty() {
        return;
    }
    let inside: Vec<bool> = record
        .pieces
        .iter()
        .map(|piece| record.around(piece).any(|e| quotes.contains(&e)))
        .collect();
    let outside = (0..roles.len()).any(|at| !inside[at] && roles[at] == Role::Text);
    if outside {
        for (at, inside) in inside.into_iter().enumerate() {
            if inside && roles[at] != Role::Time {
                roles[at] = Role::Quote;
            }
        }
    }
}

/// True for an element with a second time that has the name of a writer too, or hardly any text.
fn is_quote(
    page: &Page,
    record: &Record,
    roles: &[Role],
    element: usize,
    name: Option<usize>,
) -> bool {
    let node = record.elements[element].node;
    if record::is_called(page, node, words::QUOTE) {
        return true;
    }
    let end = page.node(node).end;
    let mut bytes = 0;
    let mut writer = false;
    for (piece, role) in record.pieces.iter().zip(roles) {
        if (node..end).contains(&piece.node) && *role == Role::Text {
            bytes += piece.text.len();
            let another = name.is_none_or(|n| record.pieces[n].text != piece.text);
            writer |= another
                && !piece.text.starts_with('@')
                && author::has_author_name(page, record, piece);
        }
    }
    writer || bytes <= HEAD_LINE_BYTES
}

fn has_same_time(page: &Page, a: NodeId, b: NodeId) -> bool {
    signs::print_time(page, a) == signs::print_time(page, b)
}

/// Marks what is on the lines of the time and the name when there is text on other lines.
pub(super) fn mark_heads(
    record: &Record,
    roles: &mut [Role],
    time: Option<usize>,
    name: Option<usize>,
) {
    let lines: HashSet<u32> = time
        .into_iter()
        .chain(name)
        .map(|p| record.pieces[p].line)
        .collect();
    let on_head = |piece: &RecordPiece| lines.contains(&piece.line);
    let elsewhere = record
        .pieces
        .iter()
        .zip(roles.iter())
        .any(|(p, r)| *r == Role::Text && !on_head(p));
    if !elsewhere {
        return;
    }
    for line in lines {
        let texts = || {
            record
                .pieces
                .iter()
                .zip(roles.iter())
                .filter(|(p, r)| p.line == line && **r == Role::Text)
        };
        if texts().map(|(p, _)| p.text.len()).sum::<usize>() > HEAD_LINE_BYTES {
            continue;
        }
        for (piece, role) in record.pieces.iter().zip(roles.iter_mut()) {
            if piece.line == line && *role == Role::Text {
                *role = Role::Head;
            }
        }
    }
}

/// Share of an element's text that a child must have for the text to be sought there.
const DESCEND: f32 = 0.7;
/// Most that one text adds to the weight of its place, in bytes: one long post does not decide for all.
const WEIGHT_BYTES: usize = 400;

/// The place of the text: from the record down, as long as one child has most of what the records say differently.
pub(super) fn find_content_slot(page: &Page, records: &[Record], roles: &[Vec<Role>]) -> Key {
    // For each slot: weight, records that have it, an element of it, one more than the last record that has it.
    let mut slots: BTreeMap<Key, (f32, usize, NodeId, usize)> = BTreeMap::new();
    let mut children: BTreeMap<Key, Vec<Key>> = BTreeMap::new();
    let mut said: HashSet<u64> = HashSet::new();
    let mut with_text = 0;
    for (n, (record, roles)) in (1..).zip(records.iter().zip(roles)) {
        let mut has_text = false;
        for (piece, role) in record.pieces.iter().zip(roles) {
            if *role != Role::Text || !said.insert(piece.hash()) {
                continue;
            }
            has_text = true;
            let weight = piece.text.len().min(WEIGHT_BYTES) as f32;
            let mut below: Option<Key> = None;
            for at in record.around(piece) {
                let element = &record.elements[at];
                let entry = slots
                    .entry(element.slot)
                    .or_insert((0.0, 0, element.node, 0));
                entry.0 += weight;
                entry.1 += usize::from(entry.3 != n);
                entry.3 = n;
                if let Some(child) = below {
                    let known = children.entry(element.slot).or_default();
                    if !known.contains(&child) {
                        known.push(child);
                    }
                }
                below = Some(element.slot);
            }
        }
        with_text += usize::from(has_text);
    }
    let mut at: Key = 0;
    // A slot is never its own descendant but by a clash of hashes; the count ends such a circle.
    for _ in 0..64 {
        let Some((all, ..)) = slots.get(&at) else {
            break;
        };
        let known = children.get(&at).map(Vec::as_slice).unwrap_or_default();
        let weighted = |slot: &Key| {
            let (weight, records, node, _) = slots[slot];
            (weight * rate_slot(page, node), records, node, *slot)
        };
        let below: f32 = known.iter().map(|s| slots[s].0).sum();
        let total: f32 = known.iter().map(|s| weighted(s).0).sum::<f32>() + (all - below).max(0.0);
        let best = known
            .iter()
            .map(weighted)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((weight, records, node, slot)) = best else {
            break;
        };
        let called = page.attr(node, crate::page::Attr::Class).is_some();
        let enters = called || !is_run_of_text(page.node(node).tag);
        if !enters || weight < DESCEND * total || records * 3 < with_text * 2 {
            break;
        }
        at = slot;
    }
    at
}

/// What a class says of being the text.
fn rate_slot(page: &Page, node: NodeId) -> f32 {
    if record::is_called(page, node, words::CONTENT) {
        2.5
    } else if record::is_called(page, node, words::BESIDE) {
        0.4
    } else {
        1.0
    }
}

/// Elements of which a text may have several side by side.
fn is_run_of_text(tag: Tag) -> bool {
    tag.is_inline()
        || tag.is_heading()
        || matches!(
            tag,
            Tag::P | Tag::PRE | Tag::BLOCKQUOTE | Tag::LI | Tag::UL | Tag::OL | Tag::DD | Tag::DT
        )
}
