//! What the benches say of the last release's figures.

#[path = "../../../benches/baseline/mod.rs"]
mod ratios;

use ratios::compare;

/// The line of a bench that measured one ratio.
fn line(bench: &str, name: &str, ratio: f64) -> String {
    compare(bench, &[(name.to_owned(), ratio)])
}

#[test]
fn worse_ratios_named() {
    for (bench, name, worse, good) in [
        ("page", "zh_gne", 0.01, 1.0),
        ("page", "scrapinghub_aeb", 0.01, 1.0),
        ("throughput", "whole job 1", 100.0, 0.1),
        ("throughput", "crawl only 50", 100.0, 0.1),
    ] {
        let said = line(bench, name, worse);
        assert!(said.contains(&format!("; worse: {name} by ")), "{said}");
        let said = line(bench, name, good);
        assert!(
            said.ends_with("nothing is worse by more than 5 %"),
            "{said}"
        );
    }
    let said = line("page", "a new set", 0.01);
    assert_eq!(
        said,
        "page: a new set 0.01; nothing is worse by more than 5 %"
    );
}
