//! Where log lines go: to journald under systemd, else to stderr.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The moment of a line: local time with its zone.
struct LocalTime;

impl FormatTime for LocalTime {
    fn format_time(&self, w: &mut Writer<'_>) -> std::fmt::Result {
        let now = chrono::Local::now();
        write!(w, "{}", now.format("%Y-%m-%d %H:%M:%S%.3f %:z"))
    }
}

/// Sets up logging for the process. The daemon speaks at level info, other commands only when something is wrong.
pub(crate) fn init(verbose: u8, daemon: bool) {
    let level = match (verbose, daemon) {
        (0, false) => LevelFilter::WARN,
        (0, true) => LevelFilter::INFO,
        (1, _) => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    // Libraries are told to be quiet: their debug lines say nothing to an operator.
    let filter = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("taojin", level);
    let registry = tracing_subscriber::registry().with(filter);
    let under_systemd = std::env::var_os("JOURNAL_STREAM").is_some();
    match tracing_journald::layer() {
        Ok(journal) if under_systemd => registry.with(journal).init(),
        _ => {
            let stderr = tracing_subscriber::fmt::layer()
                .with_writer(std::io::stderr)
                .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
                .with_target(false)
                .with_timer(LocalTime)
                .compact();
            registry.with(stderr).init();
        }
    }
}
