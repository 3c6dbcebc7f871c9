//! The throttle of low-priority deployment.

use super::super::params::{AwcParams, COUNT_BITS, UNITS, WINDOW_BITS};
use selvedge_hw::rtl::prelude::*;

const _: () = assert!(UNITS == 3 && COUNT_BITS == WINDOW_BITS + 1);

rtl_block! {
    /// Reports whether the SM had resources to spare in the last window of cycles.
    ///
    /// It had none if a class of units was busy in more than BUSY_LIMIT cycles or if fewer than IDLE_LIMIT cycles were idle.
    #[new(params: &AwcParams)]
    pub struct Throttle {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: low priority is not throttled
        pub rst_ni: Signal<In, Bit>,
        /// classes of units that are busy, one bit each
        pub busy_i: Signal<In, U<UNITS>>,
        /// no scheduler issues for a regular warp or at high priority
        pub idle_i: Signal<In, Bit>,
        /// the SM had no resources to spare in the last window
        pub throttled_o: Signal<Out, Bit>,
        /// busy cycles of each class in the current window
        busy: [Reg<U<COUNT_BITS>>; UNITS] = std::array::from_fn(|_| Reg::default()),
        idle: Reg<U<COUNT_BITS>>,
        cycle: Reg<U<WINDOW_BITS>>,
        pub(in crate::awc::rtl) throttled: Reg<Bit>,
        busy_limit: Constant<U<COUNT_BITS>> = Constant::new(U::new(u64::from(params.busy_limit))),
        idle_limit: Constant<U<COUNT_BITS>> = Constant::new(U::new(u64::from(params.idle_limit))),
        count: Signal<Local, U<COUNT_BITS>>,
        scarce: Signal<Local, Bit>,
        window_ends: Signal<Local, Bit>,
    }
}

#[hdl_gen]
impl Logic for Throttle {
    fn update(&mut self) {
        dff_setup!(self, clk_i, idle, cycle, throttled);
        for unit in 0..3 {
            dff_setup!(self, clk_i, busy[unit]);
        }
        self.window_ends.next = self.cycle.q.val().all();
        self.cycle.d.next = self.cycle.q.val() + 1;

        comment!("count the last cycle of a window in it, then reset all counts");
        self.scarce.next = false;
        for unit in 0..3 {
            self.count.next = self.busy[unit].q.val() + self.busy_i.val().get_bit(unit);
            self.scarce.next = self.scarce.val() | (self.count.val() > self.busy_limit.val());
            if self.window_ends.val() {
                self.count.next = 0.into();
            }
            self.busy[unit].d.next = self.count.val();
        }
        self.count.next = self.idle.q.val() + self.idle_i.val();
        self.scarce.next = self.scarce.val() | (self.count.val() < self.idle_limit.val());
        if self.window_ends.val() {
            drive!(self; count: 0, throttled.d: scarce);
        }
        drive!(self; idle.d: count, throttled_o: throttled.q);
    }
}
