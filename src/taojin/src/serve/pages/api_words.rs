//! Words of the page of the API, in Chinese and English. In: the name of an operation. Out: what it does in a few words.

use super::lang::Lang;

/// Fixed words of the page.
pub(crate) struct Words {
    pub(crate) heading: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) address: &'static str,
    pub(crate) machine: &'static str,
    pub(crate) errors: &'static str,
    pub(crate) errors_text: &'static str,
    pub(crate) limit: &'static str,
    pub(crate) limit_text: &'static str,
    pub(crate) operator: &'static str,
    pub(crate) parameter: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) call: &'static str,
    pub(crate) answer: &'static str,
    pub(crate) fields: &'static str,
    pub(crate) statuses: &'static str,
    pub(crate) contents: &'static str,
}

impl Words {
    pub(crate) fn of(lang: Lang) -> &'static Words {
        match lang {
            Lang::Zh => &CHINESE,
            Lang::En => &ENGLISH,
        }
    }

    /// Name of a group of routes.
    pub(crate) fn group<'a>(&self, tag: &'a str, lang: &Lang) -> &'a str {
        match (tag, *lang == Lang::Zh) {
            ("search", true) => "搜索与文档",
            ("search", false) => "Search and documents",
            ("feeds", true) => "订阅",
            ("feeds", false) => "Feeds",
            ("terms", true) => "领域词",
            ("terms", false) => "Domain terms",
            ("sites", true) => "站点与网址",
            ("sites", false) => "Sites and addresses",
            ("operation", true) => "运行与监控",
            ("operation", false) => "Operation",
            (other, _) => other,
        }
    }
}

const CHINESE: Words = Words {
    heading: "开放接口",
    lead: "网页上能查到的，程序也能查到。除审核等管理操作外，全部用 GET，不需要口令；答复是 UTF-8 编码的 JSON。",
    address: "接口地址",
    machine: "机器可读的说明（OpenAPI 3.1）",
    errors: "出错时",
    errors_text: "状态码为 4xx 或 5xx，答复是 RFC 9457 的 problem 文档，detail 说明哪里不对、怎样改正。",
    limit: "频率限制",
    limit_text: "次请求，每个客户端每分钟；超过时答复 429，Retry-After 给出应等待的秒数",
    operator: "需要管理口令",
    parameter: "参数",
    kind: "取值",
    meaning: "含义",
    call: "调用示例",
    answer: "答复示例",
    fields: "答复中的字段",
    statuses: "状态码",
    contents: "目录",
};

const ENGLISH: Words = Words {
    heading: "API",
    lead: "What the web page finds, programs find too. All is read with GET and needs no token, but for changes that only the operator makes; answers are JSON in UTF-8.",
    address: "Address",
    machine: "Description for machines (OpenAPI 3.1)",
    errors: "Errors",
    errors_text: "The status is 4xx or 5xx, and the answer a problem document (RFC 9457) whose detail says what is wrong and how to mend it.",
    limit: "Rate limit",
    limit_text: "requests a minute for one client; beyond that the answer is 429, and Retry-After says how many seconds to wait",
    operator: "needs the operator's token",
    parameter: "Parameter",
    kind: "Values",
    meaning: "Meaning",
    call: "Call",
    answer: "Answer",
    fields: "Fields of the answer",
    statuses: "Status codes",
    contents: "Contents",
};

/// Operations in the order in which a newcomer needs them; others follow.
const ORDER: [&str; 13] = [
    "search",
    "document",
    "suggest",
    "atom_feed",
    "json_feed",
    "followed_feed",
    "terms",
    "decide_terms",
    "status",
    "metrics",
    "health",
    "ready",
    "openapi",
];

/// Where an operation stands among its group.
pub(crate) fn place(operation: &str) -> usize {
    let found = ORDER.iter().position(|known| *known == operation);
    found.unwrap_or(ORDER.len())
}

/// What an operation does; none for one that has no words of its own here.
pub(crate) fn summary(operation: &str, lang: Lang) -> Option<&'static str> {
    let (zh, en) = match operation {
        "search" => ("搜索文档", "Search the documents"),
        "suggest" => ("补全检索词", "Complete a query"),
        "document" => ("取一篇文档的全文", "One document, whole"),
        "followed_feed" => ("已关注专题的订阅源", "Feed of a followed topic"),
        "atom_feed" => ("任意搜索的 Atom 订阅源", "Any search as an Atom feed"),
        "json_feed" => ("任意搜索的 JSON 订阅源", "Any search as a JSON feed"),
        "terms" => ("待审的领域词", "Domain terms to decide about"),
        "decide_terms" => ("接受或拒绝领域词", "Accept or reject domain terms"),
        "visit_site" => ("立即抓取一个站点", "Crawl a site now"),
        "pause_site" => ("暂停一个站点", "Pause a site"),
        "resume_site" => ("恢复一个站点", "Resume a site"),
        "purge_site" => ("删除一个站点的全部文档", "Take all documents of a site out"),
        "visit" => ("立即抓取一个网址", "Fetch an address now"),
        "purge" => ("删除一个网址的文档", "Take the document of an address out"),
        "allow" => (
            "允许再次收录一个网址",
            "Let an address that was taken out in again",
        ),
        "status" => ("爬虫与索引的状态", "State of crawler and index"),
        "health" => ("服务是否存活", "Whether the server is alive"),
        "ready" => ("是否能够搜索", "Whether searches are answered"),
        "metrics" => ("Prometheus 指标", "Figures for Prometheus"),
        "openapi" => ("接口的 OpenAPI 说明", "This description as OpenAPI"),
        _ => return None,
    };
    Some(match lang {
        Lang::Zh => zh,
        Lang::En => en,
    })
}
