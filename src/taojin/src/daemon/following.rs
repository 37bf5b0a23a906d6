//! Sends hits of followed topics to their webhooks: when a hit is new, has changed or is gone.
//!
//! What was collected and what was delivered is recorded in the store, so that a restart neither loses a hit nor sends it
//! twice; only a delivery whose response was lost is sent again, under the same number.
//!
//! A receiver's address comes from the configuration and not from the web, so it is not guarded: receivers are in the own
//! network more often than not. No redirect is followed: a signed body goes where it was meant to go.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use reqwest::header;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::crawl::crawl_status::CrawlStatus;
use super::now_ms;
use super::reloading::{Current, titles};
use crate::config::LoadedConfig;
use crate::documents::{IndexAt, unpack};
use crate::engine::http_client;
use crate::serve::{self, DocumentHit, Follow, Marked, Tell, metrics, signature};
use taojin_crawl::store::{Change, Delivery, FollowMark, Follows, LastKnown, NotifyOn};
use taojin_search::analyze::Analyzer;
use taojin_search::index::{Reader, SiteTitles, Watermark};

/// How often the index is checked; it commits twice a second.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// When what following needs could not be had, it is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// Hits of one delivery: with their snippets some 50 kB.
const DELIVERY_HITS: usize = 50;
/// Hits collected at once, before they are noted.
const COLLECTED_MAX: usize = 20_000;

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest wait for the answer: a receiver should take the hits in and work on them later.
const WHOLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Characters of an error that are kept.
const ERROR_CHARS: usize = 300;

/// One topic and what is needed to tell its hits.
struct Topic {
    follow: Follow,
    means: Arc<FollowTools>,
}

/// What the topics share; made when the first one has a webhook.
struct FollowTools {
    reader: Reader,
    follows: Arc<Follows>,
    client: reqwest::Client,
    crawl: Arc<CrawlStatus>,
}

/// Where the means come from.
struct FollowSources {
    index: IndexAt,
    analyzer: Analyzer,
    follows: Arc<Follows>,
    titles: SiteTitles,
    crawl: Arc<CrawlStatus>,
}

impl FollowSources {
    fn means(&self) -> anyhow::Result<FollowTools> {
        let reader = self.index.open(&self.analyzer)?;
        let reader = reader.with_titles(self.titles.clone());
        Ok(FollowTools {
            reader,
            follows: Arc::clone(&self.follows),
            client: client().context("webhooks cannot be sent")?,
            crawl: Arc::clone(&self.crawl),
        })
    }
}

/// Follows the topics with a webhook, a task for each, as they come and go. Dropping the set stops them.
pub(crate) fn start(
    loaded: &LoadedConfig,
    analyzer: &Analyzer,
    follows: Follows,
    current: watch::Receiver<Current>,
    crawl: &Arc<CrawlStatus>,
) -> JoinSet<()> {
    let place = FollowSources {
        index: IndexAt::new(loaded),
        analyzer: analyzer.clone(),
        follows: Arc::new(follows),
        titles: titles(current.clone()),
        crawl: Arc::clone(crawl),
    };
    let mut tasks = JoinSet::new();
    tasks.spawn(keep(place, current));
    tasks
}

/// Starts what is followed and not yet looked after. A topic that was changed ends first, so that none has two tasks.
async fn keep(place: FollowSources, mut current: watch::Receiver<Current>) {
    let (mut tasks, mut running) = (JoinSet::new(), HashSet::new());
    let mut means: Option<Arc<FollowTools>> = None;
    loop {
        let follows = current.borrow_and_update().follows.clone();
        let mut refused = false;
        for follow in follows.into_iter().filter(|f| !f.webhook.is_empty()) {
            if means.is_none() {
                match place.means() {
                    Ok(made) => means = Some(Arc::new(made)),
                    Err(error) => {
                        refused = true;
                        tracing::error!(error = %format!("{error:#}"), "topics are not followed");
                    }
                }
            }
            let Some(means) = &means else { break };
            if running.insert(follow.name.clone()) {
                let means = Arc::clone(means);
                let topic = Topic { follow, means };
                tasks.spawn(follow_on(Arc::new(topic), current.clone()));
            }
        }
        tokio::select! {
            Ok(()) = current.changed() => {}
            Some(Ok(ended)) = tasks.join_next() => {
                running.remove(&ended);
            }
            () = tokio::time::sleep(RETRY_AFTER), if refused => {}
            // Nothing changes any more, and nothing runs.
            else => return,
        }
    }
}

/// Collects and tells as long as the topic is configured as it is, a slow receiver holding up only its own topic.
/// Returns its name.
async fn follow_on(topic: Arc<Topic>, current: watch::Receiver<Current>) -> String {
    let mut last = None;
    while current.borrow().follows.contains(&topic.follow) {
        if !topic.means.crawl.leads() {
            // Another node of the cluster tells; where it came to is in the store.
            last = None;
            tokio::time::sleep(LOOK_EVERY).await;
            continue;
        }
        let collecting = Arc::clone(&topic);
        let collected = blocking(move || collecting.collect(last)).await;
        match collected {
            Ok(reached) => last = Some(reached),
            Err(error) => {
                let follow = &topic.follow.name;
                tracing::error!(follow, error = %format!("{error:#}"), "new hits not collected");
            }
        }
        if let Err(error) = topic.deliver().await {
            let follow = &topic.follow.name;
            tracing::error!(follow, error = %format!("{error:#}"), "new hits not delivered");
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    topic.follow.name.clone()
}

impl Topic {
    /// Notes the hits that came since the last time. Gives where the index stood.
    fn collect(&self, last: Option<Watermark>) -> anyhow::Result<Watermark> {
        let gone = match last {
            Some(_) => self
                .means
                .follows
                .gone(&self.follow.name, self.notify_on())?,
            None => 0,
        };
        if gone > 0 {
            tracing::info!(follow = self.follow.name, gone, "hits are gone");
        }
        let present = self.means.reader.watermark()?;
        if last == Some(present) {
            return Ok(present);
        }
        let (name, told) = (&self.follow.name, self.notify_on());
        let after = match last {
            Some(last) => last,
            None => self.starting_watermark(present)?,
        };
        if after == present {
            return Ok(present);
        }
        let query =
            serve::parse_request(&self.means.reader, &self.follow.search_request(0, now_ms()))
                .query;
        let mut found = Vec::new();
        let reached = self.means.reader.scan(&query, after, |stored| {
            found.push((stored.seq, stored.fetched_ms, stored.fingerprint));
            found.len() < COLLECTED_MAX
        })?;
        // An import of that many at once is told of in part: the rest is in the feed and in the search.
        let whole = reached != after;
        let reached = if whole { reached } else { present };
        let told = NotifyOn {
            // Which hits are none any more is known only when all were checked.
            gone: told.gone && whole,
            ..told
        };
        found.sort_unstable();
        let found: Vec<u64> = found.into_iter().map(|(_, _, document)| document).collect();
        let new = self
            .means
            .follows
            .found(name, &found, mark(reached), told)?;
        if new > 0 {
            tracing::info!(follow = name, new, "hits to tell");
        }
        Ok(reached)
    }

    /// What the follower wants to be told of.
    fn notify_on(&self) -> NotifyOn {
        let wants = |tell| self.follow.tell.contains(&tell);
        NotifyOn {
            new: wants(Tell::New),
            changed: wants(Tell::Changed),
            gone: wants(Tell::Gone),
        }
    }

    /// Where an earlier run of the daemon came to.
    fn starting_watermark(&self, present: Watermark) -> anyhow::Result<Watermark> {
        let follow = &self.follow;
        let asked = follow.asked();
        let begun = self
            .means
            .follows
            .begin(&follow.name, &asked, mark(present))?;
        Ok(Watermark {
            seq: begun.seq,
            fetched_ms: begun.fetched_ms,
        })
    }

    /// Sends what waits, until nothing waits or a try fails.
    async fn deliver(self: &Arc<Self>) -> anyhow::Result<()> {
        loop {
            let topic = Arc::clone(self);
            let Some((delivery, body)) = blocking(move || topic.next()).await? else {
                return Ok(());
            };
            let outcome = match body {
                Some(body) => send(&self.means.client, &self.follow, delivery.number, body).await,
                // All of its documents have left the index.
                None => Ok(()),
            };
            let topic = Arc::clone(self);
            let arrived = blocking(move || topic.settle(&delivery, outcome)).await?;
            if !arrived {
                return Ok(());
            }
        }
    }

    /// What is to be sent now: the delivery and its body, which is none if no document of it is left.
    fn next(&self) -> anyhow::Result<Option<(Delivery, Option<String>)>> {
        let name = &self.follow.name;
        let record = self.means.follows.record(name)?.unwrap_or_default();
        if record.waiting == 0 || record.next_ms > now_ms() {
            return Ok(None);
        }
        let Some(delivery) = self.means.follows.next(name, DELIVERY_HITS)? else {
            return Ok(None);
        };
        let (mut documents, mut changes, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        for hit in &delivery.hits {
            if hit.change == Change::Deleted {
                let known = self.means.follows.last_known(hit.fingerprint)?;
                gone.extend(known.map(|known| was(&known)));
            } else if let Some(document) = self.means.reader.document(hit.fingerprint)? {
                documents.push(document);
                changes.push(hit.change.as_str());
            }
        }
        let wanted = self.follow.search_request(DELIVERY_HITS, now_ms());
        let hits = serve::to_hits(&self.means.reader, &wanted, documents).into_iter();
        let hits = hits.zip(changes).map(|(hit, change)| (hit.found, change));
        let gone = gone.into_iter().map(|hit| (hit, Change::Deleted.as_str()));
        let hits: Vec<_> = hits.chain(gone).collect();
        let body = (!hits.is_empty()).then(|| serve::message(&self.follow, delivery.number, hits));
        Ok(Some((delivery, body)))
    }

    /// Notes how a try went; whether it arrived.
    fn settle(
        &self,
        delivery: &Delivery,
        outcome: Result<(), Undelivered>,
    ) -> anyhow::Result<bool> {
        let name = &self.follow.name;
        let Err(undelivered) = outcome else {
            self.means.follows.told(name, delivery.number, now_ms())?;
            count("ok");
            return Ok(true);
        };
        let tries = self
            .means
            .follows
            .record(name)?
            .map_or(0, |record| record.tries);
        let error = &undelivered.error;
        match serve::next_try_ms(tries.saturating_add(1), undelivered.asked_ms, now_ms()) {
            Some(next_ms) => {
                tracing::warn!(
                    follow = name,
                    delivery = delivery.number,
                    error,
                    "not delivered"
                );
                self.means.follows.failed(name, next_ms, error)?;
                count("failed");
            }
            None => {
                tracing::error!(follow = name, delivery = delivery.number, error, "given up");
                self.means.follows.give_up(name, delivery.number, error)?;
                count("given_up");
            }
        }
        Ok(false)
    }
}

/// A document that is no hit any more, as it was told of: address and title, without its text.
fn was(known: &LastKnown) -> DocumentHit {
    let latest = &known.row;
    // What was taken down has no title any more.
    let title = known
        .body
        .as_deref()
        .and_then(|body| unpack(body).ok()?.1.title);
    DocumentHit {
        id: format!("{:016x}", latest.fingerprint),
        url: latest.url.clone(),
        title: Marked {
            text: title.unwrap_or_default(),
            ..Marked::default()
        },
        site: Some(latest.site.clone()).filter(|site| !site.is_empty()),
        ..DocumentHit::default()
    }
}

fn mark(watermark: Watermark) -> FollowMark {
    FollowMark {
        seq: watermark.seq,
        fetched_ms: watermark.fetched_ms,
    }
}

fn count(outcome: &'static str) {
    ::metrics::counter!(metrics::WEBHOOKS_TOTAL, "outcome" => outcome).increment(1);
}

/// The index and the store block; tasks must not.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    tokio::task::spawn_blocking(work).await?
}

/// Why a delivery did not arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Undelivered {
    /// One line for the operator.
    pub(crate) error: String,
    /// What the receiver requested by Retry-After.
    pub(crate) asked_ms: Option<i64>,
}

/// Builds the client of all webhooks.
pub(crate) fn client() -> reqwest::Result<reqwest::Client> {
    http_client(CONNECT_TIMEOUT, Some(WHOLE_TIMEOUT), None, None)
}

/// Sends one delivery; any 2xx means that it arrived. What is signed holds the time of this very try, so that a receiver can
/// refuse an old delivery that somebody sends again.
pub(crate) async fn send(
    client: &reqwest::Client,
    follow: &Follow,
    number: i64,
    body: String,
) -> Result<(), Undelivered> {
    let mut request = client
        .post(&follow.webhook)
        .header(header::CONTENT_TYPE, "application/json")
        .header("taojin-delivery", format!("{}-{number}", follow.name));
    if !follow.secret.is_empty() {
        let now_s = now_ms() / 1_000;
        let timed = signature(&follow.secret, format!("{now_s}.{body}").as_bytes());
        request = request
            .header("taojin-timestamp", now_s)
            .header("taojin-signature-v2", format!("sha256={timed}"));
    }
    let answer = request.body(body).send().await.map_err(|e| Undelivered {
        error: short(&format!("{:#}", anyhow::Error::from(e.without_url()))),
        asked_ms: None,
    })?;
    let status = answer.status();
    if status.is_success() {
        return Ok(());
    }
    let why = if status.is_redirection() {
        "; redirects are not followed: configure the address it leads to"
    } else {
        ""
    };
    let asked = answer.headers().get(header::RETRY_AFTER);
    let asked = asked.and_then(|v| v.to_str().ok()?.trim().parse::<i64>().ok());
    Err(Undelivered {
        error: format!("the receiver answered {status}{why}"),
        asked_ms: asked.map(|seconds| seconds.clamp(0, 86_400) * 1_000),
    })
}

fn short(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(ERROR_CHARS)
        .collect()
}
