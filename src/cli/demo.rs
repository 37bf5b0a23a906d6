//! `taojin demo`: the whole way on the bundled sample web, on loopback, without a configuration.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use super::{Context, Usage, output, runtime};
use crate::analyze::Analyzer;
use crate::config::{Config, Loaded};
use crate::daemon::{self, Mode, Options, StatusBoard, Summary, now_ms};
use crate::demo::{self, SHOWCASE, Server, World};
use crate::fetch;
use crate::serve;
use crate::store;

/// The world of the demo: always the same one.
const SEED: u64 = 20_160_509;
/// Hits shown for each search.
const HITS: usize = 3;
/// The sample web is ours: many requests at once do it no harm.
const CONNECTIONS: u32 = 16;
/// Rest after a throttled answer that names no time.
const BACKOFF_MS: i64 = 200;
/// Where the demo's web page is served unless said otherwise.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// Arguments of `demo`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Stop after the searches instead of serving the web page
    #[arg(long)]
    once: bool,
    /// Address and port of the web page
    #[arg(long, value_name = "ADDR", default_value_t = LISTEN, conflicts_with = "once")]
    listen: SocketAddr,
}

/// Runs the demo. Its data is kept only if `--data-dir` says where.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    if context.config.is_some() {
        return Err(
            Usage("--config: the demo takes no configuration; leave it out".to_owned()).into(),
        );
    }
    let scratch = tempfile::tempdir()?;
    let data_dir = context
        .data_dir
        .clone()
        .unwrap_or_else(|| scratch.path().to_owned());
    runtime()?.block_on(async {
        let web = SampleWeb::start().await?;
        let loaded = settings(&web.server, data_dir);
        crawl_twice(&web.server, &loaded).await?;
        search(&loaded)?;
        if !args.once {
            show(&loaded, args.listen).await?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// The sample web, being served.
struct SampleWeb {
    server: Arc<Server>,
    // Dropping it stops the server.
    _stop: tokio::sync::oneshot::Sender<()>,
}

impl SampleWeb {
    async fn start() -> anyhow::Result<Self> {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let server = Server::new(World::generate(SEED, now_ms(), port));
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        tokio::spawn(demo::serve(Arc::clone(&server), listener, async move {
            // An error means that the sender was dropped, which is the sign.
            let _ = stopped.await;
        }));
        let world = server.world();
        output::line(&format!(
            "sample web   {} articles on {} sites, at 127.0.0.1:{port}",
            world.articles.len(),
            world.sites.len()
        ));
        for site in &world.sites {
            output::line(&format!(
                "             {}  http://{}/",
                site.title, site.authority
            ));
        }
        drop(world);
        Ok(Self {
            server,
            _stop: stop,
        })
    }
}

/// Settings for a crawl of the sample web: everything as usual, except that loopback is allowed and nobody needs to be
/// spared.
pub(crate) fn settings(server: &Server, data_dir: std::path::PathBuf) -> Loaded {
    let mut config = Config {
        data_dir,
        ..Config::default()
    };
    config.fetch.allow_addresses = vec![fetch::Network::v4([127, 0, 0, 0], 8)];
    let mut sites = Vec::new();
    for site in &server.world().sites {
        let here = fetch::HostAddress(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0));
        config.fetch.hosts.insert(site.host.clone(), here);
        let mut settings = site.settings();
        settings.scope.hosts = vec![site.authority.clone()];
        sites.push(settings);
    }
    // It writes a few megabytes; a developer's disk may well be fuller than a server's.
    config.crawl.min_free_bytes = 64 << 20;
    config.crawl.min_free_percent = 0;
    config.frontier.min_delay_ms = 0;
    config.frontier.max_delay_ms = 0;
    config.frontier.connections_per_host = CONNECTIONS;
    config.frontier.connections_per_ip = CONNECTIONS * 4;
    config.frontier.throttle_backoff_ms = BACKOFF_MS;
    Loaded {
        file: None,
        config,
        sites,
    }
}

async fn crawl_twice(server: &Arc<Server>, loaded: &Loaded) -> anyhow::Result<()> {
    let first = round(loaded, "round 1", false).await?;
    tell(&first);
    server.advance(now_ms());
    server.clear_log();
    output::line("\nthe sample web moves on: new articles come out, some are changed");
    let second = round(loaded, "round 2", true).await?;
    tell(&second);
    let known = store::Reader::open(&loaded.config.data_dir)?
        .counts()?
        .total("urls");
    let asked = i64::try_from(second.visits).unwrap_or(i64::MAX);
    output::line(&format!(
        "increment    {} new, {} changed; of {known} known addresses {} answered 304, {} came whole, {} were not asked for",
        second.documents_new,
        second.documents_changed,
        second.outcome("not_modified"),
        second.outcome("ok"),
        (known - asked).max(0),
    ));
    Ok(())
}

async fn round(loaded: &Loaded, name: &str, recheck: bool) -> anyhow::Result<Summary> {
    output::line(&format!("\n{name}"));
    let progress = super::progress::ProgressLine::new();
    let sites = loaded.sites.iter().map(|s| s.name.clone()).collect();
    let options = Options {
        progress: Some(progress.watcher()),
        ..Options::quiet(Mode::Pass { sites, recheck })
    };
    daemon::run(loaded, options, std::future::pending()).await
}

/// What a round did, for a person.
fn tell(summary: &Summary) {
    let seconds = summary.elapsed_ms as f64 / 1000.0;
    output::line(&format!(
        "fetched      {} pages ({:.1} MB), {} not modified, {} redirects, in {seconds:.1} s",
        summary.outcome("ok"),
        summary.bytes as f64 / 1e6,
        summary.outcome("not_modified"),
        summary.outcome("redirect"),
    ));
    output::line(&format!(
        "articles     {} new, {} changed, {} unchanged, {} deleted",
        summary.documents_new,
        summary.documents_changed,
        summary.documents_unchanged,
        summary.documents_deleted
    ));
    let heads = std::iter::once("refused").chain(std::iter::repeat(""));
    for (head, (reason, count)) in heads.zip(&summary.reasons) {
        output::line(&format!("{head:12} {count:>3} x {reason}"));
    }
    let heads = std::iter::once("links left").chain(std::iter::repeat(""));
    for (head, (rule, count)) in heads.zip(&summary.refused_links) {
        output::line(&format!("{head:12} {count:>3} x {rule}"));
    }
}

fn search(loaded: &Loaded) -> anyhow::Result<()> {
    let reader = super::search::open(loaded)?;
    for query in SHOWCASE {
        output::line(&format!("\n$ taojin search '{query}'"));
        let wanted = serve::Wanted {
            text: query.to_owned(),
            limit: HITS,
            ..serve::Wanted::default()
        };
        let started = std::time::Instant::now();
        let found = serve::ask(&reader, &wanted)?;
        super::search::print(&found, started.elapsed().as_secs_f64() * 1000.0, 0);
    }
    Ok(())
}

async fn show(loaded: &Loaded, listen: SocketAddr) -> anyhow::Result<()> {
    let analyzer = Analyzer::new(&loaded.lexicons()?);
    let state = daemon::serve_state(loaded, &analyzer, StatusBoard::of(loaded, None))?;
    let listener = serve::bind(listen).await?;
    output::line(&format!(
        "\nsearch page  http://{}/  (Ctrl-C ends)",
        listener.local_addr()?
    ));
    serve::serve(listener, state, super::run::stop_signal()?).await?;
    Ok(())
}
