//! The line that says how a crawl goes, on stderr: done, left, rate, time to go, the last address. In: each fetch as it
//! ends. Out: one line that changes on a terminal; elsewhere a debug line now and then, so nothing without `-v`.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::output;
use crate::daemon::{LogLine, Progress};

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
    pub(super) fn watcher(&self) -> Progress {
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
            let pace = pace(done, left, rate(&recent));
            let url = output::printable(url);
            if !bar.is_hidden() {
                bar.set_message(format!("{pace}  {outcome} {url}"));
            } else if now - logged >= LOGGED {
                logged = now;
                tracing::debug!("{pace}  {outcome} {url}");
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
fn pace(done: u64, left: u64, rate: Option<f64>) -> String {
    let mut text = format!("{done} done, {left} remaining");
    if let Some(rate) = rate {
        text.push_str(&format!(", {rate:.1} pages/s"));
        if left > 0 {
            text.push_str(&format!(", about {} left", roughly(left as f64 / rate)));
        }
    }
    text
}

/// A length of time as a person would say it.
fn roughly(seconds: f64) -> String {
    match seconds.max(1.0) {
        s @ ..90.0 => format!("{s:.0} s"),
        s @ ..5_400.0 => format!("{:.0} min", s / 60.0),
        s @ ..172_800.0 => format!("{:.0} h", s / 3_600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_done_left_rate_and_time_to_go() {
        assert_eq!(pace(1, 12, None), "1 done, 12 remaining");
        assert_eq!(
            pace(8, 384, Some(3.2)),
            "8 done, 384 remaining, 3.2 pages/s, about 2 min left"
        );
        assert_eq!(pace(9, 0, Some(0.98)), "9 done, 0 remaining, 1.0 pages/s");
        for (seconds, text) in [
            (0.2, "1 s"),
            (89.0, "89 s"),
            (150.0, "2 min"),
            (7_200.0, "2 h"),
            (400_000.0, "5 days"),
        ] {
            assert_eq!(roughly(seconds), text);
        }
    }

    #[test]
    fn the_rate_is_that_of_the_last_fetches() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        assert_eq!(rate(&VecDeque::from([at(0)])), None);
        assert_eq!(rate(&VecDeque::from([at(0), at(500), at(1000)])), Some(2.0));
    }
}
