//! Feeds (RSS 0.9–2.0, Atom, JSON Feed). In: the bytes. Out: the entries' links with their dates. A feed that is no
//! valid XML gives the links that can be read.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::DatedLink;
use super::xml;
use taojin_uri::{CrawlUri, MAX_URI_BYTES};

/// Entries kept; feeds have tens.
const MAX_ENTRIES: usize = 2_000;

/// What the library that reads feeds is given at most: it keeps some kilobytes for each entry however small it is, and
/// resolves each address against each `xml:base` above it. A feed beyond these is read link by link.
const MAX_ELEMENTS: usize = 200_000;
/// Elements open at the same time.
const MAX_DEPTH: usize = 64;
/// Bytes of one tag with its attributes.
const MAX_TAG_BYTES: usize = 16 << 10;
/// Objects in a JSON Feed; beyond them it is no feed.
const MAX_OBJECTS: usize = 20_000;

/// It is no feed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a feed: {0}")]
pub struct FeedError(String);

/// Reads a feed that was fetched from `base`; links in the order of the feed, each once.
pub fn read_feed(bytes: &[u8], base: &CrawlUri) -> Result<Vec<DatedLink>, FeedError> {
    let (text, _) = xml::text(bytes);
    // The text is UTF-8 now, whatever the declaration says.
    let body = match text.strip_prefix("<?xml") {
        Some(rest) => rest
            .split_once("?>")
            .map_or(text.as_str(), |(_, body)| body),
        None => text.as_str(),
    };
    // A second declaration, far from the beginning, makes the reader of the XML panic.
    let body = body.replace("<?xml", "<?lmx");
    let read = match is_bounded(&body) {
        true => feed_rs::parser::Builder::new()
            .base_uri(Some(base.as_str()))
            .build()
            .parse(body.trim_start().as_bytes())
            .map_err(|error| error.to_string()),
        false => Err("it is larger or deeper than any feed".to_owned()),
    };
    let mut links = match read {
        Ok(feed) => {
            let found = entries(feed, base);
            // A feed in the namespace of another format parses, to nothing.
            match found.is_empty() {
                true => rescue(&body, base),
                false => found,
            }
        }
        Err(error) => {
            let rescued = rescue(&body, base);
            if rescued.is_empty() {
                return Err(FeedError(error));
            }
            rescued
        }
    };
    let mut met = std::collections::HashSet::new();
    links.retain(|link| met.insert(link.uri.fingerprint()));
    Ok(links)
}

/// Whether a feed is small enough to be read whole. Looks at each byte once and keeps nothing.
fn is_bounded(body: &str) -> bool {
    if !body.trim_start().starts_with('<') {
        return body.bytes().filter(|byte| *byte == b'{').count() <= MAX_OBJECTS;
    }
    let mut reader = lenient(body);
    let (mut entries, mut elements, mut depth) = (0, 0, 0_usize);
    loop {
        let (tag, opens) = match reader.read_event() {
            Ok(Event::Start(tag)) => (tag, 1),
            Ok(Event::Empty(tag)) => (tag, 0),
            Ok(Event::End(_)) => {
                depth = depth.saturating_sub(1);
                continue;
            }
            // The library stops at a mistake too.
            Ok(Event::Eof) | Err(_) => return true,
            Ok(_) => continue,
        };
        depth += opens;
        elements += 1;
        let name = tag.local_name();
        let is_entry = ["item", "entry"]
            .iter()
            .any(|entry| name.as_ref().eq_ignore_ascii_case(entry));
        entries += usize::from(is_entry);
        let fits = entries <= MAX_ENTRIES && elements <= MAX_ELEMENTS && depth <= MAX_DEPTH;
        if !fits || tag.len() > MAX_TAG_BYTES {
            return false;
        }
    }
}

/// A reader of XML that goes on after common mistakes.
fn lenient(text: &str) -> Reader<&[u8]> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    reader
}

fn entries(feed: feed_rs::model::Feed, base: &CrawlUri) -> Vec<DatedLink> {
    feed.entries
        .into_iter()
        .take(MAX_ENTRIES)
        .filter_map(|entry| {
            let page = |rel: Option<&str>| matches!(rel, None | Some("alternate"));
            let link = entry
                .links
                .iter()
                .find(|l| page(l.rel.as_deref()))
                .or_else(|| entry.links.first());
            // Feeds without links often have the address as the entry's id.
            let address = link.map_or(entry.id.as_str(), |l| l.href.as_str());
            let looks_right = link.is_some() || address.starts_with("http");
            let uri = base.join(address).ok().filter(|_| looks_right)?;
            let date = entry.published.or(entry.updated);
            Some(DatedLink {
                uri,
                date_ms: date.map(|d| d.timestamp_millis()),
            })
        })
        .collect()
}

/// Links of `<item>` and `<entry>` elements, as far as the text can be read.
fn rescue(text: &str, base: &CrawlUri) -> Vec<DatedLink> {
    let mut reader = lenient(text);
    let (mut found, mut field, mut inside) = (Vec::new(), String::new(), false);
    let (mut link, mut date) = (String::new(), String::new());
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => {
                field = tag.local_name().as_ref().to_ascii_lowercase();
                if matches!(field.as_str(), "item" | "entry") {
                    push(&mut found, &mut link, &mut date, base);
                    inside = true;
                }
                if inside && field == "link" && link.is_empty() {
                    let href = tag
                        .attributes()
                        .flatten()
                        .find(|a| a.key.as_ref() == "href");
                    if let Some(href) = href {
                        link.push_str(&htmlize::unescape_attribute(&*href.value));
                    }
                }
            }
            Ok(Event::End(_)) => field.clear(),
            Ok(Event::Text(part)) if inside => add(&field, &part, &mut link, &mut date),
            Ok(Event::CData(part)) if inside => add(&field, &part, &mut link, &mut date),
            Ok(Event::GeneralRef(part)) if inside => {
                add(&field, &xml::reference(&part), &mut link, &mut date);
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
        if found.len() >= MAX_ENTRIES {
            break;
        }
    }
    push(&mut found, &mut link, &mut date, base);
    found
}

fn add(field: &str, part: &str, link: &mut String, date: &mut String) {
    match field {
        "link" => link.push_str(part),
        "pubdate" | "published" | "updated" | "date" => date.push_str(part),
        _ => {}
    }
}

fn push(found: &mut Vec<DatedLink>, link: &mut String, date: &mut String, base: &CrawlUri) {
    let (link, date) = (std::mem::take(link), std::mem::take(date));
    let link = link.trim();
    if link.is_empty() || link.len() > MAX_URI_BYTES {
        return;
    }
    if let Ok(uri) = base.join(link) {
        found.push(DatedLink {
            uri,
            date_ms: xml::date_ms(&date),
        });
    }
}
