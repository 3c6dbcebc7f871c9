//! The sorter: table entries in the order of their counts, by a radix sort over one bit per pass.

use super::super::COUNT_BITS;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Sorts entries by falling count, entries of equal count by rising index.
    ///
    /// A pass moves all items from one half of the memory to the other: those whose bit is set fill it from the front, the
    /// others from the back. Both read in the order in which they were written keep the order of the pass before. The
    /// first pass is the writing of the entries. INDEX are the bits of an index, COUNT those that hold INDEX and one more,
    /// ITEM those of a count and an index.
    #[derive(LogicBlock, Default)]
    #[require(COUNT == INDEX + 1 && ITEM == COUNT_BITS + INDEX)]
    pub struct Sorter<const INDEX: usize, const COUNT: usize, const ITEM: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// forget all items
        pub clear_i: Signal<In, Bit>,
        /// put an item in
        pub put_i: Signal<In, Bit>,
        /// its count
        pub count_i: Signal<In, U<COUNT_BITS>>,
        /// its index
        pub index_i: Signal<In, U<INDEX>>,
        /// sort what was put in: one item at least
        pub sort_i: Signal<In, Bit>,
        /// the place in the order that is read, once sorted
        pub rank_i: Signal<In, U<INDEX>>,
        /// number of items
        pub size_o: Signal<Out, U<COUNT>>,
        /// the last pass ends with this cycle
        pub done_o: Signal<Out, Bit>,
        /// count of the item at the place of the last cycle
        pub count_o: Signal<Out, U<COUNT_BITS>>,
        /// index of that item
        pub index_o: Signal<Out, U<INDEX>>,
        memory: SyncMem<U<ITEM>, COUNT>,
        size: Reg<U<COUNT>>,
        sorting: Reg<Bit>,
        /// the bit of the counts that this pass looks at
        pass: Reg<U<4>>,
        /// the half of the memory that is read
        bank: Reg<Bit>,
        /// items at the front of that half
        front: Reg<U<COUNT>>,
        /// items written to the front and to the back of the other half
        next_front: Reg<U<COUNT>>,
        next_back: Reg<U<COUNT>>,
        /// place of the item that is read
        place: Reg<U<COUNT>>,
        /// the item that was read is written
        moving: Reg<Bit>,
        read_place: Signal<Local, U<INDEX>>,
        read_front: Signal<Local, U<INDEX>>,
        read_address: Signal<Local, U<COUNT>>,
        item: Signal<Local, U<ITEM>>,
        count: Signal<Local, U<COUNT_BITS>>,
        write: Signal<Local, Bit>,
        /// the item's bit is set
        digit: Signal<Local, Bit>,
        write_address: Signal<Local, U<COUNT>>,
        front_sum: Signal<Local, U<COUNT>>,
        back_sum: Signal<Local, U<COUNT>>,
        pass_ends: Signal<Local, Bit>,
    }
}

impl<const INDEX: usize, const COUNT: usize, const ITEM: usize> Logic for Sorter<INDEX, COUNT, ITEM> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, size, sorting, pass, bank, front, next_front, next_back, place, moving);
        self.memory.clk_i.next = self.clk_i.val();

        comment!("read: places up to `front` lie in order from the front on, the others from the back on");
        if self.sorting.q.val() {
            self.read_place.next = self.place.q.val().get_bits::<INDEX>(0);
        } else {
            self.read_place.next = self.rank_i.val();
        }
        self.read_front.next = self.front.q.val().get_bits::<INDEX>(0);
        self.read_address.next = bit_cast::<COUNT, INDEX>(self.read_place.val());
        if bit_cast::<COUNT, INDEX>(self.read_place.val()) >= self.front.q.val() {
            self.read_address.next = bit_cast::<COUNT, INDEX>(self.read_front.val() + !self.read_place.val());
        }
        self.memory.read_address_i.next = self.read_address.val().replace_bit(INDEX, self.bank.q.val());
        self.moving.d.next = self.sorting.q.val() & (self.place.q.val() != self.size.q.val());
        if self.sorting.q.val() {
            self.place.d.next = self.place.q.val() + 1;
        }

        comment!("write: an entry that is put in, or the item that was read");
        self.item.next = self.memory.read_data_o.val();
        if self.put_i.val() {
            self.item.next = bit_cast::<ITEM, INDEX>(self.index_i.val());
            self.item.next = self.item.val().replace_bit(INDEX, self.count_i.val());
        }
        self.count.next = self.item.val().get_bits::<COUNT_BITS>(INDEX);
        self.digit.next = self.count.val().get_bit(self.pass.q.val().index());
        self.write.next = self.put_i.val() | self.moving.q.val();
        self.write_address.next = self.next_front.q.val();
        if !self.digit.val() {
            self.write_address.next = !self.next_back.q.val();
        }
        self.memory.write_i.next = self.write.val();
        self.memory.write_address_i.next = self.write_address.val().replace_bit(INDEX, !self.bank.q.val());
        self.memory.write_data_i.next = self.item.val();
        self.front_sum.next = self.next_front.q.val() + (self.write.val() & self.digit.val());
        self.back_sum.next = self.next_back.q.val() + (self.write.val() & !self.digit.val());
        self.next_front.d.next = self.front_sum.val();
        self.next_back.d.next = self.back_sum.val();
        self.size.d.next = self.size.q.val() + self.put_i.val();

        comment!("a pass ends as its last item is written: what was written is read next");
        self.pass_ends.next = self.sorting.q.val() & (self.place.q.val() == self.size.q.val());
        if self.sort_i.val() | self.pass_ends.val() {
            self.bank.d.next = !self.bank.q.val();
            self.front.d.next = self.front_sum.val();
            self.next_front.d.next = 0.into();
            self.next_back.d.next = 0.into();
            self.place.d.next = 0.into();
            self.pass.d.next = self.pass.q.val() + 1;
        }
        self.done_o.next = false;
        if self.sort_i.val() {
            self.sorting.d.next = true;
        } else if self.pass_ends.val() & (self.pass.q.val() == 11) {
            self.sorting.d.next = false;
            self.done_o.next = true;
        }
        if self.clear_i.val() {
            self.size.d.next = 0.into();
            self.next_front.d.next = 0.into();
            self.next_back.d.next = 0.into();
            self.pass.d.next = 0.into();
        }

        self.size_o.next = self.size.q.val();
        self.count_o.next = self.memory.read_data_o.val().get_bits::<COUNT_BITS>(INDEX);
        self.index_o.next = self.memory.read_data_o.val().get_bits::<INDEX>(0);
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
