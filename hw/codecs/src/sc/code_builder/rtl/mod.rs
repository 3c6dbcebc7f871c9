//! RTL of the code builder: the sequence of the stages, and the parts that do their work.

mod emitter;
mod lengths;
mod merger;
mod sorter;

use super::{COUNT_BITS, CodeBuilderParams, ESCAPE_BITS, LENGTH_BITS};
use crate::sc::{MAX_CODE_BITS, WORD_BITS};
use emitter::Emitter;
use lengths::Lengths;
use merger::Merger;
use selvedge_hw::rtl::prelude::*;
use sorter::Sorter;
use stage::Stage;

mod stage {
    // The derive macro uses items of rust-hdl by name.
    use rust_hdl_core::prelude::*;

    /// Stage of the current build.
    #[derive(Copy, Clone, Debug, PartialEq, LogicState, selvedge_state::State)]
    pub enum Stage {
        Idle,
        Drain,
        Sort,
        Merge,
        Measure,
        Emit,
    }
}

rtl_module! {
    /// Builds canonical Huffman codes of limited length from a value-frequency table.
    ///
    /// LATTE-CC, section IV.C.2. INDEX is the width of an entry's index in bits, COUNT of the number of entries, QUEUE of an
    /// index among half the entries, WEIGHT of the heaviest node's weight.
    pub struct ScCodeBuilderTop<
        const INDEX: usize, const COUNT: usize, const QUEUE: usize, const WEIGHT: usize,
    > for CodeBuilderParams as p {
        reset "asynchronous reset, active low: a build in progress is forgotten";
        inputs CodeBuilderIn {
            /// starts a build; ignored while busy
            start_i: bool as Bit = 1,
            /// weight of the escape symbol, sampled at the start
            escape_weight_i: u16 as U<ESCAPE_BITS> = ESCAPE_BITS,
            /// the table replies to the oldest read
            read_valid_i: bool as Bit = 1,
            /// value of the entry that was read
            read_value_i: u32 as U<32> = WORD_BITS,
            /// count of the entry that was read
            read_count_i: u16 as U<COUNT_BITS> = COUNT_BITS,
            /// the consumer takes the code in this cycle
            code_ready_i: bool as Bit = 1,
        }
        outputs CodeBuilderOut {
            /// a build is in progress
            busy_o: bool as Bit = 1,
            /// reads an entry of the table
            read_o: bool as Bit = 1,
            /// index of the entry to read
            read_index_o: u16 as U<INDEX> = p.index_bits(),
            /// a code is offered
            code_valid_o: bool as Bit = 1,
            /// the code is the first one of the stream
            code_first_o: bool as Bit = 1,
            /// the code is the last one of the stream
            code_last_o: bool as Bit = 1,
            /// index of the entry that has the code; zero for the escape
            code_index_o: u16 as U<INDEX> = p.index_bits(),
            /// the code is that of the escape symbol
            code_escape_o: bool as Bit = 1,
            /// value that has the code; zero for the escape
            code_value_o: u32 as U<32> = WORD_BITS,
            /// the code, right-aligned
            code_code_o: u16 as U<16> = MAX_CODE_BITS,
            /// length of the code in bits
            code_length_o: u8 as U<5> = LENGTH_BITS,
        }
        parts {
            stage: Reg<Stage> = Reg::new(Stage::Idle),
            /// the first cycle of the stage
            entering: Reg<Bit>,
            escape_weight: Reg<U<ESCAPE_BITS>>,
            /// number of entries that were requested
            asked: Reg<U<COUNT>>,
            /// number of entries that the table gave
            given: Reg<U<INDEX>>,
            sorter: Idle<Sorter<INDEX, COUNT>>,
            merger: Idle<Merger<INDEX, COUNT, QUEUE, WEIGHT>>,
            lengths: Idle<Lengths<INDEX, COUNT>> = Idle::new(Lengths::new(p.max_code_bits as u64)),
            emitter: Idle<Emitter<INDEX, COUNT>> = Idle::new(Emitter::new(p.max_code_bits as u64)),
            drained: Signal<Local, Bit>,
            empty: Signal<Local, Bit>,
        }
        upset by strike;
    }
}

impl<const INDEX: usize, const COUNT: usize, const QUEUE: usize, const WEIGHT: usize> Logic
    for ScCodeBuilderTop<INDEX, COUNT, QUEUE, WEIGHT>
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

        comment!("entries that exist are sorted");
        self.drained.next = false;
        self.sorter.put_i.next = false;
        if self.stage.q.val() == Stage::Drain {
            self.sorter.put_i.next = self.read_valid_i.val() & self.read_count_i.val().any();
            self.drained.next = self.read_valid_i.val() & self.given.q.val().all();
            if self.read_valid_i.val() {
                self.given.d.next = self.given.q.val() + 1;
            }
        }
        self.sorter.count_i.next = self.read_count_i.val();
        self.sorter.index_i.next = !self.given.q.val();

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
                    self.stage.d.next = Stage::Measure;
                    self.entering.d.next = true;
                }
            }
            Stage::Measure => {
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

        comment!(
            "the merger turns the chain of entries round, so that the emitter finds the heaviest one first"
        );
        self.sorter.turn_i.next = self.merger.take_entry_o.val();
        self.sorter.next_i.next = self.emitter.next_o.val();
        self.merger.start_i.next = self.entering.q.val() & (self.stage.q.val() == Stage::Merge);
        self.merger.size_i.next = self.sorter.size_o.val();
        self.merger.escape_weight_i.next = self.escape_weight.q.val();
        self.merger.count_i.next = self.sorter.count_o.val();

        self.lengths.node_valid_i.next = self.merger.node_valid_o.val();
        self.lengths.node_i.next = self.merger.node_o.val();
        self.lengths.symbols_i.next = self.merger.symbols_o.val();
        self.lengths.start_i.next = self.entering.q.val() & (self.stage.q.val() == Stage::Measure);
        self.lengths.size_i.next = self.sorter.size_o.val();
        self.lengths.length_i.next = self.emitter.length_o.val();

        self.emitter.start_i.next = self.entering.q.val() & (self.stage.q.val() == Stage::Emit);
        self.sorter.rewind_i.next = self.entering.q.val() & (self.stage.q.val() == Stage::Emit);
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

        comment!(
            "the table is read from its last entry to its first, and again where the emitter wants a value"
        );
        self.read_o.next = self.emitter.read_o.val();
        self.read_index_o.next = 0.into();
        if self.emitter.read_o.val() {
            self.read_index_o.next = self.sorter.index_o.val();
        }
        if self.stage.q.val() == Stage::Drain {
            self.read_o.next = !self.asked.q.val().get_bit(INDEX);
            if !self.asked.q.val().get_bit(INDEX) {
                self.read_index_o.next = !self.asked.q.val().get_bits::<INDEX>(0);
                self.asked.d.next = self.asked.q.val() + 1;
            }
        }
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<const INDEX: usize, const COUNT: usize, const QUEUE: usize, const WEIGHT: usize>
    ScCodeBuilderTop<INDEX, COUNT, QUEUE, WEIGHT>
{
    /// Inverts a bit of the emitter's registers. The emitter may be at rest, so this wakes it first.
    fn strike(&mut self, bit: usize) {
        self.emitter.wake();
        self.emitter.strike(bit);
    }
}

elaborate! {
    /// Returns the builder for valid parameters.
    pub(super) fn code_builder(
        params: &CodeBuilderParams as PARAMS
    ) -> Box<dyn RtlBlock<CodeBuilderIn, CodeBuilderOut>> {
        for entries in [64, 1024] {
            ScCodeBuilderTop {
                INDEX = PARAMS.index_bits(),
                COUNT = INDEX + 1,
                QUEUE = INDEX - 1,
                WEIGHT = PARAMS.weight_bits(),
            }
        }
    }
}
