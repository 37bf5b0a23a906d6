//! Where the index is kept, as the one who writes it sees it.

use std::time::Duration;

use taojin_search::index::IndexWriter;

use super::feeding::LogFeed;

/// How an engine likes to be fed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pace {
    /// A document is searchable this long after it came in, plus the time of a commit.
    pub(super) commit_after: Duration,
    /// Changes between two commits while there are always more: what a crash costs at most, some seconds of work.
    pub(super) commit_rows: usize,
}

/// Whether this process writes the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// It does.
    Ours,
    /// Another one does, and has come so far.
    Others {
        /// The last change that the index has.
        seq: u64,
    },
}

/// An index that was opened.
pub(super) struct Opened<W> {
    /// None where it is searched as it is until another one takes its place.
    pub(super) writer: Option<W>,
    /// The last change that it has.
    pub(super) seq: u64,
    /// Whether another one is being made, or must be.
    pub(super) needs_rebuild: bool,
}

impl<W: IndexWriter> Opened<W> {
    /// To be written into from now on.
    pub(super) fn writable(writer: W, needs_rebuild: bool) -> Self {
        Self {
            seq: writer.last_seq(),
            writer: Some(writer),
            needs_rebuild,
        }
    }
}

/// Keeps an index. Of two processes one at a time writes it.
pub(super) trait Engine {
    /// What writes into the index, and into the one that is to take its place.
    type Writer: IndexWriter;

    /// How it likes to be fed.
    fn pace(&self) -> Pace;

    /// Takes the right to write the index, where nobody else has it; with `takes_over` also where it was made from another store. To
    /// be tried every few seconds.
    fn claim(&mut self, log: &LogFeed, takes_over: bool) -> anyhow::Result<Claim>;

    /// Opens the index, or makes an empty one.
    fn open(&mut self) -> anyhow::Result<Opened<Self::Writer>>;

    /// Opens the index that is to take the place of the other, as far as it came before; empty where it has changes after `last_seq`.
    fn open_fresh(&mut self, last_seq: u64) -> anyhow::Result<Self::Writer>;

    /// Forgets an index that was to take the place of the other.
    fn discard_fresh(&mut self) -> anyhow::Result<()>;

    /// Lets an index in which everything is committed take the place of the other, and opens it.
    fn put_in_place(
        &mut self,
        old: Option<Self::Writer>,
        fresh: Self::Writer,
    ) -> anyhow::Result<Self::Writer>;

    /// Says to others that this process is there, where that is due.
    fn keep_claim(&mut self) -> anyhow::Result<()>;

    /// Looks after an index that nothing has come into for so long.
    fn tidy(
        &mut self,
        writer: &mut Self::Writer,
        log: &mut LogFeed,
        quiet: Duration,
    ) -> anyhow::Result<()>;

    /// Whether there is room on this machine's disk for work that can wait.
    fn set_room(&self, _writer: &mut Self::Writer, _has_room: bool) {}

    /// Closes the index for a process that ends, which a command lets take the time to leave it in order.
    fn close(&mut self, writer: Option<Self::Writer>, is_command: bool) -> anyhow::Result<()>;
}
