//! Keys that the program once had. For a release each is a warning and not a mistake, so that an upgrade starts with the file that
//! it finds; then it goes from here.

use super::LoadedConfig;
use super::origins::{environment, variable};
use super::schema::line_of;

/// Each with what holds now.
const DROPPED: &[(&str, &str)] = &[
    (
        "crawl.stop_grace_ms",
        "requests under way get four seconds when the daemon stops",
    ),
    (
        "crawl.max_outbox",
        "the crawl goes on while documents wait for the index, as long as there is room on the disk",
    ),
];

/// Whether a key is one of them.
pub(super) fn is_dropped(key: &str) -> bool {
    DROPPED.iter().any(|(dropped, _)| *dropped == key)
}

/// The variable of the environment that set one of them.
pub(super) fn is_dropped_variable(name: &str) -> bool {
    DROPPED.iter().any(|(key, _)| variable(key) == name)
}

/// Those that the configuration sets, one line each: where, and what holds now.
pub fn dropped_keys(loaded: &LoadedConfig) -> Vec<String> {
    let file = loaded.file.as_deref();
    let text = file.and_then(|file| std::fs::read_to_string(file).ok());
    let mut found = Vec::new();
    for (key, now) in DROPPED {
        let line = text.as_deref().and_then(|text| line_of(text, key));
        if let (Some(file), Some(line)) = (file, line) {
            let file = file.display();
            found.push(format!(
                "{file} line {line}: {key} is not read any more, {now}: remove it"
            ));
        }
        let name = variable(key);
        if environment().any(|(set, _)| set == name) {
            found.push(format!(
                "{name} in the environment: {key} is not read any more, {now}: remove it"
            ));
        }
    }
    found
}
