//! Makes one visit: from a lease, or a record of an archive, to a [`VisitResult`].
//!
//! Fetches through the gate, parses while the body arrives, and extracts. The store is never touched.
//!
//! [`start`] runs one task for each lease, on threads of their own: a page that takes seconds to extract holds up no reader of the
//! same process. They end with the crawl loop. [`VisitContext`] is what all of them need.

use std::fs::File;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use futures_util::FutureExt;
use tokio::runtime;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{JoinSet, spawn_blocking};

use super::article::{self, OpenArticle};
use super::attachment::{self, AttachmentReader};
use super::crawl_loop::Event;
use super::reading::{BodyForm, FetchedPage, PageBody, child, read, redirect};
use crate::config::LoadedConfig;
use crate::daemon::learn::templates::Templates;
use crate::daemon::watchdog::Worker;
use crate::daemon::{Mode, Shared, spawn_thread};
use crate::documents::EncodedDocument;
use taojin_crawl::fetch::{
    self, Fetched, Gate, Purpose, Record, Refused, Request, Trouble, Turn, Want, WarcSink,
};
use taojin_crawl::frontier::{FetchReport, Lease};
use taojin_crawl::schedule::Cut;
use taojin_crawl::store::{InFlight, NewUrl, NodeLease, UrlClass, UrlRecord, UrlState, Visit};
use taojin_crawl::{Failure, NoPage, Problem, Truncation, VisitOutcome};
use taojin_extract as extract;
use taojin_extract::page::{self, refresh_target};
use taojin_extract::{Document, Kind};
use taojin_uri::CrawlUri;

/// A page up to this size is extracted where it was fetched: that takes some milliseconds, and handing it over to another
/// thread costs a twentieth of it.
const SMALL_PAGE_BYTES: u64 = 512 * 1024;

/// The robots.txt files that are known, in the data directory.
pub(crate) const ROBOTS_FILE: &str = "robots.json";

/// Those are saved this often, and at the end.
pub(crate) const SAVE_ROBOTS: Duration = Duration::from_secs(300);

/// How often an idle runtime tells that it turns.
const BEAT: Duration = Duration::from_secs(5);

/// A feed is held whole while it is read; the largest have some hundred kilobytes.
const MAX_FEED_BYTES: u64 = 16 << 20;

/// Responses in a row that must end at the same byte before they are believed to be all there is.
const MIN_EQUAL_TRUNCATIONS: u32 = 3;

/// One visit to be made.
pub(crate) struct VisitTask {
    pub(crate) lease: Lease,
    /// The answer, if it comes from an archive and not from the network.
    pub(crate) archived: Option<Box<ArchivedResponse>>,
    /// The article whose next page is fetched instead of the URL's own, if one has begun.
    pub(crate) open: Option<Box<OpenArticle>>,
}

/// An answer of an archive.
pub(crate) struct ArchivedResponse {
    pub(crate) record: Record,
    /// When it was archived, Unix milliseconds.
    pub(crate) at_ms: i64,
}

/// A lease that has ended.
pub(crate) struct FinishedVisit {
    /// The lease.
    pub(crate) lease: Lease,
    /// What was found.
    pub(crate) visited: VisitResult,
    /// What the frontier's politeness goes by.
    pub(crate) report: FetchReport,
    /// How it has ended.
    pub(crate) end: LeaseEnd,
}

impl FinishedVisit {
    pub(crate) fn new(
        lease: Lease,
        end: LeaseEnd,
        (visited, report): (VisitResult, FetchReport),
    ) -> Self {
        Self {
            lease,
            visited,
            report,
            end,
        }
    }
}

/// How a lease ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeaseEnd {
    /// With what was found.
    Whole,
    /// It is to be given out again: its host wants more time before the page, a rule changed since, or the right to fetch ended in the
    /// middle of it. Nothing of it counts but that its host was asked.
    BrokenOff,
    /// Nothing was asked: only where its host is was found out.
    Located(IpAddr),
}

/// What became of a visit.
#[derive(Default)]
pub(crate) struct VisitResult {
    /// How it ended.
    pub(crate) outcome: VisitOutcome,
    /// Why it was refused or failed, in words.
    pub(crate) reason: Option<String>,
    /// Why its robots.txt could not be had.
    pub(crate) trouble: Option<Trouble>,
    /// How it went over the network; none when nothing was asked.
    pub(crate) fetched: Option<Fetched>,
    /// What the page is.
    pub(crate) kind: Option<Kind>,
    /// The document, if the page is one to be found.
    pub(crate) document: Option<EncodedDocument>,
    /// The document of a page that asks not to be indexed.
    pub(crate) withheld: Option<EncodedDocument>,
    /// It asks to sign in, or to prove that a person reads; or leads to where that is asked.
    pub(crate) is_blocking: bool,
    /// Digest of the text (articles) or of the links (hubs).
    pub(crate) digest: Option<u64>,
    /// Digest of what the page says without its numbers.
    pub(crate) outline: Option<u64>,
    /// Digest of all that it shows: title, text, and its links by their texts and by the last part of where they lead, which stays
    /// the same where a relative link is found under another address.
    pub(crate) face: Option<u64>,
    /// Why a page that came has no document, in words.
    pub(crate) unindexed: Option<String>,
    /// Links in page order.
    pub(crate) outlinks: Vec<NewUrl>,
    /// Why a sitemap was not read to its end.
    pub(crate) sitemap_cut: Option<Cut>,
    /// Where the page stands instead: target of a redirect, or the canonical address.
    pub(crate) target: Option<CrawlUri>,
    /// When the page was archived, Unix milliseconds; none when it was fetched just now.
    pub(crate) archived_ms: Option<i64>,
    /// When a person last named a field of the site's pages; 0 for a page that was fetched just now.
    pub(crate) named_ms: i64,
    /// The document of a page on which an article begins that continues on others.
    pub(crate) goes_on: Option<Box<Document>>,
    /// The article, if it continues on a page that has not come yet.
    pub(crate) open: Option<Box<OpenArticle>>,
    /// The page of the article that was fetched, if it is not the first.
    pub(crate) later: Option<(CrawlUri, Fetched)>,
}

impl VisitResult {
    /// A visit that brought nothing but this end.
    pub(crate) fn nothing(outcome: VisitOutcome, reason: Option<String>) -> Self {
        Self {
            outcome,
            reason,
            ..Self::default()
        }
    }
}

/// What every visit needs; shared by all fetch tasks.
pub(crate) struct VisitContext {
    pub(crate) gate: Arc<Gate>,
    pub(crate) page: page::Config,
    /// `None`: documents are not wanted.
    pub(crate) extract: Option<extract::Config>,
    /// Pages of an article that become one document, at most.
    pub(crate) article_pages: usize,
    /// Reads attachments, each in a child process; none where they are not wanted.
    pub(crate) attachments: Option<AttachmentReader>,
    /// The data folder.
    pub(crate) folder: PathBuf,
    pub(crate) shared: Arc<Shared>,
    /// Templates of the sites.
    pub(crate) templates: Templates,
    /// The pages that are being visited, for the case that one takes the process down.
    pub(crate) in_flight: Arc<InFlight>,
    /// By what this process may fetch, if several machines may have the store.
    pub(crate) node: Option<NodeLease>,
    /// How many pages may be extracted at once: as many as there are processors.
    extracting: Arc<Semaphore>,
}

impl VisitContext {
    /// Ends as soon as this process may not fetch any more: another machine may be about to.
    pub(crate) async fn may_not_fetch(&self) {
        match &self.node {
            Some(node) => node.in_doubt().await,
            None => std::future::pending().await,
        }
    }

    /// Where the host of a lease is, if that has to be known before it is asked and is not: other nodes may ask the same server.
    pub(crate) async fn locate(&self, lease: &Lease) -> Option<IpAddr> {
        if self.node.is_some() && !lease.is_located() {
            self.gate.locate(&lease.record.uri).await
        } else {
            None
        }
    }

    /// Up to which size the attachments of a site are read; none where they are not.
    pub(crate) fn max_attachment_bytes(&self, site: &str) -> Option<u64> {
        let rules = self.shared.rules(site)?;
        let wanted = self.attachments.is_some() && rules.attachments;
        let usual = self.gate.config().max_attachment_bytes;
        wanted.then(|| rules.max_attachment_bytes.unwrap_or(usual))
    }

    /// Does work on `bytes` of a page. What may take long is done beside the fetch tasks, so that their time limits stay true.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        bytes: u64,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        if bytes <= SMALL_PAGE_BYTES {
            return work();
        }
        let permit = Arc::clone(&self.extracting).acquire_owned().await;
        let done = spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        match done.await {
            Ok(result) => result,
            Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
            // The fetch tasks are being stopped, and this one with them.
            Err(_) => std::future::pending().await,
        }
    }
}

/// The gate for the requests of a crawl; it archives what is fetched where that is wanted, and where pages come from the network.
pub(crate) fn open_gate(
    loaded: &LoadedConfig,
    mode: &Mode,
    shared: &Arc<Shared>,
) -> anyhow::Result<Arc<Gate>> {
    let config = &loaded.config;
    let is_archived = config.warc.enabled && !matches!(mode, Mode::Replay { .. });
    let dir = loaded.warc_dir();
    let software = concat!("taojin/", env!("CARGO_PKG_VERSION"));
    let open = || {
        WarcSink::open(&dir, config.warc.max_bytes, software)
            .with_context(|| format!("archive in {} cannot be written", dir.display()))
    };
    let archive = is_archived.then(open).transpose()?.map(Arc::new);
    let clock = Arc::clone(shared);
    let gate = Gate::new(
        config.fetch.clone(),
        config.frontier.max_crawl_delay_ms,
        clock,
    )?;
    let gate = gate.with_archive(archive);
    Ok(Arc::new(
        gate.with_saved_robots(&config.data_dir.join(ROBOTS_FILE)),
    ))
}

/// What the fetch tasks need. The store has counted before what was in flight at an unclean stop.
pub(crate) fn tools(
    loaded: &LoadedConfig,
    gate: Arc<Gate>,
    shared: &Arc<Shared>,
    templates: Templates,
    node: Option<NodeLease>,
) -> anyhow::Result<VisitContext> {
    let config = &loaded.config;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(VisitContext {
        gate,
        page: config.page.clone(),
        extract: config.crawl.documents.then(|| config.extract.clone()),
        article_pages: config.crawl.article_pages,
        attachments: AttachmentReader::open(config)?,
        folder: config.data_dir.clone(),
        shared: Arc::clone(shared),
        templates,
        in_flight: InFlight::open(&config.data_dir),
        node,
        extracting: Arc::new(Semaphore::new(processors)),
    })
}

/// A failure costs the next start some requests and is only logged.
pub(crate) fn save_robots(tools: &VisitContext, data_dir: &Path) {
    if let Err(error) = tools.gate.save_robots(&data_dir.join(ROBOTS_FILE)) {
        tracing::warn!(%error, "robots.txt files could not be saved");
    }
}

/// Starts the thread that makes a visit for each lease with `visit`; it ends when the crawl loop drops its end.
pub(crate) fn start<V, F>(
    visit: V,
    work: mpsc::Receiver<VisitTask>,
    events: SyncSender<Event>,
    shared: Arc<Shared>,
) -> anyhow::Result<thread::JoinHandle<()>>
where
    V: Fn(VisitTask) -> F + Send + 'static,
    F: Future<Output = FinishedVisit> + Send + 'static,
{
    let runtime = runtime::Builder::new_multi_thread()
        .thread_name("fetch")
        .enable_all()
        .build()
        .context("the threads of the fetch tasks cannot be started")?;
    spawn_thread("fetch-tasks", move || {
        runtime.block_on(fetch_tasks(visit, work, events, &shared));
        // A page that is still being extracted is not waited for: its URL is due as before.
        runtime.shutdown_background();
    })
}

async fn fetch_tasks<V, F>(
    visit: V,
    mut work: mpsc::Receiver<VisitTask>,
    events: SyncSender<Event>,
    shared: &Shared,
) where
    V: Fn(VisitTask) -> F,
    F: Future<Output = FinishedVisit> + Send + 'static,
{
    let mut visits = JoinSet::new();
    let mut beat = tokio::time::interval(BEAT);
    loop {
        // While pages are under way, only the end of one is progress.
        if visits.is_empty() {
            shared.record_heartbeat(Worker::Fetching);
        }
        tokio::select! {
            next = work.recv() => match next {
                Some(work) => {
                    let finished = visit(work);
                    let events = events.clone();
                    visits.spawn(async move {
                        let finished = Event::Finished(Box::new(finished.await));
                        // There is room for every connection; the channel is closed only when the crawl is over.
                        let _ = events.try_send(finished);
                    });
                }
                None => return,
            },
            _ = beat.tick() => {}
            Some(ended) = visits.join_next() => {
                shared.record_heartbeat(Worker::Fetching);
                if let Err(error) = ended {
                    tracing::error!(%error, "a visit did not end by itself");
                }
            }
        }
    }
}

/// Makes one visit. A page that brings the parser down is that page's fault: its lease comes back all the same. One that
/// brings the process down was noted before, and is counted at the next start.
pub(crate) async fn one_visit(tools: Arc<VisitContext>, work: VisitTask) -> FinishedVisit {
    let VisitTask {
        lease,
        archived,
        open,
    } = work;
    let is_known = lease.record.id > 0;
    let _under_way = is_known.then(|| tools.in_flight.begin(lease.record.id));
    let is_fetch = archived.is_none();
    if is_fetch
        && open.is_none()
        && let Some(ip) = tools.locate(&lease).await
    {
        return FinishedVisit::new(lease, LeaseEnd::Located(ip), broken_off());
    }
    let record = &lease.record;
    let mut turn = Turn::for_lease(&record.site, &record.uri, lease.delay_ms);
    let visit = AssertUnwindSafe(visit(&tools, &lease, archived, open, &mut turn)).catch_unwind();
    let ended = tokio::select! {
        ended = visit => Some(ended),
        () = tools.may_not_fetch(), if is_fetch => None,
    };
    let mut not_before_ms = None;
    let (end, (visited, report)) = match ended {
        Some(Ok(Ok(found))) => (LeaseEnd::Whole, found),
        Some(Ok(Err(put_off))) => {
            not_before_ms = put_off.until_ms;
            (LeaseEnd::BrokenOff, broken_off())
        }
        Some(Err(_)) => (LeaseEnd::Whole, panicked(&lease)),
        None => (LeaseEnd::BrokenOff, broken_off()),
    };
    let report = FetchReport {
        requests: turn.requests(),
        crawl_delay_ms: turn.crawl_delay_ms(),
        not_before_ms,
        ..report
    };
    FinishedVisit::new(lease, end, (visited, report))
}

/// The leased URL is not asked for now. The frontier gives it out again when its host and its site allow it.
pub(crate) struct PutOff {
    /// Its host is not to be asked before, Unix milliseconds, whatever else it is told.
    until_ms: Option<i64>,
}

/// Visits the leased URL. Every end is a [`VisitResult`], unless nothing of the page was asked for and it is to be given out again.
pub(crate) async fn visit(
    tools: &Arc<VisitContext>,
    lease: &Lease,
    archived: Option<Box<ArchivedResponse>>,
    open: Option<Box<OpenArticle>>,
    turn: &mut Turn,
) -> Result<(VisitResult, FetchReport), PutOff> {
    let record = &lease.record;
    if let Some(archived) = archived {
        let (beside, record) = (Arc::clone(tools), record.clone());
        let (bytes, at_ms) = (archived.record.block.len() as u64, archived.at_ms);
        let read = {
            let record = record.clone();
            move || visit_archived(&beside, &record, &archived)
        };
        let visited = match tools.compute(bytes, read).await {
            Ok(visited) => visited,
            Err(file) => attachment::visit(tools, &record, file.fetched, file.file, at_ms).await,
        };
        let visited = VisitResult {
            archived_ms: Some(at_ms),
            named_ms: tools.templates.registry.named_ms(&record.site),
            ..visited
        };
        let report = FetchReport::new(visited.outcome, 0);
        return Ok((visited, report));
    }
    if let Some(open) = open {
        // The pages that have come would be lost.
        turn.stay();
        return Ok(article::go_on(tools, record, open, turn).await);
    }
    if record.visit.class == UrlClass::Attachment
        && tools.max_attachment_bytes(&record.site).is_none()
    {
        let reason = "attachments are switched off (crawl.attachments, attachments of the site)";
        let visited = VisitResult::nothing(VisitOutcome::Unwanted, Some(reason.to_owned()));
        return Ok((visited, FetchReport::new(VisitOutcome::Disallowed, 0)));
    }
    let mut visited = match fetch(tools, record, turn).await {
        Ok(visited) => visited,
        Err(Refused::Rules(_)) => return Err(PutOff { until_ms: None }),
        Err(Refused::Later(until_ms)) => {
            return Err(PutOff {
                until_ms: Some(until_ms),
            });
        }
        Err(refused) => refusal(refused),
    };
    let rules = tools.shared.rules(&record.site);
    if record.visit.class == UrlClass::Seed && rules.is_some_and(|r| r.robots_sitemaps) {
        let named = turn.sitemaps().iter();
        visited
            .outlinks
            .extend(named.map(|uri| child(record, uri.clone(), UrlClass::Sitemap)));
    }
    let report = report(&visited);
    Ok((visited, report))
}

/// What is said of a page on which the program failed.
pub(crate) fn panicked(lease: &Lease) -> (VisitResult, FetchReport) {
    tracing::error!(url = %lease.record.uri, "page could not be processed, left out; please report it");
    let visited = VisitResult::nothing(
        VisitOutcome::Unwanted,
        Some("failed on this page".to_owned()),
    );
    (visited, FetchReport::new(VisitOutcome::Unwanted, 0))
}

/// What is said of a page whose visit was broken off.
pub(super) fn broken_off() -> (VisitResult, FetchReport) {
    let visited = VisitResult::nothing(VisitOutcome::Unwanted, None);
    let report = FetchReport {
        elapsed_ms: None,
        ..FetchReport::new(VisitOutcome::Unwanted, 0)
    };
    (visited, report)
}

/// A visit whose request the gate did not let pass.
pub(super) fn refusal(refused: Refused) -> VisitResult {
    match refused {
        Refused::Robots(rule) => {
            let reason = format!("robots.txt line {}: Disallow: {}", rule.line, rule.pattern);
            VisitResult::nothing(VisitOutcome::Disallowed, Some(reason))
        }
        Refused::RobotsAway(trouble) => {
            let reason = Problem::Robots(trouble.no_page()).to_string();
            VisitResult {
                trouble: Some(trouble),
                ..VisitResult::nothing(VisitOutcome::RobotsUnreachable, Some(reason))
            }
        }
        Refused::Rules(rule) | Refused::OnTheWay(rule) => {
            VisitResult::nothing(VisitOutcome::Unwanted, Some(rule.describe().to_owned()))
        }
        Refused::Later(_) => {
            let reason = "leads to a host that asked for a long pause".to_owned();
            VisitResult::nothing(VisitOutcome::Unwanted, Some(reason))
        }
    }
}

/// What the frontier wants to know for its politeness.
fn report(visited: &VisitResult) -> FetchReport {
    let Some(fetched) = &visited.fetched else {
        return FetchReport {
            error: match &visited.trouble {
                Some(trouble) => Some(trouble.to_string()),
                None => visited.reason.clone(),
            },
            elapsed_ms: None,
            ..FetchReport::new(visited.outcome, 0)
        };
    };
    // A page that the server always cuts short counts as an answer.
    report_fetch(fetched, visited.outcome)
}

/// The same of a page that was fetched, with the outcome that counts.
pub(super) fn report_fetch(fetched: &Fetched, outcome: VisitOutcome) -> FetchReport {
    let elapsed_ms = i64::try_from(fetched.elapsed_ms).unwrap_or(i64::MAX);
    FetchReport {
        failure: fetched.failure,
        retry_after_ms: fetched.asked_pause_ms(),
        ip: fetched.remote,
        error: outcome.is_host_trouble().then(|| fetched.describe()),
        ..FetchReport::new(outcome, elapsed_ms)
    }
}

async fn fetch(
    tools: &Arc<VisitContext>,
    record: &UrlRecord,
    turn: &mut Turn,
) -> Result<VisitResult, Refused> {
    let class = record.visit.class;
    let purpose = Purpose::Crawl(record.into());
    let (fetched, form) = ask(tools, record, &record.uri, class, (purpose, turn)).await?;
    if class == UrlClass::Attachment && fetched.failure == Some(Failure::TooLarge) {
        return Ok(attachment::too_large(fetched));
    }
    if let BodyForm::File(file) = form {
        let at_ms = tools.shared.now_ms();
        return Ok(attachment::visit(tools, record, fetched, file, at_ms).await);
    }
    let (beside, record) = (Arc::clone(tools), record.clone());
    let at_ms = tools.shared.now_ms();
    let joins = tools.article_pages > 1;
    let bytes = match &form {
        // A few bytes may unfold into many entries.
        BodyForm::List(_) | BodyForm::Sitemap(_) => u64::MAX,
        BodyForm::Open | BodyForm::Html(_) | BodyForm::File(_) | BodyForm::Binary => {
            fetched.body_bytes
        }
    };
    let read = move || process_response(&beside, &record, fetched, form, at_ms, joins);
    Ok(tools.compute(bytes, read).await)
}

/// Fetches the address of a record, or another page of its article.
pub(super) async fn ask(
    tools: &Arc<VisitContext>,
    record: &UrlRecord,
    uri: &CrawlUri,
    class: UrlClass,
    (purpose, turn): (Purpose, &mut Turn),
) -> Result<(Fetched, BodyForm), Refused> {
    let limits = tools.gate.config();
    let max_attachment_bytes = tools.max_attachment_bytes(&record.site);
    let max_body_bytes = match class {
        UrlClass::Sitemap => Some(limits.max_sitemap_bytes),
        UrlClass::Feed => Some(limits.max_body_bytes.min(MAX_FEED_BYTES)),
        UrlClass::Attachment => max_attachment_bytes,
        _ => None,
    };
    // A page that an operator has called a document, or named a field of, since it was fetched comes whole once more.
    let named_ms = tools.templates.registry.named_ms(&record.site);
    let is_called = || {
        let rules = tools.shared.rules(&record.site);
        rules.is_some_and(|rules| rules.documents.match_any(uri))
    };
    let known = (*uri == record.uri).then_some(&record.visit);
    let known = known
        .filter(|visit| visit.fetched_ms >= Some(named_ms) && (visit.documented || !is_called()));
    let request = Request {
        etag: known.and_then(|visit| visit.etag.clone()),
        last_modified: known.and_then(|visit| visit.last_modified.clone()),
        want: if max_body_bytes.is_some() {
            Want::Any
        } else {
            Want::Page
        },
        max_body_bytes,
        ..Request::page(uri.clone())
    };
    let mut body =
        PageBody::new(&tools.page, uri.clone(), class).max_sitemap_bytes(limits.max_sitemap_bytes);
    if tools.extract.is_none() {
        body = body.links_only();
    }
    if max_attachment_bytes.is_some() {
        body = body.keep_files(tools.folder.clone());
    }
    let fetched = tools.gate.fetch(&request, purpose, turn, &mut body).await?;
    Ok((fetched, body.form))
}

/// The same from an archive: nothing is asked, neither the server nor robots.txt, which the archive's crawler asked.
fn visit_archived(
    tools: &VisitContext,
    record: &UrlRecord,
    archived: &ArchivedResponse,
) -> Result<VisitResult, Box<FetchedFile>> {
    let mut body = PageBody::new(&tools.page, record.uri.clone(), record.visit.class);
    let mut want = Want::Page;
    if tools.max_attachment_bytes(&record.site).is_some() {
        want = Want::Any;
        body = body.keep_files(tools.folder.clone());
    }
    let replayed = fetch::replay(&archived.record, tools.gate.config(), want, &mut body);
    let Some((_, fetched)) = replayed else {
        let reason = "archive: no answer of a server".to_owned();
        return Ok(VisitResult::nothing(VisitOutcome::Unwanted, Some(reason)));
    };
    match body.form {
        BodyForm::File(file) => Err(Box::new(FetchedFile { fetched, file })),
        form => Ok(process_response(
            tools,
            record,
            fetched,
            form,
            archived.at_ms,
            false,
        )),
    }
}

/// An answer that is a file, and no page.
struct FetchedFile {
    fetched: Fetched,
    file: File,
}

/// What extraction is told of a page that came at `at_ms`.
pub(super) fn context<'a>(
    tools: &VisitContext,
    record: &'a UrlRecord,
    at_ms: i64,
) -> extract::Context<'a> {
    let rules = tools.shared.rules(&record.site);
    extract::Context {
        now_ms: Some(at_ms),
        site: Some(&record.site),
        default_offset_min: rules.as_ref().and_then(|r| r.utc_offset_min),
        is_document: rules.is_some_and(|r| r.documents.match_any(&record.uri)),
        ..Default::default()
    }
}

/// What a fetch that ended at `at_ms` has brought. With `joins`, the pages of an article become one document.
fn process_response(
    tools: &VisitContext,
    record: &UrlRecord,
    fetched: Fetched,
    form: BodyForm,
    at_ms: i64,
    joins: bool,
) -> VisitResult {
    let context = context(tools, record, at_ms);
    let attachments = tools.max_attachment_bytes(&record.site).is_some();
    // A page over the limit is still worth its beginning, and so is one that always breaks off at the same byte;
    // anything else that broke off is not to be used.
    let cut = fetched.failure == Some(Failure::TooLarge);
    let truncation = fetched.truncation().filter(|_| fetched.body_bytes > 0);
    let short = truncation.is_some_and(|truncation| is_repeated(&record.visit, truncation));
    let is_whole = fetched.outcome == VisitOutcome::Page;
    let is_usable = match &form {
        BodyForm::Html(_) => is_whole || cut || short,
        BodyForm::List(_) => is_whole || short,
        // What was read of it before the limit is as good as ever.
        BodyForm::Sitemap(_) => is_whole || cut || short,
        BodyForm::Open | BodyForm::File(_) | BodyForm::Binary => is_whole,
    };
    let mut visited = match fetched.redirect_target() {
        Some(to) => redirect(record, to),
        None if is_usable => {
            let answer = FetchedPage {
                record,
                head: &fetched.head,
                cut,
                joins,
                attachments,
            };
            read(tools, &answer, form, &context)
        }
        None => VisitResult::nothing(fetched.outcome, None),
    };
    let sent_on = fetched.head.refresh.as_deref().and_then(refresh_target);
    let sent_on = sent_on.and_then(|to| record.uri.join(to).ok());
    if let Some(to) = sent_on.filter(|_| is_whole && !fetched.head.nofollow) {
        visited.outlinks.push(child(record, to, UrlClass::Unknown));
    }
    if let Some(cut) = visited.sitemap_cut {
        let max = tools.gate.config().max_sitemap_bytes;
        visited.reason = Some(match cut {
            Cut::Entries => "sitemap read in part: it has more than 50,000 entries".to_owned(),
            Cut::Bytes => format!("sitemap read in part: fetch.max_sitemap_bytes = {max}"),
            Cut::Damaged => "sitemap read in part: it is damaged from there on".to_owned(),
        });
    } else if cut && visited.outcome == VisitOutcome::Page {
        visited.reason = Some("too-large: cut off at the limit".to_owned());
    } else if visited.reason.is_none() && (short || !visited.outcome.is_success()) {
        visited.reason = Some(reason(&fetched));
    }
    visited.open = visited
        .goes_on
        .take()
        .and_then(|document| OpenArticle::start(*document, fetched.clone(), attachments));
    visited.fetched = Some(fetched);
    visited
}

/// Whether the body broke off where it did before: a server that declares a wrong length, or leaves out the end of its
/// chunks, does so each time. Browsers show such a page. Once a page was taken so, it is taken again at once.
fn is_repeated(visit: &Visit, truncation: Truncation) -> bool {
    let is_established =
        visit.state == UrlState::Fetched || visit.errors + 1 >= MIN_EQUAL_TRUNCATIONS;
    is_established && visit.truncation == Some(truncation)
}

pub(super) fn reason(fetched: &Fetched) -> String {
    match fetched.failure {
        Some(failure) if fetched.truncation().is_some() => format!(
            "{}: the body broke off after {} bytes",
            failure.as_str(),
            fetched.wire_bytes
        ),
        Some(Failure::Address) => fetched.describe(),
        Some(failure) => failure.as_str().to_owned(),
        None => NoPage::Status(fetched.head.status).to_string(),
    }
}
