use proptest::prelude::*;

use super::server::uri;
use crate::fetch::Robots;

/// robots.txt, path, allowed.
pub(super) type Case<'a> = (&'a str, &'a str, bool);

pub(super) fn check(cases: &[Case]) {
    check_as("taojin", cases);
}

/// The same of rules for everybody.
fn check_rules(cases: &[Case]) {
    for &(rules, path, allowed) in cases {
        check(&[(&format!("user-agent: *\n{rules}"), path, allowed)]);
    }
}

fn check_as(agent: &str, cases: &[Case]) {
    for &(file, path, allowed) in cases {
        let robots = Robots::parse(file.as_bytes(), agent);
        let page = format!("http://h.example{path}");
        let written = robots.decide_written(&page);
        assert_eq!(
            written.is_ok(),
            allowed,
            "{file:?} {agent} {path}: {written:?}"
        );
        let canonical = robots.decide(&uri(&page));
        assert_eq!(
            canonical.is_ok(),
            allowed,
            "{file:?} {agent} {path}: {canonical:?}"
        );
    }
}

#[test]
fn robots_without_rules_allow() {
    check(&[
        ("", "/", true),
        ("\n\n# nothing\n", "/", true),
        ("disallow: /\n", "/", true),
        ("user-agent: other\ndisallow: /\n", "/", true),
        ("user-agent: taojin\ndisallow:\n", "/", true),
        ("user-agent: *\nnoindex: /\n", "/", true),
        ("<html><body>404: not found</body></html>", "/", true),
        (
            "user-agent: *\ndisallow: /\n\nuser-agent: taojin\nallow: /x\n",
            "/y",
            true,
        ),
        ("user-agent: taojin disallow: /\n", "/", true),
        ("user-agent: *\nplease disallow: /\n", "/", true),
        ("user-agent: *\ndisallow / now\n", "/", true),
    ]);
}

#[test]
fn robots_group_by_token() {
    check(&[
        ("user-agent: TaoJin\ndisallow: /\n", "/", false),
        ("user-agent: taojin/0.1 (x)\ndisallow: /\n", "/", false),
        ("user-agent: taojin news\ndisallow: /\n", "/", false),
        ("user-agent: taojinnews\ndisallow: /\n", "/", true),
        ("user-agent: tao\ndisallow: /\n", "/", true),
        ("user-agent: * x\ndisallow: /\n", "/", false),
        ("user-agent: *x\ndisallow: /\n", "/", true),
        (
            "user-agent: a\nuser-agent: taojin\ndisallow: /\n",
            "/",
            false,
        ),
        // the group of all counts only without one of our own
        (
            "user-agent: *\ndisallow: /\nuser-agent: taojin\ndisallow: /a\n",
            "/b",
            true,
        ),
        (
            "user-agent: taojin\ndisallow: /a\nuser-agent: *\ndisallow: /\n",
            "/b",
            true,
        ),
        // lines of other protocols do not end a group's list of agents
        (
            "user-agent: taojin\nsitemap: /s.xml\nuser-agent: *\ndisallow: /\n",
            "/",
            false,
        ),
        (
            "user-agent: taojin\ncrawl-delay: 5\nfoo: bar\nuser-agent: b\ndisallow: /\n",
            "/",
            false,
        ),
    ]);
}

#[test]
fn robots_groups_are_merged() {
    let file = "user-agent: taojin\ndisallow: /a\nuser-agent: b\ndisallow: /\nuser-agent: taojin\ndisallow: /b\n";
    check(&[(file, "/a", false), (file, "/b", false), (file, "/c", true)]);
}

#[test]
fn robots_group_of_other_agent() {
    let file = "user-agent: taojin\ndisallow: /a\nuser-agent: *\ndisallow: /\n";
    check_as("other", &[(file, "/b", false)]);
    let file = "user-agent: a\ndisallow:\nuser-agent: b\ndisallow: /\n";
    check_as("a", &[(file, "/", true)]);
}

#[test]
fn robots_longest_match_decides() {
    check_rules(&[
        ("allow: /p\ndisallow: /\n", "/page", true),
        ("allow: /folder\ndisallow: /folder\n", "/folder/page", true),
        ("disallow: /folder\nallow: /folder\n", "/folder/page", true),
        ("allow: /page\ndisallow: /*.htm\n", "/page.htm", false),
        ("allow: /$\ndisallow: /\n", "/", true),
        ("allow: /$\ndisallow: /\n", "/page.htm", false),
        ("allow: /a/index.html\ndisallow: /a/\n", "/a/", true),
        ("allow: /a/index.html\ndisallow: /a/\n", "/a/b", false),
        ("allow: /a/index.php\ndisallow: /a/\n", "/a/", false),
        (
            "disallow: /\nallow: /a\nallow: /a/b\ndisallow: /a/bc\n",
            "/a/bcd",
            false,
        ),
    ]);
}

#[test]
fn robots_pattern_wildcards() {
    check_rules(&[
        ("disallow: /a*b\n", "/aXXbYY", false),
        ("disallow: /a*b$\n", "/aXbYb", false),
        ("disallow: /a*b$\n", "/aXbY", true),
        ("disallow: *.gif$\n", "/a/b.gif", false),
        ("disallow: *.gif$\n", "/a/b.gif?c", true),
        ("disallow: /*?\n", "/a?b", false),
        ("disallow: /*?\n", "/a", true),
        ("disallow: /a$b\n", "/a$b", false),
        ("disallow: /a$b\n", "/a", true),
        ("disallow: /a***b\n", "/ab", false),
        ("disallow: /*aba*ba$\n", "/abba", true),
        ("disallow: a\n", "/a", true),
        ("disallow: *a\n", "/a", false),
        ("disallow: /A\n", "/a", true),
        ("disallow: $\n", "/", true),
    ]);
}

#[test]
fn robots_escapes_are_canonical() {
    check_rules(&[
        ("disallow: /石油\n", "/%E7%9F%B3%E6%B2%B9", false),
        ("disallow: /%e7%9f%b3\n", "/%E7%9F%B3%E6%B2%B9", false),
        ("disallow: /a%2fb\n", "/a%2Fb", false),
        ("disallow: /a%2Fb\n", "/a/b", true),
    ]);
    // an address in canonical form meets what a literal comparison misses (RFC 9309 §2.2.2)
    for (pattern, path) in [
        ("/%7Euser", "/~user"),
        ("/%62%61%7A", "/baz"),
        ("/file-%2A.html", "/file-*.html"),
        ("/foo-%24", "/foo-$"),
        ("/a b", "/a%20b"),
        ("/a|b", "/a%7Cb"),
        ("/90%off", "/90%25off"),
    ] {
        let file = format!("user-agent: *\ndisallow: {pattern}");
        let robots = Robots::parse(file.as_bytes(), "taojin");
        let page = uri(&format!("http://h.example{path}"));
        assert!(robots.decide(&page).is_err(), "{pattern} {page}");
    }
    // an escaped star is a star, not a wildcard
    let robots = Robots::parse(b"user-agent: *\ndisallow: /a%2Ab", "taojin");
    assert!(robots.decide(&uri("http://h.example/aXb")).is_ok());
}

#[test]
fn any_text_has_a_path() {
    let robots = Robots::parse(
        b"user-agent: *\ndisallow: /a\ndisallow: /?q\ndisallow: /;p",
        "taojin",
    );
    for url in [
        "/a",
        "//h.example/a",
        "http://h.example/a",
        "h.example/a",
        "http://h.example?q",
        "h.example;p",
        "http://h.example/a#b",
        "x/a?u=http://b/c",
    ] {
        assert!(robots.decide_written(url).is_err(), "{url}");
    }
    for url in [
        "",
        "/",
        "h.example",
        "http://h.example",
        "http://h.example#/a",
        "#",
        "a",
        "://",
        "//",
    ] {
        assert!(robots.decide_written(url).is_ok(), "{url}");
    }
}

#[test]
fn robots_names_deciding_line() {
    let file = "# hello\r\n\r\nuser-agent: *\r\nallow: /a\r\ndisallow: /\r\ndisallow: /\r\nallow: /b/index.htm";
    let robots = Robots::parse(file.as_bytes(), "taojin");
    let rule = |path: &str| match robots.decide(&uri(&format!("http://h.example{path}"))) {
        Ok(rule) => rule.map(|r| (r.allow, r.pattern.as_str(), r.line)),
        Err(rule) => Some((rule.allow, rule.pattern.as_str(), rule.line)),
    };
    assert_eq!(rule("/a/b"), Some((true, "/a", 4)));
    assert_eq!(rule("/x"), Some((false, "/", 5)));
    assert_eq!(rule("/b/"), Some((true, "/b/$", 7)));
    assert_eq!(Robots::default().decide_written("/"), Ok(None));
}

/// The reference's way: all positions of the path that the pattern so far may have reached.
fn matches_by_positions(pattern: &[u8], path: &[u8]) -> bool {
    let mut reached = vec![0];
    for (i, &p) in pattern.iter().enumerate() {
        match p {
            b'$' if i + 1 == pattern.len() => return reached.contains(&path.len()),
            b'*' => {
                reached =
                    (reached.first().copied().unwrap_or(path.len() + 1)..=path.len()).collect()
            }
            _ => {
                reached.retain(|&at| path.get(at) == Some(&p));
                reached.iter_mut().for_each(|at| *at += 1);
            }
        }
    }
    !reached.is_empty()
}

proptest! {
    #[test]
    fn robots_pattern_matches_reference(pattern in "/[ab*$/]{0,9}", path in "/[ab$/]{0,12}") {
        let file = format!("user-agent: *\ndisallow: {pattern}\n");
        let robots = Robots::parse(file.as_bytes(), "taojin");
        let want = matches_by_positions(pattern.as_bytes(), path.as_bytes());
        prop_assert_eq!(robots.decide_written(&format!("h.example{path}")).is_err(), want);
    }

    #[test]
    fn any_bytes_are_a_file(bytes in proptest::collection::vec(any::<u8>(), 0..300), url in "\\PC{0,40}") {
        let robots = Robots::parse(&bytes, "taojin");
        let _ = robots.decide_written(&url);
    }

    #[test]
    fn any_lines_are_a_file(
        lines in proptest::collection::vec("(user-agent|disallow|allow|sitemap|crawl-delay|x)[: ]{0,2}([*/a%$?#é]|taojin|index.htm|%4){0,6}[\r\n]{1,2}", 0..12),
        path in "/([a*$%/]|index){0,6}",
    ) {
        let robots = Robots::parse(lines.concat().as_bytes(), "taojin");
        let page = uri(&format!("http://h.example{path}"));
        if let Err(rule) = robots.decide(&page) {
            prop_assert!(!rule.allow && rule.line as usize <= 2 * lines.len());
        }
        let _ = robots.sitemaps(&page);
    }
}
