//! The learner on the sample web: a site is learned from, is redesigned, is learned again; no page is empty meanwhile.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::{NOW, record};
use crate::daemon::learn::learner::{Learner, Working};
use crate::daemon::learn::templates::{Extracted, Registry, Seen, Templates, pack, unpack};
use taojin_crawl::store::{Store, TemplateStore, UrlRecord, UrlVisit, UsedTemplate};
use taojin_demo::{Article, SampleWeb};
use taojin_extract::page::{Hints, Page};
use taojin_extract::template;
use taojin_extract::{self as extract, Document};
use taojin_uri::CrawlUri;

/// A learner and what feeds it, without a daemon around them.
struct Bench {
    dir: tempfile::TempDir,
    _store: Store,
    working: Working,
    templates: Templates,
    seen: Receiver<Seen>,
}

impl Bench {
    fn new() -> Self {
        Self::with(template::Config::default(), 0)
    }

    fn with(config: template::Config, settled_ms: i64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let registry: Arc<Registry> = Arc::default();
        let (sender, seen) = sync_channel(64);
        let working = Working::open(Learner {
            place: dir.path().into(),
            config,
            registry: Arc::clone(&registry),
            settled_ms,
        })
        .unwrap();
        Self {
            dir,
            _store: store,
            working,
            templates: Templates {
                registry,
                learner: Some(sender),
            },
            seen,
        }
    }

    /// Extracts an article of the sample web as a visit does, and lets the learner see it.
    fn visit(&mut self, web: &SampleWeb, article: &Article) -> Document {
        self.read(web, article).document
    }

    /// The same with the template that it was read with.
    fn read(&mut self, web: &SampleWeb, article: &Article) -> Extracted {
        let response = web.get(&article.url);
        let content_type = response.header("content-type").unwrap();
        let charset = content_type.split_once("charset=");
        let hints = Hints {
            url: CrawlUri::parse(&article.url).ok(),
            charset: charset.map(|(_, label)| label.to_owned()),
            ..Hints::default()
        };
        let page = Page::parse(response.bytes(), hints);
        let context = extract::Context {
            now_ms: Some(NOW),
            site: Some("s"),
            ..extract::Context::default()
        };
        let extracted = self
            .templates
            .extract(&page, &context, &extract::Config::default());
        while let Ok(seen) = self.seen.try_recv() {
            self.working.take([seen]).unwrap();
        }
        extracted
    }

    fn store(&self) -> TemplateStore {
        TemplateStore::open(self.dir.path()).unwrap()
    }
}

/// The sample web, and the articles of its newspaper and of its news agency.
fn sample_web() -> (SampleWeb, Vec<Article>, Vec<Article>) {
    let web = SampleWeb::new(80, NOW);
    let of = |site: &str| {
        let articles = web.articles().into_iter();
        articles.filter(|article| article.site == site).collect()
    };
    let (newspaper, agency) = (of("bohai-energy"), of("huadong-gas"));
    (web, newspaper, agency)
}

/// A site that is still being found out has many kinds of pages; that those come one after the other is no redesign.
#[test]
fn new_site_is_not_redesigned() {
    let (web, newspaper, agency) = sample_web();
    let mut bench = Bench::with(template::Config::default(), 60 * 60 * 1000);
    for article in newspaper[..40].iter().chain(&agency[..30]) {
        bench.visit(&web, article);
    }
    bench.working.save().unwrap();
    let store = bench.store();
    let (templates, fits) = (store.templates().list(Some("s")), store.templates().fits());
    assert!(
        templates.unwrap().len() > 1,
        "the second kind is learned as it was"
    );
    assert_eq!(fits.unwrap()[0].note, None);
}

/// A redesign: the pages of the newspaper look like those of the agency.
#[test]
fn learner_follows_redesign() {
    let (web, newspaper, agency) = sample_web();
    let mut bench = Bench::new();
    for article in &newspaper[..40] {
        assert!(!bench.visit(&web, article).text.is_empty());
    }
    let before = bench.store().templates().list(Some("s")).unwrap();
    assert!(!before.is_empty(), "nothing learned from forty pages");
    assert!(
        bench
            .visit(&web, &newspaper[41])
            .method
            .contains("template")
    );

    let mut learned_after = None;
    for (n, article) in agency[..30].iter().enumerate() {
        let document = bench.visit(&web, article);
        let wanted = &article.text;
        assert!(
            wanted.iter().all(|p| document.text.contains(p.as_str())),
            "page {n} after the redesign: {} instead of {wanted:?}",
            document.text
        );
        let count = bench.store().templates().list(Some("s")).unwrap().len();
        if count > before.len() && learned_after.is_none() {
            learned_after = Some(n + 1);
        }
    }
    assert!(learned_after.is_some_and(|n| n <= 30), "{learned_after:?}");
    assert!(bench.visit(&web, &agency[31]).method.contains("template"));
    bench.working.save().unwrap();
    let fits = bench.store().templates().fits().unwrap();
    let note = fits[0].note.clone().unwrap_or_default();
    assert!(note.contains("redesigned"), "{note}");

    // The old template stays for old pages.
    assert!(
        bench
            .visit(&web, &newspaper[42])
            .method
            .contains("template")
    );
    let after = bench.store().templates().list(Some("s")).unwrap();
    assert!(
        before
            .iter()
            .all(|old| after.iter().any(|t| t.id == old.id && !t.disabled))
    );
}

#[test]
fn learner_keeps_labels() {
    let (web, newspaper, _) = sample_web();
    let mut bench = Bench::new();
    for article in &newspaper[..36] {
        bench.visit(&web, article);
    }
    let mut desk = bench.store();
    let rows = desk.templates().list(Some("s")).unwrap();
    let revision = desk.templates().revision().unwrap();
    for row in &rows {
        assert!(desk.set_disabled(row.id, true, NOW).unwrap());
    }
    assert!(desk.templates().revision().unwrap() > revision);
    assert!(!desk.set_disabled(9_999, true, NOW).unwrap());
    bench.working.reload().unwrap();
    let document = bench.visit(&web, &newspaper[40]);
    assert!(!document.method.contains("template"), "{}", document.method);
    assert!(!document.text.is_empty());
    // Saved pages for looking at were kept, and go with their template.
    let saved = desk.templates().saved_pages(rows[0].id).unwrap();
    assert!(
        !saved.is_empty() && saved.len() <= template::SAMPLES,
        "{}",
        saved.len()
    );
    assert!(desk.delete(rows[0].id).unwrap());
    assert!(desk.templates().saved_pages(rows[0].id).unwrap().is_empty());
}

#[test]
fn documents_wait_for_what_a_person_named() {
    let (web, newspaper, _) = sample_web();
    let mut bench = Bench::new();
    let visited = |template: Option<UsedTemplate>| {
        let visit = UrlVisit {
            documented: true,
            ..UrlVisit::default()
        };
        UrlRecord {
            template,
            ..record("http://a.test/1", visit)
        }
    };
    let first = visited(bench.read(&web, &newspaper[0]).template);
    assert!(!bench.templates.is_waiting(&first), "there is no template");
    for article in &newspaper[1..40] {
        bench.visit(&web, article);
    }
    assert!(!bench.templates.is_waiting(&first), "nobody named a field");
    let used = bench.read(&web, &newspaper[0]).template;
    let id = used.and_then(|used| used.id).expect("a template");
    assert!(!bench.templates.is_waiting(&visited(used)));

    // Named, but not taken up: what is read now lacks the name, and waits as soon as it is.
    let mut desk = bench.store();
    let row = desk.templates().get(id).unwrap().unwrap();
    assert!(desk.replace(id, &row.data, row.changed_ms).unwrap());
    let between = bench.read(&web, &newspaper[1]).template;
    bench.working.reload().unwrap();
    assert!(bench.templates.is_waiting(&visited(between)));
    assert!(
        bench.templates.is_waiting(&first),
        "read without a template"
    );
    let after = bench.read(&web, &newspaper[1]).template;
    assert!(!bench.templates.is_waiting(&visited(after)));

    // Without templates nothing is gained by reading again.
    bench.templates.learner = None;
    assert!(!bench.templates.is_waiting(&visited(between)));
    assert_eq!(bench.read(&web, &newspaper[1]).template, None);
}

#[test]
fn learner_bounds_store() {
    let mut bench = Bench::new();
    let config = template::Config::default();
    let mut desk = bench.store();
    for n in 0..config.max_pending + 30 {
        let page = taojin_crawl::store::TemplatePage {
            id: 0,
            url: format!("http://a.test/{n}"),
            seen_ms: NOW,
            seen: vec![1],
            html: Some(vec![2]),
        };
        let pages = [("s".to_owned(), page)];
        let waiting = desk.add_pages(&pages, config.max_pending, config.samples);
        assert!(waiting.unwrap()["s"] as usize <= config.max_pending);
    }
    let pages = desk.templates().waiting_pages("s").unwrap();
    assert_eq!(pages.len(), config.max_pending);
    assert!(pages.iter().filter(|p| p.html.is_some()).count() <= config.samples);
    // Broken rows are left out, not a failure.
    bench.working.learn_small(NOW, 0).unwrap();
}

/// A store that fails once, here by not being there yet, ends nothing: what comes later is learned from.
#[test]
fn learner_survives_store_error() {
    let dir = tempfile::tempdir().unwrap();
    let registry: Arc<Registry> = Arc::default();
    let learner = Learner {
        place: (&dir.path().join("later")).into(),
        config: template::Config::default(),
        registry,
        settled_ms: 0,
    };
    let (sender, inbox) = sync_channel(64);
    let pause = Duration::from_millis(20);
    let learning = thread::spawn(move || learner.run_with_pause(&inbox, pause));
    thread::sleep(5 * pause);
    assert!(!learning.is_finished(), "one error ended it");
    let store = Store::open(&dir.path().join("later")).unwrap();
    let fits = || Seen::Fits {
        site: "s".to_owned(),
        template: 1,
        distance: 0.1,
        missing: 0.0,
    };
    let until = Instant::now() + Duration::from_secs(20);
    while store.templates().fits().unwrap().is_empty() {
        assert!(Instant::now() < until, "nothing is learned any more");
        sender.send(fits()).unwrap();
        // It saves every two seconds.
        thread::sleep(Duration::from_millis(200));
    }
    sender.send(Seen::Stop).unwrap();
    learning.join().unwrap();
}

#[test]
fn learner_bounds_templates() {
    const MOST: usize = 3;
    let (web, ..) = sample_web();
    let mut bench = Bench::with(
        template::Config {
            max_per_site: MOST,
            ..template::Config::default()
        },
        0,
    );
    // Every design of the sample web, one after the other, as if it were of one site.
    let mut designs = std::collections::BTreeMap::<String, Vec<Article>>::new();
    for article in web.articles() {
        let pages = designs.entry(article.site.clone()).or_default();
        pages.push(article);
    }
    let mut ever = std::collections::BTreeSet::new();
    let mut labelled = None;
    for pages in designs.values().filter(|pages| pages.len() >= 15).take(8) {
        for article in &pages[..15] {
            bench.visit(&web, article);
        }
        bench.working.learn_small(NOW, i64::MIN).unwrap();
        let rows = bench.store().templates().list(Some("s")).unwrap();
        assert!(rows.len() <= MOST, "{} templates", rows.len());
        ever.extend(rows.iter().map(|row| row.id));
        if let (None, Some(row)) = (labelled, rows.first()) {
            // A person checked the first one.
            let mut first: template::Template = unpack(&row.data).unwrap();
            first.labels.insert(1, template::Field::Title);
            bench.store().replace(row.id, &pack(&first), NOW).unwrap();
            bench.working.reload().unwrap();
            labelled = Some(row.id);
        }
    }
    assert!(ever.len() > MOST, "only {} were ever learned", ever.len());
    let rows = bench.store().templates().list(Some("s")).unwrap();
    let kept: Vec<i64> = rows.iter().map(|row| row.id).collect();
    assert!(kept.contains(&labelled.unwrap()), "{kept:?}");
    assert!(kept.contains(ever.last().unwrap()), "{kept:?} of {ever:?}");
}
