//! One access to a set of shadow tags.

use super::{AGE_BITS, AGES_BITS};
use crate::bpg::WAYS;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// One access to a set of tags under LRU replacement: is the tag there, and what is the set afterwards?
    ///
    /// TAG is the width of a tag, LINE that of a set's tags. The way that is touched is the one that has the tag, or else
    /// the oldest; it becomes the youngest, and those that were younger age.
    #[derive(LogicBlock, Default)]
    pub struct LruAccess<const TAG: usize, const LINE: usize, const WORDS: usize> {
        /// the tag that is looked up
        pub tag_i: Signal<In, U<TAG>>,
        /// the set's tags
        pub tags_i: Signal<In, W<LINE, WORDS>>,
        /// which of them are valid
        pub valid_i: Signal<In, U<WAYS>>,
        /// the age of each way, 0 to 3, all different
        pub ages_i: Signal<In, U<AGES_BITS>>,
        /// the tag is there
        pub hit_o: Signal<Out, Bit>,
        /// the set's tags afterwards
        pub tags_o: Signal<Out, W<LINE, WORDS>>,
        /// which of them are valid afterwards
        pub valid_o: Signal<Out, U<WAYS>>,
        /// the ages afterwards
        pub ages_o: Signal<Out, U<AGES_BITS>>,
        hit: Signal<Local, Bit>,
        way_tag: Signal<Local, U<TAG>>,
        age: Signal<Local, U<AGE_BITS>>,
        /// age of the way that is touched
        touched: Signal<Local, U<AGE_BITS>>,
        tags: Signal<Local, W<LINE, WORDS>>,
        valid: Signal<Local, U<WAYS>>,
        ages: Signal<Local, U<AGES_BITS>>,
    }
}

impl<const TAG: usize, const LINE: usize, const WORDS: usize> Logic for LruAccess<TAG, LINE, WORDS> {
    #[hdl_gen]
    fn update(&mut self) {
        self.hit.next = false;
        self.touched.next = 3.into();
        for way in 0..4 {
            self.way_tag.next = self.tags_i.val().get_bits::<TAG>(way * TAG);
            if self.valid_i.val().get_bit(way) & (self.way_tag.val() == self.tag_i.val()) {
                self.hit.next = true;
                self.touched.next = self.ages_i.val().get_bits::<AGE_BITS>(way * 2);
            }
        }

        self.tags.next = self.tags_i.val();
        self.valid.next = self.valid_i.val();
        self.ages.next = self.ages_i.val();
        for way in 0..4 {
            self.age.next = self.ages_i.val().get_bits::<AGE_BITS>(way * 2);
            if self.age.val() == self.touched.val() {
                self.tags.next = self.tags.val().replace_bit(way * TAG, self.tag_i.val());
                self.valid.next = self.valid.val().replace_bit(way, true);
                self.age.next = 0.into();
            } else if self.age.val() < self.touched.val() {
                self.age.next = self.age.val() + 1;
            }
            self.ages.next = self.ages.val().replace_bit(way * 2, self.age.val());
        }
        self.hit_o.next = self.hit.val();
        self.tags_o.next = self.tags.val();
        self.valid_o.next = self.valid.val();
        self.ages_o.next = self.ages.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
