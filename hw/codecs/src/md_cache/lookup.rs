//! RTL of the search for a tag in a set, and of the set's state after the access.

use super::params::{ORDER_BITS, WAYS};
use selvedge_hw::rtl::prelude::*;

/// Bits of a set's state: valid bits, dirty bits and order, from the top.
pub(super) const STATE_BITS: usize = ORDER_BITS + 2 * WAYS;

rtl_block! {
    /// Searches a set of four ways for a tag. A miss gets an empty way, or else the least recently used way.
    ///
    /// TAG is the width of a tag, TAGS the width of all four tags. The order of the ways has a bit per pair of ways, which is
    /// set if the way with the lower number was used later. After each way was used once, the initial order does not matter.
    #[require(TAGS == WAYS * TAG && TW == TAGS.div_ceil(64))]
    pub struct MdLookup<const TAG: usize, const TAGS: usize, const TW: usize> {
        /// tags of the ways, way 0 in the low bits
        pub tags_i: Signal<In, W<TAGS, TW>>,
        /// state of the set: valid bits, dirty bits, order
        pub state_i: Signal<In, U<STATE_BITS>>,
        /// tag to search for
        pub tag_i: Signal<In, U<TAG>>,
        /// the access makes its block dirty
        pub update_i: Signal<In, Bit>,
        /// the tag is in the set
        pub hit_o: Signal<Out, Bit>,
        /// way that holds the tag, or that the new block takes
        pub way_o: Signal<Out, U<2>>,
        /// that way held another block, which is dirty
        pub evicts_dirty_o: Signal<Out, Bit>,
        /// tag of the dirty block
        pub victim_tag_o: Signal<Out, U<TAG>>,
        /// tags after the access
        pub tags_o: Signal<Out, W<TAGS, TW>>,
        /// state after the access
        pub state_o: Signal<Out, U<STATE_BITS>>,
        order: Signal<Local, U<6>>,
        valid: Signal<Local, U<4>>,
        dirty: Signal<Local, U<4>>,
        found: Signal<Local, U<4>>,
        /// the least recently used way, one-hot
        oldest: Signal<Local, U<4>>,
        hit: Signal<Local, Bit>,
        /// way of the access, one-hot
        chosen: Signal<Local, U<4>>,
        way: Signal<Local, U<2>>,
        victim_tag: Signal<Local, U<TAG>>,
        tags: Signal<Local, W<TAGS, TW>>,
        next_order: Signal<Local, U<6>>,
        next_dirty: Signal<Local, U<4>>,
    }
}

#[hdl_gen]
impl Logic for MdLookup {
    fn update(&mut self) {
        self.order.next = self.state_i.val().get_bits::<6>(0);
        self.dirty.next = self.state_i.val().get_bits::<4>(6);
        self.valid.next = self.state_i.val().get_bits::<4>(10);

        self.found.next = 0.into();
        for i in 0..4 {
            self.found.next[i] = self.valid.val().get_bit(i)
                & (self.tags_i.val().get_bits::<TAG>(i * TAG) == self.tag_i.val());
        }
        self.hit.next = self.found.val().any();

        comment!("pairs of ways in the order: 0-1, 0-2, 0-3, 1-2, 1-3, 2-3");
        self.oldest.next = 0.into();
        self.oldest.next[0] =
            !self.order.val().get_bit(0) & !self.order.val().get_bit(1) & !self.order.val().get_bit(2);
        self.oldest.next[1] =
            self.order.val().get_bit(0) & !self.order.val().get_bit(3) & !self.order.val().get_bit(4);
        self.oldest.next[2] =
            self.order.val().get_bit(1) & self.order.val().get_bit(3) & !self.order.val().get_bit(5);
        self.oldest.next[3] =
            self.order.val().get_bit(2) & self.order.val().get_bit(4) & self.order.val().get_bit(5);

        comment!("the matching way, else the first empty way, else the least recently used one");
        self.chosen.next = self.oldest.val();
        if self.hit.val() {
            self.chosen.next = self.found.val();
        } else if !self.valid.val().all() {
            self.chosen.next = !self.valid.val() & (self.valid.val() + 1);
        }
        self.way.next = 0.into();
        self.way.next[0] = self.chosen.val().get_bit(1) | self.chosen.val().get_bit(3);
        self.way.next[1] = self.chosen.val().get_bit(2) | self.chosen.val().get_bit(3);

        drive!(self; victim_tag: 0, tags: tags_i);
        for i in 0..4 {
            if self.chosen.val().get_bit(i) {
                self.victim_tag.next = self.tags_i.val().get_bits::<TAG>(i * TAG);
                self.tags.next[i * TAG..] = self.tag_i.val();
            }
        }

        comment!("mark the chosen way as the most recently used one");
        self.next_order.next = self.order.val();
        if self.chosen.val().get_bit(0) {
            self.next_order.next = self.order.val() | 7;
        }
        if self.chosen.val().get_bit(1) {
            self.next_order.next = (self.order.val() & 62) | 24;
        }
        if self.chosen.val().get_bit(2) {
            self.next_order.next = (self.order.val() & 53) | 32;
        }
        if self.chosen.val().get_bit(3) {
            self.next_order.next = self.order.val() & 11;
        }

        comment!("a filled block is clean unless it is updated");
        self.next_dirty.next = self.dirty.val();
        if self.update_i.val() {
            self.next_dirty.next = self.dirty.val() | self.chosen.val();
        } else if !self.hit.val() {
            self.next_dirty.next = self.dirty.val() & !self.chosen.val();
        }

        drive!(self; hit_o: hit, way_o: way);
        self.evicts_dirty_o.next =
            !self.hit.val() & (self.chosen.val() & self.valid.val() & self.dirty.val()).any();
        drive!(self; victim_tag_o: victim_tag, tags_o: tags);
        self.state_o.next = (bit_cast::<STATE_BITS, 4>(self.valid.val() | self.chosen.val()) << 10)
            | (bit_cast::<STATE_BITS, 4>(self.next_dirty.val()) << 6)
            | bit_cast::<STATE_BITS, 6>(self.next_order.val());
    }
}
