//! Hits subtracted for reservation failures, for every L.

use crate::bpg::params::{HALF_BITS, LEVELS, RSFAIL_BITS};
use selvedge_hw::rtl::prelude::*;

/// Width of failures times L cubed.
const PRODUCT_BITS: usize = RSFAIL_BITS + 10;

rtl_block! {
    /// Half of the estimated reservation failures for L = 1 to 8: failures times L^3 / 1024.
    ///
    /// For an even L, the product is that of L / 2, shifted left by 3. The products of odd L share their sums: 27 = 3 + 8 x 3,
    /// 125 = 128 - 3, 343 = 8 x 27 + 128 - 1.
    pub struct HalfFailures {
        /// reservation failures
        pub rsfails_i: Signal<In, U<RSFAIL_BITS>>,
        /// half of the estimate for L = 1 to 8
        pub half_o: [Signal<Out, U<HALF_BITS>>; LEVELS] = array(),
        times_1: Signal<Local, U<PRODUCT_BITS>>,
        times_3: Signal<Local, U<PRODUCT_BITS>>,
        times_27: Signal<Local, U<PRODUCT_BITS>>,
        times_125: Signal<Local, U<PRODUCT_BITS>>,
        times_343: Signal<Local, U<PRODUCT_BITS>>,
    }
}

#[hdl_gen]
impl Logic for HalfFailures {
    fn update(&mut self) {
        self.times_1.next = bit_cast::<PRODUCT_BITS, RSFAIL_BITS>(self.rsfails_i.val());
        self.times_3.next = self.times_1.val() + (self.times_1.val() << 1);
        self.times_27.next = self.times_3.val() + (self.times_3.val() << 3);
        self.times_125.next = (self.times_1.val() << 7) - self.times_3.val();
        self.times_343.next = (self.times_27.val() << 3) + ((self.times_1.val() << 7) - self.times_1.val());
        self.half_o[0].next = bit_cast::<HALF_BITS, PRODUCT_BITS>(self.times_1.val() >> 10);
        self.half_o[1].next = bit_cast::<HALF_BITS, PRODUCT_BITS>(self.times_1.val() >> 7);
        self.half_o[2].next = bit_cast::<HALF_BITS, PRODUCT_BITS>(self.times_27.val() >> 10);
        self.half_o[3].next = bit_cast::<HALF_BITS, PRODUCT_BITS>(self.times_1.val() >> 4);
        self.half_o[4].next = bit_cast::<HALF_BITS, PRODUCT_BITS>(self.times_125.val() >> 10);
        self.half_o[5].next = bit_cast::<HALF_BITS, PRODUCT_BITS>(self.times_27.val() >> 7);
        self.half_o[6].next = bit_cast::<HALF_BITS, PRODUCT_BITS>(self.times_343.val() >> 10);
        self.half_o[7].next = bit_cast::<HALF_BITS, PRODUCT_BITS>(self.times_1.val() >> 1);
    }
}
