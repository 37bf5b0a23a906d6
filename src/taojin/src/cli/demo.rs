//! `taojin demo`: the whole way on the bundled sample web, on loopback, without a configuration. Its data directory holds
//! `demo.toml`, so that every command that it prints after `$` works when it is pasted.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use askama::Template;
use ring::rand::{SecureRandom, SystemRandom};
use serde::Serialize;
use tokio::net::TcpListener;

use super::context::{Context, bail_usage, for_shell, listen_address, runtime};
use super::output;
use crate::config::{Config, LOCAL_CONFIG, LoadedConfig, SYSTEM_CONFIG};
use crate::daemon::{self, Mode, Options, StatusBoard, Summary, now_ms};
use crate::serve::{self, BindError, Secret};
use taojin_crawl::{VisitOutcome, fetch, store};
use taojin_demo::{self as demo, ARTICLES, SHOWCASE, SampleWeb};

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
    ///
    /// The data folder then stays; the last line says how to remove it.
    #[arg(long)]
    once: bool,
    /// Address and port of the web page [default: 127.0.0.1:8080, or a free port when that is in use]
    ///
    /// With this option, an address that is in use is a mistake.
    #[arg(long, value_name = "ADDR", value_parser = listen_address, conflicts_with = "once")]
    listen: Option<SocketAddr>,
}

/// Runs the demo. Its data is there as long as the web page is served; with `--once`, and where `--data-dir` says, it
/// stays.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    if context.config.is_some() {
        bail_usage!("--config: the demo takes no configuration; leave it out");
    }
    let place = DemoPlace::new(context.data_dir.as_deref())?;
    runtime()?.block_on(async {
        // Before the crawl: nobody should wait for that to learn that the port is taken.
        let listener = if args.once {
            None
        } else {
            Some(listen(args.listen).await?)
        };
        let web = serve_sample_web().await?;
        let mut loaded = settings(&web, place.path().to_owned());
        loaded.config.serve.token = token()?;
        if let Some(listener) = &listener {
            loaded.config.serve.listen = listener.local_addr()?;
        }
        place.write(&loaded)?;
        crawl_twice(&web, &loaded).await?;
        search(&loaded, &place)?;
        let next = NextText {
            place: &place,
            seed: for_shell(&web.url(&web.sites()[0], "/")),
            own: own_program(),
        };
        output::text_in(next, |t| ChineseNextText { t })?;
        match listener {
            Some(listener) => show(&loaded, listener, &place).await,
            None => {
                if let Some(path) = place.keep() {
                    let path = for_shell(&path.to_string_lossy());
                    output::line(&output::pick(
                        format!("\ndata         stays in {path}; rm -r {path} removes it"),
                        format!("\n数据         保留在 {path}；删除：rm -r {path}"),
                    ));
                }
                Ok(())
            }
        }?;
        Ok(ExitCode::SUCCESS)
    })
}

/// The socket of the web page: the address that was asked for, or the usual one, or any that is free.
async fn listen(asked_for: Option<SocketAddr>) -> anyhow::Result<TcpListener> {
    if asked_for.is_some() {
        return super::run::bind(asked_for, LISTEN).await;
    }
    match serve::bind(LISTEN).await {
        Err(BindError::InUse(_)) => {
            let listener = serve::bind(SocketAddr::new(LISTEN.ip(), 0)).await?;
            let address = listener.local_addr()?;
            output::note(&output::pick(
                format!("{LISTEN} is in use by another program: the web page will be at {address}"),
                format!("{LISTEN} 已被其他程序占用，搜索页改用 {address}"),
            ));
            Ok(listener)
        }
        other => Ok(other?),
    }
}

/// Serves the sample web until the program ends, and says where.
async fn serve_sample_web() -> anyhow::Result<Arc<SampleWeb>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let port = listener.local_addr()?.port();
    let web = Arc::new(SampleWeb::new(port, now_ms()));
    tokio::spawn(demo::serve(Arc::clone(&web), vec![listener]));
    let sites = web.sites().len();
    output::line(&output::pick(
        format!("sample web   {ARTICLES} articles on {sites} sites, at 127.0.0.1:{port}"),
        format!("样例网站     {sites} 个站点，{ARTICLES} 篇文章，在 127.0.0.1:{port}"),
    ));
    for site in web.sites() {
        output::line(&format!(
            "             {}  {}",
            site.title,
            web.url(site, "/")
        ));
    }
    Ok(web)
}

/// Settings for a crawl of the sample web: everything as usual, except that loopback is allowed and nobody needs to be
/// spared.
fn settings(web: &SampleWeb, data_dir: std::path::PathBuf) -> LoadedConfig {
    let mut config = Config {
        data_dir,
        ..Config::default()
    };
    config.fetch.allow_addresses = vec![fetch::Network::v4([127, 0, 0, 0], 8)];
    let mut sites = Vec::new();
    for site in web.sites() {
        let here = fetch::HostAddress(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0));
        config.fetch.hosts.insert(site.host(), here);
        let mut settings = web.settings(site);
        settings.scope.hosts = vec![web.authority(site)];
        sites.push(settings);
    }
    // So that home page, feeds and the examples of `/api` have one.
    config.follow.push(serve::Follow {
        name: "lng".to_owned(),
        title: "LNG 接收站".to_owned(),
        query: "LNG接收站".to_owned(),
        ..serve::Follow::default()
    });
    // It writes a few megabytes; a developer's disk may well be fuller than a server's.
    config.crawl.min_free_bytes = 64 << 20;
    config.crawl.min_free_percent = 0;
    config.frontier.min_delay_ms = 0;
    config.frontier.max_delay_ms = 0;
    config.frontier.connections_per_host = CONNECTIONS;
    config.frontier.connections_per_ip = CONNECTIONS * 4;
    config.frontier.throttle_backoff_ms = BACKOFF_MS;
    LoadedConfig {
        file: None,
        config,
        sites,
    }
}

async fn crawl_twice(web: &SampleWeb, loaded: &LoadedConfig) -> anyhow::Result<()> {
    let first = round(loaded, output::pick("round 1", "第一轮"), false).await?;
    output::text_in(RoundText { s: &first }, |t| ChineseRoundText { t })?;
    daemon::find_terms_after_crawl(loaded, std::future::pending()).await;
    web.advance();
    output::line(output::pick(
        "\nthe sample web moves on: new articles come out, some are changed",
        "\n样例网站有了变化：发表了新文章，有的文章作了修改",
    ));
    let second = round(loaded, output::pick("round 2", "第二轮"), true).await?;
    output::text_in(RoundText { s: &second }, |t| ChineseRoundText { t })?;
    let known = store::Reader::open(loaded.store_place())?
        .counts()?
        .total("urls");
    let asked = i64::try_from(second.visits).unwrap_or(i64::MAX);
    let (new, changed) = (second.documents_new, second.documents_changed);
    let not_modified = second.outcome(VisitOutcome::NotModified);
    let whole = second.outcome(VisitOutcome::Page);
    let unasked = (known - asked).max(0);
    output::line(&output::pick(
        format!(
            "increment    {new} new, {changed} changed; of {known} known addresses {not_modified} answered 304, {whole} came in full, {unasked} were not requested"
        ),
        format!(
            "增量         新增 {new}，有变化 {changed}；已知的 {known} 个网址中，{not_modified} 个返回 304，{whole} 个取回全文，{unasked} 个没有请求"
        ),
    ));
    Ok(())
}

async fn round(loaded: &LoadedConfig, name: &str, recheck: bool) -> anyhow::Result<Summary> {
    output::line(&format!("\n{name}"));
    let progress = output::ProgressLine::new();
    let sites = loaded.sites.iter().map(|s| s.name.clone()).collect();
    let options = Options {
        progress: Some(progress.watcher()),
        ..Options::quiet(Mode::Pass { sites, recheck })
    };
    daemon::run(loaded, options, std::future::pending()).await
}

/// What a round did, for a person.
#[derive(Template)]
#[template(path = "round.txt")]
struct RoundText<'a> {
    s: &'a Summary,
}

/// The same in Chinese.
#[derive(Template)]
#[template(path = "round.zh.txt")]
struct ChineseRoundText<'a> {
    t: RoundText<'a>,
}

fn search(loaded: &LoadedConfig, place: &DemoPlace) -> anyhow::Result<()> {
    let reader = super::search::open(loaded)?;
    for query in SHOWCASE {
        let command = place.command(&format!("search --limit {HITS} '{query}'"));
        output::line(&format!("\n$ {command}"));
        let wanted = serve::SearchRequest {
            text: query.to_owned(),
            limit: HITS,
            grouped: true,
            now_ms: now_ms(),
            ..serve::SearchRequest::default()
        };
        super::search::show(&reader, &wanted, loaded.config.serve.window)?;
    }
    Ok(())
}

/// What to do next: more commands over this data, then a site of one's own.
#[derive(Template)]
#[template(path = "next_steps.txt")]
struct NextText<'a> {
    place: &'a DemoPlace,
    seed: String,
    /// This program with the configuration that it finds here.
    own: String,
}

/// The same in Chinese.
#[derive(Template)]
#[template(path = "next_steps.zh.txt")]
struct ChineseNextText<'a> {
    t: NextText<'a>,
}

/// Where the web page is.
#[derive(Template)]
#[template(path = "demo_served.txt")]
struct ServedText<'a> {
    address: SocketAddr,
    token: &'a str,
    is_temporary: bool,
}

/// The same in Chinese.
#[derive(Template)]
#[template(path = "demo_served.zh.txt")]
struct ChineseServedText<'a> {
    t: ServedText<'a>,
}

async fn show(
    loaded: &LoadedConfig,
    listener: TcpListener,
    place: &DemoPlace,
) -> anyhow::Result<()> {
    let analyzer = loaded.analyzer()?;
    let state = daemon::serve_state(loaded, &analyzer, StatusBoard::new(loaded, None))?;
    let address = listener.local_addr()?;
    let served = ServedText {
        address,
        token: loaded.config.serve.token.reveal(),
        is_temporary: place.is_temporary(),
    };
    output::text_in(served, |t| ChineseServedText { t })?;
    serve::serve(listener, state, super::run::stop_signal()?).await?;
    Ok(())
}

/// The demo's configuration in its data folder.
const CONFIG_FILE: &str = "demo.toml";
/// Folder of its sites, beside that file.
const SITES_DIR: &str = "demo-sites.d";
/// Bytes of the token: as `openssl rand -hex 20` makes one.
const TOKEN_BYTES: usize = 20;

/// The folder of the demo's data.
pub(super) struct DemoPlace {
    path: PathBuf,
    /// Present when nobody said where: removed when it is dropped.
    temporary: Option<tempfile::TempDir>,
}

impl DemoPlace {
    /// The folder that was asked for, or a temporary one.
    pub(super) fn new(asked_for: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(path) = asked_for {
            let path = std::path::absolute(path)?;
            let named = || format!("--data-dir {}: cannot be made", path.display());
            fs::create_dir_all(&path).with_context(named)?;
            return Ok(Self {
                path,
                temporary: None,
            });
        }
        let temporary = tempfile::Builder::new().prefix("taojin-demo-").tempdir()?;
        Ok(Self {
            path: temporary.path().to_owned(),
            temporary: Some(temporary),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the data is gone when the demo ends.
    pub(super) fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    /// Leaves the data where it is; tells whether somebody has to remove it.
    pub(super) fn keep(mut self) -> Option<PathBuf> {
        self.temporary.take().map(tempfile::TempDir::keep)
    }

    /// Writes the settings so that other commands can be run beside the demo. Only this user may read them: they hold
    /// the token.
    pub(super) fn write(&self, loaded: &LoadedConfig) -> anyhow::Result<()> {
        let sites = self.path.join(SITES_DIR);
        fs::create_dir_all(&sites)?;
        for site in &loaded.sites {
            write(&sites.join(format!("{}.toml", site.name)), site)?;
        }
        let mut config = loaded.config.clone();
        config.sites_dir = PathBuf::from(SITES_DIR);
        write(&self.path.join(CONFIG_FILE), &config)
    }

    /// A command line that works on the demo's data.
    pub(super) fn command(&self, args: &str) -> String {
        let config = self.path.join(CONFIG_FILE);
        format!(
            "{} --config {} {args}",
            program(),
            for_shell(&config.to_string_lossy())
        )
    }
}

fn write(path: &Path, settings: &impl Serialize) -> anyhow::Result<()> {
    let text = format!("# Written by taojin demo.\n{}", toml::to_string(settings)?);
    let named = || format!("{}: cannot be written", path.display());
    let remove = fs::remove_file(path);
    if let Err(error) = remove
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error).with_context(named);
    }
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .with_context(named)?;
    file.write_all(text.as_bytes()).with_context(named)
}

/// A token that nobody can guess.
pub(super) fn token() -> anyhow::Result<Secret> {
    let mut bytes = [0; TOKEN_BYTES];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| anyhow::anyhow!("the system gives no random numbers"))?;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Secret::from(hex.as_str()))
}

/// This program with the configuration that it finds here.
fn own_program() -> String {
    let options = if Path::new(LOCAL_CONFIG).is_file() {
        format!(" --config {LOCAL_CONFIG} --data-dir data")
    } else if Path::new(SYSTEM_CONFIG).is_file() {
        String::new()
    } else {
        " --data-dir data".to_owned()
    };
    program() + &options
}

/// This program as it was called: a path from here, or a name that the shell finds.
fn program() -> String {
    let called = std::env::args_os().next();
    for_shell(&called.map_or("taojin".into(), |name| name.to_string_lossy().into_owned()))
}

#[cfg(test)]
mod tests {
    use super::token;

    #[test]
    fn tokens_are_random() {
        let (one, other) = (token().expect("random"), token().expect("random"));
        assert_eq!(one.reveal().len(), 40);
        assert_ne!(one.reveal(), other.reveal());
    }
}
