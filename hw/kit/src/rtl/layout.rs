//! Layouts: names for the fields of wide vectors.

use super::describe::Description;
use crate::ports::Port;
use rust_hdl_core::prelude::{Block, TimingInfo};

/// The fields of one or more signals of the same shape. The Verilog names the signals' bits by them.
///
/// rust-hdl has vectors of bits but no records. A block that sends several values through one register or port therefore
/// concatenates them. Its layout gives the position of each value: Verilog has a constant for the first bit of each field,
/// SystemVerilog a packed struct.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignalLayout {
    /// Paths of the signals, with `.` between parts; the first one names the layout. The path of a register means its input and
    /// its output.
    pub signals: Vec<String>,
    /// Names of the fields and their bits, from bit 0 up.
    pub fields: Vec<(String, usize)>,
}

/// A field of a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortField {
    /// Name of the field.
    pub name: String,
    /// First bit in the vector.
    pub low: usize,
    /// Width in bits.
    pub bits: usize,
}

impl PortField {
    /// Returns the field's value, as little-endian words of a vector with this value.
    pub fn of(&self, words: &[u64]) -> Vec<u64> {
        let bit = |at: usize| words[at / 64] >> (at % 64) & 1;
        let word = |from: usize| {
            (from..(from + 64).min(self.bits)).fold(0, |word, at| word | bit(self.low + at) << (at - from))
        };
        (0..self.bits).step_by(64).map(word).collect()
    }
}

/// Name that marks a layout among the records that `Logic::timing` returns.
const LAYOUT: &str = "selvedge:layout";

impl SignalLayout {
    /// Returns the fields of the ports of a block that have a layout.
    pub fn of_ports(block: &dyn Block, ports: &[Port]) -> Vec<(&'static str, Vec<PortField>)> {
        let layouts = Description::of(block).map(|description| description.layouts).unwrap_or_default();
        let fields = |port: &Port| {
            let layout = layouts.iter().find(|layout| layout.signals.iter().any(|name| name == port.name))?;
            Some((port.name, layout.placed()))
        };
        ports.iter().filter_map(fields).collect()
    }

    /// Returns the fields with their first bits, from bit 0 up.
    fn placed(&self) -> Vec<PortField> {
        let mut low = 0;
        let field = |(name, bits): &(String, usize)| {
            low += bits;
            PortField { name: name.clone(), low: low - bits, bits: *bits }
        };
        self.fields.iter().map(field).collect()
    }

    /// Returns the record that carries the layout through `Logic::timing`.
    pub fn encode(self) -> TimingInfo {
        let outputs = self.fields.into_iter().map(|(name, bits)| format!("{name}={bits}")).collect();
        TimingInfo { name: LAYOUT.into(), clock: String::new(), inputs: self.signals, outputs }
    }

    /// Returns the layout of a record, or `None` if the record carries something else.
    pub fn decode(record: &TimingInfo) -> Option<SignalLayout> {
        let field = |text: &String| {
            let (name, bits) = text.split_once('=')?;
            Some((name.to_string(), bits.parse().ok()?))
        };
        let fields = record.outputs.iter().map(field).collect::<Option<_>>()?;
        (record.name == LAYOUT).then(|| SignalLayout { signals: record.inputs.clone(), fields })
    }
}

/// Returns the names and widths of the fields that one entry of [`layouts!`](crate::layouts) declares.
#[doc(hidden)]
pub fn fields(name: &str, count: Option<&usize>, bits: usize) -> Vec<(String, usize)> {
    match count {
        None => vec![(name.into(), bits)],
        Some(count) => (0..*count).map(|index| (format!("{name}_{index}"), bits)).collect(),
    }
}

/// Names the fields of a block's wide vectors, from bit 0 up; `Logic::timing` returns them after the description:
///
/// ```
/// use selvedge_hw::rtl::prelude::*;
///
/// rtl_block! {
///     /// Reports the name of a person of known age.
///     pub struct NameOf {
///         /// the person
///         pub person_i: Signal<In, U<12>>,
///         /// the name
///         pub name_o: Signal<Out, U<5>>,
///     }
/// }
/// #[hdl_gen(layouts! { person_i: { age: 7, name: 5 } })]
/// impl Logic for NameOf {
///     fn update(&mut self) {
///         self.name_o.next = self.person_i.val().get_bits::<5>(7);
///     }
/// }
/// ```
///
/// `quota[3]: 7` declares three fields of 7 bits: `quota_0`, `quota_1` and `quota_2`.
#[macro_export]
macro_rules! layouts {
    ($($($signal:ident $(.$part:ident)*),+: { $($field:ident $([$count:expr])?: $bits:expr),+ $(,)? }),+ $(,)?) => {
        ::std::vec![$(
            $crate::rtl::layout::SignalLayout {
                signals: ::std::vec![$(concat!(stringify!($signal) $(, ".", stringify!($part))*).to_string()),+],
                fields: [$($crate::rtl::layout::fields(stringify!($field), [$($count)?].first(), $bits)),+].concat(),
            }
            .encode()
        ),+]
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_survive_the_trip_through_records() {
        let records = crate::layouts! { a, b.q: { low: 3, high: 4 + 1 }, c: { all[1 + 1]: 2 } };
        let layouts: Vec<_> = records.iter().filter_map(SignalLayout::decode).collect();
        let field = |name: &str, bits| (name.to_string(), bits);
        assert_eq!(
            layouts,
            [
                SignalLayout {
                    signals: vec!["a".into(), "b.q".into()],
                    fields: vec![field("low", 3), field("high", 5)]
                },
                SignalLayout {
                    signals: vec!["c".into()],
                    fields: vec![field("all_0", 2), field("all_1", 2)]
                },
            ]
        );
    }

    #[test]
    fn a_field_has_its_bits_of_the_vector() {
        let field = |low, bits| PortField { name: String::new(), low, bits };
        let words = [0xfedc_ba98_7654_3210, 0x5];
        assert_eq!(field(4, 8).of(&words), [0x21]);
        assert_eq!(field(60, 6).of(&words), [0x1f]);
        assert_eq!(field(1, 66).of(&words), [0xff6e_5d4c_3b2a_1908, 0x2]);
    }

    #[test]
    fn other_records_are_no_layouts() {
        let record = TimingInfo { name: "x".into(), clock: String::new(), inputs: vec![], outputs: vec![] };
        assert_eq!(SignalLayout::decode(&record), None);
    }
}
