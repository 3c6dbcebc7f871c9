//! Tests of the kit's shared cells: the same name has the same text, and the circuit equals that of the block's own modules.

use crate::sequential::lock_step;
use crate::tools;
use selvedge_blocks::built_in;
use selvedge_gen::{Cells, Design, EmitOptions, ResetStyle, VerilogModule, emit};
use selvedge_hw::rtl::prelude::*;
use std::collections::BTreeMap;

const STYLES: [ResetStyle; 4] =
    [ResetStyle::Control, ResetStyle::AsyncLow, ResetStyle::SyncHigh, ResetStyle::None];
/// Stems of the names of the kit's modules.
const KIT: [&str; 10] = [
    "bit_array",
    "bit_packer",
    "bit_splitter",
    "bit_unpacker",
    "elastic_pipe",
    "mem",
    "pipe",
    "replicated_mem",
    "sync_mem",
    "valid_ready",
];

/// Returns the designs of every block, with default parameters and with each variant, in each reset style. The first design
/// of a pair shares the kit's cells, the second has its own modules.
fn designs() -> impl Iterator<Item = (Design, Design)> {
    let of_block = |block: &'static dyn selvedge_hw::BlockEntry| {
        [block.defaults()].into_iter().chain(block.variants()).flat_map(move |params| {
            STYLES.map(|reset| {
                let elaborated = block.elaborate(&params).expect("the parameters are valid");
                let with = |cells| {
                    let options = EmitOptions { cells, ..EmitOptions::of(block, &params, reset) };
                    emit(elaborated.as_ref(), block.name(), &options).expect("the block is emitted")
                };
                (with(Cells::Shared), with(Cells::Own))
            })
        })
    };
    built_in().iter().copied().flat_map(of_block)
}

#[test]
fn a_cell_of_one_name_has_one_text_in_all_blocks() {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for (shared, _) in designs() {
        for VerilogModule { name, text, .. } in shared.modules.into_iter().filter(|module| module.cell) {
            assert!(name.starts_with("selvedge_"), "{name}");
            let first = texts.entry(name.clone()).or_insert_with(|| text.clone());
            assert_eq!(*first, text, "{name}");
        }
    }
    assert!(texts.len() > 10, "{:?}", texts.keys());
}

#[test]
fn no_block_has_a_module_of_the_kit_for_itself() {
    for (shared, own) in designs() {
        let top = &shared.top().name;
        let of_kit = |design: &Design| {
            let is_of_kit = |module: &&VerilogModule| {
                KIT.iter().any(|stem| {
                    let rest = module.name.strip_prefix(&format!("{top}_{stem}"));
                    rest.is_some_and(|rest| rest.bytes().all(|c| c == b'_' || c.is_ascii_digit()))
                })
            };
            design.modules.iter().filter(is_of_kit).map(|module| module.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(of_kit(&shared), [""; 0], "{top}");
        assert!(own.modules.iter().all(|module| module.name.starts_with(top) && !module.cell), "{top}");
        assert_eq!(of_kit(&own).is_empty(), shared.modules.iter().all(|module| !module.cell), "{top}");
    }
}

#[test]
fn a_shared_design_is_the_self_contained_one_but_for_names_and_numbers_of_cells() {
    let mut compared = 0;
    for (shared, own) in designs() {
        let module = |design: &Design, name: &str| {
            design.modules.iter().find(|module| module.name == name).cloned().expect("a module of the design")
        };
        let rest = |design: &Design, of: &Design| -> Vec<String> {
            let is_in = |name: &String| of.modules.iter().any(|module| module.name == *name);
            design.modules.iter().map(|module| module.name.clone()).filter(is_in).collect()
        };
        assert_eq!(rest(&own, &shared), rest(&shared, &own));
        for name in rest(&own, &shared) {
            let (a, b) = (module(&own, &name), module(&shared, &name));
            for (own_cell, shared_cell) in instances_of_cells(&a.text, &b.text) {
                let (x, y) = (module(&own, &own_cell.module), module(&shared, &shared_cell.module));
                assert!(y.cell, "{}", y.name);
                assert_eq!(own_cell.with_values(&x.text), shared_cell.with_values(&y.text), "{}", y.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

/// The module of an instance and the values of its parameters.
#[derive(Debug)]
struct Instance {
    module: String,
    values: BTreeMap<String, Vec<String>>,
}

/// Splits a text into words, numbers with their size and base, comments, and other characters one by one.
fn tokens(text: &str) -> Vec<String> {
    let (mut out, mut rest) = (vec![], text);
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || "_'`$".contains(c);
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '*' if rest.starts_with("**") => 2,
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, more) = rest.split_at(length);
        if !token.trim().is_empty() {
            out.push(token.to_string());
        }
        rest = more;
    }
    out
}

/// Compares two texts of one module, which may differ only in instances of cells. Returns the pairs of instances.
fn instances_of_cells(own: &str, shared: &str) -> Vec<(Instance, Instance)> {
    let (own, shared) = (tokens(own), tokens(shared));
    let (mut a, mut b, mut found) = (0, 0, vec![]);
    while a < own.len() || b < shared.len() {
        if shared.get(b).is_some_and(|token| token.starts_with("selvedge_")) {
            found.push((Instance::at(&own, &mut a), Instance::at(&shared, &mut b)));
        }
        assert_eq!(own.get(a), shared.get(b));
        (a, b) = (a + 1, b + 1);
    }
    found
}

impl Instance {
    /// Reads `module` or `module #(.NAME (value), ...)`, and moves `at` to the next token.
    fn at(tokens: &[String], at: &mut usize) -> Instance {
        let module = tokens[*at].clone();
        let mut values = BTreeMap::new();
        *at += 1;
        if tokens[*at] == "#" {
            let (mut depth, mut name) = (0, String::new());
            loop {
                *at += 1;
                let token = tokens[*at].as_str();
                depth += i32::from(token == "(") - i32::from(token == ")");
                match (depth, token) {
                    (0, _) => break,
                    (1, "." | "," | "(" | ")") | (2, "(") => {}
                    (1, _) => name = token.to_string(),
                    _ => values.entry(name.clone()).or_insert_with(Vec::new).push(token.to_string()),
                }
            }
            *at += 1;
        }
        Instance { module, values }
    }

    /// Returns the module from its ports to `endmodule`, without the checks of its parameters. Values replace the parameters, and
    /// constant expressions are computed.
    fn with_values(&self, text: &str) -> Vec<String> {
        let mut tokens = tokens(text);
        // A block's own cell allows only the values in its design; a shared cell allows every size.
        if let Some(checks) = tokens.iter().position(|token| token.starts_with("// a parameter with a value"))
        {
            let end = tokens[checks..]
                .iter()
                .position(|token| token == "endgenerate")
                .expect("the end of the checks");
            tokens.drain(checks..=checks + end);
        }
        let position = |word: &str| tokens.iter().position(|token| token == word).expect("a module");
        let mut body = &tokens[position("module") + 2..position("endmodule")];
        if body[0] == "#" {
            body =
                &body[1 + body.iter().position(|token| token == ")").expect("the end of the parameters")..];
        }
        let value = |token: &String| self.values.get(token).cloned().unwrap_or(vec![token.clone()]);
        let mut out: Vec<String> = body.iter().flat_map(value).collect();
        while let Some((at, length, result)) = (0..out.len()).find_map(|at| reduced(&out, at)) {
            out.splice(at..at + length, [result]);
        }
        out
    }
}

/// Reduces the constant expression at `at`. Returns its first token, its number of tokens, and its value.
fn reduced(tokens: &[String], at: usize) -> Option<(usize, usize, String)> {
    let token = |offset: usize| tokens.get(at + offset).map_or("", String::as_str);
    let number = |offset: usize| token(offset).parse::<u64>().ok();
    // zeros of any width have the same form
    let zeros =
        ["{", "1'b0", "}", "}"].iter().zip([1, 2, 3, 4]).all(|(word, offset)| token(offset + 1) == *word);
    if token(0) == "{" && number(1).is_some() && zeros {
        return Some((at, 6, format!("{}'h0", token(1))));
    }
    let before = at.checked_sub(1).map_or("", |at| tokens[at].as_str());
    if before == "{" && token(0) == "(" && number(1).is_some() && token(2) == ")" {
        return Some((at, 3, token(1).to_string()));
    }
    if let Some(width) = token(0).strip_suffix("'d0") {
        return Some((at, 1, format!("{width}'h0")));
    }
    let (left, right) = (number(0)?, number(2)?);
    let binds =
        |operator: &str| ["+", "-", "*", "/", "**"].iter().position(|one| *one == operator).map(|at| at / 2);
    let own = binds(token(1))?;
    if binds(before).is_some_and(|other| other >= own) || binds(token(3)).is_some_and(|other| other > own) {
        return None;
    }
    let value = match token(1) {
        "+" => left + right,
        "-" => left.checked_sub(right)?,
        "*" => left * right,
        "/" => left / right,
        _ => left.pow(u32::try_from(right).ok()?),
    };
    Some((at, 3, value.to_string()))
}

#[test]
fn constant_expressions_are_computed_as_verilog_does() {
    let value = |text: &str| {
        let instance =
            Instance { module: "m".into(), values: BTreeMap::from([("A".into(), vec!["5".into()])]) };
        instance.with_values(&format!("module m {text} endmodule")).concat()
    };
    assert_eq!(value("[2**A-1:0]"), "[31:0]");
    assert_eq!(value("x - 1 + A*2"), "x-1+10");
    assert_eq!(value("2*A + 6/3 - 1"), "11");
    assert_eq!(value("p*A - 1"), "p*5-1");
    assert_eq!(value("{A{1'b0}}"), "5'h0");
    assert_eq!(value("{(2*A){1'b0}}"), "10'h0");
}

rtl_block! {
    /// One of each.
    pub struct Assortment {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// write, set, offer
        pub write_i: Signal<In, Bit>,
        /// clear, take
        pub clear_i: Signal<In, Bit>,
        /// address to write
        pub to_i: Signal<In, U<3>>,
        /// address to read
        pub from_i: Signal<In, U<3>>,
        /// data to write
        pub data_i: Signal<In, U<9>>,
        /// data that memories read
        pub words_o: [Signal<Out, U<9>>; 6],
        /// data that memories of bits read
        pub bits_o: [Signal<Out, Bit>; 5],
        /// data from pipelines
        pub items_o: [Signal<Out, U<9>>; 3],
        /// data from pipelines of bits
        pub flags_o: [Signal<Out, Bit>; 3],
        /// data from the pipelines is valid
        pub valid_o: [Signal<Out, Bit>; 6],
        /// a pipeline accepts data
        pub ready_o: [Signal<Out, Bit>; 4],
        mem: Mem<U<9>, 3>,
        mem_of_bits: Mem<Bit, 3>,
        mem_of_two: Mem<U<9>, 1>,
        filled: Mem<U<9>, 3> = Mem::new(vec![U::new(5), U::new(0x1ff)]),
        sync_mem: SyncMem<U<9>, 3>,
        sync_mem_of_bits: SyncMem<Bit, 3>,
        copies: ReplicatedMem<U<9>, 3, 2>,
        copies_of_bits: ReplicatedMem<Bit, 3, 2>,
        array: BitArray<3>,
        pipe: Pipe<U<9>> = Pipe::new(2),
        pipe_of_bits: Pipe<Bit> = Pipe::new(1),
        elastic: ElasticPipe<U<9>> = ElasticPipe::new(3),
        elastic_of_bits: ElasticPipe<Bit> = ElasticPipe::new(1),
        stage: ValidReady<U<9>>,
        stage_of_bits: ValidReady<Bit>,
    }
}

impl Logic for Assortment {
    #[hdl_gen]
    fn update(&mut self) {
        self.mem.clk_i.next = self.clk_i.val();
        self.mem.write_i.next = self.write_i.val();
        self.mem.write_address_i.next = self.to_i.val();
        self.mem.write_data_i.next = self.data_i.val();
        self.mem.read_address_i.next = self.from_i.val();
        self.words_o[0].next = self.mem.read_data_o.val();
        self.mem_of_two.clk_i.next = self.clk_i.val();
        self.mem_of_two.write_i.next = self.write_i.val();
        self.mem_of_two.write_address_i.next = self.to_i.val().get_bits::<1>(0);
        self.mem_of_two.write_data_i.next = self.data_i.val();
        self.mem_of_two.read_address_i.next = self.from_i.val().get_bits::<1>(0);
        self.words_o[1].next = self.mem_of_two.read_data_o.val();
        self.filled.clk_i.next = self.clk_i.val();
        self.filled.write_i.next = self.write_i.val();
        self.filled.write_address_i.next = self.to_i.val();
        self.filled.write_data_i.next = self.data_i.val();
        self.filled.read_address_i.next = self.from_i.val();
        self.words_o[2].next = self.filled.read_data_o.val();
        self.sync_mem.clk_i.next = self.clk_i.val();
        self.sync_mem.write_i.next = self.write_i.val();
        self.sync_mem.write_address_i.next = self.to_i.val();
        self.sync_mem.write_data_i.next = self.data_i.val();
        self.sync_mem.read_address_i.next = self.from_i.val();
        self.words_o[3].next = self.sync_mem.read_data_o.val();
        self.copies.clk_i.next = self.clk_i.val();
        self.copies.write_i.next = self.write_i.val();
        self.copies.write_address_i.next = self.to_i.val();
        self.copies.write_data_i.next = self.data_i.val();
        self.copies.read_address_i[0].next = self.from_i.val();
        self.copies.read_address_i[1].next = self.to_i.val();
        self.words_o[4].next = self.copies.read_data_o[0].val();
        self.words_o[5].next = self.copies.read_data_o[1].val();
        self.mem_of_bits.clk_i.next = self.clk_i.val();
        self.mem_of_bits.write_i.next = self.write_i.val();
        self.mem_of_bits.write_address_i.next = self.to_i.val();
        self.mem_of_bits.write_data_i.next = self.data_i.val().get_bit(0);
        self.mem_of_bits.read_address_i.next = self.from_i.val();
        self.bits_o[0].next = self.mem_of_bits.read_data_o.val();
        self.sync_mem_of_bits.clk_i.next = self.clk_i.val();
        self.sync_mem_of_bits.write_i.next = self.write_i.val();
        self.sync_mem_of_bits.write_address_i.next = self.to_i.val();
        self.sync_mem_of_bits.write_data_i.next = self.data_i.val().get_bit(0);
        self.sync_mem_of_bits.read_address_i.next = self.from_i.val();
        self.bits_o[1].next = self.sync_mem_of_bits.read_data_o.val();
        self.copies_of_bits.clk_i.next = self.clk_i.val();
        self.copies_of_bits.write_i.next = self.write_i.val();
        self.copies_of_bits.write_address_i.next = self.to_i.val();
        self.copies_of_bits.write_data_i.next = self.data_i.val().get_bit(0);
        self.copies_of_bits.read_address_i[0].next = self.from_i.val();
        self.copies_of_bits.read_address_i[1].next = self.to_i.val();
        self.bits_o[2].next = self.copies_of_bits.read_data_o[0].val();
        self.bits_o[3].next = self.copies_of_bits.read_data_o[1].val();
        self.array.clk_i.next = self.clk_i.val();
        self.array.rst_ni.next = self.rst_ni.val();
        self.array.clear_i.next = self.clear_i.val();
        self.array.set_i.next = self.write_i.val();
        self.array.address_i.next = self.from_i.val();
        self.bits_o[4].next = self.array.bit_o.val();
        self.pipe.clk_i.next = self.clk_i.val();
        self.pipe.rst_ni.next = self.rst_ni.val();
        self.pipe.valid_i.next = self.write_i.val();
        self.pipe.data_i.next = self.data_i.val();
        self.items_o[0].next = self.pipe.data_o.val();
        self.valid_o[0].next = self.pipe.valid_o.val();
        self.pipe_of_bits.clk_i.next = self.clk_i.val();
        self.pipe_of_bits.rst_ni.next = self.rst_ni.val();
        self.pipe_of_bits.valid_i.next = self.write_i.val();
        self.pipe_of_bits.data_i.next = self.data_i.val().get_bit(0);
        self.flags_o[0].next = self.pipe_of_bits.data_o.val();
        self.valid_o[1].next = self.pipe_of_bits.valid_o.val();
        self.elastic.clk_i.next = self.clk_i.val();
        self.elastic.rst_ni.next = self.rst_ni.val();
        self.elastic.valid_i.next = self.write_i.val();
        self.elastic.data_i.next = self.data_i.val();
        self.items_o[1].next = self.elastic.data_o.val();
        self.valid_o[2].next = self.elastic.valid_o.val();
        self.elastic.ready_i.next = self.clear_i.val();
        self.ready_o[0].next = self.elastic.ready_o.val();
        self.elastic_of_bits.clk_i.next = self.clk_i.val();
        self.elastic_of_bits.rst_ni.next = self.rst_ni.val();
        self.elastic_of_bits.valid_i.next = self.write_i.val();
        self.elastic_of_bits.data_i.next = self.data_i.val().get_bit(0);
        self.flags_o[1].next = self.elastic_of_bits.data_o.val();
        self.valid_o[3].next = self.elastic_of_bits.valid_o.val();
        self.elastic_of_bits.ready_i.next = self.clear_i.val();
        self.ready_o[1].next = self.elastic_of_bits.ready_o.val();
        self.stage.clk_i.next = self.clk_i.val();
        self.stage.rst_ni.next = self.rst_ni.val();
        self.stage.valid_i.next = self.write_i.val();
        self.stage.data_i.next = self.data_i.val();
        self.items_o[2].next = self.stage.data_o.val();
        self.valid_o[4].next = self.stage.valid_o.val();
        self.stage.ready_i.next = self.clear_i.val();
        self.ready_o[2].next = self.stage.ready_o.val();
        self.stage_of_bits.clk_i.next = self.clk_i.val();
        self.stage_of_bits.rst_ni.next = self.rst_ni.val();
        self.stage_of_bits.valid_i.next = self.write_i.val();
        self.stage_of_bits.data_i.next = self.data_i.val().get_bit(0);
        self.flags_o[2].next = self.stage_of_bits.data_o.val();
        self.valid_o[5].next = self.stage_of_bits.valid_o.val();
        self.stage_of_bits.ready_i.next = self.clear_i.val();
        self.ready_o[3].next = self.stage_of_bits.ready_o.val();
    }
}

#[test]
fn a_name_says_sizes_that_are_no_parameters_and_contents_are_not_shared() {
    let names = |reset| {
        let options = EmitOptions { reset, ..EmitOptions::default() };
        let design = emit(&Assortment::default(), "all", &options).expect("the block is emitted");
        let mut names: Vec<String> = design.modules.into_iter().map(|module| module.name).collect();
        names.sort();
        names
    };
    let with_reset = |suffix: &str| {
        let mut names: Vec<String> = [
            "bit_array",
            "elastic_pipe_3",
            "elastic_pipe_bit_1",
            "pipe_2",
            "pipe_bit_1",
            "valid_ready",
            "valid_ready_bit",
        ]
        .iter()
        .map(|name| format!("selvedge_{name}{suffix}"))
        .collect();
        let without = [
            "mem",
            "mem_1_9",
            "mem_bit",
            "replicated_mem",
            "replicated_mem_3_2_1",
            "sync_mem",
            "sync_mem_bit",
        ];
        names.extend(without.iter().map(|name| format!("selvedge_{name}")));
        names.extend(["all".to_string(), "all_mem".to_string()]);
        names.sort();
        names
    };
    assert_eq!(names(ResetStyle::Control), with_reset(""));
    assert_eq!(names(ResetStyle::AsyncLow), with_reset("_async_low"));
    assert_eq!(names(ResetStyle::SyncHigh), with_reset("_sync_high"));
    assert_eq!(names(ResetStyle::None), with_reset("_no_reset"));
}

#[test]
fn every_cell_behaves_as_in_rust() {
    lock_step("assortment", Assortment::default, |block, random| {
        block.write_i.next = random.next() & 1 != 0;
        block.clear_i.next = random.next() & 7 < 3;
        block.to_i.next = U::new(random.next());
        block.from_i.next = U::new(random.next());
        block.data_i.next = U::new(random.next());
    });
}

#[test]
fn linters_have_nothing_to_say_about_any_cell() {
    for reset in STYLES {
        let options = EmitOptions { reset, ..EmitOptions::default() };
        let design = emit(&Assortment::default(), "assortment", &options).expect("the block is emitted");
        tools::assert_lint_silent(&design);
        tools::assert_synthesizes(&design);
    }
}
