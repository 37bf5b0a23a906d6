//! What a visit brought, as a value.
//!
//! The [`visitor`] makes one [`Visit`] for each lease, from the network or from an archive, and touches no store. Nothing behind it
//! changes the visit. A [judge](super::judge) compares it with what is stored, and what follows from it is decided there. The reason that
//! the crawl log gives, and why a page has no document, are words of the types of this module.

pub(crate) mod article;
pub(crate) mod body;
mod comments;
mod file;
mod list;
pub(crate) mod page;
pub(crate) mod tasks;
mod turns;
pub(crate) mod visitor;

use std::fmt;
use std::net::IpAddr;

use article::{MissingPart, OpenArticle};

use crate::documents::EncodedDocument;
use taojin_attachments::Unreadable;
use taojin_crawl::fetch::{Fetched, Refused, Trouble};
use taojin_crawl::frontier::{FetchReport, Lease};
use taojin_crawl::schedule::Cut;
use taojin_crawl::store::{NewUrl, UrlClass, UrlRecord, UsedTemplate};
use taojin_crawl::{Failure, NoPage, Problem, VisitOutcome};
use taojin_extract::{Kind, is_blocking_address};
use taojin_uri::CrawlUri;

/// The reason of a visit that brought bytes which are neither a page nor a file that is read.
pub(crate) const NO_TEXT: &str = "content-type: no text";

/// A lease that has ended.
pub(crate) enum EndedLease {
    /// With a visit.
    Visited(Box<FinishedVisit>),
    /// It is to be given out again: its host wants more time before the page, a rule changed since, or the right to fetch ended in the
    /// middle of it. Nothing of it counts but that its host was asked.
    GivenBack(Lease, FetchReport),
    /// Nothing was asked: only where its host is was found out.
    Located(Lease, IpAddr),
}

/// A visit that has come to its end.
pub(crate) struct FinishedVisit {
    /// The lease.
    pub(crate) lease: Lease,
    /// What came of it.
    pub(crate) visit: Visit,
    /// The sitemaps that the robots.txt of a seed names.
    pub(crate) sitemaps: Vec<NewUrl>,
    /// What the frontier's politeness goes by.
    pub(crate) report: FetchReport,
}

/// What came of a visit.
pub(crate) enum Visit {
    /// The URL was fetched: a server answered, or failed to.
    Fetched(Box<Answer>),
    /// Nothing was fetched that counts.
    Unfetched(Unfetched),
}

/// How a URL was fetched, and what stands there.
pub(crate) struct Answer {
    /// How it went over the network; of an article of several pages, its first one.
    pub(crate) fetched: Fetched,
    /// What came.
    pub(crate) content: Content,
    /// Addresses in page order, then where the head of the answer leads.
    pub(crate) outlinks: Vec<NewUrl>,
    /// When it came.
    pub(crate) at: Moment,
    /// The part of its article that this visit fetched, if that is not the first page.
    pub(crate) further: Option<FurtherPart>,
}

/// What stands at an address.
pub(crate) enum Content {
    /// A page of HTML.
    Page(Box<PageRead>),
    /// An article with parts that have not come yet.
    Open {
        /// The article, to go on with.
        article: Box<OpenArticle>,
        /// What it is if nothing more comes.
        so_far: Box<PageRead>,
    },
    /// A feed or sitemap.
    List(ListRead),
    /// A file that a page offers.
    File(FileRead),
    /// The address leads here.
    Redirect(CrawlUri),
    /// A page without a byte.
    EmptyBody,
    /// Bytes that are neither a page nor a file that is read.
    Binary,
    /// A file over the limit of its site, of which nothing is read.
    TooLarge,
    /// What came is not used, if anything did: how it was fetched says why.
    Unused,
}

/// A page that was read.
pub(crate) struct PageRead {
    /// What it is.
    pub(crate) kind: Kind,
    /// Its document.
    pub(crate) document: Held,
    /// Why the page has no document to be found.
    pub(crate) unindexed: Option<Unindexed>,
    /// It asks to sign in, or to prove that a person reads.
    pub(crate) is_blocking: bool,
    /// What it is compared by.
    pub(crate) digests: Digests,
    /// The address that it calls its own, where that is another spelling of its address.
    pub(crate) canonical: Option<CrawlUri>,
    /// What its document lacks of the article.
    pub(crate) missing: Option<MissingPart>,
    /// It is a list that goes on where none of its links leads.
    pub(crate) is_list_cut: bool,
    /// The template that its document was read with.
    pub(crate) template: Option<UsedTemplate>,
    /// The feed or sitemap whose day its document has, since the page names none.
    pub(crate) dated_by: Option<String>,
}

/// A document that was read.
pub(crate) enum Held {
    /// There is none.
    None,
    /// One to be found.
    Document(EncodedDocument),
    /// One of a page that asks not to be indexed.
    Withheld(EncodedDocument),
}

/// What pages are compared by. All are xxh3 with 64 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Digests {
    /// Of what makes the page a changed one: the text of an article, the links of a list.
    pub(crate) content: u64,
    /// Of what it says without its numbers; none where no document was wanted.
    pub(crate) outline: Option<u64>,
    /// Of all that it shows: title, text, and its links by their texts and by the last part of where they lead, which stays the
    /// same where a relative link is found under another address. None for a page without links.
    pub(crate) face: Option<u64>,
}

/// A feed or sitemap that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListRead {
    /// Digest of its addresses.
    pub(crate) digest: u64,
    /// Why it was not read to its end, if it was not.
    pub(crate) cut: Option<Cut>,
    /// Bytes of a sitemap that are read at most, unpacked.
    pub(crate) max_bytes: u64,
}

/// A file that was read.
pub(crate) struct FileRead {
    /// Its document.
    pub(crate) document: Held,
    /// Why it has none to be found.
    pub(crate) unindexed: Option<Unindexed>,
    /// Digest of its title and text, or of why it has none.
    pub(crate) digest: u64,
    /// The end of its text is left out.
    pub(crate) text_cut: bool,
    /// How long it took to read it, in milliseconds.
    pub(crate) reading_ms: i64,
}

/// Why a page or file that came is not to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unindexed {
    /// Its header asks for that.
    HeaderNoindex,
    /// The page itself does.
    MetaNoindex,
    /// A list page.
    ListPage,
    /// An error page, by what it says.
    ErrorPage,
    /// No main text.
    NoText,
    /// Neither an article nor a list.
    Unclear,
    /// A text that was cut off and is too long for an article.
    Endless,
    /// A further page of the article that begins at this address.
    PartOf(String),
    /// Documents are not wanted.
    Off,
    /// A file that could not be read.
    File(Unreadable),
}

/// When an answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Just now.
    Now,
    /// It comes from an archive.
    Archived {
        /// When it was archived, Unix milliseconds.
        at_ms: i64,
    },
}

/// A part of an article that is not its first page.
#[derive(Debug)]
pub(crate) struct FurtherPart {
    /// What it is.
    pub(crate) kind: PartKind,
    /// Its address.
    pub(crate) uri: CrawlUri,
    /// How it was fetched.
    pub(crate) fetched: Fetched,
}

/// What a part of an article is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartKind {
    /// A page with more of its text.
    Page,
    /// What its readers say, as a script of the page reads it.
    Comments,
}

/// Why nothing was fetched that counts.
#[derive(Debug)]
pub(crate) enum Unfetched {
    /// The gate did not let the request pass.
    Refused(Refused),
    /// It is a file, and those are not read.
    AttachmentsOff,
    /// The program failed on what came.
    ProgramFailed,
    /// The record of the archive holds no answer of a server.
    NotArchived,
    /// A further page of the article could not be had, though its first came. It may be had soon: until then the document stays as it is.
    PagesMissing {
        /// Which, and why.
        missing: MissingPart,
        /// How it was fetched, if it was asked for.
        further: Option<Box<FurtherPart>>,
    },
}

impl Visit {
    /// The answer, if there is one.
    pub(crate) fn answer(&self) -> Option<&Answer> {
        match self {
            Visit::Fetched(answer) => Some(answer),
            Visit::Unfetched(_) => None,
        }
    }

    /// How it ended.
    pub(crate) fn outcome(&self) -> VisitOutcome {
        match self {
            Visit::Fetched(answer) => answer.outcome(),
            Visit::Unfetched(why) => why.outcome(),
        }
    }

    /// Why it was refused or failed, or what is wrong with what came, as the crawl log says it.
    pub(crate) fn reason(&self) -> Option<String> {
        match self {
            Visit::Fetched(answer) => answer.reason(),
            Visit::Unfetched(why) => Some(why.to_string()),
        }
    }

    /// How the URL was fetched, if it was.
    pub(crate) fn fetched(&self) -> Option<&Fetched> {
        self.answer().map(|answer| &answer.fetched)
    }

    /// What stands at the address.
    pub(crate) fn content(&self) -> Option<&Content> {
        self.answer().map(|answer| &answer.content)
    }

    /// The page, if one came.
    pub(crate) fn page(&self) -> Option<&PageRead> {
        match self.content()? {
            Content::Page(page) | Content::Open { so_far: page, .. } => Some(page),
            _ => None,
        }
    }

    /// Why its robots.txt could not be had, if that is why there is no answer.
    pub(crate) fn robots_trouble(&self) -> Option<&Trouble> {
        match self {
            Visit::Unfetched(Unfetched::Refused(Refused::RobotsAway(trouble))) => Some(trouble),
            _ => None,
        }
    }

    /// What came, as far as it is known.
    pub(crate) fn kind(&self) -> Option<Kind> {
        match self.content()? {
            Content::List(_) => Some(Kind::Hub),
            Content::File(_) => Some(Kind::Attachment),
            _ => self.page().map(|page| page.kind),
        }
    }

    /// What it is compared by with the visit before.
    pub(crate) fn digest(&self) -> Option<u64> {
        match self.content()? {
            Content::List(list) => Some(list.digest),
            Content::File(file) => Some(file.digest),
            _ => self.page().map(|page| page.digests.content),
        }
    }

    /// The document to be found, if there is one.
    pub(crate) fn document(&self) -> Option<&EncodedDocument> {
        match self.held()? {
            Held::Document(document) => Some(document),
            Held::None | Held::Withheld(_) => None,
        }
    }

    /// The document of what asks not to be indexed.
    pub(crate) fn withheld(&self) -> Option<&EncodedDocument> {
        match self.held()? {
            Held::Withheld(document) => Some(document),
            Held::None | Held::Document(_) => None,
        }
    }

    fn held(&self) -> Option<&Held> {
        match self.content()? {
            Content::File(file) => Some(&file.document),
            _ => self.page().map(|page| &page.document),
        }
    }

    /// Why what came has no document to be found.
    pub(crate) fn unindexed(&self) -> Option<&Unindexed> {
        match self.content()? {
            Content::File(file) => file.unindexed.as_ref(),
            _ => self.page()?.unindexed.as_ref(),
        }
    }

    /// Where the page stands instead: the target of a redirect, or its canonical address.
    pub(crate) fn target(&self) -> Option<&CrawlUri> {
        match self.content()? {
            Content::Redirect(to) => Some(to),
            _ => self.page()?.canonical.as_ref(),
        }
    }

    /// When it was archived, Unix milliseconds; none for a visit of just now.
    pub(crate) fn archived_ms(&self) -> Option<i64> {
        match self.answer()?.at {
            Moment::Now => None,
            Moment::Archived { at_ms } => Some(at_ms),
        }
    }

    /// The part of its article that it fetched, if that is not the first page.
    pub(crate) fn further(&self) -> Option<&FurtherPart> {
        match self {
            Visit::Fetched(answer) => answer.further.as_ref(),
            Visit::Unfetched(Unfetched::PagesMissing { further, .. }) => further.as_deref(),
            Visit::Unfetched(_) => None,
        }
    }

    /// The addresses that were found, in page order.
    pub(crate) fn into_outlinks(self) -> Vec<NewUrl> {
        match self {
            Visit::Fetched(answer) => answer.outlinks,
            Visit::Unfetched(_) => Vec::new(),
        }
    }

    /// The article, if pages of it have not come yet.
    pub(crate) fn into_article(self) -> Option<Box<OpenArticle>> {
        match self {
            Visit::Fetched(answer) => match answer.content {
                Content::Open { article, .. } => Some(article),
                _ => None,
            },
            Visit::Unfetched(_) => None,
        }
    }

    /// Why a list was not read to its end.
    pub(crate) fn list_cut(&self) -> Option<Cut> {
        match self.content()? {
            Content::List(list) => list.cut,
            _ => None,
        }
    }

    /// Whether a page came with neither a text nor a link.
    pub(crate) fn is_blank(&self) -> bool {
        let is_blank = |page: &PageRead| {
            let has_no_text = matches!(page.unindexed, Some(Unindexed::NoText));
            has_no_text && page.digests.face.is_none()
        };
        self.page().is_some_and(is_blank)
    }

    /// Whether it brought a list that goes on where none of its links leads.
    pub(crate) fn is_list_cut(&self) -> bool {
        self.page().is_some_and(|page| page.is_list_cut)
    }

    /// Whether the site turned us away: by a page that asks to sign in or to prove that a person reads, or by leading to one.
    pub(crate) fn is_blocking(&self) -> bool {
        match self.content() {
            Some(Content::Redirect(to)) => is_blocking_address(to),
            _ => self.page().is_some_and(|page| page.is_blocking),
        }
    }

    /// Why it brought no page; none if it did, or led elsewhere.
    pub(crate) fn problem(&self) -> Option<Problem> {
        if self.list_cut().is_some() {
            // It came, and what was read of it counts; how many were cut has a counter of its own.
            return None;
        }
        let Some(fetched) = self.fetched() else {
            return Some(match self.robots_trouble() {
                Some(trouble) => Problem::Robots(trouble.no_page()),
                None => Problem::Page(NoPage::Outcome(self.outcome())),
            });
        };
        match fetched.failure {
            Some(failure) => Some(Problem::Page(NoPage::Failure(failure))),
            None if fetched.outcome.is_success() => {
                (self.kind() == Some(Kind::Error)).then_some(Problem::ErrorPage)
            }
            None => Some(Problem::Page(NoPage::Status(fetched.head.status))),
        }
    }
}

impl Answer {
    /// An answer of just now that is not used.
    pub(crate) fn unused(fetched: Fetched) -> Self {
        Self {
            fetched,
            content: Content::Unused,
            outlinks: Vec::new(),
            at: Moment::Now,
            further: None,
        }
    }

    fn outcome(&self) -> VisitOutcome {
        match &self.content {
            // What is read counts, though the rest of it did not come.
            Content::Page(_)
            | Content::Open { .. }
            | Content::List(_)
            | Content::File(_)
            | Content::EmptyBody => VisitOutcome::Page,
            Content::Redirect(_) => VisitOutcome::Redirect,
            Content::Binary | Content::TooLarge => VisitOutcome::Unwanted,
            Content::Unused => self.fetched.outcome,
        }
    }

    fn reason(&self) -> Option<String> {
        match &self.content {
            Content::Page(page) if page.missing.is_some() => {
                page.missing.as_ref().map(MissingPart::to_string)
            }
            Content::File(file) if file.text_cut => Some(MissingPart::End.to_string()),
            Content::EmptyBody => Some("empty body".to_owned()),
            Content::Binary => Some(NO_TEXT.to_owned()),
            Content::TooLarge => Some(
                "larger than fetch.max_attachment_bytes, or than max_attachment_bytes of its site"
                    .to_owned(),
            ),
            Content::Redirect(_) => None,
            Content::List(list) => list.describe_cut().or_else(|| self.shortened()),
            Content::Page(page) => self.shortened().or_else(|| {
                let list = page.dated_by.as_ref()?;
                Some(format!("the page names no day: published as {list} says"))
            }),
            Content::Open { .. } | Content::File(_) => self.shortened(),
            Content::Unused => {
                (!self.fetched.outcome.is_success()).then(|| describe_failure(&self.fetched))
            }
        }
    }

    /// What is said of a body of which only the beginning came.
    fn shortened(&self) -> Option<String> {
        let fetched = &self.fetched;
        match fetched.failure? {
            Failure::TooLarge => Some("too-large: cut off at the limit".to_owned()),
            _ => Some(describe_failure(fetched)),
        }
    }
}

/// Why a fetch brought no page, in the word of its failure or with its status.
pub(super) fn describe_failure(fetched: &Fetched) -> String {
    match fetched.failure {
        Some(failure) if fetched.truncation().is_some() => format!(
            "{}: the body broke off after {} bytes",
            failure.as_str(),
            fetched.wire_bytes
        ),
        Some(Failure::Address) => fetched.describe(),
        Some(failure) => failure.as_str().to_owned(),
        None => NoPage::Status(fetched.head.status).to_string(),
    }
}

impl Unfetched {
    /// How the visit ended.
    pub(crate) fn outcome(&self) -> VisitOutcome {
        match self {
            Unfetched::Refused(Refused::Robots(_)) => VisitOutcome::Disallowed,
            Unfetched::Refused(Refused::RobotsAway(_)) => VisitOutcome::RobotsUnreachable,
            Unfetched::Refused(_)
            | Unfetched::AttachmentsOff
            | Unfetched::ProgramFailed
            | Unfetched::NotArchived => VisitOutcome::Unwanted,
            Unfetched::PagesMissing { .. } => VisitOutcome::Unreachable,
        }
    }
}

impl fmt::Display for Unfetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfetched::Refused(Refused::Robots(rule)) => {
                write!(
                    f,
                    "robots.txt line {}: Disallow: {}",
                    rule.line, rule.pattern
                )
            }
            Unfetched::Refused(Refused::RobotsAway(trouble)) => {
                Problem::Robots(trouble.no_page()).fmt(f)
            }
            Unfetched::Refused(Refused::Rules(rule) | Refused::OnTheWay(rule)) => {
                f.write_str(&rule.describe())
            }
            Unfetched::Refused(Refused::Later(_)) => {
                f.write_str("leads to a host that asked for a long pause")
            }
            Unfetched::AttachmentsOff => f.write_str(
                "attachments are switched off (crawl.attachments, attachments of the site)",
            ),
            Unfetched::ProgramFailed => f.write_str("failed on this page"),
            Unfetched::NotArchived => f.write_str("archive: no answer of a server"),
            Unfetched::PagesMissing { missing, .. } => missing.fmt(f),
        }
    }
}

impl Unindexed {
    /// Those that are said without a value.
    const PLAIN: [Unindexed; 8] = [
        Unindexed::HeaderNoindex,
        Unindexed::MetaNoindex,
        Unindexed::ListPage,
        Unindexed::ErrorPage,
        Unindexed::NoText,
        Unindexed::Unclear,
        Unindexed::Endless,
        Unindexed::Off,
    ];

    /// In English, as the store has it, and in Chinese.
    fn words(&self) -> [String; 2] {
        let [en, zh] = match self {
            Unindexed::HeaderNoindex => [
                "asks not to be indexed (X-Robots-Tag: noindex)",
                "网页要求不收录（X-Robots-Tag: noindex）",
            ],
            Unindexed::MetaNoindex => [
                "asks not to be indexed (meta robots: noindex)",
                "网页要求不收录（meta robots: noindex）",
            ],
            Unindexed::ListPage => ["judged to be a list page", "判断为列表页"],
            Unindexed::ErrorPage => [
                "judged to be an error page by what its title or text says",
                "从标题或正文判断为错误页",
            ],
            Unindexed::NoText => ["no main text found", "没有找到正文"],
            Unindexed::Unclear => [
                "judged to be neither an article nor a list: its text is not clear enough",
                "判断为既不是文章也不是列表页：正文不够明确",
            ],
            Unindexed::Endless => ["the text has no end", "正文没有结尾"],
            Unindexed::Off => [
                "documents are switched off (crawl.documents = false)",
                "已关闭文档收录（crawl.documents = false）",
            ],
            Unindexed::PartOf(first) => {
                return [
                    format!("its text stands in the document of the article's first page, {first}"),
                    format!("正文已并入文章第一页的文档：{first}"),
                ];
            }
            Unindexed::File(why) => {
                return [
                    format!("{}{THE_FILE}{why}", why.as_str()),
                    unreadable_in_chinese(why.as_str()).to_owned(),
                ];
            }
        };
        [en.to_owned(), zh.to_owned()]
    }
}

/// What stands between the word of an unreadable file and its sentence.
const THE_FILE: &str = ": the file ";

/// Why a file has no document, by the word of [`Unreadable`].
fn unreadable_in_chinese(word: &str) -> &'static str {
    match word {
        "scanned" => "文件只有扫描图像，没有文字",
        "password" => "文件有密码",
        "garbled" => "文件中的文字编码无法还原",
        "no_text" => "文件没有文字",
        "damaged" => "文件已损坏",
        "not_read" => "不支持的文件格式",
        "too_large" => "文件过大",
        "timed_out" => "读取文件超时",
        "crashed" => "读取文件时出错",
        _ => "文件无法读取",
    }
}

/// The Chinese words for why a page has no document, of those that the store has in English; `None` for a sentence that holds
/// values.
pub(crate) fn reason_in_chinese(reason: &str) -> Option<String> {
    if reason == NO_TEXT {
        return Some("不是文本".to_owned());
    }
    let known = Unindexed::PLAIN.iter().map(Unindexed::words);
    let known = known.into_iter().find(|[english, _]| english == reason);
    let known = known.map(|[_, chinese]| chinese);
    let of_file = || Some(unreadable_in_chinese(reason.split_once(THE_FILE)?.0).to_owned());
    known
        .or_else(of_file)
        .or_else(|| Some(Problem::parse(reason)?.in_chinese()))
}

impl fmt::Display for Unindexed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [english, _] = self.words();
        f.write_str(&english)
    }
}

/// The link from the page of a record to `uri`, a hop further from the seeds.
pub(crate) fn link_from(record: &UrlRecord, uri: CrawlUri, class: UrlClass) -> NewUrl {
    NewUrl {
        class,
        via: Some(record.id),
        ..NewUrl::link(uri, &record.site, record.hops.saturating_add(1))
    }
}
