//! The registers of an elaborated block, found by rust-hdl's probe: their names, widths and current values.
//!
//! Logic without state is evaluated only when it is read (see [`circuit`](super::circuit)). It therefore has no value in a cycle
//! in which no reader is evaluated. Registers always have a value. The contents of memories are not included.

use super::describe::Description;
use super::reg::is_register;
use rust_hdl_core::prelude::{Atom, Block, Probe, TypeKind, Verilog};

/// A register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Names of the sub-blocks that contain it, from the top.
    pub scope: Vec<String>,
    /// Its name in the emitted Verilog, such as `limit_q`. An element of an array ends with its index: `hits_q_2`.
    pub name: String,
    /// Width in bits.
    pub bits: usize,
    /// The type of its values if they have names, in lower case: `phase`.
    pub what: String,
    /// Names of its values.
    pub values: Vec<(u64, String)>,
    /// Description of its contents, or an empty string.
    pub doc: String,
}

/// The registers of a block.
#[derive(Clone, Debug, Default)]
pub struct BlockRegisters {
    list: Vec<Register>,
    /// `true` for each atom that holds a register's value, in the order of the probe.
    holds: Vec<bool>,
}

impl BlockRegisters {
    /// Finds the registers of `block`.
    pub fn of(block: &dyn Block) -> Self {
        let mut finder = RegisterFinder::default();
        block.accept("top", &mut finder);
        finder.found
    }

    /// Returns every register, in the order of [`Self::read`].
    pub fn list(&self) -> &[Register] {
        &self.list
    }

    /// Returns the current value of every register of a block, as little-endian words. The block is the one in which the
    /// registers were found, or another one with the same parameters.
    pub fn read(&self, block: &dyn Block) -> Vec<Vec<u64>> {
        let mut reader =
            ValueReader { holds: &self.holds, at: 0, values: Vec::with_capacity(self.list.len()) };
        block.accept("top", &mut reader);
        reader.values
    }
}

/// An enclosing block of the visited atom.
struct BlockScope {
    name: String,
    description: Option<Description>,
    is_register: bool,
}

#[derive(Default)]
struct RegisterFinder {
    found: BlockRegisters,
    scopes: Vec<BlockScope>,
    namespaces: Vec<String>,
}

impl Probe for RegisterFinder {
    fn visit_start_scope(&mut self, name: &str, block: &dyn Block) {
        let is_register = matches!(block.hdl(), Verilog::Wrapper(wrapper) if is_register(&wrapper.cores));
        let name = self.namespaces.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join("$");
        self.scopes.push(BlockScope { name, description: Description::of(block), is_register });
    }

    fn visit_end_scope(&mut self, _: &str, _: &dyn Block) {
        self.scopes.pop();
    }

    fn visit_start_namespace(&mut self, name: &str, _: &dyn Block) {
        self.namespaces.push(name.into());
    }

    fn visit_end_namespace(&mut self, _: &str, _: &dyn Block) {
        self.namespaces.pop();
    }

    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        let holder = self.scopes.last().filter(|scope| scope.is_register && name == "q");
        self.found.holds.push(holder.is_some());
        let Some(holder) = holder else { return };
        let (field, index) = split(&holder.name);
        let above = &self.scopes[..self.scopes.len() - 1];
        let descriptor = atom.descriptor();
        let values = match &descriptor.kind {
            TypeKind::Enum(names) => {
                let last = |name: &String| name.rsplit("::").next().unwrap_or(name).to_lowercase();
                (0..).zip(names.iter().map(last)).collect()
            }
            _ => Vec::new(),
        };
        let what = if values.is_empty() { String::new() } else { descriptor.name.to_lowercase() };
        let doc = above.last().and_then(|scope| scope.description.as_ref()).and_then(|description| {
            let (_, lines) = description.fields.iter().find(|(name, _)| *name == field)?;
            Some(lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" "))
        });
        self.found.list.push(Register {
            scope: above.iter().skip(1).map(|scope| scope.name.replace('$', "_")).collect(),
            name: format!("{}_q{}", field.replace('$', "_"), index),
            bits: atom.bits(),
            what,
            values,
            doc: doc.unwrap_or_default(),
        });
    }
}

/// Splits the indices of an array's element from a name: `hits$2` gives `hits` and `_2`.
fn split(name: &str) -> (String, String) {
    let (numbers, words): (Vec<&str>, Vec<&str>) =
        name.split('$').partition(|part| part.bytes().all(|c| c.is_ascii_digit()));
    (words.join("$"), numbers.iter().map(|number| format!("_{number}")).collect())
}

struct ValueReader<'a> {
    holds: &'a [bool],
    at: usize,
    values: Vec<Vec<u64>>,
}

impl Probe for ValueReader<'_> {
    fn visit_atom(&mut self, _: &str, atom: &dyn Atom) {
        if self.holds[self.at] {
            self.values.push(words(&format!("{:x}", atom.verilog()), atom.bits()));
        }
        self.at += 1;
    }
}

/// Returns the words of a literal such as `12'habc`.
fn words(literal: &str, bits: usize) -> Vec<u64> {
    let digits = literal.split_once("'h").map_or(literal, |(_, digits)| digits);
    let word = |digits: &[u8]| {
        std::str::from_utf8(digits).ok().and_then(|text| u64::from_str_radix(text, 16).ok()).unwrap_or(0)
    };
    let mut words: Vec<u64> = digits.as_bytes().rchunks(16).map(word).collect();
    words.resize(bits.div_ceil(64), 0);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtl::prelude::*;

    mod wait {
        use rust_hdl_core::prelude::*;
        #[derive(Copy, Clone, Debug, PartialEq, LogicState, selvedge_state::State)]
        pub enum Wait {
            Input,
            Output,
        }
    }
    use wait::Wait;

    rtl_block! {
        /// Keeps the last two values.
        pub struct Last {
            /// clock
            pub clk_i: Signal<In, Clock>,
            /// reset
            pub rst_ni: Signal<In, Bit>,
            /// the value
            pub x_i: Signal<In, W<70, 2>>,
            /// the values
            last: [Reg<W<70, 2>>; 2],
        }
    }
    #[hdl_gen]
    impl Logic for Last {
        fn update(&mut self) {
            for i in 0..2 {
                dff_setup!(self, clk_i, last[i]);
            }
            drive!(self; last[0].d: x_i, last[1].d: last[0].q);
        }
    }

    rtl_block! {
        /// Counts cycles and keeps values.
        pub struct Keeper {
            /// clock
            pub clk_i: Signal<In, Clock>,
            /// reset
            pub rst_ni: Signal<In, Bit>,
            /// the value
            pub x_i: Signal<In, W<70, 2>>,
            kept: Last,
            /// cycles
            count: Reg<U<5>> = Reg::new(30.into()),
            wait: Reg<Wait>,
        }
    }
    #[hdl_gen]
    impl Logic for Keeper {
        fn update(&mut self) {
            dff_setup!(self, clk_i, count, wait);
            drive!(self.kept; clk_i, rst_ni, x_i);
            self.count.d.next = self.count.q.val() + 1;
            self.wait.d.next = Wait::Output;
        }
    }

    #[test]
    fn registers_have_names_docs_and_names_of_values() {
        let registers = BlockRegisters::of(&Keeper::default());
        let names: Vec<String> = registers
            .list()
            .iter()
            .map(|one| [&one.scope[..], std::slice::from_ref(&one.name)].concat().join("."))
            .collect();
        assert_eq!(names, ["kept.last_q_0", "kept.last_q_1", "count_q", "wait_q"]);
        assert_eq!(registers.list().iter().map(|one| one.bits).collect::<Vec<_>>(), [70, 70, 5, 1]);
        assert_eq!(
            registers.list().iter().map(|one| one.doc.as_str()).collect::<Vec<_>>(),
            ["the values", "the values", "cycles", ""]
        );
        let wait = &registers.list()[3];
        assert_eq!(wait.values, [(0, "input".into()), (1, "output".into())]);
        assert_eq!(wait.what, "wait");
    }

    #[test]
    fn values_are_those_after_the_last_edge_in_either_way_of_evaluation() {
        let value = |low: u64| W::<70, 2>::from_words([low, 0x21]);
        let registers = BlockRegisters::of(&Keeper::default());
        let mut stepper = Stepper::new(Keeper::default()).unwrap();
        let mut ordered = Keeper::default();
        ordered.connect_all();
        crate::rtl::circuit::reset(&mut ordered);
        assert_eq!(registers.read(&ordered), [vec![0, 0], vec![0, 0], vec![30], vec![0]]);
        for cycle in 1..=3 {
            stepper.step(|keeper| keeper.x_i.next = value(cycle), |_| ()).unwrap();
            ordered.x_i.next = value(cycle);
            crate::rtl::circuit::run(&mut ordered);
            use crate::rtl::circuit::Part;
            ordered.edge();
            assert_eq!(registers.read(stepper.block()), registers.read(&ordered), "cycle {cycle}");
        }
        assert_eq!(registers.read(&ordered), [vec![3, 0x21], vec![2, 0x21], vec![1], vec![1]]);
    }
}
