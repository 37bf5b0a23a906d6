//! Boosted trees over the features of a line. They return log-odds, or what each question added to them.
//!
//! A tree asks the same few questions of every line; its answers, read as binary digits, name the vote that
//! counts (oblivious trees, as in Prokhorenkova et al., "CatBoost", NeurIPS 2018). So a page costs a few
//! comparisons a line and tree, without a branch.

use super::features::FeatureRow;

/// Questions of a tree.
pub(crate) const DEPTH: usize = 5;
/// Votes are kept in thousandths.
const UNIT: f32 = 0.001;

/// One tree.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionTree {
    /// Number of a feature and the value it must exceed; the first answer is the lowest digit.
    pub asks: [(u16, f32); DEPTH],
    /// Thousandths to add, by the answers.
    pub votes: [i16; 1 << DEPTH],
}

impl DecisionTree {
    fn vote(&self, row: &FeatureRow) -> i16 {
        let answer = |(digit, (feature, least)): (usize, &(u16, f32))| {
            let value = row.get(usize::from(*feature)).copied().unwrap_or_default();
            usize::from(value > *least) << digit
        };
        let at: usize = self.asks.iter().enumerate().map(answer).sum();
        self.votes[at]
    }
}

/// The votes of all trees with the bias they start from.
pub(crate) fn log_odds(row: &FeatureRow, bias: i16, trees: &[DecisionTree]) -> f32 {
    let votes: i32 = trees.iter().map(|t| i32::from(t.vote(row))).sum();
    (i32::from(bias) + votes) as f32 * UNIT
}

/// What each feature added: a tree's vote is shared among the features it asks for.
pub(crate) fn shares(row: &FeatureRow, trees: &[DecisionTree]) -> Vec<(u16, f32)> {
    let mut shares: Vec<(u16, f32)> = Vec::new();
    for tree in trees {
        let share = f32::from(tree.vote(row)) * UNIT / DEPTH as f32;
        for (feature, _) in &tree.asks {
            match shares.iter_mut().find(|(f, _)| f == feature) {
                Some((_, sum)) => *sum += share,
                None => shares.push((*feature, share)),
            }
        }
    }
    shares
}
