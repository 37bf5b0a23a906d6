//! Forms that many texts are compared with. In: the normal forms of a title's parts, then that of a text at a time. Out:
//! how like the text is to the nearest of them. Never computes a likeness that cannot count: most texts share no four
//! letters with a title.

use super::likeness::{distance_limit, likeness_from, normal_form};

/// Texts of twice this length and more that share no run of it are not called alike.
const RUN: usize = 4;

/// Normal forms that many texts are compared with.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    /// Each of them once, sorted.
    forms: Vec<Vec<char>>,
    runs: Runs,
}

impl Forms {
    /// The normal forms of texts.
    pub(crate) fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut forms: Vec<Vec<char>> = texts.map(normal_form).collect();
        forms.sort_unstable();
        forms.dedup();
        let mut runs = Runs::default();
        forms.iter().for_each(|form| runs.add(form));
        Self { forms, runs }
    }

    /// True if `form` is one of the forms.
    pub(crate) fn contain(&self, form: &[char]) -> bool {
        self.forms
            .binary_search_by(|f| f.as_slice().cmp(form))
            .is_ok()
    }

    /// The greatest likeness of a normal form to one of these, if it is greater than `least`, which is at least one half.
    pub(crate) fn best(&self, form: &[char], least: f64) -> Option<f64> {
        if self.contain(form) {
            return Some(1.0);
        }
        let shared = self.shared(form);
        let mut best = None;
        for other in &self.forms {
            let least = best.unwrap_or(least);
            if shared.allow(form.len().min(other.len()), least) {
                best = likeness_from(form, other, shared.longest, least).or(best);
            }
        }
        best
    }

    /// What a form shares with all of these together.
    fn shared(&self, form: &[char]) -> Shared {
        // The runs of a short text tell little.
        if form.len() < 2 * RUN {
            return Shared {
                longest: form.len(),
                lost: 0,
            };
        }
        let (known, in_a_row) = self.runs.known(form);
        let longest = if known == 0 { 0 } else { in_a_row + RUN - 1 };
        Shared {
            longest,
            lost: form.len() - (RUN - 1) - known,
        }
    }
}

/// What a text shares with others.
#[derive(Debug, Clone, Copy)]
struct Shared {
    /// No common substring is longer.
    longest: usize,
    /// Runs that stand in none of the others.
    lost: usize,
}

impl Shared {
    /// False where the text cannot be more alike to one of the others than `least`; `short` is the length of the shorter.
    fn allow(self, short: usize, least: f64) -> bool {
        // A change of one character takes away no more runs than it stands in (Ukkonen 1992).
        let changes = self.lost.div_ceil(RUN);
        changes < distance_limit(short.min(self.longest), least)
    }
}

/// Which runs of [`RUN`] characters stand in some texts: a bit for the hash of each. Says yes of few others.
#[derive(Debug)]
struct Runs([u64; Runs::WORDS]);

impl Default for Runs {
    fn default() -> Self {
        Self([0; Self::WORDS])
    }
}

impl Runs {
    /// 2^14 bits; a title has some hundred runs.
    const WORDS: usize = 1 << 8;

    fn add(&mut self, text: &[char]) {
        for at in places(text) {
            self.0[at / 64] |= 1 << (at % 64);
        }
    }

    /// How many runs of `text` are known, and how many in a row at most.
    fn known(&self, text: &[char]) -> (usize, usize) {
        let (mut all, mut most, mut row) = (0, 0, 0);
        for at in places(text) {
            let known = (self.0[at / 64] >> (at % 64) & 1) as usize;
            all += known;
            row = (row + 1) * known;
            most = most.max(row);
        }
        (all, most)
    }
}

/// The bit of each run of a text.
fn places(text: &[char]) -> impl Iterator<Item = usize> {
    // Sixteen bits of each of the last characters; what two runs share beyond that makes them no more than look alike.
    let mut run = 0u64;
    let keys = text.iter().map(move |c| {
        run = run << 16 | u64::from(u32::from(*c) & 0xFFFF);
        run
    });
    let bits = (Runs::WORDS * 64).ilog2();
    keys.skip(RUN - 1)
        .map(move |run| (run.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - bits)) as usize)
}
