//! Where a store is. In: the data folder, and the address of a PostgreSQL database where one holds the state. Out: [`Place`].

use std::path::{Path, PathBuf};

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::error::StoreError;

/// Where a store is: a file in the data folder, or a PostgreSQL database. The small files of this machine (lock, filter of
/// seen addresses, pages being visited) stand in the data folder either way.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub(super) dir: PathBuf,
    pub(super) server: Option<Server>,
}

/// A PostgreSQL database.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Server {
    pub(super) config: Config,
    /// As it is told in messages: without a password.
    pub(super) at: PathBuf,
}

impl Place {
    /// A PostgreSQL database by its address (`postgres://user@host/database`), with the files of this machine in `dir`.
    pub fn postgres(dir: &Path, url: &str) -> Result<Self, StoreError> {
        let unusable = |detail: String| StoreError::Address { detail };
        if !["postgres://", "postgresql://"]
            .iter()
            .any(|start| url.starts_with(start))
        {
            return Err(unusable("it must begin with postgres://".to_owned()));
        }
        let config: Config = url
            .parse()
            .map_err(|e| unusable(super::sql::in_words(&e)))?;
        let host = match config.get_hosts() {
            [] => return Err(unusable("it names no host".to_owned())),
            [Host::Tcp(name), ..] => name.clone(),
            [Host::Unix(folder), ..] => folder.display().to_string(),
        };
        let database = config
            .get_dbname()
            .or(config.get_user())
            .unwrap_or_default();
        let at = PathBuf::from(format!("postgres://{host}/{database}"));
        Ok(Place {
            dir: dir.to_owned(),
            server: Some(Server { config, at }),
        })
    }

    /// The data folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether PostgreSQL holds the state.
    pub fn is_postgres(&self) -> bool {
        self.server.is_some()
    }
}

impl From<&Path> for Place {
    fn from(dir: &Path) -> Self {
        #[cfg(test)]
        if let Some(place) = super::tests::on_postgres::place(dir) {
            return place;
        }
        Place {
            dir: dir.to_owned(),
            server: None,
        }
    }
}

impl From<&PathBuf> for Place {
    fn from(dir: &PathBuf) -> Self {
        Place::from(dir.as_path())
    }
}

impl From<&Place> for Place {
    fn from(place: &Place) -> Self {
        place.clone()
    }
}
