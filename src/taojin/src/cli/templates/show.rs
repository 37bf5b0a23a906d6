//! A template for a person. In: a template. Out: lines: its nodes as a tree, its regions as a table.

use std::process::ExitCode;

use super::super::output;
use taojin_crawl::store::TemplateRow;
use taojin_extract::template::{Field, Node, Region, Slot, Template};

/// Digits of a region's key that name it.
const KEY_DIGITS: usize = 8;

/// Prints a template.
pub(super) fn print(
    row: &TemplateRow,
    template: &Template,
    json: bool,
) -> anyhow::Result<ExitCode> {
    if json {
        output::json(template)?;
        return Ok(ExitCode::SUCCESS);
    }
    output::line(&output::printable(&format!(
        "template {} of {}, version {}, {} articles{}, mean distance {:.2}, greatest {:.2}",
        row.id,
        row.site,
        row.version,
        row.pages,
        copies(row, template),
        template.mean_distance,
        template.max_distance
    )));
    for line in lines(template) {
        output::line(&output::printable(&line));
    }
    Ok(ExitCode::SUCCESS)
}

/// How many of the template's articles are copies of others, if any are: those are left out of the learning.
pub(super) fn copies(row: &TemplateRow, template: &Template) -> String {
    match row.pages - i64::from(template.pages) {
        copies @ 1.. => format!(" ({copies} of them copies of others)"),
        _ => String::new(),
    }
}

/// Nodes and regions in lines.
pub(super) fn lines(template: &Template) -> Vec<String> {
    let mut lines = vec![String::new(), "nodes (? optional), slots (=):".to_owned()];
    for (at, node) in template.nodes.nodes.iter().enumerate() {
        lines.push(node_line(template, node));
        let slots = template.slots.iter().filter(|slot| slot.after == at);
        lines.extend(slots.map(|slot| slot_line(template, node, slot)));
    }
    lines.push(String::new());
    lines.push(format!(
        "{:8} {:>11} {:>6} {:>6} {:>8}  {:12} {}",
        "region", "field", "pages", "lines", "entropy", "kept", "votes"
    ));
    lines.extend(
        shown_regions(template)
            .iter()
            .map(|r| region_line(template, r)),
    );
    lines
}

fn node_line(template: &Template, node: &Node) -> String {
    let name = template.names.get(&node.name).map_or("…", String::as_str);
    let mark = if template.nodes.is_essential(node) {
        String::new()
    } else {
        let share = node.pages as f32 / template.nodes.pages.max(1) as f32;
        format!("? {:.0} %", share * 100.0)
    };
    let name = if node.is_text() {
        format!("“{name}”")
    } else {
        name.to_owned()
    };
    format!("{mark:>7} {}{name}", indent(node.depth))
}

/// A place where texts vary: its key, how many pages have it and how many different contents, its name.
fn slot_line(template: &Template, after: &Node, slot: &Slot) -> String {
    let named = slot.name.as_ref().map_or(String::new(), |name| {
        let said = if slot.is_said { "!" } else { "" };
        format!("  ← {name}{said}")
    });
    format!(
        "{:>7} {}[{}] {} of {} pages, {} different{named}",
        "=",
        indent(after.depth.saturating_add(1)),
        key_name(slot.key),
        slot.pages,
        template.nodes.pages,
        slot.values,
    )
}

fn indent(depth: u16) -> String {
    "  ".repeat(usize::from(depth).min(40))
}

/// Regions with a field or much text, those with most text first.
pub(super) fn shown_regions(template: &Template) -> Vec<&Region> {
    let mut regions: Vec<&Region> = template.regions.iter().filter(|r| r.pages >= 2).collect();
    regions.sort_by_key(|r| std::cmp::Reverse((template.field(r.key).is_some(), r.tokens)));
    regions
}

fn region_line(template: &Template, region: &Region) -> String {
    let said = if template.labels.contains_key(&region.key) {
        "!"
    } else {
        ""
    };
    let field = template.field(region.key).map_or("-", Field::name);
    let votes: Vec<String> = Field::ALL
        .into_iter()
        .filter(|f| region.votes_for(*f) > 0)
        .map(|f| format!("{} {}", f.name(), region.votes_for(f)))
        .collect();
    format!(
        "{:8} {:>11} {:>6} {:>6} {:>8.2}  {:>5} of {:<4} {}",
        key_name(region.key),
        format!("{field}{said}"),
        region.pages,
        region.lines,
        // Not "-0.00".
        region.entropy.abs(),
        region.kept,
        region.lines,
        votes.join(", ")
    )
}

/// Name of a region in commands and reports.
pub(super) fn key_name(key: u64) -> String {
    let hex = format!("{key:016x}");
    hex.chars().take(KEY_DIGITS).collect()
}

/// The key of a region's name: the one region that begins so.
pub(super) fn region_key(template: &Template, name: &str) -> Option<u64> {
    only(template.regions.iter().map(|region| region.key), name)
}

/// The key of a slot's name.
pub(super) fn slot_key(template: &Template, name: &str) -> Option<u64> {
    only(template.slots.iter().map(|slot| slot.key), name)
}

fn only(keys: impl Iterator<Item = u64>, name: &str) -> Option<u64> {
    let name = name.to_ascii_lowercase();
    if name.len() < KEY_DIGITS {
        return None;
    }
    let mut found = keys.filter(|key| format!("{key:016x}").starts_with(&name));
    let only = found.next()?;
    found.next().is_none().then_some(only)
}

/// Fields that have a region.
pub(super) fn fields(template: &Template) -> Vec<Field> {
    let has = |field: Field| {
        let mut regions = template.regions.iter();
        regions.any(|r| template.field(r.key) == Some(field))
    };
    Field::ALL.into_iter().filter(|f| has(*f)).collect()
}
