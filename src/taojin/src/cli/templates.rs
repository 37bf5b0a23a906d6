//! `taojin templates`: what was learned of the sites' templates, and what a person says of it. Works alongside a running
//! daemon, which takes changes up within seconds.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use super::context::{Context, Named, UsageError, bail_usage};
use super::output;
use crate::daemon::{now_ms, pack, unpack};
use taojin_crawl::store::{NewTemplate, TemplateRow, TemplateStore};
use taojin_extract::template::{Field, OutlineNode, Region, Slot, Template, TemplateNode};

/// Arguments of `templates`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Learn from saved pages: a folder of HTML files, or WARC and ARC files; writes a report to look at
    Learn(super::learn::Args),
    /// List the templates of all sites, or of one
    List {
        /// Only this site
        #[arg(long, value_name = "NAME")]
        site: Option<String>,
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Show a template: its essential and optional nodes, its regions and what they hold
    Show {
        /// Number of the template, as `list` gives it
        id: i64,
        /// The whole template as JSON
        #[arg(long)]
        json: bool,
    },
    /// Say what a region or a slot holds
    Label {
        /// Number of the template
        id: i64,
        /// The region or slot, as `show` gives it
        place: String,
        /// Of a region title, published, author, source, body, comments, boilerplate; of a slot any name, or `none` for no
        /// field; `learned` takes back what was said
        field: String,
    },
    /// Stop using a template
    Disable {
        /// Number of the template
        id: i64,
        /// Use it again
        #[arg(long)]
        undo: bool,
    },
    /// Delete a template with its saved pages
    Delete {
        /// Number of the template
        id: i64,
    },
    /// Write templates as JSON, one object a line
    Export {
        /// Only this site
        #[arg(long, value_name = "NAME")]
        site: Option<String>,
        /// File to write [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Add templates that `export` or `learn --output` wrote
    Import {
        /// The file
        file: PathBuf,
        /// Site that they are for, instead of the one they came from
        ///
        /// The name of a site as in `taojin site list`.
        #[arg(long, value_name = "NAME")]
        site: Option<String>,
    },
}

/// One line of an export.
#[derive(Serialize, Deserialize)]
pub(super) struct ExportedTemplate {
    pub(super) taojin_template: u32,
    pub(super) site: String,
    pub(super) template: Template,
}

/// Version of the exported form.
pub(super) const EXPORT_VERSION: u32 = 1;
/// Words of `label` that are no names: what was learned holds again, and a slot gives no field.
const LEARNED: &str = "learned";
const NONE: &str = "none";

/// Runs the sub-command.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Learn(args) => super::learn::run(context, args),
        Command::List { site, json } => list(context, site.as_deref(), *json),
        Command::Show { id, json } => {
            let (row, template) = find(&open(context)?, *id)?;
            print(&row, &template, *json)
        }
        Command::Label { id, place, field } => label(context, *id, place, field),
        Command::Disable { id, undo } => {
            let found = open(context)?.set_disabled(*id, !undo, now_ms())?;
            told(
                found,
                *id,
                if *undo {
                    "in use again"
                } else {
                    "not used any more"
                },
            )
        }
        Command::Delete { id } => {
            let found = open(context)?.delete(*id)?;
            told(found, *id, "deleted")
        }
        Command::Export { site, output } => export(context, site.as_deref(), output.as_deref()),
        Command::Import { file, site } => import(context, file, site.as_deref()),
    }
}

fn open(context: &Context) -> anyhow::Result<TemplateStore> {
    let loaded = context.load()?;
    Ok(TemplateStore::open(loaded.store_place())?)
}

fn find(store: &TemplateStore, id: i64) -> anyhow::Result<(TemplateRow, Template)> {
    let row = store.templates().get(id)?.ok_or_else(|| none(id))?;
    let template = unpack(&row.data).ok_or_else(|| {
        anyhow::anyhow!("template {id} cannot be read: delete it, and it is learned again")
    })?;
    Ok((row, template))
}

fn none(id: i64) -> anyhow::Error {
    UsageError(format!(
        "there is no template {id}: `taojin templates list` names them"
    ))
    .into()
}

fn told(found: bool, id: i64, what: &str) -> anyhow::Result<ExitCode> {
    if !found {
        return Err(none(id));
    }
    output::line(&format!("template {id}: {what}"));
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Listed<'a> {
    id: i64,
    site: &'a str,
    version: i64,
    learned_ms: i64,
    pages: i64,
    disabled: bool,
    mean_distance: f32,
    fields: Vec<&'static str>,
    labels: usize,
    /// Documents of its site that wait for their fields.
    awaiting_fields: i64,
}

fn list(context: &Context, site: Option<&str>, json: bool) -> anyhow::Result<ExitCode> {
    let store = open(context)?;
    let waiting = store.templates().awaiting_fields()?;
    for row in store.templates().list(site)? {
        let Some(template) = unpack::<Template>(&row.data) else {
            output::note(&format!("template {} cannot be read", row.id));
            continue;
        };
        let fields = fields(&template);
        let listed = Listed {
            id: row.id,
            site: &row.site,
            version: row.version,
            learned_ms: row.learned_ms,
            pages: row.pages,
            disabled: row.disabled,
            mean_distance: template.mean_distance,
            fields: fields.iter().map(|f| f.name()).collect(),
            labels: template.labels.len(),
            awaiting_fields: waiting
                .iter()
                .find(|(of, _)| *of == row.site)
                .map_or(0, |(_, documents)| *documents),
        };
        if json {
            output::json(&listed)?;
        } else {
            let state = if row.disabled { " (disabled)" } else { "" };
            output::line(&output::printable(&format!(
                "{:>5}  {:24} v{:<3} {:>4} articles{}  distance {:.2}  {}{state}",
                row.id,
                row.site,
                row.version,
                row.pages,
                copies(&row, &template),
                template.mean_distance,
                listed.fields.join(" "),
            )));
        }
    }
    for fit in store.templates().fits()? {
        if let Some(note) = fit
            .note
            .filter(|_| !json && site.is_none_or(|s| s == fit.site))
        {
            output::note(&output::printable(&format!("{}: {note}", fit.site)));
        }
    }
    for (name, documents) in &waiting {
        if !json && site.is_none_or(|only| only == name) {
            output::note(&output::printable(&format!(
                "{name}: documents that wait for their fields: {documents}; they get them with their next visit, \
                 or at once: taojin crawl --recheck --site {name}"
            )));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn label(context: &Context, id: i64, place: &str, field: &str) -> anyhow::Result<ExitCode> {
    let mut store = open(context)?;
    let (_, mut template) = find(&store, id)?;
    if let Some(key) = slot_key(&template, place) {
        match field {
            LEARNED => template.forget_slot(key),
            NONE => template.name_slot(key, None),
            name => template.name_slot(key, Some(name)),
        };
    } else if let Some(key) = region_key(&template, place) {
        let known = || {
            let known = Field::ALL.map(Field::name).join(", ");
            UsageError(format!(
                "{field}: no field of a region; there are: {known}, and `{LEARNED}`"
            ))
        };
        match field {
            LEARNED => template.labels.remove(&key),
            name => template
                .labels
                .insert(key, Field::named(name).ok_or_else(known)?),
        };
    } else {
        bail_usage!(
            "{place}: no region or slot of template {id}: `taojin templates show {id}` names them"
        );
    }
    store.replace(id, &pack(&template), now_ms())?;
    let said = match field {
        LEARNED => "what was learned",
        NONE => "no field",
        name => name,
    };
    output::line(&format!("template {id}: {place} holds {said}"));
    Ok(ExitCode::SUCCESS)
}

fn export(
    context: &Context,
    site: Option<&str>,
    file: Option<&std::path::Path>,
) -> anyhow::Result<ExitCode> {
    let store = open(context)?;
    let mut lines = String::new();
    for row in store.templates().list(site)? {
        let Some(template) = unpack::<Template>(&row.data) else {
            continue;
        };
        let exported = ExportedTemplate {
            taojin_template: EXPORT_VERSION,
            site: row.site,
            template,
        };
        lines.push_str(&serde_json::to_string(&exported)?);
        lines.push('\n');
    }
    match file {
        Some(file) => fs::write(file, lines).named(file.display())?,
        None => std::io::stdout().lock().write_all(lines.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn import(
    context: &Context,
    file: &std::path::Path,
    site: Option<&str>,
) -> anyhow::Result<ExitCode> {
    let mut store = open(context)?;
    let exported = read_exported(file)?;
    let taken = exported.len();
    for exported in exported {
        let new = NewTemplate {
            pages: i64::from(exported.template.pages),
            has_fields: exported.template.has_said_fields(),
            data: pack(&exported.template),
            ..NewTemplate::default()
        };
        store.add(site.unwrap_or(&exported.site), &[new], now_ms())?;
    }
    output::line(&format!("{taken} templates taken in"));
    Ok(ExitCode::SUCCESS)
}

/// The templates of a file that `export` or `learn --output` wrote.
pub(super) fn read_exported(file: &std::path::Path) -> Result<Vec<ExportedTemplate>, UsageError> {
    let text = fs::read_to_string(file).named(file.display())?;
    let lines = (1..)
        .zip(text.lines())
        .filter(|(_, l)| !l.trim().is_empty());
    lines
        .map(|(number, line)| {
            let fault = |why: String| UsageError(format!("{}:{number}: {why}", file.display()));
            let exported: ExportedTemplate =
                serde_json::from_str(line).map_err(|e| fault(e.to_string()))?;
            match exported.taojin_template {
                EXPORT_VERSION => Ok(exported),
                _ => Err(fault("written by another version".to_owned())),
            }
        })
        .collect()
}

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
    let mut lines = vec![String::new(), NODES_HEADING.to_owned()];
    let mut has_slots_listed = HashSet::new();
    for listed in template.nodes.outline() {
        let node = &template.nodes.nodes[listed.node];
        lines.push(node_line(template, &listed, node));
        if has_slots_listed.insert(listed.node) {
            let slots = template.slots.iter();
            let slots = slots.filter(|slot| slot.after == listed.node);
            lines.extend(slots.map(|slot| slot_line(template, node, slot)));
        }
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

/// What the marks of nodes mean.
const NODES_HEADING: &str = "nodes (?: optional sequence with its share of the pages, |: instead of the one before, ??: within \
     another one, with its share of that one's pages; +: several in a row), slots (=):";

fn node_line(template: &Template, listed: &OutlineNode, node: &TemplateNode) -> String {
    let mark = listed.begins.map_or_else(
        || "?".repeat(listed.level),
        |begins| {
            let mark = if begins.is_alternative { "|" } else { "?" };
            format!(
                "{} {:.0} %",
                mark.repeat(listed.level),
                begins.share * 100.0
            )
        },
    );
    let name = node.listed(template.name_of(node));
    format!("{mark:>9} {}{name}", indent(node.depth))
}

/// A place where texts vary: its key, how many pages have it and how many different contents, its name.
fn slot_line(template: &Template, after: &TemplateNode, slot: &Slot) -> String {
    let named = slot.name.as_ref().map_or(String::new(), |name| {
        let said = if slot.is_said { "!" } else { "" };
        format!("  ← {name}{said}")
    });
    format!(
        "{:>9} {}[{}] {} of {} pages, {} different{named}",
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

#[cfg(test)]
mod tests {
    use super::lines;
    use taojin_extract::page::{Hints, Page};
    use taojin_extract::template::{Config, Keys, Observation, learn};

    #[test]
    fn lines_list_optional_sequences() {
        let observe = |n: usize| {
            let note = match n % 3 {
                0 => "<aside><b>专题</b></aside>".to_owned(),
                1 => String::new(),
                _ => format!("<ul>{}</ul>", "<li>一</li>".repeat(n)),
            };
            let html = format!("<body><h1>标题{n}</h1>{note}<p>第{n}段</p></body>");
            let page = Page::parse(html.as_bytes(), Hints::default());
            Observation::new(&page, &Keys::new(&page), Vec::new())
        };
        let seen: Vec<Observation> = (0..12).map(observe).collect();
        let learned = learn(&seen, &Config::default());
        let listed = lines(&learned.templates[0]);
        let nodes = listed.iter().skip(2).take_while(|line| !line.is_empty());
        let nodes = nodes.filter(|line| !line.contains('['));
        let nodes: Vec<&str> = nodes.map(|line| line.trim_end()).collect();
        assert_eq!(
            nodes,
            [
                "          html",
                "            body",
                "              h1",
                "   ? 33 %     aside",
                "        ?       b",
                "   | 33 %     ul",
                "        ?       li+",
                "              p",
            ]
        );
    }
}
