//! Parts of the decompressor: code lengths at every bit of a block, the chain from code to code, the addresses of values,
//! the schedule of reads, and the words in the line.

use selvedge_hw::rtl::prelude::*;

/// Ends of the codes of each length, 1 to 16, as left-aligned 17-bit numbers.
pub(super) type Ends = W<272, 5>;

/// For each length, the number that is added to a code to get its rank: 11 bits each.
pub(super) type Bases = W<176, 3>;

/// A mark at one of the bits at which a code may begin or before which it may end.
pub(super) type Mark = W<80, 2>;

rtl_block! {
    /// Finds for each of 32 bits the length of the code that would begin there.
    ///
    /// All 32 positions are compared at once, one bit of the code after the other: each comparison is on vectors of 32 bits.
    pub struct ScLengths {
        /// the 32 bits, and 16 bits of the next block
        pub bits_i: Signal<In, U<48>>,
        /// end of the codes of each length, left-aligned
        pub ends_i: Signal<In, Ends>,
        /// code of the escape symbol, first bit lowest
        pub escape_code_i: Signal<In, U<16>>,
        /// mask of the bits of that code
        pub escape_mask_i: Signal<In, U<16>>,
        /// the escape symbol has a code
        pub escape_known_i: Signal<In, Bit>,
        /// length of the code at each bit, less one: one vector per bit of the length
        pub lengths_o: [Signal<Out, U<32>>; 4] = array(),
        /// bits at which the code of a value would begin
        pub values_o: Signal<Out, U<32>>,
        /// bits at which the code of the escape would begin
        pub escapes_o: Signal<Out, U<32>>,
        ones: Constant<U<32>> = Constant::new(U::new(U::<32>::MAX)),
        head_bit: Signal<Local, U<32>>,
        is_escape: Signal<Local, U<32>>,
        below: Signal<Local, U<32>>,
        shorter: Signal<Local, U<32>>,
        here: Signal<Local, U<32>>,
        index: Signal<Local, U<4>>,
    }
}

#[hdl_gen]
impl Logic for ScLengths {
    fn update(&mut self) {
        drive!(self; head_bit: 0, is_escape: 0);
        if self.escape_known_i.val() {
            self.is_escape.next = self.ones.val();
        }
        for b in 0..16 {
            self.head_bit.next = self.bits_i.val().get_bits::<32>(b);
            if !self.escape_code_i.val().get_bit(b) {
                self.head_bit.next = !self.head_bit.val();
            }
            if self.escape_mask_i.val().get_bit(b) {
                self.is_escape.next = self.is_escape.val() & self.head_bit.val();
            }
        }
        self.escapes_o.next = self.is_escape.val();

        comment!(
            "the ends do not decrease with the length: select the first length whose end is above the bits"
        );
        drive!(self; shorter: 0, below: 0, here: 0, index: 0);
        for p in 0..4 {
            self.lengths_o[p].next = 0.into();
        }
        for l in 0..16 {
            comment!("compare from the lowest bit to the highest");
            self.below.next = 0.into();
            for b in 0..16 {
                self.head_bit.next = !self.bits_i.val().get_bits::<32>(15 - b);
                if self.ends_i.val().get_bit(l * 17 + b) {
                    self.below.next = self.below.val() | self.head_bit.val();
                } else {
                    self.below.next = self.below.val() & self.head_bit.val();
                }
            }
            if self.ends_i.val().get_bit(l * 17 + 16) {
                self.below.next = self.ones.val();
            }
            self.here.next = self.below.val() & !self.shorter.val();
            self.shorter.next = self.below.val();
            self.index.next = l.to_bits();
            for p in 0..4 {
                if self.index.val().get_bit(p) {
                    self.lengths_o[p].next = self.lengths_o[p].val() | self.here.val();
                }
            }
        }
        self.values_o.next = self.shorter.val() & !self.is_escape.val();
    }
}

rtl_block! {
    /// Follows up to K codes through two blocks. An escape ends the codes of the cycle, because its word follows.
    ///
    /// A mark shows where a code begins; a code moves it by its length.
    #[require(K <= 4)]
    pub struct ScChase<const K: usize> {
        /// length of the code at each bit of the blocks, less one: one vector per bit of the length
        pub lengths_i: [Signal<In, U<64>>; 4] = array(),
        /// bits at which the code of a value would begin
        pub values_i: Signal<In, U<64>>,
        /// bits at which the code of the escape would begin
        pub escapes_i: Signal<In, U<64>>,
        /// length of the escape's code
        pub escape_length_i: Signal<In, U<5>>,
        /// mark at which the first code begins
        pub start_i: Signal<In, Mark>,
        /// number of words that are left to decode
        pub left_i: Signal<In, U<6>>,
        /// one bit per code that was found
        pub taken_o: Signal<Out, U<K>>,
        /// position at which the first code begins, and position at which each code ends
        pub begin_o: Signal<Out, U<7>>,
        pub ends_o: [Signal<Out, U<7>>; K] = array(),
        /// the last of these codes is the escape
        pub escaped_o: Signal<Out, Bit>,
        /// mark at which the codes of the next cycle begin
        pub start_o: Signal<Out, Mark>,
        /// the first block is consumed; the mark of the next cycle counts from the second block
        pub advance_o: Signal<Out, Bit>,
        /// the bits at the mark are no code
        pub invalid_o: Signal<Out, Bit>,
        /// for each bit of a position, all marks whose position has that bit set
        numbers: [Constant<Mark>; 7] = std::array::from_fn(|bit| {
            let low = (0..64).filter(|i| i >> bit & 1 == 1).fold(0u64, |mask, i| mask | 1 << i);
            let high = (64..80u64).filter(|i| i >> bit & 1 == 1).fold(0u64, |mask, i| mask | 1 << (i - 64));
            Constant::new(Mark::from_words([low, high]))
        }),
        index: Signal<Local, U<4>>,
        /// bits at which a code of each length begins
        of_length: [Signal<Local, U<64>>; 16] = array(),
        length: Signal<Local, U<5>>,
        codes: Signal<Local, U<64>>,
        mark: Signal<Local, Mark>,
        held: Signal<Local, U<64>>,
        behind: Signal<Local, Mark>,
        behind_escape: Signal<Local, Mark>,
        stopped: Signal<Local, Mark>,
        escape_end: Signal<Local, Mark>,
        any_invalid: Signal<Local, U<64>>,
        advance: Signal<Local, Bit>,
    }
}

#[hdl_gen]
impl Logic for ScChase {
    fn update(&mut self) {
        self.index.next = 0.into();
        for l in 0..16 {
            self.index.next = l.to_bits();
            self.of_length[l].next = self.values_i.val();
            for p in 0..4 {
                if self.index.val().get_bit(p) {
                    self.of_length[l].next = self.of_length[l].val() & self.lengths_i[p].val();
                } else {
                    self.of_length[l].next = self.of_length[l].val() & !self.lengths_i[p].val();
                }
            }
        }

        self.codes.next = self.values_i.val() | self.escapes_i.val();
        drive!(self; mark: start_i, length: 0, held: 0, behind: 0, behind_escape: 0, stopped: 0,
            escape_end: 0, any_invalid: 0, taken_o: 0, begin_o: 0);
        for b in 0..7 {
            self.begin_o.next[b] = (self.start_i.val() & self.numbers[b].val()).any();
        }
        for i in 0..K {
            comment!("keep the position if no code matches or no more words are needed");
            self.held.next = 0.into();
            if self.left_i.val() > i.to_bits() {
                self.held.next = self.mark.val().get_bits::<64>(0);
            }
            self.any_invalid.next = self.any_invalid.val() | (self.held.val() & !self.codes.val());
            self.held.next = self.held.val() & self.codes.val();
            self.taken_o.next[i] = self.held.val().any();
            self.stopped.next =
                self.stopped.val() | (self.mark.val() & !bit_cast_to::<Mark>(self.held.val()));
            self.behind.next = 0.into();
            for l in 0..16 {
                self.length.next = (l + 1).to_bits();
                self.behind.next = self.behind.val()
                    | (bit_cast_to::<Mark>(self.held.val() & self.of_length[l].val()) << self.length.val());
            }
            self.behind_escape.next =
                bit_cast_to::<Mark>(self.held.val() & self.escapes_i.val()) << self.escape_length_i.val();
            self.escape_end.next = self.escape_end.val() | self.behind_escape.val();
            drive!(self; mark: behind, ends_o[i]: 0);
            for b in 0..7 {
                self.ends_o[i].next[b] =
                    ((self.behind.val() | self.behind_escape.val()) & self.numbers[b].val()).any();
            }
        }
        self.stopped.next = self.stopped.val() | self.mark.val();
        self.invalid_o.next = self.any_invalid.val().any();

        comment!("the raw word after an escape has the bits of a block");
        self.escaped_o.next = self.escape_end.val().any();
        self.advance.next = self.escape_end.val().any() | self.stopped.val().get_bits::<48>(32).any();
        drive!(self; advance_o: advance, start_o: stopped);
        if self.advance.val() {
            self.start_o.next = (self.stopped.val() >> 32) | self.escape_end.val();
        }
    }
}

rtl_block! {
    /// Finds the addresses of the values of K codes, and the word after an escape.
    #[require(K <= 4)]
    pub struct ScPlaces<const K: usize> {
        /// the bits of the two blocks, and the 48 bits after them
        pub bits_i: Signal<In, W<112, 2>>,
        /// position at which the first code begins, and position at which each code ends
        pub begin_i: Signal<In, U<7>>,
        pub ends_i: [Signal<In, U<7>>; K] = array(),
        /// one bit per code that was found
        pub taken_i: Signal<In, U<K>>,
        /// rank of a code minus the code, for each length
        pub bases_i: Signal<In, Bases>,
        /// address of the value whose rank is beyond the last address
        pub escape_place_i: Signal<In, U<10>>,
        /// address of each value
        pub places_o: [Signal<Out, U<10>>; K] = array(),
        /// end of the last code
        pub end_o: Signal<Out, U<7>>,
        /// word after that code
        pub word_o: Signal<Out, U<32>>,
        shifted: Signal<Local, W<128, 2>>,
        tail: Signal<Local, U<11>>,
        code: Signal<Local, U<11>>,
        code_begin: Signal<Local, U<7>>,
        length: Signal<Local, U<5>>,
        base: Signal<Local, U<11>>,
        rank: Signal<Local, U<11>>,
        last_end: Signal<Local, U<7>>,
    }
}

#[hdl_gen]
impl Logic for ScPlaces {
    fn update(&mut self) {
        self.shifted.next = bit_cast_to::<W<128, 2>>(self.bits_i.val()) << 11;
        drive!(self; tail: 0, code: 0, code_begin: begin_i, length: 0, base: 0, rank: 0, last_end: begin_i);
        for i in 0..K {
            comment!("the last 11 bits before its end determine a code");
            self.length.next = bit_cast::<5, 7>(self.ends_i[i].val() - self.code_begin.val());
            self.tail.next = bit_cast_to::<U<11>>(self.shifted.val() >> self.ends_i[i].val());
            self.code.next = 0.into();
            for b in 0..11 {
                if self.length.val() > b.to_bits() {
                    self.code.next[b] = self.tail.val().get_bit(10 - b);
                }
            }
            self.base.next = 0.into();
            for l in 0..16 {
                if self.length.val() == (l + 1).to_bits() {
                    self.base.next = self.bases_i.val().get_bits::<11>(l * 11);
                }
            }
            self.rank.next = self.base.val() + self.code.val();
            comment!(
                "values are stored by rank; the escape's entry is reused for the rank beyond the last address"
            );
            self.places_o[i].next = bit_cast::<10, 11>(self.rank.val());
            if self.rank.val().get_bit(10) {
                self.places_o[i].next = self.escape_place_i.val();
            }
            if self.taken_i.val().get_bit(i) {
                self.last_end.next = self.ends_i[i].val();
            }
            self.code_begin.next = self.ends_i[i].val();
        }
        self.end_o.next = self.last_end.val();
        self.word_o.next = bit_cast_to::<U<32>>(self.bits_i.val() >> self.last_end.val());
    }
}

rtl_block! {
    /// Chooses the words of a group to read in a cycle: each bank gives one row.
    pub struct ScSchedule<const K: usize> {
        /// address of each value: row and bank
        pub places_i: [Signal<In, U<10>>; K] = array(),
        /// words that are not read yet
        pub pending_i: Signal<In, U<K>>,
        /// words that come from an escape and not from a bank
        pub raw_i: Signal<In, U<K>>,
        /// row to read in each bank
        pub rows_o: [Signal<Out, U<7>>; 8] = array(),
        /// words that are read in this cycle
        pub served_o: Signal<Out, U<K>>,
        wanted: Signal<Local, U<K>>,
        waits: Signal<Local, Bit>,
        own: Signal<Local, U<3>>,
        other: Signal<Local, U<3>>,
    }
}

#[hdl_gen]
impl Logic for ScSchedule {
    fn update(&mut self) {
        comment!("each bank serves the first word that needs it");
        self.wanted.next = self.pending_i.val() & !self.raw_i.val();
        for bank in 0..8 {
            self.rows_o[bank].next = 0.into();
            for i in 0..K {
                if self.wanted.val().get_bit(K - 1 - i)
                    & (self.places_i[K - 1 - i].val().get_bits::<3>(0) == bank.to_bits())
                {
                    self.rows_o[bank].next = self.places_i[K - 1 - i].val().get_bits::<7>(3);
                }
            }
        }
        drive!(self; served_o: 0, waits: false, own: 0, other: 0);
        for i in 0..K {
            self.waits.next = false;
            self.own.next = i.to_bits();
            for j in 0..K {
                self.other.next = (K - 1 - j).to_bits();
                if (self.other.val() < self.own.val())
                    & self.wanted.val().get_bit(K - 1 - j)
                    & (self.places_i[i].val().get_bits::<3>(0)
                        == self.places_i[K - 1 - j].val().get_bits::<3>(0))
                {
                    self.waits.next = !self.raw_i.val().get_bit(i)
                        & (self.places_i[i].val().get_bits::<7>(3)
                            != self.places_i[K - 1 - j].val().get_bits::<7>(3));
                }
            }
            self.served_o.next[i] = self.pending_i.val().get_bit(i) & !self.waits.val();
        }
    }
}

rtl_block! {
    /// Puts up to K words into a line, one after the other.
    #[require(K == 1 || K == 2 || K == 4)]
    pub struct ScPut<const K: usize> {
        /// the line so far
        pub line_i: Signal<In, W<1024, 16>>,
        /// words of the line
        pub words_i: [Signal<In, U<32>>; K] = array(),
        /// words that are valid
        pub served_i: Signal<In, U<K>>,
        /// index in the line of the first word
        pub at_i: Signal<In, U<5>>,
        /// the line with the words
        pub line_o: Signal<Out, W<1024, 16>>,
        column_mask: Constant<U<5>> = Constant::new(U::new(K as u64 - 1)),
        line: Signal<Local, W<1024, 16>>,
        word: Signal<Local, U<32>>,
        place: Signal<Local, U<5>>,
        own: Signal<Local, U<5>>,
        to: Signal<Local, U<5>>,
        there: Signal<Local, Bit>,
    }
}

#[hdl_gen]
impl Logic for ScPut {
    fn update(&mut self) {
        drive!(self; line: line_i, word: 0, place: 0, own: 0, to: 0, there: false);
        comment!("word k goes to column (at + k) mod K of the line's rows of K words");
        for column in 0..K {
            drive!(self; word: 0, to: 0, there: false);
            for i in 0..K {
                self.place.next = self.at_i.val() + i.to_bits();
                if (self.place.val() & self.column_mask.val()) == column.to_bits() {
                    drive!(self; word: words_i[i], to: place);
                    self.there.next = self.served_i.val().get_bit(i);
                }
            }
            for w in 0..32 {
                self.own.next = w.to_bits();
                if (self.own.val() & self.column_mask.val()) == column.to_bits() {
                    if self.there.val() & (self.to.val() == self.own.val()) {
                        self.line.next[w * 32..] = self.word.val();
                    }
                }
            }
        }
        self.line_o.next = self.line.val();
    }
}
