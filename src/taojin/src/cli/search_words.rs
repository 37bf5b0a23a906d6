//! Words of a query that begin with a hyphen: `-招聘` refuses a word. In: the arguments of the program. Out: the same,
//! with such words marked so that clap does not take them for options, and [`word`] to take the mark off. What begins
//! with two hyphens is an option always, so that a mistyped one is said to be one.

use std::convert::Infallible;
use std::ffi::OsString;

use clap::Command;

/// Put before a word; no keyboard types it.
const MARK: char = '\u{F8FF}';
/// The command whose words they are.
const SEARCH: &str = "search";

/// The arguments of `program` with refused words marked, if they are those of a search.
pub(super) fn marked(program: &Command, mut args: Vec<OsString>) -> Vec<OsString> {
    let Some(at) = subcommand(program, &args) else {
        return args;
    };
    let search = program.find_subcommand(SEARCH);
    let commands = [Some(program), search];
    let is_short = |c: char| {
        let mut options = commands.iter().flatten().flat_map(|c| c.get_arguments());
        c == 'h' || options.any(|option| option.get_short() == Some(c))
    };
    for arg in args.iter_mut().skip(at + 1) {
        let Some(text) = arg.to_str() else {
            continue;
        };
        if text == "--" {
            break;
        }
        let refused = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        if refused.is_some_and(|word| !word.is_empty() && !word.chars().all(is_short)) {
            *arg = format!("{MARK}{text}").into();
        }
    }
    args
}

/// Where the sub-command stands, if it is the search.
fn subcommand(program: &Command, args: &[OsString]) -> Option<usize> {
    let mut rest = args.iter().enumerate().skip(1);
    while let Some((at, arg)) = rest.next() {
        let text = arg.to_str()?;
        let Some(option) = text.strip_prefix("--") else {
            if text.starts_with('-') {
                continue;
            }
            return (text == SEARCH).then_some(at);
        };
        let takes_value =
            |o: &clap::Arg| o.get_long() == Some(option) && o.get_action().takes_values();
        if program.get_arguments().any(takes_value) {
            rest.next();
        }
    }
    None
}

/// A word of a query as it was typed.
pub(super) fn word(text: &str) -> Result<String, Infallible> {
    Ok(text.strip_prefix(MARK).unwrap_or(text).to_owned())
}
