//! Visits a file that a page offers: it is read in a child process and becomes a document. A file without an honest text has none,
//! and the record of its address says why.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::page::digest;
use super::turns::SitePlaces;
use super::visitor::Visitor;
use super::{Answer, Content, FileRead, Held, Unindexed};
use crate::config::Config;
use crate::documents::EncodedDocument;
use crate::documents::attachment::{Origin, of_attachment};
use crate::serve::metrics;
use taojin_attachments::contained::{Limits, Reader, missing_confinement};
use taojin_attachments::{Attachment, Disposition, Unreadable};
use taojin_crawl::VisitOutcome;
use taojin_crawl::fetch::Fetched;
use taojin_crawl::store::UrlRecord;
use taojin_uri::CrawlUri;

/// Reads attachments as the configuration has it.
pub(crate) struct AttachmentReader {
    reader: Reader,
    places: SitePlaces,
}

impl AttachmentReader {
    /// None where attachments are not wanted.
    pub(crate) fn open(config: &Config) -> std::io::Result<Option<Self>> {
        let crawl = &config.crawl;
        if !crawl.attachments || !crawl.documents {
            return Ok(None);
        }
        if let Some(missing) = missing_confinement() {
            tracing::warn!(
                "this kernel has no {missing}: attachments are read with one guard fewer"
            );
        }
        let limits = Limits {
            // The limits of sites decide what is fetched.
            file_bytes: usize::MAX,
            ..Limits::default()
        };
        let wanted = crawl.attachment_types.iter().copied().collect();
        Ok(Some(Self {
            places: SitePlaces::new(limits.parallel),
            reader: Reader::new(limits)?.only(wanted),
        }))
    }

    /// Reads a file in the turn of its site; also how long that took, without the wait.
    async fn read(
        &self,
        site: &Arc<str>,
        name: &str,
        file: File,
    ) -> (Result<Attachment, Unreadable>, Duration) {
        let _place = self.places.take(site).await;
        let started = Instant::now();
        let read = self.reader.read_file(file, name).await;
        (read, started.elapsed())
    }
}

/// Reads a file that came at `at_ms`, Unix milliseconds.
pub(super) async fn read(
    visitor: &Visitor,
    record: &UrlRecord,
    fetched: Fetched,
    file: File,
    at_ms: i64,
) -> Answer {
    if fetched.outcome != VisitOutcome::Page {
        return Answer::unused(fetched);
    }
    let disposition = fetched.head.disposition.as_deref().unwrap_or_default();
    let sent_name = Disposition::parse(disposition).file_name;
    let name = sent_name.unwrap_or_else(|| file_name(&record.uri));
    let (read, took) = match visitor.attachments() {
        Some(attachments) => attachments.read(&record.site, &name, file).await,
        None => {
            let not_read = Unreadable::NotRead("an attachment".to_owned());
            (Err(not_read), Duration::ZERO)
        }
    };
    let reading_ms = i64::try_from(took.as_millis()).unwrap_or(i64::MAX);
    let outcome = read.as_ref().map_or_else(Unreadable::as_str, |_| "read");
    ::metrics::counter!(metrics::ATTACHMENTS_TOTAL, "outcome" => outcome).increment(1);
    let content = match read {
        Ok(read) => {
            let rules = visitor.rules(&record.site);
            let mut document = of_attachment(
                read,
                &Origin {
                    url: record.uri.as_str(),
                    name: &name,
                    site: Some(&record.site),
                    announced: record.announced.as_deref(),
                    bytes: fetched.body_bytes,
                    at_ms,
                    offset_min: rules.and_then(|rules| rules.utc_offset_min).unwrap_or(0),
                },
            );
            document.cut_text(visitor.max_text_bytes());
            let noindex = fetched.head.noindex;
            document.asks.noindex = noindex;
            let title = document.title.as_deref().unwrap_or_default();
            let digest = digest([title, document.text.as_str()]);
            let encoded = EncodedDocument::new(&document);
            FileRead {
                document: if noindex {
                    Held::Withheld(encoded)
                } else {
                    Held::Document(encoded)
                },
                unindexed: noindex.then_some(Unindexed::HeaderNoindex),
                digest,
                text_cut: document.provenance.text_cut,
                reading_ms,
            }
        }
        Err(why) => FileRead {
            document: Held::None,
            digest: digest([why.as_str()]),
            unindexed: Some(Unindexed::File(why)),
            text_cut: false,
            reading_ms,
        },
    };
    Answer {
        content: Content::File(content),
        ..Answer::unused(fetched)
    }
}

/// The last part of the path, or a value of the query that looks like the name of a file.
fn file_name(uri: &CrawlUri) -> String {
    let query = uri.query().unwrap_or_default();
    let values = url::form_urlencoded::parse(query.as_bytes()).map(|(_, value)| value.into_owned());
    let path = uri.path().rsplit('/').next().unwrap_or_default();
    let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
    let mut names = std::iter::once(path.into_owned()).chain(values);
    names
        .find(|name| {
            name.rsplit_once('.')
                .is_some_and(|(_, end)| (2..=4).contains(&end.len()))
        })
        .unwrap_or_default()
}
