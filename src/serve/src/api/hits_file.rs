//! Hits as a file. In: a search. Out: its hits in order, as CSV or a workbook; at most [`HITS_MAX`].

use super::problem::Problem;
use super::sheet::{Cell, Sheet};
use crate::search::params::Params;
use crate::search::source::Found;
use crate::state::Server;

/// Most hits of a file; `taojin export` has no limit.
pub(crate) const HITS_MAX: usize = 1_000;
/// Hits that are asked for at once.
const PAGE: usize = 100;

/// The first `limit` hits as a table, and as a second one what was asked and how many there are.
pub(crate) async fn sheets(
    server: &Server,
    params: &Params,
    limit: usize,
) -> Result<Vec<Sheet>, Problem> {
    let page = PAGE.min(server.config.limit_max);
    let (mut rows, mut total) = (Vec::new(), 0);
    // What lies deeper than a search may turn is not repeated in its place.
    while rows.len() < limit && params.offset + rows.len() <= server.config.offset_max() {
        let wanted = Params {
            offset: params.offset + rows.len(),
            limit: page.min(limit - rows.len()),
            ..params.clone()
        };
        let (found, _) = server.search(wanted.wanted(false, false)).await?;
        total = found.total;
        if found.hits.is_empty() {
            break;
        }
        rows.extend(found.hits.into_iter().map(row));
    }
    let columns = [
        "title",
        "site",
        "published",
        "author",
        "source",
        "url",
        "reprints",
        "snippet",
        "id",
    ];
    let count = |n: usize| Cell::Count(u64::try_from(n).unwrap_or(u64::MAX));
    let about = [
        ("query", Cell::Text(params.text.clone())),
        ("documents that match", Cell::Count(total)),
        ("rows in this file", count(rows.len())),
        ("most rows of a file", count(HITS_MAX)),
    ];
    let about = about.map(|(name, cell)| vec![Cell::Text(name.to_owned()), cell]);
    Ok(vec![
        Sheet {
            name: "hits".to_owned(),
            columns: columns.map(str::to_owned).into(),
            rows,
        },
        Sheet {
            name: "query".to_owned(),
            columns: ["what", "value"].map(str::to_owned).into(),
            rows: about.into(),
        },
    ])
}

fn row(hit: Found) -> Vec<Cell> {
    vec![
        Cell::Text(hit.title.text),
        hit.site.into(),
        hit.published.into(),
        hit.author.into(),
        hit.source.into(),
        Cell::Text(hit.url),
        Cell::Count(hit.duplicates),
        Cell::Text(hit.snippet.text),
        Cell::Text(hit.id),
    ]
}
