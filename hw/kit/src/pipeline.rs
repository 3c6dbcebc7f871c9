//! The golden model of the kit's [`ElasticPipe`](crate::rtl::elastic::ElasticPipe): the cycles of a codec, around its pure
//! arithmetic.

use selvedge_state::State;

/// Max registers of a pipeline.
pub const MAX_DEPTH: usize = 5;

/// An elastic pipeline of `depth` registers. A register takes a new item if it is empty or gives its own item to the next one.
///
/// Items keep their order, so they stay in a ring, and only their positions change. `shown` is the value of the last register.
/// Like a register, it keeps its value after the item has left.
#[derive(Clone, Debug, State)]
pub struct Pipeline<T> {
    depth: usize,
    /// Bit `s` is set if register `s` holds an item. The last register is bit `depth - 1`.
    occupied: u32,
    ring: [T; MAX_DEPTH],
    /// Ring slot of the next item to enter the last register, and of the next item to be accepted.
    head: usize,
    tail: usize,
    shown: T,
}

impl<T: Copy + Default> Pipeline<T> {
    /// Returns an empty pipeline of `depth` registers, 1 to [`MAX_DEPTH`].
    pub fn new(depth: usize) -> Self {
        let empty = T::default();
        Pipeline { depth, occupied: 0, ring: [empty; MAX_DEPTH], head: 0, tail: 0, shown: empty }
    }

    /// Returns the value of the last register, valid or not.
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

    /// Returns whether the first register can take an item in this cycle. It cannot if all are full and the last one stalls.
    pub fn ready(&self, downstream_ready: bool) -> bool {
        downstream_ready || self.occupied != (self.last() << 1) - 1
    }

    /// Takes the clock edge. `offered` returns the item, and is called only if the first register takes it.
    #[inline]
    pub fn clock(&mut self, downstream_ready: bool, valid: bool, offered: impl FnOnce() -> T) {
        if self.occupied == 0 && !valid {
            return;
        }
        let accept = valid && self.ready(downstream_ready);
        // A register gives its item to the next one if that one is free or becomes free: if some later register is empty, or
        // the last one is drained. So all items below the highest hole move, and the items above it stay.
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
