//! The golden model of the kit's [`ElasticPipe`](crate::rtl::elastic::ElasticPipe): what a codec is, cycle by cycle, around
//! its pure arithmetic.

use selvedge_state::State;

/// The most registers that a pipeline may have.
pub const MAX_DEPTH: usize = 5;

/// An elastic pipeline: `depth` registers, each of which takes a new item when it is empty or passes its own on.
///
/// Items keep their order, so they wait in a ring while only their places move. `shown` is what the last register
/// holds: it stays after the item is gone, as a register's contents do.
#[derive(Clone, Debug, State)]
pub struct Pipeline<T> {
    depth: usize,
    /// Bit `s`: register `s` holds an item. The last register is bit `depth - 1`.
    occupied: u32,
    ring: [T; MAX_DEPTH],
    /// Ring slot of the next item to enter the last register, and of the next to be accepted.
    head: usize,
    tail: usize,
    shown: T,
}

impl<T: Copy + Default> Pipeline<T> {
    /// An empty pipeline of `depth` registers, 1 to [`MAX_DEPTH`].
    pub fn new(depth: usize) -> Self {
        let empty = T::default();
        Pipeline { depth, occupied: 0, ring: [empty; MAX_DEPTH], head: 0, tail: 0, shown: empty }
    }

    /// What the last register holds, or held last.
    pub fn shown(&self) -> &T {
        &self.shown
    }

    /// Empties every register.
    pub fn reset(&mut self) {
        *self = Pipeline::new(self.depth);
    }

    fn last(&self) -> u32 {
        1 << (self.depth - 1)
    }

    /// Returns whether the last register holds an item.
    pub fn valid(&self) -> bool {
        self.occupied & self.last() != 0
    }

    /// Returns whether the first register can take an item in this cycle: it can unless all are full and the last one is stuck.
    pub fn ready(&self, downstream_ready: bool) -> bool {
        downstream_ready || self.occupied != (self.last() << 1) - 1
    }

    /// The clock edge; `offered` makes the item, and is called only when the first register takes one.
    #[inline]
    pub fn clock(&mut self, downstream_ready: bool, valid: bool, offered: impl FnOnce() -> T) {
        if self.occupied == 0 && !valid {
            return;
        }
        let accept = valid && self.ready(downstream_ready);
        // A register moves its item on when the place after it is free or becomes free: when some register from
        // there on is empty or the last one is drained. Those below the highest hole move; those above stay.
        let all = (self.last() << 1) - 1;
        let moving = if downstream_ready {
            all
        } else {
            match !self.occupied & all {
                0 => 0,
                holes => (2 << holes.ilog2()) - 1,
            }
        };
        let stays = self.occupied & !moving;
        let moved = (self.occupied & moving) << 1 | u32::from(accept);
        let enters_last = moved & self.last() != 0 && moving & self.last() != 0;
        self.occupied = (stays | moved) & all;
        if self.depth == 1 {
            if accept {
                self.shown = offered();
            }
            return;
        }
        if enters_last {
            self.shown = self.ring[self.head];
            self.head = (self.head + 1) % MAX_DEPTH;
        }
        if accept {
            self.ring[self.tail] = offered();
            self.tail = (self.tail + 1) % MAX_DEPTH;
        }
    }
}
