//! Whether searches lack documents: whether the index has what the store had when it was seen first, or when it was lost.

/// How far an index is that may be lost, and that somebody else may write.
#[derive(Debug, Default)]
pub(super) struct CatchUp {
    /// The last change that the index was seen to have.
    indexed: u64,
    /// Searches lack documents until the index has this change: the end of the log when it was seen first, or lost.
    goal: Option<u64>,
}

impl CatchUp {
    /// Notes that the index has everything up to `seq`, with a log that ends at `last_seq`. Returns whether searches lack
    /// nothing.
    pub(super) fn reach<E>(
        &mut self,
        seq: u64,
        last_seq: impl FnOnce() -> Result<u64, E>,
    ) -> Result<bool, E> {
        let was_lost = seq < self.indexed;
        self.indexed = seq;
        let goal = match self.goal {
            Some(goal) if !was_lost => goal,
            _ => *self.goal.insert(last_seq()?),
        };
        Ok(seq >= goal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use taojin_crawl::store::StoreError;

    #[test]
    fn catch_up_goal_stays_unless_lost() {
        let mut catch_up = CatchUp::default();
        for (seq, last_seq, expected, case) in [
            (3, 10, false, "the end of the log is the goal"),
            (10, 20, true, "what came later is not"),
            (12, 20, true, "nor is it taken in its place"),
            (0, 20, false, "the index was lost"),
            (20, 30, true, "and made again"),
        ] {
            let reached = catch_up.reach(seq, || Ok::<_, StoreError>(last_seq));
            assert_eq!(reached.unwrap(), expected, "{case}");
        }
    }
}
