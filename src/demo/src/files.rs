//! What a request gets that is not a page of an article or a list: robots.txt, sitemaps, feeds, style sheets, downloads, and
//! the traps. In: site and request. Out: the answer.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::answer::{Answer, Body, Request, conditional, fnv, http_date};
use super::article::Encoding;
use super::feeds;
use super::sites::Template;
use super::template::{self, View};
use super::world::World;

/// Decompressed size of the bomb: about a thousand times its size on the wire.
const BOMB_BYTES: usize = 16 << 20;

impl World {
    /// robots.txt, sitemaps, feeds, style sheets, pictures, downloads.
    pub(super) fn file(&self, index: usize, request: &Request<'_>) -> Option<Answer> {
        let site = &self.sites[index];
        let path = request
            .target
            .split_once('?')
            .map_or(request.target, |(path, _)| path);
        if path == "/robots.txt" && site.template == Template::Agency {
            return Some(Answer::redirect(301, "/robots-common.txt"));
        }
        if path == "/robots.txt"
            || (path == "/robots-common.txt" && site.template == Template::Agency)
        {
            return feeds::robots(site)
                .map(|text| Answer::new(200, "text/plain; charset=utf-8", text));
        }
        if path == "/style.css" {
            return Some(Answer::new(
                200,
                "text/css; charset=utf-8",
                template::sheet(site.template),
            ));
        }
        if let Some(name) = path
            .strip_prefix("/img/")
            .and_then(|name| name.strip_suffix(".svg"))
        {
            return Some(Answer::new(
                200,
                "image/svg+xml",
                template::image(fnv(name.as_bytes())),
            ));
        }
        let changed_ms = self.latest(self.routes.newest(index));
        if let Some(xml) = feeds::feed(self, index, path) {
            let kind = if path == "/feed/" {
                "application/atom+xml; charset=utf-8"
            } else {
                "application/rss+xml; charset=utf-8"
            };
            let tag = format!("\"{:016x}\"", fnv(xml.as_bytes()));
            return Some(conditional(
                Answer::new(200, kind, xml).with("etag", tag),
                request,
            ));
        }
        let xml = feeds::sitemap(self, index, path)?;
        let answer = if path.ends_with(".gz") {
            Answer::new(200, "application/gzip", gzip(xml.as_bytes()))
        } else {
            Answer::new(200, "application/xml; charset=utf-8", xml)
        };
        Some(conditional(
            answer.with("last-modified", http_date(changed_ms)),
            request,
        ))
    }

    /// Everything else: the traps, and 404.
    pub(super) fn trap(&self, index: usize, request: &Request<'_>) -> Answer {
        let view = View {
            world: self,
            index,
            encoding: Encoding::Utf8,
            nonce: request.nonce,
        };
        let utf8 = "text/html; charset=utf-8";
        let path = request
            .target
            .split_once('?')
            .map_or(request.target, |(path, _)| path);
        match (view.site().template, path) {
            (Template::Newspaper, "/admin/login" | "/admin/stat" | "/search") => Answer::new(
                200,
                utf8,
                "<title>管理</title><h1>后台管理</h1><p>本页面不应当被抓取，也不应当出现在检索结果里。</p>",
            ),
            (Template::Newspaper, "/kantan/2019/0101/1001.html") => {
                Answer::new(410, utf8, template::missing(&view, 410))
            }
            (Template::Newspaper, "/files/annual-report.pdf") => {
                Answer::new(200, "application/pdf", noise(b"%PDF-1.7\n", 60_000))
            }
            (Template::Portal, "/down/well-data.zip") => {
                Answer::new(200, "application/zip", noise(b"PK\x03\x04", 90_000))
            }
            (Template::Bulletin, "/r/loop-a") => Answer::redirect(302, "/r/loop-b"),
            (Template::Bulletin, "/r/loop-b") => Answer::redirect(302, "/r/loop-a"),
            (Template::Bulletin, "/notice/readers.html") => {
                Answer::new(200, utf8, template::no_index(&view))
            }
            (Template::Bulletin, _) if path.starts_with("/topic/") => {
                Answer::new(200, utf8, template::growing(&view, path))
            }
            (Template::Bulletin, _) if path.starts_with("/internal/") => Answer::new(
                200,
                utf8,
                "<title>内部</title><h1>内部流转单</h1><p>本页面不应当被抓取，也不应当出现在检索结果里。</p>",
            ),
            (Template::Blog, "/drafts/todo.html") => Answer::new(
                200,
                utf8,
                "<title>草稿</title><h1>草稿</h1><p>还没有写完的东西，请不要看。</p>",
            ),
            (Template::Blog, "/out/meta-data") => {
                Answer::redirect(302, "http://169.254.169.254/latest/meta-data/")
            }
            (Template::Blog, "/out/loopback") => Answer::redirect(302, "http://0x7f000001/status"),
            (Template::Blog, _) if path.starts_with("/calendar/") => self.calendar(&view, path),
            (Template::Agency, "/article") => Answer::new(200, utf8, template::soft_error(&view)),
            (Template::Agency, "/data/history") => Answer {
                body: Body::Endless,
                ..Answer::new(200, utf8, "")
            },
            (Template::Agency, "/data/archive") => bomb(request.accepts_gzip),
            (Template::Agency, "/download") => {
                Answer::new(200, "application/octet-stream", noise(b"MZ", 40_000))
                    .with("content-disposition", "attachment; filename=\"setup.bin\"")
            }
            _ => Answer::new(404, utf8, template::missing(&view, 404)),
        }
    }

    fn calendar(&self, view: &View<'_>, path: &str) -> Answer {
        let mut parts = path.trim_start_matches("/calendar/").split('/');
        let mut number = || parts.next().and_then(|part| part.parse::<i32>().ok());
        match (number(), number()) {
            (Some(year @ 1..=9998), Some(month @ 1..=12)) => Answer::new(
                200,
                "text/html; charset=utf-8",
                template::calendar(view, year, month),
            ),
            _ => Answer::new(
                404,
                "text/html; charset=utf-8",
                template::missing(view, 404),
            ),
        }
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder
        .write_all(bytes)
        .expect("writing to memory cannot fail");
    encoder.finish().expect("writing to memory cannot fail")
}

/// A page that is small on the wire and huge when decompressed; a small page for a client without gzip.
fn bomb(accepts_gzip: bool) -> Answer {
    let utf8 = "text/html; charset=utf-8";
    if !accepts_gzip {
        return Answer::new(
            200,
            utf8,
            "<title>行情存档</title><p>存档只以压缩形式提供。</p>",
        );
    }
    Answer::new(200, utf8, gzip(&vec![b' '; BOMB_BYTES])).with("content-encoding", "gzip")
}

/// Binary bytes, the same each time.
fn noise(head: &[u8], length: usize) -> Vec<u8> {
    let mut rng = super::rng::Rng::new(length as u64);
    let mut out = head.to_vec();
    while out.len() < length {
        out.extend_from_slice(&rng.next().to_le_bytes());
    }
    out
}
