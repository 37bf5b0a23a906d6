//! The only place that writes to the terminal: results to stdout; progress, notes and the log to stderr, the log to journald
//! under systemd.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use askama::Template;
use askama::filters::Safe;
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Serialize, Serializer};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::catalog::translate;
pub(crate) use super::printable::printable;
use super::printable::printable_lines;
use crate::daemon::{LogLine, ProgressCallback};
use crate::serve::{Level, Precision, Words, field_in, level_in, show_time, span_in};
use taojin_crawl::{DocumentChange, VisitOutcome};

/// One line of result on stdout. A closed pipe (`| head`) ends the program quietly.
pub(crate) fn line(text: &str) {
    let mut out = io::stdout().lock();
    if writeln!(out, "{text}").is_err() {
        std::process::exit(0);
    }
}

/// One JSON object on one line of stdout.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    line(&serde_json::to_string(value)?);
    Ok(())
}

/// An answer as one JSON object, or as `print` shows it to a person.
pub(crate) fn answer<T: Serialize>(
    as_json: bool,
    value: &T,
    print: impl FnOnce(&T),
) -> anyhow::Result<ExitCode> {
    if as_json {
        json(value)?
    } else {
        print(value)
    }
    Ok(ExitCode::SUCCESS)
}

/// What a template of `cli/text` says, on stdout; nothing if it says nothing.
pub(crate) fn text(template: &impl Template) -> anyhow::Result<()> {
    let text = template.render()?;
    if !text.is_empty() {
        line(text.strip_prefix('\n').unwrap_or(&text));
    }
    Ok(())
}

/// What a template says on stdout, in the language of the terminal: `chinese` makes the other template of it.
pub(crate) fn text_in<E: Template, Z: Template>(
    english: E,
    chinese: impl FnOnce(E) -> Z,
) -> anyhow::Result<()> {
    if is_chinese() {
        text(&chinese(english))
    } else {
        text(&english)
    }
}

/// An answer as one JSON object, or as the template that `english` makes of it, or `chinese` of that.
pub(crate) fn answer_both<'a, T: Serialize, E: Template, Z: Template>(
    as_json: bool,
    value: &'a T,
    english: impl FnOnce(&'a T) -> E,
    chinese: impl FnOnce(E) -> Z,
) -> anyhow::Result<ExitCode> {
    if as_json {
        json(value)?
    } else {
        text_in(english(value), chinese)?
    }
    Ok(ExitCode::SUCCESS)
}

/// An answer as one JSON object, or as the template that `text` makes of it.
pub(crate) fn answer_in<'a, T: Serialize, P: Template>(
    as_json: bool,
    value: &'a T,
    text: impl FnOnce(&'a T) -> P,
) -> anyhow::Result<ExitCode> {
    if as_json {
        json(value)?
    } else {
        self::text(&text(value))?
    }
    Ok(ExitCode::SUCCESS)
}

/// One line for a person on stderr.
pub(crate) fn note(text: &str) {
    // Nothing can be done when stderr is gone.
    let text = printable_lines(&localized(text));
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The one line that says why the program failed.
pub(crate) fn error(text: &str) {
    error_as_is(&localized(text));
}

/// The same as a line of a log, which is English.
pub(crate) fn error_as_is(text: &str) {
    let (red, off) = if io::stderr().is_terminal() {
        ("\x1b[31m", "\x1b[0m")
    } else {
        ("", "")
    };
    let text = printable_lines(text);
    let _ = writeln!(io::stderr().lock(), "{red}taojin:{off} {text}");
}

/// An error or a warning in the language of the terminal.
pub(crate) fn localized(text: &str) -> Cow<'_, str> {
    let translated = is_chinese().then(|| translate(text)).flatten();
    translated.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The language of the terminal, as its environment names it.
pub(crate) fn language() -> String {
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let named = ["LC_ALL", "LC_MESSAGES", "LANG"];
    named.iter().find_map(set).unwrap_or_default()
}

/// Whether people are answered in Chinese; programs (`--json`) never are.
pub(crate) fn is_chinese() -> bool {
    language().starts_with("zh") && !std::env::args_os().any(|argument| argument == "--json")
}

/// The locale of whoever reads: that of the terminal, and English for programs.
pub(crate) fn locale() -> &'static str {
    if is_chinese() { "zh_CN.UTF-8" } else { "C" }
}

/// Of a text in both languages that of the terminal.
pub(crate) fn pick<T>(english: T, chinese: T) -> T {
    if is_chinese() { chinese } else { english }
}

/// A text for people in both languages: a template shows that of the terminal, and JSON has the English one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said(Words);

impl Said {
    pub(crate) fn new(english: impl Into<String>, chinese: impl Into<String>) -> Self {
        Self(Words::new(english, chinese))
    }

    /// What the store or the daemon says in English.
    pub(crate) fn from_english(text: &str) -> Self {
        Self::new(text, translate(text).unwrap_or_else(|| text.to_owned()))
    }

    /// The same with more behind it.
    pub(crate) fn push(&mut self, english: &str, chinese: &str) {
        self.0.en.push_str(english);
        self.0.zh.push_str(chinese);
    }

    pub(crate) fn append(&mut self, more: Said) {
        self.push(&more.0.en, &more.0.zh);
    }

    /// Several in one; `None` of none.
    pub(crate) fn join(all: Vec<Said>) -> Option<Self> {
        let mut all = all.into_iter();
        let mut joined = all.next()?;
        for Said(Words { en, zh }) in all {
            joined.push(&format!("; {en}"), &format!("；{zh}"));
        }
        Some(joined)
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(pick(&self.0.en, &self.0.zh))
    }
}

impl Serialize for Said {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.en)
    }
}

/// A length of time in the language of the terminal.
pub(crate) fn span(ms: &i64) -> String {
    span_in(locale(), *ms)
}

/// How a cycle went, in a word.
pub(crate) fn level(level: &Level) -> &'static str {
    level_in(locale(), *level)
}

/// The name of a field of a document.
pub(crate) fn field(name: &str) -> &'static str {
    field_in(locale(), name)
}

/// How a visit ended, by its word.
pub(crate) fn outcome(word: &str) -> &str {
    VisitOutcome::parse(word).map_or(word, |outcome| pick(outcome.as_str(), outcome.in_chinese()))
}

/// What became of a document, by its word.
pub(crate) fn change(word: &str) -> &str {
    DocumentChange::parse(word).map_or(word, |change| pick(change.as_str(), change.in_chinese()))
}

/// Whether stdout is a terminal that may show colours.
pub(crate) fn colours() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Start of bold text.
pub(crate) const BOLD: &str = "\x1b[1m";
const MARK: &str = "\x1b[33;1m";
const OFF: &str = "\x1b[0m";

/// Colours for stdout, or none: what stands before and after a text.
pub(crate) struct Paint {
    on: bool,
    /// A heading.
    pub(crate) bold: Safe<&'static str>,
    /// Less important text.
    pub(crate) dim: Safe<&'static str>,
    /// A line that is not there any more.
    pub(crate) red: Safe<&'static str>,
    /// A line that is new.
    pub(crate) green: Safe<&'static str>,
    pub(crate) off: Safe<&'static str>,
}

impl Paint {
    /// Colours if stdout is a terminal.
    pub(crate) fn new() -> Self {
        Self::switched(colours())
    }

    fn switched(on: bool) -> Self {
        let code = |code| Safe(if on { code } else { "" });
        Self {
            on,
            bold: code(BOLD),
            dim: code("\x1b[2m"),
            red: code("\x1b[31m"),
            green: code("\x1b[32m"),
            off: code(OFF),
        }
    }

    /// What a text does not say any more; without colours `[-so-]`.
    pub(crate) fn removed(&self, text: &str) -> Safe<String> {
        let text = printable(text);
        // Struck through as well: not everybody tells red from green.
        Safe(if self.on {
            format!("\x1b[9m{}{text}{OFF}", self.red)
        } else {
            format!("[-{text}-]")
        })
    }

    /// What a text says now; without colours `{+so+}`.
    pub(crate) fn added(&self, text: &str) -> Safe<String> {
        let text = printable(text);
        Safe(if self.on {
            format!("\x1b[4m{}{text}{OFF}", self.green)
        } else {
            format!("{{+{text}+}}")
        })
    }

    /// Names, each in the colour of its number, if it has one; the colours come again after the sixth.
    pub(crate) fn coloured<'a>(
        &self,
        names: impl IntoIterator<Item = (&'a str, Option<usize>)>,
    ) -> Safe<String> {
        let name = |(name, number): (&str, Option<usize>)| {
            let name = printable(name);
            match number.filter(|_| self.on) {
                Some(number) => format!("\x1b[{}m{name}{OFF}", 31 + number % 6),
                None => name,
            }
        };
        let names: Vec<String> = names.into_iter().map(name).collect();
        Safe(names.join(", "))
    }

    /// Text in `style` with its marks standing out; without colours the marks are 【】.
    pub(crate) fn marked(&self, text: &crate::serve::Marked, style: &str) -> Safe<String> {
        let mut out = String::new();
        for (part, is_marked) in parts(text) {
            let part = printable(part);
            match (is_marked, self.on) {
                (true, true) => out.push_str(&format!("{OFF}{MARK}{part}{OFF}")),
                (true, false) => out.push_str(&format!("【{part}】")),
                (false, true) => out.push_str(&format!("{style}{part}")),
                (false, false) => out.push_str(&part),
            }
        }
        Safe(if self.on { out + OFF } else { out })
    }
}

/// Minutes east of UTC where the readers are, as on the pages; until a configuration is read, those of this machine.
static ZONE: OnceLock<i32> = OnceLock::new();

/// Shows times in the readers' zone (`index.utc_offset_minutes`) from now on. The first call counts.
pub(crate) fn set_zone(utc_offset_minutes: i32) {
    ZONE.get_or_init(|| utc_offset_minutes);
}

/// A moment with its zone, or a dash.
pub(crate) fn time(ms: Option<i64>) -> String {
    show(ms, Precision::Minute)
}

/// The same to the second, where less would say nothing.
pub(crate) fn exact_time(ms: Option<i64>) -> String {
    show(ms, Precision::Second)
}

fn show(ms: Option<i64>, precision: Precision) -> String {
    let local = || chrono::Local::now().offset().local_minus_utc() / 60;
    let zone = ZONE.get().copied().unwrap_or_else(local);
    let shown = ms.and_then(|ms| show_time(ms, zone, precision));
    shown.unwrap_or_else(|| "-".to_owned())
}

/// The text in pieces: what is marked and what is not.
fn parts(text: &crate::serve::Marked) -> Vec<(&str, bool)> {
    let mut parts = Vec::new();
    let mut at = 0;
    for mark in &text.marks {
        parts.extend(text.text.get(at..mark.start).map(|t| (t, false)));
        parts.extend(text.text.get(mark.clone()).map(|t| (t, true)));
        at = mark.end;
    }
    parts.extend(text.text.get(at..).map(|t| (t, false)));
    parts.retain(|(text, _)| !text.is_empty());
    parts
}

/// The rate is that of the last so many fetches.
const RECENT: usize = 50;

/// Where there is no terminal, a line is logged this often.
const LOGGED: Duration = Duration::from_secs(10);

/// The line; cleared when it is dropped.
pub(super) struct ProgressLine {
    bar: ProgressBar,
}

impl ProgressLine {
    /// A line without anything yet; hidden when stderr is no terminal.
    pub(super) fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar }
    }

    /// What the crawl is to call for each fetch.
    pub(super) fn watcher(&self) -> ProgressCallback {
        let mut show = self.steps();
        Box::new(move |line: &LogLine, left| show(line.outcome.as_str(), &line.url, left))
    }

    /// What is to be called for each fetch: its outcome, its address, how many are left.
    pub(super) fn steps(&self) -> impl FnMut(&str, &str, u64) + Send + use<> {
        let bar = self.bar.clone();
        let mut recent: VecDeque<Instant> = VecDeque::new();
        let mut logged = Instant::now();
        let mut done = 0;
        move |outcome, url, left| {
            done += 1;
            let now = Instant::now();
            recent.push_back(now);
            if recent.len() > RECENT {
                recent.pop_front();
            }
            let rate = rate(&recent);
            let url = printable(url);
            if !bar.is_hidden() {
                let pace = pace(done, left, rate, is_chinese());
                bar.set_message(format!("{pace}  {} {url}", self::outcome(outcome)));
            } else if now - logged >= LOGGED {
                logged = now;
                tracing::debug!("{}  {outcome} {url}", pace(done, left, rate, false));
            }
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Fetches a second, from the times of the last ones.
fn rate(recent: &VecDeque<Instant>) -> Option<f64> {
    let span = recent.back()?.duration_since(*recent.front()?);
    let count = recent.len().checked_sub(1).filter(|n| *n > 0)?;
    (span > Duration::ZERO).then(|| count as f64 / span.as_secs_f64())
}

/// `12 done, 30 left, 1.0 pages/s, about 30 s left`.
fn pace(done: u64, left: u64, rate: Option<f64>, chinese: bool) -> String {
    let mut text = if chinese {
        format!("已完成 {done}，剩余 {left}")
    } else {
        format!("{done} done, {left} remaining")
    };
    let Some(rate) = rate else {
        return text;
    };
    text.push_str(&if chinese {
        format!("，{rate:.1} 页/秒")
    } else {
        format!(", {rate:.1} pages/s")
    });
    if left > 0 {
        let locale = if chinese { "zh" } else { "C" };
        let span = span_in(locale, (left as f64 / rate).max(1.0).round() as i64 * 1_000);
        text.push_str(&if chinese {
            format!("，约需 {span}")
        } else {
            format!(", about {span} left")
        });
    }
    text
}

/// The moment of a line: local time with its zone.
struct LocalTime;

impl FormatTime for LocalTime {
    fn format_time(&self, w: &mut Writer<'_>) -> std::fmt::Result {
        let now = chrono::Local::now();
        write!(w, "{}", now.format("%Y-%m-%d %H:%M:%S%.3f %:z"))
    }
}

/// Sets up logging for the process. The daemon speaks at level info, other commands only when something is wrong.
pub(crate) fn init_log(verbose: u8, daemon: bool) {
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

/// A bar of so many steps, on stderr.
pub(super) fn progress_bar(count: usize, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(count as u64).with_message(what);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos} of {len} {msg}") {
        bar.set_style(style);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::Marked;

    #[test]
    fn printable_strips_controls() {
        let found = Marked {
            text: "a\u{1b}[31m油\u{7}b".to_owned(),
            marks: std::iter::once(6..9).collect(),
        };
        let shown = Paint::switched(true).marked(&found, "").0;
        assert_eq!(shown, "a [31m\u{1b}[0m\u{1b}[33;1m油\u{1b}[0m b\u{1b}[0m");
        assert_eq!(
            Paint::switched(false).marked(&found, "").0,
            "a [31m【油】 b"
        );
    }

    #[test]
    fn progress_line_says_rate() {
        for (done, left, rate, en, zh) in [
            (1, 12, None, "1 done, 12 remaining", "已完成 1，剩余 12"),
            (
                8,
                384,
                Some(3.2),
                "8 done, 384 remaining, 3.2 pages/s, about 2 min left",
                "已完成 8，剩余 384，3.2 页/秒，约需 2 分钟",
            ),
            (
                9,
                0,
                Some(0.98),
                "9 done, 0 remaining, 1.0 pages/s",
                "已完成 9，剩余 0，1.0 页/秒",
            ),
        ] {
            assert_eq!(pace(done, left, rate, false), en);
            assert_eq!(pace(done, left, rate, true), zh);
        }
    }

    #[test]
    fn progress_rate_is_recent() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        assert_eq!(rate(&VecDeque::from([at(0)])), None);
        assert_eq!(rate(&VecDeque::from([at(0), at(500), at(1000)])), Some(2.0));
    }
}
