//! RTL of the code builder: the stages in their order, and the parts that do their work.

mod emitter;
mod lengths;
mod merger;
mod sorter;

use super::{COUNT_BITS, CodeBuilderIn, CodeBuilderOut, CodeBuilderParams, ESCAPE_BITS};
use emitter::Emitter;
use lengths::Lengths;
use merger::Merger;
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top::{RtlInstance, RtlTop};
use sorter::Sorter;
use stage::Stage;

mod stage {
    // The derive names rust-hdl's own items.
    use rust_hdl_core::prelude::*;

    /// What the builder is at.
    #[derive(Copy, Clone, Debug, PartialEq, LogicState)]
    pub enum Stage {
        Idle,
        Drain,
        Sort,
        Merge,
        Count,
        Emit,
    }
}

rtl_block! {
    /// Builds canonical Huffman codes of limited length and least total length from a value-frequency table.
    ///
    /// LATTE-CC, section IV.C.2. INDEX are the bits of an entry's index, COUNT those that hold the number of entries, ITEM
    /// those of a count and an index, WEIGHT those of the heaviest package; ITEMS, WORD and ADDRESS are those of the lengths.
    #[derive(LogicBlock)]
    pub struct ScCodeBuilderTop<
        const INDEX: usize, const COUNT: usize, const ITEM: usize, const WEIGHT: usize,
        const ITEMS: usize, const WORD: usize, const ADDRESS: usize,
    > {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: a build in progress is forgotten
        pub rst_ni: Signal<In, Bit>,
        /// build codes; ignored while busy
        pub start_i: Signal<In, Bit>,
        /// weight of the escape symbol, taken with the start
        pub escape_weight_i: Signal<In, U<ESCAPE_BITS>>,
        /// the table gives the oldest entry that was asked for
        pub read_valid_i: Signal<In, Bit>,
        /// its value
        pub read_value_i: Signal<In, U<32>>,
        /// its count
        pub read_count_i: Signal<In, U<COUNT_BITS>>,
        /// the code is taken
        pub code_ready_i: Signal<In, Bit>,
        /// codes are being built
        pub busy_o: Signal<Out, Bit>,
        /// read an entry of the table
        pub read_o: Signal<Out, Bit>,
        /// which entry
        pub read_index_o: Signal<Out, U<INDEX>>,
        /// a code is given
        pub code_valid_o: Signal<Out, Bit>,
        /// it is the first one
        pub code_first_o: Signal<Out, Bit>,
        /// it is the last one
        pub code_last_o: Signal<Out, Bit>,
        /// the entry that it stands for
        pub code_index_o: Signal<Out, U<INDEX>>,
        /// it stands for the escape symbol
        pub code_escape_o: Signal<Out, Bit>,
        /// the value that it stands for
        pub code_value_o: Signal<Out, U<32>>,
        /// the code, right-aligned
        pub code_code_o: Signal<Out, U<16>>,
        /// its length
        pub code_length_o: Signal<Out, U<5>>,
        stage: Reg<Stage>,
        /// the first cycle of the stage
        entering: Reg<Bit>,
        escape_weight: Reg<U<ESCAPE_BITS>>,
        /// entries that were asked for
        asked: Reg<U<COUNT>>,
        /// entries that the table gave
        given: Reg<U<INDEX>>,
        sorter: Idle<Sorter<INDEX, COUNT, ITEM>>,
        merger: Idle<Merger<INDEX, COUNT, WEIGHT>>,
        lengths: Idle<Lengths<COUNT, ITEMS, WORD, ADDRESS>>,
        emitter: Idle<Emitter<INDEX, COUNT>>,
        drained: Signal<Local, Bit>,
        empty: Signal<Local, Bit>,
    }
}

impl<
    const INDEX: usize,
    const COUNT: usize,
    const ITEM: usize,
    const WEIGHT: usize,
    const ITEMS: usize,
    const WORD: usize,
    const ADDRESS: usize,
> ScCodeBuilderTop<INDEX, COUNT, ITEM, WEIGHT, ITEMS, WORD, ADDRESS>
{
    fn new(params: &CodeBuilderParams) -> Self {
        assert_eq!((params.index_bits(), params.weight_bits()), (INDEX, WEIGHT), "widths of the parameters");
        let max_code_bits = params.max_code_bits as u64;
        ScCodeBuilderTop {
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            start_i: Signal::default(),
            escape_weight_i: Signal::default(),
            read_valid_i: Signal::default(),
            read_value_i: Signal::default(),
            read_count_i: Signal::default(),
            code_ready_i: Signal::default(),
            busy_o: Signal::default(),
            read_o: Signal::default(),
            read_index_o: Signal::default(),
            code_valid_o: Signal::default(),
            code_first_o: Signal::default(),
            code_last_o: Signal::default(),
            code_index_o: Signal::default(),
            code_escape_o: Signal::default(),
            code_value_o: Signal::default(),
            code_code_o: Signal::default(),
            code_length_o: Signal::default(),
            stage: Reg::new(Stage::Idle),
            entering: Reg::default(),
            escape_weight: Reg::default(),
            asked: Reg::default(),
            given: Reg::default(),
            sorter: Idle::default(),
            merger: Idle::new(Merger::new(max_code_bits)),
            lengths: Idle::new(Lengths::new(max_code_bits)),
            emitter: Idle::new(Emitter::new(max_code_bits)),
            drained: Signal::default(),
            empty: Signal::default(),
        }
    }
}

impl<
    const INDEX: usize,
    const COUNT: usize,
    const ITEM: usize,
    const WEIGHT: usize,
    const ITEMS: usize,
    const WORD: usize,
    const ADDRESS: usize,
> Logic for ScCodeBuilderTop<INDEX, COUNT, ITEM, WEIGHT, ITEMS, WORD, ADDRESS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, stage, entering, escape_weight, asked, given);
        self.sorter.clk_i.next = self.clk_i.val();
        self.sorter.rst_ni.next = self.rst_ni.val();
        self.merger.clk_i.next = self.clk_i.val();
        self.merger.rst_ni.next = self.rst_ni.val();
        self.lengths.clk_i.next = self.clk_i.val();
        self.lengths.rst_ni.next = self.rst_ni.val();
        self.emitter.clk_i.next = self.clk_i.val();
        self.emitter.rst_ni.next = self.rst_ni.val();

        comment!("the table is read from its first entry to its last; entries that exist are sorted");
        self.read_o.next = self.emitter.read_o.val();
        self.read_index_o.next = 0.into();
        if self.emitter.read_o.val() {
            self.read_index_o.next = self.sorter.index_o.val();
        }
        self.drained.next = false;
        self.sorter.put_i.next = false;
        if self.stage.q.val() == Stage::Drain {
            self.read_o.next = !self.asked.q.val().get_bit(INDEX);
            self.read_index_o.next = self.asked.q.val().get_bits::<INDEX>(0);
            if !self.asked.q.val().get_bit(INDEX) {
                self.asked.d.next = self.asked.q.val() + 1;
            }
            self.sorter.put_i.next = self.read_valid_i.val() & self.read_count_i.val().any();
            self.drained.next = self.read_valid_i.val() & self.given.q.val().all();
            if self.read_valid_i.val() {
                self.given.d.next = self.given.q.val() + 1;
            }
        }
        self.sorter.count_i.next = self.read_count_i.val();
        self.sorter.index_i.next = self.given.q.val();

        comment!("one stage after the other; an empty table needs only the emission");
        self.empty.next = !self.sorter.size_o.val().any();
        self.entering.d.next = false;
        self.sorter.clear_i.next = false;
        self.sorter.sort_i.next = false;
        match self.stage.q.val() {
            Stage::Idle => {
                if self.start_i.val() {
                    self.sorter.clear_i.next = true;
                    self.escape_weight.d.next = self.escape_weight_i.val();
                    self.asked.d.next = 0.into();
                    self.given.d.next = 0.into();
                    self.stage.d.next = Stage::Drain;
                }
            }
            Stage::Drain => {
                if self.drained.val() {
                    self.stage.d.next = Stage::Sort;
                    self.entering.d.next = true;
                }
            }
            Stage::Sort => {
                self.sorter.sort_i.next = self.entering.q.val() & !self.empty.val();
                if self.entering.q.val() & self.empty.val() {
                    self.stage.d.next = Stage::Emit;
                    self.entering.d.next = true;
                } else if self.sorter.done_o.val() {
                    self.stage.d.next = Stage::Merge;
                    self.entering.d.next = true;
                }
            }
            Stage::Merge => {
                if self.merger.done_o.val() {
                    self.stage.d.next = Stage::Count;
                    self.entering.d.next = true;
                }
            }
            Stage::Count => {
                if self.lengths.done_o.val() {
                    self.stage.d.next = Stage::Emit;
                    self.entering.d.next = true;
                }
            }
            _ => {
                if self.emitter.done_o.val() {
                    self.stage.d.next = Stage::Idle;
                }
            }
        }
        self.busy_o.next = self.stage.q.val() != Stage::Idle;

        comment!("merger and emitter read the sorted entries in turn");
        self.sorter.rank_i.next = self.emitter.rank_o.val();
        if self.stage.q.val() == Stage::Merge {
            self.sorter.rank_i.next = self.merger.rank_o.val();
        }
        self.merger.start_i.next = self.entering.q.val() & (self.stage.q.val() == Stage::Merge);
        self.merger.size_i.next = self.sorter.size_o.val();
        self.merger.escape_weight_i.next = self.escape_weight.q.val();
        self.merger.count_i.next = self.sorter.count_o.val();

        self.lengths.item_valid_i.next = self.merger.item_valid_o.val();
        self.lengths.symbol_i.next = self.merger.symbol_o.val();
        self.lengths.list_i.next = self.merger.list_o.val();
        self.lengths.item_i.next = self.merger.item_o.val();
        self.lengths.last_i.next = self.merger.last_o.val();
        self.lengths.start_i.next = self.entering.q.val() & (self.stage.q.val() == Stage::Count);
        self.lengths.size_i.next = self.sorter.size_o.val();
        self.lengths.length_i.next = self.emitter.length_o.val();

        self.emitter.start_i.next = self.entering.q.val() & (self.stage.q.val() == Stage::Emit);
        self.emitter.size_i.next = self.sorter.size_o.val();
        self.emitter.escape_weight_i.next = self.escape_weight.q.val();
        self.emitter.count_i.next = self.sorter.count_o.val();
        self.emitter.index_i.next = self.sorter.index_o.val();
        self.emitter.longer_from_i.next = self.lengths.longer_from_o.val();
        self.emitter.read_valid_i.next = self.read_valid_i.val();
        self.emitter.read_value_i.next = self.read_value_i.val();
        self.emitter.code_ready_i.next = self.code_ready_i.val();
        self.code_valid_o.next = self.emitter.code_valid_o.val();
        self.code_first_o.next = self.emitter.code_first_o.val();
        self.code_last_o.next = self.emitter.code_last_o.val();
        self.code_index_o.next = self.emitter.code_index_o.val();
        self.code_escape_o.next = self.emitter.code_escape_o.val();
        self.code_value_o.next = self.emitter.code_value_o.val();
        self.code_code_o.next = self.emitter.code_code_o.val();
        self.code_length_o.next = self.emitter.code_length_o.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<
    const INDEX: usize,
    const COUNT: usize,
    const ITEM: usize,
    const WEIGHT: usize,
    const ITEMS: usize,
    const WORD: usize,
    const ADDRESS: usize,
> RtlTop for ScCodeBuilderTop<INDEX, COUNT, ITEM, WEIGHT, ITEMS, WORD, ADDRESS>
{
    type In = CodeBuilderIn;
    type Out = CodeBuilderOut;

    fn drive(&mut self, inputs: &CodeBuilderIn) {
        self.start_i.next = inputs.start_i;
        self.escape_weight_i.next = U::new(u64::from(inputs.escape_weight_i));
        self.read_valid_i.next = inputs.read_valid_i;
        self.read_value_i.next = U::new(u64::from(inputs.read_value_i));
        self.read_count_i.next = U::new(u64::from(inputs.read_count_i));
        self.code_ready_i.next = inputs.code_ready_i;
    }

    fn sample(&self) -> CodeBuilderOut {
        CodeBuilderOut {
            busy_o: self.busy_o.val(),
            read_o: self.read_o.val(),
            read_index_o: self.read_index_o.val().to_u64() as u16,
            code_valid_o: self.code_valid_o.val(),
            code_first_o: self.code_first_o.val(),
            code_last_o: self.code_last_o.val(),
            code_index_o: self.code_index_o.val().to_u64() as u16,
            code_escape_o: self.code_escape_o.val(),
            code_value_o: self.code_value_o.val().to_u64() as u32,
            code_code_o: self.code_code_o.val().to_u64() as u16,
            code_length_o: self.code_length_o.val().to_u64() as u8,
        }
    }

    fn upset(&mut self, bit: usize) {
        self.emitter.wake();
        self.emitter.upset(bit);
    }
}

/// The builder for valid parameters. Widths that follow from others are spelled out, and checked by the blocks.
pub(super) fn code_builder(params: &CodeBuilderParams) -> Box<dyn RtlBlock<CodeBuilderIn, CodeBuilderOut>> {
    match params.entries {
        64 => RtlInstance::boxed(ScCodeBuilderTop::<6, 7, 18, 23, 8, 2, 6>::new(params)),
        _ => RtlInstance::boxed(ScCodeBuilderTop::<10, 11, 22, 27, 12, 6, 10>::new(params)),
    }
}
