//! Golden model of the code builder: reads the table, computes the codes at once, and gives them in the cycles of the
//! hardware.
use super::params::{CodeBuilderParams, code_cycles};
use super::rtl::{CodeBuilderIn, CodeBuilderOut};
use crate::sc::huffman::{CodeBook, CountedValue, ScSymbol, SymbolCode};
use selvedge_hw::block::Clocked;
use selvedge_state::State;
use std::collections::VecDeque;

/// Stage of the current build.
#[derive(Clone, Debug, State)]
enum CodeBuilderModelStage {
    Idle,
    /// Reads the table: number of requested entries, and entries received so far.
    Drain {
        asked: usize,
        table: Vec<CountedValue>,
    },
    /// Sorts, merges and measures for `cycles` further cycles. Then it gives `codes`.
    Work {
        cycles: u64,
        codes: VecDeque<SymbolCode>,
    },
    Emit(Emission),
}

/// State of the emission of codes.
#[derive(Clone, Debug, State)]
struct Emission {
    /// Codes that have not reached the output registers yet, the next one first.
    codes: VecDeque<SymbolCode>,
    /// `true` until the first code is given.
    first: bool,
    /// Length in bits to which the next code has grown.
    length: u8,
    /// `read` is `true` in the cycle of a read request for the next code's value, `waiting` from then until the reply.
    read: bool,
    waiting: bool,
}

/// Golden model of the code builder.
#[derive(Clone, Debug, State)]
pub struct CodeBuilderModel {
    params: CodeBuilderParams,
    stage: CodeBuilderModelStage,
    escape_weight: u16,
    /// Registers behind the `code_*` ports.
    given: CodeBuilderOut,
}

impl CodeBuilderModel {
    /// Returns the idle builder. The parameters must be valid.
    pub fn new(params: &CodeBuilderParams) -> Self {
        CodeBuilderModel {
            params: *params,
            stage: CodeBuilderModelStage::Idle,
            escape_weight: 0,
            given: CodeBuilderOut::default(),
        }
    }

    /// Returns the outputs that follow from the stage.
    fn outputs(&self) -> CodeBuilderOut {
        let mut outputs = CodeBuilderOut { busy_o: true, ..self.given };
        match &self.stage {
            CodeBuilderModelStage::Idle => outputs.busy_o = false,
            CodeBuilderModelStage::Drain { asked, .. } if *asked < self.params.entries => {
                outputs.read_o = true;
                outputs.read_index_o = (self.params.entries - 1 - asked) as u16;
            }
            CodeBuilderModelStage::Emit(Emission { read: true, codes, .. }) => {
                outputs.read_o = true;
                outputs.read_index_o = index_of(&codes[0]);
            }
            _ => {}
        }
        outputs
    }

    /// Returns the stage after the last reply of the table.
    fn work(&self, table: Vec<CountedValue>) -> CodeBuilderModelStage {
        let counts = table.iter().map(|entry| u32::from(entry.count)).filter(|count| *count > 0);
        let mut weights: Vec<u32> = counts.chain([u32::from(self.escape_weight)]).collect();
        weights.sort_unstable_by(|one, other| other.cmp(one));
        let max_bits = self.params.max_code_bits as u32;
        let book = CodeBook::build(table, u32::from(self.escape_weight), max_bits);
        let codes = book.codes().iter().copied().collect();
        CodeBuilderModelStage::Work { cycles: code_cycles(&self.params, &weights), codes }
    }

    /// Advances the emission by one cycle. Returns `true` when the last code is taken.
    fn emit(given: &mut CodeBuilderOut, emission: &mut Emission, inputs: &CodeBuilderIn) -> bool {
        let free = !given.code_valid_o || inputs.code_ready_i;
        let taken = given.code_valid_o && inputs.code_ready_i;
        given.code_valid_o &= !taken;
        emission.read = false;
        let Some(code) = emission.codes.front().copied() else { return taken };
        let mut give = None;
        if emission.waiting {
            if inputs.read_valid_i {
                give = Some((index_of(&code), inputs.read_value_i));
            }
        } else if emission.length < code.length {
            emission.length += 1;
        } else if free && code.symbol == ScSymbol::Escape {
            give = Some((0, 0));
        } else if free {
            (emission.read, emission.waiting) = (true, true);
        }
        if let Some((index, value)) = give {
            emission.codes.pop_front();
            *given = CodeBuilderOut {
                code_valid_o: true,
                code_first_o: emission.first,
                code_last_o: emission.codes.is_empty(),
                code_index_o: index,
                code_escape_o: code.symbol == ScSymbol::Escape,
                code_value_o: value,
                code_code_o: code.bits,
                code_length_o: code.length,
                ..CodeBuilderOut::default()
            };
            (emission.first, emission.waiting) = (false, false);
        }
        false
    }
}

fn index_of(code: &SymbolCode) -> u16 {
    match code.symbol {
        ScSymbol::Value { index, .. } => index,
        ScSymbol::Escape => 0,
    }
}

impl Clocked<CodeBuilderIn, CodeBuilderOut> for CodeBuilderModel {
    fn step(&mut self, inputs: &CodeBuilderIn) -> CodeBuilderOut {
        let outputs = self.outputs();
        let next = match &mut self.stage {
            CodeBuilderModelStage::Idle if inputs.start_i => {
                self.escape_weight = inputs.escape_weight_i;
                Some(CodeBuilderModelStage::Drain { asked: 0, table: Vec::new() })
            }
            CodeBuilderModelStage::Idle => None,
            CodeBuilderModelStage::Drain { asked, table } => {
                *asked = (*asked + 1).min(self.params.entries);
                if inputs.read_valid_i {
                    table.push(CountedValue {
                        index: (self.params.entries - 1 - table.len()) as u16,
                        value: inputs.read_value_i,
                        count: inputs.read_count_i,
                    });
                }
                let table = (table.len() == self.params.entries).then(|| std::mem::take(table));
                table.map(|table| self.work(table))
            }
            CodeBuilderModelStage::Work { cycles, codes } => {
                *cycles -= 1;
                (*cycles == 0).then(|| {
                    CodeBuilderModelStage::Emit(Emission {
                        codes: std::mem::take(codes),
                        first: true,
                        length: 1,
                        read: false,
                        waiting: false,
                    })
                })
            }
            CodeBuilderModelStage::Emit(emission) => {
                Self::emit(&mut self.given, emission, inputs).then_some(CodeBuilderModelStage::Idle)
            }
        };
        if let Some(next) = next {
            self.stage = next;
        }
        outputs
    }

    fn reset(&mut self) {
        *self = CodeBuilderModel::new(&self.params);
    }
}
