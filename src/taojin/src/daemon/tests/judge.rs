//! What a visit shows of documents, judged by records that are kept in memory, and what follows from it.

use std::collections::HashMap;

use super::*;
use crate::daemon::crawl::judge::decide::{Change, decide};
use crate::daemon::crawl::judge::{Judge, Judgement, Records, StoredVersion, Walls};
use crate::daemon::crawl::visit::{Answer, Content, FinishedVisit, Held, Moment, Visit};
use crate::documents::{self, EncodedDocument};
use taojin_crawl::DocumentChange;
use taojin_crawl::frontier::{FetchReport, Lease};
use taojin_crawl::schedule::{self, Shown};
use taojin_crawl::store::{DocOp, Relatives, StoreError, UrlId, Wall};
use taojin_extract::Document;

const PAGE: &str = "http://a.example/1.html";
const OTHER: &str = "http://a.example/2.html";
const THIRD: &str = "http://a.example/3.html";
const FOURTH: &str = "http://a.example/4.html";

/// What the page of the tests says, and what a wall says.
const TEXT: &str =
    "青石岭储气库本周完成第三口注采井的试压，现场记录显示井口压力平稳，没有发现渗漏。";
const WALL: &str = "系统正在升级，预计今晚恢复，给您带来不便，敬请谅解。";
/// A later version of the page's text.
const LATER: &str = "青石岭储气库本周完成第三口注采井的试压，现场记录显示井口压力平稳，没有发现渗漏，第二阶段下月开始。";
/// Of another page.
const FOREIGN: &str = "海安站今日起对过境船舶实行预约加注，首日有四艘船在码头等候。";

/// Records and documents, as a store would have them.
#[derive(Default)]
struct Shelf {
    urls: Vec<UrlRecord>,
    /// By fingerprint: when it was first seen, and what it says.
    documents: HashMap<CrawlUri, (i64, Document)>,
    walls: Vec<Wall>,
}

impl Shelf {
    /// Adds a page of the site, with a document that was first seen then.
    fn with_document(mut self, page: &str, text: &str, first_seen_ms: i64) -> Self {
        let document = says(page, text);
        let visit = UrlVisit {
            changed_ms: Some(first_seen_ms),
            ..known(digest(text), content(&document))
        };
        self.documents.insert(uri(page), (first_seen_ms, document));
        self.add(page, visit)
    }

    /// Adds pages whose documents stand elsewhere or nowhere: one that redirects to `to`, for each of these addresses.
    fn with_redirects<'a>(mut self, from: impl IntoIterator<Item = &'a str>, to: &str) -> Self {
        for (n, page) in from.into_iter().enumerate() {
            let visit = UrlVisit {
                state: UrlState::Redirect,
                target: Some(to.to_owned()),
                ..known(1, 100 + n as u64)
            };
            self = self.add(page, visit);
        }
        self
    }

    /// Another page of the site showed these words instead of its document a day ago.
    fn with_answer(self, page: &str, text: &str) -> Self {
        let visit = UrlVisit {
            answer: Some(documents::wording(text)),
            not_found_since_ms: Some(NOW - DAY),
            ..known(1, 99)
        };
        self.add(page, visit)
    }

    fn with_wall(mut self, text: &str, since_ms: i64) -> Self {
        self.walls.push(Wall {
            site: "s".to_owned(),
            answer: documents::wording(text),
            since_ms,
        });
        self
    }

    /// Changes the record that was added last.
    fn and(mut self, change: impl Fn(&mut UrlRecord)) -> Self {
        self.urls.last_mut().into_iter().for_each(change);
        self
    }

    fn add(mut self, page: &str, visit: UrlVisit) -> Self {
        let id = 10 + self.urls.len() as UrlId;
        self.urls.push(UrlRecord {
            id,
            ..record(page, visit)
        });
        self
    }

    /// The record of the page that is visited.
    fn visited(&self) -> UrlRecord {
        let stored = self.urls.iter().find(|url| url.uri == uri(PAGE));
        stored
            .cloned()
            .unwrap_or_else(|| record(PAGE, UrlVisit::default()))
    }

    fn ids(&self, is: impl Fn(&UrlRecord) -> bool) -> Vec<UrlId> {
        let found = self.urls.iter().filter(|url| is(url));
        found.map(|url| url.id).collect()
    }
}

impl Records for Shelf {
    fn url(&self, id: UrlId) -> Result<Option<UrlRecord>, StoreError> {
        Ok(self.urls.iter().find(|url| url.id == id).cloned())
    }

    fn lookup(&self, uri: &CrawlUri) -> Result<Option<UrlRecord>, StoreError> {
        Ok(self.urls.iter().find(|url| url.uri == *uri).cloned())
    }

    fn document(&self, id: UrlId) -> Result<Option<StoredVersion>, StoreError> {
        let url = self.urls.iter().find(|url| url.id == id);
        let found = url.and_then(|url| self.documents.get(&url.uri));
        Ok(found.map(|(first_seen_ms, document)| StoredVersion {
            first_seen_ms: *first_seen_ms,
            document: document.clone(),
        }))
    }

    fn naming(&self, uri: &CrawlUri) -> Result<Vec<UrlId>, StoreError> {
        let uri = Some(uri.as_str());
        Ok(self.ids(|url| url.visit.documented && url.visit.target.as_deref() == uri))
    }

    fn aliases(&self, id: UrlId) -> Result<Vec<UrlId>, StoreError> {
        Ok(self.ids(|url| url.visit.alias_of == Some(id)))
    }

    fn relatives(&self, uri: &CrawlUri, site: &str, content: u64) -> Result<Relatives, StoreError> {
        let is_alike = |url: &UrlRecord| {
            *url.site == *site && url.visit.documented && url.visit.content == Some(content)
        };
        Ok(Relatives {
            naming: self.naming(uri)?,
            alike: self.ids(is_alike),
        })
    }

    fn answering(
        &self,
        site: &str,
        answer: u64,
        not: UrlId,
    ) -> Result<(i64, Option<i64>), StoreError> {
        let is_it = |url: &&UrlRecord| {
            *url.site == *site && url.id != not && url.visit.answer == Some(answer)
        };
        let found: Vec<_> = self.urls.iter().filter(is_it).collect();
        let since_ms = found
            .iter()
            .filter_map(|url| url.visit.not_found_since_ms)
            .min();
        Ok((found.len() as i64, since_ms))
    }

    fn walls(&self, limit: usize) -> Result<Vec<Wall>, StoreError> {
        Ok(self.walls.iter().take(limit).cloned().collect())
    }
}

fn says(page: &str, text: &str) -> Document {
    Document {
        url: page.to_owned(),
        text: text.to_owned(),
        kind: Kind::Article,
        ..Document::default()
    }
}

/// Stands for the digest by which a page has changed or not.
fn digest(text: &str) -> u64 {
    text.chars().map(u64::from).sum()
}

fn content(document: &Document) -> u64 {
    EncodedDocument::new(document).content
}

/// The page came and says `text`.
fn shows(text: &str) -> Visit {
    let document = says(PAGE, text);
    answered(page_of(
        Held::Document(EncodedDocument::new(&document)),
        digest(text),
    ))
}

/// The same, and names another address as its own.
fn names(canonical: &str, text: &str) -> Visit {
    let document = EncodedDocument::new(&says(PAGE, text));
    let mut answer = page_of(Held::Document(document), digest(text));
    if let Content::Page(page) = &mut answer.content {
        page.canonical = Some(uri(canonical));
    }
    answered(answer)
}

fn withheld(text: &str) -> Visit {
    let document = EncodedDocument::new(&says(PAGE, text));
    answered(page_of(Held::Withheld(document), digest(text)))
}

/// The page came and asks for a proof that a person reads.
fn asks_to_sign_in() -> Visit {
    let document = EncodedDocument::new(&says(PAGE, WALL));
    let mut answer = page_of(Held::Document(document), digest(WALL));
    if let Content::Page(page) = &mut answer.content {
        page.is_blocking = true;
    }
    answered(answer)
}

fn from_archive(visit: Visit) -> Visit {
    match visit {
        Visit::Fetched(answer) => answered(Answer {
            at: Moment::Archived { at_ms: NOW },
            ..*answer
        }),
        unanswered @ Visit::Unfetched(_) => unanswered,
    }
}

fn judge(shelf: &Shelf, visit: &Visit) -> Judgement {
    let mut walls = Walls::default();
    Judge::judge(shelf, &mut walls, (&shelf.visited(), visit), NOW).unwrap()
}

fn decided(shelf: &Shelf, visit: Visit, judgement: Judgement) -> Change {
    let finished = FinishedVisit {
        lease: Lease::archived(shelf.visited()),
        visit,
        sitemaps: Vec::new(),
        report: FetchReport::new(VisitOutcome::Page, 20),
    };
    decide(&schedule::Config::default(), finished, judgement, true, NOW)
}

/// What is shown, in a word.
fn word(shown: Shown) -> &'static str {
    match shown {
        Shown::Document => "document",
        Shown::Elsewhere => "elsewhere",
        Shown::Withheld => "withheld",
        Shown::Replaced { .. } => "replaced",
        Shown::Wall {
            made_document: false,
            ..
        } => "wall",
        Shown::Wall {
            made_document: true,
            ..
        } => "wall that made the document",
        Shown::Nothing => "nothing",
    }
}

/// A visit of the page, by its name.
struct Case(&'static str, Shelf, Visit, Expected);

/// What a case expects: what is shown, whether it turns readers away, what becomes of the document, and what the log says.
struct Expected(&'static str, bool, &'static str, Option<DocumentChange>);

fn check(cases: impl IntoIterator<Item = Case>) {
    for Case(name, shelf, visit, wanted) in cases {
        let judgement = judge(&shelf, &visit);
        let found = (word(judgement.shown), judgement.turned_away);
        assert_eq!(found, (wanted.0, wanted.1), "{name}: {judgement:?}");
        let change = decided(&shelf, visit, judgement);
        let op = match change.page.document {
            None => "-",
            Some(DocOp::Delete) => "delete",
            Some(DocOp::Upsert(_)) => "upsert",
        };
        assert_eq!((op, change.line.document), (wanted.2, wanted.3), "{name}");
    }
}

/// When the documents of the tests were first seen, where it does not matter.
const OLD: i64 = NOW - 10 * DAY;

/// A site with the page and its document.
fn own() -> Shelf {
    Shelf::default().with_document(PAGE, TEXT, OLD)
}

/// A site whose page has its document at another address.
fn alias() -> Shelf {
    let visit = UrlVisit {
        documented: false,
        alias_of: Some(10),
        ..known(digest(TEXT), content(&says(OTHER, TEXT)))
    };
    Shelf::default()
        .with_document(OTHER, TEXT, OLD)
        .add(PAGE, visit)
}

fn empty() -> Shelf {
    Shelf::default()
}

fn of_another_site(url: &mut UrlRecord) {
    url.site = Arc::from("t");
}

/// The page and the document that it has.
#[test]
fn page_is_judged_by_its_document() {
    use DocumentChange::{Changed, Deleted, New, Unchanged, Unconfirmed};
    check([
        Case(
            "first",
            empty(),
            shows(TEXT),
            Expected("document", false, "upsert", Some(New)),
        ),
        Case(
            "the same",
            own(),
            shows(TEXT),
            Expected("document", false, "-", Some(Unchanged)),
        ),
        Case(
            "a version",
            own(),
            shows(LATER),
            Expected("document", false, "upsert", Some(Changed)),
        ),
        Case(
            "withheld",
            own(),
            withheld(LATER),
            Expected("withheld", false, "delete", Some(Deleted)),
        ),
        Case(
            "another text",
            own(),
            shows(WALL),
            Expected("replaced", true, "-", Some(Unconfirmed)),
        ),
        Case(
            "another text in an archive",
            own(),
            from_archive(shows(WALL)),
            Expected("document", false, "upsert", Some(Changed)),
        ),
        Case(
            "another text that is withheld",
            own(),
            withheld(WALL),
            Expected("replaced", true, "-", Some(Unconfirmed)),
        ),
        Case(
            "another text that is withheld, in an archive",
            own(),
            from_archive(withheld(WALL)),
            Expected("withheld", false, "delete", Some(Deleted)),
        ),
        Case(
            "a version of what stands at its alias",
            alias(),
            shows(LATER),
            Expected("document", false, "upsert", Some(New)),
        ),
        Case(
            "another text than at its alias",
            alias(),
            shows(WALL),
            Expected("replaced", true, "-", None),
        ),
        Case(
            "a sign-in",
            own(),
            asks_to_sign_in(),
            Expected("nothing", true, "-", Some(Unconfirmed)),
        ),
        Case(
            "a sign-in at first",
            empty(),
            asks_to_sign_in(),
            Expected("document", true, "upsert", Some(New)),
        ),
        Case(
            "304",
            own(),
            ended(VisitOutcome::NotModified, 304),
            Expected("document", false, "-", Some(Unchanged)),
        ),
    ]);
}

/// A wall is what other pages of the site show, too.
#[test]
fn walls_are_judged_by_other_pages() {
    use DocumentChange::{Deleted, New, Unchanged, Unconfirmed};
    check([
        Case(
            "another showed it",
            own().with_answer(OTHER, WALL),
            shows(WALL),
            Expected("wall", true, "-", Some(Unconfirmed)),
        ),
        Case(
            "another site showed it",
            own().with_answer(OTHER, WALL).and(of_another_site),
            shows(WALL),
            Expected("replaced", true, "-", Some(Unconfirmed)),
        ),
        Case(
            "another has it as a document",
            own().with_document(OTHER, WALL, OLD),
            shows(WALL),
            Expected("wall", true, "-", Some(Unconfirmed)),
        ),
        Case(
            "a known wall",
            own().with_wall(WALL, OLD),
            shows(WALL),
            Expected("wall", true, "-", Some(Unconfirmed)),
        ),
        Case(
            "a known wall at first",
            empty().with_wall(WALL, OLD),
            shows(WALL),
            Expected("wall", true, "-", None),
        ),
        Case(
            "a wall became the document",
            empty()
                .with_document(PAGE, WALL, OLD)
                .with_wall(WALL, OLD + DAY),
            shows(WALL),
            Expected("wall that made the document", true, "delete", Some(Deleted)),
        ),
        Case(
            "what others show was its own",
            empty()
                .with_document(PAGE, WALL, OLD)
                .with_wall(WALL, OLD + 2 * DAY),
            shows(WALL),
            Expected("document", false, "-", Some(Unchanged)),
        ),
        Case(
            "a wall became the document, 304",
            empty().with_document(PAGE, WALL, OLD).with_wall(WALL, OLD),
            ended(VisitOutcome::NotModified, 304),
            Expected("wall that made the document", true, "delete", Some(Deleted)),
        ),
        Case(
            "three lead to it",
            empty().with_redirects([OTHER, THIRD, FOURTH], PAGE),
            shows(WALL),
            Expected("wall", true, "-", None),
        ),
        Case(
            "three lead to it, which was there before",
            own().with_redirects([OTHER, THIRD, FOURTH], PAGE),
            shows(TEXT),
            Expected("document", false, "-", Some(Unchanged)),
        ),
        Case(
            "three lead to it, which became a document since, 304",
            empty()
                .with_document(PAGE, WALL, NOW - DAY + 1)
                .with_redirects([OTHER, THIRD, FOURTH], PAGE),
            ended(VisitOutcome::NotModified, 304),
            Expected("wall that made the document", true, "delete", Some(Deleted)),
        ),
        Case(
            "two lead to it",
            empty().with_redirects([OTHER, THIRD], PAGE),
            shows(TEXT),
            Expected("document", false, "upsert", Some(New)),
        ),
    ]);
}

/// The same document at two addresses.
#[test]
fn twins_share_one_document() {
    use DocumentChange::{Duplicate, Moved, New, Unchanged};
    check([
        Case(
            "another has the text",
            empty().with_document(OTHER, TEXT, OLD),
            shows(TEXT),
            Expected("elsewhere", false, "-", Some(Duplicate)),
        ),
        Case(
            "another site has the text",
            empty().with_document(OTHER, TEXT, OLD).and(of_another_site),
            shows(TEXT),
            Expected("document", false, "upsert", Some(New)),
        ),
        Case(
            "canonical has it",
            empty().with_document(OTHER, TEXT, OLD),
            names(OTHER, TEXT),
            Expected("elsewhere", false, "-", Some(Duplicate)),
        ),
        Case(
            "canonical says something else",
            own().with_document(OTHER, FOREIGN, OLD),
            names(OTHER, TEXT),
            Expected("document", false, "-", Some(Unchanged)),
        ),
        Case(
            "canonical says something else, at first",
            empty().with_document(OTHER, FOREIGN, OLD),
            names(OTHER, TEXT),
            Expected("elsewhere", false, "-", Some(Duplicate)),
        ),
        Case(
            "canonical has no document",
            empty().add(OTHER, UrlVisit::default()),
            names(OTHER, TEXT),
            Expected("document", false, "upsert", Some(New)),
        ),
        Case(
            "others name it",
            empty()
                .with_document(OTHER, TEXT, OLD)
                .and(|url| url.visit.target = Some(PAGE.to_owned())),
            shows(TEXT),
            Expected("document", false, "upsert", Some(Moved)),
        ),
    ]);
}

/// A page with a document leads elsewhere.
#[test]
fn redirect_is_judged_by_its_target() {
    use DocumentChange::{Duplicate, Unconfirmed};
    check([
        Case(
            "moved",
            own().with_document(OTHER, TEXT, OLD),
            moved(OTHER),
            Expected("elsewhere", false, "delete", Some(Duplicate)),
        ),
        Case(
            "leads to another text",
            own().with_document(OTHER, FOREIGN, OLD),
            moved(OTHER),
            Expected("nothing", false, "-", Some(Unconfirmed)),
        ),
        Case(
            "leads where others lead",
            own()
                .with_document(OTHER, FOREIGN, OLD)
                .with_redirects([THIRD], OTHER),
            moved(OTHER),
            Expected("nothing", true, "-", Some(Unconfirmed)),
        ),
    ]);
}

#[test]
fn targets_of_many_pages_are_checked_again() {
    let shelf = Shelf::default()
        .with_document(PAGE, TEXT, OLD)
        .with_document(OTHER, FOREIGN, OLD);
    let target = shelf.lookup(&uri(OTHER)).unwrap().unwrap().id;
    assert_eq!(judge(&shelf, &moved(OTHER)).recheck, None);
    let shelf = shelf.with_redirects([THIRD], OTHER);
    assert_eq!(judge(&shelf, &moved(OTHER)).recheck, None);
    let shelf = shelf.with_redirects([FOURTH], OTHER);
    let judgement = judge(&shelf, &moved(OTHER));
    assert_eq!(judgement.recheck, Some(target));
    let change = decided(&shelf, moved(OTHER), judgement);
    assert_eq!(change.recheck, Some(target));
}

#[test]
fn document_of_same_words_is_checked_again() {
    let shelf = own().with_document(OTHER, WALL, OLD);
    let twin = shelf.lookup(&uri(OTHER)).unwrap().unwrap().id;
    assert_eq!(judge(&shelf, &shows(WALL)).recheck, Some(twin));
    assert_eq!(judge(&own(), &shows(WALL)).recheck, None);
}

#[test]
fn canonical_page_may_say_it_in_other_words() {
    let shelf = empty().with_document(OTHER, LATER, OLD);
    let primary = judge(&shelf, &names(OTHER, TEXT)).primary.unwrap();
    assert!(!primary.same_text);
    let shelf = empty().with_document(OTHER, TEXT, OLD);
    let primary = judge(&shelf, &names(OTHER, TEXT)).primary.unwrap();
    assert!(primary.same_text);
}

#[test]
fn wall_is_known_to_next_visit() {
    let shelf = Shelf::default()
        .with_document(PAGE, TEXT, OLD)
        .with_answer(OTHER, WALL);
    let mut walls = Walls::default();
    let case = (&shelf.visited(), &shows(WALL));
    Judge::judge(&shelf, &mut walls, case, NOW).unwrap();
    // A page that was never read shows the same, and the store does not know the wall yet.
    let newcomer = record(THIRD, UrlVisit::default());
    let judgement = Judge::judge(&shelf, &mut walls, (&newcomer, &shows(WALL)), NOW).unwrap();
    assert_eq!(word(judgement.shown), "wall");
    assert!(judgement.turned_away);
}

#[test]
fn document_names_its_other_addresses() {
    let alias = |url: &mut UrlRecord| {
        url.visit.documented = false;
        url.visit.alias_of = Some(10);
    };
    let shelf = Shelf::default()
        .with_document(PAGE, TEXT, OLD)
        .with_document(OTHER, TEXT, OLD)
        .and(alias);
    let shelf = shelf.add(THIRD, known(1, 5)).and(alias);
    // The one that says the same stays, the one that says something else goes.
    assert_eq!(judge(&shelf, &shows(TEXT)).addresses, [OTHER]);
    let found = judge(
        &Shelf::default().with_document(OTHER, TEXT, NOW - DAY),
        &shows(TEXT),
    );
    assert_eq!(found.primary.unwrap().addresses, [PAGE]);
}
