//! Words and phrases by which lines are recognised.

pub(crate) mod phrase_shapes;
pub(crate) mod phrases;
