//! The module `taojin._taojin`. In: bytes of a page, as Python has them. Out: [`Document`]. Works without Python's lock; what a
//! page says never raises an exception. `python/taojin` gives it to the world.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use taojin_extract as extract;
use taojin_extract::page::{Hints, Page};
use taojin_uri::CrawlUri;

/// Bytes as fetched, or a text that was decoded before.
#[derive(FromPyObject)]
enum Html {
    Bytes(PyBackedBytes),
    Text(PyBackedStr),
}

/// What a page says.
#[pyclass(frozen, module = "taojin")]
struct Document(extract::Document);

/// What a reader wrote.
#[pyclass(frozen, get_all, module = "taojin")]
struct Comment {
    author: Option<String>,
    published: Option<String>,
    text: String,
    reply_to: Option<String>,
}

/// A picture of the text.
#[pyclass(frozen, get_all, module = "taojin")]
struct Image {
    url: Option<String>,
    alt: String,
    after: u32,
}

/// A link of the page.
#[pyclass(frozen, get_all, module = "taojin")]
struct Link {
    url: String,
    text: String,
}

/// A file that the page offers.
#[pyclass(frozen, get_all, module = "taojin")]
struct Attachment {
    url: String,
    name: String,
    format: String,
}

#[pymethods]
impl Document {
    #[getter]
    fn url(&self) -> Option<&str> {
        Some(self.0.url.as_str()).filter(|url| !url.is_empty())
    }

    #[getter]
    fn canonical(&self) -> Option<&str> {
        self.0.canonical.as_deref()
    }

    #[getter]
    fn title(&self) -> Option<&str> {
        self.0.title.as_deref()
    }

    #[getter]
    fn published(&self) -> Option<&str> {
        self.0.published.as_deref()
    }

    #[getter]
    fn author(&self) -> Option<&str> {
        self.0.author.as_deref()
    }

    #[getter]
    fn source(&self) -> Option<&str> {
        self.0.source.as_deref()
    }

    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    #[getter]
    fn markdown(&self) -> String {
        self.0.markdown()
    }

    #[getter]
    fn html(&self) -> String {
        self.0.html()
    }

    #[getter]
    fn language(&self) -> Option<&str> {
        self.0.language.as_deref()
    }

    #[getter]
    fn charset(&self) -> &str {
        &self.0.charset
    }

    #[getter]
    fn kind(&self) -> String {
        let kind = serde_json::to_value(self.0.kind).unwrap_or_default();
        kind.as_str().unwrap_or_default().to_owned()
    }

    #[getter]
    fn confidence(&self) -> f32 {
        self.0.provenance.confidence
    }

    #[getter]
    fn comments(&self) -> Vec<Comment> {
        let comment = |c: &extract::Comment| Comment {
            author: c.author.clone(),
            published: c.published.clone(),
            text: c.text.clone(),
            reply_to: c.reply_to.clone(),
        };
        self.0.comments.iter().map(comment).collect()
    }

    #[getter]
    fn images(&self) -> Vec<Image> {
        let image = |i: &extract::Image| Image {
            url: i.url.clone(),
            alt: i.alt.clone(),
            after: i.after,
        };
        self.0.images.iter().map(image).collect()
    }

    #[getter]
    fn links(&self) -> Vec<Link> {
        let link = |l: &extract::Link| Link {
            url: l.url.clone(),
            text: l.text.clone(),
        };
        self.0.links.iter().map(link).collect()
    }

    #[getter]
    fn attachments(&self) -> Vec<Attachment> {
        let attachment = |a: &extract::Attachment| Attachment {
            url: a.url.clone(),
            name: a.name.clone(),
            format: a.format.clone(),
        };
        self.0.attachments.iter().map(attachment).collect()
    }

    /// Everything, as `taojin extract --json` prints it.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.0).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    fn __repr__(&self) -> String {
        let title = self.0.title.as_deref().unwrap_or_default();
        let characters = self.0.text.chars().count();
        format!(
            "<taojin.Document {} {title:?}, {characters} characters>",
            self.kind()
        )
    }
}

/// The document of a page.
#[pyfunction]
#[pyo3(signature = (html, url=None, *, charset=None, now_ms=None))]
fn extract_page(
    py: Python<'_>,
    html: Html,
    url: Option<&str>,
    charset: Option<String>,
    now_ms: Option<i64>,
) -> PyResult<Document> {
    let address = url.map(CrawlUri::parse).transpose();
    let address = address.map_err(|e| PyValueError::new_err(format!("url: {e}")))?;
    let document = py.detach(move || {
        let (bytes, charset) = match &html {
            Html::Bytes(bytes) => (&**bytes, charset),
            Html::Text(text) => (text.as_bytes(), Some("utf-8".to_owned())),
        };
        let hints = Hints {
            url: address,
            charset,
            ..Hints::default()
        };
        let context = extract::Context {
            now_ms,
            ..extract::Context::default()
        };
        extract::extract(&Page::parse(bytes, hints), &context)
    });
    Ok(Document(document))
}

#[pymodule]
mod _taojin {
    #[pymodule_export]
    use super::{Attachment, Comment, Document, Image, Link, extract_page};

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::types::PyModuleMethods as _;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
