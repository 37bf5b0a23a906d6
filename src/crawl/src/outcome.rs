//! How a visit ended: the one type for it from the fetch over the schedule and the frontier to the crawl log, and the one
//! table of its words. Never decides what follows from an end.

use std::fmt;

words! {
/// How a visit ended. What else is known of the end (status, redirect target, `Retry-After`) stands in the head of the
/// answer; why there was no page, in [`Failure`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VisitOutcome {
    /// A page, feed or sitemap came.
    Page => "ok" "成功",
    /// The copy that is known is still the present one (304).
    NotModified => "not_modified" "未变",
    /// The page is elsewhere; not followed within the visit.
    Redirect => "redirect" "跳转",
    /// Removed for good, says the server (410).
    Gone => "gone" "已永久删除",
    /// Not found (404).
    NotFound => "not_found" "页面不存在",
    /// Refused to us by another 4xx.
    Denied => "denied" "拒绝访问",
    /// The server asks for fewer requests (429, 503).
    Busy => "busy" "要求减少请求",
    /// The server failed (another 5xx) or gave an answer that makes no sense.
    ServerError => "server_error" "服务器出错",
    /// No whole answer came.
    Unreachable => "unreachable" "无法访问",
    /// robots.txt forbids the page; it was not asked for.
    Disallowed => "robots" "robots.txt 禁止",
    /// robots.txt itself could not be had, so the page was not asked for.
    RobotsUnreachable => "robots_unreachable" "robots.txt 无法获取",
    /// Not asked for: the address is not public or the port not for HTTP.
    AddressRefused => "guard" "地址不允许访问",
    /// An answer came that is not taken: its type, its size, its target.
    #[default]
    Unwanted => "unwanted" "内容不可用",
}
}

impl VisitOutcome {
    /// Whether the server said what there is to say of the page: the page, that it is unchanged, or where it is.
    pub fn is_success(self) -> bool {
        matches!(
            self,
            VisitOutcome::Page | VisitOutcome::NotModified | VisitOutcome::Redirect
        )
    }

    /// Whether the host itself is in trouble, so that its other pages would fare no better now.
    pub fn is_host_trouble(self) -> bool {
        matches!(
            self,
            VisitOutcome::Busy | VisitOutcome::ServerError | VisitOutcome::Unreachable
        )
    }
}

words! {
/// Why a fetch brought no page, or not the whole of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Failure {
    /// The name has no address or the name server does not answer.
    Dns => "dns" "域名无法解析",
    /// Nothing listens at the port.
    ConnectionRefused => "connection-refused" "连接被拒绝",
    /// No connection otherwise: unroutable, dropped.
    Connect => "connect" "无法连接",
    /// No agreement on TLS: certificate, version.
    Tls => "tls" "无法建立安全连接",
    /// One of the time limits.
    Timeout => "timeout" "应答超时",
    /// The connection broke before the whole header was there.
    Reset => "reset" "连接中断",
    /// The connection broke inside the body, or the body is shorter than declared.
    Truncated => "truncated" "应答不完整",
    /// The body is not in the encoding that its header declares.
    Decode => "decode" "应答无法解压",
    /// The answer is not HTTP.
    Protocol => "protocol" "应答不是 HTTP",
    /// The address is not public or the port not for HTTP.
    Address => "guard" "地址不允许访问",
    /// Its type is none that a page can have.
    ContentType => "content-type" "不是网页",
    /// Its body is over the limit.
    TooLarge => "too-large" "过大",
    /// Its body grows beyond the allowed ratio when decompressed.
    Bomb => "bomb" "压缩炸弹",
    /// It redirects to what cannot be crawled.
    BadRedirect => "bad-redirect" "跳转到不可用的网址",
}
}

impl Failure {
    /// How a visit ends that fails so.
    pub fn outcome(self) -> VisitOutcome {
        match self {
            Failure::Address => VisitOutcome::AddressRefused,
            Failure::ContentType | Failure::TooLarge | Failure::Bomb | Failure::BadRedirect => {
                VisitOutcome::Unwanted
            }
            _ => VisitOutcome::Unreachable,
        }
    }

    /// Whether there was no connection at all, as opposed to one that broke.
    pub fn is_no_connection(self) -> bool {
        matches!(
            self,
            Failure::Dns | Failure::ConnectionRefused | Failure::Connect | Failure::Tls
        )
    }
}

/// How and where a response ended inside its body. A server that declares a wrong length does so at the same byte each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    /// [`Failure::Truncated`] or [`Failure::Timeout`].
    pub failure: Failure,
    /// Bytes of the body that came.
    pub wire_bytes: u64,
}

words! {
/// What a visit did to the document of a page, as the crawl log says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentChange {
    /// The page had none.
    New => "new" "新增",
    /// It says something else now.
    Changed => "changed" "有变化",
    /// It says what it said.
    Unchanged => "unchanged" "未变",
    /// It stays, though the page did not show it.
    Unconfirmed => "unconfirmed" "未确认",
    /// It left the index.
    Deleted => "deleted" "已删除",
    /// Another address of the site has it.
    Duplicate => "duplicate" "与其他网址相同",
    /// Another address had it and names this one as canonical.
    Moved => "moved" "换了网址",
}
}

/// Why a request brought no page, as cycles of a site count it and verdicts tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NoPage {
    /// The server answered with this status.
    Status(u16),
    /// No answer came, or none that can be used.
    Failure(Failure),
    /// It was not made, or ended otherwise.
    Outcome(VisitOutcome),
}

impl fmt::Display for NoPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPage::Status(status) => write!(f, "{STATUS}{status}"),
            NoPage::Failure(failure) => f.write_str(failure.as_str()),
            NoPage::Outcome(outcome) => f.write_str(outcome.as_str()),
        }
    }
}

/// What went wrong with a visit. Its [`Display`](fmt::Display) is the word that cycles of a site are counted under in the store;
/// [`Problem::parse`] reads it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Problem {
    /// No page came.
    Page(NoPage),
    /// Its robots.txt could not be had, so that no page was asked for.
    Robots(NoPage),
    /// The page says that there is none.
    ErrorPage,
}

/// How the words of problems begin that are no words of an enum.
const STATUS: &str = "HTTP ";
const ROBOTS: &str = "robots.txt: ";
const ERROR_PAGE: &str = "error page";

impl Problem {
    /// The page was forbidden by robots.txt.
    pub const DISALLOWED: Problem = Problem::Page(NoPage::Outcome(VisitOutcome::Disallowed));

    /// The problem of a word; `None` for one that this version does not know.
    pub fn parse(word: &str) -> Option<Self> {
        if word == ERROR_PAGE {
            return Some(Problem::ErrorPage);
        }
        let (word, is_robots) = match word.strip_prefix(ROBOTS) {
            Some(word) => (word, true),
            None => (word, false),
        };
        let status = word.strip_prefix(STATUS).map(|status| status.parse().ok());
        let why = match status {
            Some(status) => NoPage::Status(status?),
            // A failure that shares its word with an outcome is that outcome.
            None => match Failure::parse(word) {
                Some(failure) => NoPage::Failure(failure),
                None => NoPage::Outcome(VisitOutcome::parse(word)?),
            },
        };
        Some(if is_robots {
            Problem::Robots(why)
        } else {
            Problem::Page(why)
        })
    }

    /// Why no page came, or no robots.txt.
    pub fn no_page(self) -> Option<NoPage> {
        match self {
            Problem::Page(why) | Problem::Robots(why) => Some(why),
            Problem::ErrorPage => None,
        }
    }
}

impl Problem {
    /// The same for a person who reads Chinese.
    pub fn in_chinese(self) -> String {
        let why = |why: NoPage| match why {
            NoPage::Status(status) => format!("HTTP {status}"),
            NoPage::Failure(failure) => failure.in_chinese().to_owned(),
            NoPage::Outcome(outcome) => outcome.in_chinese().to_owned(),
        };
        match self {
            Problem::Page(no_page) => why(no_page),
            Problem::Robots(no_page) => format!("robots.txt：{}", why(no_page)),
            Problem::ErrorPage => "错误页".to_owned(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Page(why) => why.fmt(f),
            Problem::Robots(why) => write!(f, "{ROBOTS}{why}"),
            Problem::ErrorPage => f.write_str(ERROR_PAGE),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::frontier::Cause;
    use crate::scope::Refusal;
    use crate::store::{UrlClass, UrlState};

    #[test]
    fn words_are_unique() {
        let outcomes = VisitOutcome::ALL.map(VisitOutcome::as_str);
        let failures = Failure::ALL.map(Failure::as_str);
        let changes = DocumentChange::ALL.map(DocumentChange::as_str);
        for words in [&outcomes[..], &failures, &changes] {
            let distinct: HashSet<&&str> = words.iter().collect();
            assert_eq!(distinct.len(), words.len(), "{words:?}");
        }
        for outcome in VisitOutcome::ALL {
            let word = outcome.as_str();
            assert_eq!(VisitOutcome::parse(word), Some(outcome), "{word}");
            assert!(word.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
            assert_eq!(serde_json::json!(outcome), word);
        }
        assert_eq!(VisitOutcome::parse("something else"), None);
    }

    #[test]
    fn words_have_chinese_ones() {
        let outcomes = VisitOutcome::ALL.map(VisitOutcome::in_chinese);
        let failures = Failure::ALL.map(Failure::in_chinese);
        let changes = DocumentChange::ALL.map(DocumentChange::in_chinese);
        let states = UrlState::ALL.map(UrlState::in_chinese);
        let classes = UrlClass::ALL.map(UrlClass::in_chinese);
        let causes = Cause::ALL.map(Cause::in_chinese);
        let refusals = Refusal::ALL.map(Refusal::in_chinese);
        let all: [&[&str]; 7] = [
            &outcomes, &failures, &changes, &states, &classes, &causes, &refusals,
        ];
        for word in all.concat() {
            assert!(!word.is_ascii(), "{word}");
        }
        for refusal in Refusal::ALL {
            let (english, chinese) = (refusal.describe(), refusal.describe_in_chinese());
            if let Some(setting) = refusal.setting() {
                assert!(english.ends_with(&format!(" ({setting})")), "{english}");
                assert!(chinese.ends_with(&format!("（{setting}）")), "{chinese}");
            }
        }
        let robots = Problem::Robots(NoPage::Failure(Failure::Timeout));
        assert_eq!(robots.in_chinese(), "robots.txt：应答超时");
        assert_eq!(Problem::ErrorPage.in_chinese(), "错误页");
    }

    #[test]
    fn problem_words_are_read_back() {
        let outcomes = VisitOutcome::ALL.map(NoPage::Outcome).into_iter();
        let whys = outcomes
            .chain(Failure::ALL.map(NoPage::Failure))
            .chain([NoPage::Status(503)]);
        for why in whys {
            for problem in [Problem::Page(why), Problem::Robots(why)] {
                let word = problem.to_string();
                let read = Problem::parse(&word).unwrap();
                assert_eq!(read.to_string(), word);
                let is_same = matches!(why, NoPage::Outcome(VisitOutcome::AddressRefused));
                assert!(is_same || read == problem, "{word}: {read:?}");
            }
        }
        assert_eq!(Problem::parse("error page"), Some(Problem::ErrorPage));
        for unknown in [
            "",
            "HTTP",
            "HTTP x",
            "robots.txt: ",
            "robots.txt: HTTP ",
            "new word",
        ] {
            assert_eq!(Problem::parse(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn failure_has_no_page() {
        for failure in Failure::ALL {
            let word = failure.as_str();
            assert_eq!(Failure::parse(word), Some(failure), "{word}");
            assert!(!failure.outcome().is_success(), "{word}");
            // Counted side by side for the verdict of a site: a failure that shares its word with an outcome is that outcome.
            let same = VisitOutcome::parse(word);
            assert!(same.is_none_or(|outcome| outcome == failure.outcome()));
        }
    }
}
