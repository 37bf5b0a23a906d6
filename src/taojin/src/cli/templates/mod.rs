//! `taojin templates`: what was learned of the sites' templates, and what a person says of it. Works beside a running
//! daemon, which takes changes up within seconds.

mod input;
mod learn;
mod report;
mod show;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use super::context::{Context, Usage};
use super::output;
use crate::daemon::{now_ms, pack, unpack};
use taojin_crawl::store::{NewTemplate, TemplateRow, TemplateStore};
use taojin_extract::template::{Field, Template};

/// Arguments of `templates`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Learn from saved pages: a folder of HTML files, or WARC and ARC files; writes a report to look at
    Learn(learn::Args),
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
        /// Take it back into use
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
        #[arg(long, value_name = "NAME")]
        site: Option<String>,
    },
}

/// One line of an export.
#[derive(Serialize, Deserialize)]
pub(super) struct Exported {
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
        Command::Learn(args) => learn::run(context, args),
        Command::List { site, json } => list(context, site.as_deref(), *json),
        Command::Show { id, json } => {
            let (row, template) = find(&open(context)?, *id)?;
            show::print(&row, &template, *json)
        }
        Command::Label { id, place, field } => label(context, *id, place, field),
        Command::Disable { id, undo } => {
            let found = open(context)?.set_disabled(*id, !undo)?;
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
    let row = store.template(id)?.ok_or_else(|| none(id))?;
    let template = unpack(&row.data).ok_or_else(|| {
        anyhow::anyhow!("template {id} cannot be read: delete it, and it is learned again")
    })?;
    Ok((row, template))
}

fn none(id: i64) -> anyhow::Error {
    Usage(format!(
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
}

fn list(context: &Context, site: Option<&str>, json: bool) -> anyhow::Result<ExitCode> {
    let store = open(context)?;
    for row in store.templates(site)? {
        let Some(template) = unpack::<Template>(&row.data) else {
            output::note(&format!("template {} cannot be read", row.id));
            continue;
        };
        let fields = show::fields(&template);
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
                show::copies(&row, &template),
                template.mean_distance,
                listed.fields.join(" "),
            )));
        }
    }
    for fit in store.template_fits()? {
        if let Some(note) = fit
            .note
            .filter(|_| !json && site.is_none_or(|s| s == fit.site))
        {
            output::note(&output::printable(&format!("{}: {note}", fit.site)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn label(context: &Context, id: i64, place: &str, field: &str) -> anyhow::Result<ExitCode> {
    let mut store = open(context)?;
    let (_, mut template) = find(&store, id)?;
    if let Some(key) = show::slot_key(&template, place) {
        match field {
            LEARNED => template.forget_slot(key, now_ms()),
            NONE => template.name_slot(key, None, now_ms()),
            name => template.name_slot(key, Some(name), now_ms()),
        };
    } else if let Some(key) = show::region_key(&template, place) {
        let known = || {
            let known = Field::ALL.map(Field::name).join(", ");
            Usage(format!(
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
        return Err(Usage(format!(
            "{place}: no region or slot of template {id}: `taojin templates show {id}` names them"
        ))
        .into());
    }
    store.replace(id, &pack(&template))?;
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
    for row in store.templates(site)? {
        let Some(template) = unpack::<Template>(&row.data) else {
            continue;
        };
        let exported = Exported {
            taojin_template: EXPORT_VERSION,
            site: row.site,
            template,
        };
        lines.push_str(&serde_json::to_string(&exported)?);
        lines.push('\n');
    }
    match file {
        Some(file) => {
            fs::write(file, lines).map_err(|e| Usage(format!("{}: {e}", file.display())))?
        }
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
            data: pack(&exported.template),
            ..NewTemplate::default()
        };
        store.add(site.unwrap_or(&exported.site), &[new], now_ms())?;
    }
    output::line(&format!("{taken} templates taken in"));
    Ok(ExitCode::SUCCESS)
}

/// The templates of a file that `export` or `learn --output` wrote.
pub(super) fn read_exported(file: &std::path::Path) -> Result<Vec<Exported>, Usage> {
    let text = fs::read_to_string(file).map_err(|e| Usage(format!("{}: {e}", file.display())))?;
    let lines = (1..)
        .zip(text.lines())
        .filter(|(_, l)| !l.trim().is_empty());
    lines
        .map(|(number, line)| {
            let fault = |why: String| Usage(format!("{}:{number}: {why}", file.display()));
            let exported: Exported =
                serde_json::from_str(line).map_err(|e| fault(e.to_string()))?;
            match exported.taojin_template {
                EXPORT_VERSION => Ok(exported),
                _ => Err(fault("written by another version".to_owned())),
            }
        })
        .collect()
}
