//! The records that one key proposes, with a value. The value of a [`RecordProposal`] is the text of its records, none counting
//! for more than [`ENOUGH`], times the share that they hold of the text between the first and the last. A record may be a
//! run of siblings (`dt` with `dd`, a row for the name and one for the text).

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::record::{ElementNames, Key, is_control};
use super::time_cues::TimeSign;
use crate::page::{NodeId, Page, Tag};

/// Characters from which a longer record is no better: a name, a time and a few words.
const ENOUGH: u32 = 30;
/// Records of one proposal whose names are compared.
const MAX_COMPARED: usize = 10;
/// Nodes of a record whose names are compared, and levels of them.
const NAMED_NODES: usize = 36;
const NAMED_LEVELS: u16 = 4;
/// Greater than any record; a single record counts the more the smaller it is.
const SINGLE: u32 = u32::MAX / 2;
/// Most that the text between two records counts.
const MAX_GAP: u32 = 600;
/// Groups with less than this are not checked.
const LEAST_VALUE: u32 = 8;
/// A record is a run of siblings when these hold this many times what its first element does.
const RUN_FACTOR: u32 = 2;

/// Best first; of equals the larger, then the earlier.
pub(super) fn rank(proposals: &mut [RecordProposal]) {
    proposals.sort_by(|a, b| (b.value, b.extent, a.first()).cmp(&(a.value, a.extent, b.first())));
}

/// How alike records are made, 0 to 1: the mean share of a record's names that at least half of the records have.
pub(super) fn rate_conformity(
    page: &Page,
    names: &mut ElementNames,
    records: &[Range<NodeId>],
) -> f32 {
    let kinds: Vec<Vec<Key>> = records
        .iter()
        .take(MAX_COMPARED)
        .map(|r| list_names(page, names, r))
        .collect();
    let mut all: Vec<Key> = kinds.concat();
    all.sort_unstable();
    let often = all.chunk_by(|a, b| a == b);
    let often: Vec<Key> = often
        .filter(|same| same.len() * 2 >= kinds.len())
        .filter_map(|same| same.first().copied())
        .collect();
    let shares = kinds.iter().map(|names| {
        let is_common = |key: &&Key| often.binary_search(key).is_ok();
        let common = names.iter().filter(is_common).count();
        common as f32 / names.len().max(1) as f32
    });
    shares.sum::<f32>() / kinds.len().max(1) as f32
}

/// Names of the upper elements of a record, sorted.
fn list_names(page: &Page, names: &mut ElementNames, record: &Range<NodeId>) -> Vec<Key> {
    let depth = page.node(record.start).depth + NAMED_LEVELS;
    let elements = record
        .clone()
        .take(NAMED_NODES)
        .filter(|id| page.node(*id).tag != Tag::TEXT);
    let upper = elements.filter(|id| page.node(*id).depth <= depth);
    let mut out = Vec::with_capacity(NAMED_NODES);
    out.extend(upper.map(|id| names.get(id)));
    out.sort_unstable();
    out.dedup();
    out
}

/// Records that one key proposes.
#[derive(Debug)]
pub(super) struct RecordProposal {
    /// In document order.
    pub records: Vec<Range<NodeId>>,
    /// What they are worth.
    pub value: u32,
    /// Nodes of all records.
    pub extent: u32,
}

impl RecordProposal {
    pub(super) fn first(&self) -> NodeId {
        self.records.first().map_or(0, |r| r.start)
    }
}

pub(super) fn propose(
    page: &Page,
    sums: &Sums,
    nodes: &[NodeId],
    marked: &[NodeId],
) -> Option<RecordProposal> {
    let whole: Vec<Range<NodeId>> = nodes.iter().map(|id| page.subtree(*id)).collect();
    let runs = find_runs(page, nodes);
    let plain = weigh(sums, &whole, nodes, marked);
    let joined = runs.map(|runs| weigh(sums, &runs, nodes, marked));
    match (plain, joined.flatten()) {
        (Some(plain), Some(joined)) if joined.own > plain.own.saturating_mul(RUN_FACTOR) => {
            Some(joined.proposal)
        }
        (None, Some(joined)) => Some(joined.proposal),
        (plain, _) => plain.map(|p| p.proposal),
    }
}

struct WeighedRecords {
    proposal: RecordProposal,
    /// Text of all records.
    own: u32,
}

fn weigh(
    sums: &Sums,
    ranges: &[Range<NodeId>],
    nodes: &[NodeId],
    marked: &[NodeId],
) -> Option<WeighedRecords> {
    let mut own: Vec<(u32, u32)> = ranges
        .iter()
        .map(|r| (sums.text(r), sums.times(r)))
        .collect();
    let totals = own.clone();
    let mut open: Vec<usize> = Vec::new();
    for at in 0..ranges.len() {
        while open
            .last()
            .is_some_and(|top| ranges[*top].end <= ranges[at].start)
        {
            open.pop();
        }
        if let Some(top) = open.last() {
            own[*top].0 = own[*top].0.saturating_sub(totals[at].0);
            own[*top].1 = own[*top].1.saturating_sub(totals[at].1);
        }
        open.push(at);
    }
    let mut out = RecordProposal {
        records: Vec::new(),
        value: 0,
        extent: 0,
    };
    let mut sum = 0u32;
    for (at, (text, times)) in own.into_iter().enumerate() {
        let called = times == 0 && marked.binary_search(&nodes[at]).is_ok();
        if text == 0 || (times == 0 && !called) {
            continue;
        }
        let worth = text.min(ENOUGH);
        out.value += if called { worth / 2 } else { worth };
        out.extent += ranges[at].end - ranges[at].start;
        sum += text;
        out.records.push(ranges[at].clone());
    }
    if let [single] = out.records.as_slice() {
        // What nothing repeats must be called a comment, and the smallest of such elements is one.
        marked.binary_search(&single.start).ok()?;
        out.extent = SINGLE - (single.end - single.start);
    }
    out.value = (out.value as f32 * coverage(sums, &out.records, sum)) as u32;
    (out.value >= LEAST_VALUE).then_some(WeighedRecords {
        proposal: out,
        own: sum,
    })
}

/// Share of the text between the first and the last record that is in records. A gap counts for no more than
/// [`MAX_GAP`]: a list of hot comments may be far from the others.
fn coverage(sums: &Sums, records: &[Range<NodeId>], own: u32) -> f32 {
    let mut gaps = 0;
    let mut end = records.first().map_or(0, |r| r.start);
    for record in records {
        if record.start > end {
            gaps += sums.text(&(end..record.start)).min(MAX_GAP);
        }
        end = end.max(record.end);
    }
    own as f32 / (own + gaps).max(1) as f32
}

/// The elements with the siblings that follow each up to the next of the kind; `None` when they are not siblings
/// with others between them.
fn find_runs(page: &Page, nodes: &[NodeId]) -> Option<Vec<Range<NodeId>>> {
    if nodes.len() < 2 {
        return None;
    }
    let mut out = Vec::with_capacity(nodes.len());
    let mut between = u32::MAX;
    for pair in nodes.windows(2) {
        let (this, next) = (pair[0], pair[1]);
        if page.node(this).parent != page.node(next).parent {
            return None;
        }
        between = between.min(next - page.node(this).end);
        out.push(this..next);
    }
    if between == 0 {
        return None;
    }
    // The last run is as long as the shortest, in siblings.
    let last = *nodes.last().expect("there are two");
    let siblings = out
        .iter()
        .map(|run| collect_siblings(page, run))
        .min()
        .unwrap_or(1);
    let parent_end = page.node(page.node(last).parent).end;
    let mut end = last;
    for _ in 0..siblings {
        if end >= parent_end {
            break;
        }
        end = page.node(end).end;
    }
    out.push(last..end.min(parent_end));
    Some(out)
}

fn collect_siblings(page: &Page, run: &Range<NodeId>) -> usize {
    let mut at = run.start;
    let mut count = 0;
    while at < run.end {
        at = page.node(at).end;
        count += 1;
    }
    count
}

/// Longest text of a label, in bytes.
const LABEL_BYTES: usize = 24;
/// Times from which a short text is a label.
const LABEL_TIMES: usize = 3;

/// Sums over the nodes before each node.
pub(super) struct Sums {
    /// Text and signs of time.
    before: Vec<(u32, u32)>,
}

impl Sums {
    pub(super) fn new(page: &Page, signs: &[TimeSign]) -> Self {
        let mut before = Vec::with_capacity(page.nodes().len() + 1);
        let (mut chars, mut seen) = (0u32, 0u32);
        let mut skip_to = 0;
        let mut weights = weights(page).into_iter();
        let mut signs = signs.iter();
        let mut sign = signs.next();
        for (at, node) in page.nodes().iter().enumerate() {
            before.push((chars, seen));
            let at = at as NodeId;
            let weight = (node.tag == Tag::TEXT).then(|| weights.next()).flatten();
            if let Some(this) = sign.filter(|s| s.node == at) {
                seen += 1;
                chars += this.rest;
                skip_to = skip_to.max(node.end);
                sign = signs.next();
            } else if at < skip_to {
                continue;
            } else if let Some(weight) = weight {
                chars = chars.saturating_add(weight);
            } else if node.tag.is_invisible() || is_control(node.tag) {
                skip_to = node.end;
            }
        }
        before.push((chars, seen));
        Self { before }
    }

    pub(super) fn text(&self, range: &Range<NodeId>) -> u32 {
        self.before[range.end as usize].0 - self.before[range.start as usize].0
    }

    pub(super) fn times(&self, range: &Range<NodeId>) -> u32 {
        self.before[range.end as usize].1 - self.before[range.start as usize].1
    }
}

/// What each text of a page counts; nothing for a short one that the page says again and again: a label of buttons.
fn weights(page: &Page) -> Vec<u32> {
    let nodes = page.nodes().iter().zip(0..);
    let texts = nodes.filter(|(node, _)| node.tag == Tag::TEXT);
    let texts: Vec<&str> = texts.map(|(_, at)| page.text(at).trim()).collect();
    let may_label = |text: &&str| !text.is_empty() && text.len() <= LABEL_BYTES;
    let mut times: HashMap<&str, usize, RandomState> = HashMap::default();
    for text in texts.iter().copied().filter(may_label) {
        *times.entry(text).or_insert(0) += 1;
    }
    let is_label = |text: &str| may_label(&text) && times[text] >= LABEL_TIMES;
    // Bytes over two lie between the characters of Chinese and of Latin text; exactness is not needed.
    let weight = |text: &str| {
        if is_label(text) {
            0
        } else {
            text.len().div_ceil(2) as u32
        }
    };
    texts.into_iter().map(weight).collect()
}
