//! Times and sizes as people write them. In: the text of a file, in which `"6h"` or `"4 MiB"` may stand where a number
//! belongs. Out: the same text with numbers in the unit of their keys, on the same lines. What is no such value stays.

use toml::de::DeValue;

use super::explain::entries;
use super::limits;

/// Units of time, in milliseconds.
const TIMES: &[(&str, f64)] = &[
    ("ms", 1.0),
    ("s", 1_000.0),
    ("min", 60_000.0),
    ("m", 60_000.0),
    ("h", 3_600_000.0),
    ("d", 86_400_000.0),
    ("w", 604_800_000.0),
];
/// Units of size, in bytes.
const SIZES: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

/// What the end of a key says of its number: the units that may be written, how many of the smallest make one of the key's,
/// and an example.
type Measure = (
    &'static str,
    &'static [(&'static str, f64)],
    f64,
    &'static str,
);
const MEASURES: &[Measure] = &[
    ("_ms", TIMES, 1.0, "\"90s\", \"6h\" or \"7d\""),
    ("_minutes", TIMES, 60_000.0, "\"8h\""),
    ("_days", TIMES, 86_400_000.0, "\"90d\" or \"4w\""),
    ("_bytes", SIZES, 1.0, "\"4 MiB\" or \"2 GB\""),
    ("_mb", SIZES, 1_048_576.0, "\"256 MiB\""),
];

/// The text with numbers for all values that have a unit.
pub(super) fn resolved(text: &str) -> String {
    let mut resolved = text.to_owned();
    let mut values = entries(text).unwrap_or_default();
    values.sort_by_key(|entry| std::cmp::Reverse(entry.value.start));
    for entry in values {
        let written = text.get(entry.value.clone()).unwrap_or_default();
        let value = DeValue::parse(written).ok();
        let string = value.as_ref().and_then(|v| v.get_ref().as_str());
        if let Some(number) = string.and_then(|string| number(&entry.key, string)) {
            resolved.replace_range(entry.value, &number.to_string());
        }
    }
    resolved
}

/// The end of a message about a wrong number: which units may be written.
pub(super) fn hint(key: &str) -> String {
    measure(key).map_or(String::new(), |(.., example)| {
        format!(", or with its unit in \"quotes\" like {example}")
    })
}

/// The number of the key's own unit that `text` means; it must come out whole. What may be below zero, an offset from UTC,
/// may have a sign.
fn number(key: &str, text: &str) -> Option<i64> {
    let (_, units, whole, _) = measure(key)?;
    let (sign, text) = match text.strip_prefix('-') {
        Some(above) if limits::may_be_negative(key) => (-1, above),
        _ => (1, text),
    };
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let (amount, unit) = text.split_at_checked(end)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    let value = amount.parse::<f64>().ok()? * factor / whole;
    // Beyond 2^53 not every whole number can be told from its neighbours.
    (value.fract() == 0.0 && value < 9e15).then_some(sign * value as i64)
}

fn measure(key: &str) -> Option<&'static Measure> {
    limits::allowed(key)?;
    MEASURES.iter().find(|(end, ..)| key.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_become_the_number_of_the_key_and_the_rest_stays() {
        let text = "[crawl] # \"6h\"\nstop_grace_ms = \"4s\"\nmin_free_bytes = \"1.5 GiB\"\n\n[documents]\n\
                    keep_versions_days = '4w'\n[index]\nmemory_mb = \"256 MiB\"\nutc_offset_minutes = \"8h\"\n\
                    [fetch]\nuser_agent = \"6h\"\nhosts = { \"a\" = \"6h\" }\n[revisit]\nmin_ms = \"6 years\"\nmax_ms = 5\n";
        let wanted = "[crawl] # \"6h\"\nstop_grace_ms = 4000\nmin_free_bytes = 1610612736\n\n[documents]\n\
                      keep_versions_days = 28\n[index]\nmemory_mb = 256\nutc_offset_minutes = 480\n\
                      [fetch]\nuser_agent = \"6h\"\nhosts = { \"a\" = \"6h\" }\n[revisit]\nmin_ms = \"6 years\"\nmax_ms = 5\n";
        assert_eq!(resolved(text), wanted);
        assert_eq!(number("index.utc_offset_minutes", "-5h"), Some(-300));
        assert_eq!(resolved("delay_ms = \"2s\"\n"), "delay_ms = 2000\n");
        for (key, wrong) in [
            ("documents.keep_versions_days", "36h"),
            ("crawl.stop_grace_ms", "4 MiB"),
            ("crawl.stop_grace_ms", "-4s"),
            ("index.utc_offset_minutes", "--5h"),
            ("crawl.min_free_bytes", "2 gb"),
            ("crawl.min_free_bytes", "99999999 TiB"),
            ("crawl.min_free_percent", "5s"),
            ("crawl.stop_grace_ms", "油"),
        ] {
            assert_eq!(number(key, wrong), None, "{key} = {wrong}");
        }
    }

    #[test]
    fn every_time_and_every_size_takes_a_unit() {
        const AMOUNTS: [&str; 10] = [
            "ms", "seconds", "minutes", "hours", "days", "bytes", "kb", "mb", "gb", "ttl",
        ];
        for key in limits::keys() {
            let is_amount = key.split(['_', '.']).any(|word| AMOUNTS.contains(&word));
            assert_eq!(measure(key).is_some(), is_amount, "{key}");
        }
    }
}
