//! The suffix tree of a short text (Ukkonen, "On-line construction of suffix trees", 1995). In: symbols, the last of
//! which stands nowhere else. Out: the leaves of the tree. Linear in the length; but each step goes to another place
//! of the tree, so that beyond the caches it waits for memory, and [`super::suffix_order`] is faster.
//!
//! A leaf is the number of its suffix and nothing else: where its edge begins follows from the depth of the node above.
//! The children of a node stand together, few as a list and many as a hash table, so that what belongs together is
//! near.

use super::suffix_order::Leaves;

/// The root.
const ROOT: u32 = 0;
/// Names of leaves have this bit; the rest is where the suffix begins.
const LEAF: u32 = 1 << 31;
/// A free place among the children of a node.
const FREE: Child = Child {
    symbol: 0,
    id: u32::MAX,
};
/// So many children are kept as a full list; more of them as a table of which a quarter is free.
const LISTED: u32 = 8;

/// An inner node.
#[derive(Debug, Clone, Copy)]
struct Inner {
    /// Where a suffix begins that goes through this node.
    from: u32,
    /// Symbols from the root.
    depth: u32,
    link: u32,
    /// Its children, from this place on; how many places follows from their number.
    block: u32,
    count: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Child {
    /// The first of its edge.
    symbol: u32,
    id: u32,
}

/// Where the building stands.
struct Active {
    node: u32,
    edge: u32,
    length: u32,
    waiting: u32,
}

/// A tree as it grows.
struct Growing<'a> {
    text: &'a [u32],
    inner: Vec<Inner>,
    children: Vec<Child>,
    leaves: u32,
}

/// The leaves of the suffix tree of a text whose last symbol stands nowhere else in it.
pub(super) fn leaves(text: &[u32]) -> Leaves {
    let mut tree = Growing {
        text,
        inner: vec![Inner {
            from: 0,
            depth: 0,
            link: ROOT,
            block: 0,
            count: 0,
        }],
        children: Vec::with_capacity(text.len() * 2),
        leaves: 0,
    };
    let mut active = Active {
        node: ROOT,
        edge: 0,
        length: 0,
        waiting: 0,
    };
    for at in 0..text.len() as u32 {
        tree.extend(at, &mut active);
    }
    tree.finished()
}

/// Places kept for so many children.
fn capacity(count: u32) -> usize {
    match count {
        0 => 0,
        1..=LISTED => count.next_power_of_two() as usize,
        _ => (count as usize * 4 / 3).next_power_of_two(),
    }
}

/// Where a child stands among those of its node, or would stand if that place were not taken.
fn home(symbol: u32) -> usize {
    (symbol.wrapping_mul(0x9E37_79B1) >> 7) as usize
}

fn put(block: &mut [Child], child: Child) {
    let mask = block.len() - 1;
    let mut at = home(child.symbol) & mask;
    while block[at] != FREE {
        at = (at + 1) & mask;
    }
    block[at] = child;
}

impl Growing<'_> {
    /// Where among all children the one stands whose edge begins with a symbol.
    fn find(&self, node: &Inner, symbol: u32) -> Option<usize> {
        let from = node.block as usize;
        let block = &self.children[from..from + capacity(node.count)];
        let mask = block.len().wrapping_sub(1);
        (0..block.len())
            .map(|step| home(symbol).wrapping_add(step) & mask)
            .take_while(|at| block[*at] != FREE)
            .find(|at| block[*at].symbol == symbol)
            .map(|at| from + at)
    }

    /// Gives a node one more child. When its block is full, a larger one is begun at the end.
    fn add(&mut self, node: u32, child: Child) {
        let record = &mut self.inner[node as usize];
        let from = record.block as usize;
        let old = capacity(record.count);
        record.count += 1;
        let new = capacity(record.count);
        if new == old {
            put(&mut self.children[from..from + old], child);
            return;
        }
        let begin = self.children.len();
        record.block = begin as u32;
        self.children.resize(begin + new, FREE);
        let (before, block) = self.children.split_at_mut(begin);
        let moved = before[from..from + old].iter().filter(|c| **c != FREE);
        moved.for_each(|child| put(block, *child));
        put(block, child);
    }

    /// Parts the edge of the child at `slot` after so many symbols; the new node between, with a leaf beside the child.
    fn split(&mut self, parent: &Inner, slot: usize, length: u32, leaf: Child) -> u32 {
        let below = self.children[slot].id;
        let own = self.inner.len() as u32;
        let from = self.passed_by(below);
        let depth = parent.depth + length;
        self.children[slot].id = own;
        let block = self.children.len();
        self.children.resize(block + capacity(2), FREE);
        let symbol = self.text[(from + depth) as usize];
        put(&mut self.children[block..], Child { symbol, id: below });
        put(&mut self.children[block..], leaf);
        self.inner.push(Inner {
            from,
            depth,
            link: ROOT,
            block: block as u32,
            count: 2,
        });
        own
    }

    /// Where a suffix begins that goes through a node.
    fn passed_by(&self, id: u32) -> u32 {
        if id & LEAF == 0 {
            self.inner[id as usize].from
        } else {
            id & !LEAF
        }
    }

    fn leaf(&mut self, symbol: u32) -> Child {
        self.leaves += 1;
        Child {
            symbol,
            id: (self.leaves - 1) | LEAF,
        }
    }

    /// Takes up the symbol at `at`.
    fn extend(&mut self, at: u32, active: &mut Active) {
        let symbol = self.text[at as usize];
        let mut unlinked: Option<u32> = None;
        active.waiting += 1;
        while active.waiting > 0 {
            if active.length == 0 {
                active.edge = at;
            }
            let first = self.text[active.edge as usize];
            let node = self.inner[active.node as usize];
            if let Some(slot) = self.find(&node, first) {
                let next = self.children[slot].id;
                if next & LEAF == 0 {
                    let length = self.inner[next as usize].depth - node.depth;
                    if active.length >= length {
                        active.edge += length;
                        active.length -= length;
                        active.node = next;
                        continue;
                    }
                }
                let passed = self.passed_by(next) + node.depth + active.length;
                if self.text[passed as usize] == symbol {
                    self.link(&mut unlinked, active.node);
                    active.length += 1;
                    break;
                }
                let leaf = self.leaf(symbol);
                let split = self.split(&node, slot, active.length, leaf);
                self.link(&mut unlinked, split);
                unlinked = Some(split);
            } else {
                let leaf = self.leaf(first);
                self.add(active.node, leaf);
                self.link(&mut unlinked, active.node);
            }
            active.waiting -= 1;
            if active.node == ROOT && active.length > 0 {
                active.length -= 1;
                active.edge = at - active.waiting + 1;
            } else {
                active.node = self.inner[active.node as usize].link;
            }
        }
    }

    fn link(&mut self, unlinked: &mut Option<u32>, to: u32) {
        if let Some(from) = unlinked.take() {
            self.inner[from as usize].link = to;
        }
    }

    /// The suffixes in the order in which a walk meets them.
    fn finished(self) -> Leaves {
        let mut leaves = Leaves {
            suffixes: Vec::with_capacity(self.text.len()),
            shared: vec![0; self.text.len()],
        };
        // A node and the next of its places.
        let mut open = vec![(ROOT, 0usize)];
        // Depth of the highest node since the last leaf: that is where the two part.
        let mut shared = 0;
        while let Some((id, place)) = open.last_mut() {
            let node = &self.inner[*id as usize];
            shared = shared.min(node.depth);
            if *place == capacity(node.count) {
                open.pop();
                continue;
            }
            let child = self.children[node.block as usize + *place];
            *place += 1;
            if child == FREE {
                continue;
            }
            if child.id & LEAF == 0 {
                open.push((child.id, 0));
            } else {
                let suffix = child.id & !LEAF;
                leaves.suffixes.push(suffix);
                leaves.shared[suffix as usize] = shared;
                shared = u32::MAX;
            }
        }
        leaves
    }
}
