//! Counts what a designer would shorten in the syntax trees of modules. The test holds the max of each kind.

use crate::verilog::{Body, Code, Declaration, Head, Item, VerilogBlock};
use std::collections::{BTreeMap, BTreeSet};

/// Max statements and block ends of an `always` block.
const MOST_LINES: usize = 80;

/// Findings by kind.
#[derive(Default)]
struct Clutter(BTreeMap<&'static str, Vec<String>>);

/// The names of a module.
#[derive(Default)]
struct ModuleNames {
    outputs: BTreeSet<String>,
    /// Bits of the signals that the module declares.
    bits: BTreeMap<String, usize>,
}

/// An assignment: target and value.
struct Assignment {
    continuous: bool,
    target: String,
    value: String,
}

impl Assignment {
    /// Parses a statement; `None` if it is not an assignment.
    fn of(code: &Code) -> Option<Assignment> {
        let text = code.to_string();
        let (continuous, text) = match text.strip_prefix("assign ") {
            Some(rest) => (true, rest),
            None => (false, text.as_str()),
        };
        let at = outside_brackets(text, " = ").or_else(|| outside_brackets(text, " <= "))?;
        let value = text[at..].trim_start().trim_start_matches(['=', '<']).trim_start();
        Some(Assignment { continuous, target: text[..at].into(), value: value.into() })
    }

    /// Returns the name of the assigned signal.
    fn name(&self) -> &str {
        self.target.split('[').next().unwrap_or_default()
    }
}

/// Returns the first position of `wanted` that is in no brackets.
fn outside_brackets(text: &str, wanted: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += i32::from("[({".contains(c)) - i32::from("])}".contains(c));
        if depth == 0 && text[at..].starts_with(wanted) {
            return Some(at);
        }
    }
    None
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns whether the text is a signal or bits of one.
fn is_selection(text: &str) -> bool {
    let (name, rest) = text.split_at(text.find('[').unwrap_or(text.len()));
    is_name(name) && (rest.is_empty() || outside_brackets(rest, " ").is_none() && rest.ends_with(']'))
}

/// Returns whether the text selects bits whose position is a number.
fn is_fixed_part(text: &str) -> bool {
    let inside = text.split_once('[').map(|(_, inside)| inside);
    inside.is_some_and(|inside| !inside.contains(|c: char| c.is_ascii_alphabetic()))
}

/// Returns whether a product of two numbers begins an index.
fn has_constant_product(text: &str) -> bool {
    text.split('[').skip(1).any(|index| {
        let behind = index.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_product = behind.len() < index.len() && behind.starts_with('*');
        is_product && behind[1..].starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Returns whether a constant shift to the left moves a concatenation that begins with zeros.
fn has_shifted_extension(text: &str) -> bool {
    text.match_indices("} << ").any(|(at, shift)| {
        let mut depth = 0;
        let open = text[..=at].char_indices().rev().find(|(_, c)| {
            depth += i32::from(*c == '}') - i32::from(*c == '{');
            depth == 0
        });
        let zeros = open.and_then(|(open, _)| text[open + 1..].split_once("'d0, "));
        let is_extension =
            zeros.is_some_and(|(bits, _)| !bits.is_empty() && bits.chars().all(|c| c.is_ascii_digit()));
        is_extension && text[at + shift.len()..].starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Returns the statements without comments.
fn code_of(items: &[Item]) -> Vec<&Item> {
    items.iter().filter(|item| !matches!(item, Item::Comment(_) | Item::Blank)).collect()
}

/// Returns the only assignment of a list of statements.
fn only_assignment(items: &[Item]) -> Option<Assignment> {
    match code_of(items).as_slice() {
        [Item::Line(code)] => Assignment::of(code),
        _ => None,
    }
}

/// Returns the targets of an `if` with one assignment in each branch, and whether it ends in `else`.
fn branches(item: &Item) -> Option<(Vec<String>, bool)> {
    let Item::Blocks(blocks) = item else { return None };
    let is_if = |block: &VerilogBlock| matches!(&block.head, Head::Other(code) if code.to_string().starts_with("if ("));
    if !is_if(&blocks[0]) {
        return None;
    }
    let targets = blocks.iter().map(|block| only_assignment(&block.body).map(|one| one.target));
    let has_else =
        blocks.last().is_some_and(|block| matches!(&block.head, Head::Other(code) if code.0.is_empty()));
    Some((targets.collect::<Option<_>>()?, has_else))
}

/// Returns the value that three or more conditions in a row compare with constants.
fn compared(blocks: &[VerilogBlock]) -> Option<String> {
    let value = |block: &VerilogBlock| {
        let Head::Other(code) = &block.head else { return None };
        let text = code.to_string();
        let (value, constant) = text.strip_prefix("if (")?.strip_suffix(')')?.split_once(" == ")?;
        let is_constant = constant.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        (is_name(value) && is_constant).then(|| value.to_string())
    };
    let values: Vec<_> = blocks.iter().map_while(value).collect();
    values.windows(3).find(|three| three.iter().all(|value| *value == three[0])).map(|three| three[0].clone())
}

/// Returns whether the statements choose one of two values for one signal.
fn is_single_choice(body: &[Item]) -> bool {
    let same = |targets: &[String]| targets.iter().all(|target| *target == targets[0]);
    match code_of(body).as_slice() {
        [Item::Line(code), choice] => match (Assignment::of(code), branches(choice)) {
            (Some(default), Some((targets, false))) => targets.len() == 1 && targets[0] == default.target,
            _ => false,
        },
        [choice] => branches(choice)
            .is_some_and(|(targets, has_else)| has_else && targets.len() == 2 && same(&targets)),
        _ => false,
    }
}

/// Returns the number of statements and block ends.
fn lines(items: &[Item]) -> usize {
    let of = |item: &Item| match item {
        Item::Blocks(blocks) => 1 + blocks.iter().map(|block| 1 + lines(&block.body)).sum::<usize>(),
        Item::Enclosed(_, body, _) => 2 + lines(body),
        Item::Declaration(_) | Item::Comment(_) | Item::Blank => 0,
        _ => 1,
    };
    items.iter().map(of).sum()
}

/// Returns the declarations of a module, those inside processes included.
fn declared(items: &[Item]) -> Vec<&Declaration> {
    let mut found = vec![];
    for item in items {
        match item {
            Item::Declaration(own) => found.push(own),
            Item::Blocks(blocks) => found.extend(blocks.iter().flat_map(|block| declared(&block.body))),
            Item::Enclosed(_, body, _) => found.extend(declared(body)),
            _ => {}
        }
    }
    found
}

/// Returns the statements and heads inside an item.
fn codes(item: &Item) -> Vec<String> {
    let inside = |items: &[Item]| items.iter().flat_map(codes).collect::<Vec<_>>();
    match item {
        Item::Line(code) => vec![code.to_string()],
        Item::Declaration(own) => own.value.iter().map(Code::to_string).collect(),
        Item::Instance(instance) => instance.pins.iter().map(|(_, pin)| pin.to_string()).collect(),
        Item::Enclosed(head, body, _) => [vec![head.to_string()], inside(body)].concat(),
        Item::Blocks(blocks) => {
            let of = |block: &VerilogBlock| {
                let head = match &block.head {
                    Head::Always(events) | Head::Other(events) => vec![events.to_string()],
                    Head::For(_, parts) => parts.iter().map(Code::to_string).collect(),
                };
                [head, inside(&block.body)].concat()
            };
            blocks.iter().flat_map(of).collect()
        }
        Item::Blank | Item::Comment(_) | Item::Enumeration(_) => vec![],
    }
}

/// An `assign` or a combinational process, by the names in it.
struct CombinationalItem {
    names: BTreeSet<String>,
    targets: BTreeSet<String>,
    is_labelled: bool,
}

impl CombinationalItem {
    /// Returns the item; `None` if it is something else.
    fn of(item: &Item) -> Option<Self> {
        let is_labelled = match item {
            Item::Line(code) if code.to_string().starts_with("assign ") => false,
            Item::Blocks(blocks) => match &blocks[0] {
                VerilogBlock { head: Head::Always(events), label, .. } if events.to_string() == "@(*)" => {
                    label.is_some()
                }
                _ => return None,
            },
            _ => return None,
        };
        let statements = codes(item);
        let target = |text: &String| {
            let text = text.strip_prefix("assign ").unwrap_or(text);
            let name = text[..outside_brackets(text, " = ")?].split('[').next()?;
            is_name(name).then(|| name.to_string())
        };
        let targets = statements.iter().filter_map(target).collect();
        Some(CombinationalItem { names: words(&statements), targets, is_labelled })
    }
}

/// Returns the words in the texts.
fn words(texts: &[String]) -> BTreeSet<String> {
    let of = |text: &String| {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.map(str::to_string).collect::<Vec<_>>()
    };
    texts.iter().flat_map(of).collect()
}

impl Clutter {
    fn add(&mut self, kind: &'static str, finding: impl Into<String>) {
        self.0.entry(kind).or_default().push(finding.into());
    }

    fn module(&mut self, body: &Body) {
        let mut names = ModuleNames::default();
        let is_output = |item: &&Item| item.declaration().is_some_and(|port| port.kind.starts_with("output"));
        let outputs = body.ports.iter().filter(is_output).filter_map(Item::declaration);
        names.outputs.extend(outputs.map(|port| port.name.clone()));
        for declared in declared(&body.ports).into_iter().chain(declared(&body.items)) {
            let bits = match declared.range.as_ref().map(|range| range.to_string().parse::<usize>()) {
                None => 1,
                Some(highest) => highest.map_or(0, |highest| highest + 1),
            };
            names.bits.insert(declared.name.clone(), bits);
        }
        self.declarations(&body.items);
        self.items(&body.items, &names);
        self.places(&body.items);
    }

    /// Finds processes that precede the drivers of their inputs, and signals of the module that only one process with a label
    /// names.
    fn places(&mut self, items: &[Item]) {
        let combinational: Vec<CombinationalItem> = items.iter().filter_map(CombinationalItem::of).collect();
        for (at, reader) in combinational.iter().enumerate() {
            for driver in &combinational[at + 1..] {
                let late = driver.targets.iter().filter(|name| reader.names.contains(*name));
                late.for_each(|name| self.add("process before what it reads", name));
            }
        }
        let users: Vec<BTreeSet<String>> = items.iter().map(|item| words(&codes(item))).collect();
        for declared in items.iter().filter_map(Item::declaration).filter(|own| own.kind == "reg") {
            let name = &declared.name;
            let is_scratch = |one: &CombinationalItem| one.is_labelled && one.targets.contains(name);
            let is_alone = users.iter().filter(|names| names.contains(name)).count() == 1;
            if is_alone && combinational.iter().any(is_scratch) {
                self.add("scratch of the module", name);
            }
        }
    }

    fn declarations(&mut self, items: &[Item]) {
        for declared in declared(items) {
            let name = &declared.name;
            if declared.kind == "localparam" {
                if name.len() == 1 {
                    self.add("constant of one letter", name);
                }
                continue;
            }
            if ["_i", "_o"].iter().any(|suffix| name.ends_with(suffix)) {
                self.add("suffix of a port", name);
            }
            match name.rsplit_once('_') {
                Some(("part", _)) => self.add("name without a meaning", name),
                Some((_, number)) if number.chars().all(|c| c.is_ascii_digit()) => {
                    self.add("number in a name", name);
                }
                _ => {}
            }
        }
    }

    fn items(&mut self, items: &[Item], names: &ModuleNames) {
        self.parts(items);
        self.defaults(items, names);
        for item in items {
            match item {
                Item::Line(code) => {
                    self.expression(code);
                    self.assignment(code, names);
                }
                Item::Declaration(declared) => {
                    declared.value.iter().for_each(|value| self.expression(value));
                }
                Item::Instance(instance) => instance.pins.iter().for_each(|(_, pin)| self.expression(pin)),
                Item::Enclosed(head, body, _) => {
                    self.expression(head);
                    self.items(body, names);
                }
                Item::Blocks(blocks) => {
                    if let Some(value) = compared(blocks) {
                        self.add("chain of comparisons", value);
                    }
                    for VerilogBlock { head, body, .. } in blocks {
                        match head {
                            Head::Always(events) => self.process(&events.to_string(), body),
                            Head::For(..) => self.copying_loop(body),
                            Head::Other(code) => self.expression(code),
                        }
                        self.items(body, names);
                    }
                }
                _ => {}
            }
        }
    }

    fn expression(&mut self, code: &Code) {
        let text = code.to_string();
        let bitwise = [" & ", " | ", " ^ "].iter().any(|operator| text.contains(operator));
        let negations = text.match_indices('!').filter(|(at, _)| !text[at + 1..].starts_with('=')).count();
        if bitwise || text.contains(" = !") || text.contains(" <= !") {
            (0..negations).for_each(|_| self.add("logical negation of bits", &text));
        }
        if has_constant_product(&text) {
            self.add("product of constants", &text);
        }
        if has_shifted_extension(&text) {
            self.add("shift of an extension", &text);
        }
    }

    fn assignment(&mut self, code: &Code, names: &ModuleNames) {
        let text = code.to_string();
        // A register that toggles is no clutter.
        if Assignment::of(code).is_some_and(|one| text == format!("{0} = ~{0}", one.target)) {
            self.add("inversion of itself", &text);
        }
        let Some(one) = Assignment::of(code).filter(|one| one.continuous && is_selection(&one.value)) else {
            return;
        };
        let is_copy = is_name(&one.value);
        match (names.outputs.contains(&one.target), is_copy) {
            (true, true) if !one.value.ends_with("_q") => self.add("copy to an output", text),
            (false, true) => self.add("alias", text),
            (false, false) => self.add("name for a part", text),
            _ => {}
        }
    }

    fn process(&mut self, events: &str, body: &[Item]) {
        if events == "@(*)" && is_single_choice(body) {
            self.add("process for one choice", only_text(body));
        }
        if lines(body) > MOST_LINES {
            self.add("long process", only_text(body));
        }
    }

    fn copying_loop(&mut self, body: &[Item]) {
        if let Some(one) = only_assignment(body).filter(|one| is_selection(&one.value)) {
            self.add("loop that copies", format!("{} = {}", one.target, one.value));
        }
    }

    /// Finds consecutive assignments to fixed parts of a signal.
    fn parts(&mut self, items: &[Item]) {
        let mut before: Option<(String, usize)> = None;
        for item in code_of(items) {
            let part = match item {
                Item::Line(code) => Assignment::of(code).filter(|one| is_fixed_part(&one.target)),
                _ => None,
            };
            before = part.map(|one| {
                let known = before.take().filter(|(name, _)| name == one.name());
                let count = known.map_or(1, |(_, count)| count + 1);
                if count == 2 {
                    self.add("vector in parts", one.name());
                }
                (one.name().to_string(), count)
            });
        }
    }

    /// Finds defaults that a loop over all elements overwrites.
    fn defaults(&mut self, items: &[Item], names: &ModuleNames) {
        for (at, item) in items.iter().enumerate() {
            let Item::Line(code) = item else { continue };
            let Some(default) = Assignment::of(code).filter(|one| is_name(&one.target) && !one.continuous)
            else {
                continue;
            };
            let overwrites = |item: &Item| {
                let Item::Blocks(blocks) = item else { return false };
                let Head::For(variable, [from, test, _]) = &blocks[0].head else { return false };
                let to = test.to_string().rsplit(' ').next().and_then(|to| to.parse::<usize>().ok());
                let covers = |item: &Item| {
                    let Item::Line(code) = item else { return false };
                    let Some(one) = Assignment::of(code) else { return false };
                    let all = to.unwrap_or_default();
                    let bits = names.bits.get(&default.target).copied().unwrap_or_default();
                    let element = bits / all.max(1);
                    let index = if element == 1 {
                        format!("[{variable}]")
                    } else {
                        format!("[{variable}*{element} +: {element}]")
                    };
                    one.target == default.target.clone() + &index && all * element == bits
                };
                from.to_string() == "0" && blocks[0].body.iter().any(covers)
            };
            if items[at + 1..].iter().any(overwrites) {
                self.add("default that a loop overwrites", code.to_string());
            }
        }
    }
}

/// Returns the first statement of a process.
fn only_text(body: &[Item]) -> String {
    let first = code_of(body).into_iter().find_map(|item| match item {
        Item::Line(code) => Some(code.to_string()),
        Item::Blocks(blocks) => match &blocks[0].head {
            Head::Other(code) => Some(code.to_string()),
            _ => None,
        },
        _ => None,
    });
    first.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::trees;
    use crate::leaf;
    use crate::options::{EmitOptions, ResetStyle};

    /// Max findings of each kind in all blocks.
    const MOST: [(&str, usize); 13] = [
        ("alias", 8),
        ("constant of one letter", 12),
        ("copy to an output", 51),
        ("default that a loop overwrites", 2),
        ("inversion of itself", 1),
        ("logical negation of bits", 3),
        ("long process", 5),
        ("loop that copies", 21),
        ("name for a part", 52),
        ("number in a name", 47),
        ("process for one choice", 8),
        ("scratch of the module", 7),
        ("vector in parts", 19),
    ];

    fn of(template: &str) -> Vec<&'static str> {
        let mut clutter = Clutter::default();
        let ports = vec![Item::declare("output wire", None, "y_o", None)];
        let items = leaf::items(template, ResetStyle::None);
        clutter.module(&Body { ports, items, ..Body::default() });
        clutter.0.into_iter().flat_map(|(kind, found)| vec![kind; found.len()]).collect()
    }

    #[test]
    fn each_kind_is_found() {
        for (kind, template) in [
            ("alias", "assign x = y;"),
            (
                "chain of comparisons",
                "always @(*) begin\nif (x == A) begin\ny = a;\nend else if (x == B) begin\nz = b;\nend else if (x == C) begin\ny = c;\nend\nend",
            ),
            ("constant of one letter", "localparam N = 3;"),
            ("copy to an output", "assign y_o = y;"),
            (
                "default that a loop overwrites",
                "reg [3:0] x;\nalways @(*) begin\nx = 4'd0;\nfor (i = 0; i < 4; i = i + 1) begin\nx[i] = a[i] & b;\nend\nend",
            ),
            ("inversion of itself", "always @(*) begin\nif (a) begin\nx = ~x;\nend\nz = c ^ d;\nend"),
            ("logical negation of bits", "assign x = a & !b;"),
            (
                "loop that copies",
                "always @(*) begin\nfor (i = 0; i < 4; i = i + 1) begin\nx[i] = a[i];\nend\nend",
            ),
            ("name for a part", "assign x = a[3:0];"),
            ("name without a meaning", "wire part_0;"),
            ("number in a name", "wire sum_2;"),
            ("process for one choice", "always @(*) begin\nx = a;\nif (c) begin\nx = b;\nend\nend"),
            ("process before what it reads", "assign z = ~x;\nassign x = ~a;"),
            ("product of constants", "assign x = ~a[3*8 +: 8];"),
            (
                "scratch of the module",
                "reg s;\nalways @(*) begin : comb_x\nfor (i = 0; i < 4; i = i + 1) begin\ns = a[i];\nx[i] = ~s;\nend\nend\nassign z = ~x;",
            ),
            ("shift of an extension", "assign x = {8'd0, a} << 8;"),
            ("suffix of a port", "wire x_i;"),
            ("vector in parts", "always @(*) begin\nx[0] = ~a;\nx[1] = ~b;\nend"),
        ] {
            assert_eq!(of(template), [kind]);
        }
    }

    #[test]
    fn what_a_designer_writes_is_no_clutter() {
        for template in [
            "assign y_o = x_q;",
            "assign x = a & ~b;",
            "assign x = {a, 8'd0};",
            "wire [3:0] x;\nassign x = c ? a[i*8 +: 8] : b;",
            "always @(*) begin\nif (!a) begin\nx = b;\nend\nz = c ^ d;\nend",
            "always @(posedge clk_i) begin\nx_q <= ~x_q;\nend",
        ] {
            assert_eq!(of(template), [""; 0], "{template}");
        }
    }

    #[test]
    fn a_process_of_more_than_80_lines_is_long() {
        let process = |lines: usize| format!("always @(*) begin\n{}end", "x = x + a;\n".repeat(lines));
        assert_eq!(of(&process(MOST_LINES)), [""; 0]);
        assert_eq!(of(&process(MOST_LINES + 1)), ["long process"]);
    }

    #[test]
    fn no_kind_of_clutter_grows() {
        let mut modules = BTreeMap::new();
        for entry in selvedge_blocks::built_in() {
            let block = entry.elaborate(&entry.defaults()).unwrap();
            modules.extend(trees(&*block, entry.name(), &EmitOptions::default()).unwrap());
        }
        let mut clutter = Clutter::default();
        for (name, body) in &modules {
            let mut own = Clutter::default();
            own.module(body);
            for (kind, found) in own.0 {
                found.into_iter().for_each(|text| clutter.add(kind, format!("{name}: {text}")));
            }
        }
        for (kind, found) in &clutter.0 {
            println!("{kind}: {}\n  {}", found.len(), found.join("\n  "));
        }
        for (kind, found) in &clutter.0 {
            let most = MOST.iter().find(|(known, _)| known == kind).map_or(0, |(_, most)| *most);
            assert!(found.len() <= most, "{kind}: {} of at most {most}", found.len());
        }
    }
}
