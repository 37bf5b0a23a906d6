//! Which documents wait for their fields: the count and the decision about one page are the same.

use super::*;
use crate::store::used_templates::AWAITING_FIELDS;

/// A document and whether it waits once template 1 has changed at 100 and template 2 at 200.
struct Case {
    name: &'static str,
    template: Option<UsedTemplate>,
    class: UrlClass,
    confirmed_ms: Option<i64>,
    documented: bool,
    waits: bool,
}

const READ: Case = Case {
    name: "",
    template: None,
    class: UrlClass::Article,
    confirmed_ms: Some(150),
    documented: true,
    waits: false,
};

const fn used(id: Option<i64>, changed_ms: i64) -> Option<UsedTemplate> {
    Some(UsedTemplate { id, changed_ms })
}

const CASES: [Case; 11] = [
    Case {
        name: "its template as it is",
        template: used(Some(1), 100),
        ..READ
    },
    Case {
        name: "its template before a person named a field",
        template: used(Some(1), 99),
        waits: true,
        ..READ
    },
    Case {
        name: "another template has changed",
        template: used(Some(1), 100),
        confirmed_ms: None,
        ..READ
    },
    Case {
        name: "its template is gone",
        template: used(Some(9), 1),
        ..READ
    },
    Case {
        name: "its template is not in use",
        template: used(Some(3), 1),
        ..READ
    },
    Case {
        name: "none fitted, and there is a newer one",
        template: used(None, 100),
        waits: true,
        ..READ
    },
    Case {
        name: "none fitted, and none is newer",
        template: used(None, 200),
        ..READ
    },
    Case {
        name: "read by a program that did not keep it, before the change",
        waits: true,
        ..READ
    },
    Case {
        name: "the same, confirmed since",
        confirmed_ms: Some(200),
        ..READ
    },
    Case {
        name: "a file",
        class: UrlClass::Attachment,
        ..READ
    },
    Case {
        name: "no document",
        template: used(None, 0),
        documented: false,
        ..READ
    },
];

fn naming_fields() -> NewTemplate {
    NewTemplate {
        has_fields: true,
        ..NewTemplate::default()
    }
}

/// Templates 1 and 2 of the site in use, 3 not, and a template of another site.
fn add_templates(store: &Store, dir: &Path) -> TemplateVersions {
    let mut templates = TemplateStore::open(dir).unwrap();
    for (site, now_ms) in [("s", 50), ("s", 200), ("s", 300), ("other", 900)] {
        templates.add(site, &[naming_fields()], now_ms).unwrap();
    }
    assert!(templates.replace(1, b"named", 100).unwrap());
    assert!(templates.set_disabled(3, true, 400).unwrap());
    let mut versions = TemplateVersions::default();
    for row in store.templates().list(Some("s")).unwrap() {
        if !row.disabled {
            versions.add(row.id, row.changed_ms);
        }
    }
    versions
}

#[test]
fn documents_wait_as_counted() {
    for case in &CASES {
        let (dir, mut store) = new_store();
        offer(&mut store, &["http://a.cn/1"]);
        let versions = add_templates(&store, dir.path());
        let mut page = visited(&store, "http://a.cn/1", "http://a.cn/1", says("{}"));
        page.visit.class = case.class;
        page.visit.confirmed_ms = case.confirmed_ms;
        page.visit.documented = case.documented;
        page.template = case.template;
        let mut unread = page.clone();
        unread.template = None;
        // A visit that did not read the document leaves what was kept.
        for page in [page, unread] {
            commit_pages(&mut store, vec![page]);
            let record = known(&store, "http://a.cn/1");
            assert_eq!(record.template, case.template, "{}", case.name);
            assert_eq!(versions.is_waiting(&record), case.waits, "{}", case.name);
            let counted = store.templates().awaiting_fields().unwrap();
            let wanted = if case.waits {
                vec![("s".to_owned(), 1)]
            } else {
                vec![]
            };
            assert_eq!(counted, wanted, "{}", case.name);
        }
    }
}

#[test]
fn template_changes_are_later_than_the_last() {
    let (dir, store) = new_store();
    let mut templates = TemplateStore::open(dir.path()).unwrap();
    templates.add("s", &[naming_fields()], 500).unwrap();
    let changed_ms = |store: &Store| store.templates().get(1).unwrap().unwrap().changed_ms;
    assert_eq!(changed_ms(&store), 500);
    // The clock was set back.
    templates.replace(1, b"", 300).unwrap();
    assert_eq!(changed_ms(&store), 501);
    templates.set_disabled(1, true, 900).unwrap();
    assert_eq!(changed_ms(&store), 501, "nothing to wait for");
    templates.set_disabled(1, false, 900).unwrap();
    assert_eq!(
        changed_ms(&store),
        900,
        "pages were read without it meanwhile"
    );
}

#[test]
fn nothing_waits_for_a_template_without_fields() {
    let (dir, mut store) = new_store();
    offer(&mut store, &["http://a.cn/1"]);
    let mut page = visited(&store, "http://a.cn/1", "http://a.cn/1", says("{}"));
    page.template = used(None, 0);
    commit_pages(&mut store, vec![page]);
    let mut templates = TemplateStore::open(dir.path()).unwrap();
    templates.add("s", &[NewTemplate::default()], 500).unwrap();
    let waiting = |store: &Store| store.templates().awaiting_fields().unwrap();
    assert_eq!(waiting(&store), []);
    templates.set_disabled(1, true, 600).unwrap();
    templates.set_disabled(1, false, 700).unwrap();
    assert_eq!(waiting(&store), []);
    templates.replace(1, b"named", 800).unwrap();
    assert_eq!(waiting(&store), [("s".to_owned(), 1)]);
}

#[test]
fn awaiting_fields_seek_by_index() {
    let (_dir, store) = new_store();
    let sql = format!("EXPLAIN QUERY PLAN {AWAITING_FIELDS}");
    let plan: Vec<String> = {
        let mut statement = file(&store).prepare(&sql).unwrap();
        let rows = statement.query_map([6], |row| row.get::<_, String>(3));
        rows.unwrap().map(Result::unwrap).collect()
    };
    let of_urls = plan.iter().filter(|step| step.contains(" url "));
    let seeks: Vec<&String> = of_urls.collect();
    assert_eq!(seeks.len(), 3, "{plan:#?}");
    for step in seeks {
        assert!(
            step.contains("url_template (site_id=? AND template_id=?"),
            "{plan:#?}"
        );
    }
}

#[test]
fn store_of_before_gains_template_columns() {
    let (dir, mut store) = new_store();
    offer(&mut store, &["http://a.cn/1"]);
    let mut templates = TemplateStore::open(dir.path()).unwrap();
    templates.add("s", &[naming_fields()], NOW + 1).unwrap();
    let page = visited(&store, "http://a.cn/1", "http://a.cn/1", says("{}"));
    commit_pages(&mut store, vec![page]);
    store
        .conn
        .run_script(
            "DROP INDEX url_template; ALTER TABLE url DROP COLUMN template_id; \
             ALTER TABLE url DROP COLUMN template_ms; ALTER TABLE template DROP COLUMN changed_ms",
        )
        .unwrap();
    drop((store, templates));
    let mut store = Store::open(dir.path()).unwrap();
    let waiting = |store: &Store| store.templates().awaiting_fields().unwrap();
    assert_eq!(
        waiting(&store),
        [("s".to_owned(), 1)],
        "learned since it was read"
    );
    let mut page = visited(&store, "http://a.cn/1", "http://a.cn/1", says("{}"));
    page.template = used(Some(1), NOW + 1);
    commit_pages(&mut store, vec![page]);
    assert_eq!(waiting(&store), []);
}
