//! Activity of a block's state: records changes of registers and memories.
//!
//! A block repeats its outputs if its inputs are the same as in the previous cycle and no state changed at the edge between the
//! two cycles. The next edge then changes no state either, and the block need not be evaluated. Every leaf of the kit that holds
//! state reports its changes here. A block has no other state.

use std::cell::Cell;

thread_local! {
    static CHANGED: Cell<bool> = const { Cell::new(true) };
}

/// Records that a state element changes, or may change.
#[inline]
pub(super) fn note_change() {
    CHANGED.set(true);
}

/// Records a change if `changes` returns `true`. Calls it only if no change is recorded yet.
#[inline]
pub(super) fn note_change_if(changes: impl FnOnce() -> bool) {
    if !CHANGED.get() && changes() {
        CHANGED.set(true);
    }
}

/// Runs `part` of the watched code. Returns whether a state element changed in it.
#[inline]
pub(super) fn watch_within(part: impl FnOnce()) -> bool {
    let before = CHANGED.replace(false);
    part();
    let changed = CHANGED.get();
    CHANGED.set(before || changed);
    changed
}

/// Starts to watch this thread, until [`end`].
pub(super) fn begin() {
    CHANGED.set(false);
}

/// Returns whether a state element changed since [`begin`].
pub(super) fn end() -> bool {
    CHANGED.replace(true)
}

/// Runs `edge` on this thread. Returns its result, and whether a state element changed in it.
pub fn watch<R>(edge: impl FnOnce() -> R) -> (R, bool) {
    begin();
    let result = edge();
    (result, end())
}

#[cfg(test)]
mod tests {
    use super::watch;
    use crate::rtl::prelude::*;

    rtl_block! {
        /// One of each leaf that holds state. All write `x_i` while their enable is high.
        pub struct Leaves {
            /// clock
            pub clk_i: Signal<In, Clock>,
            /// reset
            pub rst_ni: Signal<In, Bit>,
            /// data to write
            pub x_i: Signal<In, U<4>>,
            /// one enable per leaf; the sixth clears the bits
            pub enable_i: [Signal<In, Bit>; 6],
            /// read address of the memory with the registered read
            pub address_i: Signal<In, U<4>>,
            /// keeps the outputs of the leaves in use
            pub sum_o: Signal<Out, U<4>>,
            register: Reg<U<4>>,
            mem: Mem<U<4>, 4>,
            sync_mem: SyncMem<U<4>, 4>,
            replicated_mem: ReplicatedMem<U<4>, 4, 1>,
            bits: BitArray<4>,
        }
    }
    #[hdl_gen]
    impl Logic for Leaves {
        fn update(&mut self) {
            dff_setup!(self, clk_i, register);
            if self.enable_i[0].val() {
                self.register.d.next = self.x_i.val();
            }
            drive!(self.mem; clk_i, write_i: enable_i[1], write_address_i: x_i, write_data_i: x_i,
                read_address_i: x_i);
            drive!(self.sync_mem; clk_i, write_i: enable_i[2], write_address_i: x_i, write_data_i: x_i,
                read_address_i: address_i);
            drive!(self.replicated_mem; clk_i, write_i: enable_i[3], write_address_i: x_i, write_data_i: x_i,
                read_address_i[0]: x_i);
            drive!(self.bits; clk_i, rst_ni, set_i: enable_i[4], clear_i: enable_i[5], address_i: x_i);
            self.sum_o.next = self.register.q.val() + self.sync_mem.read_data_o.val();
        }
    }

    /// Returns whether a cycle with value `x` and the enable of leaf `enabled` changes any state.
    fn changes(leaves: &mut Stepper<Leaves>, x: u64, enabled: Option<usize>, address: u64) -> bool {
        let set = |leaves: &mut Leaves| {
            leaves.x_i.next = x.into();
            leaves.address_i.next = address.into();
            for (i, enable) in leaves.enable_i.iter_mut().enumerate() {
                enable.next = enabled == Some(i);
            }
        };
        watch(|| leaves.step(set, |_| ()).unwrap()).1
    }

    #[test]
    fn every_leaf_with_state_tells_of_its_change() {
        let mut leaves = Stepper::new(Leaves::default()).unwrap();
        assert!(!changes(&mut leaves, 5, None, 0), "nothing is enabled");
        for leaf in 0..6 {
            assert!(changes(&mut leaves, 5, Some(leaf), 0), "leaf {leaf}");
            assert!(!changes(&mut leaves, 5, None, 0), "after leaf {leaf}");
        }
        assert!(!changes(&mut leaves, 5, Some(0), 0), "a register that takes what it has");
        assert!(changes(&mut leaves, 5, None, 5), "a registered read of another word");
        assert!(!changes(&mut leaves, 5, None, 5), "the same word again");
    }

    #[test]
    fn reset_is_a_change() {
        let mut leaves = Stepper::new(Leaves::default()).unwrap();
        assert!(watch(|| leaves.reset().unwrap()).1);
    }
}
