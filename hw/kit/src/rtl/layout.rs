//! Layouts: names for the fields of wide vectors.

use rust_hdl_core::prelude::TimingInfo;

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

/// Name that marks a layout among the records that `Logic::timing` returns.
const LAYOUT: &str = "selvedge:layout";

impl SignalLayout {
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
#[macro_export]
macro_rules! layouts {
    ($($($signal:ident $(.$part:ident)*),+: { $($field:ident: $bits:expr),+ $(,)? }),+ $(,)?) => {
        ::std::vec![$(
            $crate::rtl::layout::SignalLayout {
                signals: ::std::vec![$(concat!(stringify!($signal) $(, ".", stringify!($part))*).to_string()),+],
                fields: ::std::vec![$((stringify!($field).to_string(), $bits)),+],
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
        let records = crate::layouts! { a, b.q: { low: 3, high: 4 + 1 }, c: { all: 2 } };
        let layouts: Vec<_> = records.iter().filter_map(SignalLayout::decode).collect();
        let field = |name: &str, bits| (name.to_string(), bits);
        assert_eq!(
            layouts,
            [
                SignalLayout {
                    signals: vec!["a".into(), "b.q".into()],
                    fields: vec![field("low", 3), field("high", 5)]
                },
                SignalLayout { signals: vec!["c".into()], fields: vec![field("all", 2)] },
            ]
        );
    }

    #[test]
    fn other_records_are_no_layouts() {
        let record = TimingInfo { name: "x".into(), clock: String::new(), inputs: vec![], outputs: vec![] };
        assert_eq!(SignalLayout::decode(&record), None);
    }
}
