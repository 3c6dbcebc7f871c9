//! The compressor as combinational logic: both halves in one module.

use super::classify::FpcClassify;
use super::pack::FpcPack;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Compresses a line by frequent patterns, as combinational logic: a line in, its payload out.
    pub struct FpcCompress<
        const LINE: usize, const LW: usize, const WORDS: usize, const GROUPS: usize, const GROUP: usize,
        const SYM: usize, const SYMW: usize, const HEAD: usize, const HEADW: usize, const HSUM: usize, const SIZE: usize,
    > {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// 1: head and data; 0: uncompressed line
        pub encoding_o: Signal<Out, U<1>>,
        /// size of the payload in bits
        pub size_o: Signal<Out, U<SIZE>>,
        /// the payload; zero beyond its size
        pub payload_o: Signal<Out, W<LINE, LW>>,
        classify: Once<FpcClassify<LINE, LW, GROUPS, GROUP, SYM, SYMW>>,
        pack: Gate<FpcPack<LINE, LW, WORDS, GROUPS, GROUP, SYM, SYMW, HEAD, HEADW, HSUM, SIZE>>,
    }
}

#[hdl_gen]
impl Logic for FpcCompress {
    fn update(&mut self) {
        self.classify.line_i.next = self.line_i.val();
        drive!(self.pack; line_i, symbols_i: classify.symbols_o);
        drive!(self; pack.encoding_o, pack.size_o, pack.payload_o);
    }
}
