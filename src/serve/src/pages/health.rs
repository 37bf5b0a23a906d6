//! Answers "is all well?" in one sentence, from a [`Status`]: for `/status` and `taojin status`.

use super::words::{HealthLabels, Lang, fill};
use crate::status::{Activity, IndexState, Level, SiteStatus, Status};

/// Sites and topics that a sentence names.
const NAMED: usize = 3;

/// How the whole does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The worst of it.
    pub level: Level,
    /// The sentence.
    pub text: String,
}

/// The sentence in the language of a locale such as `zh_CN.UTF-8`.
pub fn health_in(locale: &str, status: &Status) -> Health {
    Health::new(Lang::of_locale(locale), status)
}

impl Health {
    pub(crate) fn new(lang: Lang, status: &Status) -> Health {
        let words = &lang.labels().health;
        let between = lang.labels().sentences.between;
        let (level, troubles) = troubles(words, between, lang, status);
        let crawled = status
            .sites
            .iter()
            .filter(|site| site.verdict.level == Level::Ok);
        let (crawled, sites) = (crawled.count() as u64, status.sites.len() as u64);
        let (level, text) = if !troubles.is_empty() {
            let list = troubles.join(words.between);
            (level, fill(words.troubled, &[("list", &list)]))
        } else if sites == 0 {
            (Level::Waiting, words.no_sites.to_owned())
        } else if crawled == sites {
            (Level::Ok, words.well.fill(sites))
        } else {
            (Level::Ok, words.waiting.fill(sites - crawled))
        };
        Health { level, text }
    }
}

/// What the operator should look at, worst first, and how bad it is.
fn troubles(
    words: &HealthLabels,
    between: &str,
    lang: Lang,
    status: &Status,
) -> (Level, Vec<String>) {
    let mut failed = Vec::new();
    let stuck = status.workers.iter().filter(|worker| !worker.alive);
    let stuck: Vec<&str> = stuck.map(|worker| lang.worker(&worker.name)).collect();
    let note = lang.note(status);
    // A note of a daemon that runs says which workers are stuck, and why.
    if !stuck.is_empty() && (note.is_empty() || status.activity != Activity::Running) {
        failed.push(fill(words.stuck, &[("list", &stuck.join(between))]));
    }
    match status.activity {
        Activity::Paused => failed.push(fill(words.paused, &[("note", note)])),
        Activity::Stopping => failed.push(words.stopping.to_owned()),
        _ if !note.is_empty() => failed.push(note.to_owned()),
        _ => {}
    }
    if status.index.state == IndexState::Behind {
        let lag = i64::try_from(status.index.index_lag_ms).unwrap_or(i64::MAX);
        failed.push(fill(words.index_behind, &[("span", &lang.span(lag))]));
    }
    let of_level = |level| {
        let sites = status.sites.iter();
        let sites = sites.filter(|site: &&SiteStatus| site.verdict.level == level);
        sites.map(SiteStatus::shown).collect::<Vec<&str>>()
    };
    let named = |names: &[&str]| {
        let more = if names.len() > NAMED { " …" } else { "" };
        format!("{}{more}", names[..names.len().min(NAMED)].join(between))
    };
    let sites = of_level(Level::Failed);
    if !sites.is_empty() {
        let list = named(&sites);
        failed.push(words.failed.with(sites.len() as u64, &[("list", &list)]));
    }
    let mut partial = Vec::new();
    let sites = of_level(Level::Partial);
    if !sites.is_empty() {
        let list = named(&sites);
        partial.push(words.partial.with(sites.len() as u64, &[("list", &list)]));
    }
    if status.index.state == IndexState::Yellow {
        partial.push(words.index_yellow.to_owned());
    }
    if status.left_out.count > 0 {
        partial.push(words.skipped.fill(status.left_out.count));
    }
    let topics = status.follows.iter();
    let topics = topics.filter(|follow| follow.last_error.is_some());
    let topics: Vec<&str> = topics.map(|follow| follow.name.as_str()).collect();
    if !topics.is_empty() {
        let list = named(&topics);
        let of = topics.len() as u64;
        partial.push(words.undelivered.with(of, &[("list", &list)]));
    }
    let level = if failed.is_empty() {
        Level::Partial
    } else {
        Level::Failed
    };
    failed.append(&mut partial);
    (level, failed)
}

/// Puts the sites that need a look first; those that are alike stay in their order.
pub(crate) fn troubled_first(sites: &mut [SiteStatus]) {
    sites.sort_by_key(|site| match site.verdict.level {
        Level::Failed => 0,
        Level::Partial => 1,
        _ if site.templates.note.is_some() => 2,
        Level::Waiting => 3,
        Level::Ok => 4,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{FollowStatus, IndexStatus, SiteVerdict, Words, WorkerStatus};

    fn site(name: &str, level: Level) -> SiteStatus {
        let verdict = SiteVerdict {
            level,
            ..SiteVerdict::default()
        };
        SiteStatus {
            name: name.to_owned(),
            verdict,
            ..SiteStatus::default()
        }
    }

    fn status(levels: &[Level]) -> Status {
        let sites = levels.iter().zip(["甲", "乙", "丙", "丁", "戊"]);
        Status {
            activity: Activity::Running,
            sites: sites.map(|(level, name)| site(name, *level)).collect(),
            ..Status::default()
        }
    }

    #[test]
    fn health_names_what_needs_a_look() {
        use Level::{Failed, Ok, Partial, Waiting};
        let stuck = Status {
            workers: vec![WorkerStatus {
                name: "indexer".to_owned(),
                ..WorkerStatus::default()
            }],
            ..status(&[Ok])
        };
        let said = Status {
            note: Words::new("indexer: no room", "索引：没有空间"),
            ..stuck.clone()
        };
        let paused = Status {
            activity: Activity::Paused,
            note: Words::new("disk full", "磁盘已满"),
            ..status(&[Ok])
        };
        let behind = Status {
            index: IndexStatus {
                state: IndexState::Behind,
                index_lag_ms: 600_000,
                ..IndexStatus::default()
            },
            ..status(&[Ok])
        };
        let undelivered = Status {
            follows: vec![FollowStatus {
                name: "深海".to_owned(),
                last_error: Some("500".to_owned()),
                ..FollowStatus::default()
            }],
            ..status(&[Ok])
        };
        for (status, level, en, zh) in [
            (
                status(&[Ok, Ok]),
                Ok,
                "All is well: all 2 sites",
                "一切正常：2 个站点",
            ),
            (
                status(&[Ok, Waiting]),
                Ok,
                "All is well so far; 1 site waits",
                "1 个站点还没有抓取过",
            ),
            (
                status(&[]),
                Waiting,
                "No site is configured",
                "还没有配置站点",
            ),
            (
                status(&[Ok, Partial]),
                Partial,
                "1 site with something left or failed (乙)",
                "1 个站点只完成了一部分（乙）",
            ),
            (
                status(&[Partial, Failed, Failed, Failed, Failed]),
                Failed,
                "no page from 4 sites (乙, 丙, 丁 …); 1 site with",
                "4 个站点抓取失败（乙、丙、丁 …）；1 个站点只",
            ),
            (stuck, Failed, "no progress: indexer", "停滞：索引"),
            (
                said,
                Failed,
                "Needs a look: indexer: no room.",
                "需要留意：索引：没有空间。",
            ),
            (paused, Failed, "paused: disk full", "已暂停：磁盘已满"),
            (behind, Failed, "10 min behind", "落后 10 分钟"),
            (
                undelivered,
                Partial,
                "hits of 1 topic not delivered (深海)",
                "1 个专题推送失败（深海）",
            ),
        ] {
            for (lang, part) in [(Lang::En, en), (Lang::Zh, zh)] {
                let health = Health::new(lang, &status);
                assert!(health.text.contains(part), "{part} in {}", health.text);
                assert_eq!(health.level, level, "{part}");
            }
        }
    }

    #[test]
    fn troubled_sites_come_first() {
        use Level::{Failed, Ok, Partial, Waiting};
        let mut sites = status(&[Ok, Waiting, Partial, Ok, Failed]).sites;
        sites[3].templates.note = Some("redesign".to_owned());
        troubled_first(&mut sites);
        let names: Vec<&str> = sites.iter().map(SiteStatus::shown).collect();
        assert_eq!(names, ["戊", "丙", "丁", "乙", "甲"]);
    }
}
