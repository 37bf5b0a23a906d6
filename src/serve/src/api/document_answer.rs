//! A document as the API answers it. In: a document of a source. Out: its JSON form that `/api/openapi.json` describes;
//! it is stable.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use taojin_extract::{Document, Meta};

/// Answer of `/api/docs/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DocumentAnswer {
    /// The id asked for.
    #[schema(examples("03fa6b1c2d9e4f50"))]
    pub id: String,
    /// Address of the page.
    #[schema(examples("https://news.example.com/2026/11/05/1.html"))]
    pub url: String,
    /// Name of the site in the configuration.
    #[schema(examples("西部油气网"))]
    pub site: Option<String>,
    /// Headline.
    #[schema(examples("天然气产量创新高"))]
    pub title: Option<String>,
    /// First publication, ISO 8601.
    #[schema(examples("2026-11-05T08:30:00+08:00"))]
    pub published: Option<String>,
    /// Named writer.
    #[schema(examples("张三"))]
    pub author: Option<String>,
    /// Media source as printed.
    #[schema(examples("新华社"))]
    pub source: Option<String>,
    /// Language tag.
    #[schema(examples("zh"))]
    pub language: Option<String>,
    /// Main text, one paragraph a line.
    #[schema(examples("今年前十个月，天然气产量同比增长 6%。\n全年有望再创新高。"))]
    pub text: String,
    /// Pictures that belong to the text, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageAnswer>,
    /// Fields that the page labels, in its order: what a notice's table says of its number, office and days.
    #[serde(default, skip_serializing_if = "Meta::is_empty")]
    #[schema(value_type = HashMap<String, String>)]
    pub meta: Meta,
    /// Those of these fields that are plainly a number with its unit, a day, or a list.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    #[schema(value_type = HashMap<String, Object>)]
    pub fields: serde_json::Map<String, serde_json::Value>,
    /// Files that the page offers, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<AttachmentAnswer>,
    /// Readers' comments in page order.
    pub comments: Vec<CommentAnswer>,
}

/// A picture of a document's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImageAnswer {
    /// Its address, where the page names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(examples("https://news.example.com/2026/11/05/1.jpg"))]
    pub url: Option<String>,
    /// What the page says that it shows; may be empty.
    #[schema(examples("井场"))]
    pub alt: String,
    /// Number of paragraphs that stand before it.
    #[schema(examples(1))]
    pub after: u32,
}

/// A file that a page offers beside its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttachmentAnswer {
    /// Its address.
    #[schema(examples("https://www.example.gov.cn/files/2026/11/1.docx"))]
    pub url: String,
    /// What the page calls it.
    #[schema(examples("任务分工表"))]
    pub name: String,
    /// Ending of the file in lower case; empty where nothing tells.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schema(examples("docx"))]
    pub format: String,
}

/// One comment of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommentAnswer {
    /// Who wrote it.
    #[schema(examples("读者"))]
    pub author: Option<String>,
    /// When, ISO 8601 where it could be read, else as printed.
    #[schema(examples("2026-11-05T09:12:00+08:00"))]
    pub published: Option<String>,
    /// What it says.
    #[schema(examples("好消息。"))]
    pub text: String,
    /// Whom it answers, where the page tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(examples("张三"))]
    pub reply_to: Option<String>,
    /// Votes for it, where the page counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(examples(4))]
    pub votes: Option<i64>,
}

impl DocumentAnswer {
    /// The answer for a stored document.
    pub fn new(id: String, document: Document) -> DocumentAnswer {
        DocumentAnswer {
            id,
            url: document.url,
            site: document.site,
            title: document.title,
            published: document.published,
            author: document.author,
            source: document.source,
            language: document.language,
            text: document.text,
            images: document
                .images
                .into_iter()
                .map(|image| ImageAnswer {
                    url: image.url,
                    alt: image.alt,
                    after: image.after,
                })
                .collect(),
            fields: match serde_json::to_value(document.meta.typed()) {
                Ok(serde_json::Value::Object(fields)) => fields,
                _ => serde_json::Map::new(),
            },
            meta: document.meta,
            attachments: document
                .attachments
                .into_iter()
                .map(|file| AttachmentAnswer {
                    url: file.url,
                    name: file.name,
                    format: file.format,
                })
                .collect(),
            comments: document
                .comments
                .into_iter()
                .map(|c| CommentAnswer {
                    author: c.author,
                    published: c.published,
                    text: c.text,
                    reply_to: c.reply_to,
                    votes: c.votes,
                })
                .collect(),
        }
    }
}
