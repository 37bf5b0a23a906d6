//! The learned tables as one value. In: nothing, or what a learner found. Out: [`Weights`]. Never learns, never judges.

use std::borrow::Cow;

use super::trees::Tree;
use super::weights::{BIAS, FIRST, KEPT, PAGE, TREES};

/// Number of types of pages.
pub(crate) const TYPES: usize = 6;

/// All that is learned of the extraction: a table in the source, or one that was learned just now and is to be judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// Features of a line alone, with the thousandths that each adds to the log-odds that it is text.
    pub first: Cow<'static, [(&'static str, i16)]>,
    /// Features of a page, with the thousandths that each adds to the log-odds of each type.
    pub page: Cow<'static, [(&'static str, [i16; TYPES])]>,
    /// Features of a line alone that the trees ask for, by their number in `first`.
    pub kept: Cow<'static, [u16]>,
    /// Thousandths that the votes of the trees are added to.
    pub bias: i16,
    /// Trees over a line's second features, the types of its page and `kept`, in this order.
    pub trees: Cow<'static, [Tree]>,
}

/// The tables in the source.
pub(crate) static COMMITTED: Weights = Weights {
    first: Cow::Borrowed(FIRST),
    page: Cow::Borrowed(PAGE),
    kept: Cow::Borrowed(KEPT),
    bias: BIAS,
    trees: Cow::Borrowed(TREES),
};
