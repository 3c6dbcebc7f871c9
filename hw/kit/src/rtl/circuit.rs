//! Fast evaluation of a block: only the changed parts, in data-flow order, once per clock.
//!
//! rust-hdl evaluates a whole block in rounds until nothing changes, once with the clock low and once with the clock high.
//! [`Part`] evaluates the same `update` functions differently:
//!
//! - A block is evaluated only when an input or one of its registers has changed.
//! - `#[hdl_gen]` makes a body evaluate a sub-block between the statements that drive and that read it. A body in
//!   data-flow order settles in one pass. Another body takes further passes, until no value changes after it was read.
//! - Inputs that a block ignores in its present state do not wake it ([`Attentive`]).
//! - Logic without state is evaluated only when it is read: an encoder that is not selected costs nothing.
//! - A block that has only signals and registers evaluates only its body, once.
//! - A body reads signals in place ([`Readable`]): `self.line_i.val().get_bits::<8>(i)` copies eight bits, not the line.
//! - The rising edge is delivered directly to registers and memories. Their changes are evaluated in the next cycle, together
//!   with the block's inputs. Falling edges do not exist.
//!
//! [`Stepper`](super::step::Stepper) evaluates in rust-hdl's way; tests compare the two.

use super::step::{ClockedBlock, MAX_ROUNDS};
use rust_hdl_core::prelude::{Block, Constant, In, Local, Out, Signal, Synth};
pub use selvedge_macros::Part;
use selvedge_state::State;
use std::ops::Deref;

/// State of a block's evaluation, and of the current pass of its body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
#[state(in_place)]
pub struct Activity {
    /// `true` if the block's signals are up to date with its inputs and registers.
    settled: bool,
    /// `true` if the block was evaluated since an edge that changed none of its registers.
    armed: bool,
    /// `true` if more must be evaluated than the driven and clocked parts: registers in reset, parts that were changed by hand.
    #[state(skip = "an instance notes that it was woken")]
    thorough: bool,
    #[state(skip = "no pass is at work between cycles")]
    pass: BodyPass,
}

/// State of one pass of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct BodyPass {
    /// `true` if the body evaluates its sub-blocks itself.
    in_order: bool,
    /// `true` if the body evaluates everything that it drives.
    complete: bool,
    /// `true` if a value has changed after the body read it.
    stale: bool,
}

impl Activity {
    /// Returns whether the block must be evaluated, given whether an input has changed. Marks it as evaluated.
    #[inline(always)]
    pub fn begin(&mut self, has_input: bool) -> bool {
        let is_due = has_input || !self.settled;
        self.settled = true;
        self.armed |= is_due;
        is_due
    }

    /// Returns whether an edge may change a register of the block.
    #[inline(always)]
    pub fn is_armed(&self) -> bool {
        self.armed
    }

    /// Records whether the edge changed a register.
    #[inline(always)]
    pub fn end(&mut self, changed: bool) {
        self.settled &= !changed;
        self.armed = changed;
    }

    /// Forces the evaluation of the block and everything in it, with unchanged inputs too.
    #[inline(always)]
    pub fn wake(&mut self) {
        *self = Activity { thorough: true, ..Activity::default() };
    }

    /// Returns whether everything in the block must be evaluated.
    #[inline(always)]
    pub fn is_thorough(&self) -> bool {
        self.thorough
    }

    /// Returns whether the body evaluates its sub-blocks itself, including everything that it drives; used by `#[hdl_gen]`.
    #[inline(always)]
    pub fn begin_in_order(&mut self) -> bool {
        self.pass.complete = self.pass.in_order;
        self.pass.in_order
    }

    /// Records whether a value has changed after the body read it; used by `#[hdl_gen]`.
    #[inline(always)]
    pub fn note_stale(&mut self, changed: bool) {
        self.pass.stale |= changed;
    }
}

/// A signal or constant that a body can read in place.
pub trait Readable<'a> {
    /// A reference to the value.
    type Held: Deref;
    /// Returns the same value as `val`, in place. For an input it is the driven value, with which the block was evaluated.
    fn held(&'a self) -> Self::Held;
}

/// Implements [`Readable`] for the signals of some directions.
macro_rules! readable {
    ($($direction:ty)+) => { $(
        impl<'a, T: Synth + 'a> Readable<'a> for Signal<$direction, T> {
            type Held = &'a T;
            #[inline(always)]
            fn held(&'a self) -> &'a T {
                &self.next
            }
        }
    )+ };
}
readable!(In Out Local);

impl<T: Synth> Readable<'_> for Constant<T> {
    type Held = ConstantValue<T>;
    #[inline(always)]
    fn held(&self) -> ConstantValue<T> {
        ConstantValue(self.val())
    }
}

/// A copy of a constant's value, because constants lend no reference.
pub struct ConstantValue<T>(T);

impl<T> Deref for ConstantValue<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// A part of a block that can be evaluated: a signal, a register, a block, or several of them.
pub trait Part {
    /// Returns whether this is a signal, a constant or a register, with nothing to evaluate except a register in reset.
    #[inline(always)]
    fn is_atom(&mut self) -> bool {
        false
    }
    /// Returns whether a clock edge can change anything in it. Logic without state is evaluated only when it is read.
    #[inline(always)]
    fn has_state(&mut self) -> bool {
        false
    }
    /// Returns whether an input has a new value, or `known`, which is `true` if another input has one. Other parts return
    /// `known`.
    #[inline(always)]
    fn has_input(&mut self, known: bool) -> bool {
        known
    }
    /// Updates an input to its new value.
    #[inline(always)]
    fn take_input(&mut self) {}
    /// Returns whether this is a block without sub-blocks.
    #[inline(always)]
    fn is_leaf(&mut self) -> bool {
        false
    }
    /// Updates all inputs of a block to their new values.
    #[inline(always)]
    fn take_inputs(&mut self) {}
    /// Takes new inputs of a block. Returns whether it must be evaluated.
    #[inline(always)]
    fn is_due(&mut self) -> bool {
        false
    }
    /// Evaluates a block that is due.
    #[inline(always)]
    fn evaluate(&mut self) {}
    /// Takes the rising edge of the clock. Returns whether a register or memory has changed.
    #[inline(always)]
    fn edge(&mut self) -> bool {
        false
    }
    /// Forces the evaluation of the part, with unchanged inputs too, because a register was changed by hand.
    #[inline(always)]
    fn wake(&mut self) {}
}

impl<T: Synth> Part for Signal<In, T> {
    #[inline(always)]
    fn is_atom(&mut self) -> bool {
        true
    }
    /// For words, a comparison is cheaper than a branch. For arrays of words, the branch is cheaper.
    #[inline(always)]
    fn has_input(&mut self, known: bool) -> bool {
        if T::BITS > 64 { known || self.next != self.val() } else { known | (self.next != self.val()) }
    }
    #[inline(always)]
    fn take_input(&mut self) {
        self.update_all();
    }
}

impl<T: Synth> Part for Signal<Out, T> {
    #[inline(always)]
    fn is_atom(&mut self) -> bool {
        true
    }
}
impl<T: Synth> Part for Signal<Local, T> {
    #[inline(always)]
    fn is_atom(&mut self) -> bool {
        true
    }
}
impl<T: Synth> Part for Constant<T> {
    #[inline(always)]
    fn is_atom(&mut self) -> bool {
        true
    }
}

impl<P: Part> Part for [P] {
    #[inline]
    fn is_atom(&mut self) -> bool {
        self.iter_mut().all(Part::is_atom)
    }
    #[inline]
    fn has_state(&mut self) -> bool {
        self.iter_mut().any(Part::has_state)
    }
    #[inline]
    fn has_input(&mut self, known: bool) -> bool {
        self.iter_mut().fold(known, |known, part| part.has_input(known))
    }
    #[inline]
    fn take_input(&mut self) {
        self.iter_mut().for_each(Part::take_input);
    }
    #[inline]
    fn is_due(&mut self) -> bool {
        self.iter_mut().fold(false, |due, part| {
            let is_due = part.is_due();
            if is_due {
                part.evaluate();
            }
            due | is_due
        })
    }
    #[inline]
    fn edge(&mut self) -> bool {
        self.iter_mut().fold(false, |changed, part| changed | part.edge())
    }
    #[inline]
    fn wake(&mut self) {
        self.iter_mut().for_each(Part::wake);
    }
}

/// Forwards every method to the inner part.
macro_rules! passes_on {
    ($([$($generics:tt)*] $type:ty => $inner:expr;)*) => { $(
        impl<$($generics)*> Part for $type {
            #[inline(always)]
            fn is_atom(&mut self) -> bool {
                $inner(self).is_atom()
            }
            #[inline(always)]
            fn has_state(&mut self) -> bool {
                $inner(self).has_state()
            }
            #[inline(always)]
            fn has_input(&mut self, known: bool) -> bool {
                $inner(self).has_input(known)
            }
            #[inline(always)]
            fn take_input(&mut self) {
                $inner(self).take_input();
            }
            #[inline(always)]
            fn is_due(&mut self) -> bool {
                $inner(self).is_due()
            }
            #[inline(always)]
            fn evaluate(&mut self) {
                $inner(self).evaluate();
            }
            #[inline(always)]
            fn edge(&mut self) -> bool {
                $inner(self).edge()
            }
            #[inline(always)]
            fn wake(&mut self) {
                $inner(self).wake();
            }
        }
    )* };
}
passes_on! {
    [P: Part, const N: usize] [P; N] => <[P; N]>::as_mut_slice;
    [P: Part] Vec<P> => Vec::as_mut_slice;
    [B: Part] super::gate::Gate<B> => <super::gate::Gate<B> as std::ops::DerefMut>::deref_mut;
    [B: Part] super::once::Once<B> => <super::once::Once<B> as std::ops::DerefMut>::deref_mut;
    [B: Part] super::idle::Idle<B> => <super::idle::Idle<B> as std::ops::DerefMut>::deref_mut;
}

/// A field of a block. Its methods come from [`Part`] if its type implements it, otherwise from [`Foreign`].
pub struct Field<'a, P: ?Sized>(pub &'a mut P);

impl<P: Part + ?Sized> Field<'_, P> {
    /// See [`Part::is_atom`].
    #[inline(always)]
    pub fn is_atom(&mut self) -> bool {
        self.0.is_atom()
    }
    /// See [`Part::has_state`].
    #[inline(always)]
    pub fn has_state(&mut self) -> bool {
        self.0.has_state()
    }
    /// See [`Part::has_input`].
    #[inline(always)]
    pub fn has_input(&mut self, known: bool) -> bool {
        self.0.has_input(known)
    }
    /// See [`Part::take_input`].
    #[inline(always)]
    pub fn take_input(&mut self) {
        self.0.take_input();
    }
    /// See [`Part::is_due`].
    #[inline(always)]
    pub fn is_due(&mut self) -> bool {
        self.0.is_due()
    }
    /// See [`Part::evaluate`].
    #[inline(always)]
    pub fn evaluate(&mut self) {
        self.0.evaluate();
    }
    /// See [`Part::edge`].
    #[inline(always)]
    pub fn edge(&mut self) -> bool {
        self.0.edge()
    }
    /// See [`Part::wake`].
    #[inline(always)]
    pub fn wake(&mut self) {
        self.0.wake();
    }
}

/// A block that does not consist of the kit's parts. Only [`Stepper`](super::step::Stepper) can evaluate it.
pub trait Foreign {
    /// Returns `false`, because a foreign block may be anything.
    fn is_atom(&mut self) -> bool {
        false
    }
    /// Returns `true`, because a foreign block may have state.
    fn has_state(&mut self) -> bool {
        true
    }
    /// Returns `known`, because a foreign block is not an input of its parent.
    fn has_input(&mut self, known: bool) -> bool {
        known
    }
    /// No-op: see [`Foreign::has_input`].
    fn take_input(&mut self) {}
    /// Ends the evaluation.
    ///
    /// # Panics
    /// Always.
    fn is_due(&mut self) -> bool {
        panic!("a block must consist of parts of the kit to be evaluated in order")
    }
    /// Never called: see [`Foreign::is_due`].
    fn evaluate(&mut self) {}
    /// Never called: see [`Foreign::is_due`].
    fn edge(&mut self) -> bool {
        false
    }
    /// No-op before the first evaluation.
    fn wake(&mut self) {}
}

impl<P: ?Sized> Foreign for Field<'_, P> {}

/// The clock edge of a block whose state is only in its parts: it does nothing. A memory has inherent methods with these names,
/// which take precedence.
pub trait Stateless {
    /// Returns whether the block has state outside its parts. Inherent methods of memories return `true`.
    #[inline(always)]
    fn has_own_state(&mut self) -> bool {
        false
    }
    /// Takes the rising edge of the clock. Returns whether the block's own state has changed.
    #[inline(always)]
    fn take_edge(&mut self) -> bool {
        false
    }
}

impl<B: ?Sized> Stateless for B {}

/// The inputs that a block uses: all of them. A block that ignores some inputs while others are low has an inherent method with
/// this name, which takes precedence.
pub trait Attentive {
    /// Returns whether the new values of the inputs change no output and no state. The block is then not evaluated. When this no
    /// longer holds, the block compares all inputs with their values at its last evaluation.
    #[inline(always)]
    fn ignores_inputs(&mut self) -> bool {
        false
    }
}

impl<B: ?Sized> Attentive for B {}

/// The evaluation of a block that has only signals and registers: by its body. In some leaves of the kit, the body copies wide
/// items many times. Such a leaf has an inherent method with this name, which takes precedence and has the same effect as the
/// body.
pub trait Bodied {
    /// Evaluates the block without its body. Returns whether it did.
    #[inline(always)]
    fn evaluates_itself(&mut self) -> bool {
        false
    }
}

impl<B: ?Sized> Bodied for B {}

/// Maximum passes in which a body evaluates its sub-blocks itself. A body may drive a sub-block twice and read it in between,
/// although only the last value counts. Such a body would never settle.
const PASSES_IN_ORDER: u32 = 8;

/// Evaluates a block in passes of its `body` until no value changes after the pass has read it. `parts` evaluates the parts that
/// the body did not evaluate, and returns whether any existed. `activity` returns the block's activity.
///
/// # Panics
/// If the block does not settle, for example because of a combinational loop.
#[inline(always)]
pub fn settle<B>(
    block: &mut B,
    activity: impl Fn(&mut B) -> &mut Activity,
    body: impl Fn(&mut B),
    parts: impl Fn(&mut B) -> bool,
) {
    for round in 0..MAX_ROUNDS {
        activity(block).pass = BodyPass { in_order: round < PASSES_IN_ORDER, complete: false, stale: false };
        body(block);
        let Activity { thorough, pass, .. } = *activity(block);
        if !pass.stale && ((pass.complete && !thorough) || !parts(block)) {
            let activity = activity(block);
            activity.thorough = false;
            // rust-hdl's rounds call the body, too.
            activity.pass.in_order = false;
            return;
        }
    }
    panic!("a block must settle within {MAX_ROUNDS} passes: it has a combinational loop");
}

/// Evaluates `block` in order, if it is due.
#[inline]
pub fn run<B: Part + ?Sized>(block: &mut B) {
    if block.is_due() {
        block.evaluate();
    }
}

/// Steps a connected block through a cycle of reset.
pub fn reset(block: &mut dyn ClockedBlock) {
    block.set_reset_n(false);
    block.wake();
    run(block);
    block.edge();
    block.set_reset_n(true);
    block.wake();
    run(block);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtl::prelude::*;
    use proptest::prelude::*;

    rtl_block! {
        /// Logic that counts its evaluations.
        pub struct Sum {
            /// a number
            pub a_i: Signal<In, U<8>>,
            /// another one
            pub b_i: Signal<In, U<8>>,
            /// their sum
            pub sum_o: Signal<Out, U<8>>,
            _evaluations: usize,
        }
    }
    impl Logic for Sum {
        fn update(&mut self) {
            self._evaluations += 1;
            self.sum_o.next = self.a_i.val() + self.b_i.val();
        }
    }

    rtl_block! {
        /// A body that reads sub-blocks before it drives them, and drives them twice, in loops and in branches.
        pub struct Tangle {
            /// clock
            pub clk_i: Signal<In, Clock>,
            /// reset
            pub rst_ni: Signal<In, Bit>,
            /// data
            pub x_i: Signal<In, U<8>>,
            /// path of the data
            pub way_i: Signal<In, U<2>>,
            /// the consumer is ready
            pub ready_i: Signal<In, Bit>,
            /// results, folded
            pub y_o: Signal<Out, U<8>>,
            /// the producer may continue
            pub ready_o: Signal<Out, Bit>,
            chain: [Gate<Sum>; 4],
            early: Sum,
            branch: Once<Sum>,
            pipes: [ElasticPipe<U<8>>; 2] = [ElasticPipe::new(1), ElasticPipe::new(2)],
            stage: Idle<ValidReady<U<8>>>,
            mem: Mem<U<8>, 2>,
            sync: SyncMem<U<8>, 2>,
            bits: BitArray<4>,
            count: Reg<U<8>> = Reg::new(U::new(5)),
            total: Signal<Local, U<8>>,
        }
    }
    #[hdl_gen]
    impl Logic for Tangle {
        fn update(&mut self) {
            dff_setup!(self, clk_i, count);
            self.total.next = self.early.sum_o.val() + self.mem.read_data_o.val();
            drive!(self.early; a_i: x_i, b_i: count.q);
            for i in 0..3 {
                drive!(self.chain[i + 1]; a_i: chain[i].sum_o, b_i: x_i);
            }
            drive!(self.chain[0]; a_i: x_i, b_i: total);
            drive!(self.branch; a_i: chain[3].sum_o, b_i: x_i);
            for i in 0..2 {
                drive!(self.pipes[i]; clk_i, rst_ni);
                self.pipes[i].valid_i.next = self.way_i.val().get_bit(i);
                self.pipes[i].data_i.next = self.chain[3].sum_o.val();
                self.total.next = self.total.val() + self.pipes[i].data_o.val();
            }
            drive!(self.stage; clk_i, rst_ni, valid_i: pipes[0].valid_o, data_i: pipes[0].data_o, ready_i);
            self.pipes[0].ready_i.next = self.stage.ready_o.val();
            self.pipes[1].ready_i.next = self.ready_i.val() & self.pipes[0].ready_o.val();
            drive!(self.mem; clk_i, write_i: stage.valid_o, write_address_i: way_i,
                write_data_i: stage.data_o);
            self.mem.read_address_i.next = self.x_i.val().get_bits::<2>(0);
            drive!(self.sync; clk_i, write_i: ready_i, write_address_i: way_i, write_data_i: total);
            self.sync.read_address_i.next = self.x_i.val().get_bits::<2>(2);
            drive!(self.bits; clk_i, rst_ni, set_i: ready_i);
            self.bits.clear_i.next = self.x_i.val().all();
            self.bits.address_i.next = self.x_i.val().get_bits::<4>(4);
            self.y_o.next = self.total.val() + self.sync.read_data_o.val();
            if self.way_i.val() == 3 {
                drive!(self; y_o: branch.sum_o, branch.b_i: total, count.d: branch.sum_o);
            }
            if self.bits.bit_o.val() {
                self.y_o.next = self.y_o.val() + 1;
            }
            self.ready_o.next = self.pipes[0].ready_o.val() & self.pipes[1].ready_o.val();
        }
    }

    /// Sets the inputs of a cycle.
    fn drive(block: &mut Tangle, (x, way, ready): (u8, u8, bool)) {
        block.x_i.next = u64::from(x).into();
        block.way_i.next = u64::from(way).into();
        block.ready_i.next = ready;
    }

    fn seen(block: &Tangle) -> (u64, bool) {
        (block.y_o.val().to_u64(), block.ready_o.val())
    }

    /// Returns a connected block after reset.
    fn fresh() -> Tangle {
        let mut block = Tangle::default();
        block.connect_all();
        reset(&mut block);
        block
    }

    proptest! {
        #[test]
        fn evaluation_in_order_shows_what_evaluation_in_rounds_shows(
            cycles in prop::collection::vec((0u8..8, 0u8..4, any::<bool>(), 0u8..40), 1..80),
        ) {
            let mut rounds = Stepper::new(Tangle::default()).unwrap();
            let mut block = fresh();
            for (x, way, ready, event) in cycles {
                let inputs = (if x == 7 { 255 } else { x * 37 }, way, ready);
                if event == 0 {
                    rounds.reset().unwrap();
                    reset(&mut block);
                }
                let woken = event == 1;
                if woken {
                    rounds.block_mut().stage.wake();
                    rounds.block_mut().count.q.next = 77.into();
                    block.wake();
                    block.count.q.next = 77.into();
                }
                let expected = rounds.step(|b| drive(b, inputs), seen).unwrap();
                drive(&mut block, inputs);
                run(&mut block);
                prop_assert_eq!(seen(&block), expected);
                block.edge();
            }
        }
    }

    #[test]
    fn logic_that_is_not_read_is_not_evaluated() {
        let mut block = fresh();
        let mut evaluations = |way: u8| {
            let before = (block.branch._evaluations, block.chain[0]._evaluations);
            for x in 0..10 {
                drive(&mut block, (x, way, false));
                run(&mut block);
                block.edge();
            }
            (block.branch._evaluations - before.0, block.chain[0]._evaluations - before.1)
        };
        let (branch, chain) = evaluations(0);
        assert!(branch == 0 && chain > 0, "{branch} {chain}");
        assert!(evaluations(3).0 > 0);
    }

    #[test]
    fn a_block_at_rest_is_not_evaluated() {
        let mut block = fresh();
        drive(&mut block, (1, 0, false));
        run(&mut block);
        while block.edge() {
            run(&mut block);
        }
        assert!(!block.is_due());
        drive(&mut block, (2, 0, false));
        assert!(block.is_due());
    }

    rtl_block! {
        /// Keeps accepted data and ignores other data.
        pub struct Keeper {
            /// clock
            pub clk_i: Signal<In, Clock>,
            /// reset
            pub rst_ni: Signal<In, Bit>,
            /// take the data
            pub take_i: Signal<In, Bit>,
            /// data
            pub data_i: Signal<In, U<8>>,
            /// the data accepted in this cycle, or else the last accepted data
            pub kept_o: Signal<Out, U<8>>,
            kept: Reg<U<8>>,
        }
    }
    impl Keeper {
        fn ignores_inputs(&mut self) -> bool {
            !self.take_i.next && !self.take_i.val() && !self.rst_ni.has_input(false)
        }
    }
    #[hdl_gen]
    impl Logic for Keeper {
        fn update(&mut self) {
            dff_setup!(self, clk_i, kept);
            self.kept_o.next = self.kept.q.val();
            if self.take_i.val() {
                drive!(self; kept.d: data_i, kept_o: data_i);
            }
        }
    }

    #[test]
    fn ignored_inputs_wake_nobody_and_are_seen_once_they_count() {
        let mut keeper = Keeper::default();
        keeper.connect_all();
        reset(&mut keeper);
        let mut last = 0;
        // Accepts data after ignored data, then the same data again; accepts two in a row; and ignores data after them.
        for (data, takes) in
            [(1, false), (2, false), (2, true), (3, true), (4, false), (3, true), (5, false), (5, true)]
        {
            keeper.take_i.next = takes;
            keeper.data_i.next = data.into();
            let rests = keeper._activity.settled && !takes && !keeper.take_i.val();
            assert_eq!(keeper.is_due(), !rests, "{data} {takes}");
            if !rests {
                keeper.evaluate();
            }
            last = if takes { data } else { last };
            assert_eq!(keeper.kept_o.val().to_u64(), last, "{data} {takes}");
            keeper.edge();
        }
    }

    rtl_block! {
        /// Reads logic before it drives it: from registers, in a loop, from an input, and from a local signal.
        pub struct Backward {
            /// clock
            pub clk_i: Signal<In, Clock>,
            /// reset
            pub rst_ni: Signal<In, Bit>,
            /// data
            pub x_i: Signal<In, U<8>>,
            /// result
            pub y_o: Signal<Out, U<8>>,
            early: Pair,
            late: Sum,
            behind: Sum,
            local: Signal<Local, U<8>>,
            count: Reg<U<8>>,
            held: [Reg<U<8>>; 2] = array(),
        }
    }
    rtl_block! {
        /// Logic with an array of inputs.
        pub struct Pair {
            /// numbers
            pub a_i: [Signal<In, U<8>>; 2] = array(),
            /// one more
            pub b_i: Signal<In, U<8>>,
            /// their sum
            pub sum_o: Signal<Out, U<8>>,
        }
    }
    impl Logic for Pair {
        fn update(&mut self) {
            self.sum_o.next = self.a_i[0].next + self.a_i[1].next + self.b_i.next;
        }
    }
    #[hdl_gen]
    impl Logic for Backward {
        fn update(&mut self) {
            dff_setup!(self, clk_i, count);
            self.count.d.next = self.count.q.val() + 1;
            drive!(self.late; a_i: early.sum_o, b_i: x_i);
            self.y_o.next = self.late.sum_o.val() + self.behind.sum_o.val();
            for i in 0..2 {
                dff_setup!(self, clk_i, held[i]);
                self.held[i].d.next = self.count.q.val() + i.to_bits();
                self.early.a_i[i].next = self.held[i].q.val();
            }
            self.early.b_i.next = self.x_i.val() + self.count.q.val();
            self.local.next = self.x_i.val() + 1;
            drive!(self.behind; a_i: local, b_i: x_i);
        }
    }

    #[test]
    fn logic_that_registers_drive_is_there_before_the_body_reads_it() {
        let mut block = Backward::default();
        block.connect_all();
        reset(&mut block);
        let before = block.late._evaluations;
        for cycle in 1..10 {
            block.edge();
            block.x_i.next = (3 * cycle).into();
            run(&mut block);
            // The registers hold the count of the previous cycle, and that count plus one.
            let held = if cycle == 1 { 1 } else { 2 * (cycle - 1) + 1 };
            let (x, count) = (3 * cycle, cycle);
            assert_eq!(block.y_o.val().to_u64(), (x + x + count + held) + (x + 1 + x), "cycle {cycle}");
        }
        assert_eq!(
            block.late._evaluations - before,
            9,
            "`late` has its value in the first pass of each cycle"
        );
    }

    rtl_block! {
        /// Drives and reads logic by different indices: loop then number, number then loop, and two loops.
        pub struct Indices {
            /// clock
            pub clk_i: Signal<In, Clock>,
            /// reset
            pub rst_ni: Signal<In, Bit>,
            /// data
            pub x_i: Signal<In, U<8>>,
            /// results, one byte each
            pub y_o: Signal<Out, U<48>>,
            by_loop: [Sum; 2],
            by_number: [Sum; 2],
            by_two_loops: [Sum; 2],
        }
    }
    #[hdl_gen]
    impl Logic for Indices {
        fn update(&mut self) {
            for i in 0..2 {
                self.by_loop[i].a_i.next = self.x_i.val();
                self.by_loop[i].b_i.next = i.to_bits::<8>();
                self.by_two_loops[i].a_i.next = self.x_i.val();
                self.by_two_loops[i].b_i.next = i.to_bits::<8>() + 4;
            }
            drive!(self.by_number[0]; a_i: x_i, b_i: 2);
            drive!(self.by_number[1]; a_i: x_i, b_i: 3);
            self.y_o.next = 0.into();
            self.y_o.next[0..] = self.by_loop[0].sum_o.val();
            self.y_o.next[8..] = self.by_loop[1].sum_o.val();
            for k in 0..2 {
                self.y_o.next[16 + k * 8..] = self.by_number[k].sum_o.val();
                self.y_o.next[32 + k * 8..] = self.by_two_loops[k].sum_o.val();
            }
        }
    }

    #[test]
    fn an_element_is_evaluated_by_whichever_index_it_is_read() {
        let mut block = Indices::default();
        block.connect_all();
        reset(&mut block);
        for x in [7, 100, 8] {
            block.x_i.next = x.into();
            run(&mut block);
            let bytes: Vec<u64> = (0..6).map(|i| block.y_o.val().get_bits::<8>(8 * i).to_u64()).collect();
            assert_eq!(bytes, (0..6).map(|i| x + i).collect::<Vec<_>>());
        }
    }

    rtl_block! {
        /// Feeds its output back without a register.
        pub struct Ring {
            /// clock
            pub clk_i: Signal<In, Clock>,
            /// reset
            pub rst_ni: Signal<In, Bit>,
            inner: Sum,
        }
    }
    #[hdl_gen]
    impl Logic for Ring {
        fn update(&mut self) {
            drive!(self.inner; a_i: 1, b_i: inner.sum_o);
        }
    }

    #[test]
    #[should_panic = "it has a combinational loop"]
    fn a_combinational_loop_ends_the_evaluation() {
        reset(&mut Ring::default());
    }
}
