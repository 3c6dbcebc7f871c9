//! RTL of the access to one entry of a block.

use selvedge_hw::rtl::prelude::*;

/// A block of 32 bytes.
pub(super) type BlockData = W<256, 4>;

rtl_block! {
    /// Reads one entry of a block, and replaces it in an update.
    ///
    /// ENTRY is the width of an entry, OFFSET the width of its number.
    #[require(ENTRY.is_power_of_two() && ENTRY << OFFSET == 256)]
    pub struct MdEntry<const ENTRY: usize, const OFFSET: usize> {
        /// the block
        pub block_i: Signal<In, BlockData>,
        /// number of the entry
        pub offset_i: Signal<In, U<OFFSET>>,
        /// replace the entry
        pub update_i: Signal<In, Bit>,
        /// the new entry
        pub entry_i: Signal<In, U<ENTRY>>,
        /// the entry, after the update
        pub entry_o: Signal<Out, U<ENTRY>>,
        /// the block, after the update
        pub block_o: Signal<Out, BlockData>,
        /// base-2 logarithm of the width of an entry
        shift: Constant<U<2>> = Constant::new(U::new(u64::from(ENTRY.ilog2()))),
        place: Signal<Local, U<8>>,
        old: Signal<Local, BlockData>,
        updated: Signal<Local, BlockData>,
    }
}

#[hdl_gen]
impl Logic for MdEntry {
    fn update(&mut self) {
        self.place.next = bit_cast::<8, OFFSET>(self.offset_i.val()) << self.shift.val();
        drive!(self; old: block_i, updated: block_i);
        self.entry_o.next = self.old.val().get_bits::<ENTRY>(self.place.val().index());
        if self.update_i.val() {
            self.updated.next = self.old.val().replace_bit(self.place.val().index(), self.entry_i.val());
            self.entry_o.next = self.entry_i.val();
        }
        self.block_o.next = self.updated.val();
    }
}
