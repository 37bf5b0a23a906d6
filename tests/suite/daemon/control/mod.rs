//! What the operator asks for, of a running daemon and without one: visits, pause and resume, takedowns. The daemon is the
//! real program with the sample of a small site.

mod access;
mod any_page;
mod takedowns;
mod versions;
mod visits;

use crate::support::daemon::{LISTEN, TOKEN};
use crate::support::small_web::SmallWeb;

/// A small site whose daemon knows the operator's token.
fn site(pages: &[&str]) -> SmallWeb {
    site_with(pages, "")
}

fn site_with(pages: &[&str], more: &str) -> SmallWeb {
    let web = SmallWeb::new(&format!("{LISTEN}token = \"{TOKEN}\"\n{more}"));
    web.seed(pages);
    for (n, page) in pages.iter().enumerate() {
        web.set_article(page, &format!("第{n}号岩心样品"));
    }
    web
}

/// Two addresses of one text and two other pages.
const SAME: [&str; 2] = ["a.test/n/1.html", "www.a.test/n/1.html"];

fn copies() -> SmallWeb {
    let web = site(&[SAME[0], SAME[1], "a.test/n/2.html", "a.test/n/3.html"]);
    for page in SAME {
        web.set_article(page, "要下架的新闻");
    }
    web
}
