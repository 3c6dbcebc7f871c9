//! RTL of the BGP: the hashes, the two bitarrays that take turns, and the prediction with its default.

use super::hash::{BYTES, HASHES, ROTATION};
use super::{BgpParams, SKEW_BITS};
use selvedge_hw::rtl::prelude::*;

/// Rotations of all bytes in all hashes, hash by hash.
const ROTATIONS: usize = HASHES * BYTES;

rtl_block! {
    /// Six indices of a block address: the XOR of its bytes, each rotated within the index.
    ///
    /// A is the width of an index, WIDE twice that.
    #[derive(LogicBlock, Default)]
    #[require(WIDE == 2 * A && A >= 11)]
    pub struct Hashes<const A: usize, const WIDE: usize> {
        /// the block address
        pub address_i: Signal<In, U<32>>,
        /// one index per hash
        pub index_o: [Signal<Out, U<A>>; HASHES] = array(),
        rotation: [Constant<U<4>>; ROTATIONS] =
            std::array::from_fn(|i| { Constant::new(U::new(u64::from(ROTATION[i / BYTES][i % BYTES]))) }),
        slice: Signal<Local, U<8>>,
        shifted: Signal<Local, U<WIDE>>,
    }
}

impl<const A: usize, const WIDE: usize> Logic for Hashes<A, WIDE> {
    #[hdl_gen]
    fn update(&mut self) {
        for hash in 0..6 {
            comment!("bytes are shifted into twice the width, whose halves then make the rotation");
            self.shifted.next = 0.into();
            for byte in 0..4 {
                self.slice.next = self.address_i.val().get_bits::<8>(byte * 8);
                self.shifted.next = self.shifted.val()
                    ^ (bit_cast::<WIDE, 8>(self.slice.val()) << self.rotation[hash * 4 + byte].val());
            }
            self.index_o[hash].next =
                self.shifted.val().get_bits::<A>(0) ^ self.shifted.val().get_bits::<A>(A);
        }
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

rtl_block! {
    /// A Bloom filter that forgets: two bitarrays take turns at answering and at being cleared.
    ///
    /// A is the width of an index, HALF the bits that count half a refresh period. Each array is cleared after two
    /// halves of insertions of its own; the other one, half full, then answers.
    #[derive(LogicBlock, Default)]
    pub struct DualBloom<const A: usize, const WIDE: usize, const HALF: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// the element
        pub address_i: Signal<In, U<32>>,
        /// put the element in
        pub insert_i: Signal<In, Bit>,
        /// forget everything; wins over an insertion
        pub clear_i: Signal<In, Bit>,
        /// the active array has all bits of the element, before this cycle's insertion
        pub hit_o: Signal<Out, Bit>,
        /// number of the active array
        pub active_o: Signal<Out, Bit>,
        hashes: Gate<Hashes<A, WIDE>>,
        array0: BitArray<6, A>,
        array1: BitArray<6, A>,
        /// insertions in this half of a period
        count: Reg<U<HALF>>,
        /// the first half since all was forgotten is over: array 1 fills too
        both_fill: Reg<Bit>,
        active: Reg<Bit>,
        half_ends: Signal<Local, Bit>,
        hit0: Signal<Local, Bit>,
        hit1: Signal<Local, Bit>,
    }
}

impl<const A: usize, const WIDE: usize, const HALF: usize> Logic for DualBloom<A, WIDE, HALF> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, count, both_fill, active);
        self.array0.clk_i.next = self.clk_i.val();
        self.array0.rst_ni.next = self.rst_ni.val();
        self.array1.clk_i.next = self.clk_i.val();
        self.array1.rst_ni.next = self.rst_ni.val();

        self.hashes.address_i.next = self.address_i.val();
        self.hit0.next = true;
        self.hit1.next = true;
        for hash in 0..6 {
            self.array0.address_i[hash].next = self.hashes.index_o[hash].val();
            self.array1.address_i[hash].next = self.hashes.index_o[hash].val();
            self.hit0.next = self.hit0.val() & self.array0.bit_o[hash].val();
            self.hit1.next = self.hit1.val() & self.array1.bit_o[hash].val();
        }
        self.hit_o.next = (self.active.q.val() & self.hit1.val()) | (!self.active.q.val() & self.hit0.val());
        self.active_o.next = self.active.q.val();

        comment!(
            "at the end of each half but the first the active array is full: clear it, let the other answer"
        );
        self.half_ends.next = self.insert_i.val() & self.count.q.val().all();
        self.array0.set_i.next = self.insert_i.val();
        self.array1.set_i.next = self.insert_i.val() & self.both_fill.q.val();
        self.array0.clear_i.next =
            self.clear_i.val() | (self.half_ends.val() & self.both_fill.q.val() & !self.active.q.val());
        self.array1.clear_i.next =
            self.clear_i.val() | (self.half_ends.val() & self.both_fill.q.val() & self.active.q.val());

        if self.clear_i.val() {
            self.count.d.next = 0.into();
            self.both_fill.d.next = false;
            self.active.d.next = false;
        } else {
            self.count.d.next = self.count.q.val() + self.insert_i.val();
            if self.half_ends.val() {
                self.both_fill.d.next = true;
                self.active.d.next = self.both_fill.q.val() & !self.active.q.val();
            }
        }
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

rtl_module! {
    /// Predicts by a self-ageing Bloom filter whether a miss should fetch all sectors or those requested.
    ///
    /// LAMAR, section 3.4. SECTORS is the number of sectors of a block; A, WIDE and HALF are those of the filter.
    pub struct BgpTop<
        const A: usize, const WIDE: usize, const HALF: usize, const SECTORS: usize,
    > for BgpParams as p {
        reset "asynchronous reset, active low: nothing is known, the default is coarse";
        inputs BgpIn {
            /// a miss asks for the granularity of its fetch
            query_i: bool as Bit = 1,
            /// a block is evicted; wins over a query
            evict_i: bool as Bit = 1,
            /// block address of the miss or of the evicted block
            address_i: u32 as U<32> = 32,
            /// sectors of the evicted block that were used
            used_i: u8 as U<SECTORS> = p.sectors as usize,
        }
        outputs BgpOut {
            /// the reply to the query of the last cycle is there
            valid_o: bool as Bit = 1,
            /// the reply: fetch all sectors
            coarse_o: bool as Bit = 1,
            /// the default prediction is to fetch all sectors
            default_coarse_o: bool as Bit = 1,
            /// the default flipped at the last clock edge
            flip_o: bool as Bit = 1,
            /// number of the bitarray that replies
            active_o: bool as Bit = 1,
        }
        parts {
            filter: DualBloom<A, WIDE, HALF>,
            valid: Reg<Bit>,
            coarse: Reg<Bit>,
            default_coarse: Reg<Bit> = Reg::new(true),
            flipped: Reg<Bit>,
            /// evictions in this window
            evictions: Reg<U<SKEW_BITS>>,
            /// how many of them were inserted
            insertions: Reg<U<SKEW_BITS>>,
            /// a block with fewer used sectors has low locality
            fg_threshold: Constant<U<4>> = Constant::new(U::new(u64::from(p.fg_threshold))),
            last_of_window: Constant<U<SKEW_BITS>> = Constant::new(U::new(u64::from(p.skew_window - 1))),
            /// the most insertions in a window that do not flip the default
            skew_limit: Constant<U<SKEW_BITS>> = Constant::new(U::new(u64::from(p.skew_limit()))),
            used: Signal<Local, U<4>>,
            insert: Signal<Local, Bit>,
            next_insertions: Signal<Local, U<SKEW_BITS>>,
            window_ends: Signal<Local, Bit>,
            flip: Signal<Local, Bit>,
        }
        upset { valid, coarse, default_coarse, flipped, filter.active }
    }
}

impl<const A: usize, const WIDE: usize, const HALF: usize, const SECTORS: usize> Logic
    for BgpTop<A, WIDE, HALF, SECTORS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, valid, coarse, default_coarse, flipped, evictions, insertions);
        self.filter.clk_i.next = self.clk_i.val();
        self.filter.rst_ni.next = self.rst_ni.val();

        comment!("an evicted block goes into the filter if its locality contradicts the default");
        self.used.next = 0.into();
        for sector in 0..SECTORS {
            self.used.next = self.used.val() + self.used_i.val().get_bit(sector);
        }
        self.insert.next =
            self.evict_i.val() & ((self.used.val() < self.fg_threshold.val()) == self.default_coarse.q.val());
        self.filter.address_i.next = self.address_i.val();
        self.filter.insert_i.next = self.insert.val();

        comment!("too many insertions in a window: the default flips, and the filter forgets");
        self.next_insertions.next = self.insertions.q.val() + self.insert.val();
        self.window_ends.next = self.evict_i.val() & (self.evictions.q.val() == self.last_of_window.val());
        self.flip.next = self.window_ends.val() & (self.next_insertions.val() > self.skew_limit.val());
        self.filter.clear_i.next = self.flip.val();
        self.default_coarse.d.next = self.default_coarse.q.val() ^ self.flip.val();
        self.flipped.d.next = self.flip.val();
        if self.window_ends.val() {
            self.evictions.d.next = 0.into();
            self.insertions.d.next = 0.into();
        } else {
            self.evictions.d.next = self.evictions.q.val() + self.evict_i.val();
            self.insertions.d.next = self.next_insertions.val();
        }

        comment!("a miss gets the default, or its opposite if the filter has the block");
        self.valid.d.next = self.query_i.val() & !self.evict_i.val();
        if self.query_i.val() & !self.evict_i.val() {
            self.coarse.d.next = self.default_coarse.q.val() ^ self.filter.hit_o.val();
        }

        self.valid_o.next = self.valid.q.val();
        self.coarse_o.next = self.coarse.q.val();
        self.default_coarse_o.next = self.default_coarse.q.val();
        self.flip_o.next = self.flipped.q.val();
        self.active_o.next = self.filter.active_o.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

elaborate! {
    /// Returns the BGP for valid parameters.
    pub(super) fn bgp(params: &BgpParams as PARAMS) -> Box<dyn RtlBlock<BgpIn, BgpOut>> {
        for bitarray_bits in [2048, 4096] {
            for refresh_period in [512, 1024] {
                for sectors in [4, 8] {
                    BgpTop {
                        A = PARAMS.index_bits() as usize,
                        WIDE = 2 * A,
                        HALF = PARAMS.half_period().ilog2() as usize,
                        SECTORS = PARAMS.sectors as usize,
                    }
                }
            }
        }
    }
}
