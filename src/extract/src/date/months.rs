//! Names of months. In: a word. Out: 1 to 12. Never guesses: a word that is not in the files of languages is no month.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::cues;

/// Names and short forms in small letters, without the dot of a short form.
static MONTHS: LazyLock<HashMap<&str, u32>> = LazyLock::new(|| {
    let lines = cues::lines("months").iter();
    let months = lines.filter_map(|line| {
        let (number, names) = line.split_once(' ')?;
        Some((number.parse().ok()?, names))
    });
    let named =
        |(month, names): (u32, &'static str)| names.split('|').map(move |name| (name, month));
    months.flat_map(named).collect()
});

/// The month of a name in any of the languages, in whatever case.
pub(crate) fn month_number(word: &str) -> Option<u32> {
    let lower = word.to_lowercase();
    MONTHS.get(lower.trim_end_matches('.')).copied()
}
