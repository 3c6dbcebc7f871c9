//! [`elaborate!`](crate::elaborate): builds a block's RTL from its parameters, with each const generic by its name.

use crate::params::{Allowed, ParamSpec};
use std::fmt::Display;

/// Declares the function that builds a block's RTL for valid parameters.
///
/// The RTL is generic over widths, and Rust needs a type for each combination of them. `for FIELD in [VALUES]` makes one type per
/// value of a parameter. If values need different circuits, `match FIELD` selects the circuit. Inside is the circuit with its
/// const generics, by the names and in the order of its struct. Their values may use each other and the constant named after
/// `as`. This constant has the parameters with the chosen values; all other parameters have their defaults. `const` functions of
/// the parameters can therefore serve ports, model and RTL.
///
/// A generic that is missing, repeated, misplaced or unknown is a compile error. A value that
/// [`block_params!`](crate::block_params) allows but that has no circuit is also a compile error, and so is the reverse.
///
/// ```
/// use selvedge_hw::rtl::prelude::*;
/// use selvedge_hw::{Allowed, block_params};
///
/// block_params! {
///     /// Parameters of a counter.
///     pub struct CounterParams {
///         /// The count at which it starts over.
///         modulus: u64 = 256, Allowed::OneOf(&[16, 256]);
///     }
/// }
/// rtl_module! {
///     /// Counts cycles. N is the width of the count.
///     pub struct Counter<const N: usize> for CounterParams as p {
///         inputs CounterIn {
///             /// Count this cycle.
///             enable_i: bool as Bit = 1,
///         }
///         outputs CounterOut {
///             /// The count.
///             count_o: u8 as U<N> = p.modulus.ilog2() as usize,
///         }
///         registers {
///             count: Reg<U<N>>,
///         }
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
/// elaborate! {
///     /// Returns the counter for valid parameters.
///     fn counter(params: &CounterParams as PARAMS) -> Box<dyn RtlBlock<CounterIn, CounterOut>> {
///         for modulus in [16, 256] {
///             Counter { N = PARAMS.modulus.ilog2() as usize }
///         }
///     }
/// }
///
/// let mut counter = counter(&CounterParams { modulus: 16 });
/// for cycle in 0..20 {
///     assert_eq!(counter.step(&CounterIn { enable_i: true }).count_o, cycle % 16);
/// }
/// ```
///
/// Circuits with the same generics share them: `match depth { 1 => Flat, 2 | 5 => Pipelined } { N = 8 }`. Other circuits have
/// separate braces: `match depth { 1 => { Flat { N = 8 } } 2 | 5 => { for width in [4, 8] { ... } } }`.
#[macro_export]
macro_rules! elaborate {
    (
        $(#[$attribute:meta])*
        $vis:vis fn $name:ident($params:ident: &$type:ident as $constant:ident) -> $result:ty { $($body:tt)+ }
    ) => {
        $(#[$attribute])*
        $vis fn $name($params: &$type) -> $result {
            $crate::elaborate!(@body [$params $type $constant] [] { $($body)+ })
        }
    };
    (@body $names:tt $chosen:tt { for $field:ident in [$($value:tt),+ $(,)?] $body:tt }) => {
        $crate::elaborate!(@choose $names $chosen $field $($value $body)+)
    };
    (@body $names:tt $chosen:tt { match $field:ident { $($($value:tt)|+ => $top:ident),+ $(,)? } $generics:tt }) => {
        $crate::elaborate!(@choose $names $chosen $field $($($value { $top $generics })+)+)
    };
    (@body $names:tt $chosen:tt { match $field:ident { $($($value:tt)|+ => $body:tt)+ } }) => {
        $crate::elaborate!(@choose $names $chosen $field $($($value $body)+)+)
    };
    (
        @body [$params:ident $type:ident $constant:ident] $chosen:tt
        { $top:ident { $($generic:ident = $value:expr),+ $(,)? } }
    ) => {{
        const $constant: $type = {
            let mut params = $type::DEFAULT;
            $crate::elaborate!(@set params $chosen);
            params
        };
        // Not every circuit needs it.
        const _: $type = $constant;
        $(const $generic: usize = $value;)+
        const {
            assert!(
                $crate::rtl::elaborate::same_names(
                    <$top<$($generic),+> as $crate::rtl::describe::Described>::WORDS.parameters,
                    &[$(stringify!($generic)),+],
                ),
                concat!("the generics must have the names and the order that they have in the struct ", stringify!($top))
            )
        };
        $crate::rtl::top::RtlInstance::boxed($top::<$($generic),+>::new($params))
    }};
    (@choose [$params:ident $type:ident $constant:ident] $chosen:tt $field:ident $($value:tt $body:tt)+) => {{
        const {
            assert!(
                $crate::rtl::elaborate::covers(
                    $type::SPECS, stringify!($field), &[$($crate::elaborate!(@number $value)),+]
                ),
                concat!("there must be an elaboration for each allowed value of `", stringify!($field), "` and no other")
            )
        };
        match $crate::rtl::elaborate::CircuitChoice::number($params.$field) {
            $(
                $crate::elaborate!(@number $value) => {
                    $crate::elaborate!(@body [$params $type $constant] [$chosen $field $value] $body)
                }
            )+
            _ => $crate::rtl::elaborate::not_valid(stringify!($field), &$params.$field),
        }
    }};
    (@number false) => { 0 };
    (@number true) => { 1 };
    (@number $value:tt) => { $value };
    (@set $params:ident []) => {};
    (@set $params:ident [$chosen:tt $field:ident $value:tt]) => {
        $crate::elaborate!(@set $params $chosen);
        $params.$field = $value;
    };
}

/// A parameter value that selects a circuit.
pub trait CircuitChoice: Copy {
    /// Returns the value as a number; 1 for a switch that is on.
    fn number(self) -> u64;
}

impl CircuitChoice for bool {
    fn number(self) -> u64 {
        self.into()
    }
}

impl CircuitChoice for u32 {
    fn number(self) -> u64 {
        self.into()
    }
}

impl CircuitChoice for u64 {
    fn number(self) -> u64 {
        self
    }
}

impl CircuitChoice for usize {
    fn number(self) -> u64 {
        self as u64
    }
}

/// Panics for a parameter value without a circuit.
///
/// # Panics
/// Always, because blocks check their parameters earlier.
#[cold]
pub fn not_valid(field: &str, value: &dyn Display) -> ! {
    panic!("parameters must be valid, but `{field}` is `{value}`")
}

/// Returns the number of 64-bit words that hold `bits` bits.
pub const fn word_count(bits: usize) -> usize {
    bits.div_ceil(64)
}

/// Returns the width of the numbers from 0 to `most`.
pub const fn width_of(most: usize) -> usize {
    (usize::BITS - most.leading_zeros()) as usize
}

/// Returns whether `values` are all valid values of the parameter `name`, each once. Returns `false` if the parameter does not
/// exist.
pub const fn covers(specs: &[ParamSpec], name: &str, values: &[u64]) -> bool {
    let mut i = 0;
    while i < specs.len() {
        if same(specs[i].name, name) {
            return covers_all(specs[i].allowed, values);
        }
        i += 1;
    }
    false
}

const fn covers_all(allowed: Allowed, values: &[u64]) -> bool {
    let (count, list): (u64, &[u64]) = match allowed {
        Allowed::Range(low, high) => (high - low + 1, &[]),
        Allowed::OneOf(list) => (list.len() as u64, list),
        Allowed::Switch => (2, &[0, 1]),
    };
    let mut i = 0;
    while i < values.len() {
        let admitted = match allowed {
            Allowed::Range(low, high) => low <= values[i] && values[i] <= high,
            Allowed::OneOf(_) | Allowed::Switch => has(list, values[i], list.len()),
        };
        if !admitted || has(values, values[i], i) {
            return false;
        }
        i += 1;
    }
    values.len() as u64 == count
}

/// Returns whether `value` is among the first `count` of `list`.
const fn has(list: &[u64], value: u64, count: usize) -> bool {
    let mut i = 0;
    while i < count {
        if list[i] == value {
            return true;
        }
        i += 1;
    }
    false
}

/// Returns whether the two lists are the same.
pub const fn same_names(one: &[&str], other: &[&str]) -> bool {
    let mut i = 0;
    while i < one.len() && i < other.len() && same(one[i], other[i]) {
        i += 1;
    }
    i == one.len() && i == other.len()
}

const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut i = 0;
    while i < one.len() && i < other.len() && one[i] == other[i] {
        i += 1;
    }
    i == one.len() && i == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_params;
    use crate::rtl::prelude::*;

    const SPECS: &[ParamSpec] = &[
        ParamSpec { name: "lines", allowed: Allowed::OneOf(&[4, 16]), doc: "" },
        ParamSpec { name: "depth", allowed: Allowed::Range(1, 3), doc: "" },
        ParamSpec { name: "fast", allowed: Allowed::Switch, doc: "" },
    ];

    #[test]
    fn every_allowed_value_needs_an_elaboration() {
        assert!(covers(SPECS, "lines", &[16, 4]));
        assert!(!covers(SPECS, "lines", &[4]));
        assert!(covers(SPECS, "depth", &[1, 2, 3]));
        assert!(!covers(SPECS, "depth", &[1, 3]));
        assert!(covers(SPECS, "fast", &[0, 1]));
        assert!(!covers(SPECS, "fast", &[1]));
    }

    #[test]
    fn no_value_has_an_elaboration_that_is_not_allowed_or_has_one_already() {
        assert!(!covers(SPECS, "lines", &[4, 16, 64]));
        assert!(!covers(SPECS, "lines", &[4, 4]));
        assert!(!covers(SPECS, "depth", &[1, 2, 3, 4]));
        assert!(!covers(SPECS, "line", &[4, 16]));
    }

    #[test]
    fn names_count_in_their_order() {
        assert!(same_names(&["A", "BITS"], &["A", "BITS"]));
        for wrong in [&["BITS", "A"] as &[&str], &["A"], &["A", "BITS", "C"], &["A", "BIT"], &["A", "BITSY"]]
        {
            assert!(!same_names(&["A", "BITS"], wrong), "{wrong:?}");
        }
    }

    #[test]
    fn widths_hold_what_they_are_for() {
        assert_eq!([0, 1, 7, 8].map(width_of), [0, 1, 3, 4]);
        assert_eq!([1, 64, 65].map(word_count), [1, 1, 2]);
    }

    block_params! {
        /// Parameters of a delay.
        pub struct DelayParams {
            /// width
            bits: u32 = 4, Allowed::OneOf(&[4, 8]);
            /// the number comes out inverted
            inverted: bool = false, Allowed::Switch;
            /// registers
            depth: usize = 1, Allowed::Range(1, 3);
        }
    }
    rtl_module! {
        /// Shows a number after a cycle.
        pub struct Plain<const N: usize, const MOST: usize> for DelayParams as p {
            inputs DelayIn {
                /// a number
                x_i: u8 as U<N> = p.bits as usize,
            }
            outputs DelayOut {
                /// the number, changed
                y_o: u8 as U<N> = p.bits as usize,
            }
            registers {
                y: Reg<U<N>>,
            }
        }
        /// Shows the difference of a number from the largest one.
        pub struct Inverted<const N: usize, const MOST: usize> {
            registers {
                y: Reg<U<N>>,
            }
        }
    }
    #[hdl_gen]
    impl Logic for Plain {
        fn update(&mut self) {
            dff_setup!(self, clk_i, y);
            drive!(self; y.d: x_i, y_o: y.q);
        }
    }
    impl<const N: usize, const MOST: usize> Logic for Inverted<N, MOST> {
        fn update(&mut self) {
            dff_setup!(self, clk_i, y);
            self.y.d.next = U::<N>::new(MOST as u64) - self.x_i.val();
            self.y_o.next = self.y.q.val();
        }
    }
    elaborate! {
        fn delay(params: &DelayParams as PARAMS) -> Box<dyn RtlBlock<DelayIn, DelayOut>> {
            match depth {
                1 | 2 => {
                    for bits in [4, 8] {
                        match inverted { false => Plain, true => Inverted } {
                            N = PARAMS.bits as usize,
                            MOST = (1 << N) - PARAMS.depth,
                        }
                    }
                }
                3 => { Plain { N = 5, MOST = 0 } }
            }
        }
    }

    #[test]
    fn the_parameters_choose_the_circuit_and_its_generics() {
        let shown = |params| {
            let mut block = delay(&params);
            block.step(&DelayIn { x_i: 3 });
            block.step(&DelayIn { x_i: 0 }).y_o
        };
        for bits in [4, 8] {
            for depth in 1..=3 {
                assert_eq!(shown(DelayParams { bits, inverted: false, depth }), 3);
            }
            for depth in 1..=2 {
                let most = (1u32 << bits) - depth as u32;
                assert_eq!(u32::from(shown(DelayParams { bits, inverted: true, depth })), most - 3);
            }
        }
    }

    #[test]
    #[should_panic = "parameters must be valid, but `bits` is `7`"]
    fn parameters_that_nobody_checked_are_named() {
        delay(&DelayParams { bits: 7, ..DelayParams::DEFAULT });
    }
}
