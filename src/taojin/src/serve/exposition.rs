//! The text format of Prometheus, version 0.0.4. In: figures and their descriptions. Out: text.

use std::fmt::Write;

/// Name, type and description of a figure.
pub(super) type Family = (&'static str, &'static str, &'static str);

/// One figure: its name, its labels, its value.
pub(super) struct Sample<'a> {
    pub(super) name: &'static str,
    pub(super) labels: Vec<(&'static str, &'a str)>,
    pub(super) value: f64,
}

pub(super) fn plain(name: &'static str, value: u64) -> Sample<'static> {
    Sample {
        name,
        labels: Vec::new(),
        value: value as f64,
    }
}

pub(super) fn labelled<'a>(
    name: &'static str,
    label: &'static str,
    of: &'a str,
    value: u64,
) -> Sample<'a> {
    Sample {
        name,
        labels: vec![(label, of)],
        value: value as f64,
    }
}

pub(super) fn seconds(name: &'static str, ms: i64) -> Sample<'static> {
    Sample {
        name,
        labels: Vec::new(),
        value: ms as f64 / 1_000.0,
    }
}

/// The text format: each family once, its samples together.
pub(super) fn written(families: &[Family], samples: &[Sample<'_>]) -> String {
    let mut out = String::new();
    for &(name, kind, help) in families {
        let mut own = samples.iter().filter(|s| s.name == name).peekable();
        if own.peek().is_some() {
            push(
                &mut out,
                format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"),
            );
        }
        for sample in own {
            let labels: Vec<String> = sample
                .labels
                .iter()
                .map(|(label, of)| format!("{label}=\"{}\"", escaped(of)))
                .collect();
            let labels = match labels.is_empty() {
                true => String::new(),
                false => format!("{{{}}}", labels.join(",")),
            };
            push(&mut out, format_args!("{name}{labels} {}\n", sample.value));
        }
        out.push('\n');
    }
    out
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes everything");
}

/// The value of a label.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
