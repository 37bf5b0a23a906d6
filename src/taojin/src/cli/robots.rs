//! `taojin robots`: what a robots.txt allows, and by which rule.

use std::process::ExitCode;

use super::context::{Context, Usage, runtime};
use super::output;
use crate::config::Config;
use crate::daemon::now_ms;
use taojin_crawl::VisitOutcome;
use taojin_crawl::fetch::{Fetcher, Request, Robots};
use taojin_uri::CrawlUri;

/// Arguments of `robots`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A file, or the URL of a robots.txt
    #[arg(value_name = "FILE-OR-URL")]
    source: String,
    /// Name of the crawler, as in its User-Agent
    #[arg(long, default_value = "taojin")]
    agent: String,
    /// URL or path to be judged (may be given several times)
    #[arg(long = "url", required = true, num_args = 1.., value_name = "URL")]
    urls: Vec<String>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// Judges each URL. Exit code 0 whatever the verdict is: it is the answer, not a failure.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let bytes = read(context, &args.source)?;
    let robots = Robots::parse(&bytes, &args.agent);
    for url in &args.urls {
        // As the crawler decides: on the address that it would ask for.
        let address = match url.strip_prefix('/') {
            Some(_) => CrawlUri::parse(&format!("http://localhost{url}")),
            None => CrawlUri::parse(url),
        };
        // What is no address is asked for by nobody; it is compared as it stands.
        let decided = match &address {
            Ok(address) => robots.decide(address),
            Err(_) => robots.decide_written(url),
        };
        let (allowed, rule) = match &decided {
            Ok(rule) => (true, *rule),
            Err(rule) => (false, Some(*rule)),
        };
        let word = if allowed { "allowed" } else { "refused" };
        if args.json {
            let (pattern, line) = (rule.map(|r| &r.pattern), rule.map(|r| r.line));
            output::json(
                &serde_json::json!({ "url": url, "allowed": allowed, "rule": pattern, "line": line }),
            )?;
        } else {
            let by = rule.map_or("no rule matches".to_owned(), |r| {
                let name = if r.allow { "Allow" } else { "Disallow" };
                format!("line {}: {name}: {}", r.line, output::printable(&r.pattern))
            });
            output::line(&format!("{word}  {url}  ({by})"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read(context: &Context, source: &str) -> anyhow::Result<Vec<u8>> {
    if !source.starts_with("http://") && !source.starts_with("https://") {
        return std::fs::read(source).map_err(|e| Usage(format!("{source}: {e}")).into());
    }
    let uri = CrawlUri::parse(source).map_err(|e| Usage(format!("{source}: {e}")))?;
    let config = if context.config.is_some() {
        context.load()?.config
    } else {
        Config::default()
    };
    let fetcher = Fetcher::new(config.fetch)?;
    runtime()?.block_on(fetch(&fetcher, uri))
}

/// Follows redirects as far as the crawler does.
async fn fetch(fetcher: &Fetcher, mut uri: CrawlUri) -> anyhow::Result<Vec<u8>> {
    for _ in 0..=fetcher.config().max_redirects {
        let mut body: Vec<u8> = Vec::new();
        let request = Request::any(uri.clone(), now_ms());
        let fetched = fetcher.fetch(&request, &mut body).await;
        match fetched.outcome {
            VisitOutcome::Page => return Ok(body),
            VisitOutcome::Redirect => uri = fetched.head.location.unwrap_or(uri),
            // without a file everything is allowed (RFC 9309 section 2.3.1.3)
            VisitOutcome::NotFound | VisitOutcome::Gone | VisitOutcome::Denied => {
                return Ok(Vec::new());
            }
            _ => anyhow::bail!("{uri}: {}", fetched.in_words()),
        }
    }
    anyhow::bail!("{uri}: too many redirects, the crawler takes it for no file at all")
}
