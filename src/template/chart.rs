//! Drawings of clusters. In: distances, merges, names. Out: SVG as text, names escaped, no script and no style from
//! elsewhere.

use super::cluster::{Distances, Merge};

/// Things drawn at most; more are not legible.
pub const MAX_DRAWN: usize = 200;
/// Height of a row in pixels.
const ROW: f32 = 14.0;
/// Width of the names.
const NAMES: f32 = 260.0;
/// Width of the tree.
const TREE: f32 = 420.0;

/// A tree of merges, the leaves named, the cut drawn at `max_distance`.
pub fn dendrogram(merges: &[Merge], names: &[String], max_distance: f32) -> String {
    let count = names.len().min(MAX_DRAWN);
    let order = leaf_order(merges, count);
    let mut place = vec![0.0f32; count];
    for (row, leaf) in order.iter().enumerate() {
        place[*leaf] = (row as f32 + 0.5) * ROW;
    }
    let x = |height: f32| NAMES + height.clamp(0.0, 1.0) * TREE;
    let mut out = svg(NAMES + TREE + 20.0, count as f32 * ROW + 24.0);
    for (row, leaf) in order.iter().enumerate() {
        text(&mut out, 4.0, (row as f32 + 0.75) * ROW, &names[*leaf]);
    }
    // Where the line of each cluster stands, and how far right it has come.
    let mut at: Vec<(f32, f32)> = place.iter().map(|y| (*y, 0.0)).collect();
    for merge in merges.iter().filter(|m| m.a < count && m.b < count) {
        let ((ya, ha), (yb, hb)) = (at[merge.a], at[merge.b]);
        let here = x(merge.height);
        out.push_str(&format!(
            "<path d=\"M{:.1} {ya:.1}H{here:.1}V{yb:.1}H{:.1}\" fill=\"none\" stroke=\"#456\"/>\n",
            x(ha),
            x(hb)
        ));
        at[merge.a] = ((ya + yb) / 2.0, merge.height);
    }
    let (cut, bottom) = (x(max_distance), count as f32 * ROW);
    out.push_str(&format!(
        "<path d=\"M{cut:.1} 0V{bottom:.1}\" stroke=\"#c33\" stroke-dasharray=\"4 3\"/>\n"
    ));
    text(
        &mut out,
        cut - 20.0,
        bottom + 14.0,
        &format!("{max_distance:.2}"),
    );
    out.push_str("</svg>\n");
    out
}

/// Leaves in the order in which the tree has no crossing lines.
fn leaf_order(merges: &[Merge], count: usize) -> Vec<usize> {
    let mut groups: Vec<Vec<usize>> = (0..count).map(|leaf| vec![leaf]).collect();
    for merge in merges.iter().filter(|m| m.a < count && m.b < count) {
        let gone = std::mem::take(&mut groups[merge.b]);
        groups[merge.a].extend(gone);
    }
    groups.into_iter().flatten().collect()
}

/// A square for each pair, the darker the more alike; `clusters` give the order.
pub fn heat_map(distances: &Distances, clusters: &[usize], names: &[String]) -> String {
    let count = names.len().min(distances.count()).min(MAX_DRAWN);
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|at| (clusters.get(*at), *at));
    let side = count as f32 * ROW;
    let mut out = svg(NAMES + side + 4.0, side + 4.0);
    for (row, i) in order.iter().enumerate() {
        let y = row as f32 * ROW;
        text(&mut out, 4.0, y + 0.75 * ROW, &names[*i]);
        for (column, j) in order.iter().enumerate() {
            let alike = 1.0 - distances.get(*i, *j);
            let shade = 255.0 - 200.0 * alike.clamp(0.0, 1.0);
            let x = NAMES + column as f32 * ROW;
            out.push_str(&format!(
                "<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{ROW}\" height=\"{ROW}\" \
                 fill=\"rgb({shade:.0},{shade:.0},255)\"/>"
            ));
        }
        out.push('\n');
    }
    out.push_str("</svg>\n");
    out
}

fn svg(width: f32, height: f32) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"10\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    )
}

fn text(out: &mut String, x: f32, y: f32, text: &str) {
    const CHARS: usize = 42;
    let mut shown = String::new();
    for c in text.chars().take(CHARS) {
        match c {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            c => shown.push(c),
        }
    }
    out.push_str(&format!("<text x=\"{x:.0}\" y=\"{y:.1}\">{shown}</text>\n"));
}
