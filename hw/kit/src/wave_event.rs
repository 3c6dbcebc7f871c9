//! Events of a block: rows of text in its waveforms, and the decisions on which viewers open.
use crate::ports::Port;
use crate::rtl::layout::PortField;
use crate::wave::{CycleSample, Trace};

/// Max decimal width of a value in bits; wider values are hexadecimal.
const DECIMAL: usize = 16;
/// Bits that are shown of a value that does not fit in one word.
const SHOWN: usize = 32;

/// An event of a block, visible at its ports. Waveforms have a row of text for it.
///
/// ```
/// use selvedge_hw::WaveEvent;
///
/// const LINE_IN: WaveEvent = WaveEvent::item("line_in", &["valid_i", "ready_o"], &["line_i"]);
/// const UPDATE: WaveEvent = WaveEvent::decision("update", &["update_o"], &["limit_o"]);
/// assert!(UPDATE.is_decision && !LINE_IN.is_decision);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaveEvent {
    /// Name of the row, in lower_snake_case.
    pub name: &'static str,
    /// 1-bit ports that are all high in a cycle with the event.
    pub when: &'static [&'static str],
    /// Ports that identify the item. The row shows their values; without ports it shows the name.
    pub shows: &'static [&'static str],
    /// `true` if the block decides: it updates a limit, changes a mode, evicts, or reports an error.
    pub is_decision: bool,
}

impl WaveEvent {
    /// Returns the event of an item that the block accepts or returns.
    pub const fn item(
        name: &'static str,
        when: &'static [&'static str],
        shows: &'static [&'static str],
    ) -> Self {
        WaveEvent { name, when, shows, is_decision: false }
    }

    /// Returns the event of a decision.
    pub const fn decision(
        name: &'static str,
        when: &'static [&'static str],
        shows: &'static [&'static str],
    ) -> Self {
        WaveEvent { name, when, shows, is_decision: true }
    }
}

/// The row of an event in a waveform.
#[derive(Clone, Debug)]
pub struct EventRow<'a> {
    /// The event.
    pub event: &'static WaveEvent,
    /// Indices of the ports in [`WaveEvent::when`].
    when: Vec<usize>,
    shown: Vec<ShownPort<'a>>,
}

/// A port whose value a row shows.
#[derive(Clone, Debug)]
struct ShownPort<'a> {
    index: usize,
    port: &'a Port,
    fields: &'a [PortField],
    names: &'static [(u64, &'static str)],
}

impl<'a> EventRow<'a> {
    /// Text of a row in a cycle without the event.
    pub const NONE: &'static str = "-";

    /// Returns the rows of a trace, in the order of their declaration. Events of ports that the trace lacks have no row.
    pub fn of(trace: &'a Trace) -> Vec<Self> {
        trace.events.iter().filter_map(|event| Self::new(trace, event)).collect()
    }

    fn new(trace: &'a Trace, event: &'static WaveEvent) -> Option<Self> {
        let find = |name: &&str| trace.ports.iter().position(|port| port.name == *name);
        let shown = |name: &&str| {
            let index = find(name)?;
            let port = &trace.ports[index];
            let named = trace.names.iter().find(|names| names.ports.contains(name));
            Some(ShownPort {
                index,
                port,
                fields: trace.fields_of(port.name),
                names: named.map_or(&[], |names| names.names),
            })
        };
        Some(EventRow {
            event,
            when: event.when.iter().map(find).collect::<Option<_>>()?,
            shown: event.shows.iter().map(shown).collect::<Option<_>>()?,
        })
    }

    /// Returns whether the event takes place in a cycle.
    pub fn occurs(&self, sample: &CycleSample) -> bool {
        !sample.reset && self.when.iter().all(|index| sample.values[*index][0] & 1 == 1)
    }

    /// Returns the text of a cycle: the values without blanks, which VCD does not allow, or [`Self::NONE`].
    pub fn text(&self, sample: &CycleSample) -> String {
        if !self.occurs(sample) {
            return Self::NONE.into();
        }
        if self.shown.is_empty() {
            return self.event.name.into();
        }
        self.shown.iter().map(|port| port.text(&sample.values[port.index])).collect::<Vec<_>>().join("/")
    }

    /// Returns the max length of a text.
    pub fn width(&self) -> usize {
        let widths = self.shown.iter().map(|port| port.width() + 1).sum::<usize>();
        widths.saturating_sub(1).max(if widths == 0 { self.event.name.len() } else { 1 })
    }

    /// Returns the meaning of the row.
    pub fn doc(&self) -> String {
        let shows =
            if self.shown.is_empty() { String::new() } else { format!(": {}", self.event.shows.join("/")) };
        format!("event, {}{shows}", self.event.when.join(" and "))
    }
}

impl ShownPort<'_> {
    fn text(&self, words: &[u64]) -> String {
        if let Some((_, name)) = self.names.iter().find(|(value, _)| *value == words[0]) {
            return (*name).into();
        }
        match self.fields {
            [] => number(words, self.port.bits),
            fields => {
                let texts = fields.iter().map(|field| number(&field.of(words), field.bits));
                texts.collect::<Vec<_>>().join(",")
            }
        }
    }

    fn width(&self) -> usize {
        let names = self.names.iter().map(|(_, name)| name.len()).max().unwrap_or(0);
        let fields = self.fields.iter().map(|field| number_width(field.bits) + 1).sum::<usize>();
        names.max(if fields == 0 { number_width(self.port.bits) } else { fields - 1 })
    }
}

/// Returns a value as text. Only the low bits of a value with several words are shown.
fn number(words: &[u64], bits: usize) -> String {
    match bits {
        0..=DECIMAL => words[0].to_string(),
        17..=64 => format!("{:#x}", words[0]),
        _ => format!("..{:x}", words[0] & ((1 << SHOWN) - 1)),
    }
}

/// Returns the max length of a value as text.
fn number_width(bits: usize) -> usize {
    match bits {
        0..=DECIMAL => ((1_u64 << bits) - 1).to_string().len(),
        17..=64 => 2 + bits.div_ceil(4),
        _ => 2 + SHOWN / 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::ports::Direction;
    use crate::value_names::ValueNames;

    const EVENTS: &[WaveEvent] = &[
        WaveEvent::item("item", &["valid_i", "ready_o"], &["mode_i", "pair_i", "address_i", "line_i"]),
        WaveEvent::decision("flip", &["ready_o"], &[]),
        WaveEvent::item("other", &["other_i"], &[]),
    ];
    const NAMES: &[ValueNames] =
        &[ValueNames { what: "mode", ports: &["mode_i"], names: &[(1, "automatic")] }];

    fn trace() -> Trace {
        let port = |(name, bits)| Port { name, bits, direction: Direction::Input, doc: "", valid: None };
        let ports = [
            ("valid_i", 1),
            ("ready_o", 1),
            ("mode_i", 2),
            ("pair_i", 12),
            ("address_i", 32),
            ("line_i", 70),
        ];
        let field = |low| PortField { name: format!("from_{low}"), low, bits: 6 };
        Trace {
            instance: "a".into(),
            clock: Clock::default(),
            ports: ports.map(port).to_vec(),
            names: NAMES,
            events: EVENTS,
            fields: vec![("pair_i", vec![field(0), field(6)])],
            registers: Vec::new(),
            is_gated: false,
            samples: Vec::new(),
        }
    }

    fn sample(valid: u64, ready: u64, mode: u64) -> CycleSample {
        let values =
            [vec![valid], vec![ready], vec![mode], vec![27 << 6 | 33], vec![0x1f80], vec![7 << 32 | 5, 3]];
        CycleSample { cycle: 0, reset: false, values: values.to_vec(), registers: Vec::new() }
    }

    #[test]
    fn a_row_shows_names_fields_numbers_and_the_low_bits_of_a_line() {
        let trace = trace();
        let rows = EventRow::of(&trace);
        assert_eq!(rows[0].text(&sample(1, 1, 1)), "automatic/33,27/0x1f80/..5");
        assert_eq!(rows[0].text(&sample(1, 1, 2)), "2/33,27/0x1f80/..5");
        assert_eq!(
            (rows[0].text(&sample(1, 0, 1)), rows[1].text(&sample(0, 1, 0))),
            ("-".into(), "flip".into())
        );
        let reset = CycleSample { reset: true, ..sample(1, 1, 1) };
        assert_eq!(rows[0].text(&reset), "-");
    }

    #[test]
    fn texts_are_at_most_as_long_as_the_width() {
        let trace = trace();
        let rows = EventRow::of(&trace);
        let mut longest = sample(1, 1, 1);
        longest.values[3..].clone_from_slice(&[vec![0xfff], vec![u64::from(u32::MAX)], vec![u64::MAX, 63]]);
        assert_eq!(rows[0].text(&longest), "automatic/63,63/0xffffffff/..ffffffff");
        assert_eq!(rows[0].text(&longest).len(), rows[0].width());
        assert_eq!(rows[1].width(), 4);
    }

    #[test]
    fn an_event_of_a_missing_port_has_no_row() {
        assert_eq!(EventRow::of(&trace()).len(), 2);
    }
}
