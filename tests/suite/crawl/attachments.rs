//! Files that pages offer: each becomes a document that knows its page, what no one can read is said, and nothing of them is asked
//! for where they are switched off.

use std::ops::Deref;
use std::time::Duration;

use serde_json::Value;

use crate::support::folder::{RunExt as _, assert_has};
use crate::support::small_web::{Reply, SmallWeb};
use crate::support::{PATIENCE, poll};

/// A text of its own in Rich Text Format, which says Chinese in numbers.
fn rtf(text: &str) -> Reply {
    let mut body = String::from("{\\rtf1\\ansi\\ansicpg936 ");
    for c in text.chars() {
        match c {
            '\n' => body.push_str("\\par\n"),
            c if c.is_ascii() => body.push(c),
            c => body.push_str(&format!("\\u{}?", c as u32)),
        }
    }
    Reply::page(&(body + "}"))
}

/// A page of Latin letters in Portable Document Format.
fn pdf(line: &str) -> Reply {
    let text = format!("BT /F1 12 Tf 72 720 Td ({line}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{text}\nendstream", text.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut body = String::from("%PDF-1.4\n");
    let mut places = Vec::new();
    for (number, object) in (1..).zip(&objects) {
        places.push(body.len());
        body.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let table = body.len();
    body.push_str(&format!(
        "xref\n0 {}\n0000000000 65535 f \n",
        objects.len() + 1
    ));
    for place in places {
        body.push_str(&format!("{place:010} 00000 n \n"));
    }
    body.push_str(&format!(
        "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n",
        objects.len() + 1
    ));
    Reply::page(&body)
}

const NOTICE: &str = "<title>关于核定天然气管道运输价格的通知</title><h1>关于核定天然气管道运输价格的通知</h1>\
    <p class=time>2026-05-06 来源：价格司</p><div><p>各省、自治区、直辖市发展改革委，国家管网集团：根据管道运输价格管理办法，\
    经成本监审，现将核定的管道运输价格印发给你们，请认真执行，具体价格见附件。</p>\
    <p>管道运输企业应当按照核定的价格与用户签订合同，不得擅自提高价格，也不得在价格之外收取其他费用。</p></div>";

/// A page with these files, and the page of the list that leads to it.
fn notice(web: &SmallWeb, files: &[(&str, &str)]) {
    let links = files
        .iter()
        .enumerate()
        .map(|(n, (path, name))| format!("<p>附件{}：<a href=\"{path}\">{name}</a></p>", n + 1));
    let links: String = links.collect();
    web.set_page(
        "a.test/notice.html",
        &format!("{NOTICE}{links}<p>国家发展改革委</p>"),
    );
    web.seed(&["a.test/notice.html"]);
}

fn three_files(more: &str) -> SmallWeb {
    let web = SmallWeb::new(more);
    notice(
        &web,
        &[
            ("/files/a1.rtf", "管道运输价格表.rtf"),
            ("/files/a2.pdf", "Tariff notes.pdf"),
            ("/files/a3.pdf", "扫描件.pdf"),
        ],
    );
    let price =
        "西气东输管道公司的运价率为0.1416元每千立方米公里。\n川气东送管道公司的运价率为0.2131元。";
    web.set("a.test/files/a1.rtf", rtf(price));
    web.set(
        "a.test/files/a2.pdf",
        pdf("Tariff of the coastal pipeline is published yearly"),
    );
    web.set_page(
        "a.test/files/a3.pdf",
        "%PDF-1.4 cut off before anything could be said",
    );
    web
}

/// The only document that a search finds.
fn only(web: &SmallWeb, query: &str) -> Value {
    let found = web.json(&["search", "--json", query]);
    let hits = found["hits"].as_array().cloned().unwrap_or_default();
    assert_eq!(hits.len(), 1, "{query}: {found}");
    hits[0].clone()
}

#[test]
fn attachments_become_documents() {
    let web = three_files("");
    web.crawl();
    let hit = only(&web, "川气东送 filetype:rtf");
    assert_eq!(hit["title"], "管道运输价格表");
    assert_eq!(hit["published"], "2026-05-06", "the page says it");
    assert_eq!(hit["file"]["format"], "rtf");
    assert_eq!(hit["file"]["page_url"], web.url("a.test/notice.html"));
    assert_eq!(
        hit["file"]["page_title"],
        "关于核定天然气管道运输价格的通知"
    );
    let hit = only(&web, "coastal pipeline kind:attachment");
    assert_eq!(hit["file"]["pages"], 1);
    assert_eq!(hit["file"]["parts"][0]["name"], "1");
    // What cannot be read is no document, and the record says why.
    let why = web.why("a.test/files/a3.pdf");
    assert_has(&why.to_string(), &["damaged"]);
    assert_eq!(
        web.json(&["search", "--json", "扫描件 kind:attachment"])["total"],
        0
    );
    let rows = web.lines(&["export", "--format", "jsonl"]);
    let files = rows.iter().filter(|row| row["kind"] == "attachment");
    assert_eq!(files.count(), 2);
    // Each is asked for again as pages are, with its ETag, and stays one document.
    web.forget_log();
    web.crawl();
    assert_eq!(web.asked("a.test/files/a1.rtf"), 1);
    assert_eq!(
        web.lines(&["export", "--format", "jsonl"]).len(),
        rows.len()
    );
    // A captcha in the place of a file takes nothing away.
    web.set_page(
        "a.test/files/a1.rtf",
        "<html><title>安全验证</title><p>请输入验证码以继续访问</p></html>",
    );
    web.crawl();
    only(&web, "川气东送 filetype:rtf");
    // What changed is found as it is now.
    web.set(
        "a.test/files/a1.rtf",
        rtf("中俄东线管道公司的运价率为0.1783元每千立方米公里。"),
    );
    web.crawl();
    only(&web, "中俄东线 filetype:rtf");
    assert_eq!(
        web.json(&["search", "--json", "川气东送 filetype:rtf"])["total"],
        0
    );
}

#[test]
fn attachments_can_be_switched_off() {
    for (file, before) in [("taojin.toml", "[crawl]\n"), ("sites.d/a.toml", "")] {
        let web = three_files("");
        let text = std::fs::read_to_string(web.file(file)).expect("a configuration");
        let text = text.replacen(before, &format!("{before}attachments = false\n"), 1);
        web.write(file, text);
        web.crawl();
        assert_eq!(web.asked("a.test/notice.html"), 1);
        assert_eq!(
            web.json(&["search", "--json", "kind:attachment"])["total"],
            0
        );
        only(&web, "核定 管道运输价格");
    }
}

#[test]
fn attachments_obey_limits_and_robots() {
    let web = three_files("");
    web.replace(
        "taojin.toml",
        "[fetch]\n",
        "[fetch]\nmax_attachment_bytes = \"1 KiB\"\n",
    );
    web.set_page(
        "a.test/robots.txt",
        "User-agent: *\nDisallow: /files/a2.pdf\n",
    );
    web.set("a.test/files/a1.rtf", rtf(&"长距离管道".repeat(200)));
    web.set(
        "a.test/files/a3.pdf",
        pdf("Nobody may find this").header("X-Robots-Tag: noindex"),
    );
    web.crawl();
    assert_eq!(
        web.json(&["search", "--json", "kind:attachment"])["total"],
        0
    );
    assert_eq!(web.asked("a.test/files/a2.pdf"), 0);
    assert_has(
        &web.why("a.test/files/a1.rtf").to_string(),
        &["max_attachment_bytes"],
    );
    assert_has(&web.why("a.test/files/a3.pdf").to_string(), &["noindex"]);
}

#[test]
fn killed_crawl_reads_each_attachment_once() {
    const FILES: usize = 40;
    const KILLS: usize = 20;
    let web = SmallWeb::new("");
    let name = |n: usize| format!("/files/{n}.rtf");
    let link = |n: usize| format!("<li><a href=\"{}\">第{n}号公告全文</a></li>", name(n));
    let links: String = (0..FILES).map(link).collect();
    web.set_page(
        "a.test/",
        &format!("<title>公告列表</title><ul>{links}</ul>"),
    );
    for n in 0..FILES {
        let text = format!("第{n}号公告：第{n}条管道的全线检修已经完成，恢复向沿线各地供气。");
        let reply = rtf(&text).after(Duration::from_millis(20));
        web.set(&format!("a.test{}", name(n)), reply);
    }
    for kill in 1..=KILLS {
        let mut crawl = web.taojin(&["crawl", "--site", "a"]).started();
        web.forget_log();
        // Some requests further each time, until nothing is left to be fetched.
        let is_there = || (web.requests() > kill % 5 || crawl.ended().is_some()).then_some(());
        poll(PATIENCE, is_there).expect("requests");
        drop(crawl);
    }
    web.done(&["crawl", "--site", "a"]);
    let indexed = Deref::deref(&web).indexed();
    let files = indexed.iter().filter(|(url, _)| url.ends_with(".rtf"));
    let counts: Vec<usize> = files.map(|(_, count)| *count).collect();
    assert_eq!(counts, [1; FILES], "{indexed:?}");
    assert_eq!(
        web.json(&["search", "--json", "kind:attachment"])["total"],
        FILES
    );
}

#[test]
fn attachments_of_lists_and_archives() {
    let web = SmallWeb::new("[warc]\nenabled = true\n");
    // A list that leads to files alone names them.
    let link =
        |n: usize| format!("<li><a href=\"/files/{n}.pdf\">第{n}次临时股东大会决议公告</a></li>");
    let links: String = (1..=12).map(link).collect();
    web.set_page(
        "a.test/",
        &format!("<title>公告列表</title><ul>{links}</ul>"),
    );
    for n in 1..=12 {
        web.set(
            &format!("a.test/files/{n}.pdf"),
            pdf(&format!("Resolution {n} of the meeting")),
        );
    }
    web.crawl();
    let hit = only(&web, "\"Resolution 7 of\"");
    assert_eq!(hit["title"], "第7次临时股东大会决议公告");
    // The archive brings them again, into an empty store.
    let archive = std::fs::read_dir(web.data_dir().join("warc")).expect("archives");
    let archive = archive.flatten().next().expect("one").path();
    let kept = web.file("kept.warc.gz");
    std::fs::rename(archive, &kept).expect("moved");
    std::fs::remove_dir_all(web.data_dir()).expect("removed");
    web.done(&["crawl", "--warc", kept.to_str().expect("text")]);
    let found = web.json(&["search", "--json", "kind:attachment"]);
    assert_eq!(found["total"], 12, "{found}");
}
