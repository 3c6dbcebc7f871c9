//! Named fields of wide vectors: constants for their first bits in Verilog, packed structs in SystemVerilog.

use crate::builder::highest;
use crate::ir::{Role, Signal, SignalId};
use crate::names;
use crate::verilog::{Code, Item};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LayoutField {
    /// Name in the struct.
    pub name: String,
    /// First bit in the signal.
    pub low: usize,
    pub width: usize,
}

/// The fields of one or more signals, starting at bit 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The first signal's name without its suffix `_i` or `_o`.
    pub name: String,
    pub fields: Vec<LayoutField>,
}

impl Layout {
    /// Returns the layout of the signal `key`, from the names and widths of its fields.
    pub fn new(key: &str, fields: &[(String, usize)]) -> Layout {
        let name = names::signal(key);
        let name = name.strip_suffix("_i").or(name.strip_suffix("_o")).unwrap_or(&name).to_string();
        let mut low = 0;
        let mut field = |(name, width): &(String, usize)| {
            low += width;
            LayoutField { name: name.clone(), low: low - width, width: *width }
        };
        Layout { name, fields: fields.iter().map(&mut field).collect() }
    }

    /// Returns the sum of the fields' widths.
    pub fn width(&self) -> usize {
        self.fields.iter().map(|field| field.width).sum()
    }

    /// Returns the field that contains all the bits, if there is one.
    pub fn field(&self, low: usize, bits: usize) -> Option<&LayoutField> {
        self.fields.iter().find(|field| field.low <= low && low + bits <= field.low + field.width)
    }

    /// Returns the name of the constant for a field's first bit.
    pub fn constant(&self, field: &LayoutField) -> String {
        format!("{}_{}", self.name, field.name).to_uppercase()
    }

    /// Returns the name of the struct.
    pub fn type_name(&self) -> String {
        format!("{}_t", self.name)
    }

    /// Returns the names that the layout adds to its module.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.fields.iter().map(|field| self.constant(field)).chain([self.type_name()])
    }

    /// Returns the declaration of the struct. SystemVerilog lists the most significant field first.
    pub fn declaration(&self) -> Item {
        let field = |field: &LayoutField| Item::declare("logic", highest(field.width), &field.name, None);
        let fields = self.fields.iter().rev().map(field).collect();
        let end = format!("}} {};", self.type_name());
        Item::Enclosed(Code::from("typedef struct packed {"), fields, end)
    }
}

/// The bits that a module selects from signals with layouts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selections {
    /// Signals from which bits of a single field are selected.
    pub fields: BTreeSet<SignalId>,
    /// Signals from which other bits are selected.
    pub others: BTreeSet<SignalId>,
}

impl Selections {
    /// Returns the signals that can be structs, with their struct names: the signals from which only fields are selected. A
    /// port stays a vector and gets a separate struct, because the struct of a port would be a type of another file.
    /// Outputs in `driven` stay vectors, because sub-blocks drive them.
    pub fn structs(&self, signals: &[Signal], driven: &BTreeSet<SignalId>) -> BTreeMap<SignalId, String> {
        let mut taken: BTreeSet<String> = signals.iter().map(|signal| signal.name.clone()).collect();
        let mut out = BTreeMap::new();
        for id in self.fields.difference(&self.others).filter(|id| !driven.contains(id)) {
            let name = &signals[*id].name;
            let separate = match signals[*id].role {
                Role::Input => name.strip_suffix("_i").unwrap_or(name),
                Role::Output => name.strip_suffix("_o").unwrap_or(name),
                _ => {
                    out.insert(*id, name.clone());
                    continue;
                }
            };
            // An input and an output can have the same stem.
            let names = [format!("{separate}_fields"), format!("{name}_fields")];
            if let Some(own) = names.into_iter().find(|own| taken.insert(own.clone())) {
                out.insert(*id, own);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Language;
    use crate::verilog::Body;
    use crate::write::module_text;

    fn layout() -> Layout {
        Layout::new("parts_i", &[("tag".into(), 4), ("valid".into(), 1), ("base".into(), 64)])
    }

    #[test]
    fn fields_follow_each_other_from_bit_0_up() {
        assert_eq!(layout().fields.iter().map(|field| field.low).collect::<Vec<_>>(), [0, 4, 5]);
        assert_eq!(layout().width(), 69);
    }

    #[test]
    fn bits_belong_to_the_field_that_has_them_all() {
        let name = |low, bits| layout().field(low, bits).map(|field| field.name.clone());
        assert_eq!(name(4, 1).as_deref(), Some("valid"));
        assert_eq!(name(6, 63).as_deref(), Some("base"));
        assert_eq!((name(3, 2), name(6, 64)), (None, None));
    }

    #[test]
    fn a_struct_has_its_last_field_first() {
        let body = Body { items: vec![layout().declaration()], ..Body::default() };
        let text = module_text("m", &body, &[], Language::SystemVerilog);
        let expected = "  typedef struct packed {\n    logic [63:0] base;\n    logic valid;\n    logic [3:0] tag;\n  } parts_t;\n";
        assert!(text.contains(expected), "{text}");
    }
}
