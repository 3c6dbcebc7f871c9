//! The comparison of all entries with the trigger, the kill and the room.

use super::KEY_BITS;
use crate::widths::{WARP_BITS, WARPS};
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Compares every entry of the table with the trigger, the killed warp and the warps that have room.
    pub struct EntryMatch<const ENTRIES: usize, const KEYS: usize, const WORDS: usize> {
        /// SR.ID and warp of every entry
        pub keys_i: Signal<In, W<KEYS, WORDS>>,
        /// SR.ID and warp of the trigger
        pub trigger_key_i: Signal<In, U<KEY_BITS>>,
        /// the killed warp
        pub kill_warp_i: Signal<In, U<WARP_BITS>>,
        /// warps that have room, one bit each
        pub room_i: Signal<In, U<WARPS>>,
        /// entries with the trigger's SR.ID and warp
        pub same_o: Signal<Out, U<ENTRIES>>,
        /// entries of the killed warp
        pub killed_o: Signal<Out, U<ENTRIES>>,
        /// entries whose warp has room
        pub room_o: Signal<Out, U<ENTRIES>>,
        key: Signal<Local, U<KEY_BITS>>,
        warp: Signal<Local, U<WARP_BITS>>,
        same: Signal<Local, U<ENTRIES>>,
        killed: Signal<Local, U<ENTRIES>>,
        room: Signal<Local, U<ENTRIES>>,
    }
}

#[hdl_gen]
impl Logic for EntryMatch {
    fn update(&mut self) {
        drive!(self; same: 0, killed: 0, room: 0);
        for e in 0..ENTRIES {
            self.key.next = self.keys_i.val().get_bits::<11>(e * 11);
            self.warp.next = self.key.val().get_bits::<6>(5);
            self.same.next[e] = self.key.val() == self.trigger_key_i.val();
            self.killed.next[e] = self.warp.val() == self.kill_warp_i.val();
            self.room.next[e] = self.room_i.val().get_bit(self.warp.val().index());
        }
        drive!(self; same_o: same, killed_o: killed, room_o: room);
    }
}
