//! Memories with one write and one read port, as storage that synthesis infers.
//!
//! [`Mem`] reads in the same cycle:
//!
//! ```text
//! clk_i           __/--\__/--\__/--\__
//! write_i         --\_________________
//! write_address_i =< 3 >==============
//! read_address_i  =< 3       >< 4 >===
//! read_data_o     =<old><new >< x >===     the write is visible from the next cycle on
//! ```
//!
//! [`SyncMem`] outputs, one cycle later, the memory's word when the address was sampled (before a write in the same cycle).

use super::activity;
use crate::rtl::prelude::*;

/// Value of `Wrapper::cores` in the Verilog of a hand-written leaf. `Wrapper::code` is the text of the module's body.
///
/// Lines of the text may be directives, which the back end expands for the style of reset: `@clocked` (the head of a process with
/// reset), `@reset` (its reset branch), `@else` (its normal branch), `@end`, and `@initial STATEMENT` (kept only in a style
/// without any reset).
pub const TEMPLATE: &str = "selvedge:template";

/// Replaces [`TEMPLATE`] for a text with nonzero contents, which do not follow from the block's type and sizes.
pub const FILLED_TEMPLATE: &str = "selvedge:template filled";

/// Excludes the zeros at power-up from a simulation in which memories start unknown.
pub(super) const NO_INITIAL: &str = "`ifndef SELVEDGE_NO_INITIAL\n";

/// Returns a leaf's Verilog from its text.
pub(super) fn template(code: String) -> Verilog {
    Verilog::Wrapper(Wrapper { code, cores: TEMPLATE.into() })
}

/// Returns the Verilog of a memory that starts with `initial`, and whose registers start with the type's default.
pub(super) fn memory<T: Synth>(code: String, initial: &[T]) -> Verilog {
    let is_zero = |word: &T| format!("{:x}", word.verilog()).ends_with("'h0");
    let cores = if initial.iter().chain([&T::default()]).all(is_zero) { TEMPLATE } else { FILLED_TEMPLATE };
    Verilog::Wrapper(Wrapper { code, cores: cores.into() })
}

/// Returns the memory array with its initial contents.
fn storage<T: Synth>(initial: &[T]) -> String {
    let zero = T::default();
    let words = match initial.iter().all(|word| *word == zero) {
        true => Vec::new(),
        false => initial.iter().map(|word| word.verilog()).collect(),
    };
    storage_text(T::BITS, initial.len(), &zero.verilog(), &words)
}

/// Returns the memory array with `depth` words of `bits` bits and its initial contents: `words`, or zeros if `words` is empty.
fn storage_text(bits: usize, depth: usize, zero: &VerilogLiteral, words: &[VerilogLiteral]) -> String {
    let mut text = format!("reg [{}:0] words [0:{}];\n\n", bits - 1, depth - 1);
    if words.is_empty() {
        text += &format!(
            "{NO_INITIAL}integer i;\ninitial begin\n  for (i = 0; i < {depth}; i = i + 1) begin : clear\n    words[i] = \
             {zero:x};\n  end\nend\n`endif\n\n"
        );
    } else {
        text += "initial begin\n";
        for (address, word) in words.iter().enumerate() {
            text += &format!("  words[{address}] = {word:x};\n");
        }
        text += "end\n\n";
    }
    text
}

rtl_block! {
    /// Memory of 2^A words with synchronous write and asynchronous read. It has no reset; its initial contents are given.
    #[derive(LogicBlock)]
    pub struct Mem<T: Synth, const A: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// write this cycle
        pub write_i: Signal<In, Bit>,
        /// write address
        pub write_address_i: Signal<In, U<A>>,
        /// write data
        pub write_data_i: Signal<In, T>,
        /// read address
        pub read_address_i: Signal<In, U<A>>,
        /// word at the read address, before this cycle's write
        pub read_data_o: Signal<Out, T>,
        _words: Vec<T>,
        _initial: Vec<T>,
    }
}

impl<T: Synth, const A: usize> Mem<T, A> {
    /// Returns a memory that starts with `initial`; missing words are the type's default.
    ///
    /// # Panics
    /// If `initial` has more than 2^A words.
    pub fn new(mut initial: Vec<T>) -> Self {
        assert!(initial.len() <= 1 << A, "{} words do not fit into 2^{A}", initial.len());
        initial.resize(1 << A, T::default());
        Mem {
            _activity: Default::default(),
            clk_i: Signal::default(),
            write_i: Signal::default(),
            write_address_i: Signal::default(),
            write_data_i: Signal::default(),
            read_address_i: Signal::default(),
            read_data_o: Signal::new_with_default(initial[0]),
            _words: initial.clone(),
            _initial: initial,
        }
    }
}

impl<T: Synth, const A: usize> Default for Mem<T, A> {
    /// Returns a memory of default values.
    fn default() -> Self {
        Mem::new(vec![])
    }
}

impl<T: Synth, const A: usize> Mem<T, A> {
    /// See [`Stateless::has_own_state`](super::circuit::Stateless::has_own_state).
    #[inline(always)]
    fn has_own_state(&mut self) -> bool {
        true
    }

    /// See [`Stateless::take_edge`](super::circuit::Stateless::take_edge).
    #[inline]
    fn take_edge(&mut self) -> bool {
        let writes = self.write_i.val();
        if writes {
            self._words[self.write_address_i.val().index()] = self.write_data_i.val();
        }
        writes
    }
}

impl<T: Synth, const A: usize> Logic for Mem<T, A> {
    #[inline]
    fn update(&mut self) {
        if self.clk_i.pos_edge() && self.write_i.val() {
            activity::note_change();
            self._words[self.write_address_i.val().index()] = self.write_data_i.val();
        }
        self.read_data_o.next = self._words[self.read_address_i.val().index()];
    }
    fn connect(&mut self) {
        self.read_data_o.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = storage(&self._initial);
        code += "always @(posedge clk_i) begin\n  if (write_i) begin\n    words[write_address_i] <= write_data_i;\n  end\n\
                 end\n\nassign read_data_o = words[read_address_i];\n";
        memory(code, &self._initial)
    }
    fn timing(&self) -> Vec<TimingInfo> {
        [self.describe(), sizes(&[("BITS", T::BITS)])].concat()
    }
}

/// Returns the Verilog of a [`SyncMem`] with this memory array.
fn sync_mem(storage: String, bits: usize, zero: &VerilogLiteral) -> String {
    format!(
        "{storage}reg [{}:0] read_data_q;\n{NO_INITIAL}initial read_data_q = {zero:x};\n`endif\nalways @(posedge clk_i) \
         begin\n  read_data_q <= words[read_address_i];\n  if (write_i) begin\n    words[write_address_i] <= write_data_i;\n  end\nend\n\n\
         assign read_data_o = read_data_q;\n",
        bits - 1,
    )
}

rtl_block! {
    /// Memory of 2^A words with synchronous write and synchronous read. A read during a write returns the old word. No reset.
    #[derive(LogicBlock)]
    pub struct SyncMem<T: Synth, const A: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// write this cycle
        pub write_i: Signal<In, Bit>,
        /// write address
        pub write_address_i: Signal<In, U<A>>,
        /// write data
        pub write_data_i: Signal<In, T>,
        /// read address
        pub read_address_i: Signal<In, U<A>>,
        /// word at the read address of the last clock edge, before that edge's write
        pub read_data_o: Signal<Out, T>,
        _words: Vec<T>,
        _initial: Vec<T>,
    }
}

impl<T: Synth, const A: usize> SyncMem<T, A> {
    /// Returns a memory that starts with `initial`; missing words and the output start as the type's default.
    ///
    /// # Panics
    /// If `initial` has more than 2^A words.
    pub fn new(mut initial: Vec<T>) -> Self {
        assert!(initial.len() <= 1 << A, "{} words do not fit into 2^{A}", initial.len());
        initial.resize(1 << A, T::default());
        SyncMem {
            _activity: Default::default(),
            clk_i: Signal::default(),
            write_i: Signal::default(),
            write_address_i: Signal::default(),
            write_data_i: Signal::default(),
            read_address_i: Signal::default(),
            read_data_o: Signal::default(),
            _words: initial.clone(),
            _initial: initial,
        }
    }
}

impl<T: Synth, const A: usize> Default for SyncMem<T, A> {
    /// Returns a memory of default values.
    fn default() -> Self {
        SyncMem::new(vec![])
    }
}

impl<T: Synth, const A: usize> SyncMem<T, A> {
    /// See [`Stateless::has_own_state`](super::circuit::Stateless::has_own_state).
    #[inline(always)]
    fn has_own_state(&mut self) -> bool {
        true
    }

    /// See [`Stateless::take_edge`](super::circuit::Stateless::take_edge).
    #[inline]
    fn take_edge(&mut self) -> bool {
        let (read, writes) = (self._words[self.read_address_i.val().index()], self.write_i.val());
        let changed = writes || read != self.read_data_o.val();
        self.read_data_o.next = read;
        if writes {
            self._words[self.write_address_i.val().index()] = self.write_data_i.val();
        }
        changed
    }
}

impl<T: Synth, const A: usize> Logic for SyncMem<T, A> {
    #[inline]
    fn update(&mut self) {
        if self.clk_i.pos_edge() {
            let read = self._words[self.read_address_i.val().index()];
            activity::note_change_if(|| self.write_i.val() || read != self.read_data_o.val());
            self.read_data_o.next = read;
            if self.write_i.val() {
                self._words[self.write_address_i.val().index()] = self.write_data_i.val();
            }
        }
    }
    fn connect(&mut self) {
        self.read_data_o.connect();
    }
    fn hdl(&self) -> Verilog {
        memory(sync_mem(storage(&self._initial), T::BITS, &T::default().verilog()), &self._initial)
    }
    fn timing(&self) -> Vec<TimingInfo> {
        [self.describe(), sizes(&[("BITS", T::BITS)])].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clocks a leaf without reset once.
    fn clock<B: Block>(block: &mut B, level: impl Fn(&mut B, bool)) {
        level(block, false);
        settle(block).unwrap();
        level(block, true);
        settle(block).unwrap();
    }

    #[test]
    fn an_asynchronous_read_sees_a_write_after_the_edge() {
        let mut mem = Mem::<U<8>, 4>::new(vec![U::new(1), U::new(2)]);
        mem.read_address_i.next = 1.into();
        settle(&mut mem).unwrap();
        assert_eq!(mem.read_data_o.val().to_u64(), 2);
        mem.write_i.next = true;
        mem.write_address_i.next = 1.into();
        mem.write_data_i.next = 77.into();
        settle(&mut mem).unwrap();
        assert_eq!(mem.read_data_o.val().to_u64(), 2, "not before the edge");
        clock(&mut mem, |m, level| m.clk_i.next = level.into());
        assert_eq!(mem.read_data_o.val().to_u64(), 77);
    }

    #[test]
    fn a_synchronous_read_gives_the_old_word() {
        let mut mem = SyncMem::<U<8>, 4>::new(vec![U::new(5)]);
        mem.write_i.next = true;
        mem.write_data_i.next = 9.into();
        clock(&mut mem, |m, level| m.clk_i.next = level.into());
        assert_eq!(mem.read_data_o.val().to_u64(), 5);
        mem.write_i.next = false;
        clock(&mut mem, |m, level| m.clk_i.next = level.into());
        assert_eq!(mem.read_data_o.val().to_u64(), 9);
    }
}
