//! RTL of the BPG: sampling, the interval and the choice, with the calculators and their shadow tags as submodules.

mod adjusted_hits;
mod half_failures;
mod most_hits;

use super::params::{
    ACCESS_BITS, BpgParams, HIT_BITS, L_BITS, LEVELS, RSFAIL_BITS, SAMPLED_SETS, SET_BITS, WARP_BITS,
};
use adjusted_hits::AdjustedHits;
use half_failures::HalfFailures;
use most_hits::MostHits;
use selvedge_hw::rtl::prelude::*;

rtl_module! {
    /// Decides how many warps use the L1D and which bypass it, from shadow tags and reservation failures.
    ///
    /// Dai, sections 2.5 and 2.6. ADDRESS and TAG are the widths of a line address and of a tag, WORD that of a tag with its
    /// valid bit. INDEX is the width of a set's index, of which PLACE bits are its place in its group. A set has WAYS tags.
    /// ADJUSTED is the width of adjusted hits.
    #[require(ADDRESS == TAG + INDEX && PLACE + SET_BITS == INDEX && ADJUSTED == HIT_BITS + PLACE + 1)]
    pub struct BpgTop<
        const ADDRESS: usize, const TAG: usize, const WORD: usize, const INDEX: usize, const PLACE: usize,
        const WAYS: usize, const ADJUSTED: usize,
    > for BpgParams as p {
        reset "asynchronous reset, active low: nothing is known, nobody bypasses";
        inputs BpgIn {
            /// a load accesses the L1D or bypasses it
            access_i: bool as Bit = 1,
            /// line address
            line_i: u64 as U<ADDRESS> = p.line_bits(),
            /// number of the warp or CTA
            warp_i: u8 as U<WARP_BITS> = WARP_BITS,
            /// a request fails to reserve a line, an MSHR or a miss-queue entry
            rsfail_i: bool as Bit = 1,
        }
        outputs BpgOut {
            /// number of warps or CTAs that may use the L1D
            l_max_o: u8 as U<L_BITS> = 4,
            /// bit w: warp or CTA w bypasses the L1D; those from 8 on use bit 7
            bypass_o: u8 as U<LEVELS> = LEVELS,
            /// the number was chosen again at the last clock edge
            update_o: bool as Bit = 1,
        }
        parts {
            calculator: [Idle<AdjustedHits<TAG, WORD, WAYS, PLACE, ADJUSTED>>; LEVELS] = array(),
            half_failures: Gate<HalfFailures>,
            most_hits: Gate<MostHits<ADJUSTED>>,
            /// sampled sets that had an access since reset
            known: Reg<U<SAMPLED_SETS>>,
            accesses: Reg<U<ACCESS_BITS>>,
            rsfails: Reg<U<RSFAIL_BITS>>,
            /// the interval ended at the last clock edge: choose
            ended: Reg<Bit>,
            /// at least one calculator has a hit in the interval that ended
            hit: Reg<Bit>,
            l_max: Reg<U<L_BITS>> = Reg::new(U::new(LEVELS as u64)),
            updated: Reg<Bit>,
            last_of_interval: Constant<U<ACCESS_BITS>> = Constant::new(U::new(u64::from(p.interval) - 1)),
            place: Signal<Local, U<PLACE>>,
            group: Signal<Local, U<SET_BITS>>,
            sampled: Signal<Local, Bit>,
            tag: Signal<Local, U<TAG>>,
            set_known: Signal<Local, Bit>,
            interval_ends: Signal<Local, Bit>,
            faded: Signal<Local, U<RSFAIL_BITS>>,
            level: Signal<Local, U<L_BITS>>,
            bypass: Signal<Local, U<LEVELS>>,
        }
        upset { l_max, updated }
    }
}

#[hdl_gen(layouts! { line_i: { place: PLACE, set_index: SET_BITS, tag: TAG } })]
impl Logic for BpgTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, known, accesses, rsfails, ended, hit, l_max, updated);

        comment!("sample one set of each group: the one whose position in the group is the group number");
        self.place.next = self.line_i.val().get_bits::<PLACE>(0);
        self.group.next = self.line_i.val().get_bits::<SET_BITS>(PLACE);
        self.tag.next = self.line_i.val().get_bits::<TAG>(INDEX);
        self.sampled.next =
            self.access_i.val() & (self.place.val() == bit_cast::<PLACE, SET_BITS>(self.group.val()));
        self.set_known.next = self.known.q.val().get_bit(self.group.val().index());
        if self.sampled.val() {
            self.known.d.next = self.known.q.val().replace_bit(self.group.val().index(), true);
        }

        comment!("at the last access of the interval, register the adjusted hits and halve all counters");
        self.interval_ends.next =
            self.access_i.val() & (self.accesses.q.val() == self.last_of_interval.val());
        self.accesses.d.next = self.accesses.q.val() + self.access_i.val();
        self.faded.next = self.rsfails.q.val();
        if self.interval_ends.val() {
            self.accesses.d.next = 0.into();
            self.faded.next = self.rsfails.q.val() >> 1;
        }
        self.rsfails.d.next = self.faded.val();
        if self.rsfail_i.val() & !self.faded.val().all() {
            self.rsfails.d.next = self.faded.val() + 1;
        }

        drive!(self; half_failures.rsfails_i: rsfails.q, hit.d: false);
        for i in 0..8 {
            if self.calculator[i].any_hit_o.val() {
                self.hit.d.next = true;
            }
            drive!(self.calculator[i]; clk_i, rst_ni);
            self.calculator[i].last_warp_i.next = i.to_bits();
            drive!(self.calculator[i]; access_i: sampled, warp_i, set_i: group, tag_i: tag,
                known_i: set_known, half_i: half_failures.half_o[i], interval_ends_i: interval_ends);
            self.most_hits.adjusted_i[i].next = self.calculator[i].adjusted_o.val();
        }

        comment!("one cycle later, compare the adjusted hits; without any hit, keep the number");
        drive!(self; ended.d: interval_ends, updated.d: ended.q);
        if self.ended.q.val() & self.hit.q.val() {
            self.l_max.d.next = self.most_hits.l_o.val();
        }

        self.bypass.next = 0.into();
        for i in 0..8 {
            self.level.next = i.to_bits();
            self.bypass.next[i] = self.l_max.q.val() <= self.level.val();
        }
        drive!(self; l_max_o: l_max.q, bypass_o: bypass, update_o: updated.q);
    }
}

elaborate! {
    /// Returns the BPG for valid parameters.
    pub(super) fn bpg(params: &BpgParams as PARAMS) -> Box<dyn RtlBlock<BpgIn, BpgOut>> {
        for tag_bits in [20, 32] {
            for ways in [4, 6] {
                for sets in [16, 32, 64, 128, 256] {
                    BpgTop {
                        ADDRESS = PARAMS.line_bits(),
                        TAG = PARAMS.tag_bits as usize,
                        WORD = TAG + 1,
                        INDEX = PARAMS.index_bits(),
                        PLACE = INDEX - SET_BITS,
                        WAYS = PARAMS.ways as usize,
                        ADJUSTED = PARAMS.adjusted_bits(),
                    }
                }
            }
        }
    }
}
