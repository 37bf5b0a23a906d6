//! Connections to PostgreSQL, encrypted where `sslmode=require` asks for it: then the server's certificate is always checked,
//! against the authorities that the system trusts or one that is named. In: how to connect. Out: a client whose connection works
//! on the present runtime.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{Error, Result as SqlResult};

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

    /// Connects within this time to the first host that is what the address asks for; the connection works on the present
    /// runtime until the client is dropped. A host that does not answer takes its share of the time, so that the next one is
    /// reached.
    pub(super) async fn connect(&self, limit: Duration) -> SqlResult<Client> {
        let hosts = one_by_one(&self.config);
        let each = limit / u32::try_from(hosts.len()).unwrap_or(1).max(1);
        let mut failed = Error::Unreachable("no host is named".to_owned());
        for host in &hosts {
            match timeout(each, self.connect_to(host)).await {
                Ok(Ok(client)) => return Ok(client),
                Ok(Err(error)) => failed = error.into(),
                Err(_) => {
                    let ms = each.as_millis();
                    failed = Error::Unreachable(format!("no answer within {ms} ms"));
                }
            }
        }
        Err(failed)
    }

    async fn connect_to(&self, host: &Config) -> Result<Client, tokio_postgres::Error> {
        match &self.tls {
            None => {
                let (client, connection) = host.connect(NoTls).await?;
                tokio::spawn(connection);
                Ok(client)
            }
            Some(tls) => {
                let tls = MakeRustlsConnect::new(ClientConfig::clone(tls));
                let (client, connection) = host.connect(tls).await?;
                tokio::spawn(connection);
                Ok(client)
            }
        }
    }
}

/// The same for each host alone, in their order.
fn one_by_one(all: &Config) -> Vec<Config> {
    let (hosts, ports) = (all.get_hosts(), all.get_ports());
    if hosts.len() < 2 || !all.get_hostaddrs().is_empty() {
        return vec![all.clone()];
    }
    let of_host = |(at, host): (usize, &Host)| {
        let mut one = Config::new();
        match host {
            Host::Tcp(name) => one.host(name),
            Host::Unix(folder) => one.host_path(folder),
        };
        // One port may stand for all hosts.
        if let Some(port) = ports.get(at).or(ports.first()) {
            one.port(*port);
        }
        if let Some(user) = all.get_user() {
            one.user(user);
        }
        if let Some(password) = all.get_password() {
            one.password(password);
        }
        if let Some(name) = all.get_dbname() {
            one.dbname(name);
        }
        if let Some(options) = all.get_options() {
            one.options(options);
        }
        if let Some(name) = all.get_application_name() {
            one.application_name(name);
        }
        if let Some(limit) = all.get_connect_timeout() {
            one.connect_timeout(*limit);
        }
        if let Some(limit) = all.get_tcp_user_timeout() {
            one.tcp_user_timeout(*limit);
        }
        one.ssl_mode(all.get_ssl_mode())
            .ssl_negotiation(all.get_ssl_negotiation())
            .keepalives(all.get_keepalives())
            .keepalives_idle(all.get_keepalives_idle())
            .target_session_attrs(all.get_target_session_attrs())
            .channel_binding(all.get_channel_binding());
        one
    };
    hosts.iter().enumerate().map(of_host).collect()
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
