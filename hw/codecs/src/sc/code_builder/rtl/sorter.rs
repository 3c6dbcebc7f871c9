//! The sorter: a chain of table entries, ordered by count with a radix sort of four bits per pass.

use crate::sc::vft::COUNT_BITS;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Sorts entries by rising count. Entries of equal count keep the order in which they were put in.
    ///
    /// The entries form a linked list, so that a pass moves no entry. A pass walks along the chain and appends each entry to
    /// one of sixteen buckets. Then it joins the buckets, one per cycle. The link of an entry is written only after the
    /// pass has followed it. The first pass takes place while entries are put in. INDEX is the width of an index in bits,
    /// COUNT is one more.
    #[require(COUNT == INDEX + 1)]
    pub struct Sorter<const INDEX: usize, const COUNT: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// removes all entries
        pub clear_i: Signal<In, Bit>,
        /// puts an entry in
        pub put_i: Signal<In, Bit>,
        /// count of that entry
        pub count_i: Signal<In, U<COUNT_BITS>>,
        /// index of that entry
        pub index_i: Signal<In, U<INDEX>>,
        /// starts the sort; at least one entry must be there
        pub sort_i: Signal<In, Bit>,
        /// points the link of the shown entry to the entry that was turned before, and shows the next entry
        pub turn_i: Signal<In, Bit>,
        /// shows the entry that was turned last
        pub rewind_i: Signal<In, Bit>,
        /// shows the next entry
        pub next_i: Signal<In, Bit>,
        /// number of entries
        pub size_o: Signal<Out, U<COUNT>>,
        /// the sort is done; from the next cycle on, the first entry is shown
        pub done_o: Signal<Out, Bit>,
        /// count of the shown entry
        pub count_o: Signal<Out, U<COUNT_BITS>>,
        /// index of the current entry
        pub index_o: Signal<Out, U<INDEX>>,
        counts: SyncMem<U<COUNT_BITS>, INDEX>,
        links: SyncMem<U<INDEX>, INDEX>,
        /// first and last entry of each bucket
        heads: Mem<U<INDEX>, 4>,
        tails: Mem<U<INDEX>, 4>,
        /// buckets that have entries
        filled: DataReg<U<16>>,
        size: DataReg<U<COUNT>>,
        /// number of passes that are done
        pass: DataReg<U<2>>,
        joining: Reg<Bit>,
        bucket: DataReg<U<4>>,
        /// the new chain has an entry
        started: DataReg<Bit>,
        /// the new chain is complete, and its first entry is read
        joined: Reg<Bit>,
        /// the current entry moves into its bucket
        moving: Reg<Bit>,
        /// entries that this pass has not moved yet
        left: DataReg<U<COUNT>>,
        head: DataReg<U<INDEX>>,
        /// last entry of the chain, or the last entry whose link was reversed
        last: DataReg<U<INDEX>>,
        /// index of the current entry
        here: DataReg<U<INDEX>>,
        put: Signal<Local, Bit>,
        index: Signal<Local, U<INDEX>>,
        digit: Signal<Local, U<4>>,
        slot: Signal<Local, U<4>>,
        is_filled: Signal<Local, Bit>,
        address: Signal<Local, U<INDEX>>,
    }
}

#[hdl_gen]
impl Logic for Sorter {
    fn update(&mut self) {
        dff_setup!(self, clk_i, filled, size, pass, joining, bucket, started, joined, moving, left, head);
        dff_setup!(self, clk_i, last, here);
        drive!(self; counts.clk_i: clk_i, links.clk_i: clk_i, heads.clk_i: clk_i, tails.clk_i: clk_i);

        comment!("append an entry to its bucket");
        self.put.next = self.put_i.val() | self.moving.q.val();
        if self.moving.q.val() {
            self.index.next = self.here.q.val();
            self.digit.next = self.counts.read_data_o.val().get_bits::<4>(4);
            if self.pass.q.val().get_bit(1) {
                self.digit.next = self.counts.read_data_o.val().get_bits::<4>(8);
            }
        } else {
            self.index.next = self.index_i.val();
            self.digit.next = self.count_i.val().get_bits::<4>(0);
        }
        self.slot.next = self.digit.val();
        if self.joining.q.val() {
            self.slot.next = self.bucket.q.val();
        }
        drive!(self; heads.read_address_i: slot, tails.read_address_i: slot);
        self.is_filled.next = self.filled.q.val().get_bit(self.slot.val().index());
        self.heads.write_i.next = self.put.val() & !self.is_filled.val();
        drive!(self.heads; write_address_i: digit, write_data_i: index);
        drive!(self.tails; write_i: put, write_address_i: digit, write_data_i: index);
        drive!(self.counts; write_i: put_i, write_address_i: index_i, write_data_i: count_i);
        self.size.d.next = self.size.q.val() + self.put_i.val();
        if self.put.val() {
            self.filled.d.next = self.filled.q.val().replace_bit(self.slot.val().index(), true);
        }

        comment!("write a link: append to a bucket, join two chains, or reverse the chain");
        self.links.write_i.next = (self.put.val() & self.is_filled.val()) | self.turn_i.val();
        drive!(self.links; write_address_i: tails.read_data_o, write_data_i: index);
        if self.joining.q.val() {
            self.links.write_i.next = self.is_filled.val() & self.started.q.val();
            drive!(self.links; write_address_i: last.q, write_data_i: heads.read_data_o);
        }
        if self.turn_i.val() {
            drive!(self.links; write_address_i: here.q, write_data_i: last.q);
            self.last.d.next = self.here.q.val();
        }

        comment!("a pass ends when the buckets are joined, lowest digit first");
        self.joined.d.next = false;
        if self.joining.q.val() {
            self.bucket.d.next = self.bucket.q.val() + 1;
            if self.is_filled.val() {
                drive!(self; started.d: true, last.d: tails.read_data_o);
                if !self.started.q.val() {
                    self.head.d.next = self.heads.read_data_o.val();
                }
            }
            if self.bucket.q.val().all() {
                drive!(self; joining.d: false, joined.d: true, filled.d: 0);
                self.pass.d.next = self.pass.q.val() + 1;
            }
        }
        self.done_o.next = self.joined.q.val() & self.pass.q.val().all();
        if self.joined.q.val() {
            self.moving.d.next = !self.pass.q.val().all();
            self.left.d.next = self.size.q.val() - 1;
        }
        if self.moving.q.val() {
            self.left.d.next = self.left.q.val() - 1;
        }
        if self.moving.q.val() & !self.left.q.val().any() {
            self.moving.d.next = false;
        }
        if self.sort_i.val() | (self.moving.q.val() & !self.left.q.val().any()) {
            drive!(self; joining.d: true, bucket.d: 0, started.d: false);
        }
        if self.clear_i.val() {
            drive!(self; filled.d: 0, size.d: 0, pass.d: 0);
        }

        comment!("current entry of the next cycle");
        self.address.next = self.here.q.val();
        if self.moving.q.val() | self.turn_i.val() | self.next_i.val() {
            self.address.next = self.links.read_data_o.val();
        }
        if self.joined.q.val() {
            self.address.next = self.head.q.val();
        }
        if self.rewind_i.val() {
            self.address.next = self.last.q.val();
        }
        drive!(self; here.d: address, counts.read_address_i: address, links.read_address_i: address);

        drive!(self; size_o: size.q, count_o: counts.read_data_o, index_o: here.q);
    }
}
