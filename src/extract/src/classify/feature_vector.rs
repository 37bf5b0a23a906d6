//! A row of features while it is filled. In: values with names, in order. Out: a [`Row`]. Never judges.

use std::sync::LazyLock;

/// Number of features of a line.
pub(crate) const COUNT: usize = 128;

/// A line's features.
pub(crate) type Row = [f32; COUNT];

/// Cells of a row while it is filled; with `NAMED`, the names of the features are kept as well.
#[derive(Debug)]
pub(crate) struct FeatureVector<const NAMED: bool = false> {
    /// The values; apart, so that where the next one goes need not be read anew after each.
    pub row: Box<Row>,
    at: usize,
    /// Names, when they are wanted.
    pub names: Vec<&'static str>,
}

impl<const NAMED: bool> Default for FeatureVector<NAMED> {
    fn default() -> Self {
        Self {
            row: Box::new([0.0; COUNT]),
            at: 0,
            names: Vec::new(),
        }
    }
}

impl FeatureVector<true> {
    /// Cells that keep the names too.
    pub(crate) fn with_names() -> Self {
        Self::default()
    }
}

impl<const NAMED: bool> FeatureVector<NAMED> {
    /// Begins the row of the next line, in the same place.
    pub(crate) fn rewind(&mut self) {
        self.at = 0;
    }

    /// The next value.
    #[inline]
    pub(crate) fn put(&mut self, name: &'static str, value: f32) {
        if let Some(cell) = self.row.get_mut(self.at) {
            *cell = value;
        }
        if NAMED {
            self.names.push(name);
        }
        self.at += 1;
    }

    /// The next value: 1 or 0.
    #[inline]
    pub(crate) fn flag(&mut self, name: &'static str, on: bool) {
        self.put(name, f32::from(u8::from(on)));
    }
}

/// Numbers whose logarithm is kept; most are counts below it.
const KEPT: usize = 2048;

/// `ln(1 + x)`, 0 for 0 and below.
pub(crate) fn log(x: f32) -> f32 {
    static LOGS: LazyLock<Vec<f32>> =
        LazyLock::new(|| (0..KEPT).map(|i| (i as f32).ln_1p()).collect());
    let x = x.max(0.0);
    let whole = x as usize;
    match LOGS.get(whole) {
        Some(log) if whole as f32 == x => *log,
        _ => x.ln_1p(),
    }
}
