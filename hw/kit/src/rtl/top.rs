//! Adapts a rust-hdl block to the block contract: clocks it, and maps typed ports to its signals.
//!
//! [`rtl_top!`](crate::rtl_top) generates the map from the names of the ports.
use crate::block::{Clocked, RtlBlock};
use crate::ports::PortValue;
use crate::rtl::bits::{U, W};
use crate::rtl::circuit;
use crate::rtl::elastic::ElasticPipe;
use crate::rtl::reg::Reg;
use crate::rtl::step::ClockedBlock;
use rust_hdl_core::prelude::{Bit, Block, Synth};
use selvedge_state::{Reader, State, StateError, Writer};

/// The top of a block's RTL: converts between its signals and typed port values.
pub trait RtlTop: ClockedBlock + State + Send + 'static {
    /// Inputs; see [`ports!`](crate::ports).
    type In: Copy + Default + PartialEq + Send;
    /// Outputs.
    type Out: Copy + Send;
    /// Sets every input signal.
    fn drive(&mut self, inputs: &Self::In);
    /// Reads every output signal.
    fn sample(&self) -> Self::Out;
    /// Inverts a bit of the output registers; see [`RtlBlock::upset`].
    fn upset(&mut self, bit: usize);
}

/// An elaborated top that is evaluated in order; a cycle that repeats the last one is not evaluated.
pub struct RtlInstance<T: RtlTop> {
    top: T,
    /// `true` if a register was changed by hand since the last cycle.
    woken: bool,
    /// Inputs and outputs of the last cycle, if its clock edge changed no state.
    steady: Option<(T::In, T::Out)>,
}

impl<T: RtlTop> RtlInstance<T> {
    /// Connects `top` and resets it.
    ///
    /// # Panics
    /// If the block has a combinational loop.
    pub fn boxed(top: T) -> Box<dyn RtlBlock<T::In, T::Out>> {
        let mut instance = Box::new(RtlInstance { top, woken: false, steady: None });
        instance.top.connect_all();
        circuit::reset(&mut instance.top);
        instance
    }
}

impl<T: RtlTop> Clocked<T::In, T::Out> for RtlInstance<T> {
    fn step(&mut self, inputs: &T::In) -> T::Out {
        if let Some((last, outputs)) = &self.steady
            && last == inputs
        {
            return *outputs;
        }
        self.top.drive(inputs);
        self.woken = false;
        circuit::run(&mut self.top);
        let outputs = self.top.sample();
        self.steady = if self.top.edge() { None } else { Some((*inputs, outputs)) };
        outputs
    }

    fn reset(&mut self) {
        self.steady = None;
        self.top.drive(&T::In::default());
        circuit::reset(&mut self.top);
    }
}

impl<T: RtlTop> State for RtlInstance<T> {
    fn save(&self, to: &mut Writer) {
        self.top.save(to);
        self.woken.save(to);
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        // Forces the evaluation of the next cycle: if it repeats the last one, it changes nothing.
        self.steady = None;
        self.top.load(from)?;
        self.woken.load(from)?;
        if self.woken {
            self.top.wake();
        }
        Ok(())
    }
}

impl<T: RtlTop> RtlBlock<T::In, T::Out> for RtlInstance<T> {
    fn into_block(self: Box<Self>) -> Box<dyn Block> {
        Box::new(self.top)
    }

    fn upset(&mut self, bit: usize) {
        self.steady = None;
        self.woken = true;
        self.top.wake();
        self.top.upset(bit);
    }

    fn as_block(&self) -> &dyn Block {
        &self.top
    }
}

/// The value of a signal that is a port or an output register.
pub trait Wire: Synth {
    /// Converts the value of a port.
    fn from_port(port: &impl PortValue) -> Self;
    /// Converts to the value of a port.
    fn to_port<P: PortValue>(&self) -> P;
    /// Returns the value with bit `bit` inverted.
    fn with_inverted(&self, bit: usize) -> Self;
}

impl Wire for Bit {
    fn from_port(port: &impl PortValue) -> Self {
        U::<1>::from_port(port).any()
    }
    fn to_port<P: PortValue>(&self) -> P {
        P::load(&[u64::from(*self)])
    }
    fn with_inverted(&self, _: usize) -> Self {
        !self
    }
}

impl<const N: usize> Wire for U<N> {
    fn from_port(port: &impl PortValue) -> Self {
        let mut word = [0];
        port.store(&mut word);
        U::new(word[0])
    }
    fn to_port<P: PortValue>(&self) -> P {
        P::load(&[self.to_u64()])
    }
    fn with_inverted(&self, bit: usize) -> Self {
        self.replace_bit(bit, !self.get_bit(bit))
    }
}

impl<const N: usize, const K: usize> Wire for W<N, K> {
    fn from_port(port: &impl PortValue) -> Self {
        let mut words = [0; K];
        port.store(&mut words);
        W::from_words(words)
    }
    fn to_port<P: PortValue>(&self) -> P {
        P::load(self.words())
    }
    fn with_inverted(&self, bit: usize) -> Self {
        self.replace_bit(bit, !self.get_bit(bit))
    }
}

/// State that planted faults can strike: a register, or several concatenated registers.
pub trait Struck {
    /// Returns the width in bits.
    fn bits(&self) -> usize;
    /// Inverts bit `bit`, or returns its distance beyond the last bit.
    fn invert(&mut self, bit: usize) -> Option<usize>;
}

impl<T: Wire, const RESET: bool> Struck for Reg<T, RESET> {
    fn bits(&self) -> usize {
        T::BITS
    }
    fn invert(&mut self, bit: usize) -> Option<usize> {
        let beyond = bit.checked_sub(T::BITS);
        if beyond.is_none() {
            self.q.next = self.q.val().with_inverted(bit);
        }
        beyond
    }
}

impl<S: Struck, const N: usize> Struck for [S; N] {
    fn bits(&self) -> usize {
        self.iter().map(Struck::bits).sum()
    }
    fn invert(&mut self, bit: usize) -> Option<usize> {
        self.iter_mut().try_fold(bit, |bit, one| one.invert(bit))
    }
}

/// A register whose bits are numbered from the given bit, with wraparound.
pub struct From<'a, S>(pub &'a mut S, pub usize);

impl<S: Struck> Struck for From<'_, S> {
    fn bits(&self) -> usize {
        self.0.bits()
    }
    fn invert(&mut self, bit: usize) -> Option<usize> {
        let bits = self.bits();
        self.0.invert(if bit < bits { (bit + self.1) % bits } else { bit })
    }
}

/// Inverts a bit of concatenated registers. `bit` counts modulo their total width.
pub fn strike(registers: &mut [&mut dyn Struck], bit: usize) {
    let bits: usize = registers.iter().map(|register| register.bits()).sum();
    let left = registers.iter_mut().try_fold(bit % bits, |bit, register| register.invert(bit));
    debug_assert_eq!(left, None, "the bit is in one of them");
}

/// Strikes the register at the pipeline's output.
impl<T: Wire> Struck for ElasticPipe<T> {
    fn bits(&self) -> usize {
        T::BITS
    }
    fn invert(&mut self, bit: usize) -> Option<usize> {
        self.last_mut().invert(bit)
    }
}

/// Implements [`RtlTop`](crate::rtl::top::RtlTop) for a block whose ports have the names of the typed structs' fields. The
/// registers behind the outputs follow, in the order of the output ports: planted faults strike them. `part.register` names a
/// register in a sub-block. Everything that is [`Struck`](crate::rtl::top::Struck) may be listed. `register from N` numbers its
/// bits from bit N, with wraparound, for a register that holds its ports in another order. `upset by method` names a method
/// instead of registers.
///
/// ```
/// use selvedge_hw::rtl::prelude::*;
/// use selvedge_hw::{Clocked, ports, rtl_top};
///
/// ports! {
///     /// Inputs.
///     pub struct CounterIn<u32>(_width) {
///         /// Count this cycle.
///         enable_i: bool = 1,
///     }
/// }
/// ports! {
///     /// Outputs.
///     pub struct CounterOut<u32>(width) {
///         /// The count.
///         count_o: u8 = *width as usize,
///     }
/// }
/// rtl_block! {
///     /// Counts the cycles in which `enable_i` is high.
///     pub struct Counter<const N: usize> {
///         pub clk_i: Signal<In, Clock>,
///         pub rst_ni: Signal<In, Bit>,
///         pub enable_i: Signal<In, Bit>,
///         pub count_o: Signal<Out, U<N>>,
///         count: Reg<U<N>>,
///     }
/// }
/// #[hdl_gen]
/// impl Logic for Counter {
///     fn update(&mut self) {
///         dff_setup!(self, clk_i, count);
///         self.count.d.next = self.count.q.val() + self.enable_i.val();
///         self.count_o.next = self.count.q.val();
///     }
/// }
/// rtl_top! {
///     impl[const N: usize] Counter<N>: CounterIn { enable_i } => CounterOut { count_o }, registers { count }
/// }
///
/// let mut counter = RtlInstance::boxed(Counter::<8>::default());
/// counter.step(&CounterIn { enable_i: true });
/// assert_eq!(counter.step(&CounterIn { enable_i: false }).count_o, 1);
/// counter.upset(3);
/// assert_eq!(counter.step(&CounterIn { enable_i: false }).count_o, 9);
/// ```
#[macro_export]
macro_rules! rtl_top {
    (
        impl[$($generics:tt)*] $top:ty: $inputs:ident { $($input:ident),* $(,)? } => $outputs:ident { $($output:ident),* $(,)? },
        $kind:ident $($struck:tt)+
    ) => {
        impl<$($generics)*> $crate::rtl::top::RtlTop for $top {
            type In = $inputs;
            type Out = $outputs;

            fn drive(&mut self, inputs: &$inputs) {
                let $inputs { $($input),* } = inputs;
                $(self.$input.next = $crate::rtl::top::Wire::from_port($input);)*
            }

            fn sample(&self) -> $outputs {
                $outputs { $($output: $crate::rtl::top::Wire::to_port(&self.$output.val())),* }
            }

            fn upset(&mut self, bit: usize) {
                $crate::rtl_top!(@upset self, bit, $kind $($struck)+);
            }
        }
    };
    (@upset $top:ident, $bit:ident, upset by $method:ident) => { $top.$method($bit) };
    (
        @upset $top:ident, $bit:ident,
        registers { $($($register:ident).+ $(from $first:expr)?),+ $(,)? }
    ) => {
        $crate::rtl::top::strike(&mut [$($crate::rtl_top!(@struck $top.$($register).+ $(, $first)?)),+], $bit)
    };
    (@struck $register:expr) => { &mut $register };
    (@struck $register:expr, $first:expr) => { &mut $crate::rtl::top::From(&mut $register, $first) };
}
