use std::collections::HashMap;

use taojin_search::terms::Patterns;

use crate::{TermTable, rank_terms};

/// Four texts with one keyword of two nouns, which stands in each of them twice.
fn gold() -> HashMap<String, (String, Vec<String>)> {
    let texts = "春雨秋霜".chars().map(|c| {
        let text = format!("{c}天看办公桌椅。{c}天用办公桌椅，{c}天练烹饪技术，{c}天教烹饪技术。");
        (c.to_string(), (text, vec!["办公桌椅".to_owned()]))
    });
    texts.collect()
}

#[test]
fn patterns_are_compared_by_precision_and_recall() {
    let derived = Patterns::parse("N = n\nNN 0.5").expect("patterns");
    let rows = rank_terms(&gold(), &derived);
    let row = |patterns: &str, ranking: &str| -> &TermTable {
        let mut rows = rows.iter();
        let row = rows.find(|row| row.patterns == patterns && row.ranking == ranking);
        row.unwrap_or_else(|| panic!("no row for {patterns}, {ranking}"))
    };
    assert_eq!(rows.len(), 12);
    // The keyword is the only run of two nouns; log2(4) · 8 = 16 is above the bound of 3.
    let only = row("derived", "C-value");
    assert_eq!(
        (only.terms, only.precision, only.recall, only.f),
        (1, 1.0, 1.0, 1.0)
    );
    let nc = row("derived", "NC-value");
    assert_eq!((nc.terms, nc.above), (1, 3.0));
    // Beside it, others find what is no keyword: one right of all, and the harmonic mean of that.
    for patterns in ["none", "built-in"] {
        let row = row(patterns, "frequency");
        let precision = 1.0 / row.terms as f64;
        assert!(row.terms > 1, "{patterns}: {row:?}");
        assert_eq!((row.precision, row.recall), (precision, 1.0), "{patterns}");
        assert!(
            (row.f - 2.0 * precision / (precision + 1.0)).abs() < 1e-12,
            "{patterns}"
        );
    }
    assert!(row("none", "frequency").terms > row("built-in", "frequency").terms);
}
