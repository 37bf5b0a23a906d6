//! Reads a file of `data/`: `[name]` opens a section, each further line is an entry of it, `#` begins a comment line.
//! The files are part of the program and a test reads them all, so nothing here can fail.

/// The sections of one file, in the order of the file.
pub(crate) struct Tables(Vec<(&'static str, Vec<&'static str>)>);

impl Tables {
    /// Reads a file's text. Lines before the first section are left out.
    pub(crate) fn read(text: &'static str) -> Self {
        let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let name = line
                .strip_prefix('[')
                .and_then(|line| line.strip_suffix(']'));
            match (name, sections.last_mut()) {
                (Some(name), _) => sections.push((name, Vec::new())),
                (None, Some((_, entries))) => entries.push(line),
                (None, None) => {}
            }
        }
        Self(sections)
    }

    /// The entries of a section; none if the file has no such section.
    pub(crate) fn section(&self, name: &str) -> &[&'static str] {
        self.0
            .iter()
            .find(|(known, _)| *known == name)
            .map_or(&[], |(_, entries)| entries)
    }

    /// The names of the sections.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|&(name, _)| name)
    }
}
