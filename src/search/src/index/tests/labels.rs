//! Labelled fields are found under their own labels, however these and the signs in their values are written.

use super::*;
use crate::query::dates::Calendar;
use crate::query::parse;
use taojin_extract::SourceFile;

on_each_engine!(
    label_finds_own_value,
    label_compares_numbers,
    facets_count_values_of_fields,
    filetype_finds_what_was_read_from_files,
);

fn notice(url: &str, fields: &[(&str, &str)]) -> Document {
    let mut found = document(url, "关于做好供暖保障工作的通知", "现将有关事项通知如下。");
    for (label, value) in fields {
        found.meta.add((*label).to_owned(), (*value).to_owned());
    }
    found
}

fn asked(text: &str, occur: Occur) -> Query {
    Query {
        groups: vec![Group {
            occur,
            any: vec![Clause::literal(Target::Meta, text)],
        }],
        ..Query::default()
    }
}

fn label_finds_own_value(engine: Engine) {
    let (_index, mut writer, reader) = engine.new_index();
    let first = [
        ("发文字号", "国发〔2026〕12号"),
        ("发布机构", "国家能源局综合司"),
        ("成文日期", "2026-11-02"),
        ("适用口径", "406 毫米"),
    ];
    let second = [
        ("文号", "国发〔2026〕2号"),
        ("發布機構", "北港市能源局"),
        ("发布日期", "2026-11-02"),
    ];
    add(&mut writer, 1, &notice("https://a.example/1", &first));
    add(&mut writer, 2, &notice("https://a.example/2", &second));
    writer.commit(2).unwrap();
    let cases: &[(&str, &[u64])] = &[
        ("字号:国发〔2026〕12号", &[1]),
        ("文號：國發［2026］12號", &[1]),
        ("字号:国发(2026)2号", &[2]),
        ("字号:国发", &[1, 2]),
        ("发布机构:能源局", &[1, 2]),
        ("机构:综合司", &[1]),
        ("成文日期:2026-11-02", &[1]),
        ("发布日期:2026-11-02", &[2]),
        ("适用口径:406", &[1]),
        ("字号:能源局", &[]),
        ("口径:406", &[]),
    ];
    for (text, expected) in cases {
        let mut found = ids(&reader, &asked(text, Occur::Must));
        found.sort_unstable();
        assert_eq!(found, *expected, "{text}");
    }
    assert_eq!(
        ids(&reader, &asked("字号:国发〔2026〕12号", Occur::Without)),
        [2]
    );
}

fn label_compares_numbers(engine: Engine) {
    let (_index, mut writer, reader) = engine.new_index();
    let films = [
        [
            ("片长", "95 分钟"),
            ("上映日期", "1993-01-01(中国香港)"),
            ("评分", "9.6"),
        ],
        [
            ("片长", "171 分钟"),
            ("上映日期", "2009-06-29"),
            ("评分", "-1"),
        ],
        [("片长", "1,020 分钟"), ("上映日期", "待定"), ("评分", "10")],
    ];
    for (id, film) in (1..).zip(&films) {
        add(
            &mut writer,
            id,
            &notice(&format!("https://a.example/{id}"), film),
        );
    }
    writer.commit(2).unwrap();
    let cases: &[(&str, &[u64])] = &[
        ("片长:>95", &[2, 3]),
        ("片长:>=95", &[1, 2, 3]),
        ("片长:<171 分钟", &[1]),
        ("片长:＜＝171", &[1, 2]),
        ("片长:100..1020", &[2, 3]),
        ("评分:>9.5", &[1, 3]),
        ("评分:<0", &[2]),
        ("上映日期:<2000-01-01", &[1]),
        ("上映日期:2009-06-29..2009-06-29", &[2]),
        // A number is no day, and what is no comparison is a text.
        ("上映日期:>0", &[]),
        ("片长:>长", &[]),
        ("片长:171", &[2]),
    ];
    for (text, expected) in cases {
        let mut found = ids(&reader, &asked(text, Occur::Must));
        found.sort_unstable();
        assert_eq!(found, *expected, "{text}");
    }
}

fn facets_count_values_of_fields(engine: Engine) {
    let (_index, mut writer, reader) = engine.new_index();
    for at in 1..=4u64 {
        let number = format!("国发〔2026〕{at}号");
        let office = if at < 4 {
            "国家能源局"
        } else {
            "北港市能源局"
        };
        let fields = [
            ("发文字号", number.as_str()),
            ("发布机构", office),
            ("成文日期", "2026-11-02"),
        ];
        let mut found = notice(&format!("https://a.example/{at}"), &fields);
        found.author = (at < 3).then(|| "王建国".to_owned());
        found.source = Some(format!("第{at}报"));
        found.kind = [Kind::Article, Kind::Hub][usize::from(at == 4)];
        add(&mut writer, at, &found);
    }
    writer.commit(4).unwrap();
    let query = Query {
        facets: true,
        ..Query::plain("供暖")
    };
    let fields = reader.search(&query).unwrap().facets.unwrap().fields;
    let shown = fields.iter().map(|counts| {
        let values = counts.values.iter();
        let values: Vec<String> = values
            .map(|v| format!("{} {}", v.value, v.documents))
            .collect();
        format!("{}: {}", counts.field, values.join(", "))
    });
    // No number, no day, and no source that one document has.
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            "author: 王建国 2",
            "kind: article 3, hub 1",
            "机构: 国家能源局 3, 北港市能源局 1"
        ]
    );
    let of_kind = |kind: &str| Query {
        groups: vec![Group {
            occur: Occur::Must,
            any: vec![Clause::literal(Target::Kind, kind)],
        }],
        ..Query::default()
    };
    assert_eq!(ids(&reader, &of_kind("hub")), [4]);
    assert_eq!(ids(&reader, &of_kind("Article")).len(), 3);
}

fn filetype_finds_what_was_read_from_files(engine: Engine) {
    let (_index, mut writer, reader) = engine.new_index();
    for (at, format) in (1..).zip([None, Some("pdf"), Some("xlsx"), Some("pdf")]) {
        let mut found = notice(&format!("https://a.example/{at}"), &[]);
        found.file = format.map(|format| SourceFile {
            format: format.to_owned(),
            ..SourceFile::default()
        });
        add(&mut writer, at, &found);
    }
    writer.commit(4).unwrap();
    let calendar = Calendar {
        now_ms: 0,
        utc_offset_minutes: 480,
    };
    let of_type = |text: &str| parse(text, &calendar).query;
    let found = |text: &str| {
        let mut found = ids(&reader, &of_type(text));
        found.sort_unstable();
        found
    };
    assert_eq!(found("供暖 filetype:pdf"), [2, 4]);
    assert_eq!(found("文件类型:.PDF"), [2, 4]);
    assert_eq!(found("供暖 -filetype:pdf"), [1, 3]);
    assert_eq!(found("filetype:doc"), [0; 0]);
    let query = Query {
        facets: true,
        ..Query::plain("供暖")
    };
    let fields = reader.search(&query).unwrap().facets.unwrap().fields;
    let types = fields.iter().find(|counts| counts.field == "filetype");
    let values = types.unwrap().values.iter();
    let values: Vec<_> = values.map(|v| (v.value.as_str(), v.documents)).collect();
    assert_eq!(values, [("pdf", 2), ("xlsx", 1)]);
}
