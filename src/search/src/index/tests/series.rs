//! What is made from one form is no reprint of another: numbered reports, policies of one office, price bulletins,
//! notices. And what is one stays one, in whatever order it comes.

use super::*;

on_each_engine!(
    numbered_reports_are_apart,
    series_numbers_differ,
    series_policies_differ,
    monthly_notices_are_apart,
    series_people_differ,
    series_frame_is_ignored,
    reprints_ignore_order,
);

/// One paragraph that each paper of an office has.
const FORM: &str = "各有关单位要高度重视，加强组织领导，明确责任分工，细化工作措施，确保各项任务落到实处。要加强监督检查，\
    对落实不力的单位予以通报批评，并将有关情况纳入年度考核。执行中遇有重大问题，请及时向本局报告，本局将适时组织评估。";

/// Groups of documents that come in this order: site, title and text of each.
fn groups(engine: Engine, documents: &[(&str, &str, &str)]) -> Vec<Option<u64>> {
    let (_index, mut writer, reader) = engine.new_index();
    for (n, (site, title, text)) in (1..).zip(documents) {
        let document = document(&format!("https://{site}/{n}"), title, text);
        add(&mut writer, n, &document);
    }
    writer.commit(1).unwrap();
    writer.close().unwrap();
    let all = (1..=documents.len() as u64).map(|n| reader.group(n).unwrap());
    all.collect()
}

/// None of these is a reprint of another, at one outlet and at several.
fn apart(engine: Engine, documents: &[(String, String)]) {
    apart_at(engine, ["a.example"; 3], documents);
    apart_at(engine, ["a.example", "b.example", "c.example"], documents);
}

fn apart_at(engine: Engine, sites: [&str; 3], documents: &[(String, String)]) {
    let given = documents.iter().enumerate();
    let given: Vec<(&str, &str, &str)> = given
        .map(|(at, (title, text))| (sites[at % 3], title.as_str(), text.as_str()))
        .collect();
    let found = groups(engine, &given);
    assert!(found.iter().all(Option::is_some), "{documents:?}");
    let mut different = found.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), found.len(), "{found:?} {documents:?}");
}

fn numbered_reports_are_apart(engine: Engine) {
    let report = |number: &str, wells: u32, area: &str| {
        let text = format!(
            "油气勘查简报第{number}期。本期简报介绍{area}勘查工作的进展。截至目前，{area}共完钻探井{wells}口，\
             其中获得工业油气流的有{}口。{FORM}",
            wells / 3
        );
        (format!("油气勘查简报第{number}期"), text)
    };
    apart(
        engine,
        &[
            report("76", 31, "川南"),
            report("77", 45, "鄂西"),
            report("78", 45, "鄂西"),
        ],
    );
    apart(
        engine,
        &[report("七十六", 31, "川南"), report("七十七", 31, "川南")],
    );
}

fn series_numbers_differ(engine: Engine) {
    let bulletin = |day: u32, petrol: u32, diesel: u32| {
        let text = format!(
            "据市场监测，11月{day}日国内成品油市场运行平稳。当日全国92号汽油批发均价为{petrol}元/吨，0号柴油批发均价\
             为{diesel}元/吨。业内人士认为，短期内国内成品油市场供应充足，需求变化不大，价格以稳为主，请广大用户合理安排\
             采购计划，关注后续调价窗口。"
        );
        ("国内成品油批发价格日报".to_owned(), text)
    };
    apart(
        engine,
        &[
            bulletin(18, 8325, 7440),
            bulletin(19, 8331, 7452),
            bulletin(20, 8340, 7465),
        ],
    );
}

fn series_policies_differ(engine: Engine) {
    let policy = |subject: &str, own: &str| {
        let text = format!(
            "为进一步规范油气行业秩序，本局研究制定了《{subject}》，现印发给你们，请遵照执行。{own}{FORM}"
        );
        (format!("关于印发《{subject}》的通知"), text)
    };
    apart(
        engine,
        &[
            policy("页岩气开发环境保护技术要求", "返排液应当回用或者达标处理。"),
            policy("非常规油气资源评价规范", "资源量按照三级划分。"),
            policy("天然气储备能力建设指标核算办法", "储气能力每年核算一次。"),
        ],
    );
}

fn monthly_notices_are_apart(engine: Engine) {
    let notice = |month: u32, day: u32, hour: u32, street: &str| {
        let text = format!(
            "尊敬的用户：因燃气管道检修需要，公司定于{month}月{day}日{hour}时起对{street}片区暂停供气，预计当日恢复。停气\
             期间请关闭燃气阀门和用气设备，恢复供气后先检查再使用，如闻到燃气异味请立即开窗通风并拨打抢修电话。给您带来的\
             不便敬请谅解。"
        );
        ("停气通知".to_owned(), text)
    };
    apart(
        engine,
        &[
            notice(9, 18, 8, "解放路"),
            notice(10, 20, 9, "人民路"),
            notice(11, 15, 22, "建设路"),
        ],
    );
}

fn series_people_differ(engine: Engine) {
    let notice = |name: &str, office: &str| {
        let text = format!(
            "经上级批准，监督部门对{office}{name}严重违纪违法问题进行了立案审查调查。经查，{name}丧失理想信念，背弃初心\
             使命，违规收受礼品礼金，利用职务便利为他人谋取利益。{name}身为领导干部，严重违反党的纪律，性质严重，影响恶劣，\
             应予严肃处理。经研究并报批准，决定给予{name}开除处分，由监督部门终止其代表资格，收缴其违纪违法所得，将涉嫌犯罪\
             问题移送检察机关依法审查起诉。"
        );
        (format!("{office}{name}被开除"), text)
    };
    apart(
        engine,
        &[
            notice("汲斌昌", "某市原主席"),
            notice("李冬东", "某集团原副总经理"),
            notice("江邱雄", "某县原书记"),
        ],
    );
}

fn series_frame_is_ignored(engine: Engine) {
    let text = |own: &str| format!("{own}{FORM}");
    apart_at(
        engine,
        ["a.example"; 3],
        &[
            ("红色餐具有助减肥", "研究者请志愿者用不同颜色的盘子进食。"),
            ("芦笋缓解宿醉", "韩国学者测定了芦笋叶的成分。"),
        ]
        .map(|(title, own)| (title.to_owned(), text(own))),
    );
}

fn reprints_ignore_order(engine: Engine) {
    let body = format!(
        "滨港接收站外输量11月22日升至3565万立方米，刷新投产以来的最高纪录，比去年同日增加31%。华渤石油目前手持的长协资源每年\
         约661万吨，现货采购比例下降。{FORM}"
    );
    let copies = [
        ("a.example", "滨港接收站外输量创新高", body.clone()),
        (
            "b.example",
            "滨港接收站外输量创新高 日供气3565万立方米",
            format!("本报讯（记者 许卓）{body}"),
        ),
        ("c.example", "又一纪录在渤海边诞生", body.clone()),
        (
            "d.example",
            "滨港接收站外输量再创新高",
            body.replace("现货采购比例下降。", ""),
        ),
    ];
    let own_report = (
        "e.example",
        "寒潮来袭 各地加紧调峰",
        "寒潮来袭，各地储气库进入采气高峰。国家管网集团表示，今年冬季资源准备充足，日供气能力同比提高，能够满足居民用气需要。\
         记者在现场看到，压缩机组满负荷运行，值班人员每小时巡检一次。",
    );
    for turn in 0..copies.len() {
        let mut order: Vec<(&str, &str, &str)> = copies
            .iter()
            .cycle()
            .skip(turn)
            .take(copies.len())
            .map(|(site, title, text)| (*site, *title, text.as_str()))
            .collect();
        order.insert(turn, own_report);
        let mut found = groups(engine, &order);
        let own = found.remove(turn);
        assert!(own.is_some() && found.iter().all(|group| *group != own));
        assert_eq!(found, vec![found[0]; copies.len()], "turn {turn}");
    }
}
