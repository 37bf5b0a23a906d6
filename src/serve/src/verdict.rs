//! How the last cycle of a site went, as `status`, the API and the operator's page show it. Only the form: the daemon
//! decides.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How the last cycle of a site went, in one word.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// It was never crawled, or its first page has not come yet.
    #[default]
    Waiting,
    /// All went well.
    Ok,
    /// Pages came, but something was left or failed.
    Partial,
    /// No page came.
    Failed,
}

impl Level {
    /// All levels.
    pub const ALL: [Level; 4] = [Level::Waiting, Level::Ok, Level::Partial, Level::Failed];

    /// As in JSON and in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Level::Waiting => "waiting",
            Level::Ok => "ok",
            Level::Partial => "partial",
            Level::Failed => "failed",
        }
    }
}

/// How the last cycle of a site went.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct SiteVerdict {
    /// In one word.
    pub level: Level,
    /// In a sentence, English.
    pub text: String,
    /// In a sentence, Chinese.
    pub text_zh: String,
    /// Known addresses that were never fetched.
    pub left: u64,
    /// The setting that keeps what is left for later, or addresses out.
    pub setting: Option<String>,
}
