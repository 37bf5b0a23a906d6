//! Canonical form of a URL. In: text. Out: [`CrawlUri`] or why it cannot be crawled.

use std::fmt;

/// Why a text is not a URL that can be crawled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// The text does not parse as a URL at all.
    #[error("not a URL: {0}")]
    Invalid(String),
    /// Only http and https are crawled.
    #[error("scheme {0} is not crawled (http and https are)")]
    Scheme(String),
    /// The canonical form is longer than the limit.
    #[error("URL of {0} bytes is over the limit of {1}")]
    TooLong(usize, usize),
}

/// The address of a page in canonical form: equal pages by spelling have equal text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CrawlUri {
    url: url::Url,
}

impl CrawlUri {
    /// Parses an absolute URL and brings it into canonical form.
    pub fn parse(text: &str) -> Result<Self, UriError> {
        let url = url::Url::parse(text.trim()).map_err(|e| UriError::Invalid(e.to_string()))?;
        Self::from_url(url)
    }

    /// Resolves a reference found in the page at `self`.
    pub fn join(&self, reference: &str) -> Result<Self, UriError> {
        let url = self
            .url
            .join(reference.trim())
            .map_err(|e| UriError::Invalid(e.to_string()))?;
        Self::from_url(url)
    }

    fn from_url(mut url: url::Url) -> Result<Self, UriError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UriError::Scheme(url.scheme().to_owned()));
        }
        url.set_fragment(None);
        Ok(Self { url })
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// The parsed URL.
    pub fn url(&self) -> &url::Url {
        &self.url
    }

    /// Host name in ASCII, or the literal address, without port.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// `host` or `host:port` when the port is not the scheme's own: the unit of queues, politeness and robots.txt.
    pub fn authority(&self) -> &str {
        self.url.authority()
    }

    /// Path and query, what stands after the authority.
    pub fn path_and_query(&self) -> &str {
        &self.url[url::Position::BeforePath..]
    }

    /// 64-bit fingerprint of the canonical text (xxh3): the identity of the page in the store and the index.
    pub fn fingerprint(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(self.as_str().as_bytes())
    }
}

impl fmt::Display for CrawlUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
