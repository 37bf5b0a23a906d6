//! Stores templates of sites and the pages they are learned from, as bytes that only the learner understands.
//!
//! [`TemplateStore`] writes next to the daemon: its transactions are small, SQLite lets them wait for each other, and each
//! raises a number that tells everybody else to read again. So a person can label a region while the daemon crawls.

use std::collections::{BTreeMap, HashSet};

use super::sql::{self, Connection, NONE, Params, Row, params};

use super::error::Result;
use super::keys::meta;
use super::open::Reader;
use super::place::StorePlace;

const TEMPLATE: &str = "id, site, version, learned_ms, pages, disabled, data, changed_ms";

/// The change of a template of which no person said anything yet: no document waits for it.
const NO_FIELDS: i64 = 0;
/// The time ?2, or one later than that of the last change.
const LATER: &str = "CASE WHEN changed_ms >= ?2 THEN changed_ms + 1 ELSE ?2 END";

/// One template as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateRow {
    /// Its number, for commands and addresses.
    pub id: i64,
    /// Name of its site.
    pub site: String,
    /// Rises with each template of the site.
    pub version: i64,
    /// When it was learned, Unix milliseconds.
    pub learned_ms: i64,
    /// Articles of its layout when it was learned. Copies of one another are among them; what was learned
    /// counts them once.
    pub pages: i64,
    /// Not used for extraction.
    pub disabled: bool,
    /// What was learned.
    pub data: Vec<u8>,
    /// When a person last named or labelled something of it or took it into use again, Unix milliseconds; 0 before that.
    /// Rises with every such change, whatever the clock says.
    pub changed_ms: i64,
}

/// A page that waits to be learned from, or a saved one of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplatePage {
    /// Row number; 0 for a new one.
    pub id: i64,
    /// Its address.
    pub url: String,
    /// When it was fetched, Unix milliseconds.
    pub seen_ms: i64,
    /// What was observed of it.
    pub seen: Vec<u8>,
    /// The page itself, if it is one of the few that are kept for looking at.
    pub html: Option<Vec<u8>>,
}

/// How the pages of a site fit its templates.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TemplateFit {
    /// Name of the site.
    pub site: String,
    /// Fetches of articles that had a template. One article counts each time that it is fetched.
    pub matched: i64,
    /// Fetches of articles that had none; those that a template is learned from are among them.
    pub unmatched: i64,
    /// What the operator should know: a redesign, a template that no longer fits.
    pub note: Option<String>,
    /// Since when, Unix milliseconds.
    pub note_ms: Option<i64>,
}

/// What the store has of templates, to be read.
#[derive(Debug, Clone, Copy)]
pub struct Templates<'a>(pub(super) &'a Reader);

impl Templates<'_> {
    /// Templates of a site, or of all, in order of site and version.
    pub fn list(&self, site: Option<&str>) -> Result<Vec<TemplateRow>> {
        let sql = format!(
            "SELECT {TEMPLATE} FROM template WHERE CAST(?1 AS TEXT) IS NULL OR site = ?1 ORDER BY site, version"
        );
        self.0.rows(&sql, [site], template)
    }

    /// One template.
    pub fn get(&self, id: i64) -> Result<Option<TemplateRow>> {
        let sql = format!("SELECT {TEMPLATE} FROM template WHERE id = ?1");
        self.0.row(&sql, [id], template)
    }

    /// Pages of a site that wait to be learned from, oldest first.
    pub fn waiting_pages(&self, site: &str) -> Result<Vec<TemplatePage>> {
        self.pages_where("site = ?1 AND template_id IS NULL", params![site])
    }

    /// Saved pages of a template, oldest first.
    pub fn saved_pages(&self, id: i64) -> Result<Vec<TemplatePage>> {
        self.pages_where("template_id = ?1 AND html IS NOT NULL", params![id])
    }

    /// Number of pages that wait, by site.
    pub fn waiting_counts(&self) -> Result<Vec<(String, i64)>> {
        let sql = "SELECT site, count(*) FROM template_page WHERE template_id IS NULL GROUP BY site ORDER BY site";
        self.0.rows(sql, NONE, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// By site: the number of templates in use, and of articles that all its templates were learned from.
    pub fn counts(&self) -> Result<Vec<(String, i64, i64)>> {
        let sql = "SELECT site, count(*) FILTER (WHERE disabled = 0), CAST(sum(pages) AS BIGINT) FROM template GROUP BY site ORDER BY site";
        self.0
            .rows(sql, NONE, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    }

    /// How the pages of each site fit.
    pub fn fits(&self) -> Result<Vec<TemplateFit>> {
        let sql = "SELECT site, matched, unmatched, note, note_ms FROM template_fit ORDER BY site";
        let fit = |row: &Row<'_>| {
            Ok(TemplateFit {
                site: row.get(0)?,
                matched: row.get(1)?,
                unmatched: row.get(2)?,
                note: row.get(3)?,
                note_ms: row.get(4)?,
            })
        };
        self.0.rows(sql, NONE, fit)
    }

    /// A number that rises with every change of templates.
    pub fn revision(&self) -> Result<i64> {
        meta(&self.0.conn, "template_revision")
    }

    fn pages_where(&self, condition: &str, params: impl Params) -> Result<Vec<TemplatePage>> {
        let sql = format!(
            "SELECT id, url, seen_ms, seen, html FROM template_page WHERE {condition} ORDER BY id"
        );
        let page = |row: &Row<'_>| {
            Ok(TemplatePage {
                id: row.get(0)?,
                url: row.get(1)?,
                seen_ms: row.get(2)?,
                seen: row.get(3)?,
                html: row.get(4)?,
            })
        };
        self.0.rows(&sql, params, page)
    }
}

fn template(row: &Row<'_>) -> rusqlite::Result<TemplateRow> {
    Ok(TemplateRow {
        id: row.get(0)?,
        site: row.get(1)?,
        version: row.get(2)?,
        learned_ms: row.get(3)?,
        pages: row.get(4)?,
        disabled: row.get(5)?,
        data: row.get(6)?,
        changed_ms: row.get(7)?,
    })
}

/// A new template and the waiting pages that belong to it; of these, `saved` stay for looking at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTemplate {
    /// Articles of its layout, copies of one another included.
    pub pages: i64,
    /// A person named or labelled fields of it, so that documents of before wait for them.
    pub has_fields: bool,
    /// What was learned.
    pub data: Vec<u8>,
    /// Rows of its pages that are done with.
    pub learned: Vec<i64>,
    /// Rows of its pages that are kept.
    pub saved: Vec<i64>,
}

/// The writing side of templates. Any number may stand next to the daemon.
#[derive(Debug)]
pub struct TemplateStore {
    reader: Reader,
}

impl std::ops::Deref for TemplateStore {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}

impl TemplateStore {
    /// Opens the templates of the database in `dir`, which must be there and of this version.
    pub fn open(place: impl Into<StorePlace>) -> Result<Self> {
        let reader = Reader::open_to_write(&place.into())?;
        Ok(Self { reader })
    }

    /// Adds pages that wait, each with its site, in one transaction; the oldest ones of a site go when there are more than `most`, and
    /// only the first `samples` of them keep their HTML. Gives how many wait then, for each of these sites.
    pub fn add_pages(
        &mut self,
        pages: &[(String, TemplatePage)],
        most: usize,
        samples: usize,
    ) -> Result<BTreeMap<String, i64>> {
        let mut by_site: BTreeMap<&str, Vec<&TemplatePage>> = BTreeMap::new();
        for (site, page) in pages {
            by_site.entry(site).or_default().push(page);
        }
        self.write(|tx| {
            let of_site = "FROM template_page WHERE site = ?1 AND template_id IS NULL";
            let sql = "SELECT url FROM takedown";
            let taken_down = tx.rows(sql, NONE, |row| row.get::<String>(0))?;
            let taken_down = HashSet::<String>::from_iter(taken_down);
            let mut waiting = BTreeMap::new();
            for (site, pages) in by_site {
                let sql = format!("SELECT count(*) {of_site} AND html IS NOT NULL");
                let mut saved: i64 = tx.query_row(&sql, [site], |row| row.get(0))?;
                let mut rows: Vec<[sql::Value; 5]> = Vec::with_capacity(pages.len());
                for page in pages {
                    if taken_down.contains(&page.url) {
                        continue;
                    }
                    let html = page.html.as_ref().filter(|_| saved < sql::limit(samples));
                    saved += i64::from(html.is_some());
                    rows.push([
                        site.to_owned().into(),
                        page.url.clone().into(),
                        page.seen_ms.into(),
                        page.seen.clone().into(),
                        html.cloned().into(),
                    ]);
                }
                let insert = "INSERT INTO template_page (site, url, seen_ms, seen, html)";
                tx.put_rows(insert, "", &rows)?;
                // The latest of each address, the latest of all.
                tx.put(&format!(
                    "DELETE {of_site} AND id NOT IN (SELECT max(id) {of_site} GROUP BY url ORDER BY max(id) DESC LIMIT ?2)"
                ), params![site, sql::limit(most)])?;
                let sql = format!("SELECT count(*) {of_site}");
                let count = tx.query_row(&sql, [site], |row| row.get(0))?;
                waiting.insert(site.to_owned(), count);
            }
            Ok(waiting)
        })
    }

    /// Adds templates of a site; gives their numbers.
    pub fn add(&mut self, site: &str, templates: &[NewTemplate], now_ms: i64) -> Result<Vec<i64>> {
        self.write(|tx| {
            let mut ids = Vec::with_capacity(templates.len());
            for new in templates {
                let changed_ms = if new.has_fields { now_ms } else { NO_FIELDS };
                let id: i64 = tx.query_row(
                    "INSERT INTO template (site, version, learned_ms, pages, data, changed_ms) VALUES (?1, \
                     (SELECT coalesce(max(version), 0) + 1 FROM template WHERE site = ?1), ?2, ?3, ?4, ?5) RETURNING id",
                    params![site, now_ms, new.pages, new.data, changed_ms],
                    |row| row.get(0),
                )?;
                for page in &new.saved {
                    tx.execute(
                        "UPDATE template_page SET template_id = ?2 WHERE id = ?1",
                        [*page, id],
                    )?;
                }
                for page in &new.learned {
                    tx.execute("DELETE FROM template_page WHERE id = ?1", [*page])?;
                }
                ids.push(id);
            }
            raise(tx)?;
            Ok(ids)
        })
    }

    /// Replaces what a template says; false if there is none of this number. Documents that were read with it wait for
    /// their fields from now on.
    pub fn replace(&mut self, id: i64, data: &[u8], now_ms: i64) -> Result<bool> {
        self.change(
            &format!("UPDATE template SET data = ?3, changed_ms = {LATER} WHERE id = ?1"),
            params![id, now_ms, data],
        )
    }

    /// Takes a template out of use, or back into it as if it had changed; false if there is none of this number.
    pub fn set_disabled(&mut self, id: i64, disabled: bool, now_ms: i64) -> Result<bool> {
        if disabled {
            return self.change("UPDATE template SET disabled = 1 WHERE id = ?1", [id]);
        }
        self.change(
            &format!(
                "UPDATE template SET disabled = 0, \
                 changed_ms = CASE WHEN changed_ms = {NO_FIELDS} THEN {NO_FIELDS} ELSE {LATER} END WHERE id = ?1"
            ),
            [id, now_ms],
        )
    }

    /// Deletes a template with its saved pages; false if there is none of this number.
    pub fn delete(&mut self, id: i64) -> Result<bool> {
        self.write(|tx| {
            tx.execute("DELETE FROM template_page WHERE template_id = ?1", [id])?;
            let found = tx.execute("DELETE FROM template WHERE id = ?1", [id])?;
            raise(tx)?;
            Ok(found > 0)
        })
    }

    /// Writes how the pages of sites fit.
    pub fn set_fits(&mut self, fits: &[TemplateFit]) -> Result<()> {
        self.write(|tx| {
            for fit in fits {
                tx.execute(
                    "INSERT INTO template_fit (site, matched, unmatched, note, note_ms) VALUES (?1, ?2, ?3, ?4, ?5) \
                     ON CONFLICT (site) DO UPDATE SET matched = excluded.matched, unmatched = excluded.unmatched, \
                     note = excluded.note, note_ms = excluded.note_ms",
                    params![fit.site, fit.matched, fit.unmatched, fit.note, fit.note_ms],
                )?;
            }
            Ok(())
        })
    }

    fn change(&mut self, sql: &str, params: impl Params) -> Result<bool> {
        self.write(|tx| {
            let found = tx.execute(sql, params)?;
            raise(tx)?;
            Ok(found > 0)
        })
    }
}

pub(super) fn raise(tx: &Connection) -> Result<usize> {
    tx.execute(
        "INSERT INTO meta (name, value) VALUES ('template_revision', 1) \
         ON CONFLICT (name) DO UPDATE SET value = meta.value + 1",
        NONE,
    )
}
