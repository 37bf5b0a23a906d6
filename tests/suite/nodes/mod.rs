//! Several nodes on one database, and what becomes of them when it goes away.

mod cluster;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod engine_check;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod engine_faults;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod engine_health;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod engine_hosts;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod gate;
mod moving;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod opensearch;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod opensearch_guide;
mod outage;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod patroni;
mod replicas;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod restored;
