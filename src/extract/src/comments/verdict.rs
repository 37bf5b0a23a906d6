//! Decides whether a group of records is comments, from [`CommentSigns`] for and against. Lists of news, menus, recommendations
//! and live reports repeat and contain times as well, but have no readers who speak.

use std::ops::Range;

use foldhash::HashSet;

use super::fields::RecordFields;
use super::record::Record;
use super::time_cues::TIME_LEVELS;
use super::{author, record, words};
use crate::page::{Attr, NodeId, Page, Tag};
use crate::similarity::Skeleton;
use crate::similarity::pol::LeafPaths;

/// Evidence from which records are comments.
const ENOUGH: f32 = 4.5;
/// The same for a single record, which nothing repeats.
const ENOUGH_ALONE: f32 = 6.0;
/// Evidence of a URL of a forum, where only their voices identify records.
const FORUM: f32 = 1.5;
/// Levels above a record that may be called comments.
const LEVELS: usize = 5;
/// Texts before the first record among which its heading may be.
pub(super) const HEADING_TEXTS: usize = 14;

/// What was seen of a group. Shares are of its records with text, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct CommentSigns {
    /// Records with text.
    pub records: usize,
    /// Records or what is around them are called comments.
    pub called: bool,
    /// Records are called posts or answers.
    pub posts: bool,
    /// A heading above speaks of comments.
    pub heading: bool,
    /// Share with a time.
    pub times: f32,
    /// Share with a name.
    pub authors: f32,
    /// Share with a name that the page calls one.
    pub named: f32,
    /// Share with buttons of comments.
    pub tools: f32,
    /// Share of the text inside links.
    pub linked: f32,
    /// Share of different texts.
    pub variety: f32,
    /// Share of different names among the names.
    pub voices: f32,
    /// Share with a headline that is a link.
    pub headlines: f32,
}

/// What speaks for and against a group.
fn collect_signs(
    page: &Page,
    records: &[Record],
    fields: &[RecordFields],
    marked: &[NodeId],
) -> CommentSigns {
    let kept: Vec<(&Record, &RecordFields)> = records
        .iter()
        .zip(fields)
        .filter(|(_, f)| !f.text.is_empty())
        .collect();
    let Some((first, _)) = kept.first() else {
        return CommentSigns::default();
    };
    let count = kept.len() as f32;
    let share = |holds: &dyn Fn(&(&Record, &RecordFields)) -> bool| {
        kept.iter().filter(|k| holds(k)).count() as f32 / count
    };
    let bytes: usize = kept.iter().map(|(_, f)| f.text.len()).sum();
    let linked: usize = kept.iter().map(|(_, f)| f.linked).sum();
    let texts: HashSet<&str> = kept.iter().map(|(_, f)| f.text.as_str()).collect();
    let names: Vec<&str> = kept
        .iter()
        .filter_map(|(_, f)| f.author.as_deref())
        .collect();
    let voices: HashSet<&&str> = names.iter().collect();
    CommentSigns {
        records: kept.len(),
        called: is_called(page, first.range.start, marked),
        posts: elements_around(page, first.range.start)
            .take(3)
            .any(|id| record::is_called(page, id, words::POST)),
        heading: has_heading(page, first.range.start)
            || share(&|(record, _)| is_labelled(page, &record.range)) >= LABELLED,
        times: share(&|(_, f)| f.time.is_some()),
        authors: share(&|(_, f)| f.author.is_some()),
        named: share(&|(_, f)| f.named),
        tools: share(&|(_, f)| f.answers),
        linked: linked as f32 / bytes.max(1) as f32,
        variety: texts.len() as f32 / count,
        voices: voices.len() as f32 / names.len().max(1) as f32,
        headlines: share(&|(record, _)| has_headline(page, record)),
    }
}

/// The sum of the evidence.
fn sum_evidence(signs: &CommentSigns, forum: bool) -> f32 {
    let flag = |on: bool| f32::from(u8::from(on));
    let links = if signs.called && signs.tools > 0.5 {
        1.0
    } else {
        4.0
    };
    2.0 * flag(signs.called)
        + 1.5 * flag(signs.heading)
        + 1.0 * flag(signs.posts)
        + 0.7 * signs.authors
        + 1.3 * signs.named
        + 1.5 * signs.times
        + 1.5 * signs.tools
        + signs.variety
        - links * signs.linked
        - if forum { 0.0 } else { 2.5 * signs.headlines }
}

/// Share of a group that must have a field at the same place for it to be usual.
const USUAL: f32 = 0.7;

/// Blanks the text of records that are not like the rest: events of a thread, the list around the records, a card next to
/// them. Of the usual places (time, name, text) a record may miss one.
pub(super) fn drop_unlike(fields: &mut [RecordFields]) {
    let kept = fields.iter().filter(|f| !f.text.is_empty()).count() as f32;
    let is_usual: Vec<bool> = (0..3)
        .map(|place| {
            fields
                .iter()
                .filter(|f| !f.text.is_empty() && f.usual[place])
                .count() as f32
                >= USUAL * kept
        })
        .collect();
    let usual = is_usual.iter().filter(|u| **u).count();
    for field in fields.iter_mut() {
        let has = (0..3)
            .filter(|place| is_usual[*place] && field.usual[*place])
            .count();
        if has + 1 < usual {
            field.text.clear();
        }
    }
}

/// Text of a first record over the median of the others from which it may be the article above its comments.
const ARTICLE_FACTOR: usize = 4;
/// Similarity of leaf paths below which it is not of their kind.
const UNLIKE: f64 = 0.4;

/// The first record is so much longer than the others that it may be something else.
fn has_long_beginnings(fields: &[RecordFields]) -> bool {
    let mut sizes: Vec<usize> = fields
        .iter()
        .skip(1)
        .map(|f| f.text.len())
        .filter(|len| *len > 0)
        .collect();
    sizes.sort_unstable();
    let (Some(first), Some(median)) = (fields.first(), sizes.get(sizes.len() / 2)) else {
        return false;
    };
    first.text.len() >= ARTICLE_FACTOR * median
}

/// The first record is built otherwise than the second.
fn has_unlike_beginnings(page: &Page, records: &[Record]) -> bool {
    let paths = |record: &Record| LeafPaths::new(&Skeleton::of_names(page, record.range.start));
    paths(&records[0]).similarity(&paths(&records[1])) < UNLIKE
}

/// The signs of a group when it is comments. Blanks the first record when it is much longer than the others and built
/// otherwise: an element around the article has the same class as those around its comments.
pub(super) fn judge_group(
    page: &Page,
    records: &[Record],
    fields: &mut [RecordFields],
    marked: &[NodeId],
    [forum, unnamed]: [bool; 2],
) -> Option<CommentSigns> {
    let accepted =
        |signs: CommentSigns| Some(signs).filter(|signs| is_comments(signs, forum, unnamed));
    let all = accepted(collect_signs(page, records, fields, marked));
    if !has_long_beginnings(fields) {
        return all;
    }
    let others = accepted(collect_signs(page, &records[1..], &fields[1..], marked));
    // How they are built costs more than all else, and need not be known when nothing comes of it.
    if all.is_none() && others.is_none() {
        return None;
    }
    if has_unlike_beginnings(page, records) {
        fields[0].text.clear();
        return others;
    }
    all
}

/// True when the evidence is enough.
fn is_comments(signs: &CommentSigns, forum: bool, unnamed: bool) -> bool {
    if signs.records < 2 && signs.times < 0.5 {
        return false;
    }
    let speaks = signs.called
        || signs.heading
        || signs.tools > 0.3
        || (signs.posts && signs.named > 0.6 && forum)
        || (unnamed && is_talk(signs, forum));
    let someone = signs.authors >= 0.5 || (signs.called && signs.times > 0.5 && signs.tools > 0.3);
    let enough = if signs.records < 2 {
        ENOUGH_ALONE
    } else {
        ENOUGH
    };
    signs.records > 0
        && speaks
        && someone
        && sum_evidence(signs, forum) + if unnamed && forum { FORUM } else { 0.0 } >= enough
}

/// Share of records that nearly all of them are.
const MOST: f32 = 0.8;
/// Records from which several voices that each contain a time are a talk, whatever the page calls them.
const TALK_RECORDS: usize = 3;
/// Share of its text inside links: lists of news consist of links.
const TALK_LINKED: f32 = 0.2;

/// People speak, each with a time and, unless the URL is that of a forum, by a name that is called one; and nothing
/// but that.
fn is_talk(signs: &CommentSigns, forum: bool) -> bool {
    signs.records >= TALK_RECORDS
        && (signs.named > MOST || forum && signs.authors > MOST)
        && signs.times > MOST
        && signs.headlines == 0.0
        && signs.linked < TALK_LINKED
        && signs.voices * signs.records as f32 >= 2.0
}

/// Records checked for buttons before a group is read whole.
const PROBED: usize = 4;

/// False for a group that cannot be comments: nothing around it is called so, and its first records have no buttons and name
/// nobody, or it is a single record that contains no time. `timed` are the signs of time.
pub(super) fn may_speak(
    page: &Page,
    records: &[Range<NodeId>],
    timed: &[NodeId],
    marked: &[NodeId],
    forum: bool,
    unnamed: bool,
) -> bool {
    let Some(first) = records.first() else {
        return false;
    };
    if records.len() == 1 && !has_time(page, first, timed) {
        return false;
    }
    let mut nodes = records.iter().take(PROBED).flat_map(Clone::clone);
    forum
        || is_called(page, first.start, marked)
        || nodes
            .any(|id| page.node(id).tag == Tag::TEXT && words::is_answer_tool(page.text(id).trim()))
        || has_heading(page, first.start)
        || records
            .iter()
            .take(PROBED)
            .any(|record| is_labelled(page, record))
        || unnamed
            && records.len() >= TALK_RECORDS
            && records
                .iter()
                .take(PROBED)
                .all(|r| has_person_name(page, r))
}

/// A link to a person's page is in the record, or one that is called a name.
fn has_person_name(page: &Page, record: &Range<NodeId>) -> bool {
    let mut links = record.clone().filter(|id| page.node(*id).tag == Tag::A);
    links.any(|id| {
        page.attr(id, Attr::Href).is_some_and(author::is_person)
            || record::is_called(page, id, words::AUTHOR)
    })
}

/// A sign of time is in the record, or the record in a `<time>`.
pub(super) fn has_time(page: &Page, record: &Range<NodeId>, timed: &[NodeId]) -> bool {
    let next = timed.partition_point(|sign| *sign < record.start);
    timed.get(next).is_some_and(|sign| *sign < record.end)
        || page
            .ancestors(record.start)
            .take(TIME_LEVELS)
            .any(|above| page.node(above).tag == Tag::TIME)
}

/// A record that begins at this node, or an element close around it, is called a comment.
fn is_called(page: &Page, start: NodeId, marked: &[NodeId]) -> bool {
    elements_around(page, start).any(|id| is_comment(page, id, marked))
}

/// The element at which a record begins and those close around it, whose names may say what it is.
pub(super) fn elements_around(page: &Page, start: NodeId) -> impl Iterator<Item = NodeId> {
    std::iter::once(start)
        .chain(page.ancestors(start).take(LEVELS))
        .filter(|id| !matches!(page.node(*id).tag, Tag::BODY | Tag::HTML))
}

/// The element is called a comment.
pub(super) fn is_comment(page: &Page, id: NodeId, marked: &[NodeId]) -> bool {
    marked.binary_search(&id).is_ok() || record::is_called(page, id, words::COMMENT)
}

/// One of the texts right before a record is a heading of comments.
fn has_heading(page: &Page, start: NodeId) -> bool {
    let texts = (0..start)
        .rev()
        .filter(|id| page.node(*id).tag == Tag::TEXT);
    texts
        .filter(|id| !page.text(*id).trim().is_empty())
        .take(HEADING_TEXTS)
        .any(|id| words::is_heading(page.text(id).trim()))
}

/// Share of records with a label of their own from which the labels are their heading.
const LABELLED: f32 = 0.7;

/// The first text of a record says that it is a comment and whose: `Our reader's comment: Anna`.
fn is_labelled(page: &Page, record: &Range<NodeId>) -> bool {
    let mut texts = record
        .clone()
        .filter(|id| page.node(*id).tag == Tag::TEXT)
        .map(|id| page.text(id).trim());
    let first = texts.find(|text| !text.is_empty());
    first.is_some_and(|text| words::strip_comment_label(text).is_some())
}

fn has_headline(page: &Page, record: &Record) -> bool {
    record.pieces.iter().any(|piece| {
        piece.linked
            && piece.text.chars().count() >= 8
            && record
                .around(piece)
                .take(3)
                .any(|e| page.node(record.elements[e].node).tag.is_heading())
    })
}
