//! What a crawler must not fall into on the sample web: the addresses of each trap and how many requests it allows.
//!
//! The pages link to them, the table of behaviours in `sample.rs` answers for them, and [`SampleWeb::triggered_traps`] tells which a
//! crawl fell into.
//!
//! [`SampleWeb::triggered_traps`]: crate::SampleWeb::triggered_traps

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trap {
    /// Name of its site.
    pub site: &'static str,
    /// Its kind.
    pub kind: TrapKind,
    /// Where its paths and queries begin, or the query by which they are known.
    pub prefix: &'static str,
    /// Most requests by a good crawler in one round, to all its addresses together (for a session trap, to its most requested
    /// page).
    pub max_hits: usize,
    /// Whether a document may come out of it.
    pub is_indexable: bool,
}

impl Trap {
    /// Whether a path and query of a host (with port) lies in the trap.
    pub fn matches(&self, authority: &str, target: &str) -> bool {
        let is_inside = if self.prefix.starts_with('?') {
            target.contains(self.prefix)
        } else {
            target.starts_with(self.prefix)
        };
        is_inside && authority.split('.').next() == Some(self.site)
    }
}

/// Months that a crawler may fetch before it must notice the trap: 20 hops in each direction and the start.
const CALENDAR_HITS: usize = 41;

/// The traps.
pub const TRAPS: [Trap; 22] = [
    trap("bohai-energy", Refused, "/admin/", 0, false),
    trap("bohai-energy", Refused, "/search", 0, false),
    trap("bohai-energy", Refused, "?print=", 0, false),
    trap(
        "bohai-energy",
        Gone,
        "/kantan/2019/0101/1001.html",
        1,
        false,
    ),
    trap(
        "bohai-energy",
        Missing,
        "/haiyang/2020/0512/2002.html",
        1,
        false,
    ),
    trap("bohai-energy", Binary, "/files/annual-report.pdf", 1, false),
    trap(
        "west-oilgas",
        Missing,
        "/html/2011-06/01/content_77.htm",
        1,
        false,
    ),
    trap("west-oilgas", Binary, "/down/well-data.zip", 1, false),
    trap("energy-policy", Refused, "/internal/drafts/", 0, false),
    trap("energy-policy", GrowingPath, "/topic/", 8, true),
    trap("energy-policy", Loop, "/r/loop", 12, false),
    trap("energy-policy", NoIndex, "/notice/readers.html", 1, false),
    trap("pipeline-blog", Calendar, "/calendar/", CALENDAR_HITS, true),
    trap("pipeline-blog", Refused, "/drafts/", 0, false),
    trap("pipeline-blog", Private, "/out/meta-data", 1, false),
    trap("pipeline-blog", Private, "/out/loopback", 1, false),
    trap("petro-forum", Session, "/thread-", 1, true),
    trap("huadong-gas", SoftError, "/article?id=1", 1, false),
    trap("huadong-gas", SoftError, "/article?id=404404", 1, false),
    trap("huadong-gas", Endless, "/data/history", 1, true),
    trap("huadong-gas", Bomb, "/data/archive", 1, true),
    trap("huadong-gas", Binary, "/download?file=7", 1, false),
];

const fn trap(
    site: &'static str,
    kind: TrapKind,
    prefix: &'static str,
    max_hits: usize,
    is_indexable: bool,
) -> Trap {
    Trap {
        site,
        kind,
        prefix,
        max_hits,
        is_indexable,
    }
}
