//! RTL of the BGP: the hashes, the two bitarrays with alternating roles, and the prediction with its default.

use super::hash::{BANK_BITS, BANKS, HASHES, MOST_INDEX_BITS, SKEW_TAPS, TAPS};
use super::params::{BgpParams, COLUMN_BITS, COLUMNS, SKEW_BITS};
use selvedge_hw::rtl::circuit::Part as _;
use selvedge_hw::rtl::prelude::*;

/// Bits of all six indices.
const INDEX_TAPS: usize = HASHES * MOST_INDEX_BITS;
/// Width of a row that holds both bitarrays; array 0 is in the low half.
const ROW_BITS: usize = 2 * COLUMNS;

rtl_block! {
    /// Indices of a block address into the banks: six linear hashes; hash h goes to bank h ^ skew.
    ///
    /// A is the width of an index into a bank.
    #[require(A >= 8 && A <= 9)]
    pub struct Hashes<const A: usize> {
        /// the block address
        pub address_i: Signal<In, U<32>>,
        /// one index per bank
        pub index_o: [Signal<Out, U<A>>; BANKS] = array(),
        /// banks that no hash goes to
        pub unused_o: Signal<Out, U<BANKS>>,
        /// mask of address bits whose exclusive-or is one bit of one index
        taps: [Constant<U<32>>; INDEX_TAPS] = std::array::from_fn(|i| {
            Constant::new(U::new(u64::from(TAPS[i / MOST_INDEX_BITS][i % MOST_INDEX_BITS])))
        }),
        skew_taps: [Constant<U<32>>; BANK_BITS] =
            std::array::from_fn(|i| { Constant::new(U::new(u64::from(SKEW_TAPS[i]))) }),
        hashed: [Signal<Local, U<A>>; BANKS] = array(),
        first: [Signal<Local, U<A>>; BANKS] = array(),
        second: [Signal<Local, U<A>>; BANKS] = array(),
        skew: Signal<Local, U<BANK_BITS>>,
    }
}

#[hdl_gen(sizes(&[("BANK_BITS", BANK_BITS), ("BANKS", BANKS)]))]
impl Logic for Hashes {
    fn update(&mut self) {
        self.skew.next = 0.into();
        for bit in 0..3 {
            self.skew.next[bit] = (self.address_i.val() & self.skew_taps[bit].val()).xor();
        }
        drive!(self; hashed[6]: 0, hashed[7]: 0);
        for hash in 0..6 {
            self.hashed[hash].next = 0.into();
            for bit in 0..A {
                self.hashed[hash].next[bit] = (self.address_i.val() & self.taps[hash * 9 + bit].val()).xor();
            }
        }

        comment!("hash h goes to bank h ^ skew: each bit of the skew swaps neighbors, pairs or fours");
        for i in 0..4 {
            drive!(self; first[2 * i]: hashed[2 * i], first[2 * i + 1]: hashed[2 * i + 1]);
            if self.skew.val().get_bit(0) {
                drive!(self; first[2 * i]: hashed[2 * i + 1], first[2 * i + 1]: hashed[2 * i]);
            }
        }
        for i in 0..2 {
            for j in 0..2 {
                self.second[4 * i + j].next = self.first[4 * i + j].val();
                self.second[4 * i + 2 + j].next = self.first[4 * i + 2 + j].val();
                if self.skew.val().get_bit(1) {
                    self.second[4 * i + j].next = self.first[4 * i + 2 + j].val();
                    self.second[4 * i + 2 + j].next = self.first[4 * i + j].val();
                }
            }
        }
        for i in 0..4 {
            drive!(self; index_o[i]: second[i], index_o[i + 4]: second[i + 4]);
            if self.skew.val().get_bit(2) {
                drive!(self; index_o[i]: second[i + 4], index_o[i + 4]: second[i]);
            }
        }

        comment!("hashes 6 and 7 do not exist: their banks are unused by this address");
        self.unused_o.next = 0.into();
        for bank in 0..8 {
            self.unused_o.next[bank] = (self.skew.val() ^ bank.to_bits()) >= 6;
        }
    }
}

rtl_block! {
    /// A bank of both bitarrays. A row of the memory is valid only if it was written since the last clear.
    ///
    /// A is the width of an index. Its low bits are the column, the other ROW bits select one of ROWS rows.
    #[require(A == ROW + COLUMN_BITS && ROWS == 1 << ROW)]
    pub struct FilterBank<const A: usize, const ROW: usize, const ROWS: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low; clears both arrays
        pub rst_ni: Signal<In, Bit>,
        /// index of the bit
        pub index_i: Signal<In, U<A>>,
        /// arrays in which the bit is set
        pub set_i: Signal<In, U<2>>,
        /// arrays to clear; wins over set
        pub clear_i: Signal<In, U<2>>,
        /// value of the bit in each array, before this cycle's set or clear
        pub bit_o: Signal<Out, U<2>>,
        rows: Mem<U<ROW_BITS>, ROW>,
        /// rows of each array that were written since the array was cleared
        written: [Reg<U<ROWS>>; 2] = array(),
        row: Signal<Local, U<ROW>>,
        column: Signal<Local, U<COLUMN_BITS>>,
        row_mark: Signal<Local, U<ROWS>>,
        column_mark: Signal<Local, U<COLUMNS>>,
        is_written: Signal<Local, U<2>>,
        /// the row's bits of one array
        half: Signal<Local, U<COLUMNS>>,
        next_row: Signal<Local, U<ROW_BITS>>,
    }
}

#[hdl_gen(sizes(&[("COLUMN_BITS", COLUMN_BITS), ("COLUMNS", COLUMNS), ("ROW_BITS", ROW_BITS)]))]
impl Logic for FilterBank {
    fn update(&mut self) {
        for array in 0..2 {
            dff_setup!(self, clk_i, written[array]);
        }
        self.rows.clk_i.next = self.clk_i.val();
        self.row.next = self.index_i.val().get_bits::<ROW>(COLUMN_BITS);
        self.column.next = self.index_i.val().get_bits::<COLUMN_BITS>(0);
        self.rows.read_address_i.next = self.row.val();
        self.row_mark.next = bit_cast::<ROWS, 1>(1.into()) << self.row.val();
        self.column_mark.next = bit_cast::<COLUMNS, 1>(1.into()) << self.column.val();

        drive!(self; is_written: 0, bit_o: 0, next_row: 0);
        for array in 0..2 {
            self.is_written.next[array] = self.written[array].q.val().get_bit(self.row.val().index());
            self.half.next = self.rows.read_data_o.val().get_bits::<COLUMNS>(array * COLUMNS);
            if self.is_written.val().get_bit(array) {
                self.bit_o.next[array] = self.half.val().get_bit(self.column.val().index());
            } else {
                self.half.next = 0.into();
            }
            self.next_row.next[array * COLUMNS..] = self.half.val() | self.column_mark.val();

            if self.set_i.val().get_bit(array) {
                self.written[array].d.next = self.written[array].q.val() | self.row_mark.val();
            }
            if self.clear_i.val().get_bit(array) {
                self.written[array].d.next = 0.into();
            }
        }

        comment!("an array that does not fill has no written rows: ignore its half of the row");
        self.rows.write_i.next = self.set_i.val().any();
        drive!(self.rows; write_address_i: row, write_data_i: next_row);
    }
}

rtl_block! {
    /// A Bloom filter that ages: two bitarrays alternate between replying and being cleared.
    ///
    /// A is the width of an index into a bank, ROW the width of a row number, ROWS the number of rows, HALF the width of the
    /// counter of half a refresh period. An array is cleared after two half periods of insertions into it. The other array, which
    /// holds half a period, then replies.
    pub struct DualBloom<const A: usize, const ROW: usize, const ROWS: usize, const HALF: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// address of the queried or inserted block
        pub address_i: Signal<In, U<32>>,
        /// query the filter for the address
        pub query_i: Signal<In, Bit>,
        /// insert the address
        pub insert_i: Signal<In, Bit>,
        /// clear the filter; wins over an insertion
        pub clear_i: Signal<In, Bit>,
        /// a query hits: all bits of the address were set in the active array before this cycle's insertion
        pub hit_o: Signal<Out, Bit>,
        /// number of the active array
        pub active_o: Signal<Out, Bit>,
        hashes: Gate<Hashes<A>>,
        banks: [FilterBank<A, ROW, ROWS>; BANKS] = array(),
        /// insertions in this half of a period
        count: Reg<U<HALF>>,
        /// the first half period since the last clear is over: both arrays fill
        both_fill: Reg<Bit>,
        active: Reg<Bit>,
        half_ends: Signal<Local, Bit>,
        set: Signal<Local, U<2>>,
        clear: Signal<Local, U<2>>,
        bits: Signal<Local, U<2>>,
        hit: Signal<Local, U<2>>,
    }
}

impl<const A: usize, const ROW: usize, const ROWS: usize, const HALF: usize> DualBloom<A, ROW, ROWS, HALF> {
    /// See [`Attentive::ignores_inputs`](selvedge_hw::rtl::circuit::Attentive::ignores_inputs). Most evicted blocks are neither
    /// inserted nor queried.
    #[inline]
    fn ignores_inputs(&mut self) -> bool {
        let has_work = self.query_i.next || self.insert_i.next || self.clear_i.next;
        let had_work = self.query_i.val() || self.insert_i.val() || self.clear_i.val();
        !has_work && !had_work && !self.rst_ni.has_input(false)
    }
}

#[hdl_gen]
impl Logic for DualBloom {
    fn update(&mut self) {
        dff_setup!(self, clk_i, count, both_fill, active);

        comment!(
            "at the end of each half period except the first, clear the active array and swap the arrays"
        );
        self.half_ends.next = self.insert_i.val() & self.count.q.val().all();
        self.set.next = 0.into();
        if self.insert_i.val() {
            self.set.next = 1.into();
            if self.both_fill.q.val() {
                self.set.next = 3.into();
            }
        }
        self.clear.next = 0.into();
        if self.half_ends.val() & self.both_fill.q.val() {
            self.clear.next = 1.into();
            if self.active.q.val() {
                self.clear.next = 2.into();
            }
        }
        if self.clear_i.val() {
            self.clear.next = 3.into();
        }

        comment!("a bank that no hash of the element goes to hits, and takes nothing");
        drive!(self; hashes.address_i: address_i, bits: 3, hit: 3);
        for bank in 0..8 {
            drive!(self.banks[bank]; clk_i, rst_ni, index_i: hashes.index_o[bank], clear_i: clear, set_i: 0);
            if !self.hashes.unused_o.val().get_bit(bank) {
                self.banks[bank].set_i.next = self.set.val();
            }
            self.bits.next = self.banks[bank].bit_o.val();
            if self.hashes.unused_o.val().get_bit(bank) {
                self.bits.next = 3.into();
            }
            self.hit.next = self.hit.val() & self.bits.val();
        }
        self.hit_o.next = self.query_i.val()
            & ((self.active.q.val() & self.hit.val().get_bit(1))
                | (!self.active.q.val() & self.hit.val().get_bit(0)));
        self.active_o.next = self.active.q.val();

        if self.clear_i.val() {
            drive!(self; count.d: 0, both_fill.d: false, active.d: false);
        } else {
            self.count.d.next = self.count.q.val() + self.insert_i.val();
            if self.half_ends.val() {
                self.both_fill.d.next = true;
                self.active.d.next = self.both_fill.q.val() & !self.active.q.val();
            }
        }
    }
}

rtl_module! {
    /// Predicts with an aging Bloom filter whether a miss should fetch all sectors or only the requested ones.
    ///
    /// LAMAR, section 3.4. SECTORS is the number of sectors of a block. A, ROW, ROWS and HALF are the parameters of the filter.
    pub struct BgpTop<
        const A: usize, const ROW: usize, const ROWS: usize, const HALF: usize, const SECTORS: usize,
    > for BgpParams as p {
        reset "asynchronous reset, active low: nothing is known, the default is coarse";
        inputs BgpIn {
            /// a miss queries the granularity of its fetch
            query_i: bool as Bit = 1,
            /// a block is evicted; wins over a query
            evict_i: bool as Bit = 1,
            /// block address of the miss or of the evicted block
            address_i: u32 as U<32> = 32,
            /// mask of the evicted block's used sectors
            used_i: u8 as U<SECTORS> = p.sectors as usize,
        }
        outputs BgpOut {
            /// the reply to the last cycle's query is valid
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
            filter: DualBloom<A, ROW, ROWS, HALF>,
            valid: Reg<Bit>,
            coarse: Reg<Bit>,
            default_coarse: Reg<Bit> = Reg::new(true),
            flipped: Reg<Bit>,
            /// evictions so far in this window
            evictions: Reg<U<SKEW_BITS>>,
            /// blocks inserted so far in this window
            insertions: Reg<U<SKEW_BITS>>,
            /// a block with fewer used sectors has low locality
            fg_threshold: Constant<U<4>> = Constant::new(U::new(u64::from(p.fg_threshold))),
            last_of_window: Constant<U<SKEW_BITS>> = Constant::new(U::new(u64::from(p.skew_window - 1))),
            /// maximum insertions in a window without a flip of the default
            skew_limit: Constant<U<SKEW_BITS>> = Constant::new(U::new(u64::from(p.skew_limit()))),
            used: Signal<Local, U<4>>,
            query: Signal<Local, Bit>,
            insert: Signal<Local, Bit>,
            next_insertions: Signal<Local, U<SKEW_BITS>>,
            window_ends: Signal<Local, Bit>,
            flip: Signal<Local, Bit>,
        }
        upset { valid, coarse, default_coarse, flipped, filter.active }
    }
}

#[hdl_gen]
impl Logic for BgpTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, valid, coarse, default_coarse, flipped, evictions, insertions);
        drive!(self.filter; clk_i, rst_ni);

        comment!("insert an evicted block into the filter if its locality contradicts the default");
        self.used.next = 0.into();
        for sector in 0..SECTORS {
            self.used.next = self.used.val() + self.used_i.val().get_bit(sector);
        }
        self.insert.next =
            self.evict_i.val() & ((self.used.val() < self.fg_threshold.val()) == self.default_coarse.q.val());
        self.filter.address_i.next = self.address_i.val();
        self.query.next = self.query_i.val() & !self.evict_i.val();
        drive!(self.filter; query_i: query, insert_i: insert);

        comment!("too many insertions in a window: flip the default and clear the filter");
        self.next_insertions.next = self.insertions.q.val() + self.insert.val();
        self.window_ends.next = self.evict_i.val() & (self.evictions.q.val() == self.last_of_window.val());
        self.flip.next = self.window_ends.val() & (self.next_insertions.val() > self.skew_limit.val());
        self.filter.clear_i.next = self.flip.val();
        self.default_coarse.d.next = self.default_coarse.q.val() ^ self.flip.val();
        self.flipped.d.next = self.flip.val();
        if self.window_ends.val() {
            drive!(self; evictions.d: 0, insertions.d: 0);
        } else {
            self.evictions.d.next = self.evictions.q.val() + self.evict_i.val();
            self.insertions.d.next = self.next_insertions.val();
        }

        comment!("a miss gets the default, or the opposite if the filter contains the block");
        self.valid.d.next = self.query.val();
        if self.query.val() {
            self.coarse.d.next = self.default_coarse.q.val() ^ self.filter.hit_o.val();
        }

        drive!(self; valid_o: valid.q, coarse_o: coarse.q, default_coarse_o: default_coarse.q,
            flip_o: flipped.q, filter.active_o);
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
                        ROW = A - COLUMN_BITS,
                        ROWS = 1 << ROW,
                        HALF = PARAMS.half_period().ilog2() as usize,
                        SECTORS = PARAMS.sectors as usize,
                    }
                }
            }
        }
    }
}
