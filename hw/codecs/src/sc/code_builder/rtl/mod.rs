//! RTL of the code builder: the sequence of the stages, and the parts that do their work.

mod emitter;
mod lengths;
mod merger;
mod sorter;

use super::params::{CodeBuilderParams, ESCAPE_BITS, LENGTH_BITS};
use crate::sc::vft::COUNT_BITS;
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
            escape_weight: DataReg<U<ESCAPE_BITS>>,
            /// number of entries that were requested
            asked: DataReg<U<COUNT>>,
            /// number of entries that the table gave
            given: DataReg<U<INDEX>>,
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

#[hdl_gen]
impl Logic for ScCodeBuilderTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, stage, entering, escape_weight, asked, given);
        drive!(self.sorter; clk_i, rst_ni);
        drive!(self.merger; clk_i, rst_ni);
        drive!(self.lengths; clk_i, rst_ni);
        drive!(self.emitter; clk_i, rst_ni);

        comment!("sort the existing entries only");
        drive!(self; drained: false, sorter.put_i: false);
        if self.stage.q.val() == Stage::Drain {
            self.sorter.put_i.next = self.read_valid_i.val() & self.read_count_i.val().any();
            self.drained.next = self.read_valid_i.val() & self.given.q.val().all();
            if self.read_valid_i.val() {
                self.given.d.next = self.given.q.val() + 1;
            }
        }
        self.sorter.count_i.next = self.read_count_i.val();
        self.sorter.index_i.next = !self.given.q.val();

        comment!("the stages run in sequence; an empty table needs the emission only");
        self.empty.next = !self.sorter.size_o.val().any();
        self.entering.d.next = false;
        drive!(self.sorter; clear_i: false, sort_i: false);
        match self.stage.q.val() {
            Stage::Idle => {
                if self.start_i.val() {
                    drive!(self; sorter.clear_i: true, escape_weight.d: escape_weight_i, asked.d: 0,
                        given.d: 0, stage.d: Stage::Drain);
                }
            }
            Stage::Drain => {
                if self.drained.val() {
                    drive!(self; stage.d: Stage::Sort, entering.d: true);
                }
            }
            Stage::Sort => {
                self.sorter.sort_i.next = self.entering.q.val() & !self.empty.val();
                if self.entering.q.val() & self.empty.val() {
                    drive!(self; stage.d: Stage::Emit, entering.d: true);
                } else if self.sorter.done_o.val() {
                    drive!(self; stage.d: Stage::Merge, entering.d: true);
                }
            }
            Stage::Merge => {
                if self.merger.done_o.val() {
                    drive!(self; stage.d: Stage::Measure, entering.d: true);
                }
            }
            Stage::Measure => {
                if self.lengths.done_o.val() {
                    drive!(self; stage.d: Stage::Emit, entering.d: true);
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
        drive!(self.sorter; turn_i: merger.take_entry_o, next_i: emitter.next_o);
        self.merger.start_i.next = self.entering.q.val() & (self.stage.q.val() == Stage::Merge);
        drive!(self.merger; size_i: sorter.size_o, escape_weight_i: escape_weight.q, count_i: sorter.count_o);

        drive!(self.lengths; node_valid_i: merger.node_valid_o, node_i: merger.node_o,
            symbols_i: merger.symbols_o);
        self.lengths.start_i.next = self.entering.q.val() & (self.stage.q.val() == Stage::Measure);
        drive!(self.lengths; size_i: sorter.size_o, length_i: emitter.length_o);

        self.emitter.start_i.next = self.entering.q.val() & (self.stage.q.val() == Stage::Emit);
        self.sorter.rewind_i.next = self.entering.q.val() & (self.stage.q.val() == Stage::Emit);
        drive!(self.emitter; size_i: sorter.size_o, escape_weight_i: escape_weight.q, count_i: sorter.count_o,
            index_i: sorter.index_o, longer_from_i: lengths.longer_from_o, read_valid_i, read_value_i,
            code_ready_i);
        drive!(self; emitter.code_valid_o, emitter.code_first_o, emitter.code_last_o, emitter.code_index_o,
            emitter.code_escape_o, emitter.code_value_o, emitter.code_code_o, emitter.code_length_o);

        comment!(
            "read the table from its last entry to its first, then again for the values that the emitter requests"
        );
        drive!(self; emitter.read_o, read_index_o: 0);
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
