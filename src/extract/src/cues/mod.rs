//! Words and phrases by which lines are recognised.

pub(crate) mod phrases;
