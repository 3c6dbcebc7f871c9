//! The merger: package-merge, which lists symbols and packages of symbols by weight, once per bit of the longest code.

use super::super::{COUNT_BITS, ESCAPE_BITS};
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Makes the lists of package-merge: each merges the symbols with the packages, two items each, of the list before.
    ///
    /// One item per cycle, lightest first; a symbol goes before a package of its weight, the escape before an entry of its
    /// weight. A list ends with item 2 n - 2 of n symbols, or when it has no more. INDEX are the bits of an index, COUNT one
    /// more, WEIGHT those of the heaviest package.
    #[derive(LogicBlock)]
    #[new(lists: u64)]
    #[require(COUNT == INDEX + 1 && WEIGHT >= ESCAPE_BITS)]
    pub struct Merger<const INDEX: usize, const COUNT: usize, const WEIGHT: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// make all lists; one entry at least
        pub start_i: Signal<In, Bit>,
        /// number of entries, which is one less than symbols
        pub size_i: Signal<In, U<COUNT>>,
        /// weight of the escape symbol
        pub escape_weight_i: Signal<In, U<ESCAPE_BITS>>,
        /// place of the entry that is wanted in the next cycle; entries lie in falling order
        pub rank_o: Signal<Out, U<INDEX>>,
        /// count of the entry that was wanted in the last cycle
        pub count_i: Signal<In, U<COUNT_BITS>>,
        /// an item is listed
        pub item_valid_o: Signal<Out, Bit>,
        /// it is a symbol
        pub symbol_o: Signal<Out, Bit>,
        /// number of the list, from 0
        pub list_o: Signal<Out, U<4>>,
        /// number of the item in its list, from 0
        pub item_o: Signal<Out, U<COUNT>>,
        /// the item is the last one of its list
        pub last_o: Signal<Out, Bit>,
        /// the last list ends with this cycle
        pub done_o: Signal<Out, Bit>,
        /// weights of packages: those of the list before are read, those of this list are written
        packages: SyncMem<U<WEIGHT>, COUNT>,
        busy: Reg<Bit>,
        /// the first entry and the first package of a list are being read
        priming: Reg<Bit>,
        list: Reg<U<4>>,
        item: Reg<U<COUNT>>,
        /// entries that this list still has to take
        entries_left: Reg<U<COUNT>>,
        escape_left: Reg<Bit>,
        /// the half of the memory that is read
        bank: Reg<Bit>,
        /// packages of the list before, and those of them that were taken
        packages_made: Reg<U<COUNT>>,
        packages_taken: Reg<U<COUNT>>,
        /// packages of this list so far
        packages_written: Reg<U<COUNT>>,
        /// weight of the last item, which the next one may be packaged with
        last_weight: Reg<U<WEIGHT>>,
        last_list: Constant<U<4>> = Constant::new(U::new(lists - 1)),
        active: Signal<Local, Bit>,
        any_entry: Signal<Local, Bit>,
        take_escape: Signal<Local, Bit>,
        symbol_weight: Signal<Local, U<WEIGHT>>,
        any_package: Signal<Local, Bit>,
        take_symbol: Signal<Local, Bit>,
        weight: Signal<Local, U<WEIGHT>>,
        entries_next: Signal<Local, U<COUNT>>,
        taken_next: Signal<Local, U<COUNT>>,
        written_next: Signal<Local, U<COUNT>>,
        last_item: Signal<Local, U<COUNT>>,
        last: Signal<Local, Bit>,
    }
}

impl<const INDEX: usize, const COUNT: usize, const WEIGHT: usize> Logic for Merger<INDEX, COUNT, WEIGHT> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, busy, priming, list, item, entries_left, escape_left, bank);
        dff_setup!(self, clk_i, packages_made, packages_taken, packages_written, last_weight);
        self.packages.clk_i.next = self.clk_i.val();

        comment!("the lightest symbol that is left: the escape or an entry");
        self.active.next = self.busy.q.val() & !self.priming.q.val();
        self.any_entry.next = self.entries_left.q.val().any();
        self.take_escape.next = self.escape_left.q.val()
            & (!self.any_entry.val()
                | (self.escape_weight_i.val() <= bit_cast::<ESCAPE_BITS, COUNT_BITS>(self.count_i.val())));
        if self.take_escape.val() {
            self.symbol_weight.next = bit_cast::<WEIGHT, ESCAPE_BITS>(self.escape_weight_i.val());
        } else {
            self.symbol_weight.next = bit_cast::<WEIGHT, COUNT_BITS>(self.count_i.val());
        }

        comment!("the lighter one of that symbol and of the lightest package that is left");
        self.any_package.next = self.packages_taken.q.val() != self.packages_made.q.val();
        self.take_symbol.next = (self.any_entry.val() | self.escape_left.q.val())
            & (!self.any_package.val() | (self.symbol_weight.val() <= self.packages.read_data_o.val()));
        if self.take_symbol.val() {
            self.weight.next = self.symbol_weight.val();
        } else {
            self.weight.next = self.packages.read_data_o.val();
        }
        self.entries_next.next = self.entries_left.q.val();
        if self.active.val() & self.take_symbol.val() & !self.take_escape.val() {
            self.entries_next.next = self.entries_left.q.val() - 1;
        }
        self.taken_next.next = self.packages_taken.q.val() + (self.active.val() & !self.take_symbol.val());
        self.rank_o.next = self.entries_next.val().get_bits::<INDEX>(0) - 1;
        self.packages.read_address_i.next = self.taken_next.val().replace_bit(INDEX, self.bank.q.val());

        comment!("every second item makes a package with the item before");
        self.written_next.next =
            self.packages_written.q.val() + (self.active.val() & self.item.q.val().get_bit(0));
        self.packages.write_i.next = self.active.val() & self.item.q.val().get_bit(0);
        self.packages.write_address_i.next =
            self.packages_written.q.val().replace_bit(INDEX, !self.bank.q.val());
        self.packages.write_data_i.next = self.last_weight.q.val() + self.weight.val();

        comment!(
            "n symbols and their packages, but no more than 2 n - 2 items; a full set of packages is n - 1"
        );
        self.last_item.next = self.size_i.val() + self.packages_made.q.val();
        if self.packages_made.q.val() == self.size_i.val() {
            self.last_item.next = self.last_item.val() - 1;
        }
        self.last.next = self.item.q.val() == self.last_item.val();
        self.item_valid_o.next = self.active.val();
        self.symbol_o.next = self.take_symbol.val();
        self.list_o.next = self.list.q.val();
        self.item_o.next = self.item.q.val();
        self.last_o.next = self.last.val();
        self.done_o.next = self.active.val() & self.last.val() & (self.list.q.val() == self.last_list.val());

        self.priming.d.next = false;
        if self.active.val() {
            self.item.d.next = self.item.q.val() + 1;
            self.last_weight.d.next = self.weight.val();
            self.entries_left.d.next = self.entries_next.val();
            self.escape_left.d.next =
                self.escape_left.q.val() & !(self.take_symbol.val() & self.take_escape.val());
            self.packages_taken.d.next = self.taken_next.val();
            self.packages_written.d.next = self.written_next.val();
        }
        if self.active.val() & self.last.val() {
            self.bank.d.next = !self.bank.q.val();
            self.list.d.next = self.list.q.val() + 1;
            self.packages_made.d.next = self.written_next.val();
        }
        if self.start_i.val() {
            self.list.d.next = 0.into();
            self.packages_made.d.next = 0.into();
        }
        if self.start_i.val() | (self.active.val() & self.last.val()) {
            self.busy.d.next = self.start_i.val() | (self.list.q.val() != self.last_list.val());
            self.priming.d.next = true;
            self.item.d.next = 0.into();
            self.entries_left.d.next = self.size_i.val();
            self.escape_left.d.next = true;
            self.packages_taken.d.next = 0.into();
            self.packages_written.d.next = 0.into();
        }
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
