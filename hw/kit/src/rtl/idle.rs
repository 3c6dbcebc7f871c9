//! An activity gate for blocks with registers: a block at rest is not evaluated again, even at clock edges, until an input
//! changes.
//!
//! ```text
//! clk_i    __/--\__/--\__/--\__/--\__/--\__
//! inputs   =< A               >< B    >====
//! state    =< 1 >< 2                 >< 3 >
//! at rest  ______________/-----\___________      the last edge changed no state, and no input has changed since
//! ```
//!
//! `Idle<B>` behaves as `B` everywhere: the same fields, the same hierarchy, the same Verilog. If several engines work one after
//! another, only the active one costs time.

use super::activity;
use super::wrapper::wrapper;
use crate::rtl::prelude::*;
use selvedge_state::State;

/// A clocked block that is evaluated only while its inputs or its state change.
///
/// It rests with its own clock high, so that its first edge after waking is a falling one.
#[derive(Clone, Debug, State)]
#[state(in_place)]
pub struct Idle<B> {
    inner: B,
    /// `true` if the last evaluation has changed a signal, or none has happened yet.
    changed: bool,
    /// `true` if the last rising edge has changed no state, and no input has changed since.
    repeats: bool,
    at_rest: bool,
}

impl<B> Idle<B> {
    /// Returns `inner` in a gate.
    pub fn new(inner: B) -> Self {
        Idle { inner, changed: true, repeats: false, at_rest: false }
    }

    /// Forces the evaluation of the block, because of a change in it other than an input or a clock edge.
    pub fn wake(&mut self) {
        self.changed = true;
        self.repeats = false;
        self.at_rest = false;
    }
}

impl<B: Default> Default for Idle<B> {
    fn default() -> Self {
        Idle::new(B::default())
    }
}

wrapper!(Idle);

impl<B: ClockedBlock + Pending> Block for Idle<B> {
    fn connect_all(&mut self) {
        self.inner.connect_all();
    }
    #[inline]
    fn update_all(&mut self) {
        let (next, level) = self.inner.clock();
        self.inner.set_clock(level);
        let has_input = self.inner.pending();
        self.inner.set_clock(next);
        if !self.changed && !has_input && (self.at_rest || next == level) {
            return;
        }
        self.repeats = !has_input && (self.repeats || (next && !level));
        let changes_state = activity::watch_within(|| self.inner.update_all());
        self.repeats &= !changes_state;
        self.changed = self.inner.has_changed();
        self.at_rest = self.repeats && !self.changed && next;
    }
    #[inline]
    fn has_changed(&self) -> bool {
        self.changed
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        self.inner.accept(name, probe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    rtl_block! {
        /// Counts down from `from_i`, and counts its own evaluations.
        pub struct Countdown {
            /// clock
            pub clk_i: Signal<In, Clock>,
            /// reset
            pub rst_ni: Signal<In, Bit>,
            /// load `from_i`
            pub start_i: Signal<In, Bit>,
            /// initial count
            pub from_i: Signal<In, U<8>>,
            /// the count
            pub count_o: Signal<Out, U<8>>,
            count: Reg<U<8>>,
            _evaluations: usize,
        }
    }
    impl Logic for Countdown {
        fn update(&mut self) {
            dff_setup!(self, clk_i, count);
            self._evaluations += 1;
            if self.start_i.val() {
                self.count.d.next = self.from_i.val();
            } else if self.count.q.val().any() {
                self.count.d.next = self.count.q.val() - 1;
            }
            self.count_o.next = self.count.q.val();
        }
    }

    rtl_block! {
        /// The same block with and without the gate. The start input comes from a register and changes with the clock.
        pub struct Pair {
            /// clock
            pub clk_i: Signal<In, Clock>,
            /// reset
            pub rst_ni: Signal<In, Bit>,
            /// load `from_i`
            pub start_i: Signal<In, Bit>,
            /// initial count
            pub from_i: Signal<In, U<8>>,
            start: Reg<Bit>,
            idle: Idle<Countdown>,
            plain: Countdown,
        }
    }
    impl Logic for Pair {
        fn update(&mut self) {
            dff_setup!(self, clk_i, start);
            self.start.d.next = self.start_i.val();
            self.idle.clk_i.next = self.clk_i.val();
            self.idle.rst_ni.next = self.rst_ni.val();
            self.idle.start_i.next = self.start.q.val();
            self.idle.from_i.next = self.from_i.val();
            self.plain.clk_i.next = self.clk_i.val();
            self.plain.rst_ni.next = self.rst_ni.val();
            self.plain.start_i.next = self.start.q.val();
            self.plain.from_i.next = self.from_i.val();
        }
    }

    /// Steps both blocks by a cycle, checks that their counts are equal, and returns the count.
    fn step(pair: &mut Stepper<Pair>, start: bool, from: u64) -> u64 {
        let set = |pair: &mut Pair| {
            pair.start_i.next = start;
            pair.from_i.next = from.into();
        };
        let read = |pair: &Pair| (pair.idle.count_o.val().to_u64(), pair.plain.count_o.val().to_u64());
        let (idle, plain) = pair.step(set, read).unwrap();
        assert_eq!(idle, plain);
        idle
    }

    #[test]
    fn a_block_at_rest_is_not_evaluated() {
        let mut pair = Stepper::new(Pair::default()).unwrap();
        step(&mut pair, false, 0);
        let before = pair.block().idle._evaluations;
        for _ in 0..10 {
            step(&mut pair, false, 0);
        }
        assert_eq!(pair.block().idle._evaluations, before);
    }

    #[test]
    fn it_wakes_in_the_cycle_of_an_input_and_works_to_its_end() {
        let mut pair = Stepper::new(Pair::default()).unwrap();
        let mut seen = Vec::new();
        for (start, from) in
            [(false, 0), (false, 0), (true, 3), (false, 3), (false, 3), (false, 3), (false, 3)]
        {
            seen.push(step(&mut pair, start, from));
        }
        assert_eq!(seen, [0, 0, 0, 0, 3, 2, 1]);
        for from in [9, 9, 8, 8, 8] {
            assert_eq!(step(&mut pair, false, from), 0, "another number, but no start");
        }
        for _ in 0..4 {
            step(&mut pair, true, 8);
        }
        assert_eq!(step(&mut pair, false, 8), 8, "held at its start");
    }

    #[test]
    fn random_inputs_find_no_difference() {
        let mut pair = Stepper::new(Pair::default()).unwrap();
        let mut state = 1u64;
        for cycle in 0..5000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let random = state >> 40;
            // Long pauses, and inputs that change in every cycle.
            let (start, from) = if cycle % 97 < 48 {
                (random.is_multiple_of(31), 5)
            } else {
                (random.is_multiple_of(3), random % 7)
            };
            step(&mut pair, start, from);
            if random.is_multiple_of(1009) {
                pair.reset().unwrap();
            }
        }
    }

    #[test]
    fn what_is_changed_by_hand_is_seen_after_a_call() {
        let mut pair = Stepper::new(Pair::default()).unwrap();
        step(&mut pair, false, 0);
        step(&mut pair, false, 0);
        let block = pair.block_mut();
        block.idle.wake();
        block.idle.count.q.next = 7.into();
        block.plain.count.q.next = 7.into();
        assert_eq!(step(&mut pair, false, 0), 7);
        assert_eq!(step(&mut pair, false, 0), 6);
    }
}
