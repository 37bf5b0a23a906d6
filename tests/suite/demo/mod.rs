//! The sample web and what a newcomer meets first.

mod commands;
mod first_hour;
mod sample_web;
