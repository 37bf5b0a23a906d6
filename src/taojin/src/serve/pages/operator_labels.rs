//! The fixed words of the operator's pages, as the files of words have them.

use serde::Deserialize;

use crate::serve::verdict::Level;

/// Words of the operator's page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperatorLabels {
    pub(crate) activity: [&'static str; 4],
    pub(crate) documents: &'static str,
    pub(crate) outbox: &'static str,
    pub(crate) left_out: &'static str,
    pub(crate) due: &'static str,
    pub(crate) in_flight: &'static str,
    pub(crate) failed: &'static str,
    pub(crate) waiting: &'static str,
    pub(crate) fetched: &'static str,
    pub(crate) refused: &'static str,
    pub(crate) gone: &'static str,
    pub(crate) urls: &'static str,
    pub(crate) queues: &'static str,
    pub(crate) nodes: &'static str,
    pub(crate) machine: &'static str,
    pub(crate) partitions: &'static str,
    pub(crate) lease: &'static str,
    pub(crate) commits: &'static str,
    pub(crate) version: &'static str,
    pub(crate) draining: &'static str,
    pub(crate) only_serves: &'static str,
    pub(crate) only_crawls: &'static str,
    pub(crate) inbox: &'static str,
    pub(crate) oldest: &'static str,
    pub(crate) ready: &'static str,
    pub(crate) delayed: &'static str,
    pub(crate) parked: &'static str,
    pub(crate) disk: &'static str,
    pub(crate) index: &'static str,
    pub(crate) store: &'static str,
    pub(crate) free: &'static str,
    pub(crate) sites: &'static str,
    pub(crate) no_sites: &'static str,
    pub(crate) verdict: &'static str,
    pub(crate) levels: [&'static str; 4],
    pub(crate) last_cycle: &'static str,
    pub(crate) next_cycle: &'static str,
    pub(crate) errors: &'static str,
    pub(crate) last_error: &'static str,
    pub(crate) hosts: &'static str,
    pub(crate) host: &'static str,
    pub(crate) state: &'static str,
    pub(crate) delay: &'static str,
    pub(crate) cause: &'static str,
    pub(crate) queued: &'static str,
    pub(crate) next_fetch: &'static str,
    pub(crate) never: &'static str,
    pub(crate) started: &'static str,
    pub(crate) refresh: &'static str,
    pub(crate) visits: &'static str,
    pub(crate) new_documents: &'static str,
    pub(crate) wasted: &'static str,
    pub(crate) not_modified: &'static str,
    pub(crate) recall: &'static str,
    pub(crate) unconfirmed: &'static str,
    pub(crate) unconfirmed_hint: &'static str,
    pub(crate) age: &'static str,
    pub(crate) cycle_note: &'static str,
    pub(crate) follows: &'static str,
    pub(crate) topic: &'static str,
    pub(crate) delivered: &'static str,
    pub(crate) pending: &'static str,
    pub(crate) given_up: &'static str,
    pub(crate) last_delivery: &'static str,
    pub(crate) next_try: &'static str,
    pub(crate) terms: &'static str,
    pub(crate) templates: &'static str,
    pub(crate) to_decide: &'static str,
    pub(crate) accepted: &'static str,
    pub(crate) rejected: &'static str,
    pub(crate) looked: &'static str,
    pub(crate) review: &'static str,
    pub(crate) sign_in: &'static str,
    pub(crate) sign_out: &'static str,
    pub(crate) sign_in_text: &'static str,
    pub(crate) token: &'static str,
    pub(crate) wrong_token: &'static str,
    pub(crate) refused_heading: &'static str,
    pub(crate) signed_out_text: &'static str,
    pub(crate) foreign_text: &'static str,
    pub(crate) paused_by_operator: &'static str,
    pub(crate) take_down: &'static str,
    pub(crate) take_down_text: &'static str,
}

/// Words of the page of a site.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SiteLabels {
    pub(crate) crawled: &'static str,
    pub(crate) paused: &'static str,
    pub(crate) disabled: &'static str,
    pub(crate) visit: &'static str,
    pub(crate) pause: &'static str,
    pub(crate) resume: &'static str,
    pub(crate) not_done: &'static str,
    pub(crate) no_crawler: &'static str,
    pub(crate) failed: &'static str,
    pub(crate) last_cycle: &'static str,
    pub(crate) templates: &'static str,
    pub(crate) with_template: &'static str,
    pub(crate) without_template: &'static str,
    pub(crate) newest: &'static str,
    pub(crate) all: &'static str,
    pub(crate) none: &'static str,
    pub(crate) settings: &'static str,
    pub(crate) schedule: &'static str,
    pub(crate) seeds: &'static str,
    pub(crate) lists: &'static str,
    pub(crate) hosts: &'static str,
    pub(crate) include: &'static str,
    pub(crate) exclude: &'static str,
    pub(crate) max_hops: &'static str,
    pub(crate) max_pages: &'static str,
    pub(crate) delay: &'static str,
    pub(crate) visits: &'static str,
    pub(crate) no_visits: &'static str,
    pub(crate) when: &'static str,
    pub(crate) outcome: &'static str,
    pub(crate) address: &'static str,
    pub(crate) document: &'static str,
    pub(crate) taken_down: &'static str,
    pub(crate) taken_down_text: &'static str,
    pub(crate) lift: &'static str,
}

/// Words of the review of terms.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TermsLabels {
    pub(crate) title: &'static str,
    pub(crate) hint: &'static str,
    pub(crate) none: &'static str,
    pub(crate) counts: [&'static str; 3],
    pub(crate) accept: &'static str,
    pub(crate) reject: &'static str,
    pub(crate) accept_all: &'static str,
    pub(crate) reject_all: &'static str,
    pub(crate) times: &'static str,
    pub(crate) documents: &'static str,
    pub(crate) termhood: &'static str,
    pub(crate) previous: &'static str,
    pub(crate) next: &'static str,
}

/// Words of the pages of templates.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TemplateLabels {
    pub(crate) heading: &'static str,
    pub(crate) none: &'static str,
    pub(crate) pages: &'static str,
    pub(crate) learned: &'static str,
    pub(crate) disabled: &'static str,
    pub(crate) disable: &'static str,
    pub(crate) enable: &'static str,
    pub(crate) back: &'static str,
    pub(crate) saved_page: &'static str,
    pub(crate) no_page: &'static str,
    pub(crate) legend: &'static str,
    pub(crate) regions: &'static str,
    pub(crate) region: &'static str,
    pub(crate) holds: &'static str,
    pub(crate) essential: &'static str,
    pub(crate) optional: &'static str,
    pub(crate) ratio: &'static str,
    pub(crate) with: &'static str,
    pub(crate) choose: &'static str,
    pub(crate) effect: &'static str,
    pub(crate) no_effect: &'static str,
    pub(crate) save: &'static str,
    pub(crate) cancel: &'static str,
    pub(crate) texts: &'static str,
    pub(crate) texts_hint: &'static str,
    pub(crate) text: &'static str,
    pub(crate) elsewhere: &'static str,
    pub(crate) name: &'static str,
    pub(crate) named: &'static str,
    pub(crate) named_hint: &'static str,
    pub(crate) rename: &'static str,
    pub(crate) example: &'static str,
    /// A region that has no field.
    pub(crate) other: &'static str,
    pub(crate) fields: [(&'static str, &'static str); 8],
}

/// Words of the page that says how to set a token.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoTokenLabels {
    pub(crate) heading: &'static str,
    pub(crate) text: &'static str,
    pub(crate) make: &'static str,
    pub(crate) write: &'static str,
    pub(crate) restart: &'static str,
    pub(crate) sign_in: &'static str,
}

impl OperatorLabels {
    /// How a cycle went, in a word.
    pub(crate) fn level(&self, level: Level) -> &'static str {
        let at = Level::ALL.iter().position(|known| *known == level);
        self.levels[at.unwrap_or_default()]
    }
}

impl TemplateLabels {
    /// The word for a field of a document.
    pub(crate) fn field(&self, name: &str) -> &'static str {
        let found = self.fields.iter().find(|(own, _)| *own == name);
        found.map_or(self.other, |(_, word)| word)
    }
}
