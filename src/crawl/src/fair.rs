//! A queue whose owners take turns: of those that wait, one of each owner goes before the second of any (round robin). Never
//! bounded by itself: who puts something in bounds it.

use std::collections::VecDeque;
use std::hash::Hash;

use foldhash::{HashMap, HashMapExt};

/// What waits, by its owner. First in, first out for one owner; owners take turns.
#[derive(Debug)]
pub struct FairQueue<K, T> {
    /// Of each owner that has something.
    waiting: HashMap<K, VecDeque<T>>,
    /// The owners in the order of their turns.
    turns: VecDeque<K>,
}

impl<K, T> Default for FairQueue<K, T> {
    fn default() -> Self {
        Self {
            waiting: HashMap::new(),
            turns: VecDeque::new(),
        }
    }
}

impl<K: Clone + Eq + Hash, T> FairQueue<K, T> {
    /// Adds something behind all that its owner has.
    pub fn push(&mut self, owner: K, item: T) {
        let waiting = self.waiting.entry(owner.clone()).or_default();
        if waiting.is_empty() {
            self.turns.push_back(owner);
        }
        waiting.push_back(item);
    }

    /// Takes the next one: the first of the owner whose turn it is.
    pub fn pop(&mut self) -> Option<T> {
        self.pop_where(|_| true)
    }

    /// The same among owners that may have something now; the others keep their turns.
    pub fn pop_where(&mut self, mut may: impl FnMut(&K) -> bool) -> Option<T> {
        let at = self.turns.iter().position(&mut may)?;
        let owner = self.turns.remove(at)?;
        let waiting = self.waiting.get_mut(&owner)?;
        let item = waiting.pop_front();
        if waiting.is_empty() {
            self.waiting.remove(&owner);
        } else {
            self.turns.push_back(owner);
        }
        item
    }

    /// How many owners have something.
    pub fn owners(&self) -> usize {
        self.turns.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// How many things an owner has.
    pub fn waiting_of(&self, owner: &K) -> usize {
        self.waiting.get(owner).map_or(0, VecDeque::len)
    }

    /// Takes out what an owner does not want any more.
    pub fn retain(&mut self, owner: &K, keep: impl FnMut(&T) -> bool) {
        if let Some(waiting) = self.waiting.get_mut(owner) {
            waiting.retain(keep);
            if waiting.is_empty() {
                self.waiting.remove(owner);
                self.turns.retain(|other| other != owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fair_queue_owners_take_turns() {
        let mut queue = FairQueue::default();
        for item in ["a1", "a2", "a3", "b1", "a4", "b2", "c1"] {
            queue.push(item.as_bytes()[0], item);
        }
        assert_eq!(
            [b'a', b'b', b'c'].map(|owner| queue.waiting_of(&owner)),
            [4, 2, 1]
        );
        let mut out = Vec::new();
        while let Some(item) = queue.pop() {
            out.push(item);
        }
        assert_eq!(out, ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
        assert!(queue.is_empty() && queue.owners() == 0);
    }

    #[test]
    fn fair_queue_passes_over_owner() {
        let mut queue = FairQueue::default();
        for item in ["a1", "a2", "b1"] {
            queue.push(item.as_bytes()[0], item);
        }
        assert_eq!(queue.pop_where(|owner| *owner == b'b'), Some("b1"));
        assert_eq!(queue.pop_where(|owner| *owner == b'b'), None);
        assert_eq!((queue.owners(), queue.waiting_of(&b'a')), (1, 2));
        assert_eq!(queue.pop(), Some("a1"));
    }

    #[test]
    fn fair_queue_forgets_what_is_not_wanted() {
        let mut queue = FairQueue::default();
        for item in ["a1", "a2", "b1"] {
            queue.push(item.as_bytes()[0], item);
        }
        queue.retain(&b'a', |item| *item == "a2");
        assert_eq!((queue.owners(), queue.waiting_of(&b'a')), (2, 1));
        queue.retain(&b'a', |_| false);
        assert_eq!((queue.owners(), queue.waiting_of(&b'a')), (1, 0));
        assert_eq!((queue.pop(), queue.pop()), (Some("b1"), None));
    }

    proptest! {
        /// Nothing is lost, each owner's order stays, and nobody waits for more than one of each other owner.
        #[test]
        fn fair_queue_is_round_robin(owners in proptest::collection::vec(0u8..5, 0..60)) {
            let mut queue = FairQueue::default();
            for (item, owner) in owners.iter().enumerate() {
                queue.push(*owner, (*owner, item));
            }
            let mut out: Vec<(u8, usize)> = Vec::new();
            while let Some(item) = queue.pop() {
                out.push(item);
            }
            for owner in 0..5 {
                let of = |all: &[(u8, usize)]| -> Vec<usize> {
                    all.iter().filter(|(o, _)| *o == owner).map(|(_, i)| *i).collect()
                };
                let items = of(&out);
                prop_assert!(items.is_sorted());
                prop_assert_eq!(items.len(), owners.iter().filter(|o| **o == owner).count());
                let places: Vec<usize> = (0..out.len()).filter(|at| out[*at].0 == owner).collect();
                prop_assert!(places.first().is_none_or(|first| *first < 5));
                prop_assert!(places.windows(2).all(|pair| pair[1] - pair[0] <= 5));
            }
        }
    }
}
