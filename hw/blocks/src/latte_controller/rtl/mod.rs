//! RTL of the LATTE-CC controller: EPs and periods, dedicated sets and their counters, and the blocks that measure and decide.

mod decide;
mod measure;

use super::model::FIRST_LATENCIES;
use super::{LatteControllerIn, LatteControllerOut, LatteControllerParams};
use decide::AmatDecision;
use measure::{RunningMean, ScheduleSums};
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top::{RtlInstance, RtlTop};

rtl_block! {
    /// The mode that a set is dedicated to, as a residue: 0, 1 and 2 are modes, any other number is none.
    ///
    /// SET is the width of a set number, whose upper two bits are its quarter and whose other REST bits count within.
    #[derive(LogicBlock)]
    pub struct DedicatedSets<const SET: usize, const REST: usize> {
        /// the set
        pub set_i: Signal<In, U<SET>>,
        /// the set is dedicated
        pub dedicated_o: Signal<Out, Bit>,
        /// the mode that it is dedicated to
        pub mode_o: Signal<Out, U<2>>,
        rest: Signal<Local, U<REST>>,
        quarter: Signal<Local, U<2>>,
        residue: Signal<Local, U<REST>>,
    }
}

impl<const SET: usize, const REST: usize> Default for DedicatedSets<SET, REST> {
    fn default() -> Self {
        const { assert!(REST == SET - 2) };
        DedicatedSets {
            set_i: Signal::default(),
            dedicated_o: Signal::default(),
            mode_o: Signal::default(),
            rest: Signal::default(),
            quarter: Signal::default(),
            residue: Signal::default(),
        }
    }
}

impl<const SET: usize, const REST: usize> Logic for DedicatedSets<SET, REST> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("one set per mode in each quarter, at another place in each: 3 x rest - quarter");
        self.rest.next = self.set_i.val().get_bits::<REST>(0);
        self.quarter.next = self.set_i.val().get_bits::<2>(REST);
        self.residue.next =
            self.rest.val() + (self.rest.val() << 1) - bit_cast::<REST, 2>(self.quarter.val());
        self.dedicated_o.next = self.residue.val() < 3;
        self.mode_o.next = self.residue.val().get_bits::<2>(0);
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

rtl_block! {
    /// Chooses an L1D's compression mode by set sampling, hit latency and the pipeline's latency tolerance.
    ///
    /// LATTE-CC, section III. SET is the width of a set number, REST two less.
    #[derive(LogicBlock)]
    pub struct LatteControllerTop<const SET: usize, const REST: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: the first EP of the first period begins, mode none
        pub rst_ni: Signal<In, Bit>,
        /// the L1D is accessed
        pub access_i: Signal<In, Bit>,
        /// the set that is accessed
        pub set_i: Signal<In, U<SET>>,
        /// the access hits
        pub hit_i: Signal<In, Bit>,
        /// the access misses and will insert a line
        pub insert_i: Signal<In, Bit>,
        /// schedules that ended, a bit per scheduler
        pub schedule_i: Signal<In, U<2>>,
        /// warps available to each scheduler at the end of its schedule
        pub warps_i: Signal<In, U<12>>,
        /// cycles that each schedule executed
        pub cycles_i: Signal<In, U<16>>,
        /// a line of the low-latency mode was hit
        pub low_hit_i: Signal<In, Bit>,
        /// its effective hit latency
        pub low_latency_i: Signal<In, U<8>>,
        /// a line of the high-capacity mode was hit
        pub high_hit_i: Signal<In, Bit>,
        /// its effective hit latency
        pub high_latency_i: Signal<In, U<8>>,
        /// a miss returned
        pub miss_return_i: Signal<In, Bit>,
        /// cycles of its round trip
        pub miss_latency_i: Signal<In, U<12>>,
        /// a set whose mode is asked for
        pub lookup_set_i: Signal<In, U<SET>>,
        /// the mode of the set that was looked up in the last cycle
        pub lookup_mode_o: Signal<Out, U<2>>,
        /// that set is dedicated to its mode
        pub lookup_dedicated_o: Signal<Out, Bit>,
        /// the chosen mode: 0 none, 1 low-latency, 2 high-capacity
        pub mode_o: Signal<Out, U<2>>,
        /// the mode was decided anew at the last clock edge
        pub decided_o: Signal<Out, Bit>,
        /// latency tolerance that the last decision looked at, in cycles
        pub tolerance_o: Signal<Out, U<14>>,
        /// this EP learns
        pub learning_o: Signal<Out, Bit>,
        /// an EP ended with the last cycle
        pub ep_end_o: Signal<Out, Bit>,
        /// the statistical codec counts values in this EP
        pub build_o: Signal<Out, Bit>,
        /// such an EP ended with the last cycle
        pub new_codes_o: Signal<Out, Bit>,
        accessed_set: Gate<DedicatedSets<SET, REST>>,
        looked_up_set: Gate<DedicatedSets<SET, REST>>,
        low_latency: RunningMean<8, 16, 12>,
        high_latency: RunningMean<8, 16, 12>,
        miss_latency: RunningMean<12, 20, 16>,
        sums: ScheduleSums,
        decision: Idle<AmatDecision>,
        /// accesses of this EP
        accesses: Reg<U<8>>,
        /// EPs of this period
        ep: Reg<U<4>>,
        first_period: Reg<Bit>,
        ep_ended: Reg<Bit>,
        new_codes: Reg<Bit>,
        hits: [Reg<U<10>>; 3],
        misses: [Reg<U<9>>; 3],
        lookup_mode: Reg<U<2>>,
        lookup_dedicated: Reg<Bit>,
        last_access: Constant<U<8>>,
        last_ep: Constant<U<4>>,
        learning: Signal<Local, Bit>,
        build: Signal<Local, Bit>,
        ep_ends: Signal<Local, Bit>,
        counts: Signal<Local, Bit>,
        next_hits: Signal<Local, U<10>>,
        next_misses: Signal<Local, U<9>>,
    }
}

impl<const SET: usize, const REST: usize> LatteControllerTop<SET, REST> {
    fn new(params: &LatteControllerParams) -> Self {
        let [low, high, miss] = FIRST_LATENCIES;
        LatteControllerTop {
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            access_i: Signal::default(),
            set_i: Signal::default(),
            hit_i: Signal::default(),
            insert_i: Signal::default(),
            schedule_i: Signal::default(),
            warps_i: Signal::default(),
            cycles_i: Signal::default(),
            low_hit_i: Signal::default(),
            low_latency_i: Signal::default(),
            high_hit_i: Signal::default(),
            high_latency_i: Signal::default(),
            miss_return_i: Signal::default(),
            miss_latency_i: Signal::default(),
            lookup_set_i: Signal::default(),
            lookup_mode_o: Signal::default(),
            lookup_dedicated_o: Signal::default(),
            mode_o: Signal::default(),
            decided_o: Signal::default(),
            tolerance_o: Signal::default(),
            learning_o: Signal::default(),
            ep_end_o: Signal::default(),
            build_o: Signal::default(),
            new_codes_o: Signal::default(),
            accessed_set: Gate::default(),
            looked_up_set: Gate::default(),
            low_latency: RunningMean::new(low),
            high_latency: RunningMean::new(high),
            miss_latency: RunningMean::new(miss),
            sums: ScheduleSums::default(),
            decision: Idle::new(AmatDecision::new(params)),
            accesses: Reg::default(),
            ep: Reg::default(),
            first_period: Reg::new(true),
            ep_ended: Reg::default(),
            new_codes: Reg::default(),
            hits: array(),
            misses: array(),
            lookup_mode: Reg::default(),
            lookup_dedicated: Reg::default(),
            last_access: Constant::new(U::new(u64::from(params.ep_accesses - 1))),
            last_ep: Constant::new(U::new(u64::from(params.period_eps - 1))),
            learning: Signal::default(),
            build: Signal::default(),
            ep_ends: Signal::default(),
            counts: Signal::default(),
            next_hits: Signal::default(),
            next_misses: Signal::default(),
        }
    }
}

impl<const SET: usize, const REST: usize> Logic for LatteControllerTop<SET, REST> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, accesses, ep, first_period, ep_ended, new_codes, lookup_mode);
        dff_setup!(self, clk_i, lookup_dedicated);
        for mode in 0..3 {
            dff_setup!(self, clk_i, hits[mode], misses[mode]);
        }

        comment!("EPs by accesses, periods by EPs");
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
                self.ep.d.next = 0.into();
                self.first_period.d.next = false;
            }
        }

        comment!("dedicated sets: insertions count while learning, hits for one EP more");
        self.accessed_set.set_i.next = self.set_i.val();
        for mode in 0..3 {
            self.next_hits.next = self.hits[mode].q.val();
            self.next_misses.next = self.misses[mode].q.val();
            if self.learning.val() & self.ep_ended.q.val() {
                self.next_hits.next = 0.into();
                self.next_misses.next = 0.into();
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
        self.low_latency.clk_i.next = self.clk_i.val();
        self.low_latency.rst_ni.next = self.rst_ni.val();
        self.low_latency.sample_i.next = self.low_hit_i.val();
        self.low_latency.value_i.next = self.low_latency_i.val();
        self.high_latency.clk_i.next = self.clk_i.val();
        self.high_latency.rst_ni.next = self.rst_ni.val();
        self.high_latency.sample_i.next = self.high_hit_i.val();
        self.high_latency.value_i.next = self.high_latency_i.val();
        self.miss_latency.clk_i.next = self.clk_i.val();
        self.miss_latency.rst_ni.next = self.rst_ni.val();
        self.miss_latency.sample_i.next = self.miss_return_i.val();
        self.miss_latency.value_i.next = self.miss_latency_i.val();
        self.sums.clk_i.next = self.clk_i.val();
        self.sums.rst_ni.next = self.rst_ni.val();
        self.sums.restart_i.next = self.ep_ended.q.val();
        self.sums.schedule_i.next = self.schedule_i.val();
        self.sums.warps_i.next = self.warps_i.val();
        self.sums.cycles_i.next = self.cycles_i.val();

        comment!("the first cycle of an EP judges the one before");
        self.decision.clk_i.next = self.clk_i.val();
        self.decision.rst_ni.next = self.rst_ni.val();
        self.decision.start_i.next = self.ep_ended.q.val();
        for mode in 0..3 {
            self.decision.hits_i[mode].next = self.hits[mode].q.val();
            self.decision.misses_i[mode].next = self.misses[mode].q.val();
        }
        self.decision.low_latency_i.next = self.low_latency.mean_o.val();
        self.decision.high_latency_i.next = self.high_latency.mean_o.val();
        self.decision.miss_latency_i.next = self.miss_latency.mean_o.val();
        self.decision.schedules_i.next = self.sums.schedules_o.val();
        self.decision.warps_i.next = self.sums.warps_o.val();
        self.decision.cycles_i.next = self.sums.cycles_o.val();

        comment!("a set's mode: its own if it is dedicated and the EP learns, else the chosen one");
        self.looked_up_set.set_i.next = self.lookup_set_i.val();
        self.lookup_dedicated.d.next = self.learning.val() & self.looked_up_set.dedicated_o.val();
        self.lookup_mode.d.next = self.decision.mode_o.val();
        if self.learning.val() & self.looked_up_set.dedicated_o.val() {
            self.lookup_mode.d.next = self.looked_up_set.mode_o.val();
        }

        self.lookup_mode_o.next = self.lookup_mode.q.val();
        self.lookup_dedicated_o.next = self.lookup_dedicated.q.val();
        self.mode_o.next = self.decision.mode_o.val();
        self.decided_o.next = self.decision.decided_o.val();
        self.tolerance_o.next = self.decision.tolerance_o.val();
        self.learning_o.next = self.learning.val();
        self.ep_end_o.next = self.ep_ended.q.val();
        self.build_o.next = self.build.val();
        self.new_codes_o.next = self.new_codes.q.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<const SET: usize, const REST: usize> RtlTop for LatteControllerTop<SET, REST> {
    type In = LatteControllerIn;
    type Out = LatteControllerOut;

    fn drive(&mut self, inputs: &LatteControllerIn) {
        self.access_i.next = inputs.access_i;
        self.set_i.next = U::new(u64::from(inputs.set_i));
        self.hit_i.next = inputs.hit_i;
        self.insert_i.next = inputs.insert_i;
        self.schedule_i.next = U::new(u64::from(inputs.schedule_i));
        self.warps_i.next = U::new(u64::from(inputs.warps_i));
        self.cycles_i.next = U::new(u64::from(inputs.cycles_i));
        self.low_hit_i.next = inputs.low_hit_i;
        self.low_latency_i.next = U::new(u64::from(inputs.low_latency_i));
        self.high_hit_i.next = inputs.high_hit_i;
        self.high_latency_i.next = U::new(u64::from(inputs.high_latency_i));
        self.miss_return_i.next = inputs.miss_return_i;
        self.miss_latency_i.next = U::new(u64::from(inputs.miss_latency_i));
        self.lookup_set_i.next = U::new(u64::from(inputs.lookup_set_i));
    }

    fn sample(&self) -> LatteControllerOut {
        LatteControllerOut {
            lookup_mode_o: self.lookup_mode_o.val().to_u64() as u8,
            lookup_dedicated_o: self.lookup_dedicated_o.val(),
            mode_o: self.mode_o.val().to_u64() as u8,
            decided_o: self.decided_o.val(),
            tolerance_o: self.tolerance_o.val().to_u64() as u16,
            learning_o: self.learning_o.val(),
            ep_end_o: self.ep_end_o.val(),
            build_o: self.build_o.val(),
            new_codes_o: self.new_codes_o.val(),
        }
    }

    fn upset(&mut self, bit: usize) {
        fn flip<const N: usize>(register: &mut Reg<U<N>>, bit: usize) {
            let value = register.q.val();
            register.q.next = value.replace_bit(bit, !value.get_bit(bit));
        }
        self.decision.wake();
        match bit % 22 {
            bit @ 0..2 => flip(&mut self.lookup_mode, bit),
            2 => self.lookup_dedicated.q.next = !self.lookup_dedicated.q.val(),
            bit @ 3..5 => flip(&mut self.decision.mode, bit - 3),
            5 => self.decision.decided.q.next = !self.decision.decided.q.val(),
            bit @ 6..20 => flip(&mut self.decision.tolerance, bit - 6),
            20 => self.ep_ended.q.next = !self.ep_ended.q.val(),
            _ => self.new_codes.q.next = !self.new_codes.q.val(),
        }
    }
}

/// The LATTE-CC controller for valid parameters. Widths that follow from others are spelled out, and checked by the blocks.
pub(super) fn latte_controller(
    params: &LatteControllerParams,
) -> Box<dyn RtlBlock<LatteControllerIn, LatteControllerOut>> {
    match params.sets {
        32 => RtlInstance::boxed(LatteControllerTop::<5, 3>::new(params)),
        _ => RtlInstance::boxed(LatteControllerTop::<6, 4>::new(params)),
    }
}
