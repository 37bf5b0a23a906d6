//! Text-to-tag-path ratios. In: one [`Leaf`] per text (its tag path, characters, sentence marks). Out: a [`PathSum`]
//! for each path, which knows its ratios. Never looks at the words.
//!
//! Wu et al., "Web News Extraction via Path Ratios", CIKM 2013. For a path p with texts v1..vn:
//! `TPR = Σ chars / n`, `PPR = Σ marks / n`, `ETPR = TPR · PPR · σ(chars) · σ(marks)` with the population
//! standard deviation σ. Mended, `ETPR = TPR · (PPR + 0.1) · (1 + σ(chars)) · (1 + σ(marks))`.

/// One text of the page as the ratios see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// Key of the tag path; dense, below the number of paths.
    pub path: u32,
    /// Characters of the trimmed text.
    pub chars: u32,
    /// Sentence marks in it.
    pub marks: u32,
}

/// What is known of one tag path.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PathSum {
    /// Number of texts with this path.
    pub texts: u32,
    /// Characters of all of them.
    pub chars: u32,
    /// Sentence marks of all of them.
    pub marks: u32,
    squares_chars: f64,
    squares_marks: f64,
}

impl PathSum {
    fn add(&mut self, leaf: Leaf) {
        self.texts += 1;
        self.chars = self.chars.saturating_add(leaf.chars);
        self.marks = self.marks.saturating_add(leaf.marks);
        self.squares_chars += f64::from(leaf.chars).powi(2);
        self.squares_marks += f64::from(leaf.marks).powi(2);
    }

    /// Mean number of characters of a text.
    pub fn tpr(&self) -> f64 {
        f64::from(self.chars) / f64::from(self.texts.max(1))
    }

    /// Mean number of sentence marks of a text.
    pub fn ppr(&self) -> f64 {
        f64::from(self.marks) / f64::from(self.texts.max(1))
    }

    /// Population standard deviation of the characters.
    pub fn deviation_chars(&self) -> f64 {
        self.deviation(self.squares_chars, self.tpr())
    }

    /// Population standard deviation of the sentence marks.
    pub fn deviation_marks(&self) -> f64 {
        self.deviation(self.squares_marks, self.ppr())
    }

    fn deviation(&self, squares: f64, mean: f64) -> f64 {
        // A rounding error may push the variance of equal values below zero.
        (squares / f64::from(self.texts.max(1)) - mean * mean)
            .max(0.0)
            .sqrt()
    }

    /// The extended ratio of the path, mended: a story of one paragraph does not score 0.
    pub fn etpr(&self) -> f64 {
        let (chars, marks) = (self.deviation_chars(), self.deviation_marks());
        self.tpr() * (self.ppr() + 0.1) * (1.0 + chars) * (1.0 + marks)
    }
}

/// Sums per path; the index is the leaf's path key.
pub fn path_sums(leaves: &[Leaf]) -> Vec<PathSum> {
    let paths = leaves.iter().map(|l| l.path + 1).max().unwrap_or(0);
    let mut sums = vec![PathSum::default(); paths as usize];
    for leaf in leaves {
        sums[leaf.path as usize].add(*leaf);
    }
    sums
}
