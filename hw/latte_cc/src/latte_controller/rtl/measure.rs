//! The controller's measurements: running means of latencies, and the sums for latency tolerance.

use super::super::params::LatteControllerParams;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Computes a running mean in which each new value has a weight of 1/16.
    ///
    /// VALUE is the width of a value. The mean has 8 fractional bits (MEAN bits in all). The output has 4 of them (SHOWN bits).
    #[new(first: u32)]
    #[require(MEAN == VALUE + 8 && SHOWN == VALUE + 4)]
    pub struct RunningMean<const VALUE: usize, const MEAN: usize, const SHOWN: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: the mean is its initial value
        pub rst_ni: Signal<In, Bit>,
        /// a new value arrives
        pub sample_i: Signal<In, Bit>,
        /// the new value
        pub value_i: Signal<In, U<VALUE>>,
        /// mean of the earlier values, in sixteenths
        pub mean_o: Signal<Out, U<SHOWN>>,
        mean: Reg<U<MEAN>> = Reg::new(U::new(u64::from(first) << 8)),
    }
}

#[hdl_gen]
impl Logic for RunningMean {
    fn update(&mut self) {
        dff_setup!(self, clk_i, mean);
        if self.sample_i.val() {
            comment!("exponential mean with weight 1/16");
            self.mean.d.next = self.mean.q.val() - (self.mean.q.val() >> 4)
                + (bit_cast::<MEAN, VALUE>(self.value_i.val()) << 4);
        }
        self.mean_o.next = self.mean.q.val().get_bits::<SHOWN>(4);
    }
}

rtl_block! {
    /// Sums over the schedules that ended in an EP: their number, the warps available at their ends, and the cycles they
    /// executed.
    ///
    /// When the number reaches its limit, all sums are halved, which keeps their quotients. S schedulers have ALL_WARPS bits of
    /// warps and ALL_CYCLES bits of cycles.
    #[new(params: &LatteControllerParams)]
    #[require(ALL_WARPS == 6 * S && ALL_CYCLES == 8 * S)]
    pub struct ScheduleSums<const S: usize, const ALL_WARPS: usize, const ALL_CYCLES: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// the sums restart with this cycle's schedules
        pub restart_i: Signal<In, Bit>,
        /// schedules that ended, one bit per scheduler
        pub schedule_i: Signal<In, U<S>>,
        /// warps available to each scheduler
        pub warps_i: Signal<In, U<ALL_WARPS>>,
        /// cycles that each schedule executed
        pub cycles_i: Signal<In, U<ALL_CYCLES>>,
        /// schedules, before this cycle
        pub schedules_o: Signal<Out, U<10>>,
        /// sum of the warps, before this cycle
        pub warps_o: Signal<Out, U<16>>,
        /// sum of the cycles, before this cycle
        pub cycles_o: Signal<Out, U<18>>,
        schedules: Reg<U<10>>,
        warps: Reg<U<16>>,
        cycles: Reg<U<18>>,
        /// number of schedules at which the sums are halved
        full: Constant<U<10>> = Constant::new(U::new(u64::from(params.full()))),
        next_schedules: Signal<Local, U<10>>,
        next_warps: Signal<Local, U<16>>,
        next_cycles: Signal<Local, U<18>>,
        more_warps: Signal<Local, U<6>>,
        more_cycles: Signal<Local, U<8>>,
    }
}

#[hdl_gen]
impl Logic for ScheduleSums {
    fn update(&mut self) {
        dff_setup!(self, clk_i, schedules, warps, cycles);
        drive!(self; next_schedules: schedules.q, next_warps: warps.q, next_cycles: cycles.q);
        if self.restart_i.val() {
            drive!(self; next_schedules: 0, next_warps: 0, next_cycles: 0);
        } else if self.schedules.q.val() >= self.full.val() {
            self.next_schedules.next = self.schedules.q.val() >> 1;
            self.next_warps.next = self.warps.q.val() >> 1;
            self.next_cycles.next = self.cycles.q.val() >> 1;
        }
        for scheduler in 0..S {
            self.more_warps.next = self.warps_i.val().get_bits::<6>(scheduler * 6);
            self.more_cycles.next = self.cycles_i.val().get_bits::<8>(scheduler * 8);
            if self.schedule_i.val().get_bit(scheduler) {
                self.next_schedules.next = self.next_schedules.val() + 1;
                self.next_warps.next = self.next_warps.val() + bit_cast::<16, 6>(self.more_warps.val());
                self.next_cycles.next = self.next_cycles.val() + bit_cast::<18, 8>(self.more_cycles.val());
            }
        }
        drive!(self; schedules.d: next_schedules, warps.d: next_warps, cycles.d: next_cycles,
            schedules_o: schedules.q, warps_o: warps.q, cycles_o: cycles.q);
    }
}
