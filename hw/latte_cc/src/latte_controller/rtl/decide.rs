//! The decision unit: division, multiplication and comparison, one bit per cycle. It copies its inputs at the start.

use super::super::params::LatteControllerParams;
use selvedge_hw::rtl::circuit::Part as _;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Computes the two means of latency tolerance by long division, one bit of both quotients per cycle.
    ///
    /// Twelve steps give the mean of warps with 6 fractional bits and the mean of cycles with 4.
    pub struct MeanDivider {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// load the sums
        pub start_i: Signal<In, Bit>,
        /// perform one step
        pub step_i: Signal<In, Bit>,
        /// number of schedules; 0 makes both means zero
        pub schedules_i: Signal<In, U<10>>,
        /// sum of available warps, less than 64 per schedule
        pub warps_i: Signal<In, U<16>>,
        /// sum of executed cycles, less than 256 per schedule
        pub cycles_i: Signal<In, U<18>>,
        /// mean of available warps, in 1/64
        pub mean_warps_o: Signal<Out, U<12>>,
        /// mean of executed cycles, in 1/16
        pub mean_cycles_o: Signal<Out, U<12>>,
        schedules: DataReg<U<10>>,
        /// remainder of the sum of warps
        warps: DataReg<U<16>>,
        /// remainder of the sum of cycles
        cycles: DataReg<U<18>>,
        mean_warps: DataReg<U<12>>,
        mean_cycles: DataReg<U<12>>,
        warps_divisor: Signal<Local, U<16>>,
        cycles_divisor: Signal<Local, U<18>>,
        any: Signal<Local, Bit>,
        warps_bit: Signal<Local, Bit>,
        cycles_bit: Signal<Local, Bit>,
    }
}

#[hdl_gen]
impl Logic for MeanDivider {
    fn update(&mut self) {
        dff_setup!(self, clk_i, schedules, warps, cycles, mean_warps, mean_cycles);

        comment!("restoring division: the remainder shifts left past a fixed divisor");
        self.warps_divisor.next = bit_cast::<16, 10>(self.schedules.q.val()) << 5;
        self.cycles_divisor.next = bit_cast::<18, 10>(self.schedules.q.val()) << 7;
        self.any.next = self.schedules.q.val().any();
        self.warps_bit.next = self.any.val() & (self.warps.q.val() >= self.warps_divisor.val());
        self.cycles_bit.next = self.any.val() & (self.cycles.q.val() >= self.cycles_divisor.val());

        if self.start_i.val() {
            drive!(self; schedules.d: schedules_i, warps.d: warps_i, cycles.d: cycles_i);
        } else if self.step_i.val() {
            comment!("shift the bit in; an addition would keep unknown bits");
            self.mean_warps.d.next =
                (self.mean_warps.q.val() << 1) | bit_cast_to::<U<12>>(self.warps_bit.val());
            self.mean_cycles.d.next =
                (self.mean_cycles.q.val() << 1) | bit_cast_to::<U<12>>(self.cycles_bit.val());
            if self.warps_bit.val() {
                self.warps.d.next = (self.warps.q.val() - self.warps_divisor.val()) << 1;
            } else {
                self.warps.d.next = self.warps.q.val() << 1;
            }
            if self.cycles_bit.val() {
                self.cycles.d.next = (self.cycles.q.val() - self.cycles_divisor.val()) << 1;
            } else {
                self.cycles.d.next = self.cycles.q.val() << 1;
            }
        }
        drive!(self; mean_warps_o: mean_warps.q, mean_cycles_o: mean_cycles.q);
    }
}

rtl_block! {
    /// Chooses the mode with the lowest average memory access time (AMAT), 54 cycles after its start.
    ///
    /// Five phases: two means by division (12 cycles), their product (12), the cost of each mode (10), and two comparisons by
    /// cross-multiplication (10 each). Every product is computed from its highest bit down. Modes are 0 none, 1 low-latency, 2
    /// high-capacity.
    #[new(params: &LatteControllerParams)]
    pub struct AmatDecision {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: mode none
        pub rst_ni: Signal<In, Bit>,
        /// load the inputs and begin
        pub start_i: Signal<In, Bit>,
        /// hits of each mode
        pub hits_i: [Signal<In, U<10>>; 3] = array(),
        /// insertions of each mode
        pub misses_i: [Signal<In, U<9>>; 3] = array(),
        /// hit latency of the low-latency mode, in sixteenths
        pub low_latency_i: Signal<In, U<12>>,
        /// hit latency of the high-capacity mode, in sixteenths
        pub high_latency_i: Signal<In, U<12>>,
        /// miss latency, in sixteenths
        pub miss_latency_i: Signal<In, U<16>>,
        /// schedules of the EP
        pub schedules_i: Signal<In, U<10>>,
        /// sum of available warps
        pub warps_i: Signal<In, U<16>>,
        /// sum of executed cycles
        pub cycles_i: Signal<In, U<18>>,
        /// the chosen mode
        pub mode_o: Signal<Out, U<2>>,
        /// the mode was decided at the last clock edge
        pub decided_o: Signal<Out, Bit>,
        /// latency tolerance at that decision, in cycles
        pub tolerance_o: Signal<Out, U<14>>,
        idle: Constant<U<3>> = Constant::new(0.into()),
        divide: Constant<U<3>> = Constant::new(1.into()),
        multiply: Constant<U<3>> = Constant::new(2.into()),
        sum_costs: Constant<U<3>> = Constant::new(3.into()),
        compare_low: Constant<U<3>> = Constant::new(4.into()),
        compare_high: Constant<U<3>> = Constant::new(5.into()),
        /// the highest bit of a mean
        mean_top: Constant<U<4>> = Constant::new(11.into()),
        /// the highest bit of a count
        count_top: Constant<U<4>> = Constant::new(9.into()),
        /// 0 AMAT with latency tolerance, 1 hit count, 2 AMAT without tolerance
        policy: Constant<U<2>> = Constant::new(U::new(u64::from(params.policy))),
        divider: MeanDivider,
        phase: Reg<U<3>>,
        /// bit that this cycle handles
        step: Reg<U<4>>,
        hits: [DataReg<U<10>>; 3] = array(),
        misses: [DataReg<U<9>>; 3] = array(),
        low_latency: DataReg<U<12>>,
        high_latency: DataReg<U<12>>,
        miss_latency: DataReg<U<16>>,
        /// latency tolerance with 10 fractional bits
        product: DataReg<U<24>>,
        cost: [DataReg<U<25>>; 3] = array(),
        /// cost of the better mode so far x accesses of the next mode, minus the reverse; two's complement
        difference: DataReg<U<36>>,
        low_is_better: DataReg<Bit>,
        pub(super) mode: Reg<U<2>>,
        pub(super) decided: Reg<Bit>,
        pub(super) tolerance: Reg<U<14>>,
        last: Signal<Local, Bit>,
        hidden: Signal<Local, U<18>>,
        per_hit: [Signal<Local, U<12>>; 3] = array(),
        charge: Signal<Local, U<12>>,
        sum: Signal<Local, U<25>>,
        insertions: Signal<Local, U<9>>,
        accesses: [Signal<Local, U<10>>; 3] = array(),
        best_cost: Signal<Local, U<25>>,
        best_accesses: Signal<Local, U<10>>,
        best_hits: Signal<Local, U<10>>,
        next_cost: Signal<Local, U<25>>,
        next_accesses: Signal<Local, U<10>>,
        next_hits: Signal<Local, U<10>>,
        next_difference: Signal<Local, U<36>>,
        better: Signal<Local, Bit>,
    }
}

impl AmatDecision {
    /// See [`Attentive::ignores_inputs`](selvedge_hw::rtl::circuit::Attentive::ignores_inputs). The counts and sums at the
    /// inputs change all the time, but only a start loads them.
    #[inline]
    fn ignores_inputs(&mut self) -> bool {
        let starts = self.start_i.next || self.start_i.val();
        self.phase.q.next == self.idle.val() && !starts && !self.rst_ni.has_input(false)
    }
}

#[hdl_gen]
impl Logic for AmatDecision {
    fn update(&mut self) {
        dff_setup!(self, clk_i, phase, step, low_latency, high_latency, miss_latency, product, difference);
        dff_setup!(self, clk_i, low_is_better, mode, decided, tolerance);
        for lane in 0..3 {
            dff_setup!(self, clk_i, hits[lane], misses[lane], cost[lane]);
        }
        drive!(self.divider; clk_i, rst_ni);

        comment!("each phase processes its bits from high to low; the last phase decides");
        self.last.next = self.step.q.val() == 0;
        if self.start_i.val() {
            drive!(self; phase.d: divide, step.d: mean_top);
        } else if self.phase.q.val() != self.idle.val() {
            self.step.d.next = self.step.q.val() - 1;
            if self.last.val() {
                self.phase.d.next = self.phase.q.val() + 1;
                self.step.d.next = self.count_top.val();
                if self.phase.q.val() == self.divide.val() {
                    self.step.d.next = self.mean_top.val();
                }
                if self.phase.q.val() == self.compare_high.val() {
                    self.phase.d.next = self.idle.val();
                }
            }
        }
        if self.start_i.val() {
            for lane in 0..3 {
                drive!(self; hits[lane].d: hits_i[lane], misses[lane].d: misses_i[lane]);
            }
            drive!(self; low_latency.d: low_latency_i, high_latency.d: high_latency_i,
                miss_latency.d: miss_latency_i);
        }

        comment!("latency tolerance: the product of two means");
        self.divider.start_i.next = self.start_i.val();
        self.divider.step_i.next = self.phase.q.val() == self.divide.val();
        drive!(self.divider; schedules_i, warps_i, cycles_i);
        if self.start_i.val() {
            self.product.d.next = 0.into();
        } else if self.phase.q.val() == self.multiply.val() {
            self.product.d.next = self.product.q.val() << 1;
            if self.divider.mean_warps_o.val().get_bit(self.step.q.val().index()) {
                self.product.d.next =
                    (self.product.q.val() << 1) + bit_cast::<24, 12>(self.divider.mean_cycles_o.val());
            }
        }

        comment!("cost of a hit: its latency minus the latency that the pipeline hides");
        self.hidden.next = self.product.q.val().get_bits::<18>(6);
        if self.policy.val() == 2 {
            self.hidden.next = 0.into();
        }
        for lane in 0..3 {
            drive!(self; per_hit[lane]: 0, insertions: misses[lane].q);
            self.accesses[lane].next = self.hits[lane].q.val() + bit_cast::<10, 9>(self.insertions.val());
        }
        if bit_cast::<18, 12>(self.low_latency.q.val()) > self.hidden.val() {
            self.per_hit[1].next = self.low_latency.q.val() - bit_cast::<12, 18>(self.hidden.val());
        }
        if bit_cast::<18, 12>(self.high_latency.q.val()) > self.hidden.val() {
            self.per_hit[2].next = self.high_latency.q.val() - bit_cast::<12, 18>(self.hidden.val());
        }

        comment!("cost of a mode = hits x hit cost + misses x miss latency");
        for lane in 0..3 {
            self.charge.next = self.per_hit[lane].val();
            self.sum.next = self.cost[lane].q.val() << 1;
            if self.hits[lane].q.val().get_bit(self.step.q.val().index()) {
                self.sum.next = self.sum.val() + bit_cast::<25, 12>(self.charge.val());
            }
            if self.misses[lane].q.val().get_bit(self.step.q.val().index()) {
                self.sum.next = self.sum.val() + bit_cast::<25, 16>(self.miss_latency.q.val());
            }
            if self.start_i.val() {
                self.cost[lane].d.next = 0.into();
            } else if self.phase.q.val() == self.sum_costs.val() {
                self.cost[lane].d.next = self.sum.val();
            }
        }

        comment!("compare no compression with low-latency, then the better one with high-capacity");
        drive!(self; best_cost: cost[0].q, best_accesses: accesses[0], best_hits: hits[0].q,
            next_cost: cost[1].q, next_accesses: accesses[1], next_hits: hits[1].q);
        if self.phase.q.val() == self.compare_high.val() {
            if self.low_is_better.q.val() {
                drive!(self; best_cost: cost[1].q, best_accesses: accesses[1], best_hits: hits[1].q);
            }
            drive!(self; next_cost: cost[2].q, next_accesses: accesses[2], next_hits: hits[2].q);
        }
        self.next_difference.next = self.difference.q.val() << 1;
        if self.next_accesses.val().get_bit(self.step.q.val().index()) {
            self.next_difference.next = self.next_difference.val() + bit_cast::<36, 25>(self.best_cost.val());
        }
        if self.best_accesses.val().get_bit(self.step.q.val().index()) {
            self.next_difference.next = self.next_difference.val() - bit_cast::<36, 25>(self.next_cost.val());
        }
        comment!(
            "the next mode is better if its cost per access is lower or its hits are more; ties keep the mode"
        );
        self.better.next = self.next_difference.val().any() & !self.next_difference.val().get_bit(35);
        if self.policy.val() == 1 {
            self.better.next = self.next_hits.val() > self.best_hits.val();
        }
        self.difference.d.next = 0.into();
        if !self.last.val() & (self.phase.q.val() >= self.compare_low.val()) {
            self.difference.d.next = self.next_difference.val();
        }

        self.decided.d.next = false;
        if self.last.val() & (self.phase.q.val() == self.compare_low.val()) {
            self.low_is_better.d.next = self.better.val();
        }
        if self.last.val() & (self.phase.q.val() == self.compare_high.val()) {
            self.decided.d.next = true;
            self.tolerance.d.next = self.product.q.val().get_bits::<14>(10);
            if self.better.val() {
                self.mode.d.next = 2.into();
            } else {
                self.mode.d.next = bit_cast_to::<U<2>>(self.low_is_better.q.val());
            }
        }
        drive!(self; mode_o: mode.q, decided_o: decided.q, tolerance_o: tolerance.q);
    }
}
