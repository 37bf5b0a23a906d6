//! Pages that share a document: the same text at several addresses, or an address and the canonical one that it
//! names. In: row numbers, digests, addresses. Out: who has the document, and who stands for it. When a document goes
//! or says something else, the pages that stood for it are fetched again, whole: none is lost by a wrong guess.

use super::sql::{self, Connection, ToSql, params};

use super::commit::Before;
use super::error::Result;
use super::open::Reader;
use super::record::{DueUrl, HELD_MS, HostId, UrlId};
use taojin_uri::CrawlUri;

/// Pages that are looked at for one address; a site with more has something wrong with its canonical addresses.
const MAX_PAGES: i64 = 64;

/// Pages with a document that name an address (`?2`) as their canonical one.
const NAMING: &str = "SELECT id FROM url WHERE target = ?2 AND documented = 1 AND target IS NOT NULL ORDER BY id LIMIT ?1";

/// Pages of a site (`?3`) whose documents have one digest (`?4`).
const ALIKE: &str = "SELECT id FROM url WHERE site_id = (SELECT id FROM site WHERE name = ?3) AND content = ?4 \
     AND documented = 1 AND content IS NOT NULL ORDER BY id LIMIT ?1";

/// Pages that a document may have to do with, each list in order of row numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Relatives {
    /// With a document, and they name its address as their canonical one.
    pub naming: Vec<UrlId>,
    /// Of its site, and their documents have the same digest.
    pub alike: Vec<UrlId>,
}

/// What several pages of a site show instead of their documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wall {
    /// Name of the site.
    pub site: String,
    /// Digest of the words.
    pub answer: u64,
    /// When the first of them showed it, Unix milliseconds.
    pub since_ms: i64,
}

impl Reader {
    /// What a document of `site` with this digest, at this address, may have to do with.
    pub fn relatives(&self, uri: &CrawlUri, site: &str, content: u64) -> Result<Relatives> {
        let sql = format!(
            "SELECT 0, id FROM ({NAMING}) AS naming UNION ALL SELECT 1, id FROM ({ALIKE}) AS alike ORDER BY 1, 2"
        );
        let values = params![MAX_PAGES, uri.as_str(), site, content.cast_signed()];
        let found = self.rows(&sql, values, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (naming, alike): (Vec<_>, Vec<_>) = found.into_iter().partition(|(of, _)| *of == 0);
        let ids = |found: Vec<(i64, UrlId)>| found.into_iter().map(|(_, id)| id).collect();
        Ok(Relatives {
            naming: ids(naming),
            alike: ids(alike),
        })
    }

    /// Pages with a document that name `uri` as their canonical address.
    pub fn naming(&self, uri: &CrawlUri) -> Result<Vec<UrlId>> {
        self.ids(NAMING, params![MAX_PAGES, uri.as_str()])
    }

    /// Pages that the document of `id` stands for as well.
    pub fn aliases(&self, id: UrlId) -> Result<Vec<UrlId>> {
        self.ids(
            "SELECT id FROM url WHERE alias_of = ?1 AND alias_of IS NOT NULL ORDER BY id LIMIT ?2",
            params![id, MAX_PAGES],
        )
    }

    /// Pages of `site` that showed a page of these words instead of their document, and since when the first of them did, Unix
    /// milliseconds; `not` is not counted.
    pub fn answering(&self, site: &str, answer: u64, not: UrlId) -> Result<(i64, Option<i64>)> {
        let found = self.rows(
            "SELECT count(*), min(not_found_since_ms) FROM url \
             WHERE site_id = (SELECT id FROM site WHERE name = ?1) AND answer = ?2 AND answer IS NOT NULL AND id <> ?3",
            params![site, answer.cast_signed(), not],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        Ok(found.first().copied().unwrap_or_default())
    }

    /// What several pages of a site show instead of their documents: at most so many.
    pub fn walls(&self, limit: usize) -> Result<Vec<Wall>> {
        self.rows(
            "SELECT site.name, answer, min(not_found_since_ms) FROM url JOIN site ON site.id = site_id \
             WHERE answer IS NOT NULL AND not_found_since_ms IS NOT NULL GROUP BY site.name, answer HAVING count(*) > 1 LIMIT ?1",
            params![sql::limit(limit)],
            |row| {
                Ok(Wall {
                    site: row.get(0)?,
                    answer: row.get::<i64>(1)?.cast_unsigned(),
                    since_ms: row.get(2)?,
                })
            },
        )
    }

    fn ids(&self, sql: &str, values: &[&dyn ToSql]) -> Result<Vec<UrlId>> {
        self.rows(sql, values, |row| row.get(0))
    }
}

/// What a page was before it gave way.
pub(super) struct GaveWay {
    pub(super) fingerprint: u64,
    pub(super) before: Before,
}

/// Page `id` no longer has a document of its own: it and all that stood for it stand for `primary` now. None if it had
/// no document.
pub(super) fn give_way(conn: &Connection, id: UrlId, primary: UrlId) -> Result<Option<GaveWay>> {
    let before = conn.row(
        &format!(
            "SELECT {}, hash FROM url WHERE id = ?1 AND documented = 1",
            Before::COLUMNS
        ),
        [id],
        |row| {
            Ok(GaveWay {
                fingerprint: row.get::<i64>(6)?.cast_unsigned(),
                before: Before::read(row)?,
            })
        },
    )?;
    if before.is_some() {
        // The digest of its text goes as well: it stands for the other by its own word, whatever that says.
        conn.execute(
            "UPDATE url SET documented = 0, content = NULL, alias_of = ?2 WHERE id = ?1",
            [id, primary],
        )?;
        conn.execute("UPDATE url SET alias_of = ?2, content = NULL WHERE alias_of = ?1 AND alias_of IS NOT NULL AND id <> ?2", [id, primary])?;
    }
    Ok(before)
}

/// The document of `primary` is gone, or no longer has the digest `content`: pages that stood for it are due at
/// `now_ms`, unconditionally. `all`: also those that only named it as their canonical address.
pub(super) fn release(
    conn: &Connection,
    primary: UrlId,
    content: Option<i64>,
    all: bool,
    now_ms: i64,
) -> Result<Vec<(HostId, DueUrl)>> {
    conn.rows("UPDATE url SET etag = NULL, last_modified = NULL, digest = NULL, content = NULL, alias_of = NULL, \
         target = NULL, due_ms = CASE WHEN due_ms >= ?5 THEN due_ms ELSE ?4 END \
         WHERE alias_of = ?1 AND alias_of IS NOT NULL AND (?3 OR content = ?2) \
         RETURNING host_id, rank, id", params![primary, content, all, now_ms, HELD_MS], |row| {
        Ok((
            row.get(0)?,
            DueUrl {
                rank: row.get(1)?,
                due_ms: now_ms,
                id: row.get(2)?,
            },
        ))
    })
}
