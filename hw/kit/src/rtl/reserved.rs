//! Words that cannot name a signal, memory or sub-block of a circuit, because the names appear in the Verilog.
use super::reg::is_register;
use rust_hdl_core::prelude::{Atom, Block, Probe, Verilog};

/// Words that a port or signal cannot have: reserved in Verilog, in SystemVerilog (which most tools read) or in C++ (Verilator
/// turns port names into C++ names).
const RESERVED: &[&str] = &[
    "accept_on",
    "alias",
    "alignas",
    "alignof",
    "always",
    "always_comb",
    "always_ff",
    "always_latch",
    "and",
    "and_eq",
    "asm",
    "assert",
    "assign",
    "assume",
    "auto",
    "automatic",
    "before",
    "begin",
    "bind",
    "bins",
    "binsof",
    "bit",
    "bitand",
    "bitor",
    "bool",
    "break",
    "buf",
    "bufif0",
    "bufif1",
    "byte",
    "case",
    "casex",
    "casez",
    "catch",
    "cell",
    "chandle",
    "char",
    "checker",
    "class",
    "clocking",
    "cmos",
    "compl",
    "concept",
    "config",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "constraint",
    "context",
    "continue",
    "cover",
    "covergroup",
    "coverpoint",
    "cross",
    "deassign",
    "decltype",
    "default",
    "defparam",
    "delete",
    "design",
    "disable",
    "dist",
    "do",
    "double",
    "dynamic_cast",
    "edge",
    "else",
    "end",
    "endcase",
    "endchecker",
    "endclass",
    "endclocking",
    "endconfig",
    "endfunction",
    "endgenerate",
    "endgroup",
    "endinterface",
    "endmodule",
    "endpackage",
    "endprimitive",
    "endprogram",
    "endproperty",
    "endsequence",
    "endspecify",
    "endtable",
    "endtask",
    "enum",
    "event",
    "eventually",
    "expect",
    "explicit",
    "export",
    "extends",
    "extern",
    "false",
    "final",
    "first_match",
    "float",
    "for",
    "force",
    "foreach",
    "forever",
    "fork",
    "forkjoin",
    "friend",
    "function",
    "generate",
    "genvar",
    "global",
    "goto",
    "highz0",
    "highz1",
    "if",
    "iff",
    "ifnone",
    "ignore_bins",
    "illegal_bins",
    "implements",
    "implies",
    "import",
    "incdir",
    "include",
    "initial",
    "inline",
    "inout",
    "input",
    "inside",
    "instance",
    "int",
    "integer",
    "interconnect",
    "interface",
    "intersect",
    "join",
    "join_any",
    "join_none",
    "large",
    "let",
    "liblist",
    "library",
    "local",
    "localparam",
    "logic",
    "long",
    "longint",
    "macromodule",
    "matches",
    "medium",
    "modport",
    "module",
    "mutable",
    "namespace",
    "nand",
    "negedge",
    "nettype",
    "new",
    "nexttime",
    "nmos",
    "noexcept",
    "nor",
    "noshowcancelled",
    "not",
    "not_eq",
    "notif0",
    "notif1",
    "null",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "output",
    "package",
    "packed",
    "parameter",
    "pmos",
    "posedge",
    "primitive",
    "priority",
    "private",
    "program",
    "property",
    "protected",
    "public",
    "pull0",
    "pull1",
    "pulldown",
    "pullup",
    "pulsestyle_ondetect",
    "pulsestyle_onevent",
    "pure",
    "rand",
    "randc",
    "randcase",
    "randsequence",
    "rcmos",
    "real",
    "realtime",
    "ref",
    "reg",
    "register",
    "reinterpret_cast",
    "reject_on",
    "release",
    "repeat",
    "requires",
    "restrict",
    "return",
    "rnmos",
    "rpmos",
    "rtran",
    "rtranif0",
    "rtranif1",
    "s_always",
    "s_eventually",
    "s_nexttime",
    "s_until",
    "s_until_with",
    "scalared",
    "sequence",
    "short",
    "shortint",
    "shortreal",
    "showcancelled",
    "signed",
    "sizeof",
    "small",
    "soft",
    "solve",
    "specify",
    "specparam",
    "static",
    "static_assert",
    "static_cast",
    "string",
    "strong",
    "strong0",
    "strong1",
    "struct",
    "super",
    "supply0",
    "supply1",
    "switch",
    "sync_accept_on",
    "sync_reject_on",
    "table",
    "tagged",
    "task",
    "template",
    "this",
    "thread_local",
    "throughout",
    "throw",
    "time",
    "timeprecision",
    "timeunit",
    "tran",
    "tranif0",
    "tranif1",
    "tri",
    "tri0",
    "tri1",
    "triand",
    "trior",
    "trireg",
    "true",
    "try",
    "type",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unique",
    "unique0",
    "unsigned",
    "until",
    "until_with",
    "untyped",
    "use",
    "using",
    "uwire",
    "var",
    "vectored",
    "virtual",
    "void",
    "volatile",
    "wait",
    "wait_order",
    "wand",
    "wchar_t",
    "weak",
    "weak0",
    "weak1",
    "while",
    "wildcard",
    "wire",
    "with",
    "within",
    "wor",
    "xnor",
    "xor",
    "xor_eq",
];

/// Returns whether the word has a meaning in Verilog, SystemVerilog or C++.
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    RESERVED.binary_search(&name).is_ok()
}

/// Returns the first signal, memory or sub-block of an elaborated block whose name is reserved, with the enclosing fields:
/// `unit.table`. A register's names end in `_d` and `_q`. No reserved word does.
#[must_use]
pub fn reserved_name(block: &dyn Block) -> Option<String> {
    let mut finder = ReservedFinder::default();
    block.accept("top", &mut finder);
    finder.found
}

/// As [`reserved_name`], but first checks the name of the block, which is the name of its module.
#[must_use]
pub fn reserved_name_of(name: &str, block: &dyn Block) -> Option<String> {
    if is_reserved(name) { Some(name.into()) } else { reserved_name(block) }
}

#[derive(Default)]
struct ReservedFinder {
    /// Names of the enclosing blocks and lists, each with `true` if it is a register.
    path: Vec<(String, bool)>,
    found: Option<String>,
}

impl ReservedFinder {
    /// Records the reserved `name` of the visited block or list, if it is the first.
    fn note(&mut self, name: &str) {
        if self.found.is_none() && is_reserved(name) {
            let above = self.path.iter().skip(1).map(|(name, _)| name.as_str());
            self.found = Some(above.chain([name]).collect::<Vec<_>>().join("."));
        }
    }
}

impl Probe for ReservedFinder {
    fn visit_start_scope(&mut self, name: &str, block: &dyn Block) {
        let is_register = matches!(block.hdl(), Verilog::Wrapper(wrapper) if is_register(&wrapper.cores));
        if !is_register {
            self.note(name);
        }
        self.path.push((name.into(), is_register));
    }

    fn visit_end_scope(&mut self, _: &str, _: &dyn Block) {
        self.path.pop();
    }

    fn visit_start_namespace(&mut self, name: &str, _: &dyn Block) {
        self.path.push((name.into(), false));
    }

    fn visit_end_namespace(&mut self, _: &str, _: &dyn Block) {
        self.path.pop();
    }

    fn visit_atom(&mut self, name: &str, _: &dyn Atom) {
        if self.path.last().is_none_or(|(_, is_register)| !is_register) {
            self.note(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_reserved_words_is_sorted() {
        assert!(RESERVED.windows(2).all(|pair| pair[0] < pair[1]));
        for word in ["reg", "virtual", "xor", "table"] {
            assert!(is_reserved(word), "{word}");
        }
        assert!(!is_reserved("line_i"));
    }

    #[test]
    fn no_name_of_a_register_is_reserved() {
        assert!(RESERVED.iter().all(|word| !word.ends_with("_q") && !word.ends_with("_d")));
    }
}
