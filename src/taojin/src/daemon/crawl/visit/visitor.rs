//! Makes one visit: from a lease, or a record of an archive, to a [`Visit`].
//!
//! Fetches through the gate, parses while the body arrives, and extracts. The store is never touched.

use std::fs::File;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use futures_util::FutureExt;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::article::{self, OpenArticle};
use super::body::{BodyForm, PageBody};
use super::comments;
use super::file::{self, AttachmentReader};
use super::page::{FetchedPage, read};
use super::{Answer, Content, EndedLease, FinishedVisit, Moment, Unfetched, Visit, link_from};
use crate::config::LoadedConfig;
use crate::daemon::crawl::site_rules::{SiteRules, SiteRulesTable};
use crate::daemon::learn::templates::{Extracted, Templates};
use crate::daemon::{Clock, Mode, Shared};
use taojin_crawl::fetch::{
    self, Fetched, Gate, Purpose, Record, Refused, Request, Turn, Want, WarcSink,
};
use taojin_crawl::frontier::{FetchReport, Lease};
use taojin_crawl::scope::Reach;
use taojin_crawl::store::{InFlight, NewUrl, NodeLease, UrlClass, UrlRecord, UrlState, UrlVisit};
use taojin_crawl::{Failure, Truncation, VisitOutcome};
use taojin_extract as extract;
use taojin_extract::page::{self, Page, refresh_target};
use taojin_uri::CrawlUri;

/// A page up to this size is extracted where it was fetched: that takes some milliseconds, and handing it over to another
/// thread costs a twentieth of it.
const SMALL_PAGE_BYTES: u64 = 512 * 1024;

/// The robots.txt files that are known, in the data directory.
pub(crate) const ROBOTS_FILE: &str = "robots.json";

/// Those are saved this often, and at the end.
pub(crate) const SAVE_ROBOTS: Duration = Duration::from_secs(300);

/// A feed is held whole while it is read; the largest have some hundred kilobytes.
const MAX_FEED_BYTES: u64 = 16 << 20;

/// Responses in a row that must end at the same byte before they are believed to be all there is.
const MIN_EQUAL_TRUNCATIONS: u32 = 3;

/// One visit to be made.
pub(crate) struct VisitTask {
    pub(crate) lease: Lease,
    pub(crate) from: VisitSource,
}

/// Where the answer of a visit comes from.
pub(crate) enum VisitSource {
    /// The network.
    Network,
    /// The network, too: the next page of an article that has begun, instead of the URL's own.
    NextPage(Box<OpenArticle>),
    /// An archive.
    Archive(Box<ArchivedResponse>),
}

/// An answer of an archive.
pub(crate) struct ArchivedResponse {
    pub(crate) record: Record,
    /// When it was archived, Unix milliseconds.
    pub(crate) at_ms: i64,
}

/// Makes the visits; shared by all fetch tasks.
pub(crate) struct Visitor {
    gate: Arc<Gate>,
    page: page::Config,
    /// `None`: documents are not wanted.
    extract: Option<extract::Config>,
    /// Pages of an article that become one document, at most.
    article_pages: usize,
    /// Reads attachments, each in a child process; none where they are not wanted.
    attachments: Option<AttachmentReader>,
    /// The data folder.
    folder: PathBuf,
    rules: Arc<SiteRulesTable>,
    clock: Clock,
    /// Templates of the sites.
    templates: Templates,
    /// The pages that are being visited, for the case that one takes the process down.
    in_flight: Arc<InFlight>,
    /// By what this process may fetch, if several machines may have the store.
    node: Option<NodeLease>,
    /// How many pages may be extracted at once: as many as there are processors.
    extracting: Arc<Semaphore>,
}

/// The leased URL is not asked for now. The frontier gives it out again when its host and its site allow it.
struct PutOff {
    /// Its host is not to be asked before, Unix milliseconds, whatever else it is told.
    until_ms: Option<i64>,
}

/// A gate for the requests of a crawl; it archives what is fetched where that is wanted, and where pages come from the network.
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
    let clock = Arc::new(shared.fetch_clock());
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

impl Visitor {
    /// As the configuration has it. The store has counted before what was in flight at an unclean stop.
    pub(crate) fn open(
        loaded: &LoadedConfig,
        gate: Arc<Gate>,
        shared: &Arc<Shared>,
        templates: Templates,
        node: Option<NodeLease>,
    ) -> anyhow::Result<Self> {
        let config = &loaded.config;
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            gate,
            page: config.page.clone(),
            extract: config.crawl.documents.then(|| config.extract.clone()),
            article_pages: config.crawl.article_pages,
            attachments: AttachmentReader::open(config)?,
            folder: config.data_dir.clone(),
            rules: Arc::clone(shared.site_rules()),
            clock: shared.clock().clone(),
            templates,
            in_flight: InFlight::open(&config.data_dir),
            node,
            extracting: Arc::new(Semaphore::new(processors)),
        })
    }

    /// Saves the robots.txt files that are known in `data_dir`. A failure costs the next start some requests and is only logged.
    pub(crate) fn save_robots(&self, data_dir: &Path) {
        if let Err(error) = self.gate.save_robots(&data_dir.join(ROBOTS_FILE)) {
            tracing::warn!(%error, "robots.txt files could not be saved");
        }
    }

    /// Closes what the visits wrote, once the last has ended: the list of those under way, the archive, the robots.txt files.
    pub(crate) fn close(&self, data_dir: &Path) {
        self.in_flight.clear();
        if let Some(archive) = self.gate.archive() {
            archive.close();
        }
        self.save_robots(data_dir);
    }

    /// Makes one visit. A page that brings the parser down is that page's fault: its lease comes back all the same. One that
    /// brings the process down was noted before, and is counted at the next start.
    pub(crate) async fn visit(self: Arc<Self>, task: VisitTask) -> EndedLease {
        let VisitTask { lease, from } = task;
        let is_known = lease.record.id > 0;
        let _under_way = is_known.then(|| self.in_flight.begin(lease.record.id));
        if matches!(from, VisitSource::Network)
            && let Some(ip) = self.locate(&lease).await
        {
            return EndedLease::Located(lease, ip);
        }
        let is_fetch = !matches!(from, VisitSource::Archive(_));
        let record = &lease.record;
        let mut turn = Turn::for_lease(&record.site, &record.uri, lease.delay_ms);
        let visit = AssertUnwindSafe(self.make(record, from, &mut turn)).catch_unwind();
        let ended = tokio::select! {
            ended = visit => Some(ended),
            () = self.may_not_fetch(), if is_fetch => None,
        };
        let ended = ended.map(|ended| ended.unwrap_or_else(|_| Ok(program_failed(record))));
        let with_turn = |report| FetchReport {
            requests: turn.requests(),
            crawl_delay_ms: turn.crawl_delay_ms(),
            ..report
        };
        match ended {
            Some(Ok((visit, report))) => EndedLease::Visited(Box::new(FinishedVisit {
                visit,
                sitemaps: self.find_sitemaps(record, &turn),
                report: with_turn(report),
                lease,
            })),
            // What was asked counts, and nothing else.
            put_off @ (None | Some(Err(_))) => {
                let report = FetchReport {
                    not_before_ms: put_off.and_then(|put_off| put_off.err()?.until_ms),
                    ..FetchReport::unasked(VisitOutcome::Unwanted)
                };
                EndedLease::GivenBack(lease, with_turn(report))
            }
        }
    }

    /// What comes of the visit of a URL, unless nothing of its page was asked for and it is to be given out again.
    async fn make(
        self: &Arc<Self>,
        record: &UrlRecord,
        from: VisitSource,
        turn: &mut Turn,
    ) -> Result<(Visit, FetchReport), PutOff> {
        match from {
            VisitSource::Archive(archived) => {
                let visit = self.replay(record, *archived).await;
                let report = FetchReport::new(visit.outcome(), 0);
                return Ok((visit, report));
            }
            VisitSource::NextPage(article) => {
                // The pages that have come would be lost.
                turn.stay();
                return Ok(article::fetch_next_part(self, record, article, turn).await);
            }
            VisitSource::Network => {}
        }
        let is_file = record.visit.class == UrlClass::Attachment;
        if is_file && self.max_attachment_bytes(&record.site).is_none() {
            let visit = Visit::Unfetched(Unfetched::AttachmentsOff);
            return Ok((visit, FetchReport::new(VisitOutcome::Disallowed, 0)));
        }
        let visit = match self.fetch(record, turn).await {
            Ok(answer) => Visit::Fetched(Box::new(answer)),
            Err(Refused::Rules(_)) => return Err(PutOff { until_ms: None }),
            Err(Refused::Later(until_ms)) => {
                return Err(PutOff {
                    until_ms: Some(until_ms),
                });
            }
            Err(refused) => Visit::Unfetched(Unfetched::Refused(refused)),
        };
        let report = report_visit(&visit);
        Ok((visit, report))
    }

    async fn fetch(
        self: &Arc<Self>,
        record: &UrlRecord,
        turn: &mut Turn,
    ) -> Result<Answer, Refused> {
        let class = record.visit.class;
        let purpose = Purpose::Crawl(record.into());
        let (fetched, form) = self
            .ask(record, &record.uri, class, (purpose, turn))
            .await?;
        if class == UrlClass::Attachment && fetched.failure == Some(Failure::TooLarge) {
            return Ok(Answer {
                content: Content::TooLarge,
                ..Answer::unused(fetched)
            });
        }
        let at_ms = self.now_ms();
        if let BodyForm::File(file) = form {
            return Ok(file::read(self, record, fetched, file, at_ms).await);
        }
        let bytes = match &form {
            // A few bytes may unfold into many entries.
            BodyForm::List(_) | BodyForm::Sitemap(_) => u64::MAX,
            BodyForm::Open | BodyForm::Html(_) | BodyForm::File(_) | BodyForm::Binary => {
                fetched.body_bytes
            }
        };
        let (beside, record) = (Arc::clone(self), record.clone());
        let read = move || beside.read(&record, fetched, form, at_ms, true);
        Ok(self.compute(bytes, read).await)
    }

    /// Fetches the address of a record, or another page of its article.
    pub(super) async fn ask(
        &self,
        record: &UrlRecord,
        uri: &CrawlUri,
        class: UrlClass,
        (purpose, turn): (Purpose, &mut Turn),
    ) -> Result<(Fetched, BodyForm), Refused> {
        let limits = self.gate.config();
        let max_attachment_bytes = self.max_attachment_bytes(&record.site);
        let max_body_bytes = match class {
            UrlClass::Sitemap => Some(limits.max_sitemap_bytes),
            UrlClass::Feed => Some(limits.max_body_bytes.min(MAX_FEED_BYTES)),
            UrlClass::Attachment => max_attachment_bytes,
            _ => None,
        };
        // A page that an operator has called a document since it was fetched, or whose document waits for its fields, comes
        // whole once more.
        let is_called = || {
            let rules = self.rules(&record.site);
            rules.is_some_and(|rules| rules.documents.match_any(uri))
        };
        let known = (*uri == record.uri).then_some(&record.visit);
        let known = known.filter(|visit| {
            !self.templates.is_waiting(record) && (visit.documented || !is_called())
        });
        let request = Request {
            etag: known.and_then(|visit| visit.etag.clone()),
            last_modified: known.and_then(|visit| visit.last_modified.clone()),
            want: match (max_body_bytes, max_attachment_bytes) {
                (Some(_), _) => Want::Any,
                (None, Some(max_file_bytes)) => Want::PageOrFile { max_file_bytes },
                (None, None) => Want::Page,
            },
            max_body_bytes,
            ..Request::page(uri.clone())
        };
        let mut body = PageBody::new(&self.page, uri.clone(), class)
            .max_sitemap_bytes(limits.max_sitemap_bytes);
        if self.extract.is_none() {
            body = body.links_only();
        }
        if max_attachment_bytes.is_some() {
            body = body.keep_files(self.folder.clone());
        }
        let fetched = self.gate.fetch(&request, purpose, turn, &mut body).await?;
        Ok((fetched, body.into_form()))
    }

    /// Fetches what a script of a page reads as its comments. The page offers it, as it offers a file: the patterns of `include` are
    /// for pages.
    pub(super) async fn ask_for_comments(
        &self,
        uri: &CrawlUri,
        turn: &mut Turn,
    ) -> Result<(Fetched, Vec<u8>), Refused> {
        let request = Request {
            max_body_bytes: Some(comments::MAX_BYTES),
            ..Request::any(uri.clone())
        };
        let purpose = Purpose::Crawl(Reach::Attachment { redirects: 0 });
        let mut body = Vec::new();
        let fetched = self.gate.fetch(&request, purpose, turn, &mut body).await?;
        Ok((fetched, body))
    }

    /// Whether the comments that pages of a site load by script are requested.
    pub(super) fn follows_comments(&self, site: &str) -> bool {
        self.rules(site).is_some_and(|rules| rules.follows_comments)
    }

    /// The same from an archive: nothing is asked, neither the server nor robots.txt, which the archive's crawler asked.
    async fn replay(self: &Arc<Self>, record: &UrlRecord, archived: ArchivedResponse) -> Visit {
        let (bytes, at_ms) = (archived.record.block.len() as u64, archived.at_ms);
        let (beside, of) = (Arc::clone(self), record.clone());
        let read = move || beside.read_archived(&of, &archived);
        let answer = match self.compute(bytes, read).await {
            Some(Replayed::Answer(answer)) => *answer,
            Some(Replayed::File(fetched, file)) => {
                file::read(self, record, *fetched, file, at_ms).await
            }
            None => return Visit::Unfetched(Unfetched::NotArchived),
        };
        Visit::Fetched(Box::new(Answer {
            at: Moment::Archived { at_ms },
            ..answer
        }))
    }

    /// An answer of an archive, unless the record holds none.
    fn read_archived(&self, record: &UrlRecord, archived: &ArchivedResponse) -> Option<Replayed> {
        let mut body = PageBody::new(&self.page, record.uri.clone(), record.visit.class);
        let mut want = Want::Page;
        if self.max_attachment_bytes(&record.site).is_some() {
            want = Want::Any;
            body = body.keep_files(self.folder.clone());
        }
        let (_, fetched) = fetch::replay(&archived.record, self.gate.config(), want, &mut body)?;
        Some(match body.into_form() {
            BodyForm::File(file) => Replayed::File(Box::new(fetched), file),
            form => {
                let answer = self.read(record, fetched, form, archived.at_ms, false);
                Replayed::Answer(Box::new(answer))
            }
        })
    }

    /// What a fetch that ended at `at_ms` has brought. With `is_live`, its server may be asked for more.
    fn read(
        &self,
        record: &UrlRecord,
        fetched: Fetched,
        form: BodyForm,
        at_ms: i64,
        is_live: bool,
    ) -> Answer {
        let is_whole = fetched.outcome == VisitOutcome::Page;
        let page = FetchedPage {
            record,
            fetched: &fetched,
            is_live,
            joins: is_live && self.article_pages > 1,
            attachments: self.max_attachment_bytes(&record.site).is_some(),
        };
        let (content, mut outlinks) = match fetched.redirect_target() {
            Some(to) => (
                Content::Redirect(to.clone()),
                vec![redirect_link(record, to)],
            ),
            None if is_usable(&page, &form) => {
                read(self, &page, form, &self.context(record, at_ms))
            }
            None => (Content::Unused, Vec::new()),
        };
        let sent_on = fetched.head.refresh.as_deref().and_then(refresh_target);
        let sent_on = sent_on.and_then(|to| record.uri.join(to).ok());
        if let Some(to) = sent_on.filter(|_| is_whole && !fetched.head.nofollow) {
            outlinks.push(link_from(record, to, UrlClass::Unknown));
        }
        let mut answer = Answer {
            content,
            outlinks,
            ..Answer::unused(fetched)
        };
        if matches!(&answer.content, Content::Page(page) if page.is_list_cut) {
            // The next cycle is to say so again.
            let head = &mut answer.fetched.head;
            (head.etag, head.last_modified) = (None, None);
        }
        answer
    }

    /// Ends as soon as this process may not fetch any more: another machine may be about to.
    async fn may_not_fetch(&self) {
        match &self.node {
            Some(node) => node.in_doubt().await,
            None => std::future::pending().await,
        }
    }

    /// Where the host of a lease is, if that is not known: before it is asked, since it may be the server of another site, or one that
    /// another node asks.
    async fn locate(&self, lease: &Lease) -> Option<IpAddr> {
        if lease.is_located() {
            None
        } else {
            self.gate.locate(&lease.record.uri).await
        }
    }

    /// The sitemaps that the robots.txt of a seed names, where they are wanted.
    fn find_sitemaps(&self, record: &UrlRecord, turn: &Turn) -> Vec<NewUrl> {
        let is_seed = record.visit.class == UrlClass::Seed;
        let are_wanted = |rules: SiteRules| rules.robots_sitemaps;
        if !is_seed || !self.rules(&record.site).is_some_and(are_wanted) {
            return Vec::new();
        }
        let named = turn.sitemaps().iter();
        let link = |uri: &CrawlUri| link_from(record, uri.clone(), UrlClass::Sitemap);
        named.map(link).collect()
    }

    /// Does work on `bytes` of a page. What may take long is done beside the fetch tasks, so that their time limits stay true.
    pub(super) async fn compute<T: Send + 'static>(
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

    /// Bytes that the text of a document may have.
    pub(super) fn max_text_bytes(&self) -> usize {
        self.extract
            .as_ref()
            .map_or(usize::MAX, |extract| extract.max_text_bytes)
    }

    /// The document of a page, by the template of its site if there is one; none where documents are not wanted.
    pub(super) fn extract(&self, page: &Page, context: &extract::Context<'_>) -> Option<Extracted> {
        let config = self.extract.as_ref()?;
        Some(self.templates.extract(page, context, config))
    }

    /// What extraction is told of a page that came at `at_ms`.
    pub(super) fn context<'a>(&self, record: &'a UrlRecord, at_ms: i64) -> extract::Context<'a> {
        let rules = self.rules(&record.site);
        extract::Context {
            now_ms: Some(at_ms),
            site: Some(&record.site),
            default_offset_min: rules.as_ref().and_then(|r| r.utc_offset_min),
            is_document: rules.is_some_and(|r| r.documents.match_any(&record.uri)),
            ..Default::default()
        }
    }

    /// Up to which size the attachments of a site are read; none where they are not.
    fn max_attachment_bytes(&self, site: &str) -> Option<u64> {
        let rules = self.rules(site)?;
        let wanted = self.attachments.is_some() && rules.attachments;
        let usual = self.gate.config().max_attachment_bytes;
        wanted.then(|| rules.max_attachment_bytes.unwrap_or(usual))
    }

    /// What reads attachments, where they are wanted.
    pub(super) fn attachments(&self) -> Option<&AttachmentReader> {
        self.attachments.as_ref()
    }

    /// Pages of an article that become one document, at most.
    pub(super) fn article_pages(&self) -> usize {
        self.article_pages
    }

    /// Bytes of a sitemap that are read, unpacked.
    pub(super) fn max_sitemap_bytes(&self) -> u64 {
        self.gate.config().max_sitemap_bytes
    }

    /// The rules of a site, if it is crawled.
    pub(super) fn rules(&self, site: &str) -> Option<SiteRules> {
        self.rules.find(site)
    }

    /// The present, Unix milliseconds.
    pub(super) fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }
}

/// An answer that was read from an archive; a file is read by a child process, which is waited for.
enum Replayed {
    Answer(Box<Answer>),
    File(Box<Fetched>, File),
}

/// What is said of a page on which the program failed.
fn program_failed(record: &UrlRecord) -> (Visit, FetchReport) {
    tracing::error!(url = %record.uri, "page could not be processed, left out; please report it");
    let visit = Visit::Unfetched(Unfetched::ProgramFailed);
    (visit, FetchReport::new(VisitOutcome::Unwanted, 0))
}

/// What the frontier wants to know for its politeness.
fn report_visit(visit: &Visit) -> FetchReport {
    match visit {
        // A page that the server always cuts short counts as an answer.
        Visit::Fetched(answer) => FetchReport {
            reading_ms: match &answer.content {
                Content::File(file) => file.reading_ms,
                _ => 0,
            },
            ..report_fetch(&answer.fetched, visit.outcome())
        },
        Visit::Unfetched(why) => FetchReport {
            error: Some(match visit.robots_trouble() {
                Some(trouble) => trouble.to_string(),
                None => why.to_string(),
            }),
            ..FetchReport::unasked(why.outcome())
        },
    }
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

/// Whether what came of a body is used. A page over the limit is still worth its beginning, and so is one that always breaks off at
/// the same byte; anything else that broke off is not.
fn is_usable(page: &FetchedPage<'_>, form: &BodyForm) -> bool {
    let fetched = page.fetched;
    let is_whole = fetched.outcome == VisitOutcome::Page;
    let truncation = fetched.truncation().filter(|_| fetched.body_bytes > 0);
    let is_short =
        || truncation.is_some_and(|truncation| is_repeated(&page.record.visit, truncation));
    match form {
        // What was read of a sitemap before the limit is as good as ever.
        BodyForm::Html(_) | BodyForm::Sitemap(_) => is_whole || page.is_cut() || is_short(),
        BodyForm::List(_) => is_whole || is_short(),
        BodyForm::Open | BodyForm::File(_) | BodyForm::Binary => is_whole,
    }
}

/// Whether the body broke off where it did before: a server that declares a wrong length, or leaves out the end of its
/// chunks, does so each time. Browsers show such a page. Once a page was taken so, it is taken again at once.
fn is_repeated(visit: &UrlVisit, truncation: Truncation) -> bool {
    let is_established =
        visit.state == UrlState::Fetched || visit.errors + 1 >= MIN_EQUAL_TRUNCATIONS;
    is_established && visit.truncation == Some(truncation)
}

/// The link to the target of a redirect: as far from the seeds as the address that leads there.
pub(crate) fn redirect_link(record: &UrlRecord, to: &CrawlUri) -> NewUrl {
    let class = match record.visit.class {
        UrlClass::Article => UrlClass::Unknown,
        class => class,
    };
    NewUrl {
        redirects: record.redirects.saturating_add(1),
        hops: record.hops,
        announced: record.announced.clone(),
        ..link_from(record, to.clone(), class)
    }
}
