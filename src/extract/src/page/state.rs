//! The scripts that hold data: the state of an application, from which it shows its text. In: scripts in pieces. Out: those
//! whose beginning looks like data, as they stand. Never reads more of a program than its first bytes.

use super::NodeId;

/// Bytes at the beginning of a script by which it is told.
const HEAD: usize = 512;
/// The name that data is given stands so near to the beginning of the script, in bytes.
const MAX_NAME: usize = 100;
/// Bytes kept of all scripts of a page: the state of a long article with its comments has some hundred thousand.
const MAX_BYTES: usize = 2 << 20;

/// Names of data that may stand behind other statements of a script.
const NAMES: [&[u8]; 7] = [
    b"_STATE",
    b"_DATA",
    b"__NUXT__",
    b"__next_f",
    b"globalContent",
    b"initialState",
    b"msg_title",
];

/// The data of a page's scripts while they arrive.
#[derive(Debug, Default)]
pub(super) struct States {
    scripts: Vec<Vec<u8>>,
    bytes: usize,
    /// The script that arrives.
    current: Option<NodeId>,
    /// Its bytes, as long as they are too few to tell.
    head: Vec<u8>,
    verdict: Option<bool>,
}

impl States {
    /// The next bytes of the script `node`; `is_json` if its type says so.
    pub(super) fn add(&mut self, node: NodeId, is_json: bool, raw: &[u8]) {
        if self.current != Some(node) {
            self.settle();
            self.current = Some(node);
            self.verdict = is_json.then_some(true);
            self.scripts.extend(is_json.then(Vec::new));
        }
        match self.verdict {
            Some(true) => self.keep(raw),
            Some(false) => {}
            None if self.head.is_empty() && raw.len() >= HEAD => self.decide(raw),
            None => {
                self.head.extend_from_slice(raw);
                if self.head.len() >= HEAD {
                    self.settle();
                }
            }
        }
    }

    /// All scripts have come.
    pub(super) fn finish(mut self) -> Vec<String> {
        self.settle();
        let text = |script: Vec<u8>| String::from_utf8_lossy(&script).into_owned();
        self.scripts.into_iter().map(text).collect()
    }

    fn settle(&mut self) {
        let head = std::mem::take(&mut self.head);
        if self.verdict.is_none() && !head.is_empty() {
            self.decide(&head);
        }
    }

    fn decide(&mut self, head: &[u8]) {
        let keeps = holds_data(head.get(..HEAD).unwrap_or(head));
        self.verdict = Some(keeps);
        if keeps {
            self.scripts.push(Vec::new());
            self.keep(head);
        }
    }

    fn keep(&mut self, raw: &[u8]) {
        let taken = raw.len().min(MAX_BYTES - self.bytes);
        self.bytes += taken;
        if let (Some(script), Some(raw)) = (self.scripts.last_mut(), raw.get(..taken)) {
            script.extend_from_slice(raw);
        }
    }
}

/// Whether a script is data: JSON, percent-encoded or not; JSON that is given a name or pushed onto a list; or one that names
/// what frameworks call their state.
fn holds_data(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    let begins_data = |bytes: &[u8]| {
        let bytes = bytes.trim_ascii_start();
        let opens = [
            &b"{"[..],
            b"[",
            b"\"{",
            b"'{",
            b"%7B",
            b"%5B",
            b"JSON.parse(",
        ];
        opens.iter().any(|opens| bytes.starts_with(opens))
    };
    let named = || {
        let sign = head.iter().take(MAX_NAME).position(|b| *b == b'=')?;
        head.get(sign + 1..)
    };
    begins_data(head)
        || named().is_some_and(begins_data)
        || NAMES
            .iter()
            .any(|name| memchr::memmem::find(head, name).is_some())
}
