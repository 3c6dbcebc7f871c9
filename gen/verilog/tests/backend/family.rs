//! Tests of families: numbers and literals that follow from the parameters of a block's module, and refusals of others.

use crate::tools;
use rust_hdl_core::prelude::Constant;
use selvedge_gen::{EmitError, EmitOptions, Family, FamilySample, Language, Problem};
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Compares a number of BITS bits with limits.
    #[derive(LogicBlock)]
    pub struct Gauge<const BITS: usize, const INDEX: usize> {
        /// the number
        pub number_i: Signal<In, U<BITS>>,
        /// the place of a bit
        pub index_i: Signal<In, U<INDEX>>,
        /// one more than the number
        pub next_o: Signal<Out, U<BITS>>,
        /// the number, or all ones
        pub ones_o: Signal<Out, U<BITS>>,
        /// the number has its highest value
        pub is_most_o: Signal<Out, Bit>,
        /// the lowest eight bits of the number exceed the last allowed value
        pub is_beyond_o: Signal<Out, Bit>,
        /// the bits of the number that the limit has, too
        pub limited_o: Signal<Out, U<BITS>>,
        /// the place, unless it is the first
        pub place_o: Signal<Out, U<INDEX>>,
        most: Constant<U<BITS>>,
        last: Constant<U<8>>,
        limit: Constant<U<BITS>>,
        five: Constant<U<BITS>>,
    }
}

impl<const BITS: usize, const INDEX: usize> Gauge<BITS, INDEX> {
    fn new(limit: u64) -> Self {
        Gauge {
            number_i: Signal::default(),
            index_i: Signal::default(),
            next_o: Signal::default(),
            ones_o: Signal::default(),
            is_most_o: Signal::default(),
            is_beyond_o: Signal::default(),
            limited_o: Signal::default(),
            place_o: Signal::default(),
            most: Constant::new(U::new(U::<BITS>::MAX)),
            last: Constant::new(U::new(limit - 1)),
            limit: Constant::new(U::new(limit)),
            five: Constant::new(U::new(5)),
            _activity: Default::default(),
        }
    }
}

impl<const BITS: usize, const INDEX: usize> Logic for Gauge<BITS, INDEX> {
    #[hdl_gen]
    fn update(&mut self) {
        self.next_o.next = self.number_i.val() + 1;
        self.ones_o.next = self.number_i.val();
        if self.number_i.val() == self.five.val() {
            self.ones_o.next = self.most.val();
        }
        self.is_most_o.next = self.number_i.val() == self.most.val();
        self.is_beyond_o.next = self.number_i.val().get_bits::<8>(0) > self.last.val();
        self.limited_o.next = self.number_i.val() & self.limit.val();
        self.place_o.next = 0.into();
        if self.index_i.val().any() {
            self.place_o.next = self.index_i.val();
        }
    }
}

impl<const BITS: usize, const INDEX: usize> Default for Gauge<BITS, INDEX> {
    fn default() -> Self {
        Gauge::new(20)
    }
}

rtl_block! {
    /// Contains a gauge.
    pub struct Panel<const BITS: usize, const INDEX: usize> {
        /// the number
        pub number_i: Signal<In, U<BITS>>,
        /// one more
        pub next_o: Signal<Out, U<BITS>>,
        gauge: Gauge<BITS, INDEX>,
    }
}

impl<const BITS: usize, const INDEX: usize> Logic for Panel<BITS, INDEX> {
    #[hdl_gen]
    fn update(&mut self) {
        self.gauge.number_i.next = self.number_i.val();
        self.gauge.index_i.next = 0.into();
        self.next_o.next = self.gauge.next_o.val();
    }
}

/// Returns the family over widths and limits. The width of an index is the logarithm of a width.
fn family(widths: &[usize], limits: [u64; 2]) -> Family {
    let sample = |bits: usize, limit: u64| FamilySample {
        block: match bits {
            16 => Box::new(Gauge::<16, 4>::new(limit)),
            32 => Box::new(Gauge::<32, 5>::new(limit)),
            _ => Box::new(Gauge::<64, 6>::new(limit)),
        },
        values: vec![bits, limit as usize],
    };
    let all = widths.iter().flat_map(|bits| limits.map(|limit| (*bits, limit)));
    Family {
        parameters: vec![("BITS".into(), "width of the number".into()), ("LIMIT".into(), "the limit".into())],
        samples: all.map(|(bits, limit)| sample(bits, limit)).collect(),
    }
}

fn text(family: &Family, language: Language) -> Result<String, EmitError> {
    let options = EmitOptions { language, ..EmitOptions::default() };
    family.emit("gauge", &options).map(|design| design.text())
}

#[test]
fn widths_ones_and_values_follow_the_parameters() {
    let text = text(&family(&[32, 16], [20, 100]), Language::Verilog).expect("a family");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "// width of the number parameter integer BITS = 16, // the limit parameter integer LIMIT = 100 ) (",
        "input wire [BITS-1:0] number_i,",
        "input wire [$clog2(BITS)-1:0] index_i,",
        "localparam [BITS-1:0] MOST = {BITS{1'b1}};",
        "localparam LAST_INTEGER = LIMIT - 1; localparam [7:0] LAST = LAST_INTEGER[7:0];",
        "localparam [BITS-1:0] FIVE = 5;",
        "assign next_o = number_i + {{(BITS-1){1'b0}}, 1'b1};",
        "assign limited_o = number_i & LIMIT[BITS-1:0];",
        "place_o = (|index_i) ? index_i : {INDEX{1'b0}};",
        "localparam INDEX = $clog2(BITS);",
    ] {
        assert!(words(&text).contains(line), "no `{line}` in\n{text}");
    }
    assert!(!text.contains("localparam [BITS-1:0] LIMIT"), "{text}");
}

#[test]
fn the_module_is_each_of_its_samples() {
    let family = family(&[32, 16], [20, 100]);
    let design = family.emit("gauge", &EmitOptions::default()).expect("a family");
    let folder = tempfile::tempdir().unwrap();
    let mut bench =
        String::from("module tb;\n  reg [63:0] number = 0;\n  reg [5:0] index;\n  integer seed = 1;\n");
    let mut checks = String::new();
    std::fs::write(folder.path().join("gauge.v"), design.text()).unwrap();
    for (at, sample) in family.samples.iter().enumerate() {
        let name = format!("fixed_{at}");
        let fixed = selvedge_gen::emit(sample.block.as_ref(), &name, &EmitOptions::default()).unwrap();
        std::fs::write(folder.path().join(format!("{name}.v")), fixed.text()).unwrap();
        let [bits, limit] = sample.values[..] else { panic!("two values") };
        let index = bits.ilog2() as usize;
        // the concatenated outputs
        let width = 3 * bits + 2 + index;
        for (kind, module) in [("a", format!("gauge #(.BITS({bits}), .LIMIT({limit}))")), ("b", name.clone())]
        {
            let (b, b2) = (bits - 1, 2 * bits);
            bench += &format!(
                "  wire [{}:0] {kind}{at};\n  {module} {kind}_{at} (.number_i(number[{b}:0]), .index_i(index[{}:0]),\n    \
                 .next_o({kind}{at}[{b}:0]), .ones_o({kind}{at}[{}:{bits}]), .is_most_o({kind}{at}[{b2}]),\n    \
                 .is_beyond_o({kind}{at}[{}]), .limited_o({kind}{at}[{} +: {bits}]), .place_o({kind}{at}[{} +: {index}]));\n",
                width - 1,
                index - 1,
                b2 - 1,
                b2 + 1,
                b2 + 2,
                b2 + 2 + bits,
            );
        }
        checks += &format!("      if (a{at} !== b{at}) $display(\"{at}: %h\", number);\n");
    }
    bench += &format!(
        "  initial begin\n    repeat (2000) begin\n      number = {{$random(seed), $random(seed)}} >> ($random(seed) & 63);\n      \
         if (($random(seed) & 7) == 0) number = 64'hffffffffffffffff;\n      index = $random(seed);\n      #1;\n{checks}    end\n    \
         $display(\"done\");\n  end\nendmodule\n"
    );
    std::fs::write(folder.path().join("tb.v"), bench).unwrap();
    assert_eq!(tools::simulate(folder.path()).trim(), "done");
}

#[test]
fn an_instance_passes_on_the_parameters_that_its_module_has() {
    let family = Family {
        parameters: vec![("BITS".into(), "width of the number".into())],
        samples: vec![
            FamilySample { block: Box::new(Panel::<32, 5>::default()), values: vec![32] },
            FamilySample { block: Box::new(Panel::<16, 4>::default()), values: vec![16] },
        ],
    };
    let design = family.emit("panel", &EmitOptions::default()).expect("a family");
    assert!(design.top().text.contains("panel_gauge #(.BITS (BITS)) gauge ("), "{}", design.top().text);
    let gauge = &design.modules[0].text;
    assert!(
        gauge.contains("parameter integer BITS = 16") && gauge.contains("localparam [BITS-1:0] LIMIT = 20;"),
        "{gauge}"
    );
}

#[test]
fn system_verilog_has_the_parameters_too() {
    let text = text(&family(&[32, 16], [20, 100]), Language::SystemVerilog).expect("a family");
    assert!(
        text.contains("parameter integer BITS = 16") && text.contains("logic         [BITS-1:0] number_i"),
        "{text}"
    );
}

#[test]
fn a_value_without_expression_is_refused() {
    // The numbers 19 and 99, and 20 and 100, do not follow from 7 and 9.
    let mut family = family(&[32, 16], [20, 100]);
    for sample in &mut family.samples {
        sample.values[1] = if sample.values[1] == 20 { 7 } else { 9 };
    }
    let error = text(&family, Language::Verilog).unwrap_err();
    assert_eq!(error.problem, Problem::NoFamily { parameters: "BITS, LIMIT".into() });
    assert_eq!(
        error.to_string(),
        "gauge: 'gauge': its Verilog cannot have the parameters BITS, LIMIT: they change more than numbers that follow from them"
    );
}

#[test]
fn a_constant_wider_than_a_whole_number_of_verilog_is_refused() {
    let error = text(&family(&[64, 16], [20, 100]), Language::Verilog).unwrap_err();
    assert_eq!(error.problem, Problem::NoFamily { parameters: "BITS, LIMIT".into() });
}

#[test]
fn structure_that_changes_is_refused() {
    let sample = |block: Box<dyn rust_hdl_core::prelude::Block>, stages: usize| FamilySample {
        block,
        values: vec![stages],
    };
    let family = Family {
        parameters: vec![("STAGES".into(), "register stages".into())],
        samples: vec![sample(Box::new(Pipe::<U<8>>::new(1)), 1), sample(Box::new(Pipe::<U<8>>::new(2)), 2)],
    };
    let error = family.emit("delay", &EmitOptions::default()).unwrap_err();
    assert_eq!(error.problem, Problem::NoFamily { parameters: "STAGES".into() });
}

#[test]
fn a_family_of_one_sample_is_the_block() {
    let family = Family {
        parameters: vec![],
        samples: vec![FamilySample { block: Box::new(Gauge::<8, 3>::new(20)), values: vec![] }],
    };
    let fixed = selvedge_gen::emit(&Gauge::<8, 3>::new(20), "gauge", &EmitOptions::default()).unwrap();
    assert_eq!(family.emit("gauge", &EmitOptions::default()), Ok(fixed));
}
