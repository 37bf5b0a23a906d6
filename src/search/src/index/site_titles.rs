//! What readers call sites. In: names and titles as the configuration has them at each moment. Out: the names that a
//! text stands for, and the title of a name. The index itself knows names and hosts only.

use std::fmt;
use std::sync::Arc;

use crate::analyze::normalize;

/// Gives name and title of each site that has a title.
type Source = Arc<dyn Fn() -> Vec<(String, String)> + Send + Sync>;

/// The titles of sites; none without a source.
#[derive(Clone, Default)]
pub struct SiteTitles(Option<Source>);

impl SiteTitles {
    /// Asks `source` at each look, since a reload may change them.
    pub fn new(source: impl Fn() -> Vec<(String, String)> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(source)))
    }

    /// The title of the site `name`, if it has one.
    pub fn title(&self, name: &str) -> Option<String> {
        let found = self.all().into_iter().find(|(site, _)| site == name);
        found.map(|(_, title)| title)
    }

    /// The names of the sites that a reader calls so; several sites may share a title.
    pub fn names(&self, title: &str) -> Vec<String> {
        let wanted = normalize(title.trim());
        let called = |(_, title): &(String, String)| normalize(title.trim()) == wanted;
        let found = self.all().into_iter().filter(called);
        found.map(|(name, _)| name).collect()
    }

    fn all(&self) -> Vec<(String, String)> {
        let mut all = self.0.as_ref().map(|source| source()).unwrap_or_default();
        all.retain(|(_, title)| !title.trim().is_empty());
        all
    }
}

impl fmt::Debug for SiteTitles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all()).finish()
    }
}
