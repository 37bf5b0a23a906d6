//! Reads the string literals of a script, and of what a click does. Runs nothing and reads each byte once.

/// A string literal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quoted<'s> {
    /// What is between the quotes, escapes as they are.
    pub raw: &'s str,
    /// It is joined to something else, so that it is a part of what the script means.
    pub is_part: bool,
}

/// The string literals of a script in order. One that a line break cuts off is none.
pub(crate) fn quoted(script: &str) -> impl Iterator<Item = Quoted<'_>> {
    let bytes = script.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = bytes.get(at..)?;
            let start = at + memchr::memchr3(b'"', b'\'', b'`', rest)?;
            let (end, is_whole) = closing(bytes, start + 1, false);
            at = end + 1;
            if !is_whole {
                continue;
            }
            let before = bytes.get(..start).unwrap_or_default().trim_ascii_end();
            let behind = bytes.get(at..).unwrap_or_default().trim_ascii_start();
            return Some(Quoted {
                raw: script.get(start + 1..end)?,
                is_part: before.ends_with(b"+") || behind.starts_with(b"+"),
            });
        }
    })
}

/// Where the string ends that begins at `from` behind its quote, and whether it ends with a quote: a line break may end it
/// unread.
pub(crate) fn closing(bytes: &[u8], from: usize, goes_on: bool) -> (usize, bool) {
    let quote = bytes[from - 1];
    let mut at = from;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(next) = memchr::memchr3(quote, b'\\', b'\n', rest) else {
            return (bytes.len(), false);
        };
        at += next;
        match bytes[at] {
            b'\\' => at += 2,
            b'\n' if goes_on || quote == b'`' => at += 1,
            b'\n' => return (at, false),
            _ => return (at, true),
        }
    }
}

/// A string as a program reads it.
pub(crate) fn unescaped(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    // The first half of a character that is spelled in two.
    let mut half = None;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut chars = escape.chars();
        let sign = chars.next();
        rest = chars.as_str();
        let spelled = match sign {
            Some('u') => code(rest, 4),
            Some('x') => code(rest, 2),
            _ => None,
        };
        if let Some((code, behind)) = spelled {
            rest = behind;
            match (code, half.take()) {
                (0xD800..0xDC00, _) => half = Some(code),
                (0xDC00..0xE000, Some(first)) => {
                    let code = 0x10000 + ((first - 0xD800) << 10) + (code - 0xDC00);
                    out.extend(char::from_u32(code));
                }
                _ => out.extend(char::from_u32(code)),
            }
            continue;
        }
        match sign {
            Some('n' | 'r') => out.push('\n'),
            Some('t' | 'b' | 'f' | 'v') => out.push(' '),
            Some('\n') | None => {}
            Some(other) => out.push(other),
        }
    }
    out.push_str(rest);
    out
}

/// The character that so many digits spell, and what is behind them.
fn code(text: &str, digits: usize) -> Option<(u32, &str)> {
    let code = u32::from_str_radix(text.get(..digits)?, 16).ok()?;
    Some((code, text.get(digits..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_parts_and_wholes() {
        let script = "f('a', \"b\\\"c\" + id); x = `d`; // don't\ng(id + 'e')";
        let found: Vec<_> = quoted(script).map(|q| (q.raw, q.is_part)).collect();
        let expected = [("a", false), ("b\\\"c", true), ("d", false), ("e", true)];
        assert_eq!(found, expected);
    }
}
