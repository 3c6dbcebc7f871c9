//! Corner cases of the decompressor, observed at its ports.
use super::rtl::{DecompressorIn, DecompressorOut};
use crate::sc::{ENTRIES, LINE_BITS, MAX_CODE_BITS, words_of};
use selvedge_hw::corners::{Corner, Corners, PortCorners};
use std::collections::VecDeque;

/// Corner cases that one clock shows, and the last value of a full table.
pub(super) struct ScDecompressorCorners {
    ports: PortCorners<DecompressorIn, DecompressorOut>,
    /// Rank of the next code, and whether a value has preceded the escape.
    rank: usize,
    escape_is_later: bool,
    /// The value of the last of 1,024 values, if its escape has neither the first nor the last code.
    last_value: Option<u32>,
    /// For each payload inside the block, whether it is compressed.
    compressed: VecDeque<bool>,
    last_values: u64,
}

impl ScDecompressorCorners {
    pub(super) fn new() -> Self {
        ScDecompressorCorners {
            ports: ports(),
            rank: 0,
            escape_is_later: false,
            last_value: None,
            compressed: VecDeque::new(),
            last_values: 0,
        }
    }

    /// Records a code.
    fn load(&mut self, inputs: &DecompressorIn) {
        if inputs.load_first_i {
            (self.rank, self.escape_is_later, self.last_value) = (0, false, None);
        }
        self.escape_is_later |= inputs.load_escape_i && self.rank > 0;
        if self.rank == ENTRIES && self.escape_is_later && !inputs.load_escape_i {
            self.last_value = Some(inputs.load_value_i);
        }
        self.rank += 1;
    }
}

impl Corners<DecompressorIn, DecompressorOut> for ScDecompressorCorners {
    fn reset(&mut self) {
        self.ports.reset();
        self.compressed.clear();
        self.last_value = None;
    }

    fn clock(&mut self, inputs: &DecompressorIn, outputs: &DecompressorOut) {
        self.ports.clock(inputs, outputs);
        if outputs.valid_o && inputs.ready_i {
            let is_compressed = self.compressed.pop_front() == Some(true);
            let words = words_of(&outputs.line_o);
            let has_last = self.last_value.is_some_and(|value| words.contains(&value));
            self.last_values += u64::from(is_compressed && !outputs.error_o && has_last);
        }
        if inputs.valid_i && outputs.ready_o {
            self.compressed.push_back(inputs.compressed_i);
        }
        if inputs.load_valid_i && outputs.load_ready_o {
            self.load(inputs);
        }
    }

    fn operations(&self) -> u64 {
        self.ports.operations()
    }

    fn seen(&self) -> Vec<Corner> {
        let name = "the last value of a full table";
        let mut corners = self.ports.seen();
        corners.push(Corner { name, times: self.last_values, demanded: 1 });
        corners
    }
}

/// Returns the corner cases that one clock shows. An operation is a line.
fn ports() -> PortCorners<DecompressorIn, DecompressorOut> {
    let taken = |i: &DecompressorIn, o: &DecompressorOut| i.valid_i && o.ready_o;
    let given = |i: &DecompressorIn, o: &DecompressorOut| o.valid_o && i.ready_i;
    let loaded = |i: &DecompressorIn, o: &DecompressorOut| i.load_valid_i && o.load_ready_o;
    let full = LINE_BITS as u16;
    let longest = MAX_CODE_BITS as u8;
    PortCorners::new(given)
        .with("compressed", 2000, move |i, o| taken(i, o) && i.compressed_i)
        // Codes alone take at most 16 bits per word, half of the line.
        .with("escapes", 2000, move |i, o| taken(i, o) && i.compressed_i && i.bits_i > full / 2)
        .with("the last bit is used", 100, move |i, o| taken(i, o) && i.compressed_i && i.bits_i == full)
        .with("more bits than the line has", 100, move |i, o| {
            taken(i, o) && i.compressed_i && i.bits_i > full
        })
        .with("kept as it is", 2000, move |i, o| taken(i, o) && !i.compressed_i)
        .with("error", 500, move |i, o| given(i, o) && o.error_o)
        .with("line waits", 2000, |i, o| o.valid_o && !i.ready_i)
        .with("payload waits for codes", 100, |i, o| i.valid_i && o.load_ready_o)
        .with("codes wait for a line", 10, |i, o| i.load_valid_i && o.valid_o && !o.load_ready_o)
        .with("codes arrive", 20, move |i, o| loaded(i, o) && i.load_last_i)
        .with("the escape alone", 1, move |i, o| {
            loaded(i, o) && i.load_first_i && i.load_last_i && i.load_escape_i
        })
        .with("the longest code", 10, move |i, o| loaded(i, o) && i.load_length_i == longest)
}
