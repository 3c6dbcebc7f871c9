//! The form of each line in L2 and DRAM, and the compressed lines that packets carry.
use crate::codecs::{CodecChoice, Form, LINE_BYTES, LineForms};
use selvedge_hw_codecs::line::{Line, words_of};
use selvedge_ptx::memory::{DeviceMemory, within_program};
use selvedge_ptx::ptx::LOCAL_REGION;
use selvedge_state::State;
use std::collections::HashMap;

/// Entries of the cache of compressed forms, a power of two. A line is compressed at several places within a short time.
const REMEMBERED: usize = 1024;

/// Returns whether the line's values are in device memory. Local memory is not, so its lines are never compressed.
pub fn has_values(line: u64) -> bool {
    within_program(line) < LOCAL_REGION
}

/// The form of a line in the L2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub enum L2Form {
    /// As in DRAM: compressed if that saves a burst.
    #[default]
    Compressed,
    /// Uncompressed since it was written.
    Raw,
}

/// The form of a line in L2 and DRAM.
#[derive(Clone, Copy, Debug, Default, State)]
struct LineForm {
    /// Bursts in DRAM; 0 until they are computed.
    dram_bursts: u8,
    l2: L2Form,
}

/// The forms of all lines, and the compressed lines on the crossbar. A line whose form saves no DRAM burst is kept uncompressed.
#[derive(State)]
pub struct LineStore {
    choice: CodecChoice,
    /// Bytes of a DRAM burst.
    burst_bytes: u32,
    // Looked up by address only, so the order of the map has no effect.
    forms: HashMap<u64, LineForm>,
    in_flight: Vec<LineForms>,
    free: Vec<u32>,
    /// Cache of compressed lines, indexed by the line's address.
    remembered: Vec<LineForms>,
}

impl LineStore {
    /// Returns a store of lines compressed by the algorithms of `choice`, for a DRAM with bursts of `burst_bytes`.
    pub fn new(choice: CodecChoice, burst_bytes: u32) -> Self {
        LineStore {
            choice,
            burst_bytes,
            forms: HashMap::new(),
            in_flight: Vec::new(),
            free: Vec::new(),
            remembered: Vec::new(),
        }
    }

    /// Returns the line with its form, or uncompressed if the form saves no DRAM burst.
    pub fn kept(&self, line: LineForms) -> LineForms {
        line.if_saves(self.burst_bytes)
    }

    /// Returns the DRAM bursts of an uncompressed line.
    pub(crate) fn raw_bursts(&self) -> u32 {
        LINE_BYTES as u32 / self.burst_bytes
    }

    /// Returns the algorithms that compress the lines.
    pub fn choice(&self) -> CodecChoice {
        self.choice
    }

    /// Returns the line's values in functional memory, and their compressed form.
    pub fn forms(&mut self, memory: &DeviceMemory, line: u64) -> LineForms {
        let (values, choice, burst_bytes) = (Self::values(memory, line), self.choice, self.burst_bytes);
        let remembered = self.place(line);
        if remembered.values != values {
            *remembered = choice.line(values).if_saves(burst_bytes);
        }
        *remembered
    }

    /// Caches the form that a codec has given for a line.
    pub fn remember(&mut self, line: u64, forms: LineForms) {
        *self.place(line) = forms;
    }

    fn place(&mut self, line: u64) -> &mut LineForms {
        if self.remembered.is_empty() {
            self.remembered = vec![self.choice.line(Line::default()); REMEMBERED];
        }
        &mut self.remembered[line as usize / LINE_BYTES % REMEMBERED]
    }

    /// Returns the line's values in functional memory.
    pub fn values(memory: &DeviceMemory, line: u64) -> Line {
        let mut bytes = [0u8; LINE_BYTES];
        memory.line(line, &mut bytes);
        words_of(&bytes)
    }

    /// Returns the form of the line's present values.
    fn form_now(&mut self, line: u64, memory: &DeviceMemory) -> Form {
        if has_values(line) { self.forms(memory, line).form } else { Form::Raw }
    }

    /// Returns the sub-blocks of the line's present values in a cache.
    pub(crate) fn sub_blocks_now(&mut self, line: u64, memory: &DeviceMemory) -> u32 {
        self.form_now(line, memory).sub_blocks()
    }

    /// Returns the bursts of the line's present values in DRAM.
    pub(crate) fn bursts_now(&mut self, line: u64, memory: &DeviceMemory) -> u32 {
        self.form_now(line, memory).bursts(self.burst_bytes)
    }

    /// Returns the bursts of the line in DRAM. A line that was never written back has the bursts of its present values.
    pub(crate) fn dram_bursts(&mut self, line: u64, memory: &DeviceMemory) -> u32 {
        let known = self.forms.get(&line).map_or(0, |form| form.dram_bursts);
        if known != 0 {
            return u32::from(known);
        }
        let bursts = self.bursts_now(line, memory);
        self.forms.entry(line).or_default().dram_bursts = bursts as u8;
        bursts
    }

    /// Records that the line is written to DRAM in `bursts` bursts. `l2` is the form in which a later fill stores it in the L2.
    pub(crate) fn written_to_dram(&mut self, line: u64, bursts: u32, l2: L2Form) {
        self.forms.insert(line, LineForm { dram_bursts: bursts as u8, l2 });
    }

    /// Returns the line's form in the L2.
    pub(crate) fn l2_form(&self, line: u64) -> L2Form {
        self.forms.get(&line).map_or(L2Form::Compressed, |f| f.l2)
    }

    /// Sets the line's form in the L2.
    pub(crate) fn set_l2_form(&mut self, line: u64, l2: L2Form) {
        self.forms.entry(line).or_default().l2 = l2;
    }

    /// Puts a compressed line on the crossbar and returns its handle, which is never 0.
    pub fn send(&mut self, line: LineForms) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.in_flight[slot as usize] = line;
                slot + 1
            }
            None => {
                self.in_flight.push(line);
                self.in_flight.len() as u32
            }
        }
    }

    /// Returns the compressed line of a handle.
    pub fn in_flight(&self, handle: u32) -> &LineForms {
        &self.in_flight[handle as usize - 1]
    }

    /// Removes the compressed line of a handle from the crossbar and returns it.
    pub fn receive(&mut self, handle: u32) -> LineForms {
        self.free.push(handle - 1);
        self.in_flight[handle as usize - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::LineStore;
    use crate::codecs::{Algorithm, CodecChoice};
    use selvedge_ptx::memory::DeviceMemory;

    #[test]
    fn a_line_is_compressed_anew_once_its_values_change() {
        let mut memory = DeviceMemory::new();
        let line = memory.alloc(128, "line").unwrap();
        let mut store = LineStore::new(CodecChoice::One(Algorithm::Bdi), 32);
        assert_eq!(store.bursts_now(line, &memory), 1, "zeros");
        let scattered: Vec<u32> = (0..32u32).map(|word| word.wrapping_mul(0x9e37_79b9)).collect();
        memory.write_u32s(line, &scattered).unwrap();
        assert_eq!(store.bursts_now(line, &memory), 4, "no two words are near");
        memory.write_u32s(line, &[7; 32]).unwrap();
        assert_eq!(store.bursts_now(line, &memory), 1, "one value throughout");
    }

    #[test]
    fn a_line_that_saves_no_burst_is_kept_uncompressed() {
        let mut memory = DeviceMemory::new();
        let line = memory.alloc(128, "line").unwrap();
        // Differences of two bytes: BDI needs 72 bytes, three sub-blocks.
        let words: Vec<u32> = (0..32u32).map(|word| 0x1234_0000 + 301 * word).collect();
        memory.write_u32s(line, &words).unwrap();
        for (burst_bytes, bursts, is_compressed) in [(32, 3, true), (64, 2, false)] {
            let mut store = LineStore::new(CodecChoice::One(Algorithm::Bdi), burst_bytes);
            assert_eq!(store.bursts_now(line, &memory), bursts, "bursts of {burst_bytes}");
            assert_eq!(store.forms(&memory, line).is_compressed(), is_compressed, "bursts of {burst_bytes}");
        }
        memory.write_u32s(line, &[7; 32]).unwrap();
        assert_eq!(LineStore::new(CodecChoice::One(Algorithm::Bdi), 64).bursts_now(line, &memory), 1);
    }
}
