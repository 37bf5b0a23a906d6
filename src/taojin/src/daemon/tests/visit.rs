//! A visit as a value: how it ended, and what is said of it.

use super::*;
use crate::daemon::crawl::visit::article::MissingPart;
use crate::daemon::crawl::visit::{
    Answer, Content, FileRead, Held, ListRead, Unfetched, Unindexed, Visit,
};
use taojin_attachments::Unreadable;
use taojin_crawl::fetch::{Refused, Rule, Trouble};
use taojin_crawl::schedule::Cut;
use taojin_crawl::scope::Refusal;
use taojin_crawl::{Failure, Problem};
use taojin_extract::Kind;

fn holds(content: Content) -> Visit {
    answered(Answer {
        content,
        ..Answer::unused(fetched(VisitOutcome::Page, 200))
    })
}

fn failed(failure: Failure, wire_bytes: u64) -> Fetched {
    Fetched {
        failure: Some(failure),
        wire_bytes,
        ..fetched(failure.outcome(), 200)
    }
}

/// A page of which only the beginning came.
fn shortened(fetched: Fetched) -> Visit {
    answered(Answer {
        fetched,
        ..page_of(Held::None, 1)
    })
}

fn list(cut: Option<Cut>) -> Visit {
    holds(Content::List(ListRead {
        digest: 1,
        cut,
        max_bytes: 52_428_800,
    }))
}

fn lacks(missing: MissingPart) -> Visit {
    let mut answer = page_of(Held::None, 1);
    if let Content::Page(page) = &mut answer.content {
        page.missing = Some(missing);
    }
    answered(answer)
}

fn check(cases: impl IntoIterator<Item = (Visit, VisitOutcome, Option<Kind>, &'static str)>) {
    for (visit, outcome, kind, reason) in cases {
        let found = (visit.outcome(), visit.kind());
        let said = visit.reason().unwrap_or_default();
        assert_eq!((found, said.as_str()), ((outcome, kind), reason));
    }
}

#[test]
fn content_decides_outcome() {
    use VisitOutcome::{Busy, NotModified, Page, Redirect, Unreachable, Unwanted};
    let article = Some(Kind::Article);
    check([
        (holds(Content::EmptyBody), Page, None, "empty body"),
        (
            holds(Content::Binary),
            Unwanted,
            None,
            "content-type: no text",
        ),
        (
            holds(Content::TooLarge),
            Unwanted,
            None,
            "larger than fetch.max_attachment_bytes, or than max_attachment_bytes of its site",
        ),
        (moved("http://a.example/2.html"), Redirect, None, ""),
        (ended(NotModified, 304), NotModified, None, ""),
        (ended(Busy, 503), Busy, None, "HTTP 503"),
        (
            answered(Answer::unused(failed(Failure::Truncated, 7))),
            Unreachable,
            None,
            "truncated: the body broke off after 7 bytes",
        ),
        (
            answered(Answer::unused(failed(Failure::Dns, 0))),
            Unreachable,
            None,
            "dns",
        ),
        (shortened(fetched(Page, 200)), Page, article, ""),
        (
            shortened(failed(Failure::TooLarge, 9)),
            Page,
            article,
            "too-large: cut off at the limit",
        ),
        (
            shortened(failed(Failure::Truncated, 9)),
            Page,
            article,
            "truncated: the body broke off after 9 bytes",
        ),
        (list(None), Page, Some(Kind::Hub), ""),
        (
            list(Some(Cut::Entries)),
            Page,
            Some(Kind::Hub),
            "sitemap read in part: it has more than 50,000 entries",
        ),
        (
            list(Some(Cut::Bytes)),
            Page,
            Some(Kind::Hub),
            "sitemap read in part: fetch.max_sitemap_bytes = 52428800",
        ),
        (
            list(Some(Cut::Damaged)),
            Page,
            Some(Kind::Hub),
            "sitemap read in part: it is damaged from there on",
        ),
    ]);
    assert_eq!(list(Some(Cut::Bytes)).problem(), None);
    assert!(ended(Busy, 503).problem().is_some());
}

#[test]
fn missing_pages_are_told() {
    let uri = || uri("http://a.example/1_3.html");
    for (missing, wanted) in [
        (
            MissingPart::Failed {
                number: 3,
                uri: uri(),
                why: "HTTP 404".to_owned(),
            },
            "page 3 of the article, http://a.example/1_3.html: HTTP 404",
        ),
        (
            MissingPart::NothingNew {
                number: 3,
                uri: uri(),
            },
            "page 3 of the article left out, http://a.example/1_3.html: it says nothing new",
        ),
        (
            MissingPart::TooMany { from: 11, most: 10 },
            "pages of the article left out from page 11 on: crawl.article_pages = 10",
        ),
        (
            MissingPart::TooLong { from: 4 },
            "pages of the article left out from page 4 on: its text has a megabyte",
        ),
    ] {
        check([(
            lacks(missing.clone()),
            VisitOutcome::Page,
            Some(Kind::Article),
            wanted,
        )]);
        let visit = Visit::Unfetched(Unfetched::PagesMissing {
            missing,
            further: None,
        });
        check([(visit, VisitOutcome::Unreachable, None, wanted)]);
    }
}

#[test]
fn refusals_are_told() {
    use VisitOutcome::{Disallowed, RobotsUnreachable, Unwanted};
    let rule = Rule {
        allow: false,
        line: 4,
        pattern: "/cms/".to_owned(),
    };
    let away = Trouble {
        outcome: VisitOutcome::ServerError,
        failure: None,
        status: Some(503),
        detail: "HTTP 503".to_owned(),
    };
    let refused = |refused| Visit::Unfetched(Unfetched::Refused(refused));
    let robots = refused(Refused::RobotsAway(away));
    let problem = robots.problem().map(|problem| problem.to_string());
    assert_eq!(problem.as_deref(), Some("robots.txt: HTTP 503"));
    check([
        (
            refused(Refused::Robots(rule)),
            Disallowed,
            None,
            "robots.txt line 4: Disallow: /cms/",
        ),
        (robots, RobotsUnreachable, None, "robots.txt: HTTP 503"),
        (
            refused(Refused::OnTheWay(Refusal::Host)),
            Unwanted,
            None,
            "host of no site (scope.hosts)",
        ),
        (
            refused(Refused::Later(NOW)),
            Unwanted,
            None,
            "leads to a host that asked for a long pause",
        ),
        (
            Visit::Unfetched(Unfetched::AttachmentsOff),
            Unwanted,
            None,
            "attachments are switched off (crawl.attachments, attachments of the site)",
        ),
        (
            Visit::Unfetched(Unfetched::ProgramFailed),
            Unwanted,
            None,
            "failed on this page",
        ),
        (
            Visit::Unfetched(Unfetched::NotArchived),
            Unwanted,
            None,
            "archive: no answer of a server",
        ),
    ]);
}

#[test]
fn unindexed_is_told() {
    let part = Unindexed::PartOf("http://a.example/1.html".to_owned());
    for (why, wanted) in [
        (
            Unindexed::HeaderNoindex,
            "asks not to be indexed (X-Robots-Tag: noindex)",
        ),
        (
            Unindexed::MetaNoindex,
            "asks not to be indexed (meta robots: noindex)",
        ),
        (Unindexed::ListPage, "judged to be a list page"),
        (
            Unindexed::ErrorPage,
            "judged to be an error page by what its title or text says",
        ),
        (Unindexed::NoText, "no main text found"),
        (
            Unindexed::Unclear,
            "judged to be neither an article nor a list: its text is not clear enough",
        ),
        (Unindexed::Endless, "the text has no end"),
        (
            part,
            "its text stands in the document of the article's first page, http://a.example/1.html",
        ),
        (
            Unindexed::Off,
            "documents are switched off (crawl.documents = false)",
        ),
    ] {
        assert_eq!(why.to_string(), wanted);
    }
    let why = Unreadable::NotRead("an attachment".to_owned());
    let wanted = format!("{}: the file {why}", why.as_str());
    let visit = holds(Content::File(FileRead {
        text_cut: false,
        reading_ms: 0,
        document: Held::None,
        unindexed: Some(Unindexed::File(why)),
        digest: 1,
    }));
    assert_eq!(visit.unindexed().unwrap().to_string(), wanted);
    assert_eq!(visit.kind(), Some(Kind::Attachment));
    assert_eq!(visit.problem(), None::<Problem>);
}
