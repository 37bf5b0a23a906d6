//! A table's row is its cells in order.

use super::hidden::{STORY, document};

/// The text of an article with a table of these rows, from the table on.
fn table(rows: &str) -> String {
    let text = document(&format!(
        "<h1>集输站改造</h1><div>{STORY}<table><tr><th>井号<th>上月<th>本月<th>增减{rows}</table></div>"
    ))
    .text;
    let (_, table) = text.split_once("井号 | 上月 | 本月 | 增减\n").expect(&text);
    table.to_owned()
}

#[test]
fn empty_cell_keeps_its_place() {
    for (rows, text) in [
        (
            "<tr><td>三厂一井<td>12.5<td>13<td>+0.5",
            "三厂一井 | 12.5 | 13 | +0.5",
        ),
        ("<tr><td>三厂一井<td><td>13<td>", "三厂一井 | | 13 |"),
        (
            "<tr><td>三厂一井<td>&nbsp;<td> <td>-<b>7</b>%",
            "三厂一井 | | | -7%",
        ),
        ("<tr><td><td>12<td>13<td>1", "| 12 | 13 | 1"),
        ("<tr><td>三厂一井<td>—<td>13<td>√", "三厂一井 | — | 13 | √"),
        (
            "<tr><td>三厂一井<td><img src=x><td>13<td hidden>9",
            "三厂一井 | | 13 |",
        ),
    ] {
        let all = format!("<tr><td>三厂零井<td>1<td>2<td>3{rows}");
        assert_eq!(
            table(&all),
            format!("三厂零井 | 1 | 2 | 3\n{text}"),
            "{rows}"
        );
    }
}

#[test]
fn cells_of_several_rows_and_columns_stand_where_they_begin() {
    let rows = "<tr><td rowspan=2>一区<td colspan=2>停产检修<td>-3<tr><td>8<td>9<td>1<tr><td>二区<td>5<td>6<td>1";
    assert_eq!(
        table(rows),
        "一区 | 停产检修 | | -3\n| 8 | 9 | 1\n二区 | 5 | 6 | 1"
    );
    // The last column goes on too, and `0` is to the end of the part of the table.
    let rows = "<tr><td>一区<td>5<td>6<td rowspan=0>平稳<tr><td>二区<td>7<td>8<tbody><tr><td>三区<td>9<td>10<td>下降";
    assert_eq!(
        table(rows),
        "一区 | 5 | 6 | 平稳\n二区 | 7 | 8 |\n三区 | 9 | 10 | 下降"
    );
    // A cell that is all of a row is a heading or a note.
    let rows = "<tr><td colspan=4>单位：万吨<tr><td>一区<td>5<td>6<td>1";
    assert_eq!(table(rows), "单位：万吨\n一区 | 5 | 6 | 1");
}

#[test]
fn cell_of_several_lines_is_one_cell() {
    let rows = "<tr><td>一区<br>（含老井）<td><p>5</p><td><p>6</p><p>7</p><td>1<tr><td>二区<td>5<td>6<td>1";
    assert_eq!(
        table(rows),
        "一区 （含老井） | 5 | 6 7 | 1\n二区 | 5 | 6 | 1"
    );
}

#[test]
fn table_of_the_layout_is_no_row() {
    let html = format!(
        "<h1>集输站改造</h1><table><tr><td>首页<br>新闻<td>{STORY}<tr><td><td>（完）今日报道</table>"
    );
    let text = document(&html).text;
    assert!(
        !text.contains(" | ") && text.contains("夜间巡检改由摄像头完成。"),
        "{text}"
    );
}

#[test]
fn spans_are_bounded() {
    let row = "<tr><td rowspan=65534 colspan=1000>一区<td>5<td>6<td>1";
    let text = document(&format!(
        "<h1>集输站改造</h1><div>{STORY}<table>{}</table></div>",
        row.repeat(400)
    ))
    .text;
    assert!(text.len() < 400_000, "{}", text.len());
}
