//! `taojin templates learn`: templates of saved pages, with a report to look at: one HTML file that loads nothing and runs
//! nothing, the pages are in sandboxed frames.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use askama::Template;

use super::context::{Context, Named, bail_usage};
use super::templates::{EXPORT_VERSION, ExportedTemplate, fields, lines};
use super::{inputs, output};
use crate::config::Config;
use taojin_extract as extract;
use taojin_extract::page::Kind;
use taojin_extract::template::{
    self, Field, Guide, Keys, Learned, Observation, colour, frame, framed_html,
};

/// Arguments of `learn`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder of saved pages, or an HTML, WARC or ARC file
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// HTML file that shows the templates on one page of each
    ///
    /// An earlier report of that name is replaced.
    #[arg(long, value_name = "FILE", default_value = "templates.html")]
    report: PathBuf,
    /// Write the templates, as `import` takes them
    ///
    /// One JSON object a line, for `taojin templates import` and `taojin extract --templates`.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Name of the site in that file [default: the host of the pages, else the name of the folder]
    #[arg(long, value_name = "NAME")]
    site: Option<String>,
    /// Greatest distance of pages of one template, 0 to 1 [default: templates.max_distance]
    ///
    /// The distance is 1 less the share of block paths that two pages have in common: with a smaller number there are more
    /// templates, of pages that are more alike.
    #[arg(long, value_name = "D")]
    max_distance: Option<f32>,
    /// Learn from list pages and others too, not from articles alone
    ///
    /// The number of pages left out is printed without it.
    #[arg(long)]
    all: bool,
}

/// Learns, prints what was learned, writes the report.
pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let mut config = context.named_config()?;
    if let Some(distance) = args.max_distance {
        if !(0.0..=1.0).contains(&distance) {
            bail_usage!("--max-distance {distance}: must be from 0 to 1");
        }
        config.templates.max_distance = distance;
    }
    let files = inputs::files(&args.dir).named(args.dir.display())?;
    let mut seen = Vec::new();
    let mut left_out = 0;
    each_page(&files, &config, |saved| {
        let read = extract::Context {
            now_ms: Some(saved.at_ms),
            ..extract::Context::default()
        };
        let keys = Keys::new(&saved.page);
        let (document, lines) = extract::observe(&saved.page, &keys, &read, &config.extract);
        if document.kind == Kind::Article || args.all {
            let mut observation = Observation::new(&saved.page, &keys, lines);
            observation.url = saved.name;
            seen.push(observation);
        } else {
            left_out += 1;
        }
        Ok(())
    })?;
    let learned = template::learn(&seen, &config.templates);
    print(&learned, seen.len(), left_out);
    let pages = shown_pages(&learned, &seen, &files, &config)?;
    let page = ReportPage::new(&learned, seen.len(), &pages).render()?;
    fs::write(&args.report, page).named(args.report.display())?;
    output::note(&format!("report: {}", args.report.display()));
    if let Some(file) = &args.output {
        let site = args
            .site
            .clone()
            .unwrap_or_else(|| site_name(&args.dir, &seen));
        let mut out = BufWriter::new(File::create(file).named(file.display())?);
        for template in learned.templates {
            let exported = ExportedTemplate {
                taojin_template: EXPORT_VERSION,
                site: site.clone(),
                template,
            };
            serde_json::to_writer(&mut out, &exported)?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn each_page(
    files: &[PathBuf],
    config: &Config,
    mut each: impl FnMut(inputs::Saved) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let bar = output::progress_bar(files.len(), "files");
    for file in files {
        inputs::pages(file, config, &mut each)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

/// The page nearest the middle of each template, read again.
fn shown_pages(
    learned: &Learned,
    seen: &[Observation],
    files: &[PathBuf],
    config: &Config,
) -> anyhow::Result<BTreeMap<usize, inputs::Saved>> {
    let mut wanted: BTreeMap<String, usize> = BTreeMap::new();
    for (number, template) in learned.templates.iter().enumerate() {
        let own = seen.iter().zip(&learned.template_of);
        let nearest = own
            .filter(|(_, of)| **of == Some(number))
            .map(|(page, _)| (template.middle.similarity(&page.key_set()), &page.url))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, url)) = nearest {
            wanted.insert(url.clone(), number);
        }
    }
    let mut pages = BTreeMap::new();
    for file in files {
        if pages.len() == wanted.len() {
            break;
        }
        inputs::pages(file, config, |saved| {
            if let Some(number) = wanted.get(&saved.name) {
                pages.entry(*number).or_insert(saved);
            }
            Ok(())
        })?;
    }
    Ok(pages)
}

fn print(learned: &Learned, seen: usize, left_out: usize) {
    let placed = learned.template_of.iter().flatten().count();
    output::line(&format!(
        "{seen} articles ({left_out} other pages left out), {} templates, {} pages without one",
        learned.templates.len(),
        seen - placed
    ));
    for (number, template) in (1..).zip(&learned.templates) {
        let fields = fields(template);
        let names: Vec<&str> = fields.iter().map(|f| f.name()).collect();
        output::line(&format!(
            "\ntemplate {number}: {} pages, distance {:.2} (greatest {:.2}), {}",
            template.pages,
            template.mean_distance,
            template.max_distance,
            names.join(" ")
        ));
        for line in lines(template) {
            output::line(&output::printable(&line));
        }
    }
}

fn site_name(dir: &Path, seen: &[Observation]) -> String {
    let host = seen
        .first()
        .and_then(|page| taojin_uri::CrawlUri::parse(&page.url).ok())
        .map(|uri| uri.host().to_owned());
    let folder = || {
        dir.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    host.unwrap_or_else(folder)
}

/// What was learned, with one page of each template.
#[derive(Template)]
#[template(path = "report.html", whitespace = "minimize")]
struct ReportPage<'a> {
    articles: usize,
    templates: Vec<Reported<'a>>,
}

struct Reported<'a> {
    template: &'a template::Template,
    /// Name of a page and the page itself.
    page: Option<(&'a str, String)>,
}

impl<'a> ReportPage<'a> {
    fn new(
        learned: &'a Learned,
        articles: usize,
        pages: &'a BTreeMap<usize, inputs::Saved>,
    ) -> Self {
        let name = |field: Option<Field>| field.map_or("other", Field::name);
        let page_of = |template, saved: &'a inputs::Saved| {
            let keys = Keys::new(&saved.page);
            let guide = Guide::new(template, &keys, &saved.page);
            let page = framed_html(&saved.page, &guide, &|_| false, &name, None);
            (saved.name.as_str(), frame(&page))
        };
        let reported = |(number, template)| Reported {
            page: pages.get(&number).map(|saved| page_of(template, saved)),
            template,
        };
        Self {
            articles,
            templates: learned.templates.iter().enumerate().map(reported).collect(),
        }
    }
}
