//! The code lengths: which items of each list are symbols, and from that how many symbols have each length.

use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Counts the ones among the lowest bits of a word.
    ///
    /// REMAINING are the bits of a number of bits.
    #[derive(LogicBlock, Default)]
    pub struct OnesBelow<const REMAINING: usize> {
        /// the word
        pub word_i: Signal<In, U<32>>,
        /// how many bits count; all, if that is 32 or more
        pub remaining_i: Signal<In, U<REMAINING>>,
        /// ones among them
        pub ones_o: Signal<Out, U<6>>,
        /// bits that do not count
        beyond: Signal<Local, U<32>>,
        counted: Signal<Local, U<32>>,
        sum: Signal<Local, U<6>>,
    }
}

impl<const REMAINING: usize> Logic for OnesBelow<REMAINING> {
    #[hdl_gen]
    fn update(&mut self) {
        self.beyond.next = 0.into();
        if self.remaining_i.val() < 32 {
            self.beyond.next = !self.beyond.val() << self.remaining_i.val().get_bits::<5>(0);
        }
        self.counted.next = self.word_i.val() & !self.beyond.val();
        self.sum.next = 0.into();
        for bit in 0..32 {
            self.sum.next = self.sum.val() + self.counted.val().get_bit(bit);
        }
        self.ones_o.next = self.sum.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

rtl_block! {
    /// Keeps a bit per item of every list, and finds from them where in the order each code length begins.
    ///
    /// Of the last list the first 2 n - 2 items are taken; of every list before, the items within the packages that are
    /// taken. A symbol's length is the number of lists in which it is taken. COUNT are the bits that hold the number of
    /// entries, ITEMS one more, WORD and ADDRESS those of a word's number within a list and in all of them.
    #[derive(LogicBlock)]
    #[new(lists: u64)]
    #[require(ITEMS == COUNT + 1 && WORD == COUNT - 5 && ADDRESS == WORD + 4)]
    pub struct Lengths<const COUNT: usize, const ITEMS: usize, const WORD: usize, const ADDRESS: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// an item is listed
        pub item_valid_i: Signal<In, Bit>,
        /// it is a symbol
        pub symbol_i: Signal<In, Bit>,
        /// number of its list
        pub list_i: Signal<In, U<4>>,
        /// number of the item
        pub item_i: Signal<In, U<COUNT>>,
        /// it is the last one of its list
        pub last_i: Signal<In, Bit>,
        /// count, now that all lists are there
        pub start_i: Signal<In, Bit>,
        /// number of entries, which is one less than symbols
        pub size_i: Signal<In, U<COUNT>>,
        /// the count ends with this cycle
        pub done_o: Signal<Out, Bit>,
        /// a code length, modulo 16
        pub length_i: Signal<In, U<4>>,
        /// place in the order from which on codes are longer than that
        pub longer_from_o: Signal<Out, U<COUNT>>,
        /// a bit per item, list by list
        items: SyncMem<U<32>, ADDRESS>,
        /// bits of items that wait for their word to be full
        word: Reg<U<32>>,
        longer_from: Mem<U<COUNT>, 4>,
        busy: Reg<Bit>,
        list: Reg<U<4>>,
        position: Reg<U<COUNT>>,
        /// items that are taken of this list and lie in words that were not counted yet
        remaining: Reg<U<ITEMS>>,
        /// items that are taken of this list
        taken: Reg<U<ITEMS>>,
        symbols: Reg<U<COUNT>>,
        ones: Gate<OnesBelow<ITEMS>>,
        last_list: Constant<U<4>> = Constant::new(U::new(lists - 1)),
        next_word: Signal<Local, U<32>>,
        write_address: Signal<Local, U<ADDRESS>>,
        read_address: Signal<Local, U<ADDRESS>>,
        words: Signal<Local, U<COUNT>>,
        symbols_now: Signal<Local, U<COUNT>>,
        packages: Signal<Local, U<ITEMS>>,
        list_ends: Signal<Local, Bit>,
    }
}

impl<const COUNT: usize, const ITEMS: usize, const WORD: usize, const ADDRESS: usize> Logic
    for Lengths<COUNT, ITEMS, WORD, ADDRESS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, word, busy, list, position, remaining, taken, symbols);
        self.items.clk_i.next = self.clk_i.val();
        self.longer_from.clk_i.next = self.clk_i.val();

        comment!("bits of items go into the memory a word at a time");
        self.next_word.next =
            self.word.q.val().replace_bit(self.item_i.val().get_bits::<5>(0).index(), self.symbol_i.val());
        if self.item_valid_i.val() {
            self.word.d.next = self.next_word.val();
        }
        self.items.write_i.next =
            self.item_valid_i.val() & (self.last_i.val() | self.item_i.val().get_bits::<5>(0).all());
        self.write_address.next = bit_cast::<ADDRESS, WORD>(self.item_i.val().get_bits::<WORD>(5));
        self.items.write_address_i.next = self.write_address.val().replace_bit(WORD, self.list_i.val());
        self.items.write_data_i.next = self.next_word.val();

        comment!("the last list comes first; every list has as many words as hold 2 n - 2 items");
        self.read_address.next = bit_cast::<ADDRESS, WORD>(self.position.q.val().get_bits::<WORD>(0));
        self.items.read_address_i.next = self.read_address.val().replace_bit(WORD, self.list.q.val());
        self.ones.word_i.next = self.items.read_data_o.val();
        self.ones.remaining_i.next = self.remaining.q.val();
        self.symbols_now.next = self.symbols.q.val();
        if self.position.q.val().any() {
            self.symbols_now.next = self.symbols.q.val() + bit_cast::<COUNT, 6>(self.ones.ones_o.val());
            self.remaining.d.next = self.remaining.q.val() - 32;
            if self.remaining.q.val() < 32 {
                self.remaining.d.next = 0.into();
            }
        }
        self.symbols.d.next = self.symbols_now.val();
        if self.busy.q.val() {
            self.position.d.next = self.position.q.val() + 1;
        }

        comment!(
            "all taken items but the symbols are packages: twice as many items are taken of the list before"
        );
        self.words.next = (self.size_i.val() + 15) >> 4;
        self.list_ends.next = self.busy.q.val() & (self.position.q.val() == self.words.val());
        self.packages.next = self.taken.q.val() - bit_cast::<ITEMS, COUNT>(self.symbols_now.val());
        self.longer_from.write_i.next = self.list_ends.val();
        self.longer_from.write_address_i.next = self.last_list.val() - self.list.q.val();
        self.longer_from.write_data_i.next = self.size_i.val() + 1 - self.symbols_now.val();
        self.done_o.next = self.list_ends.val() & !self.list.q.val().any();
        if self.list_ends.val() {
            self.busy.d.next = self.list.q.val().any();
            self.list.d.next = self.list.q.val() - 1;
            self.position.d.next = 0.into();
            self.symbols.d.next = 0.into();
            self.taken.d.next = self.packages.val() << 1;
            self.remaining.d.next = self.packages.val() << 1;
        }
        if self.start_i.val() {
            self.busy.d.next = true;
            self.list.d.next = self.last_list.val();
            self.position.d.next = 0.into();
            self.symbols.d.next = 0.into();
            self.taken.d.next = bit_cast::<ITEMS, COUNT>(self.size_i.val()) << 1;
            self.remaining.d.next = bit_cast::<ITEMS, COUNT>(self.size_i.val()) << 1;
        }

        self.longer_from.read_address_i.next = self.length_i.val();
        self.longer_from_o.next = self.longer_from.read_data_o.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
