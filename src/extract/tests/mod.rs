//! Tests of the extraction, by part.

mod dates;
mod ratios;
mod titles;
