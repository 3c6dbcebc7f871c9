//! The adjusted-hits calculator: shadow tags of sampled sets, hits, and what reservation failures take off.

use super::lru_access::LruAccess;
use super::{AGES_BITS, CUBE_BITS, SET_BITS};
use crate::bpg::{ADJUSTED_BITS, ADJUSTED_OFFSET, HIT_BITS, RSFAIL_BITS, SAMPLED_SETS, WARP_BITS, WAYS};
use selvedge_hw::rtl::prelude::*;

/// Width of failures multiplied by L cubed.
const PRODUCT_BITS: usize = RSFAIL_BITS + CUBE_BITS;
/// Width of half the estimated failures.
const HALF_BITS: usize = RSFAIL_BITS - 1;

rtl_block! {
    /// Weighs the hits that the first L warps would have in the L1D against the reservation failures that they would cause.
    ///
    /// Dai, section 2.6. TAG is the width of a tag, LINE that of a set's tags. Which L it is comes in through ports, which
    /// are tied to constants.
    #[derive(LogicBlock, Default)]
    #[require(LINE == WAYS * TAG && SAMPLED_SETS * AGES_BITS == 32)]
    pub struct AdjustedHits<const TAG: usize, const LINE: usize, const WORDS: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: all tags are invalid
        pub rst_ni: Signal<In, Bit>,
        /// the last warp that uses the L1D: L - 1
        pub last_warp_i: Signal<In, U<WARP_BITS>>,
        /// (L/8)^3 in units of 1/512: L cubed
        pub cube_i: Signal<In, U<CUBE_BITS>>,
        /// an access to a sampled set
        pub access_i: Signal<In, Bit>,
        /// the warp that makes it
        pub warp_i: Signal<In, U<WARP_BITS>>,
        /// which of the sampled sets
        pub set_i: Signal<In, U<SET_BITS>>,
        /// tag of the line
        pub tag_i: Signal<In, U<TAG>>,
        /// reservation failures
        pub rsfails_i: Signal<In, U<RSFAIL_BITS>>,
        /// the interval ends: take adjusted hits, halve hits
        pub interval_ends_i: Signal<In, Bit>,
        /// hits have been counted
        pub any_hit_o: Signal<Out, Bit>,
        /// adjusted hits of the interval that ended last, with an offset of 2048
        pub adjusted_o: Signal<Out, U<ADJUSTED_BITS>>,
        tags: Mem<W<LINE, WORDS>, SET_BITS>,
        lru: Gate<LruAccess<TAG, LINE, WORDS>>,
        /// which tags are valid, 4 of each set
        valid: Reg<U<{ SAMPLED_SETS * WAYS }>>,
        /// age of each way, 4 of each set
        ages: Reg<U<{ SAMPLED_SETS * AGES_BITS }>> = Reg::new(U::new(FIRST_AGES)),
        hits: Reg<U<HIT_BITS>>,
        adjusted: Reg<U<ADJUSTED_BITS>>,
        offset: Constant<U<ADJUSTED_BITS>> = Constant::new(U::new(u64::from(ADJUSTED_OFFSET))),
        watched: Signal<Local, Bit>,
        set: Signal<Local, U<SET_BITS>>,
        /// not the same signal as above: reading and writing the state stay apart, without a path through the LRU access
        slot: Signal<Local, U<SET_BITS>>,
        faded: Signal<Local, U<HIT_BITS>>,
        product: Signal<Local, U<PRODUCT_BITS>>,
        half: Signal<Local, U<HALF_BITS>>,
    }
}

/// Ages of the ways of all sets after reset: way 3 is the oldest of each.
const FIRST_AGES: u64 = 0xe4e4_e4e4;

impl<const TAG: usize, const LINE: usize, const WORDS: usize> Logic for AdjustedHits<TAG, LINE, WORDS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, valid, ages, hits, adjusted);

        comment!("an access of a watched warp goes through the shadow tags");
        self.watched.next = self.access_i.val() & (self.warp_i.val() <= self.last_warp_i.val());
        self.tags.clk_i.next = self.clk_i.val();
        self.tags.write_i.next = self.watched.val();
        self.tags.write_address_i.next = self.set_i.val();
        self.tags.read_address_i.next = self.set_i.val();
        self.tags.write_data_i.next = self.lru.tags_o.val();
        self.lru.tag_i.next = self.tag_i.val();
        self.lru.tags_i.next = self.tags.read_data_o.val();
        self.lru.valid_i.next = 0.into();
        self.lru.ages_i.next = 0.into();
        for i in 0..4 {
            self.set.next = i.to_bits();
            if self.set_i.val() == self.set.val() {
                self.lru.valid_i.next = self.valid.q.val().get_bits::<WAYS>(i * 4);
                self.lru.ages_i.next = self.ages.q.val().get_bits::<AGES_BITS>(i * 8);
            }
        }
        for i in 0..4 {
            self.slot.next = i.to_bits();
            if self.watched.val() & (self.set_i.val() == self.slot.val()) {
                self.valid.d.next = self.valid.q.val().replace_bit(i * 4, self.lru.valid_o.val());
                self.ages.d.next = self.ages.q.val().replace_bit(i * 8, self.lru.ages_o.val());
            }
        }

        comment!("hits are counted up to the counter's end, and halved first at the end of an interval");
        self.faded.next = self.hits.q.val();
        if self.interval_ends_i.val() {
            self.faded.next = self.hits.q.val() >> 1;
        }
        self.hits.d.next = self.faded.val();
        if self.watched.val() & self.lru.hit_o.val() & !self.faded.val().all() {
            self.hits.d.next = self.faded.val() + 1;
        }

        comment!("hits times 8, as 4 of 32 sets are sampled, less half of failures times L^3 / 512");
        self.product.next = bit_cast::<PRODUCT_BITS, RSFAIL_BITS>(self.rsfails_i.val())
            * bit_cast::<PRODUCT_BITS, CUBE_BITS>(self.cube_i.val());
        self.half.next = self.product.val().get_bits::<HALF_BITS>(10);
        if self.interval_ends_i.val() {
            self.adjusted.d.next = self.offset.val()
                + (bit_cast::<ADJUSTED_BITS, HIT_BITS>(self.hits.q.val()) << 3)
                - bit_cast::<ADJUSTED_BITS, HALF_BITS>(self.half.val());
        }
        self.adjusted_o.next = self.adjusted.q.val();
        self.any_hit_o.next = self.hits.q.val().any();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
