//! Reads the arguments of a state that is written as a call, as Nuxt 2 does: `(function(a,b){return {title:a}}("…",0))`. What
//! stands several times in the data is an argument, and its name stands for it.

use std::collections::HashMap;

use crate::page::quoted::{closing, unescaped};

/// Most arguments.
const MAX_ARGUMENTS: usize = 10_000;
/// Bytes in which the function begins.
const MAX_BEGIN: usize = 300;

/// What the names stand for that a script gives a value by a call: strings and numbers.
pub(super) fn read(script: &str) -> HashMap<&str, String> {
    find(script).unwrap_or_default()
}

fn find(script: &str) -> Option<HashMap<&str, String>> {
    let begin = script.get(..script.floor_char_boundary(MAX_BEGIN))?;
    let (names, body) = match begin.find("(function(") {
        Some(at) => names(script, at + "(function(".len())?,
        None => {
            let at = begin.find("((")?;
            names(script, at + 2)?
        }
    };
    let body = body + script.get(body..)?.find('{')?;
    let end = close(script, body)?;
    // `}("…"))` and `})("…")`.
    let rest = script.get(end..)?;
    let call = end + rest.find('(')?;
    let between = script.get(end..call)?;
    if !between.chars().all(|c| c == ')' || c.is_whitespace()) {
        return None;
    }
    let last = close(script, call)?;
    let values = split(script.get(call + 1..last - 1)?);
    let values = names.into_iter().zip(values);
    let known = values.filter_map(|(name, value)| Some((name, literal(value)?)));
    Some(known.collect())
}

/// The names up to the bracket that ends them, and what is behind it.
fn names(script: &str, from: usize) -> Option<(Vec<&str>, usize)> {
    let rest = script.get(from..)?;
    let end = rest.find(')')?;
    let names: Vec<&str> = rest.get(..end)?.split(',').map(str::trim).collect();
    let is_name = |name: &&str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$'))
    };
    let are_names = names.len() <= MAX_ARGUMENTS && names.iter().all(is_name);
    are_names.then_some((names, from + end + 1))
}

/// What is behind the bracket that closes the one at `from`.
fn close(script: &str, from: usize) -> Option<usize> {
    let bytes = script.as_bytes();
    let (mut at, mut depth) = (from, 0_usize);
    loop {
        match bytes.get(at)? {
            b'"' | b'\'' | b'`' => at = closing(bytes, at + 1, false).0,
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// The arguments between the brackets of a call.
fn split(arguments: &str) -> Vec<&str> {
    let bytes = arguments.as_bytes();
    let (mut at, mut begin, mut depth, mut found) = (0, 0, 0_usize, Vec::new());
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' | b'`' => at = closing(bytes, at + 1, false).0,
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                found.push(arguments.get(begin..at).unwrap_or_default());
                begin = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    found.push(arguments.get(begin..).unwrap_or_default());
    found
}

/// A string without its quotes, or a number.
fn literal(value: &str) -> Option<String> {
    let value = value.trim();
    let inner = ['"', '\''].into_iter().find_map(|quote| {
        value
            .strip_prefix(quote)
            .and_then(|value| value.strip_suffix(quote))
    });
    match inner {
        Some(inner) => Some(unescaped(inner)),
        None if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) => {
            Some(value.to_owned())
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_by_name() {
        for script in [
            "window.__NUXT__=(function(a,b,c){a.x=b;return {t:c,u:\"(\"}}({},\"水库\\u6c34\",1780442100));",
            "x=(function(a, b, c){return {t:c}})([1,2], '水库水', 1780442100)",
            "x=((a,b,c)=>({t:c}))(void 0,\"水库水\",1780442100)",
        ] {
            let found = read(script);
            assert_eq!(
                found.get("b").map(String::as_str),
                Some("水库水"),
                "{script}"
            );
            assert_eq!(found.get("c").map(String::as_str), Some("1780442100"));
            assert_eq!(found.get("a"), None);
        }
        for script in [
            "x={a:1}",
            "(function(a){",
            "(function(a){return 1})",
            "((a))",
            "",
        ] {
            assert!(read(script).is_empty(), "{script}");
        }
    }
}
