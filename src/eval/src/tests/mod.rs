//! Tests of the evaluation. Vectors worked by hand; those over several pages are also what the reference scorer of the
//! benchmark, in Python, gives for the same texts.

mod files;
mod scores;
mod splits;
mod terms;
mod tokens;
