use crate::lines::measure::is_letter;
use crate::lines::path_ratio::{Leaf, Mode, Ratio, histogram, path_sums};
use crate::lines::smooth::{LAMBDA, RADIUS, edit_distance, kernel, smooth, threshold};

/// The worked page: two menu links, a headline, four paragraphs with one link between, two footer lines.
const PATHS: [&[&str]; 5] = [
    &["html", "body", "div", "ul", "li", "a"],
    &["html", "body", "div", "h1"],
    &["html", "body", "div", "p"],
    &["html", "body", "div", "p", "a"],
    &["html", "body", "div", "div", "p"],
];

fn worked_page() -> Vec<Leaf> {
    [
        (0, 2, 0),
        (0, 2, 0),
        (1, 12, 0),
        (2, 80, 6),
        (2, 120, 10),
        (3, 4, 0),
        (2, 40, 3),
        (2, 100, 8),
        (4, 30, 4),
        (4, 26, 3),
    ]
    .map(|(path, chars, marks)| Leaf { path, chars, marks })
    .to_vec()
}

fn smoothed(ratio: Ratio) -> Vec<f64> {
    let leaves = worked_page();
    let raw = histogram(&leaves, ratio, Mode::Paper);
    smooth(&raw, RADIUS, |i, j| {
        edit_distance(
            PATHS[leaves[i].path as usize],
            PATHS[leaves[j].path as usize],
        )
    })
}

fn close(got: &[f64], want: &[f64], within: f64) {
    assert_eq!(got.len(), want.len());
    for (g, w) in got.iter().zip(want) {
        assert!((g - w).abs() <= within, "{got:?} is not {want:?}");
    }
}

#[test]
fn path_sums_of_the_worked_page() {
    let sums = path_sums(&worked_page());
    let row = |p: usize| {
        let s = &sums[p];
        [
            s.tpr(),
            s.ppr(),
            s.deviation_chars(),
            s.deviation_marks(),
            s.etpr(Mode::Paper),
        ]
    };
    close(&row(0), &[2.0, 0.0, 0.0, 0.0, 0.0], 1e-9);
    close(&row(2), &[85.0, 6.75, 29.580, 2.586, 43_889.297], 1e-3);
    close(&row(4), &[28.0, 3.5, 2.0, 0.5, 98.0], 1e-9);
}

#[test]
fn smoothing_and_threshold_of_the_worked_page() {
    let tpr = smoothed(Ratio::Tpr);
    close(
        &tpr,
        &[
            2.0, 1.57, 28.74, 64.99, 62.80, 48.40, 62.80, 69.38, 43.62, 28.0,
        ],
        0.006,
    );
    assert!((threshold(&tpr, LAMBDA) - 19.25).abs() < 0.006);
    let etpr = smoothed(Ratio::Etpr);
    let want = [
        0.0, 0.0, 12028.68, 31860.62, 31860.62, 24057.36, 31860.62, 31887.48, 12099.82, 98.0,
    ];
    close(&etpr, &want, 0.006);
    assert!((threshold(&etpr, LAMBDA) - 10860.72).abs() < 0.006);
}

#[test]
fn a_path_that_occurs_once_scores_only_in_the_mended_form() {
    let story = [Leaf {
        path: 0,
        chars: 60,
        marks: 3,
    }];
    assert_eq!(histogram(&story, Ratio::Etpr, Mode::Paper), [0.0]);
    assert!(histogram(&story, Ratio::Etpr, Mode::Fixed)[0] > 100.0);
}

#[test]
fn kernel_is_the_published_one_and_short_pages_stay_as_they_are() {
    close(&kernel(1), &[0.2741, 0.4519, 0.2741], 5e-5);
    assert_eq!(smooth(&[3.0, 4.0], 1, |_, _| 0), [3.0, 4.0]);
    assert_eq!(threshold(&[], 0.8), 0.0);
}

#[test]
fn edit_distance_counts_insertions_deletions_and_replacements() {
    assert_eq!(edit_distance::<u8>(&[], &[]), 0);
    assert_eq!(edit_distance(b"abc", b"abc"), 0);
    assert_eq!(edit_distance(b"", b"abc"), 3);
    assert_eq!(edit_distance(b"kitten", b"sitting"), 3);
}

#[test]
fn letters_outside_ascii_are_those_of_unicode() {
    for c in '\u{80}'..=char::MAX {
        assert_eq!(is_letter(c), c.is_alphanumeric(), "{c:?}");
    }
}
