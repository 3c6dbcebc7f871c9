//! Waveforms of every block, in VCD and FST, show the driven inputs and the golden model's outputs in each cycle.
//! Registers equal the emitted Verilog's. The save file names existing signals, and opens on the first decision.
use selvedge_blocks::{built_in, find};
use selvedge_gen::{EmitOptions, ResetStyle};
use selvedge_hw::wave::CycleSample;
use selvedge_hw::wave_event::EventRow;
use selvedge_hw::{BlockEntry, Clock, Direction};
use selvedge_testbenches::emitted::Emitted;
use selvedge_testbenches::gtkwave::save_file;
use selvedge_testbenches::name_files::NameFiles;
use selvedge_testbenches::surfer::command_file;
use selvedge_testbenches::tool::{IVERILOG, VVP};
use selvedge_testbenches::vectors::Vectors;
use selvedge_testbenches::{testbench, wave};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::path::Path;
use wellen::simple::{Waveform, read_from_reader};
use wellen::{TimescaleUnit, VarDirection};

const CYCLES: u64 = 2000;
const SEED: u64 = 42;
/// Picoseconds of seven cycles of 1.4 GHz.
const SEVEN_CYCLES: u64 = 5000;

/// A waveform, read by a parser that is independent of the writers.
struct Reading {
    waveform: Waveform,
    signals: BTreeMap<String, wellen::SignalRef>,
}

impl Reading {
    fn of(bytes: Vec<u8>) -> Self {
        let mut waveform = read_from_reader(Cursor::new(bytes)).expect("the waveform can be read");
        let hierarchy = waveform.hierarchy();
        let named = |var: wellen::VarRef| (hierarchy[var].full_name(hierarchy), hierarchy[var].signal_ref());
        let signals: BTreeMap<String, wellen::SignalRef> = hierarchy.all_vars().map(named).collect();
        waveform.load_signals(&signals.values().copied().collect::<Vec<_>>());
        Reading { waveform, signals }
    }

    /// Returns the bits of a signal at a time in picoseconds, highest bit first.
    fn at(&self, signal: &str, time: u64) -> String {
        let signal = self.waveform.get_signal(self.signals[signal]).expect("the signal was loaded");
        let index = self.waveform.time_table().partition_point(|moment| *moment <= time) - 1;
        let offset = signal.get_offset(index as u32).expect("every signal has a value from the start");
        signal.get_value_at(&offset, 0).to_string()
    }

    /// Returns the changes of a signal as picoseconds and bits.
    fn changes(&self, signal: &str) -> Vec<(u64, String)> {
        let signal = self.waveform.get_signal(self.signals[signal]).expect("the signal was loaded");
        let time = |index: u32| self.waveform.time_table()[index as usize];
        signal.iter_changes().map(|(index, value)| (time(index), value.to_string())).collect()
    }

    /// Returns the picoseconds at which a bit changes to `level`.
    fn edges(&self, signal: &str, level: &str) -> Vec<u64> {
        self.changes(signal).into_iter().filter(|(_, value)| value == level).map(|(time, _)| time).collect()
    }
}

/// Formats a port value as the parser does.
fn binary(words: &[u64], bits: usize) -> String {
    (0..bits).rev().map(|bit| if (words[bit / 64] >> (bit % 64)) & 1 == 1 { '1' } else { '0' }).collect()
}

/// Returns the text of a row that FST stores as bits.
fn ascii(bits: &str) -> String {
    let byte = |at: usize| u8::from_str_radix(&bits[at..at + 8], 2).expect("eight bits");
    (0..bits.len()).step_by(8).map(byte).filter(|byte| *byte != 0).map(char::from).collect()
}

fn recording(cycles: u64, inside: bool) -> wave::RecordingOptions {
    wave::RecordingOptions { cycles, seed: SEED, clock: Clock { domain: "", mhz: 1400 }, inside }
}

fn record(block: &dyn BlockEntry, cycles: u64, inside: bool) -> wave::Waveform {
    wave::run(block, &block.defaults(), recording(cycles, inside)).expect("defaults are valid")
}

/// Returns the picosecond at which a cycle begins.
fn begin(cycle: u64) -> u64 {
    cycle * SEVEN_CYCLES / 7
}

#[test]
fn every_port_shows_what_was_driven_and_what_is_expected() {
    for block in built_in() {
        let params = block.defaults();
        let reading = Reading::of(record(*block, CYCLES, false).vcd());
        let timescale = reading.waveform.hierarchy().timescale().expect("the times have a unit");
        assert_eq!((timescale.factor, timescale.unit), (1, TimescaleUnit::PicoSeconds));
        let scope = format!("selvedge.{}", block.name());
        let ports = block.ports(&params).unwrap();
        let vectors = Vectors::new(*block, &params, SEED).unwrap();
        for (cycle, vector) in (0..CYCLES).zip(vectors) {
            // All signals are stable just before the next rising edge.
            let time = begin(cycle + 1) - 1;
            let shown = |name: &str| reading.at(&format!("{scope}.{name}"), time);
            assert_eq!(reading.at("selvedge.cycle", time), format!("{cycle:064b}"));
            assert_eq!(shown("rst_ni"), if vector.reset { "0" } else { "1" }, "{scope}, cycle {cycle}");
            let values = vector.inputs.iter().chain(vector.outputs.iter().flatten());
            let values: Vec<&Vec<u64>> = values.collect();
            let is_low = |name: &str| {
                ports.iter().zip(&values).any(|(port, value)| port.name == name && value[0] & 1 == 0)
            };
            for (port, value) in ports.iter().zip(&values) {
                // An invalid port value is meaningless.
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
fn the_clock_has_an_edge_per_cycle_of_its_frequency() {
    for block in built_in() {
        let reading = Reading::of(record(*block, CYCLES, false).vcd());
        let clock = format!("selvedge.{}.clk_i", block.name());
        assert_eq!(reading.edges(&clock, "1"), (0..CYCLES).map(begin).collect::<Vec<_>>());
        let middle = |cycle| begin(cycle) + (begin(cycle + 1) - begin(cycle)) / 2;
        assert_eq!(reading.edges(&clock, "0"), (0..CYCLES).map(middle).collect::<Vec<_>>());
    }
}

#[test]
fn fst_shows_what_vcd_shows() {
    for block in built_in() {
        let waveform = record(*block, 300, true);
        let (vcd, fst) = (Reading::of(waveform.vcd()), Reading::of(waveform.fst().expect("memory takes it")));
        assert_eq!(
            vcd.signals.keys().collect::<Vec<_>>(),
            fst.signals.keys().collect::<Vec<_>>(),
            "{}",
            block.name()
        );
        let unit = fst.waveform.hierarchy().timescale().expect("the times have a unit");
        assert_eq!((unit.factor, unit.unit), (1, TimescaleUnit::PicoSeconds));
        let is_text =
            |name: &str| block.events().iter().any(|event| name.ends_with(&format!(".{}", event.name)));
        for name in vcd.signals.keys() {
            let mut changes = fst.changes(name);
            if is_text(name) {
                changes.iter_mut().for_each(|(_, bits)| *bits = ascii(bits));
            }
            assert!(vcd.changes(name) == changes, "{name}");
        }
        let hierarchy = fst.waveform.hierarchy();
        for port in block.ports(&block.defaults()).unwrap() {
            let path = format!("selvedge.{}.{}", block.name(), port.name);
            let var = hierarchy.all_vars().find(|var| hierarchy[*var].full_name(hierarchy) == path);
            let var = var.expect("the port is there");
            let wanted = match port.direction {
                Direction::Input => VarDirection::Input,
                Direction::Output => VarDirection::Output,
            };
            assert_eq!(
                (hierarchy[var].direction(), hierarchy[var].length(hierarchy)),
                (wanted, Some(port.bits as u32))
            );
        }
    }
}

/// Returns the registers of the emitted Verilog, from a simulation of its testbench by Icarus Verilog.
fn verilog(block: &dyn BlockEntry, cycles: u64, folder: &Path) -> Reading {
    let (params, reset) = (block.defaults(), ResetStyle::Control);
    let bench = testbench::write(block, &params, cycles, SEED, reset).expect("a testbench");
    let options = EmitOptions { reset, ..EmitOptions::default() };
    let files = Emitted::of(block, &params, &options).expect("Verilog").write(folder).expect("written");
    let module = bench.module();
    let dump = format!(
        "module dump;\n  initial begin\n    $dumpfile(\"dump.vcd\");\n    $dumpvars(0, {module}.dut);\n  end\nendmodule\n"
    );
    for (name, text) in [
        (bench.verilog_file(), &bench.verilog),
        (bench.vectors_file(), &bench.vectors),
        ("dump.v".into(), &dump),
    ] {
        std::fs::write(folder.join(name), text).expect("written");
    }
    let bench_file = bench.verilog_file();
    let mut words = vec!["-g2005", "-s", &module, "-s", "dump", "-o", "dump.vvp", &bench_file, "dump.v"];
    words.extend(files.iter().map(|file| file.to_str().expect("a plain path")));
    IVERILOG.run(folder, words).expect("it compiles");
    VVP.run(folder, ["-N", "dump.vvp"]).expect("it passes");
    Reading::of(std::fs::read(folder.join("dump.vcd")).expect("a waveform"))
}

#[test]
fn registers_hold_in_each_cycle_what_those_of_the_verilog_hold() {
    // Before the first decision of `latte_controller`, about cycle 300, its data registers have no value.
    const CYCLES: u64 = 1600;
    for (name, least) in [("milg", 6), ("bpg", 5), ("bdi_compressor", 2), ("latte_controller", 8)] {
        let block = find(name).expect("a block");
        let folder = tempfile::tempdir().expect("a folder");
        let verilog = verilog(block, CYCLES, folder.path());
        let ours = record(block, CYCLES, true);
        let reading = Reading::of(ours.vcd());
        let dut = format!("{name}_tb.dut");
        let rises = verilog.edges(&format!("{dut}.clk_i"), "1");
        assert!(rises.len() as u64 >= CYCLES, "{} edges", rises.len());
        let mut compared = 0;
        for register in &ours.traces[0].registers {
            let path = [&register.scope[..], std::slice::from_ref(&register.name)].concat().join(".");
            // The elements of an array are slices of one vector.
            let (key, at) = match path.rsplit_once("_q_").map(|(key, index)| (key, index.parse::<usize>())) {
                Some((key, Ok(index))) => (format!("{key}_q"), index),
                _ => (path.clone(), 0),
            };
            let Some(signal) = verilog.signals.get(&format!("{dut}.{key}")) else { continue };
            let width =
                verilog.waveform.hierarchy().get_signal_tpe(*signal).unwrap().length().unwrap() as usize;
            let mut unknown = 0;
            for (cycle, rise) in (0..CYCLES).zip(&rises) {
                let theirs = verilog.at(&format!("{dut}.{key}"), rise - 1);
                let high = width - at * register.bits;
                let own = reading.at(&format!("selvedge.{name}.{path}"), begin(cycle + 1) - 1);
                let theirs = &theirs[high - register.bits..high];
                // A register without a reset has no value before its first write.
                if theirs.contains('x') {
                    unknown += 1;
                } else {
                    assert_eq!(own, theirs, "{name}.{path}, cycle {cycle}");
                }
            }
            assert!(unknown < CYCLES / 4, "{name}.{path}: {unknown} of {CYCLES} cycles are unknown");
            compared += 1;
        }
        assert!(compared >= least, "{name}: {compared} registers have a counterpart");
    }
}

#[test]
fn registers_are_recorded_on_request_alone() {
    for block in built_in() {
        assert!(record(*block, 2, false).traces[0].registers.is_empty());
        let registers = &record(*block, 2, true).traces[0].registers;
        let names: BTreeSet<_> = registers.iter().map(|one| (&one.scope, &one.name)).collect();
        assert_eq!(names.len(), registers.len(), "{}: each register has a name of its own", block.name());
        let bits: usize = registers.iter().map(|one| one.bits).sum();
        let facts = block.facts(&block.defaults()).unwrap();
        assert!(bits > 0 && bits <= facts.storage_bits(), "{}: {bits} bits", block.name());
    }
}

#[test]
fn ports_are_described_in_the_vcd() {
    for block in built_in() {
        let vcd = String::from_utf8(record(*block, 2, false).vcd()).expect("text");
        for port in block.ports(&block.defaults()).unwrap() {
            assert!(vcd.contains(&format!("{}: {}", port.name, port.doc.trim())), "{}", port.name);
        }
    }
}

#[test]
fn named_values_are_those_that_ports_have() {
    let mut named = 0;
    for block in built_in() {
        let ports = block.ports(&block.defaults()).unwrap();
        for names in block.value_names() {
            for name in names.ports.iter().filter(|name| ports.iter().any(|port| port.name == **name)) {
                let reading = Reading::of(record(*block, 20_000, false).vcd());
                let shown: BTreeSet<u64> = reading
                    .changes(&format!("selvedge.{}.{name}", block.name()))
                    .into_iter()
                    .filter_map(|(_, bits)| u64::from_str_radix(&bits, 2).ok())
                    .collect();
                let known: BTreeSet<u64> = names.names.iter().map(|(value, _)| *value).collect();
                assert!(known.is_subset(&shown), "{}.{name} never shows one of {known:?}", block.name());
                // A stimulus may also drive inputs with values that have no name.
                let is_output =
                    ports.iter().any(|port| port.name == *name && port.direction == Direction::Output);
                assert!(!is_output || known == shown, "{}.{name} shows {shown:?}", block.name());
                named += 1;
            }
        }
    }
    assert!(named >= 6, "{named} ports");
}

#[test]
fn a_file_of_names_has_the_head_of_surfer_and_a_line_per_value() {
    let block = find("bdi_compressor").expect("a block");
    let files = NameFiles::of(&record(block, 2, false).traces).files("run");
    let [(name, text)] = &files[..] else { panic!("one file, not {files:?}") };
    assert_eq!(name, "run.bdi_encoding.names");
    assert!(text.starts_with("Name: bdi_encoding\nBits: 4\n0 uncompressed\n1 zeros\n2 b8d0\n"), "{text}");
    assert_eq!(text.lines().count(), 2 + 11);
}

#[test]
fn the_save_file_names_each_signal_of_the_waveform_once_in_its_group() {
    for (block, file) in built_in().iter().flat_map(|block| [(block, "run.vcd"), (block, "run.fst")]) {
        let waveform = record(*block, CYCLES, true);
        let text = save_file(&waveform.traces, file, "run");
        assert!(text.contains(&format!("[dumpfile] \"{file}\"\n")), "{text}");
        let reading = Reading::of(waveform.bytes(Path::new(file)).expect("memory takes it"));
        let hierarchy = reading.waveform.hierarchy();
        // A string has no length.
        let width =
            |name: &str| hierarchy.get_signal_tpe(reading.signals[name]).unwrap().length().unwrap_or(1);
        let cycle = hierarchy.lookup_var(&["selvedge"], "cycle").unwrap();
        assert_eq!(hierarchy[cycle].var_type(), wellen::VarType::Integer);

        let mut groups: Vec<&str> = Vec::new();
        let mut named = BTreeMap::new();
        // Skip parts of signals, and lines of numbers with names of values.
        let is_signal = |line: &&str| !line.starts_with(['[', '@', '*', '#', '^']) && *line != "-group_end";
        for line in text.lines().filter(is_signal) {
            if let Some(name) = line.strip_prefix('-') {
                // The name is at the beginning of the group and again at its end.
                if groups.last() == Some(&name) {
                    groups.pop();
                } else {
                    groups.push(name);
                }
                continue;
            }
            let name = line.split('[').next().unwrap();
            assert!(reading.signals.contains_key(name), "{name} is not in the VCD");
            // GTKWave gives vectors a range, but not integers.
            let bare = width(name) == 1 || name == "selvedge.cycle";
            let range = if bare { String::new() } else { format!("[{}:0]", width(name) - 1) };
            assert_eq!(line, format!("{name}{range}"));
            assert_eq!(named.insert(name, groups.first().copied().unwrap_or("")), None, "{name} twice");
        }
        assert!(groups.is_empty(), "the last group is closed");
        assert_eq!(named.len(), reading.signals.len(), "every signal of the VCD is shown");
        assert_eq!(named["selvedge.cycle"], "");
        for event in block.events() {
            assert_eq!(named[format!("selvedge.{}.{}", block.name(), event.name).as_str()], "events");
        }
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
fn wide_ports_are_shown_as_words_too() {
    for block in built_in() {
        let text = save_file(&record(*block, 2, false).traces, "run.vcd", "run");
        for port in block.ports(&block.defaults()).unwrap() {
            let words = text.lines().filter(|line| line.starts_with(&format!("#{{{}[", port.name)));
            let mut bits = Vec::new();
            for word in words {
                bits.extend(
                    word.split(" (")
                        .skip(1)
                        .map(|bit| bit.split(')').next().unwrap().parse::<usize>().unwrap()),
                );
            }
            // GTKWave counts from the left; a word begins with its highest bit.
            let all: Vec<usize> =
                (0..port.bits).step_by(32).flat_map(|low| (low..(low + 32).min(port.bits)).rev()).collect();
            let wanted =
                if port.bits > 64 { all.iter().map(|bit| port.bits - 1 - bit).collect() } else { vec![] };
            assert_eq!(bits, wanted, "{}.{}", block.name(), port.name);
        }
    }
}

/// Surfer needs a graphics card, so it does not run here. The signals that the file names must exist, and each only
/// once.
#[test]
fn the_command_file_names_each_signal_of_the_vcd_once_and_a_time_in_it() {
    for block in built_in() {
        let waveform = record(*block, CYCLES, true);
        let text = command_file(&waveform.traces);
        let of = |command: &str| {
            let lines = text
                .lines()
                .filter_map(move |line| line.split_once(' ').filter(|(first, _)| *first == command));
            lines.map(|(_, argument)| argument.to_string()).collect::<Vec<_>>()
        };
        let reading = Reading::of(waveform.vcd());
        let mut named = of("variable_add");
        named.sort_unstable();
        assert_eq!(named, reading.signals.keys().cloned().collect::<Vec<_>>(), "{}", block.name());
        assert_eq!(of("divider_add"), [block.name(), "events", "inputs", "outputs", "registers"]);
        let save = save_file(&waveform.traces, "run.vcd", "run");
        let marker = save.lines().find_map(|line| line.strip_prefix('*')?.split(' ').nth(1)).unwrap();
        assert_eq!(of("cursor_set"), [marker], "GTKWave's marker stands there, too");
        assert!(text.ends_with("goto_cursor\n"));
    }
}

/// Cycles in which every event of every block takes place.
const EVENTFUL: u64 = 20_000;

/// Records the golden model, which is faster than RTL.
fn eventful(block: &dyn BlockEntry, params: &serde_json::Value) -> wave::Waveform {
    let mut model = block.model(params).expect("valid parameters");
    wave::run_on(&mut *model, block, params, recording(EVENTFUL, false)).expect("valid parameters")
}

#[test]
fn every_event_of_a_block_takes_place_and_has_a_row() {
    for block in built_in() {
        let ports = block.ports(&block.defaults()).unwrap();
        let mut names: Vec<&str> = ports.iter().map(|port| port.name).collect();
        let mut unseen: Vec<&str> = block.events().iter().map(|event| event.name).collect();
        for event in block.events() {
            assert!(!names.contains(&event.name), "{}.{} twice", block.name(), event.name);
            names.push(event.name);
            let is_bit = |name: &&str| ports.iter().any(|port| port.name == *name && port.bits == 1);
            assert!(event.when.iter().all(is_bit), "{}.{}", block.name(), event.name);
        }
        // Some events depend on a parameter.
        for params in [block.defaults()].into_iter().chain(block.variants()) {
            if unseen.is_empty() {
                break;
            }
            let waveform = eventful(*block, &params);
            let rows = EventRow::of(&waveform.traces[0]);
            assert_eq!(rows.len(), block.events().len(), "{}: an event of no port", block.name());
            for row in &rows {
                let mut samples = waveform.traces[0].samples.iter();
                let Some(sample) = samples.find(|sample| row.occurs(sample)) else { continue };
                let text = row.text(sample);
                assert!(text != EventRow::NONE && !text.contains(' '), "{text}");
                unseen.retain(|name| *name != row.event.name);
            }
        }
        assert!(unseen.is_empty(), "{}: {unseen:?} do not take place", block.name());
    }
}

#[test]
fn the_marker_is_in_the_first_cycle_of_the_first_decision() {
    let mut deciding = 0;
    for block in built_in() {
        let decisions: Vec<_> = block.events().iter().filter(|event| event.is_decision).collect();
        let waveform = eventful(*block, &block.defaults());
        let trace = &waveform.traces[0];
        let is_high = |sample: &CycleSample, name: &str| {
            let port = trace.ports.iter().position(|port| port.name == name).expect("a port");
            !sample.reset && sample.values[port] == [1]
        };
        let decides = |sample: &CycleSample, when: &[&str]| when.iter().all(|name| is_high(sample, name));
        let begins = |pair: &&[CycleSample]| {
            decisions.iter().any(|event| !decides(&pair[0], event.when) && decides(&pair[1], event.when))
        };
        let Some(pair) = trace.samples.windows(2).find(begins) else { continue };
        deciding += 1;
        let text = save_file(&waveform.traces, "run.vcd", "run");
        let marker = text.lines().find_map(|line| line.strip_prefix('*')?.split(' ').nth(1)).unwrap();
        assert_eq!(marker, begin(pair[1].cycle).to_string(), "{}", block.name());
    }
    assert!(deciding >= 16, "{deciding} blocks decide");
}

#[test]
fn a_decision_before_another_probe_begins_is_in_view() {
    let milg = find("milg").expect("a block");
    let milg = eventful(milg, &milg.defaults());
    let alone = save_file(&milg.traces, "run.vcd", "run");
    let mut late = record(find("bdi_compressor").expect("a block"), 100, false);
    late.traces[0].samples.iter_mut().for_each(|sample| sample.cycle += EVENTFUL);
    let both = save_file(&[&milg.traces[..], &late.traces[..]].concat(), "run.vcd", "run");
    let view = |text: &str| {
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().to_string();
        (line("[timestart]"), line("*-"))
    };
    assert_eq!(view(&both), view(&alone));
}

#[test]
fn fields_are_the_parts_of_their_ports() {
    let mut split = Vec::new();
    for block in built_in() {
        let waveform = record(*block, CYCLES, false);
        let reading = Reading::of(waveform.vcd());
        for (port, fields) in &waveform.traces[0].fields {
            split.push(*port);
            let scope = format!("selvedge.{}", block.name());
            for cycle in 0..CYCLES {
                let shown = |name: &str| reading.at(&format!("{scope}.{name}"), begin(cycle + 1) - 1);
                let parts: String = fields
                    .iter()
                    .rev()
                    .map(|field| shown(&format!("{port}_fields.{}", field.name)))
                    .collect();
                assert_eq!(parts, shown(port), "{scope}.{port}, cycle {cycle}");
            }
        }
    }
    split.sort_unstable();
    assert_eq!(split, ["cycles_i", "line_i", "quotas_o", "rank_o", "warps_i"]);
}

#[test]
fn the_same_seed_gives_the_same_waveform_and_another_one_another() {
    for block in built_in() {
        let run = |seed| {
            let recording = wave::RecordingOptions { seed, ..recording(200, false) };
            wave::run(*block, &block.defaults(), recording).unwrap()
        };
        assert!(run(1).vcd() == run(1).vcd(), "{}", block.name());
        assert!(run(1).fst().unwrap() == run(1).fst().unwrap(), "{}", block.name());
        assert!(run(1).vcd() != run(2).vcd(), "{}", block.name());
    }
}

#[test]
fn no_cycles_make_a_waveform_without_changes() {
    for block in built_in() {
        let waveform = record(*block, 0, true);
        for bytes in [waveform.vcd(), waveform.fst().unwrap()] {
            let reading = Reading::of(bytes);
            let is_unknown =
                |name: &String| reading.changes(name).iter().all(|(_, bits)| !bits.contains(['0', '1']));
            assert!(reading.signals.keys().all(is_unknown), "{}", block.name());
            assert!(!reading.signals.is_empty());
        }
    }
}
