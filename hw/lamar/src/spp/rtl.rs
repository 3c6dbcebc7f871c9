//! RTL of the SPP: the folded index, the pattern history table with the sweep that clears it, and the choice of the reply.

use super::params::SppParams;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// The table's index of a block address: the XOR of its four slices.
    ///
    /// A is the width of the index. WIDE, the width of the address with zeros above it, is four times A.
    #[require(WIDE == 4 * A && WIDE >= 32)]
    pub struct FoldedIndex<const A: usize, const WIDE: usize> {
        /// the block address
        pub address_i: Signal<In, U<32>>,
        /// the index
        pub index_o: Signal<Out, U<A>>,
        address: Signal<Local, U<WIDE>>,
        index: Signal<Local, U<A>>,
    }
}

#[hdl_gen]
impl Logic for FoldedIndex {
    fn update(&mut self) {
        self.address.next = bit_cast::<WIDE, 32>(self.address_i.val());
        self.index.next = 0.into();
        for slice in 0..4 {
            self.index.next = self.index.val() ^ self.address.val().get_bits::<A>(slice * A);
        }
        self.index_o.next = self.index.val();
    }
}

rtl_module! {
    /// Predicts with a pattern history table which sectors of a missed block will be used.
    ///
    /// LAMAR, section 3.3.1. A is the width of the table's index, WIDE is 4 A, COUNT is A + 1. SECTORS is the number of sectors
    /// of a block, WORD is SECTORS + 1.
    #[require(COUNT == A + 1 && WORD == SECTORS + 1)]
    pub struct SppTop<
        const A: usize, const WIDE: usize, const COUNT: usize, const SECTORS: usize, const WORD: usize,
    > for SppParams as p {
        reset "asynchronous reset, active low: the sweep starts, after which no entry has a pattern";
        inputs SppIn {
            /// a miss queries the sectors to fetch
            query_i: bool as Bit = 1,
            /// block address of the miss
            query_address_i: u32 as U<32> = 32,
            /// sectors that the miss needs
            requested_i: u8 as U<SECTORS> = p.sectors as usize,
            /// a block is evicted and its pattern is committed
            evict_i: bool as Bit = 1,
            /// block address of the evicted block
            evict_address_i: u32 as U<32> = 32,
            /// used sectors of the evicted block
            used_i: u8 as U<SECTORS> = p.sectors as usize,
        }
        outputs SppOut {
            /// the reply to the last cycle's query is valid
            valid_o: bool as Bit = 1,
            /// the reply: sectors to fetch, including the requested ones
            sectors_o: u8 as U<SECTORS> = p.sectors as usize,
            /// the reply comes from a committed pattern
            known_o: bool as Bit = 1,
        }
        parts {
            query_index: Gate<FoldedIndex<A, WIDE>>,
            evict_index: Gate<FoldedIndex<A, WIDE>>,
            /// patterns, each below a bit that is set once it was committed
            patterns: Mem<U<WORD>, A>,
            /// entry that the sweep clears next; the top bit marks the end of the sweep
            sweep: Reg<U<COUNT>>,
            valid: Reg<Bit>,
            sectors: DataReg<U<SECTORS>>,
            known: DataReg<Bit>,
            /// prediction of an entry without a pattern
            unknown_pattern: Constant<U<SECTORS>> = Constant::new(U::new(u64::from(p.unknown_pattern()))),
            swept: Signal<Local, Bit>,
            commit: Signal<Local, Bit>,
            committed: Signal<Local, U<WORD>>,
            pattern: Signal<Local, U<SECTORS>>,
            found: Signal<Local, Bit>,
        }
        upset { sweep, valid, sectors, known }
    }
}

#[hdl_gen]
impl Logic for SppTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, sweep, valid, sectors, known);

        comment!(
            "after reset the sweep clears an entry per cycle; until its end no pattern is read or committed"
        );
        self.swept.next = self.sweep.q.val().get_bit(A);
        self.sweep.d.next = self.sweep.q.val() + !self.swept.val();
        drive!(self.patterns; clk_i, write_i: true);
        self.patterns.write_address_i.next = self.sweep.q.val().get_bits::<A>(0);
        self.patterns.write_data_i.next = 0.into();

        comment!("an evicted block commits its used bits");
        self.evict_index.address_i.next = self.evict_address_i.val();
        self.commit.next = self.evict_i.val() & self.swept.val();
        self.committed.next = bit_cast::<WORD, SECTORS>(self.used_i.val());
        if self.swept.val() {
            drive!(self.patterns; write_i: evict_i, write_address_i: evict_index.index_o);
            self.patterns.write_data_i.next = self.committed.val().replace_bit(SECTORS, true);
        }

        comment!("a miss reads its entry; a pattern that is committed in this cycle counts already");
        drive!(self; query_index.address_i: query_address_i, patterns.read_address_i: query_index.index_o);
        self.found.next = self.swept.val() & self.patterns.read_data_o.val().get_bit(SECTORS);
        self.pattern.next = self.unknown_pattern.val();
        if self.found.val() {
            self.pattern.next = self.patterns.read_data_o.val().get_bits::<SECTORS>(0);
        }
        if self.commit.val() & (self.evict_index.index_o.val() == self.query_index.index_o.val()) {
            drive!(self; found: true, pattern: used_i);
        }

        self.valid.d.next = self.query_i.val();
        if self.query_i.val() {
            self.sectors.d.next = self.pattern.val() | self.requested_i.val();
            self.known.d.next = self.found.val();
        }
        drive!(self; valid_o: valid.q, sectors_o: sectors.q, known_o: known.q);
    }
}

elaborate! {
    /// Returns the SPP for valid parameters.
    pub(super) fn spp(params: &SppParams as PARAMS) -> Box<dyn RtlBlock<SppIn, SppOut>> {
        for entries in [256, 1024] {
            for sectors in [4, 8] {
                SppTop {
                    A = PARAMS.index_bits() as usize,
                    WIDE = 4 * A,
                    COUNT = A + 1,
                    SECTORS = PARAMS.sectors as usize,
                    WORD = SECTORS + 1,
                }
            }
        }
    }
}
