//! Does the waveform of every block show, clock by clock, what was driven and what the golden model expects, and does its
//! GTKWave save file name signals that are there?
use selvedge_blocks::BLOCKS;
use selvedge_hw::{BlockEntry, Direction};
use selvedge_testbenches::vectors::Vectors;
use selvedge_testbenches::wave;
use std::collections::BTreeMap;
use std::io::Cursor;
use wellen::simple::{Waveform, read_from_reader};

const CYCLES: u64 = 2000;
const SEED: u64 = 42;

/// A VCD file, read by a parser that knows nothing of the writer.
struct Reading {
    waveform: Waveform,
    signals: BTreeMap<String, wellen::SignalRef>,
}

impl Reading {
    fn of(vcd: Vec<u8>) -> Self {
        let mut waveform = read_from_reader(Cursor::new(vcd)).expect("the VCD can be read");
        let hierarchy = waveform.hierarchy();
        let named = |var: wellen::VarRef| (hierarchy[var].full_name(hierarchy), hierarchy[var].signal_ref());
        let signals: BTreeMap<String, wellen::SignalRef> = hierarchy.all_vars().map(named).collect();
        waveform.load_signals(&signals.values().copied().collect::<Vec<_>>());
        Reading { waveform, signals }
    }

    /// The bits of a signal at a time in ns, highest first.
    fn at(&self, signal: &str, time: u64) -> String {
        let signal = self.waveform.get_signal(self.signals[signal]).expect("the signal was loaded");
        let index = self.waveform.time_table().partition_point(|moment| *moment <= time) - 1;
        let offset = signal.get_offset(index as u32).expect("every signal has a value from the start");
        signal.get_value_at(&offset, 0).to_string()
    }

    /// The times in ns at which a bit takes the given level.
    fn edges(&self, signal: &str, level: &str) -> Vec<u64> {
        let signal = self.waveform.get_signal(self.signals[signal]).expect("the signal was loaded");
        let changes = signal.iter_changes().filter(|(_, value)| value.to_string() == level);
        changes.map(|(index, _)| self.waveform.time_table()[index as usize]).collect()
    }
}

/// A port value as the parser shows it.
fn binary(words: &[u64], bits: usize) -> String {
    (0..bits).rev().map(|bit| if (words[bit / 64] >> (bit % 64)) & 1 == 1 { '1' } else { '0' }).collect()
}

fn record(block: &dyn BlockEntry) -> wave::Waveform {
    wave::run(block, &block.defaults(), CYCLES, SEED).expect("defaults are valid")
}

#[test]
fn every_port_shows_what_was_driven_and_what_is_expected() {
    for block in BLOCKS {
        let params = block.defaults();
        let reading = Reading::of(record(*block).vcd);
        let scope = format!("selvedge.{}", block.name());
        let ports = block.ports(&params).unwrap();
        let vectors = Vectors::new(*block, &params, SEED).unwrap();
        for (cycle, vector) in (0..CYCLES).zip(vectors) {
            // Just before the next rising edge everything has settled.
            let time = 10 * cycle + 9;
            let shown = |name: &str| reading.at(&format!("{scope}.{name}"), time);
            assert_eq!(reading.at("selvedge.cycle", time), format!("{cycle:064b}"));
            assert_eq!(shown("rst_ni"), if vector.reset { "0" } else { "1" }, "{scope}, cycle {cycle}");
            let values = vector.inputs.iter().chain(vector.outputs.iter().flatten());
            let values: Vec<&Vec<u64>> = values.collect();
            let is_low = |name: &str| {
                ports.iter().zip(&values).any(|(port, value)| port.name == name && value[0] & 1 == 0)
            };
            for (port, value) in ports.iter().zip(&values) {
                // What the port shows then means nothing.
                if port.valid.is_some_and(is_low) {
                    continue;
                }
                assert_eq!(
                    shown(port.name),
                    binary(value, port.bits),
                    "{scope}.{}, cycle {cycle}",
                    port.name
                );
            }
            if vector.reset {
                for port in ports.iter().filter(|port| port.direction == Direction::Output) {
                    assert_eq!(
                        shown(port.name),
                        "x".repeat(port.bits),
                        "{scope}.{}, cycle {cycle}",
                        port.name
                    );
                }
            }
        }
    }
}

#[test]
fn the_clock_has_an_edge_per_cycle() {
    for block in BLOCKS {
        let reading = Reading::of(record(*block).vcd);
        let clock = format!("selvedge.{}.clk_i", block.name());
        assert_eq!(reading.edges(&clock, "1"), (0..CYCLES).map(|cycle| 10 * cycle).collect::<Vec<_>>());
        assert_eq!(reading.edges(&clock, "0"), (0..CYCLES).map(|cycle| 10 * cycle + 5).collect::<Vec<_>>());
    }
}

#[test]
fn the_save_file_names_each_signal_of_the_vcd_once_in_its_group() {
    for block in BLOCKS {
        let waveform = record(*block);
        let text = waveform.gtkw("run.vcd");
        assert!(text.contains("[dumpfile] \"run.vcd\"\n"), "{text}");
        let reading = Reading::of(waveform.vcd);
        let hierarchy = reading.waveform.hierarchy();
        let width = |name: &str| hierarchy.get_signal_tpe(reading.signals[name]).unwrap().length().unwrap();
        let cycle = hierarchy.lookup_var(&["selvedge"], "cycle").unwrap();
        assert_eq!(hierarchy[cycle].var_type(), wellen::VarType::Integer);

        let mut group = None;
        let mut named = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with(['[', '@'])) {
            if let Some(name) = line.strip_prefix('-') {
                // The name stands at the group's beginning and again at its end.
                group = if group == Some(name) { None } else { Some(name) };
                continue;
            }
            let name = line.split('[').next().unwrap();
            assert!(reading.signals.contains_key(name), "{name} is not in the VCD");
            // GTKWave gives vectors a range, but not integers.
            let bare = width(name) == 1 || name == "selvedge.cycle";
            let range = if bare { String::new() } else { format!("[{}:0]", width(name) - 1) };
            assert_eq!(line, format!("{name}{range}"));
            assert_eq!(named.insert(name, group.expect("every signal is in a group")), None, "{name} twice");
        }
        assert_eq!(group, None, "the last group is closed");
        assert_eq!(named.len(), reading.signals.len(), "every signal of the VCD is shown");
        for port in block.ports(&block.defaults()).unwrap() {
            let wanted = match port.direction {
                Direction::Input => "inputs",
                Direction::Output => "outputs",
            };
            assert_eq!(named[format!("selvedge.{}.{}", block.name(), port.name).as_str()], wanted);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_waveform_and_another_one_another() {
    for block in BLOCKS {
        let vcd = |seed| wave::run(*block, &block.defaults(), 200, seed).unwrap().vcd;
        assert!(vcd(1) == vcd(1), "{}", block.name());
        assert!(vcd(1) != vcd(2), "{}", block.name());
    }
}

#[test]
fn no_cycles_make_a_vcd_without_changes() {
    for block in BLOCKS {
        let reading = Reading::of(wave::run(*block, &block.defaults(), 0, SEED).unwrap().vcd);
        assert!(reading.waveform.time_table().is_empty(), "{}", block.name());
        assert!(!reading.signals.is_empty());
    }
}
