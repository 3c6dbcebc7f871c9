//! First half of the decompressor: the prefixes of the head.

use crate::rtl::prelude::*;

rtl_block! {
    /// Reads the head symbol by symbol: the prefix of each of GROUPS groups, and where the data start.
    ///
    /// A group of one word is the original algorithm, in which the prefix of zeros is followed by the length of the run.
    /// HEAD is the bits in which the longest head lies.
    #[derive(LogicBlock)]
    pub struct FpcParse<
        const LINE: usize, const LW: usize, const GROUPS: usize, const GROUP: usize, const HEAD: usize, const HEADW: usize,
        const PRE: usize, const PREW: usize,
    > {
        /// 1: head and data; 0: the line as it was
        pub encoding_i: Signal<In, U<1>>,
        /// the payload
        pub payload_i: Signal<In, W<LINE, LW>>,
        /// a prefix for each group
        pub prefixes_o: Signal<Out, W<PRE, PREW>>,
        /// bits of the head
        pub start_o: Signal<Out, U<8>>,
        /// a zero run reaches beyond the line
        pub error_o: Signal<Out, Bit>,
        /// zero words are counted in runs
        has_runs: Constant<Bit>,
        /// the head from the symbol at hand on
        head: Signal<Local, W<HEAD, HEADW>>,
        prefix: Signal<Local, U<3>>,
        /// words that the zero run at hand still covers
        run: Signal<Local, U<3>>,
        start: Signal<Local, U<8>>,
        prefixes: Signal<Local, W<PRE, PREW>>,
    }
}

impl<
    const LINE: usize,
    const LW: usize,
    const GROUPS: usize,
    const GROUP: usize,
    const HEAD: usize,
    const HEADW: usize,
    const PRE: usize,
    const PREW: usize,
> Default for FpcParse<LINE, LW, GROUPS, GROUP, HEAD, HEADW, PRE, PREW>
{
    fn default() -> Self {
        const { assert!(GROUPS * GROUP * 32 == LINE && PRE == 3 * GROUPS) };
        const { assert!(HEAD == if GROUP == 1 { 6 * GROUPS } else { 3 * GROUPS } && HEAD < 1 << 8) };
        FpcParse {
            encoding_i: Signal::default(),
            payload_i: Signal::default(),
            prefixes_o: Signal::default(),
            start_o: Signal::default(),
            error_o: Signal::default(),
            has_runs: Constant::new(GROUP == 1),
            head: Signal::default(),
            prefix: Signal::default(),
            run: Signal::default(),
            start: Signal::default(),
            prefixes: Signal::default(),
        }
    }
}

impl<
    const LINE: usize,
    const LW: usize,
    const GROUPS: usize,
    const GROUP: usize,
    const HEAD: usize,
    const HEADW: usize,
    const PRE: usize,
    const PREW: usize,
> Logic for FpcParse<LINE, LW, GROUPS, GROUP, HEAD, HEADW, PRE, PREW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.head.next = bit_cast_to::<W<HEAD, HEADW>>(self.payload_i.val());
        self.prefix.next = 0.into();
        self.run.next = 0.into();
        self.start.next = 0.into();
        self.prefixes.next = 0.into();
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
            self.prefixes.next = self.prefixes.val().replace_bit(g * 3, self.prefix.val());
        }
        self.prefixes_o.next = self.prefixes.val();
        self.start_o.next = self.start.val();
        self.error_o.next = self.run.val().any() & self.encoding_i.val().get_bit(0);
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<
    const LINE: usize,
    const LW: usize,
    const GROUPS: usize,
    const GROUP: usize,
    const HEAD: usize,
    const HEADW: usize,
    const PRE: usize,
    const PREW: usize,
> PureLogic for FpcParse<LINE, LW, GROUPS, GROUP, HEAD, HEADW, PRE, PREW>
{
    #[inline]
    fn take_inputs(&mut self) {
        self.encoding_i.update_all();
        self.payload_i.update_all();
    }
}
