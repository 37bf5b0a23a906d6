//! Weights of the extraction that a configuration or a command names. In: a file. Out: the weights, or one line that says what
//! is wrong. Never judges with them.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use super::{Config, Problem};
use taojin_extract::learn::Weights;

/// Largest file of weights, in bytes: several hundred times what the learner writes would be another file.
const MAX_BYTES: u64 = 16 << 20;

/// The weights in `file`; the error does not name it.
pub fn read_weights(file: &Path) -> Result<Arc<Weights>, String> {
    let read = || -> io::Result<String> {
        let mut text = String::new();
        File::open(file)?
            .take(MAX_BYTES)
            .read_to_string(&mut text)?;
        Ok(text)
    };
    let text = read().map_err(|e| e.to_string())?;
    let weights = Weights::parse(&text).map_err(|e| e.to_string())?;
    Ok(Arc::new(weights))
}

/// Reads the weights that `config`, read from `file`, names.
pub(super) fn load(config: &mut Config, file: &Path) -> Option<Problem> {
    let named = &config.extract.weights;
    if named.as_os_str().is_empty() {
        return None;
    }
    let path = file.parent().unwrap_or(Path::new(".")).join(named);
    match read_weights(&path) {
        Ok(weights) => {
            config.extract.loaded = Some(weights);
            None
        }
        Err(why) => {
            let text = format!(
                "extract.weights = \"{}\": {why}; write \"\" for the weights in the program",
                named.display()
            );
            Some(Problem::in_file(file, text))
        }
    }
}
