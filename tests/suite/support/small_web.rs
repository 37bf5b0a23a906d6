//! A few pages whose answers a test sets one by one, on loopback, and the program crawling them.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::folder::Folder;
pub(crate) use super::http::Reply;
use super::http::serve;

type Replies = Arc<Mutex<BTreeMap<String, Reply>>>;

/// The pages, the requests they had, and a data folder.
pub(crate) struct SmallWeb {
    pub(crate) port: u16,
    replies: Replies,
    log: Arc<Mutex<Vec<String>>>,
    folder: Folder,
}

impl Deref for SmallWeb {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
}

impl SmallWeb {
    /// A site of the hosts `a.test` and `www.a.test` whose seed is the page `/` of the first.
    pub(crate) fn new(more_config: &str) -> Self {
        let (replies, log) = (Replies::default(), Arc::<Mutex<Vec<String>>>::default());
        let (answers, asked) = (Arc::clone(&replies), Arc::clone(&log));
        let port = serve(move |request| {
            let address = request.address();
            asked.lock().expect("no panic").push(address.clone());
            let known = answers.lock().expect("no panic");
            let reply = known.get(&address).cloned();
            drop(known);
            let mut reply = reply.unwrap_or(Reply::status(404));
            let mix = |hash: u64, byte: u8| hash.wrapping_mul(31) + u64::from(byte);
            let tag = format!("\"{:x}\"", reply.body.bytes().fold(7, mix));
            if reply.status == 200 && request.header("if-none-match").as_ref() == Some(&tag) {
                reply = Reply::status(304).after(reply.delay);
            }
            reply.header(&format!("ETag: {tag}"))
        });
        let config = format!(
            "[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\n[frontier]\nmin_delay_ms = 0\nmax_delay_ms = 0\n\
             throttle_backoff_ms = 1\nconnect_backoff_ms = 20\nmax_backoff_ms = 20\n[fetch]\nallow_addresses = \
             [\"127.0.0.0/8\"]\n[fetch.hosts]\n\"a.test\" = \"127.0.0.1\"\n\"www.a.test\" = \"127.0.0.1\"\n{more_config}"
        );
        let site = format!(
            "seeds = [\"http://a.test:{port}/\"]\n[scope]\nhosts = [\"a.test:{port}\", \"www.a.test:{port}\"]\n"
        );
        Self {
            port,
            replies,
            log,
            folder: Folder::new(&config, &[("a.toml", &site)]),
        }
    }

    /// The whole address of `a.test/path`.
    pub(crate) fn url(&self, address: &str) -> String {
        let (host, path) = address.split_once('/').expect("host/path");
        format!("http://{host}:{}/{path}", self.port)
    }

    /// Sets what `a.test/path` answers; whatever was not set is 404.
    pub(crate) fn set(&self, address: &str, reply: Reply) {
        let mut replies = self.replies.lock().expect("no panic");
        replies.insert(address.to_owned(), reply);
    }

    pub(crate) fn set_page(&self, address: &str, body: &str) {
        self.set(address, Reply::page(body));
    }

    /// A news page with a text of its own.
    pub(crate) fn set_article(&self, address: &str, title: &str) {
        self.set_page(address, &article(title, ""));
    }

    /// The seed: a list of links to these addresses.
    pub(crate) fn seed(&self, addresses: &[&str]) {
        let link = |a: &&str| {
            format!(
                "<li><a href=\"{}\">{a} 的一条新闻标题在此</a></li>",
                self.url(a)
            )
        };
        let links: String = addresses.iter().map(link).collect();
        self.set_page("a.test/", &format!("<title>列表</title><ul>{links}</ul>"));
    }

    /// Requests for an address since the last look.
    pub(crate) fn asked(&self, address: &str) -> usize {
        let log = self.log.lock().expect("no panic");
        log.iter().filter(|a| *a == address).count()
    }

    /// All of them.
    pub(crate) fn requests(&self) -> usize {
        self.log.lock().expect("no panic").len()
    }

    pub(crate) fn forget_log(&self) {
        self.log.lock().expect("no panic").clear();
    }

    /// One pass in which every known article is asked for again; its counts.
    pub(crate) fn crawl(&self) -> Value {
        self.json(&["crawl", "--site", "a", "--recheck", "--json"])
    }

    /// What `taojin why` says of an address.
    pub(crate) fn why(&self, address: &str) -> Value {
        self.json(&["why", &self.url(address), "--json"])
    }

    /// An address without scheme and port.
    pub(crate) fn short(&self, url: &str) -> String {
        url.replace("http://", "")
            .replace(&format!(":{}", self.port), "")
    }

    /// Address (without scheme and port) of each document in the index → its other addresses.
    pub(crate) fn indexed(&self) -> BTreeMap<String, Vec<String>> {
        let mut found = BTreeMap::new();
        for document in self.documents() {
            let others = document.addresses.iter().map(|a| self.short(a)).collect();
            let before = found.insert(self.short(&document.url), others);
            assert!(before.is_none(), "{} is there twice", document.url);
        }
        found
    }
}

/// A news page with a title and a text of its own.
pub(crate) fn article(title: &str, head: &str) -> String {
    let paragraphs: String = (1..7)
        .map(|n| {
            format!(
                "<p>{title}的第{n}段：钻井队在山坡上连续工作了{n}天，记录了岩心的颜色、气味和重量，\
                 并把样品装进编号的木箱，由卡车运到县城的化验室，等待下一步的结果公布。</p>"
            )
        })
        .collect();
    format!(
        "<html><head><title>{title}</title>{head}</head><body><h1>{title}</h1>\
         <div>2026年09月03日 10:20 来源：试验报</div><div class=\"content\">{paragraphs}</div></body></html>"
    )
}
