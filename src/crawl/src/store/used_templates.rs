//! Which template each document was read with, and which documents wait for what their template has gained since.
//!
//! A page's row keeps the [`UsedTemplate`] of its last reading. A document waits for its fields while that template has
//! changed since, or, where none fitted, while the site has a newer one; [`TemplateVersions`] decides it for one page,
//! [`Templates::awaiting_fields`] counts them.

use std::collections::BTreeMap;

use super::error::Result;
use super::record::{UrlClass, UrlRecord};
use super::sql::Row;
use super::templates::Templates;

/// The template that a page was read with, as it was then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsedTemplate {
    /// Its number; `None` where none of the site's templates fitted.
    pub id: Option<i64>,
    /// When it had last changed, Unix milliseconds; where none fitted, the newest change of the site's, 0 without any.
    pub changed_ms: i64,
}

/// The number that the tables have for a page that no template fitted.
const NO_TEMPLATE: i64 = 0;

impl UsedTemplate {
    /// Whether this template has fields that the document of a page, if it has one, was read without. Of a page that was
    /// read before templates were kept with them is asked when it was last confirmed.
    pub fn has_gained(self, record: &UrlRecord) -> bool {
        let confirmed_ms = record.visit.confirmed_ms.unwrap_or_default();
        let read_ms = record.template.map_or(confirmed_ms, |used| used.changed_ms);
        record.visit.documented && self.changed_ms > read_ms
    }

    /// The values of the columns `template_id` and `template_ms`.
    pub(super) fn columns(used: Option<Self>) -> (Option<i64>, Option<i64>) {
        let id = |used: Self| used.id.unwrap_or(NO_TEMPLATE);
        (used.map(id), used.map(|used| used.changed_ms))
    }

    /// Reads the columns, the first of which is number `first`.
    pub(super) fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Self>> {
        let id: Option<i64> = row.get(first)?;
        let changed_ms: Option<i64> = row.get(first + 1)?;
        Ok(id.zip(changed_ms).map(|(id, changed_ms)| Self {
            id: Some(id).filter(|id| *id != NO_TEMPLATE),
            changed_ms,
        }))
    }
}

/// When each template of a site that is in use last changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemplateVersions {
    changed_ms: BTreeMap<i64, i64>,
}

impl TemplateVersions {
    /// Adds a template.
    pub fn add(&mut self, id: i64, changed_ms: i64) {
        self.changed_ms.insert(id, changed_ms);
    }

    /// What is to be kept of a page that was read with a template, or that none of them fitted.
    pub fn used(&self, id: Option<i64>) -> UsedTemplate {
        let changed_ms = match id {
            Some(id) => self.changed_ms.get(&id).copied(),
            None => self.newest_ms(),
        };
        UsedTemplate {
            id,
            changed_ms: changed_ms.unwrap_or_default(),
        }
    }

    /// Whether the document of a page waits for its fields. A file has no template.
    pub fn is_waiting(&self, record: &UrlRecord) -> bool {
        let is_file = record.template.is_none() && record.visit.class == UrlClass::Attachment;
        let present = self.used(record.template.and_then(|used| used.id));
        !is_file && present.has_gained(record)
    }

    fn newest_ms(&self) -> Option<i64> {
        self.changed_ms.values().copied().max()
    }
}

/// The same as [`TemplateVersions::is_waiting`] for all pages, by site. Cross joins keep SQLite to this order.
pub(super) const AWAITING_FIELDS: &str = "WITH used AS (SELECT site.id AS site_id, site.name, template.id AS template_id, template.changed_ms \
     FROM template JOIN site ON site.name = template.site WHERE template.disabled = 0), \
     newest AS (SELECT site_id, name, max(changed_ms) AS changed_ms FROM used GROUP BY site_id, name) \
     SELECT name, CAST(sum(pages) AS BIGINT) FROM (\
     SELECT used.name, count(*) AS pages FROM used CROSS JOIN url WHERE url.site_id = used.site_id AND url.documented = 1 \
     AND url.template_id = used.template_id AND url.template_ms < used.changed_ms GROUP BY used.name \
     UNION ALL SELECT newest.name, count(*) FROM newest CROSS JOIN url WHERE url.site_id = newest.site_id AND url.documented = 1 \
     AND url.template_id = 0 AND url.template_ms < newest.changed_ms GROUP BY newest.name \
     UNION ALL SELECT newest.name, count(*) FROM newest CROSS JOIN url WHERE url.site_id = newest.site_id AND url.documented = 1 \
     AND url.template_id IS NULL AND url.class <> ?1 AND coalesce(url.confirmed_ms, 0) < newest.changed_ms GROUP BY newest.name\
     ) AS counts GROUP BY name ORDER BY name";

impl Templates<'_> {
    /// By site: the number of documents that wait for their fields, of sites where any does.
    ///
    /// Seeks by an index in the rows that wait, and reads all documents of templated sites that a program of before read.
    pub fn awaiting_fields(&self) -> Result<Vec<(String, i64)>> {
        self.0.rows(AWAITING_FIELDS, [UrlClass::Attachment], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
    }
}
