//! Parts of a URL that name a visit and not a page. In: one query parameter or one path. Out: whether it goes, or
//! the path without them. Only well-known names stand here: a parameter dropped by mistake loses pages for ever,
//! one kept by mistake costs a second fetch.

use std::borrow::Cow;

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
        || (SESSION_IF_RANDOM.contains(&name) && looks_random(value))
        || (name == "from" && WECHAT_FROM.contains(&value))
}

fn looks_random(value: &str) -> bool {
    value.len() >= RANDOM_VALUE_BYTES
        && value
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && value.bytes().any(|b| b.is_ascii_digit())
}

/// The path without `;jsessionid=…` and without the `(S(…))` segment of ASP.NET's cookieless sessions.
pub(super) fn sessions_from_path(path: &str) -> Cow<'_, str> {
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
