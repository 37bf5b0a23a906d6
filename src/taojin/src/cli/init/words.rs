//! What `taojin init` says, in English and Chinese.

/// A question: the option that answers it, and what may be answered.
pub(super) struct Question {
    pub(super) option: &'static str,
    pub(super) asked: &'static str,
    pub(super) default: String,
    /// What to say of a wrong answer.
    pub(super) mend: &'static str,
    /// The words for yes and no.
    pub(super) choice: [&'static str; 2],
}

/// Everything that is said in one language.
pub(super) struct Words {
    pub(super) yes: &'static str,
    pub(super) no: &'static str,
    pub(super) none: &'static str,
    /// First line of the file.
    pub(super) head: &'static str,
    /// Above data_dir, user_agent, lexicons, listen and token_file.
    pub(super) comments: [&'static str; 5],
    /// After the name of the file that was written.
    pub(super) written: &'static str,
    /// Question and mending of each, in the order in which they are asked.
    asked: [(&'static str, &'static str); 5],
}

const OPTIONS: [&str; 5] = [
    "--data-dir",
    "--listen",
    "--contact",
    "--lexicon",
    "--token",
];

const ENGLISH: Words = Words {
    yes: "yes",
    no: "no",
    none: "none",
    head: "Settings of Taojin, written by taojin init. All others, with their defaults: man taojin.toml. After a change: taojin check",
    comments: [
        "Folder of the store, the index and the logs.",
        "How the crawler identifies itself, and where operators of sites can reach you.",
        "Terms of the field that are kept whole.",
        "Address and port of search; any but a loopback address opens it to the network.",
        "File with the token that permits changes in the browser; if empty, nothing can be changed there.",
    ],
    written: "is written. Next, with a site of yours:",
    asked: [
        (
            "Folder for the data (store, index, logs)?",
            "write the path of a folder",
        ),
        (
            "Address and port for search (0.0.0.0:8080 opens it to the network)?",
            "write an address and a port, for example 127.0.0.1:8080",
        ),
        (
            "Page or mail address where operators of sites can reach you?",
            "write a mail address or the address of a page (https://…)",
        ),
        (
            "Terms of your field: oil-gas, a file with one term per line, or none?",
            "write oil-gas, none, or the name of a file that is there",
        ),
        (
            "Make a token, so that changes can be made in the browser?",
            "write yes or no",
        ),
    ],
};

const CHINESE: Words = Words {
    yes: "是",
    no: "否",
    none: "无",
    head: "淘金的配置，由 taojin init 写成。其余各项及默认值见 man taojin.toml。改动后运行 taojin check",
    comments: [
        "数据目录，存储、索引和日志都在其中。",
        "抓取时自报的名称，以及站长联系你的方式。",
        "领域术语的词表，其中的词不拆开。",
        "检索服务的监听地址和端口；除回环地址外，都会对网络开放。",
        "存放令牌的文件，凭令牌可以在网页上做修改；留空则不能修改。",
    ],
    written: "已写好。接下来（换成你的网站）：",
    asked: [
        (
            "数据（存储、索引、日志）放在哪个目录？",
            "请写一个目录的路径",
        ),
        (
            "检索服务监听哪个地址和端口（0.0.0.0:8080 表示对网络开放）？",
            "请写地址和端口，例如 127.0.0.1:8080",
        ),
        (
            "站长如何联系你（网页或邮箱）？",
            "请写邮箱，或以 https:// 开头的网址",
        ),
        (
            "使用哪个领域术语词表：oil-gas，一个每行一词的文件，或 none（不用）？",
            "请写 oil-gas、none，或一个已有文件的名称",
        ),
        (
            "是否生成令牌，以便在网页上做修改？",
            "请写 是 或 否（y 或 n）",
        ),
    ],
};

impl Words {
    /// Those of a locale such as `zh_CN.UTF-8`.
    pub(super) fn of(locale: &str) -> Self {
        match locale.starts_with("zh") {
            true => CHINESE,
            false => ENGLISH,
        }
    }

    /// The questions, each with its default.
    pub(super) fn questions(&self, defaults: [String; 5]) -> [Question; 5] {
        let mut defaults = defaults.into_iter();
        [0, 1, 2, 3, 4].map(|i| {
            let (asked, mend) = self.asked[i];
            Question {
                option: OPTIONS[i],
                asked,
                default: defaults.next().unwrap_or_default(),
                mend,
                choice: [self.yes, self.no],
            }
        })
    }
}
