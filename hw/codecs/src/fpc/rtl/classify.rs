//! The first half of the compressor: the pattern of each word.

use crate::fpc::pattern::Pattern;
use selvedge_hw::rtl::prelude::*;

/// Returns the prefix of a pattern as a named constant.
pub fn prefix(pattern: Pattern) -> Constant<U<3>> {
    Constant::new(U::new(u64::from(pattern.prefix())))
}

rtl_block! {
    /// Finds the pattern of each group of words: GROUPS groups of GROUP words each.
    ///
    /// A group of one word is the original algorithm, with zero runs of up to eight words. A larger group is a segment, whose
    /// words all have its pattern. The symbols of a group are nine bits: its prefix, the words minus one of the zero run that
    /// ends here, and the number of these bits in the head (0 within a run, 6 at its end, otherwise 3).
    #[require(GROUPS * GROUP * 32 == LINE && SYM == 9 * GROUPS && GROUPS <= 32)]
    pub struct FpcClassify<
        const LINE: usize, const LW: usize, const GROUPS: usize, const GROUP: usize, const SYM: usize, const SYMW: usize,
    > {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// prefix, run and length for each group
        pub symbols_o: Signal<Out, W<SYM, SYMW>>,
        zeros: Constant<U<3>> = prefix(Pattern::Zeros),
        sign4: Constant<U<3>> = prefix(Pattern::Sign4),
        sign8: Constant<U<3>> = prefix(Pattern::Sign8),
        sign16: Constant<U<3>> = prefix(Pattern::Sign16),
        upper16: Constant<U<3>> = prefix(Pattern::Upper16),
        two_bytes: Constant<U<3>> = prefix(Pattern::TwoBytes),
        repeated: Constant<U<3>> = prefix(Pattern::Repeated),
        raw: Constant<U<3>> = prefix(Pattern::Raw),
        /// zero words form runs
        has_runs: Constant<Bit> = Constant::new(GROUP == 1),
        word: Signal<Local, U<32>>,
        is_zero: Signal<Local, Bit>,
        is_sign4: Signal<Local, Bit>,
        is_sign8: Signal<Local, Bit>,
        is_sign16: Signal<Local, Bit>,
        is_upper16: Signal<Local, Bit>,
        is_two_bytes: Signal<Local, Bit>,
        is_repeated: Signal<Local, Bit>,
        /// groups of zeros; the bit after the last group stays zero, which ends the run
        zero_groups: Signal<Local, U<33>>,
        prefix: Signal<Local, U<3>>,
        length: Signal<Local, U<3>>,
        /// zero words of the run before this word
        run: Signal<Local, U<3>>,
        symbols: Signal<Local, W<SYM, SYMW>>,
    }
}

#[hdl_gen]
impl Logic for FpcClassify {
    fn update(&mut self) {
        drive!(self; word: 0, is_zero: false, is_sign4: false, is_sign8: false, is_sign16: false,
            is_upper16: false, is_two_bytes: false, is_repeated: false, zero_groups: 0, prefix: 0, length: 0,
            run: 0, symbols: 0);
        for g in 0..GROUPS {
            drive!(self; is_zero: true, is_sign4: true, is_sign8: true, is_sign16: true, is_upper16: true,
                is_two_bytes: true, is_repeated: true);
            for w in 0..GROUP {
                self.word.next = self.line_i.val().get_bits::<32>((g * GROUP + w) * 32);
                if self.word.val().any() {
                    self.is_zero.next = false;
                }
                comment!("sign-extended words: all upper bits equal the sign");
                if self.word.val().get_bits::<29>(3).any() & !self.word.val().get_bits::<29>(3).all() {
                    self.is_sign4.next = false;
                }
                if self.word.val().get_bits::<25>(7).any() & !self.word.val().get_bits::<25>(7).all() {
                    self.is_sign8.next = false;
                }
                if self.word.val().get_bits::<17>(15).any() & !self.word.val().get_bits::<17>(15).all() {
                    self.is_sign16.next = false;
                }
                if self.word.val().get_bits::<16>(0).any() {
                    self.is_upper16.next = false;
                }
                if self.word.val().get_bits::<9>(7).any() & !self.word.val().get_bits::<9>(7).all() {
                    self.is_two_bytes.next = false;
                }
                if self.word.val().get_bits::<9>(23).any() & !self.word.val().get_bits::<9>(23).all() {
                    self.is_two_bytes.next = false;
                }
                if self.word.val().get_bits::<24>(0) != self.word.val().get_bits::<24>(8) {
                    self.is_repeated.next = false;
                }
            }
            comment!("select the pattern with the fewest data bits");
            if self.is_zero.val() {
                self.prefix.next = self.zeros.val();
            } else if self.is_sign4.val() {
                self.prefix.next = self.sign4.val();
            } else if self.is_sign8.val() {
                self.prefix.next = self.sign8.val();
            } else if self.is_repeated.val() {
                self.prefix.next = self.repeated.val();
            } else if self.is_sign16.val() {
                self.prefix.next = self.sign16.val();
            } else if self.is_upper16.val() {
                self.prefix.next = self.upper16.val();
            } else if self.is_two_bytes.val() {
                self.prefix.next = self.two_bytes.val();
            } else {
                self.prefix.next = self.raw.val();
            }
            self.symbols.next[g * 9..] = self.prefix.val();
            self.zero_groups.next[g] = self.is_zero.val();
        }
        for g in 0..GROUPS {
            self.length.next = 3.into();
            if self.zero_groups.val().get_bit(g) & self.has_runs.val() {
                comment!("a run ends at its eighth word or before a nonzero word");
                if self.run.val().all() | !self.zero_groups.val().get_bit(g + 1) {
                    self.symbols.next[g * 9 + 3..] = self.run.val();
                    drive!(self; length: 6, run: 0);
                } else {
                    self.length.next = 0.into();
                    self.run.next = self.run.val() + 1;
                }
            }
            self.symbols.next[g * 9 + 6..] = self.length.val();
        }
        self.symbols_o.next = self.symbols.val();
    }
}
