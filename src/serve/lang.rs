//! The two languages of the web page. In: `?lang=` and the Accept-Language header. Out: a [`Lang`] and its labels.
//! Never translates content: documents are shown as they were written.

/// Language of the labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Lang {
    /// Simplified Chinese.
    #[default]
    Zh,
    /// English.
    En,
}

/// Languages of one header that are looked at; browsers send some five.
const HEADER_ENTRIES_MAX: usize = 16;

impl Lang {
    /// The language named by `?lang=`.
    pub(crate) fn named(tag: &str) -> Option<Lang> {
        let primary = tag.trim().split(['-', '_']).next()?;
        if primary.eq_ignore_ascii_case("zh") {
            Some(Lang::Zh)
        } else if primary.eq_ignore_ascii_case("en") {
            Some(Lang::En)
        } else {
            None
        }
    }

    /// The language a browser prefers (RFC 9110 §12.5.4); English for those that name neither, Chinese for those
    /// that name nothing.
    pub(crate) fn preferred(accept_language: Option<&str>) -> Lang {
        let Some(header) = accept_language.filter(|h| !h.trim().is_empty()) else {
            return Lang::Zh;
        };
        let mut best: Option<(f32, Lang)> = None;
        for entry in header.split(',').take(HEADER_ENTRIES_MAX) {
            let mut parts = entry.split(';');
            let Some(lang) = parts.next().and_then(Lang::named) else {
                continue;
            };
            let weight = parts
                .find_map(|p| p.trim().strip_prefix("q="))
                .map_or(1.0, |q| q.trim().parse().unwrap_or(0.0));
            if weight > 0.0 && best.is_none_or(|(b, _)| weight > b) {
                best = Some((weight, lang));
            }
        }
        best.map_or(Lang::En, |(_, lang)| lang)
    }

    /// Value of the `lang` attribute.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Lang::Zh => "zh-CN",
            Lang::En => "en",
        }
    }

    /// Value of `?lang=`.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Lang::Zh => "zh",
            Lang::En => "en",
        }
    }

    /// The language that the switch leads to.
    pub(crate) fn other(self) -> Lang {
        match self {
            Lang::Zh => Lang::En,
            Lang::En => Lang::Zh,
        }
    }

    /// Labels in this language.
    pub(crate) fn labels(self) -> &'static Labels {
        match self {
            Lang::Zh => &ZH,
            Lang::En => &EN,
        }
    }

    /// Line above the hits.
    pub(crate) fn total(self, total: u64, took_ms: f64) -> String {
        let count = grouped(total);
        match (self, total) {
            (Lang::Zh, _) => format!("找到 {count} 条结果，用时 {took_ms:.1} 毫秒"),
            (Lang::En, 1) => format!("1 result in {took_ms:.1} ms"),
            (Lang::En, _) => format!("{count} results in {took_ms:.1} ms"),
        }
    }

    /// Number of documents that can be found.
    pub(crate) fn documents(self, count: u64) -> String {
        let grouped = grouped(count);
        match (self, count) {
            (Lang::Zh, _) => format!("已收录 {grouped} 篇文档"),
            (Lang::En, 1) => "1 document indexed".to_owned(),
            (Lang::En, _) => format!("{grouped} documents indexed"),
        }
    }

    /// Heading above the comments.
    pub(crate) fn comments(self, count: usize) -> String {
        match (self, count) {
            (Lang::Zh, _) => format!("{count} 条评论"),
            (Lang::En, 1) => "1 comment".to_owned(),
            (Lang::En, _) => format!("{count} comments"),
        }
    }

    /// A moment seen from another, in the largest unit that fits: `3 分钟前`, `in 2 h`.
    pub(crate) fn relative(self, then_ms: i64, now_ms: i64) -> String {
        let distance = then_ms.saturating_sub(now_ms);
        let seconds = distance.unsigned_abs() / 1_000;
        let (number, zh, en) = match seconds {
            0..60 => (seconds, "秒", "s"),
            60..3_600 => (seconds / 60, "分钟", "min"),
            3_600..172_800 => (seconds / 3_600, "小时", "h"),
            _ => (seconds / 86_400, "天", "d"),
        };
        match (self, distance > 0) {
            (Lang::Zh, false) => format!("{number} {zh}前"),
            (Lang::Zh, true) => format!("{number} {zh}后"),
            (Lang::En, false) => format!("{number} {en} ago"),
            (Lang::En, true) => format!("in {number} {en}"),
        }
    }
}

/// A number with its thousands set apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Every fixed word of the pages.
#[derive(Debug)]
pub(crate) struct Labels {
    pub(crate) tagline: &'static str,
    pub(crate) skip: &'static str,
    pub(crate) search: &'static str,
    pub(crate) query: &'static str,
    pub(crate) placeholder: &'static str,
    pub(crate) hint_exact: &'static str,
    pub(crate) hint_exact_example: &'static str,
    pub(crate) hint_without: &'static str,
    pub(crate) hint_without_example: &'static str,
    pub(crate) switch: &'static str,
    pub(crate) switch_label: &'static str,
    pub(crate) status: &'static str,
    pub(crate) api: &'static str,
    pub(crate) home: &'static str,
    pub(crate) results: &'static str,
    pub(crate) filters: &'static str,
    pub(crate) site: &'static str,
    pub(crate) all_sites: &'static str,
    pub(crate) time: &'static str,
    pub(crate) any_time: &'static str,
    pub(crate) day: &'static str,
    pub(crate) week: &'static str,
    pub(crate) month: &'static str,
    pub(crate) year: &'static str,
    pub(crate) since: &'static str,
    pub(crate) until: &'static str,
    pub(crate) apply: &'static str,
    pub(crate) clear: &'static str,
    pub(crate) sort: &'static str,
    pub(crate) relevance: &'static str,
    pub(crate) date: &'static str,
    pub(crate) cached: &'static str,
    pub(crate) original: &'static str,
    pub(crate) pages: &'static str,
    pub(crate) page: &'static str,
    pub(crate) previous: &'static str,
    pub(crate) next: &'static str,
    pub(crate) untitled: &'static str,
    pub(crate) undated: &'static str,
    pub(crate) nothing: &'static str,
    pub(crate) nothing_hints: [&'static str; 3],
    pub(crate) nothing_filters: &'static str,
    pub(crate) beyond: &'static str,
    pub(crate) cached_note: &'static str,
    pub(crate) back: &'static str,
    pub(crate) source: &'static str,
    pub(crate) author: &'static str,
    pub(crate) anonymous: &'static str,
    pub(crate) no_text: &'static str,
    pub(crate) error: &'static str,
    pub(crate) not_found: &'static str,
    pub(crate) not_found_text: &'static str,
    pub(crate) busy: &'static str,
    pub(crate) busy_text: &'static str,
    pub(crate) bad_query: &'static str,
    pub(crate) failed_text: &'static str,
    pub(crate) operator: OperatorLabels,
}

/// Words of the operator's page.
#[derive(Debug)]
pub(crate) struct OperatorLabels {
    pub(crate) activity: [&'static str; 4],
    pub(crate) documents: &'static str,
    pub(crate) outbox: &'static str,
    pub(crate) due: &'static str,
    pub(crate) in_flight: &'static str,
    pub(crate) failed: &'static str,
    pub(crate) waiting: &'static str,
    pub(crate) fetched: &'static str,
    pub(crate) refused: &'static str,
    pub(crate) gone: &'static str,
    pub(crate) urls: &'static str,
    pub(crate) queues: &'static str,
    pub(crate) ready: &'static str,
    pub(crate) delayed: &'static str,
    pub(crate) parked: &'static str,
    pub(crate) disk: &'static str,
    pub(crate) index: &'static str,
    pub(crate) store: &'static str,
    pub(crate) free: &'static str,
    pub(crate) sites: &'static str,
    pub(crate) no_sites: &'static str,
    pub(crate) last_cycle: &'static str,
    pub(crate) next_cycle: &'static str,
    pub(crate) errors: &'static str,
    pub(crate) last_error: &'static str,
    pub(crate) hosts: &'static str,
    pub(crate) host: &'static str,
    pub(crate) state: &'static str,
    pub(crate) delay: &'static str,
    pub(crate) cause: &'static str,
    pub(crate) next_fetch: &'static str,
    pub(crate) never: &'static str,
    pub(crate) started: &'static str,
    pub(crate) refresh: &'static str,
}

const ZH: Labels = Labels {
    tagline: "千淘万漉虽辛苦，吹尽狂沙始到金",
    skip: "跳到正文",
    search: "搜索",
    query: "检索词",
    placeholder: "输入检索词，例如：页岩油 产量",
    hint_exact: "完全匹配：用引号",
    hint_exact_example: "\"超深井\"",
    hint_without: "排除：用减号",
    hint_without_example: "天然气 -期货",
    switch: "English",
    switch_label: "Switch to English",
    status: "运行状态",
    api: "开放接口",
    home: "首页",
    results: "搜索结果",
    filters: "筛选",
    site: "站点",
    all_sites: "全部站点",
    time: "时间",
    any_time: "不限时间",
    day: "一天内",
    week: "一周内",
    month: "一月内",
    year: "一年内",
    since: "从",
    until: "到",
    apply: "应用",
    clear: "清除筛选",
    sort: "排序",
    relevance: "相关度",
    date: "日期",
    cached: "文本快照",
    original: "阅读原文",
    pages: "结果分页",
    page: "第",
    previous: "上一页",
    next: "下一页",
    untitled: "（无标题）",
    undated: "日期不详",
    nothing: "没有找到相关文档",
    nothing_hints: [
        "检查有没有错别字，或换一个说法",
        "减少检索词，或去掉引号",
        "繁体、简体、全角、半角都可以，结果相同",
    ],
    nothing_filters: "去掉筛选条件，在全部文档里再找一次",
    beyond: "这一页之后没有结果了",
    cached_note: "这是抓取时保存的文本，原网页可能已经变化。",
    back: "返回结果",
    source: "来源",
    author: "作者",
    anonymous: "匿名",
    no_text: "没有提取到正文。",
    error: "出错了",
    not_found: "没有这个页面",
    not_found_text: "地址可能写错了，或者文档已经从索引中移除。",
    busy: "现在很忙",
    busy_text: "这次搜索没有在时限内完成，请稍后再试。",
    bad_query: "没看懂这次搜索",
    failed_text: "服务内部出错，已写入日志。请稍后再试。",
    operator: OperatorLabels {
        activity: ["运行中", "已暂停", "正在停止", "只读"],
        documents: "文档",
        outbox: "待入索引",
        due: "待抓取",
        in_flight: "抓取中",
        failed: "失败待重试",
        waiting: "未抓取",
        fetched: "已抓取",
        refused: "已拒绝",
        gone: "已失效",
        urls: "网址",
        queues: "队列",
        ready: "就绪",
        delayed: "等待",
        parked: "搁置",
        disk: "磁盘",
        index: "索引",
        store: "记录库",
        free: "可用",
        sites: "站点",
        no_sites: "还没有配置站点。",
        last_cycle: "上一轮",
        next_cycle: "下一轮",
        errors: "错误",
        last_error: "最近错误",
        hosts: "需要留意的主机",
        host: "主机",
        state: "状态",
        delay: "间隔",
        cause: "原因",
        next_fetch: "下次抓取",
        never: "—",
        started: "启动于",
        refresh: "每 10 秒自动刷新",
    },
};

const EN: Labels = Labels {
    tagline: "Pan the web of your field for gold",
    skip: "Skip to content",
    search: "Search",
    query: "Query",
    placeholder: "Type words to find, for example: 页岩油 shale",
    hint_exact: "Exact phrase: quotes",
    hint_exact_example: "\"deep well\"",
    hint_without: "Leave out: minus",
    hint_without_example: "gas -futures",
    switch: "中文",
    switch_label: "切换到中文",
    status: "Status",
    api: "API",
    home: "Home",
    results: "Search results",
    filters: "Filters",
    site: "Site",
    all_sites: "All sites",
    time: "Time",
    any_time: "Any time",
    day: "Past day",
    week: "Past week",
    month: "Past month",
    year: "Past year",
    since: "From",
    until: "To",
    apply: "Apply",
    clear: "Clear filters",
    sort: "Sort",
    relevance: "Relevance",
    date: "Date",
    cached: "Cached text",
    original: "Read the original",
    pages: "Result pages",
    page: "Page",
    previous: "Previous",
    next: "Next",
    untitled: "(untitled)",
    undated: "undated",
    nothing: "No documents match",
    nothing_hints: [
        "Check the spelling, or say it in other words",
        "Use fewer words, or take the quotes away",
        "Traditional or simplified, full or half width: all find the same",
    ],
    nothing_filters: "Remove the filters and search all documents",
    beyond: "There are no results beyond this page",
    cached_note: "This is the text as it was crawled; the page may have changed since.",
    back: "Back to results",
    source: "Source",
    author: "Author",
    anonymous: "anonymous",
    no_text: "No main text was found on this page.",
    error: "Something went wrong",
    not_found: "There is no such page",
    not_found_text: "The address may be mistyped, or the document has left the index.",
    busy: "Very busy just now",
    busy_text: "The search did not finish in time. Please try again in a moment.",
    bad_query: "This search was not understood",
    failed_text: "The server failed, and its log says why. Please try again later.",
    operator: OperatorLabels {
        activity: ["Running", "Paused", "Stopping", "Read-only"],
        documents: "Documents",
        outbox: "Waiting for the index",
        due: "Due",
        in_flight: "In flight",
        failed: "Failed, to retry",
        waiting: "Not fetched yet",
        fetched: "Fetched",
        refused: "Refused",
        gone: "Gone",
        urls: "URLs",
        queues: "Queues",
        ready: "Ready",
        delayed: "Waiting",
        parked: "Parked",
        disk: "Disk",
        index: "Index",
        store: "Store",
        free: "Free",
        sites: "Sites",
        no_sites: "No site is configured yet.",
        last_cycle: "Last cycle",
        next_cycle: "Next cycle",
        errors: "Errors",
        last_error: "Last error",
        hosts: "Hosts to look at",
        host: "Host",
        state: "State",
        delay: "Delay",
        cause: "Cause",
        next_fetch: "Next fetch",
        never: "—",
        started: "Started",
        refresh: "Refreshes every 10 seconds",
    },
};
