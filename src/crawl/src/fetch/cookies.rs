//! Cookies of one fetch. In: answers that set them. Out: the header that gives them back. Some servers let nobody in who does
//! not give back the cookie of the first answer; nothing else is done for them, and nothing is kept after the fetch.

use reqwest::header::{self, HeaderMap, HeaderValue};

/// Cookies given back at most.
const MOST: usize = 32;
/// Bytes of one cookie, and of the header: browsers allow 4 KB each.
const MOST_BYTES: usize = 4 << 10;

/// The cookies that the answers of a fetch have set: name and value.
#[derive(Debug, Default)]
pub(super) struct Cookies {
    pairs: Vec<(String, String)>,
}

impl Cookies {
    /// Takes the cookies that an answer sets; whether any is new or has another value.
    pub(super) fn take(&mut self, headers: &HeaderMap) -> bool {
        let mut changed = false;
        for line in headers.get_all(header::SET_COOKIE) {
            let text = line.to_str().unwrap_or_default();
            let pair = text.split(';').next().unwrap_or_default();
            let Some((name, value)) = pair.split_once('=') else {
                continue;
            };
            let (name, value) = (name.trim(), value.trim());
            if name.is_empty() || pair.len() > MOST_BYTES {
                continue;
            }
            let room = self.pairs.len() < MOST;
            let known = self.pairs.iter_mut().find(|(known, _)| known == name);
            match known {
                Some((_, old)) if old == value => {}
                Some((_, old)) => {
                    value.clone_into(old);
                    changed = true;
                }
                None if room => {
                    self.pairs.push((name.to_owned(), value.to_owned()));
                    changed = true;
                }
                None => {}
            }
        }
        changed
    }

    /// The `Cookie` header, if there is any.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let pairs: Vec<String> = self.pairs.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let text = pairs.join("; ");
        let fits = !text.is_empty() && text.len() <= MOST_BYTES;
        HeaderValue::from_str(&text).ok().filter(|_| fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(lines: &[&str]) -> HeaderMap {
        let values = lines.iter().map(|l| HeaderValue::from_str(l).unwrap());
        values.map(|v| (header::SET_COOKIE, v)).collect()
    }

    #[test]
    fn cookies_are_given_back_as_set_and_only_changes_count() {
        let mut cookies = Cookies::default();
        assert!(!cookies.take(&answer(&["", "=x", "no pair; Path=/"])));
        assert_eq!(cookies.header(), None);
        let first = answer(&["a=1; Path=/; HttpOnly", " b = x=y "]);
        assert!(cookies.take(&first) && !cookies.take(&first));
        assert!(cookies.take(&answer(&["a=2"])));
        assert_eq!(cookies.header().unwrap(), "a=2; b=x=y");
    }

    #[test]
    fn a_flood_is_bounded() {
        let mut cookies = Cookies::default();
        let many: Vec<String> = (0..100).map(|n| format!("n{n}=1")).collect();
        cookies.take(&answer(
            &many.iter().map(String::as_str).collect::<Vec<_>>(),
        ));
        assert_eq!(cookies.pairs.len(), MOST);
        let long = format!("long={}", "x".repeat(MOST_BYTES));
        assert!(!Cookies::default().take(&answer(&[&long])));
    }
}
