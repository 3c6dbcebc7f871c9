//! The register: `q` takes `d` at the rising clock edge. While reset is low, it has the reset value.
//!
//! ```text
//! clk_i   __/--\__/--\__/--\__/--\__
//! rst_ni  _____/--------------------     asynchronous, active low
//! d       ==< A      >< B   >< C ====
//! q       =< init    >< A   >< B >===    the value of d just before the edge
//! ```
//!
//! [`dff_setup!`](crate::dff_setup) wires clock and reset, and makes the register hold its value. A block therefore states only
//! when it changes:
//!
//! ```ignore
//! dff_setup!(self, clk_i, count);
//! if self.enable_i.val() {
//!     self.count.d.next = self.count.q.val() + 1;
//! }
//! ```
//!
//! The Verilog back end writes a register into its parent module (`reg [7:0] count_q`), not as a separate module.
//!
//! A [`DataReg`] is a register without reset, for data that are valid only while another bit says so: the payload of a pipe, the
//! contents of a buffer. It is wired in the same way. Nothing may depend on it before it is written; the testbenches start it
//! with random or unknown bits.

use super::activity;
use super::circuit::Part;
use rust_hdl_core::prelude::{
    Atom, AtomKind, Bit, Block, Clock, In, Logic, Out, PinConstraint, Probe, Signal, Synth, TypeDescriptor,
    VCDValue, Verilog, Wrapper, ast::VerilogLiteral,
};
use selvedge_state::State;

/// Value of `Wrapper::cores` in the Verilog of a register. `Wrapper::code` is the reset value.
pub const REGISTER: &str = "selvedge:register";
/// Value of `Wrapper::cores` in the Verilog of a register without reset.
pub const DATA_REGISTER: &str = "selvedge:data register";

/// Returns whether this value of `Wrapper::cores` is that of a register, with or without reset.
pub fn is_register(cores: &str) -> bool {
    cores == REGISTER || cores == DATA_REGISTER
}

/// A register without reset, for data that are valid only while a valid bit or a count says so. It starts as zeros in the
/// simulator; its Verilog starts with unknown bits.
pub type DataReg<T> = Reg<T, false>;

/// A register of type `T` with a reset value, or one without reset: see [`DataReg`].
#[derive(Clone, Debug, State)]
#[state(in_place)]
pub struct Reg<T: Synth, const RESET: bool = true> {
    /// Clock, wired by `dff_setup!`.
    pub clock: Signal<In, Clock>,
    /// Asynchronous reset, active low, wired by `dff_setup!`. A register without reset ignores it.
    pub reset_n: Signal<In, Bit>,
    /// The value to take at the next rising clock edge.
    pub d: Signal<In, T>,
    /// The current value.
    pub q: Signal<Out, T>,
    #[state(skip = "a parameter")]
    reset_value: T,
}

impl<T: Synth, const RESET: bool> Reg<T, RESET> {
    /// Returns a register that starts with `reset_value` and is reset to it.
    pub fn new(reset_value: T) -> Self {
        Reg {
            clock: Signal::default(),
            reset_n: Signal::default(),
            d: Signal::default(),
            q: Signal::new_with_default(reset_value),
            reset_value,
        }
    }

    /// Returns the reset value as a Verilog literal.
    pub fn reset_literal(&self) -> VerilogLiteral {
        self.reset_value.verilog()
    }
}

/// Returns the Verilog of a register with this reset value.
fn register(reset_value: VerilogLiteral, cores: &str) -> Verilog {
    Verilog::Wrapper(Wrapper { code: format!("{reset_value:x}"), cores: cores.into() })
}

impl<T: Synth, const RESET: bool> Default for Reg<T, RESET> {
    /// Returns a register whose reset value is the type's default: zero.
    fn default() -> Self {
        Reg::new(T::default())
    }
}

impl<T: Synth, const RESET: bool> Logic for Reg<T, RESET> {
    #[inline]
    fn update(&mut self) {
        if RESET && !self.reset_n.val() {
            activity::note_change();
            self.q.next = self.reset_value;
        } else if self.clock.pos_edge() {
            activity::note_change_if(|| self.d.val() != self.q.val());
            self.q.next = self.d.val();
        }
    }

    fn connect(&mut self) {
        self.q.connect();
        // `#[hdl_gen]` sees `dff_setup!` drive only `clock` and `d`, so that `reset_n` is connected with the clock.
        self.reset_n.connect();
    }

    fn hdl(&self) -> Verilog {
        register(self.reset_literal(), if RESET { REGISTER } else { DATA_REGISTER })
    }
}

impl<T: Synth, const RESET: bool> Part for Reg<T, RESET> {
    #[inline(always)]
    fn is_atom(&mut self) -> bool {
        true
    }

    #[inline(always)]
    fn has_state(&mut self) -> bool {
        true
    }

    /// Takes the reset value while reset is low. Returns whether `q` has changed.
    #[inline(always)]
    fn is_due(&mut self) -> bool {
        RESET && !self.reset_n.next && self.take(self.reset_value)
    }

    #[inline(always)]
    fn edge(&mut self) -> bool {
        (!RESET || self.reset_n.next) && self.take(self.d.next)
    }
}

impl<T: Synth, const RESET: bool> Reg<T, RESET> {
    /// Sets `q`. Returns whether it has changed.
    #[inline(always)]
    fn take(&mut self, value: T) -> bool {
        let changed = self.q.next != value;
        if changed {
            self.q.next = value;
        }
        changed
    }
}

impl<T: Synth, const RESET: bool> Block for Reg<T, RESET> {
    fn connect_all(&mut self) {
        self.connect();
    }

    #[inline]
    fn update_all(&mut self) {
        self.update();
        self.clock.update_all();
        self.reset_n.update_all();
        self.d.update_all();
        self.q.update_all();
    }

    #[inline]
    fn has_changed(&self) -> bool {
        self.clock.changed || self.reset_n.changed || self.d.changed || self.q.changed
    }

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_start_scope(name, self);
        self.clock.accept("clock", probe);
        self.reset_n.accept("reset_n", probe);
        self.d.accept("d", probe);
        probe.visit_atom("q", &HeldValue(&self.q));
        probe.visit_end_scope(name, self);
    }
}

/// The value of a register, for probes. The signal itself is updated only where [`circuit`](super::circuit) evaluates a reader of
/// it.
struct HeldValue<'a, T: Synth>(&'a Signal<Out, T>);

impl<T: Synth> Atom for HeldValue<'_, T> {
    fn bits(&self) -> usize {
        self.0.bits()
    }
    fn connected(&self) -> bool {
        self.0.connected()
    }
    fn changed(&self) -> bool {
        self.0.changed()
    }
    fn kind(&self) -> AtomKind {
        self.0.kind()
    }
    fn descriptor(&self) -> TypeDescriptor {
        self.0.descriptor()
    }
    fn vcd(&self) -> VCDValue {
        self.0.next.vcd()
    }
    fn id(&self) -> usize {
        self.0.id()
    }
    fn verilog(&self) -> VerilogLiteral {
        self.0.next.verilog()
    }
    fn constraints(&self) -> Vec<PinConstraint> {
        self.0.constraints()
    }
}

/// Wires registers: `dff_setup!(self, clk_i, a, b, c[i]);`.
///
/// Clock and reset come from the block's `clk_i` and `rst_ni`; each register holds its value unless the block assigns
/// `d` later in its body. Elements of an array of registers are wired in a loop.
#[macro_export]
macro_rules! dff_setup {
    ($self:ident, $clock:ident, $($register:ident $([$index:expr])?),+ $(,)?) => {
        $(
            $self.$register$([$index])?.clock.next = $self.$clock.val();
            $self.$register$([$index])?.reset_n.next = $self.rst_ni.val();
            $self.$register$([$index])?.d.next = $self.$register$([$index])?.q.val();
        )+
    };
}

#[cfg(test)]
mod tests {
    use crate::rtl::prelude::*;

    rtl_block! {
        /// Registers alone and in an array.
        pub struct Chain {
            /// clock
            pub clk_i: Signal<In, Clock>,
            /// reset
            pub rst_ni: Signal<In, Bit>,
            /// first value
            pub x_i: Signal<In, U<8>>,
            /// last value
            pub y_o: Signal<Out, U<8>>,
            first: Reg<U<8>> = Reg::new(9.into()),
            rest: [Reg<U<8>>; 3] = array(),
            held: Reg<U<8>> = Reg::new(7.into()),
            data: DataReg<U<8>>,
        }
    }
    #[hdl_gen]
    impl Logic for Chain {
        fn update(&mut self) {
            dff_setup!(self, clk_i, first, held, data);
            self.data.d.next = self.x_i.val();
            for i in 0..3 {
                dff_setup!(self, clk_i, rest[i]);
            }
            drive!(self; first.d: x_i, rest[0].d: first.q);
            for i in 1..3 {
                self.rest[i].d.next = self.rest[i - 1].q.val();
            }
            self.y_o.next = self.rest[2].q.val() + self.held.q.val();
        }
    }

    #[test]
    fn values_move_one_register_per_cycle() {
        let mut chain = Stepper::new(Chain::default()).unwrap();
        let seen: Vec<u64> = (1..=8)
            .map(|x| chain.step(|c| c.x_i.next = U::new(x), |c| c.y_o.val().to_u64()).unwrap())
            .collect();
        assert_eq!(seen, [7, 7, 7, 16, 8, 9, 10, 11], "reset values, then the inputs, each plus 7");
    }

    #[test]
    fn reset_acts_without_a_clock() {
        let mut chain = Stepper::new(Chain::default()).unwrap();
        for _ in 0..6 {
            chain.step(|c| c.x_i.next = U::new(40), |_| ()).unwrap();
        }
        let block = chain.block_mut();
        assert_eq!(block.y_o.val().to_u64(), 47);
        block.rst_ni.next = false;
        settle(block).unwrap();
        assert_eq!((block.y_o.val().to_u64(), block.first.q.val().to_u64()), (7, 9));
        assert_eq!(block.data.q.val().to_u64(), 40, "a register without reset keeps what it has");
    }
}
