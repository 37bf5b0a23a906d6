//! The canonical spelling of URLs: percent-encoding (RFC 3986 §6.2.2), and parts that identify the visit instead of the
//! page.
//!
//! Unreserved characters are decoded, hex digits come in upper case, stray `%` and characters that RFC 3986 does not allow are
//! encoded. A reserved character is never decoded: `%2F` and `/` are two different paths.

use std::borrow::Cow;

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Brings the percent-encoding of a path or query, or a part of one, into its one canonical spelling.
pub fn normalize_escapes(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    if bytes.iter().all(|&b| is_allowed(b)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut i = 0;
    while let Some(&b) = bytes.get(i) {
        let escaped = match (b, bytes.get(i + 1), bytes.get(i + 2)) {
            (b'%', Some(&high), Some(&low)) => parse_hex(high).zip(parse_hex(low)),
            _ => None,
        };
        if let Some((high, low)) = escaped {
            let value = high << 4 | low;
            if is_unreserved(value) {
                out.push(char::from(value));
            } else {
                push_escape(&mut out, value);
            }
            i += 3;
        } else {
            if is_allowed(b) {
                out.push(char::from(b));
            } else {
                push_escape(&mut out, b);
            }
            i += 1;
        }
    }
    Cow::Owned(out)
}

fn push_escape(out: &mut String, value: u8) {
    out.push('%');
    out.push(char::from(HEX[usize::from(value >> 4)]));
    out.push(char::from(HEX[usize::from(value & 15)]));
}

fn parse_hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|v| u8::try_from(v).ok())
}

const fn is_unreserved(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~')
}

/// The bytes that may be unescaped in a path or query: unreserved, sub-delims, and `:@/?`.
const ALLOWED: [bool; 256] = {
    let mut allowed = [false; 256];
    let mut at = 0;
    while at < 128 {
        let b = at as u8;
        allowed[at] = is_unreserved(b)
            || matches!(
                b,
                b'!' | b'$' | b'&'..=b',' | b';' | b'=' | b':' | b'@' | b'/' | b'?'
            );
        at += 1;
    }
    allowed
};

/// Whether a byte may be unescaped in a path or query.
pub(super) const fn is_allowed(b: u8) -> bool {
    ALLOWED[b as usize]
}

/// Whether `text` begins with an escape that stays as it is: of a character that needs it, in capitals.
pub(super) fn is_canonical_escape(text: &[u8]) -> bool {
    let digit = |at: usize| {
        let digit = text.get(at)?;
        let canonical = !digit.is_ascii_lowercase();
        parse_hex(*digit).filter(|_| canonical)
    };
    let value = digit(1).zip(digit(2)).map(|(high, low)| high << 4 | low);
    text.first() == Some(&b'%') && value.is_some_and(|value| !is_unreserved(value))
}

/// Tracking parameters, lower case, each with who adds it.
const TRACKING: &[(&str, &str)] = &[
    ("_ga", "Google Analytics, across domains"),
    ("_gl", "Google Analytics, across domains"),
    ("_hsenc", "HubSpot mail"),
    ("_hsmi", "HubSpot mail"),
    ("_openstat", "Openstat"),
    ("at_campaign", "AT Internet, BBC"),
    ("at_medium", "AT Internet, BBC"),
    ("bd_vid", "Baidu advertising"),
    ("dclid", "Google Display"),
    ("fbclid", "Facebook"),
    ("gbraid", "Google Ads on iOS"),
    ("gclid", "Google Ads"),
    ("gclsrc", "Google Ads"),
    ("hmci", "Baidu Tongji campaign"),
    ("hmcu", "Baidu Tongji campaign"),
    ("hmkw", "Baidu Tongji campaign"),
    ("hmpl", "Baidu Tongji campaign"),
    ("hmsr", "Baidu Tongji campaign"),
    ("hsctatracking", "HubSpot"),
    ("igsh", "Instagram share"),
    ("igshid", "Instagram share"),
    ("isappinstalled", "WeChat share"),
    ("li_fat_id", "LinkedIn Ads"),
    ("mc_cid", "Mailchimp"),
    ("mc_eid", "Mailchimp"),
    ("mkt_tok", "Marketo"),
    ("msclkid", "Microsoft Ads"),
    ("nsukey", "WeChat share"),
    ("oly_anon_id", "Omeda"),
    ("oly_enc_id", "Omeda"),
    ("pk_campaign", "Matomo"),
    ("pk_keyword", "Matomo"),
    ("pk_kwd", "Matomo"),
    ("pk_medium", "Matomo"),
    ("pk_source", "Matomo"),
    ("qhclickid", "360 advertising"),
    ("share_medium", "Bilibili share"),
    ("share_source", "Bilibili share"),
    ("spm", "Alibaba and CCTV click position"),
    ("tt_from", "Toutiao share"),
    ("ttclid", "TikTok"),
    ("twclid", "X"),
    ("vd_source", "Bilibili share"),
    ("vero_id", "Vero mail"),
    ("wbraid", "Google Ads on iOS"),
    ("wickedid", "Wicked Reports"),
    ("wxshare_count", "WeChat share"),
    ("yclid", "Yandex"),
    ("ysclid", "Yandex"),
];

/// Families of tracking parameters: everything that starts so.
const TRACKING_PREFIXES: &[&str] = &[
    "utm_", // Urchin and Google Analytics
    "mtm_", // Matomo
    "hsa_", // HubSpot Ads
];

/// Values of `from` that only say in which WeChat window a link was opened; any other value may choose the page.
const WECHAT_FROM: &[&str] = &["groupmessage", "singlemessage", "timeline"];

/// Session parameters that mean nothing else wherever they occur.
const SESSION: &[&str] = &["jsessionid", "phpsessid", "cfid", "cftoken"];

/// Session parameters whose name has other uses as well (`sid` is a section in many Chinese systems): they go
/// only with a value that looks drawn at random.
const SESSION_IF_RANDOM: &[&str] = &[
    "oscsid",
    "s_id",
    "sessid",
    "session_id",
    "sessionid",
    "sid",
    "zenid",
];

/// The shortest value taken for a random one: 16 hex digits are 64 bits.
const RANDOM_VALUE_BYTES: usize = 16;

/// Whether a query parameter (`name` and `value` in canonical percent-encoding) names the visit, not the page.
pub(super) fn is_of_visit(name: &str, value: &str) -> bool {
    // `id`, `p` and the like: no name of a visit is so short.
    if name.len() < 3 {
        return false;
    }
    let lower = name.to_ascii_lowercase();
    let name = lower.as_str();
    TRACKING.binary_search_by_key(&name, |&(n, _)| n).is_ok()
        || TRACKING_PREFIXES.iter().any(|p| name.starts_with(p))
        || SESSION.contains(&name)
        || name.starts_with("aspsessionid")
        || (SESSION_IF_RANDOM.contains(&name) && is_random(value))
        || (name == "from" && WECHAT_FROM.contains(&value))
}

fn is_random(value: &str) -> bool {
    value.len() >= RANDOM_VALUE_BYTES
        && value
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && value.bytes().any(|b| b.is_ascii_digit())
}

/// The path without `;jsessionid=…` and without the `(S(…))` segment of ASP.NET's cookieless sessions.
pub(super) fn strip_path_sessions(path: &str) -> Cow<'_, str> {
    if !path.contains([';', '(']) {
        return Cow::Borrowed(path);
    }
    let mut out = String::with_capacity(path.len());
    let mut first = true;
    for segment in path.split('/') {
        if is_asp_session(segment) {
            continue;
        }
        if !first {
            out.push('/');
        }
        first = false;
        push_without_jsessionid(&mut out, segment);
    }
    Cow::Owned(out)
}

fn push_without_jsessionid(out: &mut String, segment: &str) {
    for (i, part) in segment.split(';').enumerate() {
        let name = part.split('=').next().unwrap_or_default();
        if i > 0 && name.eq_ignore_ascii_case("jsessionid") {
            continue;
        }
        if i > 0 {
            out.push(';');
        }
        out.push_str(part);
    }
}

/// `(S(24 letters and digits))`, or the same among other one-letter groups: `(X(1)S(…))`.
fn is_asp_session(segment: &str) -> bool {
    let Some(inner) = segment.strip_prefix('(').and_then(|s| s.strip_suffix("))")) else {
        return false;
    };
    let mut has_session = false;
    for group in inner.split(')') {
        let Some((letter, value)) = group.split_once('(') else {
            return false;
        };
        let alphanumeric = value.bytes().all(|b| b.is_ascii_alphanumeric());
        if letter.len() != 1 || !alphanumeric {
            return false;
        }
        has_session |= letter.eq_ignore_ascii_case("s") && value.len() == 24;
    }
    has_session
}

/// The names of the table of tracking parameters, for the test of its order.
#[cfg(test)]
pub(super) fn tracking_names() -> Vec<&'static str> {
    TRACKING.iter().map(|&(name, _)| name).collect()
}
