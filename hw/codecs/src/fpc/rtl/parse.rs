//! Reads the prefixes of the head for a number of groups.

use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Reads the head symbol by symbol: the prefix of each of GROUPS groups, and the state for the groups after them.
    ///
    /// RUNS is 1 for the original algorithm with groups of one word: there, the length of the run follows the prefix of zeros.
    /// HEAD bits hold the longest head of the whole line.
    #[require(RUNS <= 1 && PRE == 3 * GROUPS && HEAD < 1 << 8)]
    pub struct FpcParse<
        const GROUPS: usize, const RUNS: usize, const HEAD: usize, const HEADW: usize, const PRE: usize, const PREW: usize,
    > {
        /// the head from the first of the groups on
        pub head_i: Signal<In, W<HEAD, HEADW>>,
        /// words of these groups that an earlier zero run covers
        pub run_i: Signal<In, U<3>>,
        /// bits of the head before these groups
        pub start_i: Signal<In, U<8>>,
        /// a prefix for each group
        pub prefixes_o: Signal<Out, W<PRE, PREW>>,
        /// the head after the groups
        pub head_o: Signal<Out, W<HEAD, HEADW>>,
        /// words after the groups that a zero run covers
        pub run_o: Signal<Out, U<3>>,
        /// bits of the head up to the end of the groups
        pub start_o: Signal<Out, U<8>>,
        /// zero words form runs
        has_runs: Constant<Bit> = Constant::new(RUNS == 1),
        head: Signal<Local, W<HEAD, HEADW>>,
        prefix: Signal<Local, U<3>>,
        run: Signal<Local, U<3>>,
        start: Signal<Local, U<8>>,
        prefixes: Signal<Local, W<PRE, PREW>>,
    }
}

#[hdl_gen]
impl Logic for FpcParse {
    fn update(&mut self) {
        drive!(self; head: head_i, prefix: 0, run: run_i, start: start_i, prefixes: 0);
        for g in 0..GROUPS {
            self.prefix.next = 0.into();
            if self.run.val().any() {
                self.run.next = self.run.val() - 1;
            } else {
                self.prefix.next = self.head.val().get_bits::<3>(0);
                if self.has_runs.val() & !self.prefix.val().any() {
                    self.run.next = self.head.val().get_bits::<3>(3);
                    self.head.next = self.head.val() >> 6;
                    self.start.next = self.start.val() + 6;
                } else {
                    self.head.next = self.head.val() >> 3;
                    self.start.next = self.start.val() + 3;
                }
            }
            self.prefixes.next[g * 3..] = self.prefix.val();
        }
        drive!(self; prefixes_o: prefixes, head_o: head, run_o: run, start_o: start);
    }
}
