//! Drawings of clusters. In: distances, merges, names. Out: SVG as text, names escaped, no script and no style from
//! elsewhere. Each says what it shows: measure, threshold, a scale; its `<title>` elements tell names in full.

use taojin_extract::template::cluster::{Distances, Merge, cut};

/// Things drawn at most; more are not legible.
pub(crate) const MAX_DRAWN: usize = 200;
/// Height of a row in pixels.
const ROW: f32 = 14.0;
/// Width of a letter of a name, about; of an ideograph twice that.
const LETTER: f32 = 5.6;
/// Letters of a name that are shown.
const LETTERS: usize = 44;
/// Width of the tree.
const TREE: f32 = 420.0;
/// Room above for the title and the scale.
const HEAD: f32 = 46.0;
/// Room around everything.
const MARGIN: f32 = 10.0;
/// Colours of clusters, one after the other; told apart by those who do not see red and green too (Okabe and Ito 2008).
const COLOURS: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#aa4499", "#8a6d00", "#3d7ea6",
];
/// What belongs to no cluster of two or more.
const GREY: &str = "#888";

/// A tree of merges, the leaves named, clusters up to `max_distance` in colours; `title` says what was compared.
pub(crate) fn dendrogram(
    title: &str,
    merges: &[Merge],
    names: &[String],
    max_distance: f32,
) -> String {
    let count = names.len().min(MAX_DRAWN);
    let order = leaf_order(merges, count);
    let colours = colours(&cut(names.len(), merges, max_distance));
    let mut place = vec![0.0f32; count];
    for (row, leaf) in order.iter().enumerate() {
        place[*leaf] = HEAD + (row as f32 + 0.5) * ROW;
    }
    let left = MARGIN + width_of(names);
    let x = |height: f32| left + height.clamp(0.0, 1.0) * TREE;
    let bottom = HEAD + count as f32 * ROW;
    let mut out = svg(left + TREE + 2.0 * MARGIN, bottom + MARGIN);
    heading(&mut out, title, names.len());
    for tenth in (0..=10u8).step_by(2) {
        let distance = f32::from(tenth) / 10.0;
        let at = x(distance);
        out.push_str(&format!(
            "<path d=\"M{at:.1} {:.1}V{bottom:.1}\" stroke=\"#e4e4e4\"/>\n",
            HEAD - 4.0
        ));
        middle(&mut out, at, HEAD - 8.0, "#555", &format!("{distance:.1}"));
    }
    for leaf in &order {
        let (y, name) = (place[*leaf] + 3.5, &names[*leaf]);
        text(&mut out, MARGIN, y, colours[*leaf], name);
    }
    // Where the line of each cluster stands, and how far right it has come.
    let mut at: Vec<(f32, f32)> = place.iter().map(|y| (*y, 0.0)).collect();
    for merge in merges.iter().filter(|m| m.a < count && m.b < count) {
        let ((ya, ha), (yb, hb)) = (at[merge.a], at[merge.b]);
        let within = merge.height <= max_distance;
        out.push_str(&format!(
            "<path d=\"M{:.1} {ya:.1}H{here:.1}V{yb:.1}H{:.1}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.3\"/>\n",
            x(ha),
            x(hb),
            if within { colours[merge.a] } else { GREY },
            here = x(merge.height),
        ));
        at[merge.a] = ((ya + yb) / 2.0, merge.height);
    }
    let here = x(max_distance);
    out.push_str(&format!(
        "<path d=\"M{here:.1} {:.1}V{bottom:.1}\" stroke=\"#c33\" stroke-dasharray=\"4 3\"/>\n",
        HEAD - 18.0
    ));
    let label = format!("cut {max_distance:.2}");
    middle(&mut out, here, HEAD - 21.0, "#c33", &label);
    out.push_str("</svg>\n");
    out
}

/// For each thing the colour of its cluster; grey for those alone.
fn colours(clusters: &[usize]) -> Vec<&'static str> {
    let mut sizes = vec![0usize; clusters.len()];
    clusters.iter().for_each(|cluster| sizes[*cluster] += 1);
    let mut shown = 0;
    let of_cluster: Vec<&str> = sizes
        .iter()
        .map(|size| {
            shown += usize::from(*size > 1);
            if *size > 1 {
                COLOURS[(shown - 1) % COLOURS.len()]
            } else {
                GREY
            }
        })
        .collect();
    clusters.iter().map(|c| of_cluster[*c]).collect()
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

/// A square for each pair, the darker the more alike; `clusters` give the order and are framed, `title` says what was
/// compared.
pub(crate) fn heat_map(
    title: &str,
    distances: &Distances,
    clusters: &[usize],
    names: &[String],
) -> String {
    let count = names.len().min(distances.count()).min(MAX_DRAWN);
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|at| (clusters.get(*at), *at));
    let colours = colours(clusters);
    let (side, left) = (count as f32 * ROW, MARGIN + width_of(names));
    let mut out = svg(left + side.max(340.0) + MARGIN, HEAD + side + MARGIN);
    heading(&mut out, title, names.len());
    scale(&mut out, left);
    for (row, i) in order.iter().enumerate() {
        let y = HEAD + row as f32 * ROW;
        text(&mut out, MARGIN, y + 0.75 * ROW, colours[*i], &names[*i]);
        for (column, j) in order.iter().enumerate() {
            out.push_str(&format!(
                "<rect x=\"{:.0}\" y=\"{y:.0}\" width=\"{ROW}\" height=\"{ROW}\" fill=\"{}\"/>",
                left + column as f32 * ROW,
                shade(1.0 - distances.get(*i, *j)),
            ));
        }
        out.push('\n');
    }
    let mut row = 0;
    for cluster in order.chunk_by(|i, j| clusters.get(*i) == clusters.get(*j)) {
        let (at, size) = (row as f32 * ROW, cluster.len() as f32 * ROW);
        out.push_str(&format!(
            "<rect x=\"{:.0}\" y=\"{:.0}\" width=\"{size}\" height=\"{size}\" fill=\"none\" stroke=\"{}\" \
             stroke-width=\"1.5\"/>\n",
            left + at,
            HEAD + at,
            colours[cluster[0]]
        ));
        row += cluster.len();
    }
    out.push_str("</svg>\n");
    out
}

/// Colour of a similarity.
fn shade(alike: f32) -> String {
    let shade = 255.0 - 200.0 * alike.clamp(0.0, 1.0);
    format!("rgb({shade:.0},{shade:.0},255)")
}

/// What the shades mean.
fn scale(out: &mut String, left: f32) {
    const STEPS: u8 = 10;
    text(out, left, HEAD - 10.0, "#555", "unlike");
    for step in 0..=STEPS {
        out.push_str(&format!(
            "<rect x=\"{:.0}\" y=\"{:.0}\" width=\"{ROW}\" height=\"10\" fill=\"{}\" stroke=\"#ddd\" \
             stroke-width=\".5\"/>",
            left + 34.0 + f32::from(step) * ROW,
            HEAD - 18.0,
            shade(f32::from(step) / f32::from(STEPS))
        ));
    }
    text(out, left + 194.0, HEAD - 10.0, "#555", "alike");
}

/// Width that the longest name takes.
fn width_of(names: &[String]) -> f32 {
    let width = |name: &String| {
        let shown = name.chars().take(LETTERS);
        shown.fold(0.0, |sum, c| sum + if c.is_ascii() { 1.0 } else { 2.0 })
    };
    let most = names.iter().take(MAX_DRAWN).map(width).fold(8.0, f32::max);
    (most * LETTER + 10.0).round()
}

fn svg(width: f32, height: f32) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"10\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    )
}

/// What was compared, and how much of it is shown.
fn heading(out: &mut String, title: &str, count: usize) {
    let shown = if count > MAX_DRAWN {
        format!("; the first {MAX_DRAWN} are drawn")
    } else {
        String::new()
    };
    let title = format!("{title}, {count} pages{shown}");
    out.push_str(&format!(
        "<text x=\"{MARGIN}\" y=\"16\" font-size=\"12\" font-weight=\"bold\">{}</text>\n",
        escaped(&title)
    ));
}

/// A name, its end left out where it is long.
fn text(out: &mut String, x: f32, y: f32, colour: &str, text: &str) {
    let mut shown: String = text.chars().take(LETTERS).collect();
    let mut whole = String::new();
    if shown.len() < text.len() {
        shown.pop();
        shown.push('…');
        whole = format!("<title>{}</title>", escaped(text));
    }
    out.push_str(&format!(
        "<text x=\"{x:.0}\" y=\"{y:.1}\" fill=\"{colour}\">{whole}{}</text>\n",
        escaped(&shown)
    ));
}

/// A word around the middle of `x`.
fn middle(out: &mut String, x: f32, y: f32, colour: &str, text: &str) {
    out.push_str(&format!(
        "<text x=\"{x:.0}\" y=\"{y:.1}\" fill=\"{colour}\" text-anchor=\"middle\">{}</text>\n",
        escaped(text)
    ));
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // Not allowed in XML.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
