//! Those who wait for visits and cycles that they asked for.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::mpsc::Sender;

use super::{Reply, Response, Step, stopping};
use crate::daemon::crawl::crawl_log::LogLine;
use crate::daemon::report::tally::CrawlTally;
use crate::serve::{CommandDone, CommandError, Words};
use taojin_crawl::store::UrlId;

/// Everybody who waits.
#[derive(Debug, Default)]
pub(in crate::daemon) struct Watches(Vec<Watch>);

#[derive(Debug)]
struct Watch {
    what: What,
    reply: Sender<Reply>,
}

#[derive(Debug)]
enum What {
    /// A cycle of these sites.
    Sites(BTreeSet<Arc<str>>, Box<CrawlTally>),
    /// One visit; it is told once it is durable.
    Url(UrlId, Box<CommandDone>),
}

impl Watch {
    fn end(&self, response: Response) {
        // Steps leave room for it; a closed channel means that nobody waits.
        let _ = self.reply.try_send(Reply::Now(response));
    }
}

impl Watches {
    pub(in crate::daemon) fn sites(
        &mut self,
        sites: BTreeSet<Arc<str>>,
        reply: &Sender<Reply>,
        now: i64,
    ) {
        let what = What::Sites(sites, Box::new(CrawlTally::new(now)));
        self.add(what, reply);
    }

    pub(in crate::daemon) fn url(&mut self, id: UrlId, asked: CommandDone, reply: &Sender<Reply>) {
        self.add(What::Url(id, Box::new(asked)), reply);
    }

    fn add(&mut self, what: What, reply: &Sender<Reply>) {
        self.0.push(Watch {
            what,
            reply: reply.clone(),
        });
    }

    /// Whether somebody waits for the visit of this URL.
    pub(in crate::daemon) fn waits_for(&self, id: UrlId) -> bool {
        let of_url = |watch: &Watch| matches!(&watch.what, What::Url(asked, _) if *asked == id);
        self.0.iter().any(of_url)
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
                        let step = Reply::Now(Response::Step(Step::new(line, left)));
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
                    summary.add_new_urls(count);
                }
            }
        }
        self.0.retain(|watch| match &watch.what {
            What::Url(_, done) if done.outcome.is_some() => {
                watch.end(Response::Done(CommandDone::clone(done)));
                false
            }
            _ => true,
        });
    }

    /// The URL will not be visited soon.
    pub(in crate::daemon) fn put_off(&mut self, id: UrlId, reason: &str) {
        self.0.retain(|watch| match &watch.what {
            What::Url(asked, done) if *asked == id && done.outcome.is_none() => {
                let reason = Some(reason.to_owned());
                watch.end(Response::Done(CommandDone {
                    reason,
                    ..CommandDone::clone(done)
                }));
                false
            }
            _ => true,
        });
    }

    /// Ends the waiting for cycles of sites that are over, or all of it while nothing is fetched (`paused` says why). A
    /// summary is filled in by `sum_up` before it is sent.
    pub(in crate::daemon) fn end_cycles(
        &mut self,
        paused: Option<&Words>,
        is_over: impl Fn(&str) -> bool,
        mut sum_up: impl FnMut(&BTreeSet<Arc<str>>, &mut CrawlTally) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.0.retain(|watch| !watch.reply.is_closed());
        let mut waiting = Vec::new();
        for mut watch in std::mem::take(&mut self.0) {
            let What::Sites(sites, summary) = &mut watch.what else {
                waiting.push(watch);
                continue;
            };
            if paused.is_none() && !sites.iter().all(|name| is_over(name)) {
                waiting.push(watch);
                continue;
            }
            summary.set_paused(paused);
            sum_up(sites, summary)?;
            let end = Response::Crawled(Box::new(std::mem::take(summary).into_summary()));
            watch.end(end);
        }
        self.0 = waiting;
        Ok(())
    }

    /// Whether nobody waits.
    pub(in crate::daemon) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Nothing more comes.
    pub(in crate::daemon) fn stop(&mut self) {
        self.refuse(&stopping());
    }

    fn refuse(&mut self, why: &CommandError) {
        for watch in self.0.drain(..) {
            watch.end(Response::Refused(why.clone()));
        }
    }
}
