//! New terms on an old index, through everything that searches: the command line, the web server of another process,
//! and the index itself. What is found changes at once, ranking behind that; a kill leaves the old terms or the new ones.

use std::thread;
use std::time::Duration;

use serde_json::json;
use taojin::daemon::{self, Budget, ReadDocuments};
use taojin::documents::open_index;

use crate::support::daemon::{Daemon, LISTEN};
use crate::support::folder::{Folder, RunExt as _, assert_has, imported};
use crate::support::wait_until;

/// A word that no dictionary has.
const TERM: &str = "顺北八十四斜井";

/// An index of documents with the term, and of as many with all its parts elsewhere.
fn filled() -> Folder {
    let folder = Folder::new(LISTEN, &[]);
    let mut documents = Vec::new();
    // Different texts, so that none is taken for a reprint of another.
    for (c, n) in "春雨秋霜夏荷冬雪梅兰竹菊".chars().zip(0..) {
        let part = |i| format!("{c}花开了{i}次，{n}人看见{c}树；");
        let more: String = (0..12).map(part).collect();
        for text in [
            format!("{TERM}投产了。{more}"),
            format!("{more}斜井在顺北第八十四米转向。"),
        ] {
            let url = format!("http://a.test/{n}/{}", documents.len());
            documents.push(json!({ "url": url, "text": text, "kind": "article" }));
        }
    }
    folder.import(documents);
    folder
}

/// Waits until a server of another process finds so many.
fn wait_for(server: &Daemon, wanted: u64) {
    let query: String = url::form_urlencoded::byte_serialize(TERM.as_bytes()).collect();
    wait_until(&format!("there are {wanted} hits"), || {
        server.json(&format!("/api/search?q={query}"))["total"] == wanted
    });
}

#[test]
fn new_term_acts_at_once() {
    let folder = filled();
    let server = Daemon::serving(&folder);
    // All its parts are enough, wherever they stand.
    assert_eq!(folder.total(TERM), 24);
    wait_for(&server, 24);
    folder.done(&["terms", "accept", TERM]);
    assert_eq!(folder.total(TERM), 12, "the whole term");
    wait_for(&server, 12);
    folder.done(&["terms", "reject", TERM]);
    assert_eq!(folder.total(TERM), 24);
    wait_for(&server, 24);
    // The file is the operator's own: an editor is as good as a command.
    folder.write("data/terms.txt", format!("# 我们的词\n{TERM}  # 新井\n"));
    wait_for(&server, 12);
    std::fs::remove_file(folder.file("data/terms.txt")).expect("removed");
    wait_for(&server, 24);
}

/// A server alone ranks old documents by what they were cut into; the daemon cuts them again.
#[test]
fn new_term_ranks_old_documents() {
    let folder = filled();
    let query: String = url::form_urlencoded::byte_serialize(TERM.as_bytes()).collect();
    let best = |daemon: &Daemon| {
        let found = daemon.json(&format!("/api/search?q={query}"));
        found["hits"][0]["score"].as_f64().expect("a score")
    };
    folder.done(&["terms", "accept", TERM]);
    let server = Daemon::serving(&folder);
    wait_for(&server, 12);
    let before = best(&server);
    let daemon = Daemon::start(&folder);
    wait_until("the old documents are cut again", || {
        daemon.json("/api/status")["terms"]["recut"].is_null() && best(&daemon) > before
    });
    wait_for(&daemon, 12);
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn terms_import_and_export() {
    let folder = filled();
    folder.write(
        "mine.txt",
        format!("{TERM}\tnz\n第八十四米\n八十四斜井 # 词\n"),
    );
    let said = folder.done(&["terms", "import", "mine.txt"]);
    assert!(said.starts_with("3 of 3 terms are new"), "{said}");
    assert_eq!(
        folder.done(&["terms", "export"]),
        format!("{TERM}\tnz\n第八十四米\n八十四斜井\n")
    );
    for (term, hits) in [
        (TERM, 12),
        ("第八十四米", 12),
        ("八十四斜井", 12),
        ("斜井", 24),
    ] {
        for query in [term, &format!("\"{term}\"")] {
            assert_eq!(folder.total(query), hits, "{query}");
        }
    }
    folder.run(&["terms", "accept", "有#号"]).failed(2);
    let accepted = folder.done(&["terms", "list", "--accepted"]);
    assert_eq!(accepted.lines().count(), 3);
    // A term of a built-in lexicon can be taken out too.
    folder.done(&["terms", "reject", "页岩气"]);
    assert_has(&folder.read("data/terms.txt"), &["\n-页岩气\n"]);
}

#[test]
fn terms_import_killed_is_atomic() {
    let folder = filled();
    let many: String = (0..3_000).map(|n| format!("新井{n}号\n")).collect();
    folder.write("many.txt", many);
    let import = ["terms", "import", "many.txt"];
    for wait_ms in [20, 60, 120, 200, 320, 480] {
        let running = folder.taojin(&import).started();
        // The kill falls at another moment each time.
        thread::sleep(Duration::from_millis(wait_ms));
        drop(running);
        let there = folder.done(&["terms", "export"]).lines().count();
        assert!(
            there == 0 || there == 3_000,
            "{there} terms after {wait_ms} ms"
        );
        folder.done(&["terms", "list", "--rejected"]);
    }
    folder.done(&import);
    assert_eq!(folder.done(&["terms", "export"]).lines().count(), 3_000);
}

#[test]
fn terms_discover_and_decide() {
    let folder = filled();
    let lines: String = (0..6)
        .map(|n| {
            let text =
                format!("水平井压裂液{n}号投产。用水平井压裂液，省钱。水平井压裂液的配方，很好。");
            format!("{}\n", json!({ "id": n, "text": text }))
        })
        .collect();
    folder.write("texts.jsonl", lines);
    let discover = ["terms", "discover", "--from", "texts.jsonl"];
    let keep = [&discover[..], &["--keep"]].concat();
    let found = folder.lines(&[&discover[..], &["--json"]].concat());
    assert_eq!(found[0]["term"], "水平井压裂液");
    let sentence = found[0]["evidence"][0]["sentence"].to_string();
    assert_has(&sentence, &["水平井压裂液"]);
    // What is in a file is only shown.
    assert_eq!(folder.done(&["terms", "list"]), "");
    folder.done(&keep);
    assert_has(&folder.done(&["terms", "list"]), &["水平井压裂液"]);
    folder.done(&["terms", "reject", "水平井压裂液"]);
    folder.done(&keep);
    assert!(!folder.done(&["terms", "list"]).contains("水平井压裂液"));
    let rejected = folder.done(&["terms", "list", "--rejected"]);
    assert_has(&rejected, &["水平井压裂液"]);
    folder.done(&["terms", "discover"]);
}

/// Patterns of a lexicon take the place of the built-in ones. A file with a mistake is refused, but stops no daemon.
#[test]
fn derived_patterns_decide_what_is_found() {
    let config = format!("{LISTEN}[terms]\npatterns = \"own-patterns.txt\"\n");
    let folder = Folder::new(&config, &[]);
    folder.write("lexicon.txt", "石油公司\n钻井平台\n油田公司\n");
    let lines = "春雨秋霜".chars().zip(0..).map(|(c, n)| {
        let text = format!("{c}天看办公桌椅。{c}天用办公桌椅，{c}天练烹饪技术，{c}天教烹饪技术。");
        format!("{}\n", json!({ "id": n, "text": text }))
    });
    folder.write("texts.jsonl", lines.collect::<String>());
    folder.done(&["terms", "patterns", "lexicon.txt", "-o", "own-patterns.txt"]);
    let written = folder.read("own-patterns.txt");
    assert_has(
        &written,
        &[
            "chars = 4-4\n",
            "words = 2-2\n",
            "NN 0.00 # 100.0 %: 石油 公司",
        ],
    );
    assert_eq!(folder.done(&["terms", "patterns", "lexicon.txt"]), written);
    let discover = ["terms", "discover", "--from", "texts.jsonl", "--json"];
    let found = |folder: &Folder| -> Vec<String> {
        let terms = folder.lines(&discover).into_iter();
        terms.map(|found| found["term"].to_string()).collect()
    };
    assert_eq!(found(&folder), ["\"办公桌椅\""]);
    folder.replace("taojin.toml", "own-patterns.txt", "");
    assert!(
        found(&folder).contains(&"\"烹饪技术\"".to_owned()),
        "the built-in patterns"
    );
    folder.replace(
        "taojin.toml",
        "patterns = \"\"",
        "patterns = \"own-patterns.txt\"",
    );

    let daemon = Daemon::start(&folder);
    folder.write("own-patterns.txt", "N = n\nNX 1\n");
    for command in [&["check"][..], &discover] {
        let line = folder.refused(command);
        assert_has(&line, &["own-patterns.txt: line 2: X is no class"]);
    }
    daemon.signal("-HUP");
    daemon.wait_for_status("the refusal is told", |status| {
        let note = status["note"].as_str().unwrap_or_default();
        note.starts_with("the last reload was refused: ")
            && note.contains("own-patterns.txt: line 2")
    });
    assert_eq!(daemon.stop(), Some(0));
    // What cannot teach patterns is the caller's mistake.
    folder.write("lexicon.txt", "石油公司\n");
    for (lexicon, wrong) in [
        ("lexicon.txt", "no two of its 1 terms"),
        ("missing.txt", "missing.txt: "),
        ("oil-gaz", "oil-gaz"),
    ] {
        assert_has(&folder.refused(&["terms", "patterns", lexicon]), &[wrong]);
    }
}

#[test]
fn sure_terms_enter_by_themselves() {
    // A few made-up lines are less sure than a real collection.
    let folder = Folder::new("[terms]\naccept_above = 0.1\n", &[]);
    let mut lines = String::new();
    let things = [
        "桥梁", "水库", "码头", "厂房", "车站", "果园", "学校", "灯塔",
    ];
    for (n, (thing, before)) in things.iter().zip("用买卖运换装加产".chars()).enumerate() {
        let term = "水平井压裂液";
        let text = format!("{thing}说，{before}{term}。{term}在{thing}里。{thing}旁有{term}。");
        lines += &format!("{}\n", json!({ "id": n, "text": text }));
    }
    folder.write("texts.jsonl", lines);
    let keep = ["terms", "discover", "--from", "texts.jsonl", "--keep"];
    let said = folder.taojin(&keep).ran();
    assert_has(
        &said.err,
        &[
            "terms entered the lexicon: ",
            "水平井压裂液",
            "`taojin terms reject TERM` takes one out",
        ],
    );
    let accepted = || folder.done(&["terms", "list", "--accepted"]);
    assert_has(&accepted(), &["水平井压裂液"]);
    assert!(!accepted().contains("学校"), "the dictionary has it");
    let entered = || folder.done(&["terms", "list", "--entered"]);
    assert_has(&entered(), &["水平井压裂液"]);
    // Rejected by a command, or by a line of the operator's own: it stays out.
    folder.done(&["terms", "reject", "水平井压裂液"]);
    folder.done(&keep);
    assert!(!accepted().contains("水平井压裂液"), "{}", accepted());
    assert!(!entered().contains("水平井压裂液"), "{}", entered());
    // What a person accepts is that person's.
    folder.done(&["terms", "accept", "水平井压裂液"]);
    assert!(!entered().contains("水平井压裂液"), "{}", entered());
    folder.done(&["terms", "reject", "水平井压裂液"]);
    std::fs::remove_file(folder.file("data/terms.sqlite")).expect("removed");
    folder.write("data/terms.txt", "-水平井压裂液\n");
    folder.done(&keep);
    assert!(!accepted().contains("水平井压裂液"), "{}", accepted());
}

/// Documents of which the term is in each, and another in every second.
fn articles(numbers: std::ops::Range<usize>) -> Vec<serde_json::Value> {
    let things = [
        "桥梁", "水库", "码头", "厂房", "车站", "果园", "学校", "灯塔", "医院", "磨坊",
    ];
    let articles = numbers.map(|n| {
        let thing = things[n];
        let other = if n % 2 == 0 { "水处理工艺" } else { thing };
        let text = format!(
            "{thing}的人用水平井压裂液。水平井压裂液在{thing}里，改了{other}。\n{thing}旁有水平井压裂液，说的是{other}！"
        );
        imported(&format!("http://a.test/{n}"), thing, &text)
    });
    articles.collect()
}

/// A term with its occurrences and documents.
type CountedTerm = (String, u32, u32);

/// The terms of a folder's index, and what was read for them; none if `go_on` said no.
fn discover(
    folder: &Folder,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<(Vec<CountedTerm>, ReadDocuments)> {
    let loaded = folder.loaded();
    let reader = open_index(&loaded, &loaded.analyzer().expect("lexicons")).expect("an index");
    let config = &loaded.config.terms;
    let found = daemon::discover_in_index(&loaded, &reader, config, Budget::Whole, go_on);
    let found = found.expect("it can be read")?;
    let terms = found.found.into_iter().map(|found| {
        let measured = found.candidate;
        assert!(
            !found.evidence.is_empty(),
            "{} is shown nowhere",
            found.term
        );
        (found.term, measured.occurrences, measured.documents)
    });
    Some((terms.collect(), found.documents))
}

#[test]
fn second_search_reads_only_new_documents() {
    let folders = [(); 2].map(|()| Folder::new("", &[]));
    let [parts, whole] = &folders;
    parts.import(articles(0..6));
    let (first, read) = discover(parts, &mut || true).expect("nobody stops it");
    assert_eq!(read, ReadDocuments { read: 6, new: 6 });
    parts.import(articles(6..10));
    let (second, read) = discover(parts, &mut || true).expect("nobody stops it");
    assert_eq!(read, ReadDocuments { read: 4, new: 4 });
    whole.import(articles(0..10));
    let (at_once, read) = discover(whole, &mut || true).expect("nobody stops it");
    assert_eq!(read, ReadDocuments { read: 10, new: 10 });
    assert_eq!(second, at_once);
    assert!(second.iter().any(|(term, _, _)| term == "水平井压裂液") && first != second);
    let (third, read) = discover(parts, &mut || true).expect("nobody stops it");
    assert_eq!((third, read), (second, ReadDocuments::default()));

    // What was changed is read again, and what it was before is forgotten; so is what is gone.
    parts.import([imported("http://a.test/1", "桥", "桥上没有人。")]);
    let (_, read) = discover(parts, &mut || true).expect("nobody stops it");
    assert_eq!(read, ReadDocuments { read: 1, new: 1 });
    let counted = |folder: &Folder| {
        let (terms, _) = discover(folder, &mut || true).expect("nobody stops it");
        let term = terms
            .into_iter()
            .find(|(term, _, _)| term == "水平井压裂液");
        term.expect("the term").1
    };
    assert_eq!((counted(whole), counted(parts)), (30, 27));
}

/// A stop and a kill leave the same: the file of before or the file of after, and the review list of before.
#[test]
fn search_that_was_stopped_is_taken_up_next_time() {
    let folder = Folder::new("", &[]);
    folder.import(articles(0..10));
    let (whole, _) = discover(&folder, &mut || true).expect("nobody stops it");
    let mut was_read = false;
    for questions in 0..100 {
        let _ = std::fs::remove_file(folder.file("data/terms.corpus"));
        let mut asked = 0;
        let stopped = discover(&folder, &mut || {
            asked += 1;
            asked <= questions
        });
        let (terms, read) = discover(&folder, &mut || true).expect("nobody stops it");
        assert_eq!(terms, whole, "stopped at question {questions}");
        // Either all is still to be read, or all was.
        assert!([0, 10].contains(&read.read), "{read:?}");
        was_read |= stopped.is_none() && read.read == 0;
        if stopped.is_some() {
            assert!(
                was_read,
                "it was never stopped after the documents were read"
            );
            return;
        }
    }
    unreachable!("it asks more than a hundred questions for ten documents");
}
