//! Connections to PostgreSQL, encrypted where `sslmode=require` asks for it: then the server's certificate is always checked,
//! against the authorities that the system trusts or one that is named. In: how to connect. Out: a client whose connection works
//! on the present runtime.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How to reach a server.
#[derive(Debug, Clone)]
pub(in crate::store) struct Way {
    pub(in crate::store) config: Config,
    tls: Option<Arc<ClientConfig>>,
}

impl Way {
    /// `authorities`: a PEM file with the certificates of those that may vouch for the server; none: those of the system.
    pub(in crate::store) fn new(
        mut config: Config,
        authorities: Option<&Path>,
    ) -> Result<Self, String> {
        if config.get_ssl_mode() != SslMode::Require {
            if let Some(file) = authorities {
                return Err(format!(
                    "{} is named, but the connection is not encrypted: add ?sslmode=require to the address",
                    file.display()
                ));
            }
            // Without a check of the certificate, encryption keeps nobody out who can change what is sent.
            config.ssl_mode(SslMode::Disable);
            return Ok(Way { config, tls: None });
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| e.to_string())?;
        let builder = match authorities {
            Some(file) => builder.with_root_certificates(roots(file)?),
            None => builder
                .with_platform_verifier()
                .map_err(|e| e.to_string())?,
        };
        let tls = Some(Arc::new(builder.with_no_client_auth()));
        Ok(Way { config, tls })
    }

    /// Connects; the connection works on the present runtime until the client is dropped.
    pub(super) async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        match &self.tls {
            None => {
                let (client, connection) = self.config.connect(NoTls).await?;
                tokio::spawn(connection);
                Ok(client)
            }
            Some(tls) => {
                let tls = MakeRustlsConnect::new(ClientConfig::clone(tls));
                let (client, connection) = self.config.connect(tls).await?;
                tokio::spawn(connection);
                Ok(client)
            }
        }
    }
}

fn roots(file: &Path) -> Result<RootCertStore, String> {
    let unusable = |reason: String| format!("{}: {reason}", file.display());
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file).map_err(|e| unusable(e.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|e| unusable(e.to_string()))?;
        roots
            .add(certificate)
            .map_err(|e| unusable(e.to_string()))?;
    }
    match roots.is_empty() {
        true => Err(unusable("holds no certificate".to_owned())),
        false => Ok(roots),
    }
}
