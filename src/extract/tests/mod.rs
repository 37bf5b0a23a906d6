//! Tests of the extraction, by part.

mod dates;
mod hostile;
mod links;
mod marks;
mod ratios;
mod titles;
