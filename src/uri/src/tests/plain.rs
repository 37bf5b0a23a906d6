use proptest::prelude::*;

use crate::CrawlUri;

/// Whether a reference is understood without the parser.
fn is_plain(reference: &str) -> bool {
    let page = CrawlUri::parse("https://h.example/news/2026/a.html?p=1").unwrap();
    page.join_plain(reference).is_some()
}

#[test]
fn plain_usual_references() {
    for reference in concat!(
        "http://news.example.com.cn~http://news.example.com.cn/~",
        "https://www.example.com/2016/05-09/0015_a.shtml?id=12&p=3#top~/a/b.html~",
        "http://10.2.0.255:8080/a~https://example.com:80~http://h:65535/~http://127.0.0.1~",
        "/%E7%9F%B3%E6%B2%B9/?q=%E6%B2%B9~t20160509_12.htm~list/index.html?page=2~",
        "../../../b/c.html~./a~?page=2~//example.com/",
    )
    .split('~')
    {
        assert!(is_plain(reference), "{reference}");
    }
}

#[test]
fn plain_refuses_changed() {
    for reference in concat!(
        "~http://Example.com/~http://example.com:80/~http://example.com./~",
        "http://127.0.0.01/~http://127.1/~http://1.2.3.256/~http://1.2.3.4.5/~http://1.2.3.a4/~https://h:443/~",
        "http://h:/~http://h:080/~http://h:65536/~http://h:8?a~http://h:8a/~http://user@example.com/~http://0x7f/~http://a.0x7/~http://xn--fiqs8s/~",
        "http://a..b/~http:///a~HTTP://example.com/~/../a~..~../~a/..~.a~/a/./b~/a?~/a?b&&c~",
        "/a?utm_source=x~/a?b='~/a;jsessionid=1~/(S(abcdefghijklmnopqrstuvwx))/a~/a b~/a\tb~/a\\b~",
        "/石~/%e7~/%41~/%2E%2E/a~/%~/a[1]~javascript:void(0)~a:b~#a",
    )
    .split('~')
    {
        assert!(!is_plain(reference), "{reference}");
    }
}

proptest! {
    #[test]
    fn plain_parse_as_parser(
        text in "(https?|http|HTTP|ftp)(://|:/|:|:///)(([a-z0-9.-]|\\.com|xn--|0x|石){1,12}|[0-9]{1,3}(\\.[0-9]{1,3}){3})(:80|:443|:8080|:[0-9a]{0,6}|@h\\.example|\\.|)(/|)([a-zA-Z0-9./;%_~!$'()*+,=:@^{|}\\[\\\\ -]|%E7|%2[eE]|%41|%2f|\\.\\./|//|油|\t){0,12}(\\?([a-z0-9&=%+;'/?@ -]|%5F|%3D|utm_x=|sid=|from=){0,12}|)(#.{0,4}|)"
    ) {
        let (quick, slow) = (CrawlUri::parse(&text), CrawlUri::read(text.trim()));
        prop_assert_eq!(format!("{quick:?}"), format!("{slow:?}"));
    }

    #[test]
    fn plain_join_as_parser(
        base in "https?://h(:81|)/([a-z0-9.;/()=%-]|//|\\.\\./|%E7|%3B){0,12}(\\?[a-z/.]{1,4}|)",
        reference in "(http:|https:|//|/|\\.\\./|\\./|)(//|)(h\\.example|h|)(/|)([a-zA-Z0-9./;%_~!$'()*+,=:@^{|}\\[\\\\ -]|%E7|%2[eE]|%41|%2f|\\.\\./|//|油|\t){0,10}(\\?([a-z0-9&=%+;'/?@ -]|%5F|%3D|utm_x=|sid=){0,10}|)(#.{0,4}|)"
    ) {
        let base = CrawlUri::parse(&base).unwrap();
        let (quick, slow) = (base.join(&reference), base.read_beside(reference.trim()));
        prop_assert_eq!(format!("{quick:?}"), format!("{slow:?}"));
    }
}
