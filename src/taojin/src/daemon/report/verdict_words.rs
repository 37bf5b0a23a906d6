//! What went wrong with a site's pages, in English and in Chinese. In: the words that the crawl counts problems by. Out:
//! phrases and sentences. Never decides how bad it is.

use taojin_crawl::frontier::Cause;

/// A short phrase for a word of the network; none for statuses, which speak for themselves.
pub(crate) fn problem(word: &str) -> Option<(&'static str, &'static str)> {
    Some(match word {
        "dns" => ("no address for the name", "域名无法解析"),
        "connection-refused" => ("connection refused", "连接被拒绝"),
        "connect" => ("no connection", "无法连接"),
        "tls" => ("no secure connection", "无法建立安全连接"),
        "timeout" => ("no answer in time", "应答超时"),
        "reset" => ("connection broken", "连接中断"),
        "truncated" => ("answer cut short", "应答不完整"),
        "decode" => ("answer cannot be decompressed", "应答无法解压"),
        "protocol" => ("answer is not HTTP", "应答不是 HTTP"),
        "content-type" => ("not a web page", "不是网页"),
        "too-large" => ("too large", "过大"),
        "bomb" => ("decompression bomb", "压缩炸弹"),
        "bad-redirect" => ("redirect to no usable address", "跳转到不可用的网址"),
        "guard" => ("address not allowed", "地址不允许访问"),
        "robots" => ("forbidden by robots.txt", "robots.txt 禁止"),
        "error page" => ("error page", "错误页"),
        _ => return None,
    })
}

/// Why the start page of a site did not come, as a sentence; `last_error` is an address and a reason.
pub(crate) fn entry_problem(word: &str, start: &str, last_error: Option<&str>) -> (String, String) {
    let robots = word.strip_prefix("robots.txt: ");
    if let Some(status) = robots.filter(|answer| answer.starts_with("HTTP ")) {
        return (
            format!("robots.txt answers {status}, so the site is not asked"),
            format!("robots.txt 返回 {status}，因此不抓取该站"),
        );
    }
    let word = robots.unwrap_or(word);
    if word.starts_with("HTTP ") {
        return (
            format!("every answer was {word}"),
            format!("所有应答都是 {word}"),
        );
    }
    let (en, zh) = match word {
        "robots" => {
            let reason = last_error.and_then(|e| e.split_once(": ")).map(|(_, r)| r);
            let rule = reason.and_then(|r| r.strip_prefix("robots.txt line "));
            let (en, zh) = match rule.and_then(|r| r.split_once(": ")) {
                Some((line, rule)) => (
                    format!(" (line {line}: {rule})"),
                    format!("（第 {line} 行：{rule}）"),
                ),
                None => Default::default(),
            };
            return (
                format!("robots.txt forbids the start page{en}"),
                format!("robots.txt 禁止抓取起始页{zh}"),
            );
        }
        "connection-refused" => ("connection refused at", "连接被拒绝："),
        "dns" => ("no address is known for", "域名无法解析："),
        "connect" => ("no connection to", "无法连接："),
        "tls" => ("no secure connection to", "无法建立安全连接："),
        "timeout" => ("no answer in time from", "应答超时："),
        "guard" => (
            "fetch.allow_addresses does not allow the address of",
            "fetch.allow_addresses 不允许访问该地址：",
        ),
        "content-type" => ("what came is not a web page, from", "取回的不是网页："),
        _ => {
            let (en, zh) = problem(word).unwrap_or(("no usable answer", "没有可用的应答"));
            return (format!("{en}, from {start}"), format!("{zh}：{start}"));
        }
    };
    (format!("{en} {start}"), format!("{zh}{start}"))
}

/// Why a host is not asked sooner, in Chinese; English is [`Cause::describe`].
pub(crate) fn cause_zh(cause: Cause) -> &'static str {
    match cause {
        Cause::None => "没有限制",
        Cause::Delay => "两次抓取之间的间隔",
        Cause::CrawlDelay => "robots.txt 的 Crawl-delay",
        Cause::SiteDelay => "站点设置的间隔",
        Cause::RetryAfter => "服务器的 Retry-After",
        Cause::Throttled => "服务器返回 429 或 503，正在退避",
        Cause::Unreachable => "无法连接，正在退避",
        Cause::Parked => "连续出错过多，已搁置",
        Cause::TurnedAway => "返回验证码、登录之类的页面，正在退避",
        Cause::CycleLimit => "已达到本轮页数上限",
    }
}
