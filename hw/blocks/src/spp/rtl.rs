//! RTL of the SPP: the folded index, the pattern history table with its known bits, and the choice of the answer.

use super::{SppIn, SppOut, SppParams};
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top::{RtlInstance, RtlTop};

rtl_block! {
    /// The table's index of a block address: the XOR of its four slices.
    ///
    /// A is the width of the index, WIDE four times that: the address with zeros above it.
    #[derive(LogicBlock)]
    pub struct FoldedIndex<const A: usize, const WIDE: usize> {
        /// the block address
        pub address_i: Signal<In, U<32>>,
        /// the index
        pub index_o: Signal<Out, U<A>>,
        address: Signal<Local, U<WIDE>>,
        index: Signal<Local, U<A>>,
    }
}

impl<const A: usize, const WIDE: usize> Default for FoldedIndex<A, WIDE> {
    fn default() -> Self {
        const { assert!(WIDE == 4 * A && WIDE >= 32) };
        FoldedIndex {
            address_i: Signal::default(),
            index_o: Signal::default(),
            address: Signal::default(),
            index: Signal::default(),
        }
    }
}

impl<const A: usize, const WIDE: usize> Logic for FoldedIndex<A, WIDE> {
    #[hdl_gen]
    fn update(&mut self) {
        self.address.next = bit_cast::<WIDE, 32>(self.address_i.val());
        self.index.next = 0.into();
        for slice in 0..4 {
            self.index.next = self.index.val() ^ self.address.val().get_bits::<A>(slice * A);
        }
        self.index_o.next = self.index.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

rtl_block! {
    /// Predicts by a pattern history table which sectors of a missed block will be used.
    ///
    /// LAMAR, section 3.3.1. A is the width of the table's index, WIDE four times that; ENTRIES is 2^A, in WORDS words
    /// of 64. SECTORS is the number of sectors of a block.
    #[derive(LogicBlock)]
    pub struct SppTop<
        const A: usize, const WIDE: usize, const ENTRIES: usize, const WORDS: usize, const SECTORS: usize,
    > {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: no entry has a pattern
        pub rst_ni: Signal<In, Bit>,
        /// a miss asks which sectors to fetch
        pub query_i: Signal<In, Bit>,
        /// block address of the miss
        pub query_address_i: Signal<In, U<32>>,
        /// sectors that the miss needs
        pub requested_i: Signal<In, U<SECTORS>>,
        /// a block is evicted: its pattern is committed
        pub evict_i: Signal<In, Bit>,
        /// block address of the evicted block
        pub evict_address_i: Signal<In, U<32>>,
        /// sectors of the evicted block that were used
        pub used_i: Signal<In, U<SECTORS>>,
        /// the query of the last cycle is answered
        pub valid_o: Signal<Out, Bit>,
        /// the answer: sectors to fetch, those requested among them
        pub sectors_o: Signal<Out, U<SECTORS>>,
        /// the answer comes from a committed pattern
        pub known_o: Signal<Out, Bit>,
        query_index: Gate<FoldedIndex<A, WIDE>>,
        evict_index: Gate<FoldedIndex<A, WIDE>>,
        patterns: Mem<U<SECTORS>, A>,
        /// entries that have a pattern
        has_pattern: Reg<W<ENTRIES, WORDS>>,
        valid: Reg<Bit>,
        sectors: Reg<U<SECTORS>>,
        known: Reg<Bit>,
        /// what an entry without a pattern predicts
        unknown_pattern: Constant<U<SECTORS>>,
        pattern: Signal<Local, U<SECTORS>>,
        found: Signal<Local, Bit>,
    }
}

impl<const A: usize, const WIDE: usize, const ENTRIES: usize, const WORDS: usize, const SECTORS: usize>
    SppTop<A, WIDE, ENTRIES, WORDS, SECTORS>
{
    fn new(params: &SppParams) -> Self {
        const { assert!(ENTRIES == 1 << A) };
        SppTop {
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            query_i: Signal::default(),
            query_address_i: Signal::default(),
            requested_i: Signal::default(),
            evict_i: Signal::default(),
            evict_address_i: Signal::default(),
            used_i: Signal::default(),
            valid_o: Signal::default(),
            sectors_o: Signal::default(),
            known_o: Signal::default(),
            query_index: Gate::default(),
            evict_index: Gate::default(),
            patterns: Mem::default(),
            has_pattern: Reg::default(),
            valid: Reg::default(),
            sectors: Reg::default(),
            known: Reg::default(),
            unknown_pattern: Constant::new(U::new(u64::from(params.unknown_pattern()))),
            pattern: Signal::default(),
            found: Signal::default(),
        }
    }
}

impl<const A: usize, const WIDE: usize, const ENTRIES: usize, const WORDS: usize, const SECTORS: usize> Logic
    for SppTop<A, WIDE, ENTRIES, WORDS, SECTORS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, has_pattern, valid, sectors, known);

        comment!("an evicted block commits its used bits");
        self.evict_index.address_i.next = self.evict_address_i.val();
        self.patterns.clk_i.next = self.clk_i.val();
        self.patterns.write_i.next = self.evict_i.val();
        self.patterns.write_address_i.next = self.evict_index.index_o.val();
        self.patterns.write_data_i.next = self.used_i.val();
        if self.evict_i.val() {
            self.has_pattern.d.next =
                self.has_pattern.q.val().replace_bit(self.evict_index.index_o.val().index(), true);
        }

        comment!("a miss reads its entry; a pattern that is committed in this cycle counts already");
        self.query_index.address_i.next = self.query_address_i.val();
        self.patterns.read_address_i.next = self.query_index.index_o.val();
        self.found.next = self.has_pattern.q.val().get_bit(self.query_index.index_o.val().index());
        self.pattern.next = self.unknown_pattern.val();
        if self.found.val() {
            self.pattern.next = self.patterns.read_data_o.val();
        }
        if self.evict_i.val() & (self.evict_index.index_o.val() == self.query_index.index_o.val()) {
            self.found.next = true;
            self.pattern.next = self.used_i.val();
        }

        self.valid.d.next = self.query_i.val();
        if self.query_i.val() {
            self.sectors.d.next = self.pattern.val() | self.requested_i.val();
            self.known.d.next = self.found.val();
        }
        self.valid_o.next = self.valid.q.val();
        self.sectors_o.next = self.sectors.q.val();
        self.known_o.next = self.known.q.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<const A: usize, const WIDE: usize, const ENTRIES: usize, const WORDS: usize, const SECTORS: usize> RtlTop
    for SppTop<A, WIDE, ENTRIES, WORDS, SECTORS>
{
    type In = SppIn;
    type Out = SppOut;

    fn drive(&mut self, inputs: &SppIn) {
        self.query_i.next = inputs.query_i;
        self.query_address_i.next = U::new(u64::from(inputs.query_address_i));
        self.requested_i.next = U::new(u64::from(inputs.requested_i));
        self.evict_i.next = inputs.evict_i;
        self.evict_address_i.next = U::new(u64::from(inputs.evict_address_i));
        self.used_i.next = U::new(u64::from(inputs.used_i));
    }

    fn sample(&self) -> SppOut {
        SppOut {
            valid_o: self.valid_o.val(),
            sectors_o: self.sectors_o.val().to_u64() as u8,
            known_o: self.known_o.val(),
        }
    }

    fn upset(&mut self, bit: usize) {
        match bit % (SECTORS + 2) {
            0 => self.valid.q.next = !self.valid.q.val(),
            bit if bit <= SECTORS => {
                let value = self.sectors.q.val();
                self.sectors.q.next = value.replace_bit(bit - 1, !value.get_bit(bit - 1));
            }
            _ => self.known.q.next = !self.known.q.val(),
        }
    }
}

/// The SPP for valid parameters. Widths that follow from others are spelled out, and checked by the blocks.
pub(super) fn spp(params: &SppParams) -> Box<dyn RtlBlock<SppIn, SppOut>> {
    match (params.entries, params.sectors) {
        (256, 4) => RtlInstance::boxed(SppTop::<8, 32, 256, 4, 4>::new(params)),
        (256, _) => RtlInstance::boxed(SppTop::<8, 32, 256, 4, 8>::new(params)),
        (_, 4) => RtlInstance::boxed(SppTop::<10, 40, 1024, 16, 4>::new(params)),
        (_, _) => RtlInstance::boxed(SppTop::<10, 40, 1024, 16, 8>::new(params)),
    }
}
