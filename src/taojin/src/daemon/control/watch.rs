//! Waiting for what was asked for. In: visits as they end, transactions as they are durable. Out: steps and the end, to
//! whoever asked. A client that is gone is forgotten; what it asked for goes on.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::Sender;

use super::{Answer, Reply, Step, stopping};
use crate::daemon::Summary;
use crate::daemon::crawl::crawl_log::LogLine;
use crate::daemon::crawl::crawl_loop::CrawlLoop;
use crate::serve::{CommandDone, CommandRefused};
use taojin_crawl::store::UrlId;

/// How often it is looked whether a cycle is over.
const LOOK: Duration = Duration::from_millis(300);

/// Everybody who waits.
#[derive(Debug, Default)]
pub(in crate::daemon) struct Watches(Vec<Watch>);

#[derive(Debug)]
struct Watch {
    what: What,
    reply: Sender<Reply>,
    looked: Instant,
}

#[derive(Debug)]
enum What {
    /// A cycle of these sites.
    Sites(BTreeSet<Arc<str>>, Box<Summary>),
    /// One visit; it is told once it is durable.
    Url(UrlId, Box<CommandDone>),
}

impl Watch {
    fn end(&self, answer: Answer) {
        // Steps leave room for it; a closed channel means that nobody waits.
        let _ = self.reply.try_send(Reply::Now(answer));
    }
}

impl Watches {
    pub(super) fn sites(&mut self, sites: BTreeSet<Arc<str>>, reply: &Sender<Reply>, now: i64) {
        let what = What::Sites(sites, Box::new(Summary::begin(now)));
        self.add(what, reply);
    }

    pub(super) fn url(&mut self, id: UrlId, asked: CommandDone, reply: &Sender<Reply>) {
        self.add(What::Url(id, Box::new(asked)), reply);
    }

    fn add(&mut self, what: What, reply: &Sender<Reply>) {
        self.0.push(Watch {
            what,
            reply: reply.clone(),
            looked: Instant::now(),
        });
    }

    /// A visit has ended.
    pub(in crate::daemon) fn visited(
        &mut self,
        id: UrlId,
        line: &LogLine,
        wasted: bool,
        left: u64,
    ) {
        for watch in &mut self.0 {
            match &mut watch.what {
                What::Sites(sites, summary) if sites.contains(line.site.as_str()) => {
                    summary.add(line, wasted);
                    // The last place is for the end.
                    if watch.reply.capacity() > 1 {
                        let step = Reply::Now(Answer::Step(Step::of(line, left)));
                        let _ = watch.reply.try_send(step);
                    }
                }
                What::Url(asked, done) if *asked == id => {
                    done.outcome = Some(line.outcome.as_str().to_owned());
                    done.status = line.status;
                    done.reason.clone_from(&line.reason);
                    done.document = line.document.map(|change| change.as_str().to_owned());
                }
                _ => {}
            }
        }
    }

    /// What has ended is durable now; `new` has the addresses that were found, by site.
    pub(in crate::daemon) fn committed<'a>(
        &mut self,
        new: impl Iterator<Item = (&'a Arc<str>, usize)>,
    ) {
        for (site, count) in new {
            for watch in &mut self.0 {
                if let What::Sites(sites, summary) = &mut watch.what
                    && sites.contains(site)
                {
                    summary.new_urls += count as u64;
                }
            }
        }
        self.0.retain(|watch| match &watch.what {
            What::Url(_, done) if done.outcome.is_some() => {
                watch.end(Answer::Done(CommandDone::clone(done)));
                false
            }
            _ => true,
        });
    }

    /// The URL will not be visited soon.
    pub(super) fn put_off(&mut self, id: UrlId, reason: &str) {
        self.0.retain(|watch| match &watch.what {
            What::Url(asked, done) if *asked == id && done.outcome.is_none() => {
                let reason = Some(reason.to_owned());
                watch.end(Answer::Done(CommandDone {
                    reason,
                    ..CommandDone::clone(done)
                }));
                false
            }
            _ => true,
        });
    }

    pub(in crate::daemon) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Nothing more comes.
    pub(in crate::daemon) fn stop(&mut self) {
        self.refuse(&stopping());
    }

    fn refuse(&mut self, why: &CommandRefused) {
        for watch in self.0.drain(..) {
            watch.end(Answer::Refused(why.clone()));
        }
    }
}

impl CrawlLoop {
    /// Ends the waiting for cycles of which nothing is left to do.
    pub(in crate::daemon) fn look_after_watches(&mut self, now: i64) -> anyhow::Result<()> {
        if self.watches.is_empty() {
            return Ok(());
        }
        let low = self.shared.paused();
        let mut waiting = Vec::new();
        for mut watch in std::mem::take(&mut self.watches.0) {
            let What::Sites(sites, summary) = &mut watch.what else {
                waiting.extend((!watch.reply.is_closed()).then_some(watch));
                continue;
            };
            if watch.reply.is_closed() {
                continue;
            }
            if watch.looked.elapsed() < LOOK && low.is_none() {
                waiting.push(watch);
                continue;
            }
            watch.looked = Instant::now();
            let over = sites.iter().all(|name| {
                let site = self.sites.get(name);
                site.is_none_or(|run| run.open_since_ms().is_none())
            });
            if !over && low.is_none() {
                waiting.push(watch);
                continue;
            }
            let mut counts = self.store.counts()?;
            counts.sites.retain(|name, _| sites.contains(name.as_str()));
            summary.finish(&counts, now);
            summary.paused.clone_from(&low);
            let mut verdicts = self.verdicts(now)?;
            verdicts.retain(|name, _| sites.contains(name));
            summary.take_verdicts(verdicts);
            let end = Answer::Crawled(summary.clone());
            watch.end(end);
        }
        self.watches.0.extend(waiting);
        Ok(())
    }
}
