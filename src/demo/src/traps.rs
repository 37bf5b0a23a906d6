//! What a crawler must not fall into. In: the world. Out: [`Trap`]s: where each lies and how often it may be touched.
//! The pages that lead into them are built by the templates; the routes answer for them.

use super::sites::Template;
use super::world::World;

/// What is wrong with a place.
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
    /// What is wrong with it.
    pub kind: TrapKind,
    /// Host with port.
    pub authority: String,
    /// What the paths and queries in it begin with.
    pub prefix: String,
    /// What they contain besides; nothing in particular if empty.
    pub mark: &'static str,
    /// Most requests a good crawler sends into it in one round, all its addresses taken together (of a session trap, to the page asked for most).
    pub most_hits: u32,
    /// Whether a document may come out of it.
    pub indexable: bool,
}

impl Trap {
    /// Whether a path and query of a host (with port) lies in the trap.
    pub fn holds(&self, authority: &str, target: &str) -> bool {
        self.authority == authority
            && target.starts_with(&self.prefix)
            && target.contains(self.mark)
    }

    /// The trap's own address, for messages.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.authority, self.prefix)
    }
}

/// Months a crawler may look at before it must have seen that there is no end: 20 hops in each direction and the start.
const CALENDAR_HITS: u32 = 41;

/// Hosts in nobody's public network, as linked from the sample pages; a request for any of them is a failure.
pub const PRIVATE_LINKS: &[&str] = &[
    "http://192.168.1.10/oa/login.html",
    "http://10.20.30.40:8080/scada/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/latest/",
    "http://0x7f000001/status",
];

/// The traps of the bundled world.
pub(super) fn traps(world: &World) -> Vec<Trap> {
    use TrapKind as Kind;
    let rows: &[(Template, Kind, &str, u32, bool)] = &[
        (Template::Newspaper, Kind::Refused, "/admin/", 0, false),
        (Template::Newspaper, Kind::Refused, "/search", 0, false),
        (Template::Newspaper, Kind::Refused, "/", 0, false),
        (
            Template::Newspaper,
            Kind::Gone,
            "/kantan/2019/0101/1001.html",
            1,
            false,
        ),
        (
            Template::Newspaper,
            Kind::Missing,
            "/haiyang/2020/0512/2002.html",
            1,
            false,
        ),
        (
            Template::Newspaper,
            Kind::Binary,
            "/files/annual-report.pdf",
            1,
            false,
        ),
        (
            Template::Portal,
            Kind::Missing,
            "/html/2011-06/01/content_77.htm",
            1,
            false,
        ),
        (
            Template::Portal,
            Kind::Binary,
            "/down/well-data.zip",
            1,
            false,
        ),
        (
            Template::Bulletin,
            Kind::Refused,
            "/internal/drafts/",
            0,
            false,
        ),
        (Template::Bulletin, Kind::GrowingPath, "/topic/", 8, true),
        (Template::Bulletin, Kind::Loop, "/r/loop", 12, false),
        (
            Template::Bulletin,
            Kind::NoIndex,
            "/notice/readers.html",
            1,
            false,
        ),
        (
            Template::Blog,
            Kind::Calendar,
            "/calendar/",
            CALENDAR_HITS,
            true,
        ),
        (Template::Blog, Kind::Refused, "/drafts/", 0, false),
        (Template::Blog, Kind::Private, "/out/meta-data", 1, false),
        (Template::Blog, Kind::Private, "/out/loopback", 1, false),
        (Template::Forum, Kind::Session, "/thread-", 1, true),
        (Template::Agency, Kind::SoftError, "/article?id=1", 1, false),
        (
            Template::Agency,
            Kind::SoftError,
            "/article?id=404404",
            1,
            false,
        ),
        (Template::Agency, Kind::Endless, "/data/history", 1, true),
        (Template::Agency, Kind::Bomb, "/data/archive", 1, true),
        (Template::Agency, Kind::Binary, "/download?file=7", 1, false),
    ];
    rows.iter()
        .filter_map(|&(template, kind, prefix, most_hits, indexable)| {
            let site = world.sites.iter().find(|site| site.template == template)?;
            Some(Trap {
                kind,
                authority: site.authority.clone(),
                prefix: prefix.to_owned(),
                mark: if prefix == "/" { "?print=" } else { "" },
                most_hits,
                indexable,
            })
        })
        .collect()
}
