//! Compressor and decompressor as logic without state: both halves in one module.

use super::classify::FpcClassify;
use super::expand::FpcExpand;
use super::pack::FpcPack;
use super::parse::FpcParse;
use crate::rtl::prelude::*;

rtl_block! {
    /// The whole compressor as logic without state: a line in, its payload out.
    #[derive(LogicBlock, Default)]
    pub struct FpcCompress<
        const LINE: usize, const LW: usize, const WORDS: usize, const GROUPS: usize, const GROUP: usize,
        const SYM: usize, const SYMW: usize, const HEAD: usize, const HEADW: usize, const HSUM: usize, const SIZE: usize,
    > {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// 1: head and data; 0: the line as it was
        pub encoding_o: Signal<Out, U<1>>,
        /// the size of the payload in bits
        pub size_o: Signal<Out, U<SIZE>>,
        /// the payload; zero beyond its size
        pub payload_o: Signal<Out, W<LINE, LW>>,
        classify: Once<FpcClassify<LINE, LW, GROUPS, GROUP, SYM, SYMW>>,
        pack: Gate<FpcPack<LINE, LW, WORDS, GROUPS, GROUP, SYM, SYMW, HEAD, HEADW, HSUM, SIZE>>,
    }
}

impl<
    const LINE: usize,
    const LW: usize,
    const WORDS: usize,
    const GROUPS: usize,
    const GROUP: usize,
    const SYM: usize,
    const SYMW: usize,
    const HEAD: usize,
    const HEADW: usize,
    const HSUM: usize,
    const SIZE: usize,
> Logic for FpcCompress<LINE, LW, WORDS, GROUPS, GROUP, SYM, SYMW, HEAD, HEADW, HSUM, SIZE>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.classify.line_i.next = self.line_i.val();
        self.pack.line_i.next = self.line_i.val();
        self.pack.symbols_i.next = self.classify.symbols_o.val();
        self.encoding_o.next = self.pack.encoding_o.val();
        self.size_o.next = self.pack.size_o.val();
        self.payload_o.next = self.pack.payload_o.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

rtl_block! {
    /// The whole decompressor as logic without state: a payload in, the line out.
    #[derive(LogicBlock, Default)]
    pub struct FpcDecompress<
        const LINE: usize, const LW: usize, const WORDS: usize, const GROUPS: usize, const GROUP: usize,
        const HEAD: usize, const HEADW: usize, const PRE: usize, const PREW: usize,
    > {
        /// 1: head and data; 0: the line as it was
        pub encoding_i: Signal<In, U<1>>,
        /// the payload
        pub payload_i: Signal<In, W<LINE, LW>>,
        /// the line
        pub line_o: Signal<Out, W<LINE, LW>>,
        /// a zero run reached beyond the line; the line is zero
        pub error_o: Signal<Out, Bit>,
        parse: Once<FpcParse<LINE, LW, GROUPS, GROUP, HEAD, HEADW, PRE, PREW>>,
        expand: Gate<FpcExpand<LINE, LW, WORDS, GROUPS, GROUP, PRE, PREW>>,
    }
}

impl<
    const LINE: usize,
    const LW: usize,
    const WORDS: usize,
    const GROUPS: usize,
    const GROUP: usize,
    const HEAD: usize,
    const HEADW: usize,
    const PRE: usize,
    const PREW: usize,
> Logic for FpcDecompress<LINE, LW, WORDS, GROUPS, GROUP, HEAD, HEADW, PRE, PREW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.parse.encoding_i.next = self.encoding_i.val();
        self.parse.payload_i.next = self.payload_i.val();
        self.expand.encoding_i.next = self.encoding_i.val();
        self.expand.payload_i.next = self.payload_i.val();
        self.expand.prefixes_i.next = self.parse.prefixes_o.val();
        self.expand.start_i.next = self.parse.start_o.val();
        self.expand.error_i.next = self.parse.error_o.val();
        self.line_o.next = self.expand.line_o.val();
        self.error_o.next = self.parse.error_o.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
