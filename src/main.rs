//! The `taojin` command.

fn main() {}
