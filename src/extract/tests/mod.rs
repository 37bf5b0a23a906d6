//! Tests of the extraction, by part.

mod dates;
mod hostile;
mod links;
mod ratios;
mod titles;
