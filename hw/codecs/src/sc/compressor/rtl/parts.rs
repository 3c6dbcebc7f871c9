//! Parts of the compressor: the choice of words to look up in a cycle, a bank of the table, the encoding of a word, and the
//! append of a group to the payload.

use selvedge_hw::rtl::prelude::*;

/// An entry of the table: tag (24 bits), reversed code (16) and length (5; 0: no entry).
pub(super) type TableEntry = U<45>;

/// A code, first bit lowest (16 bits), and its length (5; 0: no code).
pub(super) type StoredCode = U<21>;

rtl_block! {
    /// Chooses the words of a group to look up in a cycle: each bank looks up one word.
    pub struct ScLookup<const K: usize> {
        /// words of the group
        pub words_i: [Signal<In, U<32>>; K] = array(),
        /// words that are not looked up yet
        pub pending_i: Signal<In, U<K>>,
        /// words that are looked up in this cycle
        pub served_o: Signal<Out, U<K>>,
        /// the bank of each word
        pub banks_o: [Signal<Out, U<3>>; K] = array(),
        /// row to read in each bank
        pub rows_o: [Signal<Out, U<5>>; 8] = array(),
        /// tag to look for in each bank
        pub tags_o: [Signal<Out, U<24>>; 8] = array(),
        word: Signal<Local, U<32>>,
        /// set and bank of each word
        sets: [Signal<Local, U<8>>; K] = array(),
        banks: [Signal<Local, U<3>>; K] = array(),
        /// first word of each bank
        first: Signal<Local, U<K>>,
        alone: Signal<Local, Bit>,
        own: Signal<Local, U<4>>,
        other: Signal<Local, U<4>>,
    }
}

#[hdl_gen]
impl Logic for ScLookup {
    fn update(&mut self) {
        self.word.next = 0.into();
        for i in 0..K {
            self.word.next = self.words_i[i].val();
            self.sets[i].next = self.word.val().get_bits::<8>(0)
                ^ self.word.val().get_bits::<8>(8)
                ^ self.word.val().get_bits::<8>(16)
                ^ self.word.val().get_bits::<8>(24);
            self.banks[i].next = self.sets[i].val().get_bits::<3>(0)
                ^ self.sets[i].val().get_bits::<3>(3)
                ^ bit_cast::<3, 2>(self.sets[i].val().get_bits::<2>(6));
            self.banks_o[i].next = self.banks[i].val();
        }

        comment!("each bank serves the first word that needs it");
        drive!(self; first: 0, alone: false, own: 0, other: 0);
        for i in 0..K {
            self.own.next = i.to_bits();
            self.alone.next = self.pending_i.val().get_bit(i);
            for j in 0..K {
                self.other.next = j.to_bits();
                if (self.other.val() < self.own.val())
                    & self.pending_i.val().get_bit(j)
                    & (self.banks[i].val() == self.banks[j].val())
                {
                    self.alone.next = false;
                }
            }
            self.first.next[i] = self.alone.val();
        }
        for bank in 0..8 {
            drive!(self; rows_o[bank]: 0, tags_o[bank]: 0);
            for i in 0..K {
                if self.first.val().get_bit(i) & (self.banks[i].val() == bank.to_bits()) {
                    self.rows_o[bank].next = self.rows_o[bank].val() | self.sets[i].val().get_bits::<5>(3);
                    self.tags_o[bank].next =
                        self.tags_o[bank].val() | self.words_i[i].val().get_bits::<24>(8);
                }
            }
        }

        comment!("equal words share a lookup");
        self.served_o.next = 0.into();
        for i in 0..K {
            self.own.next = i.to_bits();
            self.alone.next = self.first.val().get_bit(i);
            for j in 0..K {
                self.other.next = j.to_bits();
                if (self.other.val() < self.own.val())
                    & self.first.val().get_bit(j)
                    & (self.words_i[i].val() == self.words_i[j].val())
                {
                    self.alone.next = self.pending_i.val().get_bit(i);
                }
            }
            self.served_o.next[i] = self.alone.val();
        }
    }
}

rtl_block! {
    /// A bank of the table. The ways of its sets are separate memories, so that one way can be written alone.
    pub struct ScBank {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// row to read, and tag to look for in the next cycle
        pub row_i: Signal<In, U<5>>,
        pub tag_i: Signal<In, U<24>>,
        /// ways to write
        pub write_i: Signal<In, U<4>>,
        /// row and entry to write
        pub write_row_i: Signal<In, U<5>>,
        pub entry_i: Signal<In, TableEntry>,
        /// code for the tag of the previous cycle
        pub code_o: Signal<Out, StoredCode>,
        ways: [SyncMem<TableEntry, 5>; 4] = array(),
        tag: DataReg<U<24>>,
        entry: Signal<Local, TableEntry>,
        code: Signal<Local, StoredCode>,
    }
}

#[hdl_gen(layouts! { entry: { tag: 24, code: 16, length: 5 } })]
impl Logic for ScBank {
    fn update(&mut self) {
        dff_setup!(self, clk_i, tag);
        drive!(self; tag.d: tag_i, code: 0, entry: 0);
        for way in 0..4 {
            drive!(self.ways[way]; clk_i, read_address_i: row_i);
            self.ways[way].write_i.next = self.write_i.val().get_bit(way);
            drive!(self.ways[way]; write_address_i: write_row_i, write_data_i: entry_i);
            self.entry.next = self.ways[way].read_data_o.val();
            if self.entry.val().get_bits::<5>(40).any()
                & (self.entry.val().get_bits::<24>(0) == self.tag.q.val())
            {
                self.code.next = self.entry.val().get_bits::<21>(24);
            }
        }
        self.code_o.next = self.code.val();
    }
}

rtl_block! {
    /// Makes the bits for a word from the output of its bank: the code, or the code of the escape and the word itself.
    pub struct ScEncodeWord {
        /// the word
        pub word_i: Signal<In, U<32>>,
        /// bank of the word
        pub bank_i: Signal<In, U<3>>,
        /// output of each bank
        pub codes_i: [Signal<In, StoredCode>; 8] = array(),
        /// code of the escape symbol, first bit lowest
        pub escape_code_i: Signal<In, U<16>>,
        /// length of that code; 0: the escape has no code
        pub escape_length_i: Signal<In, U<5>>,
        /// bits for the word, the first one lowest
        pub field_o: Signal<Out, U<48>>,
        /// number of these bits; 0: the word cannot be coded
        pub length_o: Signal<Out, U<6>>,
        code: Signal<Local, StoredCode>,
        field: Signal<Local, U<48>>,
        length: Signal<Local, U<6>>,
    }
}

#[hdl_gen]
impl Logic for ScEncodeWord {
    fn update(&mut self) {
        self.code.next = 0.into();
        for bank in 0..8 {
            if self.bank_i.val() == bank.to_bits() {
                self.code.next = self.code.val() | self.codes_i[bank].val();
            }
        }
        drive!(self; field: 0, length: 0);
        if self.escape_length_i.val().any() {
            self.field.next = bit_cast::<48, 16>(self.escape_code_i.val())
                | (bit_cast::<48, 32>(self.word_i.val()) << self.escape_length_i.val());
            self.length.next = bit_cast::<6, 5>(self.escape_length_i.val()) + 32;
        }
        if self.code.val().get_bits::<5>(16).any() {
            self.field.next = bit_cast::<48, 16>(self.code.val().get_bits::<16>(0));
            self.length.next = bit_cast::<6, 5>(self.code.val().get_bits::<5>(16));
        }
        drive!(self; field_o: field, length_o: length);
    }
}

rtl_block! {
    /// Appends the bits of a group of words to a payload.
    ///
    /// GROUP is the maximum number of bits of a group, SUM the width of that number.
    pub struct ScAppend<const GROUP: usize, const GW: usize, const SUM: usize> {
        /// bits of the group
        pub group_i: Signal<In, W<GROUP, GW>>,
        /// number of these bits
        pub group_bits_i: Signal<In, U<SUM>>,
        /// the group is the first of its line
        pub first_i: Signal<In, Bit>,
        /// the payload so far
        pub payload_i: Signal<In, W<1024, 16>>,
        /// number of bits of the payload so far
        pub bits_i: Signal<In, U<11>>,
        /// payload with the group; bits that it cannot hold are lost
        pub payload_o: Signal<Out, W<1024, 16>>,
        /// number of bits of that payload, lost bits included
        pub bits_o: Signal<Out, U<11>>,
        payload: Signal<Local, W<1024, 16>>,
        bits: Signal<Local, U<11>>,
    }
}

#[hdl_gen]
impl Logic for ScAppend {
    fn update(&mut self) {
        drive!(self; payload: 0, bits: 0);
        if !self.first_i.val() {
            drive!(self; payload: payload_i, bits: bits_i);
        }
        self.payload_o.next =
            self.payload.val() | (bit_cast_to::<W<1024, 16>>(self.group_i.val()) << self.bits.val());
        self.bits_o.next = self.bits.val() + bit_cast::<11, SUM>(self.group_bits_i.val());
    }
}
