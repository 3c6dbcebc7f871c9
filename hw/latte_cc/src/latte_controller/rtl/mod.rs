//! RTL of the LATTE-CC controller: EPs and periods, dedicated sets and their counters, and the units that measure and decide.

mod decide;
mod measure;

use super::params::FIRST_LATENCIES;
use super::params::LatteControllerParams;
use decide::AmatDecision;
use measure::{RunningMean, ScheduleSums};
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top;

rtl_block! {
    /// Finds the mode that a set is dedicated to, as a residue: 0, 1 and 2 are modes, any other number is no mode.
    ///
    /// SET is the width of a set number. Its upper two bits are the quarter; its other REST bits count the sets of the quarter.
    #[require(REST == SET - 2)]
    pub struct DedicatedSets<const SET: usize, const REST: usize> {
        /// set number
        pub set_i: Signal<In, U<SET>>,
        /// the set is dedicated
        pub dedicated_o: Signal<Out, Bit>,
        /// mode that the set is dedicated to
        pub mode_o: Signal<Out, U<2>>,
        rest: Signal<Local, U<REST>>,
        quarter: Signal<Local, U<2>>,
        residue: Signal<Local, U<REST>>,
    }
}

#[hdl_gen]
impl Logic for DedicatedSets {
    fn update(&mut self) {
        comment!(
            "one dedicated set per mode in each quarter, at a different offset in each: 3 x rest - quarter"
        );
        self.rest.next = self.set_i.val().get_bits::<REST>(0);
        self.quarter.next = self.set_i.val().get_bits::<2>(REST);
        self.residue.next =
            self.rest.val() + (self.rest.val() << 1) - bit_cast::<REST, 2>(self.quarter.val());
        self.dedicated_o.next = self.residue.val() < 3;
        self.mode_o.next = self.residue.val().get_bits::<2>(0);
    }
}

rtl_module! {
    /// Chooses an L1D's compression mode by set sampling, hit latency and the pipeline's latency tolerance.
    ///
    /// LATTE-CC, section III. SET is the width of a set number, REST two less. S schedulers have ALL_WARPS bits of warps and
    /// ALL_CYCLES bits of cycles.
    pub struct LatteControllerTop<
        const SET: usize, const REST: usize, const S: usize, const ALL_WARPS: usize, const ALL_CYCLES: usize,
    > for LatteControllerParams as p {
        reset "asynchronous reset, active low: the first EP of the first period begins, mode none";
        inputs LatteControllerIn {
            /// the L1D is accessed
            access_i: bool as Bit = 1,
            /// set of the access
            set_i: u8 as U<SET> = p.sets.ilog2() as usize,
            /// the access hits
            hit_i: bool as Bit = 1,
            /// the access misses and will insert a line
            insert_i: bool as Bit = 1,
            /// schedules that ended, one bit per scheduler
            schedule_i: u8 as U<S> = p.schedulers as usize,
            /// warps available to each scheduler at the end of its schedule
            warps_i: u64 as U<ALL_WARPS> = 6 * p.schedulers as usize,
            /// cycles that each schedule executed
            cycles_i: u64 as U<ALL_CYCLES> = 8 * p.schedulers as usize,
            /// a line of the low-latency mode was hit
            low_hit_i: bool as Bit = 1,
            /// effective hit latency of that line, in cycles
            low_latency_i: u8 as U<8> = 8,
            /// a line of the high-capacity mode was hit
            high_hit_i: bool as Bit = 1,
            /// effective hit latency of that line, in cycles
            high_latency_i: u8 as U<8> = 8,
            /// a miss returned
            miss_return_i: bool as Bit = 1,
            /// round trip of that miss, in cycles
            miss_latency_i: u16 as U<12> = 12,
            /// set to look up
            lookup_set_i: u8 as U<SET> = p.sets.ilog2() as usize,
        }
        outputs LatteControllerOut {
            /// mode of the set that was looked up in the last cycle
            lookup_mode_o: u8 as U<2> = 2,
            /// that set is dedicated to its mode
            lookup_dedicated_o: bool as Bit = 1,
            /// the chosen mode: 0 none, 1 low-latency, 2 high-capacity
            mode_o: u8 as U<2> = 2,
            /// a decision was made at the last clock edge
            decided_o: bool as Bit = 1,
            /// latency tolerance of the last decision, in cycles
            tolerance_o: u16 as U<14> = 14,
            /// this EP learns
            learning_o: bool as Bit = 1,
            /// an EP ended with the last cycle
            ep_end_o: bool as Bit = 1,
            /// the statistical codec counts values in this EP
            build_o: bool as Bit = 1,
            /// an EP with build_o high ended with the last cycle
            new_codes_o: bool as Bit = 1,
        }
        parts {
            accessed_set: Gate<DedicatedSets<SET, REST>>,
            looked_up_set: Gate<DedicatedSets<SET, REST>>,
            low_latency: RunningMean<8, 16, 12> = RunningMean::new(FIRST_LATENCIES[0]),
            high_latency: RunningMean<8, 16, 12> = RunningMean::new(FIRST_LATENCIES[1]),
            miss_latency: RunningMean<12, 20, 16> = RunningMean::new(FIRST_LATENCIES[2]),
            sums: ScheduleSums<S, ALL_WARPS, ALL_CYCLES> = ScheduleSums::new(p),
            decision: Idle<AmatDecision> = Idle::new(AmatDecision::new(p)),
            /// accesses of this EP
            accesses: Reg<U<8>>,
            /// EPs of this period
            ep: Reg<U<4>>,
            first_period: Reg<Bit> = Reg::new(true),
            ep_ended: Reg<Bit>,
            new_codes: Reg<Bit>,
            hits: [Reg<U<10>>; 3] = array(),
            misses: [Reg<U<9>>; 3] = array(),
            lookup_mode: Reg<U<2>>,
            lookup_dedicated: Reg<Bit>,
            last_access: Constant<U<8>> = Constant::new(U::new(u64::from(p.ep_accesses - 1))),
            last_ep: Constant<U<4>> = Constant::new(U::new(u64::from(p.period_eps - 1))),
            learning: Signal<Local, Bit>,
            build: Signal<Local, Bit>,
            ep_ends: Signal<Local, Bit>,
            counts: Signal<Local, Bit>,
            next_hits: Signal<Local, U<10>>,
            next_misses: Signal<Local, U<9>>,
        }
        upset by strike;
    }
}

#[hdl_gen(layouts! { warps_i: { warps[S]: 6 }, cycles_i: { cycles[S]: 8 } })]
impl Logic for LatteControllerTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, accesses, ep, first_period, ep_ended, new_codes, lookup_mode);
        dff_setup!(self, clk_i, lookup_dedicated);
        for mode in 0..3 {
            dff_setup!(self, clk_i, hits[mode], misses[mode]);
        }

        comment!("count accesses per EP, and EPs per period");
        self.learning.next = self.ep.q.val() == 0;
        self.build.next =
            (self.ep.q.val() == self.last_ep.val()) | (self.learning.val() & self.first_period.q.val());
        self.ep_ends.next = self.access_i.val() & (self.accesses.q.val() == self.last_access.val());
        self.ep_ended.d.next = self.ep_ends.val();
        self.new_codes.d.next = self.ep_ends.val() & self.build.val();
        self.accesses.d.next = self.accesses.q.val() + self.access_i.val();
        if self.ep_ends.val() {
            self.accesses.d.next = 0.into();
            self.ep.d.next = self.ep.q.val() + 1;
            if self.ep.q.val() == self.last_ep.val() {
                drive!(self; ep.d: 0, first_period.d: false);
            }
        }

        comment!("dedicated sets: insertions count while learning, hits for one EP more");
        self.accessed_set.set_i.next = self.set_i.val();
        for mode in 0..3 {
            drive!(self; next_hits: hits[mode].q, next_misses: misses[mode].q);
            if self.learning.val() & self.ep_ended.q.val() {
                drive!(self; next_hits: 0, next_misses: 0);
            }
            self.counts.next = self.access_i.val()
                & self.accessed_set.dedicated_o.val()
                & (self.accessed_set.mode_o.val() == mode.to_bits::<2>());
            self.hits[mode].d.next =
                self.next_hits.val() + (self.counts.val() & self.hit_i.val() & (self.ep.q.val() < 2));
            self.misses[mode].d.next = self.next_misses.val()
                + (self.counts.val() & !self.hit_i.val() & self.insert_i.val() & self.learning.val());
        }

        comment!("latencies and schedules");
        drive!(self.low_latency; clk_i, rst_ni, sample_i: low_hit_i, value_i: low_latency_i);
        drive!(self.high_latency; clk_i, rst_ni, sample_i: high_hit_i, value_i: high_latency_i);
        drive!(self.miss_latency; clk_i, rst_ni, sample_i: miss_return_i, value_i: miss_latency_i);
        drive!(self.sums; clk_i, rst_ni, restart_i: ep_ended.q, schedule_i, warps_i, cycles_i);

        comment!("the first cycle of an EP judges the one before");
        drive!(self.decision; clk_i, rst_ni, start_i: ep_ended.q);
        for mode in 0..3 {
            drive!(self.decision; hits_i[mode]: hits[mode].q, misses_i[mode]: misses[mode].q);
        }
        drive!(self.decision; low_latency_i: low_latency.mean_o, high_latency_i: high_latency.mean_o,
            miss_latency_i: miss_latency.mean_o, schedules_i: sums.schedules_o, warps_i: sums.warps_o,
            cycles_i: sums.cycles_o);

        comment!("a set's mode: its own if it is dedicated and the EP learns, else the chosen one");
        self.looked_up_set.set_i.next = self.lookup_set_i.val();
        self.lookup_dedicated.d.next = self.learning.val() & self.looked_up_set.dedicated_o.val();
        self.lookup_mode.d.next = self.decision.mode_o.val();
        if self.learning.val() & self.looked_up_set.dedicated_o.val() {
            self.lookup_mode.d.next = self.looked_up_set.mode_o.val();
        }

        drive!(self; lookup_mode_o: lookup_mode.q, lookup_dedicated_o: lookup_dedicated.q, decision.mode_o,
            decision.decided_o, decision.tolerance_o, learning_o: learning, ep_end_o: ep_ended.q,
            build_o: build, new_codes_o: new_codes.q);
    }
}

impl<const SET: usize, const REST: usize, const S: usize, const ALL_WARPS: usize, const ALL_CYCLES: usize>
    LatteControllerTop<SET, REST, S, ALL_WARPS, ALL_CYCLES>
{
    /// Inverts a bit of the registers behind the outputs. It wakes the decision unit first, which may be idle.
    fn strike(&mut self, bit: usize) {
        self.decision.wake();
        let decision = &mut *self.decision;
        top::strike(
            &mut [
                &mut self.lookup_mode,
                &mut self.lookup_dedicated,
                &mut decision.mode,
                &mut decision.decided,
                &mut decision.tolerance,
                &mut self.ep_ended,
                &mut self.new_codes,
            ],
            bit,
        );
    }
}

elaborate! {
    /// Returns the LATTE-CC controller for valid parameters.
    pub(super) fn latte_controller(
        params: &LatteControllerParams as PARAMS
    ) -> Box<dyn RtlBlock<LatteControllerIn, LatteControllerOut>> {
        for schedulers in [2, 4, 8] {
            for sets in [32, 64, 128, 256] {
                LatteControllerTop {
                    SET = PARAMS.sets.ilog2() as usize,
                    REST = SET - 2,
                    S = PARAMS.schedulers as usize,
                    ALL_WARPS = 6 * S,
                    ALL_CYCLES = 8 * S,
                }
            }
        }
    }
}
