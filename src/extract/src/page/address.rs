//! Tells which strings of scripts and attributes are whole addresses, as opposed to words, parts of an address and
//! patterns that a script fills in. A wrong yes costs the site a request to what is nothing.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use percent_encoding::percent_decode_str;

use super::quoted::{quoted, unescaped};
use taojin_uri::CrawlUri;

/// Longest address, in bytes.
const MAX_BYTES: usize = 1024;
/// Longest handler that is read, in bytes.
const MAX_HANDLER: usize = 4096;

/// Endings of pages: a word with one of them is a relative address.
const PAGES: [&str; 13] = [
    "html", "htm", "shtml", "shtm", "jhtml", "xhtml", "php", "jsp", "jspx", "asp", "aspx", "do",
    "action",
];
/// Endings of what is no page and no document.
const RESOURCES: [&str; 27] = [
    "js", "css", "json", "jsonp", "xml", "txt", "map", "jpg", "jpeg", "png", "gif", "svg", "webp",
    "bmp", "ico", "mp3", "mp4", "avi", "flv", "m3u8", "swf", "woff", "woff2", "ttf", "eot", "apk",
    "exe",
];
/// Endings of files that are documents or hold some.
pub(crate) const FORMATS: [&str; 20] = [
    "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "ofd", "wps", "et", "dps", "rtf", "csv",
    "zip", "rar", "7z", "caj", "odt", "ods", "epub",
];
/// Parts of a path that programs ask for, and those that do something.
const PROGRAMS: [&str; 5] = ["api", "ajax", "rest", "graphql", "rpc"];
const ACTIONS: [&str; 12] = [
    "delete",
    "del",
    "remove",
    "logout",
    "signout",
    "login",
    "register",
    "vote",
    "cart",
    "like",
    "favorite",
    "unsubscribe",
];
/// Words of handlers whose addresses are for the script itself.
const REQUESTS: [&str; 9] = [
    "ajax",
    "$.post",
    "$.get",
    ".load(",
    "fetch(",
    "xmlhttp",
    "axios",
    "post(",
    "sendbeacon",
];

/// Whether a string is a whole address of a page or a document: absolute, from the root, or relative with the ending of
/// a page or a query. Nothing is left in it for a script to fill in.
pub(crate) fn is_address(text: &str) -> bool {
    has_address_shape(text) && !is_for_programs(text)
}

fn has_address_shape(text: &str) -> bool {
    // Most strings of a script are words.
    let may_be = (2..=MAX_BYTES).contains(&text.len())
        && memchr::memchr3(b'/', b'.', b'?', text.as_bytes()).is_some();
    if !may_be || has_open_sign(text) {
        return false;
    }
    let is_unfinished = text.ends_with(['=', '-', '_', ',', ':', '+', '&', '?', '#', '@']);
    let is_pattern = text.contains("/:")
        || UNDEFINED.find(text.as_bytes()).is_some()
        || !has_whole_escapes(text);
    if is_unfinished || is_pattern {
        return false;
    }
    let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    for scheme in ["http://", "https://", "//"] {
        if lower.starts_with(scheme) {
            let rest = text.get(scheme.len()..).unwrap_or_default();
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let begins = host.starts_with(|c: char| c.is_ascii_alphanumeric());
            return begins && host.contains(['.', ':']) && !host.ends_with('.');
        }
    }
    let path = text
        .trim_start_matches("../")
        .trim_start_matches("./")
        .trim_start_matches('/');
    let is_rooted = path.len() < text.len();
    let begins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '~' | '%');
    let end = path.find(['?', '#']).unwrap_or(path.len());
    let (file, query) = path.split_at(end);
    let has_query = query
        .strip_prefix('?')
        .and_then(|query| query.split_once('='))
        .is_some_and(|(name, value)| !name.is_empty() && !value.is_empty());
    if is_rooted {
        return file.starts_with(begins) || has_query;
    }
    let is_word = |c: char| c.is_alphanumeric() || "-_./%~,".contains(c);
    let is_file =
        file.starts_with(begins) && file.chars().all(is_word) && !lower.starts_with("www.");
    match ending(file) {
        Some(ending) => is_file && (is_one_of(ending, &PAGES) || is_one_of(ending, &FORMATS)),
        None => (file.is_empty() || is_file) && has_query,
    }
}

/// What a script puts where a value is missing.
static UNDEFINED: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("undefined"));

/// Whether a text has a sign that no address has as it is: white space, brackets, quotes.
fn has_open_sign(text: &str) -> bool {
    const OPEN: [bool; 128] = {
        let signs = b"\"'`<>{}[]()|\\^$*; \x7f";
        let mut open = [false; 128];
        let mut at = 0;
        while at < signs.len() {
            open[signs[at] as usize] = true;
            at += 1;
        }
        // Control characters.
        at = 0;
        while at < 0x20 {
            open[at] = true;
            at += 1;
        }
        open
    };
    let is_open = |byte: u8| OPEN.get(usize::from(byte)).copied().unwrap_or_default();
    let is_wide =
        |c: char| !c.is_ascii() && (c.is_whitespace() || c.is_control() || c == '\u{fffd}');
    text.bytes().any(is_open) || (!text.is_ascii() && text.contains(is_wide))
}

/// Each `%` is followed by two hexadecimal digits: `%s` is a pattern.
fn has_whole_escapes(text: &str) -> bool {
    text.split('%').skip(1).all(|rest| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

/// What only scripts ask for, resources of a page, and what does something when it is asked for.
fn is_for_programs(text: &str) -> bool {
    let path = text.split(['?', '#']).next().unwrap_or_default();
    if ending(path).is_some_and(|ending| is_one_of(ending, &RESOURCES)) {
        return true;
    }
    let mut words = text.split(['/', '?', '&', '=', '.']);
    words.any(|word| is_one_of(word, &PROGRAMS) || is_one_of(word, &ACTIONS))
}

/// The letters behind the last dot of the last part of a path.
fn ending(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let (_, ending) = name.rsplit_once('.')?;
    let is_ending =
        (1..=5).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_alphanumeric());
    is_ending.then_some(ending)
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// The address to which a click leads, of what a script does then: `window.open('/a.html')`, `location='a.html'`,
/// `javascript:openUrl('/a.html')`. `None` where it asks for something itself or the address is put together.
pub(crate) fn find_in_handler(code: &str) -> Option<String> {
    let code = code.get(..code.floor_char_boundary(MAX_HANDLER))?;
    let code: Cow<'_, str> = if code.contains("%27") || code.contains("%22") {
        percent_decode_str(code).decode_utf8_lossy()
    } else {
        code.into()
    };
    let wholes = quoted(&code).filter(|literal| !literal.is_part);
    let mut texts = wholes.map(|literal| unescaped(literal.raw));
    // Few handlers have one.
    let found = texts.find(|text| is_address(text.trim()))?;
    let lower = code.to_ascii_lowercase();
    let is_request = REQUESTS.iter().any(|word| lower.contains(word));
    (!is_request).then(|| found.trim().to_owned())
}

/// The file that a viewer shows, as `viewer.html?file=/a.pdf` names it, resolved against the viewer.
pub(crate) fn find_in_viewer(viewer: &CrawlUri) -> Option<CrawlUri> {
    let query = viewer.query().filter(|query| query.contains('.'))?;
    let path = viewer.path().to_ascii_lowercase();
    let is_page = ending(&path).is_some_and(|ending| is_one_of(ending, &["html", "htm", "shtml"]));
    let words = [
        "viewer",
        "pdfjs",
        "pdf.js",
        "/op/view.aspx",
        "/op/embed.aspx",
        "flexpaper",
    ];
    if !is_page && !words.iter().any(|word| path.contains(word)) {
        return None;
    }
    let values = query.split('&').filter_map(|parameter| {
        let (_, value) = parameter.split_once('=')?;
        Some(percent_decode_str(value).decode_utf8_lossy())
    });
    let mut files = values.filter(|value| {
        let path = value.split(['?', '#']).next().unwrap_or_default();
        has_address_shape(&value.replace(' ', "%20")) && format_of_name(path).is_some()
    });
    CrawlUri::resolve(Some(viewer), &files.next()?).ok()
}

/// The ending of the file that a URL names, in its path or in a parameter.
pub(crate) fn format_of_address(path: &str) -> Option<&'static str> {
    path.split(['?', '&', '=', '#', ';'])
        .find_map(|part| format_of_name(part))
}

/// The ending of a file's name, which may be followed by its size in brackets.
pub(crate) fn format_of_name(name: &str) -> Option<&'static str> {
    let (_, rest) = name.rsplit_once('.')?;
    let len = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let (ending, behind) = rest.split_at(len);
    let ends = behind
        .trim_start()
        .chars()
        .next()
        .is_none_or(|c| "（([【］]）)>》\"”".contains(c));
    let format = FORMATS
        .iter()
        .find(|format| ending.eq_ignore_ascii_case(format));
    format.copied().filter(|_| ends)
}

/// The same of a declared type: `application/pdf`.
pub(crate) fn format_of_type(declared: &str) -> Option<&'static str> {
    let kinds = [
        ("application/pdf", "pdf"),
        ("application/msword", "doc"),
        (
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "docx",
        ),
        ("application/vnd.ms-excel", "xls"),
        (
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "xlsx",
        ),
        ("application/vnd.ms-powerpoint", "ppt"),
        (
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            "pptx",
        ),
    ];
    let declared = declared.split(';').next().unwrap_or_default().trim();
    let kind = kinds
        .iter()
        .find(|(kind, _)| declared.eq_ignore_ascii_case(kind));
    kind.map(|(_, format)| *format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_whole_or_not() {
        for text in "/a/7.html http://a.cn/x?id=5 //b.a.cn/x ../n/7.shtml ./x/ n/7.html show.asp?id=7 ?page=2 read?id=7 \
            /files/a.pdf /新闻/7.html /a%20b.html"
            .split(' ')
        {
            assert!(is_address(text), "{text}");
        }
        for text in "_blank / # ./ text/html 2026/05/01 /a/${id}.html /a/{0}.html /show?id= /list_ /a/:id %s /a/%s.html \
            javascript:; http:// a.b /img/a.png /x.js /api/list?page=2 /user/logout?x=1 width=800 /d/[id] www.a.cn/x.html \
            /cart?add=5 //x a@b"
            .split(' ')
        {
            assert!(!is_address(text), "{text}");
        }
    }

    #[test]
    fn handler_address() {
        for (code, want) in [
            (
                "window.open('/a/7.html','_blank','width=800')",
                Some("/a/7.html"),
            ),
            ("javascript:show(%27/a/7.html%27)", Some("/a/7.html")),
            ("if(x){location.href = \"a\\/7.html\"}", Some("a/7.html")),
            ("open('/a/' + id + '.html')", None),
            ("open(base+'/a/7.html')", None),
            ("$.post('/a/7.html')", None),
            ("tab('news')", None),
            ("go(`/a/${id}.html`)", None),
        ] {
            assert_eq!(find_in_handler(code).as_deref(), want, "{code}");
        }
    }

    #[test]
    fn viewer_file() {
        for (viewer, want) in [
            (
                "/js/web/viewer.html?file=%2Fu%2Fa.pdf#page=2",
                Some("http://a.cn/u/a.pdf"),
            ),
            (
                "/js/web/viewer.html?file=../../u/a.pdf",
                Some("http://a.cn/u/a.pdf"),
            ),
            (
                "/read.html?url=http://b.cn/u/a.docx&t=1",
                Some("http://b.cn/u/a.docx"),
            ),
            // A program that sends the file.
            ("/download.jsp?file=/u/a.pdf", None),
            ("/viewer.html?file=7", None),
        ] {
            let viewer = CrawlUri::parse(&format!("http://a.cn{viewer}")).unwrap();
            let found = find_in_viewer(&viewer).map(|file| file.as_str().to_owned());
            assert_eq!(found.as_deref(), want, "{viewer}");
        }
    }
}
