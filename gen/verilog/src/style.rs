//! Finds what a designer would reject in the syntax trees of modules: stores that are overwritten before a read, names that
//! get a second, unrelated value after a read of the first, and comments without a statement.

use crate::verilog::{Body, Code, Head, Item, VerilogBlock};
use std::collections::BTreeSet;

type SignalNames = BTreeSet<String>;

/// An assignment in a process.
struct VerilogStore {
    target: String,
    /// `true` if it assigns the complete signal.
    whole: bool,
    /// `true` for `<=`, which takes effect after the process.
    later: bool,
    /// Names on its right side and in its indices.
    reads: SignalNames,
}

impl VerilogStore {
    /// Parses a statement; `None` if it is not an assignment.
    fn of(code: &Code) -> Option<VerilogStore> {
        let tokens: Vec<&str> = code.0.iter().map(|token| token.text()).collect();
        let target = tokens.first().filter(|name| is_name(name))?;
        let mut depth = 0;
        let arrow = tokens.iter().position(|token| {
            depth += i32::from(*token == "[") - i32::from(*token == "]");
            depth == 0 && matches!(token.trim(), "=" | "<=" | "<")
        })?;
        let left = tokens[1..arrow].iter().filter(|token| !token.trim().is_empty()).count();
        let reads = names(&tokens[1..]);
        Some(VerilogStore {
            target: (*target).into(),
            whole: left == 0,
            later: tokens[arrow].trim() != "=",
            reads,
        })
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
}

fn names(tokens: &[&str]) -> SignalNames {
    tokens.iter().filter(|token| is_name(token)).map(|token| (*token).to_owned()).collect()
}

fn names_of(code: &Code) -> SignalNames {
    names(&code.0.iter().map(|token| token.text()).collect::<Vec<_>>())
}

/// The alternatives of an `if` or `case`, and the names in its conditions.
fn alternatives(item: &Item) -> Option<(Vec<&[Item]>, SignalNames, bool)> {
    match item {
        Item::Blocks(blocks) if !matches!(blocks[0].head, Head::For(..) | Head::Always(_)) => {
            let reads = blocks.iter().flat_map(|block| match &block.head {
                Head::Other(code) => names_of(code),
                _ => SignalNames::new(),
            });
            let complete = matches!(blocks.last().map(|block| &block.head), Some(Head::Other(code)) if code.0.is_empty());
            Some((blocks.iter().map(|block| block.body.as_slice()).collect(), reads.collect(), complete))
        }
        Item::Enclosed(head, items, end) if end == "endcase" => {
            let arms: Vec<&VerilogBlock> = items
                .iter()
                .filter_map(|item| if let Item::Blocks(blocks) = item { blocks.first() } else { None })
                .collect();
            let is_default = |block: &&VerilogBlock| matches!(&block.head, Head::Other(code) if code.to_string() == "default:");
            let complete = arms.iter().any(is_default);
            Some((arms.into_iter().map(|block| block.body.as_slice()).collect(), names_of(head), complete))
        }
        _ => None,
    }
}

/// The result of a check: one line per finding.
#[derive(Default)]
struct Findings(Vec<String>);

impl Findings {
    fn module(&mut self, items: &[Item]) {
        self.comments(items);
        for item in items {
            match item {
                Item::Blocks(blocks) => {
                    for VerilogBlock { head, body, .. } in blocks {
                        if let Head::Always(_) = head {
                            self.dead_stores(body, &mut SignalNames::new(), true);
                            self.second_values(body);
                        } else {
                            self.module(body);
                        }
                    }
                }
                Item::Enclosed(_, body, _) => self.module(body),
                _ => {}
            }
        }
    }

    /// Follows the statements of a process backward. `overwritten` are the names that the following statements overwrite
    /// before they read them.
    fn dead_stores(&mut self, items: &[Item], overwritten: &mut SignalNames, report: bool) {
        for item in items.iter().rev() {
            if let Item::Line(code) = item {
                let Some(store) = VerilogStore::of(code) else { continue };
                if overwritten.contains(&store.target) && report {
                    self.0.push(format!("dead store: {code}"));
                }
                if store.whole {
                    overwritten.insert(store.target);
                }
                // Processes with `<=` read the values of the cycle before.
                if !store.later {
                    overwritten.retain(|name| !store.reads.contains(name));
                }
            } else if let Some((bodies, reads, complete)) = alternatives(item) {
                let after = overwritten.clone();
                let mut all = if complete { None } else { Some(after.clone()) };
                for body in bodies {
                    let mut before = after.clone();
                    self.dead_stores(body, &mut before, report);
                    all = Some(all.map_or(before.clone(), |all: SignalNames| &all & &before));
                }
                *overwritten = all.unwrap_or(after);
                overwritten.retain(|name| !reads.contains(name));
            } else if let Item::Blocks(blocks) = item {
                let after = overwritten.clone();
                loop {
                    let mut start = overwritten.clone();
                    self.dead_stores(&blocks[0].body, &mut start, false);
                    let end = &after & &start;
                    if end == *overwritten {
                        break;
                    }
                    *overwritten = end;
                }
                self.dead_stores(&blocks[0].body, overwritten, report);
            }
        }
    }

    /// Reports complete stores to names that the same list of statements has assigned and read before.
    fn second_values(&mut self, items: &[Item]) {
        let (mut assigned, mut read) = (SignalNames::new(), SignalNames::new());
        for item in items {
            if let Item::Line(code) = item
                && let Some(store) = VerilogStore::of(code)
                && store.whole
                && !store.later
                && read.contains(&store.target)
                && !store.reads.contains(&store.target)
            {
                self.0.push(format!("second value: {code}"));
            }
            let (mut stores, mut reads) = (SignalNames::new(), SignalNames::new());
            used(item, &mut stores, &mut reads);
            // What a statement reads and assigns itself is one value that grows.
            read.extend(reads.into_iter().filter(|name| assigned.contains(name) && !stores.contains(name)));
            assigned.extend(stores);
            match item {
                Item::Blocks(blocks) => blocks.iter().for_each(|block| self.second_values(&block.body)),
                Item::Enclosed(_, body, _) => self.second_values(body),
                _ => {}
            }
        }
    }

    /// Reports comments at the end of a list of statements, or before an empty line.
    fn comments(&mut self, items: &[Item]) {
        for (position, item) in items.iter().enumerate() {
            match item {
                Item::Comment(text) if matches!(items.get(position + 1), None | Some(Item::Blank)) => {
                    self.0.push(format!("comment without a statement: {text}"));
                }
                Item::Blocks(blocks) => blocks.iter().for_each(|block| self.comments(&block.body)),
                Item::Enclosed(_, body, _) => self.comments(body),
                _ => {}
            }
        }
    }
}

/// Collects the names that a statement assigns and reads.
fn used(item: &Item, stores: &mut SignalNames, reads: &mut SignalNames) {
    match item {
        Item::Line(code) => {
            if let Some(store) = VerilogStore::of(code) {
                stores.insert(store.target);
                reads.extend(store.reads);
            }
        }
        Item::Blocks(blocks) => {
            for VerilogBlock { head, body, .. } in blocks {
                if let Head::Other(code) = head {
                    reads.extend(names_of(code));
                }
                body.iter().for_each(|item| used(item, stores, reads));
            }
        }
        Item::Enclosed(head, body, _) => {
            reads.extend(names_of(head));
            body.iter().for_each(|item| used(item, stores, reads));
        }
        _ => {}
    }
}

fn findings(items: &[Item]) -> Vec<String> {
    let mut findings = Findings::default();
    findings.module(items);
    findings.0
}

/// Returns the findings in all modules of a design.
fn in_modules(modules: &[(String, Body)]) -> Vec<String> {
    let of = |(name, body): &(String, Body)| {
        findings(&body.items).into_iter().map(move |finding| format!("{name}: {finding}")).collect::<Vec<_>>()
    };
    modules.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::trees;
    use crate::leaf;
    use crate::options::{EmitOptions, Language, ResetStyle};

    fn of(template: &str) -> Vec<String> {
        findings(&leaf::items(template, ResetStyle::None))
    }

    #[test]
    fn no_block_has_dead_stores_second_values_or_comments_without_statements() {
        let mut all = vec![];
        for entry in selvedge_blocks::built_in() {
            for language in [Language::Verilog, Language::SystemVerilog] {
                let options = EmitOptions { language, ..EmitOptions::default() };
                let block = entry.elaborate(&entry.defaults()).unwrap();
                all.extend(in_modules(&trees(&*block, entry.name(), &options).unwrap()));
            }
        }
        assert!(all.is_empty(), "{}", all.join("\n"));
    }

    #[test]
    fn a_store_is_dead_if_all_paths_overwrite_it() {
        let found =
            of("always @(*) begin\nx = 1'b0;\nif (a) begin\nx = b;\nend else begin\nx = c;\nend\nend");
        assert_eq!(found, ["dead store: x = 1'b0"]);
        assert!(of("always @(*) begin\nx = 1'b0;\nif (a) begin\nx = b;\nend\nend").is_empty());
        assert!(of("always @(*) begin\nx = 1'b0;\ny = x;\nif (a) begin\nx = y;\nend\nend").is_empty());
        let loop_before = "always @(*) begin\nx = 1'b0;\nfor (i = 0; i < 4; i = i + 1) begin\nx = a[i];\ny[i] = x;\nend\nend";
        assert_eq!(of(loop_before), ["dead store: x = 1'b0"]);
        assert!(of(&loop_before.replace("x = a[i]", "x = x ^ a[i]")).is_empty());
        assert_eq!(of("always @(posedge clk_i) begin\nx <= a;\nx <= x;\nend"), ["dead store: x <= a"]);
    }

    #[test]
    fn a_name_of_both_sides_of_a_register_stage_has_a_second_value() {
        let found = of("always @(*) begin\nparts = a;\nparts[3] = b;\nx_i = parts;\nparts = x_o;\nend");
        assert_eq!(found, ["second value: parts = x_o"]);
        assert!(of("always @(*) begin\nx_i = a;\nx_i[3] = b;\nend").is_empty());
        assert!(
            of("always @(*) begin\nsum = a;\nif (sum < b) begin\nsum = c;\nend\ny = sum;\nend").is_empty()
        );
    }

    #[test]
    fn a_comment_belongs_to_the_statement_after_it() {
        let found = of("always @(*) begin\nif (a) begin\nx = b;\n// nothing\nend\n// y\ny = x;\nend");
        assert_eq!(found, ["comment without a statement: nothing"]);
    }
}
