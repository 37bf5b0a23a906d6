//! The sample web and what a newcomer meets first.

mod chinese;
mod commands;
mod first_hour;
mod sample_web;
