//! The adjusted-hits calculator: shadow tags of sampled sets, hits, and the deduction for reservation failures.

use crate::bpg::params::{ADJUSTED_OFFSET, HALF_BITS, HIT_BITS, SET_BITS, WARP_BITS};
use selvedge_hw::rtl::circuit::Part as _;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Weighs the hits that the first L warps would have in the L1D against the reservation failures that they would cause.
    ///
    /// Dai, section 2.6. TAG is the width of a tag, WORD that of a tag with its valid bit. A set has WAYS tags.
    /// One of 2^SHIFT sets is sampled. ADJUSTED is the width of adjusted hits. L comes in through ports, which are
    /// tied to constants. The tags of a set are in the order of their last use, in one memory per position. An access writes its
    /// tag to the first position. The tags before its old position, or all on a miss, move one position further.
    #[require(WORD == TAG + 1 && ADJUSTED == HIT_BITS + SHIFT + 1)]
    pub struct AdjustedHits<
        const TAG: usize, const WORD: usize, const WAYS: usize, const SHIFT: usize, const ADJUSTED: usize,
    > {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: no hits
        pub rst_ni: Signal<In, Bit>,
        /// the last warp that uses the L1D: L - 1
        pub last_warp_i: Signal<In, U<WARP_BITS>>,
        /// an access to a sampled set
        pub access_i: Signal<In, Bit>,
        /// warp of the access
        pub warp_i: Signal<In, U<WARP_BITS>>,
        /// number of the sampled set
        pub set_i: Signal<In, U<SET_BITS>>,
        /// the set had an access since reset, so that its words are valid
        pub known_i: Signal<In, Bit>,
        /// tag of the line
        pub tag_i: Signal<In, U<TAG>>,
        /// half of the estimated reservation failures
        pub half_i: Signal<In, U<HALF_BITS>>,
        /// the interval ends: halve the hits
        pub interval_ends_i: Signal<In, Bit>,
        /// at least one hit is counted
        pub any_hit_o: Signal<Out, Bit>,
        /// adjusted hits as of the last cycle, with an offset of 2048
        pub adjusted_o: Signal<Out, U<ADJUSTED>>,
        /// the most recently used tags of each set, one memory per position, each tag below its valid bit
        places: [Mem<U<WORD>, SET_BITS>; WAYS] = array(),
        hits: Reg<U<HIT_BITS>>,
        adjusted: DataReg<U<ADJUSTED>>,
        offset: Constant<U<ADJUSTED>> = Constant::new(U::new(u64::from(ADJUSTED_OFFSET))),
        watched: Signal<Local, Bit>,
        /// the tag was not found before this position
        sought: Signal<Local, Bit>,
        hit: Signal<Local, Bit>,
        word: Signal<Local, U<WORD>>,
        /// word that moves to this position from the previous one
        moved: Signal<Local, U<WORD>>,
        /// word that is read and moves on; separate from `word`, to keep the comparison out of the write path
        data: Signal<Local, U<WORD>>,
        faded: Signal<Local, U<HIT_BITS>>,
        scaled: Signal<Local, U<ADJUSTED>>,
    }
}

impl<const TAG: usize, const WORD: usize, const WAYS: usize, const SHIFT: usize, const ADJUSTED: usize>
    AdjustedHits<TAG, WORD, WAYS, SHIFT, ADJUSTED>
{
    /// See [`Attentive::ignores_inputs`](selvedge_hw::rtl::circuit::Attentive::ignores_inputs). Warp, set and tag belong to an
    /// access. They matter only if the warp uses the L1D or the set is new. Seven of eight accesses of an L1D are to other sets,
    /// each with another line.
    #[inline]
    fn ignores_inputs(&mut self) -> bool {
        let writes = |access, warp, last_warp, known: bool| access && (warp <= last_warp || !known);
        let (access, warp) = (&self.access_i, &self.warp_i);
        let (last_warp, known) = (&self.last_warp_i, &self.known_i);
        let did_write = writes(access.val(), warp.val(), last_warp.val(), known.val());
        if did_write || writes(access.next, warp.next, last_warp.next, known.next) {
            return false;
        }
        let has_other = self.rst_ni.has_input(false);
        let has_other = self.last_warp_i.has_input(has_other);
        let has_other = self.half_i.has_input(has_other);
        !self.interval_ends_i.has_input(has_other)
    }
}

#[hdl_gen]
impl Logic for AdjustedHits {
    fn update(&mut self) {
        dff_setup!(self, clk_i, hits, adjusted);
        self.watched.next = self.access_i.val() & (self.warp_i.val() <= self.last_warp_i.val());

        comment!(
            "shift in the new tag; the words after it move up, or become invalid in the set's first access"
        );
        self.moved.next = bit_cast::<WORD, TAG>(self.tag_i.val());
        self.moved.next[TAG] = self.watched.val();
        for place in 0..WAYS {
            drive!(self.places[place]; clk_i, read_address_i: set_i, write_address_i: set_i,
                write_data_i: moved);
            self.data.next = self.places[place].read_data_o.val();
            self.moved.next =
                self.data.val().replace_bit(TAG, self.known_i.val() & self.data.val().get_bit(TAG));
        }

        comment!("words up to the tag's position move; the first access to the set writes all words");
        drive!(self; hit: false, sought: watched);
        for place in 0..WAYS {
            self.places[place].write_i.next = self.sought.val() | (self.access_i.val() & !self.known_i.val());
            self.word.next = self.places[place].read_data_o.val();
            if self.known_i.val()
                & self.word.val().get_bit(TAG)
                & (self.word.val().get_bits::<TAG>(0) == self.tag_i.val())
            {
                drive!(self; hit: true, sought: false);
            }
        }

        comment!("saturating count of hits; at the end of an interval it is halved first");
        self.faded.next = self.hits.q.val();
        if self.interval_ends_i.val() {
            self.faded.next = self.hits.q.val() >> 1;
        }
        self.hits.d.next = self.faded.val();
        if self.watched.val() & self.hit.val() & !self.faded.val().all() {
            self.hits.d.next = self.faded.val() + 1;
        }

        comment!("hits times the sets per group, because one is sampled, minus half of the failures");
        self.scaled.next = 0.into();
        self.scaled.next[SHIFT..] = self.hits.q.val();
        self.adjusted.d.next =
            self.offset.val() + self.scaled.val() - bit_cast::<ADJUSTED, HALF_BITS>(self.half_i.val());
        self.adjusted_o.next = self.adjusted.q.val();
        self.any_hit_o.next = self.hits.q.val().any();
    }
}
