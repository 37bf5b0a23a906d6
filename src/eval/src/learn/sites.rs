//! Assigns pages to sites, so that pages of one site are never both learned from and judged. The gold is used first, then
//! the page; never the id of a page, which may be nothing but a hash.

use taojin_extract::page::{Attr, Page, Tag};
use taojin_uri::CrawlUri;

use super::super::corpus::Gold;

/// The site of a page, the same for all sets: by its URL, else by its `cluster`, else by the URL that the page
/// names as its own; what says nothing at all belongs with the rest of its set.
///
/// A site is the registered name without what is before and behind it: `bbc.com` and `bbc.co.uk`, `163/news` and
/// `news.163.com`, `fr/LeMonde` and `lemonde.fr` are one each. Two owners of one name are taken for one, which costs nothing.
pub(super) fn find_site(set: &str, gold: &Gold, page: &Page) -> String {
    let by_address = gold.url.as_deref().and_then(site_from_url);
    let by_cluster = || gold.cluster.as_deref().and_then(site_from_cluster);
    let by_page = || own_address(page).and_then(|url| site_from_url(&url));
    let known = by_address.or_else(by_cluster).or_else(by_page);
    known.unwrap_or_else(|| format!("{set}/"))
}

/// The name of the site of a URL; of a copy in an archive that of the original.
fn site_from_url(url: &str) -> Option<String> {
    let inner = url.get(1..).and_then(|u| u.find("http")).map(|at| at + 1);
    let archived = inner.filter(|_| url.contains("archive.org/"));
    let uri = CrawlUri::parse(archived.and_then(|at| url.get(at..)).unwrap_or(url)).ok()?;
    site_from_host(uri.host())
}

fn site_from_host(host: &str) -> Option<String> {
    let domain = taojin_uri::registrable_domain(host).unwrap_or(host);
    let name = domain.split('.').next().unwrap_or(domain);
    // Nobody's site: an archive's copies are of many.
    (domain != "archive.org").then(|| bare(name))
}

/// `163/article2015`, `fr/LeMonde`, `people2009`, `news.example.com`: the first part that is no country, without a year.
fn site_from_cluster(cluster: &str) -> Option<String> {
    let part = cluster.split('/').find(|part| part.len() > 2)?;
    if part.contains('.') {
        return site_from_host(part);
    }
    let name = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let year = !name.is_empty() && part.len() - name.len() == 4;
    Some(bare(if year { name } else { part }))
}

/// Letters and digits in lower case.
fn bare(name: &str) -> String {
    let chars = name.chars().filter(|c| c.is_alphanumeric());
    chars.flat_map(char::to_lowercase).collect()
}

/// The URL that a page says it has.
fn own_address(page: &Page) -> Option<String> {
    let says = |id: u32| {
        let of = |attr| page.attr(id, attr);
        match page.node(id).tag {
            Tag::LINK if of(Attr::Rel) == Some("canonical") => of(Attr::Href),
            Tag::META if of(Attr::Property) == Some("og:url") => of(Attr::Content),
            _ => None,
        }
    };
    let nodes = 0..page.nodes().len() as u32;
    nodes
        .filter_map(says)
        .find(|url| url.starts_with("http"))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use taojin_extract::page::Hints;

    #[test]
    fn site_same_in_all_sets() {
        let page = |html: &str| Page::parse(html.as_bytes(), Hints::default());
        let blank = page("<p>text</p>");
        let site = |url: Option<&str>, cluster: Option<&str>| {
            let gold = Gold {
                id: "pl_20111121_3bac60d1".to_owned(),
                url: url.map(str::to_owned),
                cluster: cluster.map(str::to_owned),
                ..Gold::default()
            };
            find_site("set", &gold, &blank)
        };
        for (site, expected) in [
            (site(Some("https://news.163.com/1"), None), "163"),
            (site(None, Some("163/article2015")), "163"),
            (site(None, Some("fr/LeMonde")), "lemonde"),
            (site(Some("https://www.lemonde.fr/a"), Some("x")), "lemonde"),
            (site(None, Some("people2009")), "people"),
            (site(None, Some("www2.rizospastis.gr")), "rizospastis"),
            (
                site(
                    Some("http://web.archive.org/web/2017/http://www.bbc.co.uk/news"),
                    Some("web.archive.org"),
                ),
                "bbc",
            ),
            // Two hashes are no two sites.
            (site(None, None), "set/"),
        ] {
            assert_eq!(site, expected);
        }
        let named = page("<link rel=canonical href=https://www.cnn.com/a><p>text</p>");
        assert_eq!(find_site("set", &Gold::default(), &named), "cnn");
    }
}
