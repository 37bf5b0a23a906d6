//! The web page in a real browser: what a person does with keyboard and mouse, and what is shown then. Without
//! Chromium and its driver it says so and tests nothing.

use serde_json::{Value, json};

use crate::support::daemon::{Daemon, TOKEN};
use crate::support::folder::{Folder, assert_has};
use crate::support::web_driver::Browser;

/// Codes of keys in the WebDriver standard.
const ENTER: &str = "\u{E007}";
const ARROW_DOWN: &str = "\u{E015}";
const ESCAPE: &str = "\u{E00C}";
const TAB: &str = "\u{E004}";

/// A text long enough to be told as a reprint.
const REPORT: &str = "中国海油今天宣布，渤海湾的一口深井获得高产油气流，日产原油三百吨、天然气一千万立方米。\
    这口井完钻井深五千三百米，是今年以来渤海海域最重要的发现。专家认为，这一发现证实了深层潜山的勘探潜力，\
    为油田增储上产打开了新的局面。下一步，公司将加快评价井的部署，并同步研究开发方案，力争三年内建成投产。\
    渤海油田是我国最大的海上油田，去年原油产量超过三千四百万吨。";

/// The program over an index of invented documents.
struct Server {
    daemon: Daemon,
    _folder: Folder,
}

impl Server {
    fn start() -> Server {
        let topic = "[[follow]]\nname = \"gas\"\ntitle = \"天然气动态\"\nquery = \"天然气\"\n";
        let folder = Folder::new(
            &format!("[serve]\ntoken = \"{TOKEN}\"\n{topic}"),
            &[(
                "x.toml",
                "seeds = [\"http://news.example/\"]\ntitle = \"国家能源安全信息网\"\n",
            )],
        );
        folder.import(documents());
        Server {
            daemon: Daemon::serving(&folder),
            _folder: folder,
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.daemon.port)
    }
}

/// Forty reports over five months on two sites, and one report that three sites have.
fn documents() -> Vec<Value> {
    let notice = |at: usize| {
        let site = ["能源报", "石油网"][at % 2];
        json!({
            "url": format!("https://{site}.example/{at}"), "site": site, "title": format!("天然气价格第{at}号公告"),
            "published": format!("2026-{:02}-{:02}", at % 5 + 1, at % 27 + 1),
            "text": format!("天然气价格今日公布，第{at}号公告全文如下。页岩气产量第{}次上升。", at * 7),
        })
    };
    let report = |(site, day): (&str, u32)| {
        json!({
            "url": format!("https://{site}.example/99"), "site": site, "title": "渤海深井获得高产油气流",
            "published": format!("2026-03-0{day}"), "text": REPORT,
            "comments": [{ "author": "读者", "text": "值得庆祝的发现。" }],
        })
    };
    let holders = ["渤海报", "能源报", "石油网"].into_iter().zip(1..);
    (0..40).map(notice).chain(holders.map(report)).collect()
}

fn browser() -> Option<Browser> {
    match Browser::start("zh-CN") {
        Ok(browser) => Some(browser),
        Err(why) => {
            crate::support::say(&format!("skipped: {why}"));
            None
        }
    }
}

#[test]
fn browser_search_session() {
    let Some(browser) = browser() else {
        return;
    };
    let server = Server::start();
    types_and_takes_a_suggestion(&browser, &server);
    marks_leave_blanks_to_the_text(&browser, &server);
    filters_by_date_and_site(&browser, &server);
    starts_from_the_home_page(&browser, &server);
    expands_reprints_and_opens_a_document(&browser, &server);
    corrects_and_finds_nothing(&browser, &server);
    uses_only_the_keyboard(&browser, &server);
    fits_every_width(&browser, &server);
    signs_in_and_out(&browser, &server);
    let complaints = browser.complaints();
    // Pages that were asked for wrongly on purpose complain of their status.
    let meant = |text: &&String| {
        ["/nope", "=yesterday", "/login"]
            .iter()
            .any(|path| text.contains(path))
    };
    let real: Vec<&String> = complaints.iter().filter(|c| !meant(c)).collect();
    assert!(real.is_empty(), "{real:?}");
}

fn types_and_takes_a_suggestion(browser: &Browser, server: &Server) {
    browser.go(&server.url("/"));
    let focus = browser.run("return document.activeElement.id");
    let page = browser.run("return document.body.innerText");
    assert_eq!(focus, "q", "the query box has the focus: {page}");
    browser.write(&browser.find("#q"), "页岩");
    let shown = browser.until("suggestion", || {
        let options = browser.all(".suggestions:not([hidden]) [role=option]");
        options.first().map(|option| browser.text(option))
    });
    assert!(shown.contains("页岩"), "{shown}");
    let typed = browser.run("return document.querySelector('.suggestions b').textContent");
    assert_eq!(typed, "页岩", "what was typed is set apart");
    browser.press(ARROW_DOWN);
    let expanded = browser.run(
        "const q = document.getElementById('q'); return [q.getAttribute('aria-expanded'), \
         document.getElementById(q.getAttribute('aria-activedescendant')).getAttribute('aria-selected')]",
    );
    assert_eq!(expanded, json!(["true", "true"]));
    browser.press(ESCAPE);
    let closed = browser.run(
        "const q = document.getElementById('q'); return [q.getAttribute('aria-expanded'), q.value]",
    );
    assert_eq!(closed, json!(["false", "页岩"]));
    browser.press(ENTER);
    let total = browser.text(&browser.find(".total"));
    assert!(total.contains("40"), "{total}");
}

/// The browser puts a blank between Chinese and Latin by itself; a highlight does not lie over it.
fn marks_leave_blanks_to_the_text(browser: &Browser, server: &Server) {
    browser.go(&server.url("/?q=7"));
    let wide = browser.run(
        "const wide = []; for (const mark of document.querySelectorAll('mark')) { \
           const alone = mark.cloneNode(true); alone.style.position = 'absolute'; \
           document.querySelector('.snippet').append(alone); \
           if (mark.getClientRects().length === 1 && mark.closest('.snippet') && \
               Math.abs(mark.offsetWidth - alone.offsetWidth) > 1) wide.push(mark.outerHTML); \
           alone.remove(); } return [wide, document.querySelectorAll('.snippet mark').length > 0]",
    );
    assert_eq!(wide, json!([[], true]));
    let heading = browser.run(
        "const h = document.createElement('h1'); const box = document.createElement('div'); box.className = 'reading'; \
         box.append(h); document.body.append(box); return getComputedStyle(h).textWrapStyle || ''",
    );
    assert_ne!(
        heading, "balance",
        "lines of equal length cut Chinese words"
    );
}

fn filters_by_date_and_site(browser: &Browser, server: &Server) {
    browser.go(&server.url("/?q=%E5%A4%A9%E7%84%B6%E6%B0%94"));
    let columns = browser.run(
        "return [...document.querySelectorAll('.chart .column')].map(c => +c.getAttribute('height'))",
    );
    let columns = columns.as_array().expect("the chart").clone();
    assert!(
        columns.len() > 1 && columns.iter().any(|c| c.as_f64() > Some(0.0)),
        "{columns:?}"
    );
    let link = browser.run("return document.querySelector('.by-date a').getAttribute('href')");
    let link = link.as_str().expect("a date").to_owned();
    assert_has(&link, &["since=2026-05", "until=2026-05"]);
    // A click on the last bar of the chart leads to the same page.
    let bars = browser.all(".chart .room");
    browser.click(bars.last().expect("bars"));
    browser.until("narrowed page", || {
        browser.address().contains("since=2026-05").then_some(())
    });
    let all: u64 = counted(browser);
    assert!((1..40).contains(&all), "{all}");
    let sites = browser.all("[aria-labelledby=f-site] a");
    assert_eq!(sites.len(), 3, "all sites, and the two that match");
    browser.click(&sites[1]);
    browser.until("narrowed page", || {
        browser.address().contains("site=").then_some(())
    });
    assert!(counted(browser) < all);
    // A chip names each filter; with the keyboard, the last one is taken out again.
    let labels = "return [...document.querySelectorAll('.active .cross')].map(c => c.previousSibling.textContent)";
    let chips = browser.run(labels);
    assert_eq!(chips.as_array().map(Vec::len), Some(2), "{chips}");
    let focus = "document.querySelector('.active a[aria-label*=\"2026-05\"]').focus()";
    browser.run(focus);
    browser.press(ENTER);
    browser.until("wider page", || {
        (!browser.address().contains("since=")).then_some(())
    });
    assert_eq!(browser.run(labels).as_array().map(Vec::len), Some(1));
    assert!(browser.address().contains("site="));
    let marked = browser.run("return document.querySelectorAll('.hits mark').length");
    assert!(marked.as_u64() > Some(0));
}

/// With the headers that a browser really sends: a page may not read the cookie, and other sites may not use it.
fn signs_in_and_out(browser: &Browser, server: &Server) {
    browser.resize(1200);
    browser.go(&server.url("/login?next=/status"));
    browser.write(&browser.find("[name=token]"), "wrong");
    browser.press(ENTER);
    assert!(
        browser
            .text(&browser.find("[role=alert]"))
            .contains("令牌不对")
    );
    browser.write(&browser.find("[name=token]"), TOKEN);
    browser.press(ENTER);
    browser.until("status page", || {
        browser.address().ends_with("/status").then_some(())
    });
    assert_eq!(browser.run("return document.cookie"), "");
    browser.click(&browser.find(".foot form button"));
    let out = browser.until("sign-in link", || {
        browser.all(".foot a[href='/login']").pop()
    });
    assert_eq!(browser.text(&out), "登录");
}

/// The number above the hits.
fn counted(browser: &Browser) -> u64 {
    let text = browser.text(&browser.find(".total"));
    let digits: String = text
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().expect("a number")
}

fn expands_reprints_and_opens_a_document(browser: &Browser, server: &Server) {
    browser.go(&server.url("/?q=%E6%B8%A4%E6%B5%B7%E6%B7%B1%E4%BA%95"));
    let more = browser.find("a.more");
    assert_eq!(browser.text(&more), "另有 2 篇转载：能源报、石油网");
    assert_eq!(browser.all(".hits > li").len(), 1, "reprints are one hit");
    browser.click(&more);
    browser.find(".reprints li a");
    let sites = browser
        .run("return [...document.querySelectorAll('.reprints .site')].map(s => s.textContent)");
    assert_eq!(sites, json!(["能源报", "石油网"]));
    let expanded =
        browser.run("return document.querySelector('a.more').getAttribute('aria-expanded')");
    assert_eq!(expanded, "true");
    browser.click(&more);
    let hidden = browser.run("return document.querySelector('.reprints').hidden");
    assert_eq!(hidden, true);
    // Without script the same link leads to a page of all three.
    let link = browser.run("return document.querySelector('a.more').href");
    browser.go(link.as_str().expect("an address"));
    assert_eq!(browser.all(".hits > li").len(), 3);
    browser.click(&browser.find(".hits .meta a"));
    browser.until("document", || {
        browser.address().contains("/doc/").then_some(())
    });
    assert_eq!(browser.text(&browser.find("h1")), "渤海深井获得高产油气流");
    let comments = browser.text(&browser.find(".comments"));
    assert_has(&comments, &["1 条评论", "值得庆祝的发现"]);
    assert!(
        !browser.all("article mark").is_empty(),
        "the words are marked in the text"
    );
    // Its reprints stand below it, and a button copies how to cite it.
    let reprints = "return [...document.querySelectorAll('[aria-labelledby=reprints] .site')].map(s => s.textContent)";
    let sites = browser.run(reprints);
    assert_eq!(sites, json!(["能源报", "石油网"]));
    browser.click(&browser.find(".cite summary"));
    let copy = browser.find("[data-copy=cite-standard]");
    assert_eq!(browser.text(&copy), "复制");
    browser.click(&copy);
    browser.until("copied", || (browser.text(&copy) == "已复制").then_some(()));
    browser.click(&browser.find(".trail a"));
    browser.find(".hits");
}

/// What the first page offers: examples that find something, topics, the newest documents, the sites.
fn starts_from_the_home_page(browser: &Browser, server: &Server) {
    browser.go(&server.url("/"));
    let links = "return [...document.querySelectorAll('.hints a, [aria-labelledby=topics] li > a:first-child, \
                 [aria-labelledby=sites] li > a:first-child, [aria-labelledby=newest] li > a')].map(a => a.href)";
    let links = browser.run(links);
    let links: Vec<&str> = links
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|l| l.as_str())
        .collect();
    // Three lessons at least, one topic, eight documents, three sites.
    assert!(links.len() >= 15, "{links:?}");
    for link in links {
        browser.go(link);
        let found =
            browser.run("return document.querySelectorAll('.hits > li, .reading h1').length");
        assert!(found.as_u64() > Some(0), "{link} leads to nothing");
    }
}

fn corrects_and_finds_nothing(browser: &Browser, server: &Server) {
    browser.go(&server.url("/?q=zzqxj"));
    assert!(browser.text(&browser.find(".empty")).contains("没有找到"));
    browser.go(&server.url("/nope"));
    assert!(browser.text(&browser.find("main")).contains("没有这个页面"));
    browser.go(&server.url("/?q=a&since=yesterday"));
    assert!(
        browser
            .text(&browser.find("[role=alert]"))
            .contains("yesterday")
    );
}

fn uses_only_the_keyboard(browser: &Browser, server: &Server) {
    browser.go(&server.url("/?q=%E5%A4%A9%E7%84%B6%E6%B0%94&lang=en"));
    assert_eq!(browser.run("return document.documentElement.lang"), "en");
    let mut order = Vec::new();
    for _ in 0..7 {
        browser.press(TAB);
        let at = browser.run(
            "const a = document.activeElement; return a.closest('.skip, .brand, .box, .beside, .hits') \
             ? a.closest('.skip, .brand, .box, .beside, .hits').className.split(' ')[0] : a.tagName",
        );
        order.push(at.as_str().unwrap_or_default().to_owned());
    }
    order.dedup();
    assert_eq!(order, ["skip", "brand", "box", "beside", "hits"]);
    browser.press("/");
    assert_eq!(
        browser.run("return document.activeElement.id"),
        "q",
        "/ goes to the box"
    );
}

/// Pixels of a phone's page below the bars of the browser.
const PHONE_HEIGHT: f64 = 664.0;

fn fits_every_width(browser: &Browser, server: &Server) {
    let wide = "return document.documentElement.scrollWidth > document.documentElement.clientWidth";
    let words = "?q=%E6%B8%A4%E6%B5%B7%E6%B7%B1%E4%BA%95";
    browser.go(&server.url(&format!("/{words}")));
    let document =
        browser.run("return document.querySelector('.hits .meta a').getAttribute('href')");
    let document = document.as_str().expect("a document").to_owned();
    let filtered = "/?q=title:%E5%A4%A9%E7%84%B6%E6%B0%94%20-zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz&since=2026-01";
    for path in [
        "/",
        "/?q=%E5%A4%A9%E7%84%B6%E6%B0%94",
        filtered,
        &document,
        "/status",
        "/sites",
        "/trends?q=%E5%A4%A9%E7%84%B6%E6%B0%94&q=%E6%B8%A4%E6%B5%B7",
        "/help",
        "/nope",
    ] {
        browser.go(&server.url(path));
        for width in [320, 1200] {
            browser.resize(width);
            assert_eq!(browser.run(wide), false, "{path} is wider than {width}");
        }
    }
    // With synonyms, or where nothing has all of the query, a phone shows the first hit without scrolling.
    browser.resize(390);
    let below = "return document.querySelector('.hits li').getBoundingClientRect().bottom";
    for query in [
        "%E5%A4%A9%E7%84%B6%E6%B0%94",
        "%E5%A4%A9%E7%84%B6%E6%B0%94%20%E8%A2%81%E6%B5%A9%E7%84%B6",
    ] {
        browser.go(&server.url(&format!("/?q={query}")));
        let bottom = browser.run(below).as_f64().expect("a hit");
        assert!(bottom < PHONE_HEIGHT, "{query}: {bottom}");
    }
    // The table of sites needs no scrolling, in neither language.
    let cut =
        "return [...document.querySelectorAll('.scroll')].map(s => s.scrollWidth > s.clientWidth)";
    browser.resize(1280);
    for lang in ["zh", "en"] {
        browser.go(&server.url(&format!("/status?lang={lang}")));
        assert_eq!(browser.run(cut), json!([false]), "{lang}");
    }
}
