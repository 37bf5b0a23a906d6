//! Tests of the extraction, by part.

mod dates;
mod links;
mod ratios;
mod titles;
