//! Traps for crawlers. In: the sites. Out: [`Trap`]s: the addresses of each and how many requests it allows. `template`
//! links to them, `files` answers for them.

use super::sites::SampleSite;
use super::sites::Template::{self, Agency, Blog, Bulletin, Forum, Newspaper, Portal};

use self::TrapKind::{
    Binary, Bomb, Calendar, Endless, Gone, GrowingPath, Loop, Missing, NoIndex, Private, Refused,
    Session, SoftError,
};

/// The kind of a trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrapKind {
    /// robots.txt refuses it.
    Refused,
    /// A calendar with a next month for ever.
    Calendar,
    /// A relative link that makes the path longer for ever.
    GrowingPath,
    /// The same page under a new session number in every link.
    Session,
    /// An error page with status 200.
    SoftError,
    /// Status 404.
    Missing,
    /// Status 410.
    Gone,
    /// Redirects in a circle.
    Loop,
    /// A redirect to an address inside the operator's network.
    Private,
    /// A page without end.
    Endless,
    /// A small body that unpacks into a huge one.
    Bomb,
    /// Not a page: a file to download.
    Binary,
    /// A page that asks not to be indexed.
    NoIndex,
}

/// One trap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trap {
    /// Its kind.
    pub kind: TrapKind,
    /// Host with port.
    pub authority: String,
    /// Prefix of its paths and queries.
    pub prefix: String,
    /// A text that they also contain; may be empty.
    pub contains: &'static str,
    /// Maximum number of requests by a good crawler in one round, to all its addresses together (for a session trap, to
    /// its most requested page).
    pub max_hits: u32,
    /// Whether a document may come out of it.
    pub indexable: bool,
}

impl Trap {
    /// Whether a path and query of a host (with port) lies in the trap.
    pub fn matches(&self, authority: &str, target: &str) -> bool {
        self.authority == authority
            && target.starts_with(&self.prefix)
            && target.contains(self.contains)
    }

    /// The trap's own address, for messages.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.authority, self.prefix)
    }
}

/// Months that a crawler may fetch before it must notice the trap: 20 hops in each direction and the start.
const CALENDAR_HITS: u32 = 41;

/// Links to non-public hosts on the sample pages; a request for any of them is a failure.
pub const PRIVATE_LINKS: &[&str] = &[
    "http://192.168.1.10/oa/login.html",
    "http://10.20.30.40:8080/scada/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/latest/",
    "http://0x7f000001/status",
];

/// The traps of these sites.
pub(super) fn traps(sites: &[SampleSite]) -> Vec<Trap> {
    TRAPS
        .iter()
        .filter_map(|&(template, kind, prefix, max_hits, indexable)| {
            let site = sites.iter().find(|site| site.template == template)?;
            Some(Trap {
                kind,
                authority: site.authority.clone(),
                prefix: prefix.to_owned(),
                contains: if prefix == "/" { "?print=" } else { "" },
                max_hits,
                indexable,
            })
        })
        .collect()
}

/// Site, kind, prefix, most requests allowed, whether a document may come out of it.
const TRAPS: &[(Template, TrapKind, &str, u32, bool)] = &[
    (Newspaper, Refused, "/admin/", 0, false),
    (Newspaper, Refused, "/search", 0, false),
    (Newspaper, Refused, "/", 0, false),
    (Newspaper, Gone, "/kantan/2019/0101/1001.html", 1, false),
    (Newspaper, Missing, "/haiyang/2020/0512/2002.html", 1, false),
    (Newspaper, Binary, "/files/annual-report.pdf", 1, false),
    (Portal, Missing, "/html/2011-06/01/content_77.htm", 1, false),
    (Portal, Binary, "/down/well-data.zip", 1, false),
    (Bulletin, Refused, "/internal/drafts/", 0, false),
    (Bulletin, GrowingPath, "/topic/", 8, true),
    (Bulletin, Loop, "/r/loop", 12, false),
    (Bulletin, NoIndex, "/notice/readers.html", 1, false),
    (Blog, Calendar, "/calendar/", CALENDAR_HITS, true),
    (Blog, Refused, "/drafts/", 0, false),
    (Blog, Private, "/out/meta-data", 1, false),
    (Blog, Private, "/out/loopback", 1, false),
    (Forum, Session, "/thread-", 1, true),
    (Agency, SoftError, "/article?id=1", 1, false),
    (Agency, SoftError, "/article?id=404404", 1, false),
    (Agency, Endless, "/data/history", 1, true),
    (Agency, Bomb, "/data/archive", 1, true),
    (Agency, Binary, "/download?file=7", 1, false),
];
