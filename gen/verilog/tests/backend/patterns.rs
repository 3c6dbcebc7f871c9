//! Compares Rust's results of expressions and statements with the results of Icarus for the emitted Verilog. Each pattern is
//! one module. The inputs are all 65,536 values of two 8-bit inputs, or 65,536 random wide values.

use crate::tools;
use selvedge_gen::{EmitOptions, emit};
use selvedge_hw::rtl::prelude::*;
use std::fmt::Write;

/// Inputs of every pattern: a pair of bytes, or a wide number and a byte.
#[derive(Clone, Copy)]
enum Shape {
    Bytes,
    Wide,
}

/// The results of one pattern.
struct Outcome {
    name: &'static str,
    /// Bits of `y_o`.
    width: usize,
    text: String,
    results: Vec<u64>,
}

/// Values of ports as words.
trait Port: Synth {
    fn from_word(word: u64) -> Self;
    fn to_word(self) -> u64;
}
impl<const N: usize> Port for U<N> {
    fn from_word(word: u64) -> Self {
        U::new(word)
    }
    fn to_word(self) -> u64 {
        self.to_u64()
    }
}
impl Port for bool {
    fn from_word(word: u64) -> Self {
        word & 1 != 0
    }
    fn to_word(self) -> u64 {
        u64::from(self)
    }
}
impl<const N: usize> Port for rust_hdl_core::prelude::Bits<N> {
    fn from_word(word: u64) -> Self {
        word.into()
    }
    fn to_word(self) -> u64 {
        self.to_u64()
    }
}

type Wide = W<200, 4>;

/// Returns the wide inputs. Some words of every eighth value are all ones or all zeros.
fn wide_inputs() -> Vec<(Wide, u64)> {
    let mut random = tools::Random(0x5e1f_ed9e);
    (0..65_536u64)
        .map(|i| {
            let mut words = [0; 4].map(|_: u64| random.next());
            if i % 8 == 0 {
                words[(i / 8 % 4) as usize] = if i % 16 == 0 { u64::MAX } else { 0 };
            }
            (Wide::from_words(words), random.next() & 255)
        })
        .collect()
}

/// Declares a pattern: a block with the inputs of its shape and the output `y_o`, and a function that runs it.
macro_rules! pattern {
    ($name:ident -> $y:ty; { $($fields:tt)* } $($update:tt)*) => {
        pattern!(@bytes $name, U<8>, $y, { $($fields)* } $($update)*);
    };
    (bits $name:ident -> $y:ty; { $($fields:tt)* } $($update:tt)*) => {
        pattern!(@bytes $name, Bits<8>, $y, { $($fields)* } $($update)*);
    };
    (@bytes $name:ident, $x:ty, $y:ty, { $($fields:tt)* } $($update:tt)*) => {
        mod $name {
            #[allow(unused_imports)]
            use super::{types::*, *};
            rtl_block! {
                /// A pattern.
                pub struct Case {
                    pub a_i: Signal<In, $x>, pub b_i: Signal<In, $x>, pub y_o: Signal<Out, $y>, $($fields)*
                }
            }
            impl Logic for Case {
                $($update)*
            }
            pub fn run() -> Outcome {
                let mut case = Case::default();
                let emitted = emit(&case, stringify!($name), &EmitOptions::default()).unwrap_or_else(|e| panic!("{e}"));
                let results = (0..65_536u64).map(|i| {
                    case.a_i.next = Port::from_word(i & 255);
                    case.b_i.next = Port::from_word(i >> 8);
                    settle(&mut case).unwrap();
                    case.y_o.val().to_word()
                }).collect();
                Outcome { name: stringify!($name), width: <$y as Synth>::BITS, text: emitted.text(), results }
            }
        }
    };
    (wide $name:ident -> $y:ty; { $($fields:tt)* } $($update:tt)*) => {
        mod $name {
            #[allow(unused_imports)]
            use super::{types::*, *};
            rtl_block! {
                /// A pattern.
                pub struct Case {
                    pub x_i: Signal<In, Wide>, pub s_i: Signal<In, U<8>>, pub y_o: Signal<Out, $y>, $($fields)*
                }
            }
            impl Logic for Case {
                $($update)*
            }
            pub fn run() -> Outcome {
                let mut case = Case::default();
                let emitted = emit(&case, stringify!($name), &EmitOptions::default()).unwrap_or_else(|e| panic!("{e}"));
                let results = wide_inputs().into_iter().map(|(x, s)| {
                    case.x_i.next = x;
                    case.s_i.next = U::new(s);
                    settle(&mut case).unwrap();
                    case.y_o.val().to_word()
                }).collect();
                Outcome { name: stringify!($name), width: <$y as Synth>::BITS, text: emitted.text(), results }
            }
        }
    };
}

/// Types that patterns use, derived with rust-hdl's own names in scope.
mod types {
    use rust_hdl_core::prelude::*;
    pub use rust_hdl_core::prelude::{Bits, Signed, ToSignedBits, signed_cast, unsigned_cast};

    /// rust-hdl's own cast, which the kit's cast hides.
    pub fn bit_cast_bits<const M: usize, const N: usize>(value: Bits<N>) -> Bits<M> {
        bit_cast(value)
    }

    #[derive(Copy, Clone, Debug, PartialEq, LogicState, selvedge_hw::selvedge_state::State)]
    #[state(crate = selvedge_hw::selvedge_state)]
    pub enum Mode {
        Idle,
        Load,
        Shift,
        Done,
        Error,
    }

    #[derive(Copy, Clone, Debug, PartialEq, Default, LogicStruct, selvedge_hw::selvedge_state::State)]
    #[state(crate = selvedge_hw::selvedge_state)]
    pub struct Pair {
        pub low: Bits<3>,
        pub flag: Bit,
        pub high: Bits<12>,
    }
}

/// A sub-block of patterns.
mod adder {
    use selvedge_hw::rtl::prelude::*;
    rtl_block! {
        /// Adds with a constant of its position.
        pub struct Adder<const K: usize> {
            /// in
            pub x_i: Signal<In, U<8>>,
            /// in, twice
            pub pair_i: [Signal<In, U<4>>; 2],
            /// out
            pub sum_o: Signal<Out, U<8>>,
            wide: Signal<Local, U<8>>,
        }
    }
    impl<const K: usize> Logic for Adder<K> {
        #[hdl_gen]
        fn update(&mut self) {
            self.wide.next = 0.into();
            self.wide.next = self.wide.val().replace_bit(0, self.pair_i[0].val());
            self.wide.next = self.wide.val().replace_bit(4, self.pair_i[1].val());
            self.sum_o.next = self.x_i.val() + self.wide.val() + K.to_bits();
        }
    }
}
use adder::Adder;

// --- widths, casts, precedence ---
pattern!(wrap_cmp_lit -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val() + 1 == 0; });
pattern!(wrap_cmp_sig -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val() + self.b_i.val() < self.a_i.val(); });
pattern!(sub_cmp_lit -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = (self.a_i.val() - self.b_i.val()) < 5; });
pattern!(sub_cmp_local -> Bit; { t: Signal<Local, U<8>> } #[hdl_gen] fn update(&mut self) { self.t.next = self.a_i.val() - self.b_i.val(); self.y_o.next = self.t.val() < 5; });
pattern!(widen_sum -> U<16>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = bit_cast::<16, 8>(self.a_i.val() + self.b_i.val()); });
pattern!(widen_sum_local -> U<16>; { t: Signal<Local, U<8>> } #[hdl_gen] fn update(&mut self) { self.t.next = self.a_i.val() + self.b_i.val(); self.y_o.next = bit_cast::<16, 8>(self.t.val()); });
pattern!(widen_not -> U<16>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = bit_cast::<16, 8>(!self.a_i.val()); });
pattern!(sum_of_widened -> U<16>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = bit_cast::<16, 8>(self.a_i.val()) + bit_cast::<16, 8>(self.b_i.val()); });
pattern!(narrow_sum -> U<4>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = bit_cast::<4, 8>(self.a_i.val() + self.b_i.val()); });
pattern!(not_narrow_cmp -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = !bit_cast::<4, 8>(self.a_i.val()) == bit_cast::<4, 8>(self.b_i.val()); });
pattern!(not_cmp_lit -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = !self.a_i.val() == 3; });
pattern!(sum_shr -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = (self.a_i.val() + self.b_i.val()) >> 1; });
pattern!(prec_and_eq -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val() & self.b_i.val() == 3; });
pattern!(prec_and_eq_paren -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = (self.a_i.val() & self.b_i.val()) == 3; });
pattern!(prec_xor_eq -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val() ^ self.b_i.val() == self.a_i.val(); });
pattern!(prec_shift_and -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val() & self.b_i.val() << 2; });
pattern!(prec_sub_sub -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val() - (self.b_i.val() - 7) - 9; });
pattern!(prec_add_mul -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = (self.a_i.val() + 3) * self.b_i.val() + self.a_i.val() * (self.b_i.val() - 1); });
pattern!(prec_or_and_xor -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = (self.a_i.val() | self.b_i.val()) & (self.a_i.val() ^ 0x55) ^ self.b_i.val() | 0x11; });
pattern!(lnot_bool -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = !(self.a_i.val() == self.b_i.val()) && (self.a_i.val() != 0); });
pattern!(lnot_any -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = !self.a_i.val().any() || self.b_i.val().all(); });
pattern!(any_eq -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val().any() == self.b_i.val().any(); });
pattern!(xor_masked -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = (self.a_i.val() & 0x5a).xor(); });
pattern!(any_of_expr -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = (self.a_i.val() & self.b_i.val()).any(); });
pattern!(all_of_expr -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = (self.a_i.val() | self.b_i.val()).all(); });
pattern!(all_of_cast -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = bit_cast::<4, 8>(self.a_i.val()).all(); });
pattern!(all_of_sum -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = (self.a_i.val() + 1).all(); });
pattern!(and_of_reductions -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val().all() & self.b_i.val().any() & !self.b_i.val().xor(); });
pattern!(shl_big -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val() << self.b_i.val(); });
pattern!(shr_big -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val() >> self.b_i.val(); });
pattern!(shl_of_sum -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = (self.a_i.val() + self.b_i.val()) << (self.b_i.val() & 3); });
pattern!(shr_by_sum -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val() >> (self.b_i.val() + 250); });
pattern!(narrow_shl -> U<4>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = bit_cast::<4, 8>(self.a_i.val() << self.b_i.val()); });
pattern!(narrow_shr -> U<4>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = bit_cast::<4, 8>(self.a_i.val() >> self.b_i.val()); });
pattern!(concat -> U<16>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = bit_cast::<16, 8>(self.a_i.val()) | (bit_cast::<16, 8>(self.b_i.val()) << 8); });
pattern!(bool_add -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val() + self.b_i.val().get_bit(0); });
pattern!(bool_xor_bool -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val().get_bit(1) ^ !self.b_i.val().get_bit(0); });
pattern!(widen_bool_not -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = bit_cast::<8, 1>((!self.a_i.val().get_bit(1)).into()); });
pattern!(add_bool_not -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val() + (!self.b_i.val().get_bit(0)); });
pattern!(sign_ext_xor -> U<16>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = (bit_cast::<16, 8>(self.a_i.val()) ^ 0x80) - 0x80; });
pattern!(cast_to_bool -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = bit_cast_to::<bool>(self.a_i.val() >> 3); });
pattern!(cast_of_cast -> U<12>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = bit_cast::<12, 5>(bit_cast::<5, 8>(self.a_i.val())) - bit_cast::<12, 8>(self.b_i.val()); });
pattern!(neg_by_sub -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = !self.a_i.val() + 1; });
pattern!(compare_chain -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = (self.a_i.val() <= self.b_i.val()) == (self.a_i.val() >= 100); });
pattern!(lit_all_ones -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val() ^ 255; });

// --- bits and fields ---
pattern!(slice_of_sum -> U<4>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = (self.a_i.val() + self.b_i.val()).get_bits::<4>(3); });
pattern!(slice_of_and -> U<3>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = (self.a_i.val() & !self.b_i.val()).get_bits::<3>(5); });
pattern!(bit_of_product -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = (self.a_i.val() * self.b_i.val()).get_bit(6); });
pattern!(slice_in_if -> U<4>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = 0.into(); if (self.a_i.val() + 3).get_bit(7) { self.y_o.next = 5.into(); } else if (self.b_i.val() - 3).get_bit(7) { self.y_o.next = (self.a_i.val() - self.b_i.val()).get_bits::<4>(2); } });
pattern!(dynamic_bit -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val().get_bit(self.b_i.val().index()); });
pattern!(dynamic_bit_safe -> Bit; { k: Signal<Local, U<3>> } #[hdl_gen] fn update(&mut self) { self.k.next = self.b_i.val().get_bits::<3>(2); self.y_o.next = self.a_i.val().get_bit(self.k.val().index()); });
pattern!(dynamic_bits -> U<3>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val().get_bits::<3>(self.b_i.val().index()); });
pattern!(replace_const -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val().replace_bit(3, self.b_i.val().get_bit(0)); });
pattern!(replace_ends -> U<8>; { t: Signal<Local, U<8>> } #[hdl_gen] fn update(&mut self) { self.t.next = self.a_i.val().replace_bit(0, self.b_i.val().get_bit(7)); self.y_o.next = self.t.val().replace_bit(7, true); });
pattern!(replace_field -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val().replace_bit(2, self.b_i.val().get_bits::<4>(1)); });
pattern!(replace_signal -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val().replace_bit(self.b_i.val().index(), self.b_i.val().get_bit(1)); });
pattern!(replace_signal_field -> U<8>; { k: Signal<Local, U<3>> } #[hdl_gen] fn update(&mut self) { self.k.next = self.b_i.val().get_bits::<3>(0); self.y_o.next = self.a_i.val().replace_bit(self.k.val().index(), self.b_i.val().get_bits::<3>(4)); });
pattern!(replace_in_place -> U<8>; { t: Signal<Local, U<8>> } #[hdl_gen] fn update(&mut self) { self.t.next = self.a_i.val(); self.t.next = self.t.val().replace_bit(self.b_i.val().index(), true); self.t.next = self.t.val().replace_bit(1, self.t.val().get_bits::<2>(4)); self.y_o.next = self.t.val(); });
pattern!(replace_nested -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val().replace_bit(1, self.b_i.val().get_bit(0)).replace_bit(6, self.b_i.val().get_bit(2)) + 1; });
pattern!(replace_of_sum -> U<8>; { k: Signal<Local, U<3>> } #[hdl_gen] fn update(&mut self) { self.k.next = self.b_i.val().get_bits::<3>(5); self.y_o.next = (self.a_i.val() + self.b_i.val()).replace_bit(self.k.val().index(), false) + 1; });
pattern!(replace_self_dependent -> U<8>; { t: Signal<Local, U<8>> } #[hdl_gen] fn update(&mut self) { self.t.next = self.a_i.val(); self.t.next = self.b_i.val().replace_bit(self.t.val().get_bits::<3>(0).index(), self.t.val().get_bit(7)); self.y_o.next = self.t.val(); });

// --- statements ---
pattern!(nested_if -> U<8>; {} #[hdl_gen] fn update(&mut self) {
    self.y_o.next = 1.into();
    if self.a_i.val().get_bit(0) {
        if self.b_i.val() > 100 { self.y_o.next = 2.into(); } else if self.b_i.val() > 50 { self.y_o.next = self.a_i.val(); }
    } else if self.a_i.val().get_bit(1) { self.y_o.next = self.b_i.val(); } else { self.y_o.next = self.a_i.val() - self.b_i.val(); }
});
pattern!(if_all_paths -> U<8>; {} #[hdl_gen] fn update(&mut self) { if self.a_i.val() < self.b_i.val() { self.y_o.next = self.a_i.val(); } else { self.y_o.next = self.b_i.val(); } });
pattern!(local_reused -> U<8>; { t: Signal<Local, U<8>>, u: Signal<Local, U<8>> } #[hdl_gen] fn update(&mut self) { self.t.next = self.a_i.val() + 1; self.u.next = self.t.val() ^ self.b_i.val(); self.t.next = self.u.val() - 5; self.y_o.next = self.t.val() + self.u.val(); });
pattern!(output_read_back -> U<8>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val(); if self.y_o.val() > self.b_i.val() { self.y_o.next = self.y_o.val() - self.b_i.val(); } });
pattern!(match_state -> U<8>; { mode: Signal<Local, Mode> } #[hdl_gen] fn update(&mut self) {
    self.mode.next = Mode::Idle;
    if self.a_i.val() > 60 { self.mode.next = Mode::Load; }
    if self.a_i.val() > 120 { self.mode.next = Mode::Shift; }
    if self.a_i.val() > 180 { self.mode.next = Mode::Error; }
    match self.mode.val() {
        Mode::Idle => { self.y_o.next = self.b_i.val(); }
        Mode::Load => { self.y_o.next = self.a_i.val(); if self.b_i.val().get_bit(0) { self.y_o.next = 9.into(); } }
        Mode::Shift => { self.y_o.next = self.b_i.val() << 1; }
        Mode::Done => { self.y_o.next = 77.into(); }
        Mode::Error => { self.y_o.next = 255.into(); }
    }
});
pattern!(match_default -> U<8>; { mode: Signal<Local, Mode>, t: Signal<Local, U<8>> } #[hdl_gen] fn update(&mut self) {
    self.t.next = 3.into();
    if self.b_i.val().get_bit(3) { self.mode.next = Mode::Done; } else { self.mode.next = Mode::Shift; }
    match self.mode.val() { Mode::Done => { self.t.next = self.a_i.val(); } _ => {} }
    self.y_o.next = self.t.val();
});
pattern!(match_bool -> U<8>; {} #[hdl_gen] fn update(&mut self) { match self.a_i.val().get_bit(4) { true => { self.y_o.next = self.a_i.val(); } false => { self.y_o.next = self.b_i.val(); } } });
pattern!(state_compare -> Bit; { mode: Signal<Local, Mode> } #[hdl_gen] fn update(&mut self) { self.mode.next = Mode::Load; if self.a_i.val() == self.b_i.val() { self.mode.next = Mode::Error; } self.y_o.next = (self.mode.val() == Mode::Error) | (self.mode.val() != Mode::Load); });
pattern!(bits logic_struct -> Bits<16>; { pair: Signal<Local, Pair>, t: Signal<Local, Bits<12>> } #[hdl_gen] fn update(&mut self) {
    self.pair.next.low = self.a_i.val().get_bits::<3>(2);
    self.pair.next.flag = self.b_i.val().get_bit(0);
    self.pair.next.high = bit_cast_bits::<12, 8>(self.b_i.val());
    self.t.next = self.pair.val().high;
    if self.pair.val().flag { self.pair.next.high = self.t.val() + 1; }
    self.y_o.next = bit_cast_bits::<16, 12>(self.pair.val().high) + bit_cast_bits::<16, 3>(self.pair.val().low);
});
pattern!(constant_outputs -> U<8>; { t: [Signal<Local, U<8>>; 3] } #[hdl_gen] fn update(&mut self) { for i in 0..3 { self.t[i].next = (i * 2 + 1).to_bits(); } self.y_o.next = self.t[0].val() + self.t[1].val() + self.t[2].val() + (self.a_i.val() & 0); });
pattern!(all_constant -> U<8>; { t: Signal<Local, U<8>> } #[hdl_gen] fn update(&mut self) { self.t.next = 5.into(); for i in 0..4 { if i != 2 { self.t.next = (self.t.val() << 1) + i.to_bits(); } } self.y_o.next = self.t.val(); });

// --- loops and arrays ---
pattern!(popcount -> U<8>; { t: Signal<Local, U<8>> } #[hdl_gen] fn update(&mut self) { self.t.next = 0.into(); for i in 0..8 { self.t.next = self.t.val() + self.a_i.val().get_bit(i); } self.y_o.next = self.t.val(); });
pattern!(affine_bits -> U<8>; { t: Signal<Local, U<8>>, pair: Signal<Local, U<2>> } #[hdl_gen] fn update(&mut self) { self.t.next = 0.into(); for i in 0..3 { self.pair.next = self.a_i.val().get_bits::<2>(i * 2 + 1); self.t.next = (self.t.val() << 2) + bit_cast::<8, 2>(self.pair.val()); } self.y_o.next = self.t.val(); });
pattern!(nested_loops -> U<8>; { t: Signal<Local, U<8>> } #[hdl_gen] fn update(&mut self) { self.t.next = 0.into(); for i in 0..4 { for j in 0..4 { if i > j { self.t.next = self.t.val() + (self.a_i.val().get_bit(i + j) & self.b_i.val().get_bit(7 - i)); } else if i == j { self.t.next = self.t.val() ^ (i * 3 + j).to_bits(); } } } self.y_o.next = self.t.val(); });
pattern!(array_of_locals -> U<8>; { t: [Signal<Local, U<4>>; 4] } #[hdl_gen] fn update(&mut self) { for i in 0..4 { self.t[i].next = self.a_i.val().get_bits::<4>(i) + i.to_bits(); } self.y_o.next = bit_cast::<8, 4>(self.t[0].val() + self.t[3].val()) + bit_cast::<8, 4>(self.t[1].val()) - bit_cast::<8, 4>(self.t[2].val()); });
pattern!(array_prefix -> U<8>; { t: [Signal<Local, U<8>>; 5] } #[hdl_gen] fn update(&mut self) { self.t[0].next = self.b_i.val(); for i in 1..5 { self.t[i].next = self.t[i - 1].val() * 3 + self.a_i.val().get_bit(i); } self.y_o.next = self.t[4].val(); });
pattern!(array_reversed -> U<8>; { t: [Signal<Local, Bit>; 8], u: Signal<Local, U<8>> } #[hdl_gen] fn update(&mut self) { for i in 0..8 { self.t[i].next = self.a_i.val().get_bit(i); } self.u.next = 0.into(); for i in 0..8 { self.u.next = self.u.val().replace_bit(7 - i, self.t[i].val()); } self.y_o.next = self.u.val() ^ self.b_i.val(); });
pattern!(array_dynamic -> U<8>; { t: [Signal<Local, U<8>>; 4], k: Signal<Local, U<2>> } #[hdl_gen] fn update(&mut self) { for i in 0..4 { self.t[i].next = self.a_i.val() + (i * 50).to_bits(); } self.k.next = self.b_i.val().get_bits::<2>(3); self.y_o.next = self.t[self.k.val().index()].val(); });
pattern!(array_two_dimensions -> U<8>; { t: [[Signal<Local, U<4>>; 3]; 2] } #[hdl_gen] fn update(&mut self) { for i in 0..2 { for j in 0..3 { self.t[i][j].next = self.a_i.val().get_bits::<4>(i + j) ^ (i * 3 + j).to_bits(); } } self.y_o.next = bit_cast::<8, 4>(self.t[0][2].val()) + (bit_cast::<8, 4>(self.t[1][1].val()) << 4); });
pattern!(array_of_constants -> U<8>; { k: Constants, t: Signal<Local, U<8>> } #[hdl_gen] fn update(&mut self) { self.t.next = self.b_i.val(); for i in 0..4 { if self.a_i.val().get_bit(i) { self.t.next = self.t.val() + self.k.k[i].val(); } } self.y_o.next = self.t.val(); });
pattern!(sub_block -> U<8>; { s: Adder<7> } #[hdl_gen] fn update(&mut self) { self.s.x_i.next = self.a_i.val(); self.s.pair_i[0].next = self.b_i.val().get_bits::<4>(4); self.s.pair_i[1].next = self.b_i.val().get_bits::<4>(0); self.y_o.next = self.s.sum_o.val(); });
pattern!(sub_block_array -> U<8>; { s: [Gate<Adder<3>>; 4], t: Signal<Local, U<8>> } #[hdl_gen] fn update(&mut self) {
    for i in 0..4 { self.s[i].x_i.next = self.a_i.val() + i.to_bits(); for j in 0..2 { self.s[i].pair_i[j].next = self.b_i.val().get_bits::<4>(i + j) ^ j.to_bits(); } }
    self.t.next = 0.into();
    for i in 0..4 { self.t.next = (self.t.val() << 1) ^ self.s[i].sum_o.val(); }
    self.y_o.next = self.t.val();
});
pattern!(sub_block_chain -> U<8>; { first: Adder<1>, second: Adder<2>, third: Adder<1> } #[hdl_gen] fn update(&mut self) {
    self.first.x_i.next = self.a_i.val(); self.second.x_i.next = self.first.sum_o.val(); self.third.x_i.next = self.second.sum_o.val() ^ self.b_i.val();
    for j in 0..2 { self.first.pair_i[j].next = self.b_i.val().get_bits::<4>(j * 4); self.second.pair_i[j].next = 3.into(); self.third.pair_i[j].next = self.a_i.val().get_bits::<4>(4 - j); }
    self.y_o.next = self.third.sum_o.val();
});
pattern!(divide -> U<8>; { rest: Signal<Local, U<8>>, rem: Signal<Local, U<9>>, quo: Signal<Local, U<8>> } #[hdl_gen] fn update(&mut self) {
    self.rest.next = self.a_i.val(); self.rem.next = 0.into(); self.quo.next = 0.into();
    for _i in 0..8 {
        self.rem.next = (self.rem.val() << 1) + self.rest.val().get_bit(7);
        self.rest.next = self.rest.val() << 1;
        self.quo.next = self.quo.val() << 1;
        if self.rem.val() >= bit_cast::<9, 8>(self.b_i.val()) { self.rem.next = self.rem.val() - bit_cast::<9, 8>(self.b_i.val()); self.quo.next = self.quo.val() + 1; }
    }
    self.y_o.next = self.quo.val() ^ self.rem.val().get_bits::<8>(0);
});

// --- rust-hdl's signed numbers ---
pattern!(bits signed_lt_inline -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = signed_cast(self.a_i.val()) < signed_cast(self.b_i.val()); });
pattern!(bits signed_locals -> Bit; { s: Signal<Local, Signed<8>>, t: Signal<Local, Signed<8>> } #[hdl_gen] fn update(&mut self) { self.s.next = signed_cast(self.a_i.val()); self.t.next = signed_cast(self.b_i.val()); self.y_o.next = self.s.val() >= self.t.val(); });
pattern!(bits signed_sum -> Bits<8>; { s: Signal<Local, Signed<8>>, t: Signal<Local, Signed<8>> } #[hdl_gen] fn update(&mut self) { self.s.next = signed_cast(self.a_i.val()); self.t.next = self.s.val() - signed_cast(self.b_i.val()); self.y_o.next = unsigned_cast(self.t.val() + self.s.val()); });
pattern!(bits signed_sum_compare -> Bit; { s: Signal<Local, Signed<8>> } #[hdl_gen] fn update(&mut self) { self.s.next = signed_cast(self.a_i.val()); self.y_o.next = self.s.val() + signed_cast(self.b_i.val()) < self.s.val(); });
pattern!(bits signed_lt_literal -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = signed_cast(self.a_i.val()) < 5.into(); });
pattern!(bits signed_ge_zero -> Bit; { s: Signal<Local, Signed<8>> } #[hdl_gen] fn update(&mut self) { self.s.next = signed_cast(self.a_i.val()); self.y_o.next = self.s.val() >= 0.into(); });
pattern!(bits signed_gt_negative -> Bit; { s: Signal<Local, Signed<8>> } #[hdl_gen] fn update(&mut self) { self.s.next = signed_cast(self.a_i.val()); self.y_o.next = self.s.val() > (-5).into(); });
pattern!(bits signed_sum_le_literal -> Bit; { s: Signal<Local, Signed<8>> } #[hdl_gen] fn update(&mut self) { self.s.next = signed_cast(self.a_i.val()); self.y_o.next = self.s.val() - signed_cast(self.b_i.val()) <= 100.into(); });
pattern!(bits signed_literal_gt -> Bit; { s: Signal<Local, Signed<8>> } #[hdl_gen] fn update(&mut self) { self.s.next = signed_cast(self.a_i.val()); self.y_o.next = 7.to_signed_bits::<8>() > self.s.val(); });

// --- wide values ---
pattern!(wide wide_sum -> U<64>; { t: Signal<Local, Wide> } #[hdl_gen] fn update(&mut self) { self.t.next = self.x_i.val() + bit_cast_to::<Wide>(self.s_i.val()) + (self.x_i.val() << 3); self.y_o.next = self.t.val().get_bits::<64>(136) ^ self.t.val().get_bits::<64>(60); });
pattern!(wide wide_difference -> U<64>; { t: Signal<Local, Wide> } #[hdl_gen] fn update(&mut self) { self.t.next = bit_cast_to::<Wide>(self.s_i.val()) - self.x_i.val(); self.y_o.next = self.t.val().get_bits::<64>(129); });
pattern!(wide wide_shift -> U<64>; { t: Signal<Local, Wide>, u: Signal<Local, Wide> } #[hdl_gen] fn update(&mut self) { self.t.next = self.x_i.val() << self.s_i.val(); self.u.next = self.x_i.val() >> self.s_i.val(); self.y_o.next = self.t.val().get_bits::<64>(100) ^ self.u.val().get_bits::<64>(33); });
pattern!(wide wide_slice_dynamic -> U<24>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.x_i.val().get_bits::<24>(self.s_i.val().index()); });
pattern!(wide wide_bit_dynamic -> Bit; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = self.x_i.val().get_bit(self.s_i.val().index()); });
pattern!(wide wide_replace_loop -> U<64>; { t: Signal<Local, Wide>, e: Signal<Local, U<20>> } #[hdl_gen] fn update(&mut self) { self.t.next = 0.into(); for i in 0..10 { self.e.next = self.x_i.val().get_bits::<20>(180 - i * 20); self.t.next = self.t.val().replace_bit(i * 20, self.e.val() + i.to_bits()); } self.y_o.next = self.t.val().get_bits::<64>(17) ^ self.t.val().get_bits::<64>(131); });
pattern!(wide wide_replace_dynamic -> U<64>; { t: Signal<Local, Wide> } #[hdl_gen] fn update(&mut self) { self.t.next = self.x_i.val(); self.t.next = self.t.val().replace_bit(self.s_i.val().index(), self.s_i.val().get_bits::<5>(3)); self.y_o.next = self.t.val().get_bits::<64>(136) + self.t.val().get_bits::<64>(71); });
pattern!(wide wide_compare -> Bit; { t: Signal<Local, Wide> } #[hdl_gen] fn update(&mut self) { self.t.next = self.x_i.val() ^ bit_cast_to::<Wide>(self.s_i.val()); self.y_o.next = (self.t.val() < self.x_i.val()) ^ (self.t.val() == self.x_i.val()); });
pattern!(wide wide_reduce -> U<3>; { t: Signal<Local, U<3>> } #[hdl_gen] fn update(&mut self) { self.t.next = 0.into(); self.t.next = self.t.val().replace_bit(0, self.x_i.val().xor()); self.t.next = self.t.val().replace_bit(1, (self.x_i.val() >> self.s_i.val()).any()); self.t.next = self.t.val().replace_bit(2, (self.x_i.val() | !self.x_i.val()).all()); self.y_o.next = self.t.val(); });
pattern!(wide wide_equal_words -> Bit; { first: Signal<Local, U<40>>, same: Signal<Local, Bit> } #[hdl_gen] fn update(&mut self) { self.first.next = self.x_i.val().get_bits::<40>(0); self.same.next = true; for i in 1..5 { if self.x_i.val().get_bits::<40>(i * 40) < self.first.val() { self.same.next = !self.same.val(); } } self.y_o.next = self.same.val(); });
pattern!(wide wide_narrowed -> U<64>; {} #[hdl_gen] fn update(&mut self) { self.y_o.next = bit_cast_to::<U<64>>(self.x_i.val() + self.x_i.val()) ^ bit_cast_to::<U<64>>(self.x_i.val() >> 77); });
pattern!(wide wide_not_and -> U<64>; { t: Signal<Local, Wide> } #[hdl_gen] fn update(&mut self) { self.t.next = !self.x_i.val() & (self.x_i.val() << 7) | bit_cast_to::<Wide>(self.s_i.val()); self.y_o.next = self.t.val().get_bits::<64>(3); });

/// An array of constants with values, as a namespace of the pattern that contains it.
mod constants {
    use rust_hdl_core::prelude::{Block, Constant, Logic, Probe};
    use selvedge_hw::rtl::prelude::U;

    #[derive(selvedge_hw::selvedge_state::State)]
    #[state(crate = selvedge_hw::selvedge_state)]
    pub struct Constants {
        pub k: [Constant<U<8>>; 4],
    }
    impl Default for Constants {
        fn default() -> Self {
            Constants { k: [3, 50, 200, 129].map(|value| Constant::new(U::new(value))) }
        }
    }
    impl Logic for Constants {
        fn update(&mut self) {}
    }
    impl Block for Constants {
        fn connect_all(&mut self) {}
        fn update_all(&mut self) {}
        fn has_changed(&self) -> bool {
            false
        }
        fn accept(&self, name: &str, probe: &mut dyn Probe) {
            probe.visit_start_namespace(name, self);
            self.k.accept("k", probe);
            probe.visit_end_namespace(name, self);
        }
    }
}
use constants::Constants;

macro_rules! run_all {
    ($($name:ident),* $(,)?) => { vec![$($name::run()),*] };
}

/// Runs all patterns of one shape in one simulation. Every pattern must agree with Rust on every input.
fn compare(shape: Shape, outcomes: Vec<Outcome>) {
    let directory = tempfile::tempdir().unwrap();
    let (inputs, drive) = match shape {
        Shape::Bytes => ("  reg [7:0] a, b;", "      a = i[7:0];\n      b = i[15:8];\n"),
        Shape::Wide => (
            "  reg [199:0] x;\n  reg [7:0] s;\n  reg [207:0] vectors [0:65535];",
            "      {s, x} = vectors[i];\n",
        ),
    };
    let pins = match shape {
        Shape::Bytes => ".a_i(a), .b_i(b)",
        Shape::Wide => ".x_i(x), .s_i(s)",
    };
    let (mut declarations, mut load, mut check, mut report) =
        (String::new(), String::new(), String::new(), String::new());
    if let Shape::Wide = shape {
        let lines: Vec<String> = wide_inputs()
            .iter()
            .map(|(x, s)| {
                format!(
                    "{s:02x}{}",
                    x.to_bytes().iter().rev().map(|b| format!("{b:02x}")).collect::<String>()
                )
            })
            .collect();
        std::fs::write(directory.path().join("vectors.hex"), lines.join("\n")).unwrap();
        load += "    $readmemh(\"vectors.hex\", vectors);\n";
    }
    for Outcome { name, width, text, results } in &outcomes {
        std::fs::write(directory.path().join(format!("{name}.v")), text).unwrap();
        let hex: Vec<String> = results.iter().map(|word| format!("{word:x}")).collect();
        std::fs::write(directory.path().join(format!("{name}.hex")), hex.join("\n")).unwrap();
        let top = width - 1;
        writeln!(
            declarations,
            "  wire [{top}:0] y_{name};\n  reg [{top}:0] e_{name} [0:65535];\n  integer bad_{name};"
        )
        .unwrap();
        writeln!(declarations, "  {name} dut_{name} ({pins}, .y_o(y_{name}));").unwrap();
        writeln!(load, "    $readmemh(\"{name}.hex\", e_{name});\n    bad_{name} = 0;").unwrap();
        writeln!(
            check,
            "      if (y_{name} !== e_{name}[i]) begin\n        if (bad_{name} == 0) $display(\"{name}: input %h: \
             Verilog %h, Rust %h\", i, y_{name}, e_{name}[i]);\n        bad_{name} = bad_{name} + 1;\n      end"
        )
        .unwrap();
        writeln!(report, "    if (bad_{name} != 0) $display(\"{name}: %0d differences\", bad_{name});")
            .unwrap();
    }
    let bench = format!(
        "module tb;\n{inputs}\n  integer i;\n{declarations}  initial begin\n{load}    for (i = 0; i < 65536; i = i + 1) \
         begin\n{drive}      #1;\n{check}    end\n{report}    $display(\"done\");\n    $finish;\n  end\nendmodule\n"
    );
    std::fs::write(directory.path().join("tb.v"), bench).unwrap();
    let said = tools::simulate(directory.path());
    let lines: Vec<&str> = said.lines().filter(|line| !line.contains("$finish")).collect();
    assert_eq!(lines, ["done"], "the Verilog differs from Rust");
    assert!(outcomes.iter().all(|outcome| outcome.results.len() == 65_536));
}

#[test]
fn expressions_on_bytes_agree_for_all_inputs() {
    compare(
        Shape::Bytes,
        run_all!(
            wrap_cmp_lit,
            wrap_cmp_sig,
            sub_cmp_lit,
            sub_cmp_local,
            widen_sum,
            widen_sum_local,
            widen_not,
            sum_of_widened,
            narrow_sum,
            not_narrow_cmp,
            not_cmp_lit,
            sum_shr,
            prec_and_eq,
            prec_and_eq_paren,
            prec_xor_eq,
            prec_shift_and,
            prec_sub_sub,
            prec_add_mul,
            prec_or_and_xor,
            lnot_bool,
            lnot_any,
            any_eq,
            xor_masked,
            any_of_expr,
            all_of_expr,
            all_of_cast,
            all_of_sum,
            and_of_reductions,
            shl_big,
            shr_big,
            shl_of_sum,
            shr_by_sum,
            narrow_shl,
            narrow_shr,
            concat,
            bool_add,
            bool_xor_bool,
            widen_bool_not,
            add_bool_not,
            sign_ext_xor,
            cast_to_bool,
            cast_of_cast,
            neg_by_sub,
            compare_chain,
            lit_all_ones,
        ),
    );
}

#[test]
fn bits_and_fields_agree_for_all_inputs() {
    compare(
        Shape::Bytes,
        run_all!(
            slice_of_sum,
            slice_of_and,
            bit_of_product,
            slice_in_if,
            dynamic_bit,
            dynamic_bit_safe,
            dynamic_bits,
            replace_const,
            replace_ends,
            replace_field,
            replace_signal,
            replace_signal_field,
            replace_in_place,
            replace_nested,
            replace_of_sum,
            replace_self_dependent,
            signed_lt_inline,
            signed_locals,
            signed_sum,
            signed_sum_compare,
            signed_lt_literal,
            signed_ge_zero,
            signed_gt_negative,
            signed_sum_le_literal,
            signed_literal_gt,
        ),
    );
}

#[test]
fn statements_loops_and_arrays_agree_for_all_inputs() {
    compare(
        Shape::Bytes,
        run_all!(
            nested_if,
            if_all_paths,
            local_reused,
            output_read_back,
            match_state,
            match_default,
            match_bool,
            state_compare,
            logic_struct,
            constant_outputs,
            all_constant,
            popcount,
            affine_bits,
            nested_loops,
            array_of_locals,
            array_prefix,
            array_reversed,
            array_dynamic,
            array_two_dimensions,
            array_of_constants,
            sub_block,
            sub_block_array,
            sub_block_chain,
            divide,
        ),
    );
}

#[test]
fn wide_values_agree_on_random_inputs() {
    compare(
        Shape::Wide,
        run_all!(
            wide_sum,
            wide_difference,
            wide_shift,
            wide_slice_dynamic,
            wide_bit_dynamic,
            wide_replace_loop,
            wide_replace_dynamic,
            wide_compare,
            wide_reduce,
            wide_equal_words,
            wide_narrowed,
            wide_not_and,
        ),
    );
}
