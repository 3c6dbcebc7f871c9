//! File of `--trace-events`: a timeline and the ports of probed blocks as Chrome trace events in JSON, which Perfetto
//! opens. A microsecond in the file is a core cycle.
use crate::error::Failure;
use selvedge_hw::wave::Trace;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::timeline::{
    CounterValue, Happening, Timeline, TimelineCounter, Track, TrackSlice, WarpState,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Max bits of a port that is shown as a counter. JSON numbers hold no more bits exactly.
const COUNTER_BITS: usize = 53;

/// An event of the file.
#[derive(Serialize)]
struct Event {
    /// X: something that lasts; C: a counter; M: a name.
    ph: char,
    pid: u32,
    tid: u32,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    #[serde(skip_serializing_if = "Value::is_null")]
    args: Value,
}

/// A process of the file: a group of tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Launches,
    Sm(u16),
    L2Slice(u16),
    Channel(u16),
}

impl Group {
    fn name(self) -> String {
        match self {
            Group::Launches => "launches".into(),
            Group::Sm(sm) => format!("SM {sm}"),
            Group::L2Slice(slice) => format!("L2 slice {slice}"),
            Group::Channel(channel) => format!("DRAM channel {channel}"),
        }
    }

    fn of_track(track: Track) -> Self {
        match track {
            Track::Launch { .. } => Group::Launches,
            Track::Cta { sm, .. } | Track::Warp { sm, .. } | Track::L1dMshr { sm, .. } => Group::Sm(sm),
            Track::L2Mshr { slice, .. } => Group::L2Slice(slice),
            Track::Bank { channel, .. } => Group::Channel(channel),
        }
    }

    fn of_counter(counter: TimelineCounter) -> Self {
        match counter {
            TimelineCounter::Issued { sm } | TimelineCounter::L1dMisses { sm } => Group::Sm(sm),
            TimelineCounter::L2Misses { slice } => Group::L2Slice(slice),
            TimelineCounter::Bursts { channel } => Group::Channel(channel),
        }
    }
}

/// Returns the bytes of the file with the events of `timeline` and the ports in `traces`. `config` is the GPU's
/// configuration.
///
/// # Errors
/// Fails if the events have no JSON form.
pub fn trace_events(timeline: &Timeline, traces: &[Trace], config: &GpuConfig) -> Result<Vec<u8>, Failure> {
    let mut events = Events::default();
    events.add_timeline(timeline);
    for trace in traces {
        events.add_ports(trace, f64::from(config.clock.core_mhz) / f64::from(trace.clock.mhz));
    }
    let file = json!({
        "displayTimeUnit": "ns",
        "otherData": { "program": concat!("selvedge ", env!("CARGO_PKG_VERSION")), "time": "1 us is 1 core cycle" },
        "traceEvents": events.all,
    });
    serde_json::to_vec(&file)
        .map_err(|error| Failure::simulation(format!("the trace events have no JSON form: {error}")))
}

#[derive(Default)]
struct Events {
    all: Vec<Event>,
    processes: u32,
}

impl Events {
    fn process(&mut self, name: &str) -> u32 {
        self.processes += 1;
        let pid = self.processes;
        self.metadata(pid, 0, "process_name", json!({ "name": name }));
        self.metadata(pid, 0, "process_sort_index", json!({ "sort_index": pid }));
        pid
    }

    /// Names a track of a process.
    fn thread(&mut self, pid: u32, tid: u32, name: &str) {
        self.metadata(pid, tid, "thread_name", json!({ "name": name }));
        self.metadata(pid, tid, "thread_sort_index", json!({ "sort_index": tid }));
    }

    fn metadata(&mut self, pid: u32, tid: u32, name: &str, args: Value) {
        self.all.push(Event { ph: 'M', pid, tid, name: name.into(), ts: None, dur: None, args });
    }

    fn slice(&mut self, (pid, tid): (u32, u32), (from, until): (f64, f64), name: String, args: Value) {
        self.all.push(Event { ph: 'X', pid, tid, name, ts: Some(from), dur: Some(until - from), args });
    }

    fn count(&mut self, pid: u32, at: f64, name: String, value: u64) {
        let args = json!({ "value": value });
        self.all.push(Event { ph: 'C', pid, tid: 0, name, ts: Some(at), dur: None, args });
    }

    fn add_timeline(&mut self, timeline: &Timeline) {
        let Timeline { kernels, slices, counts, .. } = timeline;
        let mut tracks: Vec<Track> = slices.iter().map(|slice| slice.track).collect();
        tracks.sort_unstable();
        tracks.dedup();
        let groups = tracks.iter().map(|track| Group::of_track(*track));
        let mut pids: BTreeMap<Group, u32> = groups
            .chain(counts.iter().map(|one| Group::of_counter(one.counter)))
            .map(|group| (group, 0))
            .collect();
        for (group, pid) in &mut pids {
            *pid = self.process(&group.name());
        }
        let mut tids: BTreeMap<Track, (u32, u32)> = BTreeMap::new();
        for (tid, track) in (1..).zip(&tracks) {
            let pid = pids[&Group::of_track(*track)];
            self.thread(pid, tid, &track_name(*track));
            tids.insert(*track, (pid, tid));
        }
        for TrackSlice { track, from, until, what } in slices {
            let (name, args) = describe(*what, kernels);
            self.slice(tids[track], (*from as f64, *until as f64), name, args);
        }
        for CounterValue { counter, cycle, value } in counts {
            self.count(
                pids[&Group::of_counter(*counter)],
                *cycle as f64,
                counter_name(*counter).into(),
                *value,
            );
        }
    }

    /// Adds the ports of a block. A cycle of the block takes `length` core cycles.
    fn add_ports(&mut self, trace: &Trace, length: f64) {
        let pid = self.process(&trace.instance);
        for (index, port) in trace.ports.iter().enumerate() {
            let mut last: Option<(u64, &[u64])> = None;
            let tid = index as u32 + 1;
            let is_wide = port.bits > COUNTER_BITS;
            if is_wide {
                self.thread(pid, tid, port.name);
            }
            let end = trace.samples.last().map_or(0, |sample| sample.cycle + 1);
            let samples = trace.samples.iter().map(|sample| (sample.cycle, sample.values[index].as_slice()));
            for (cycle, value) in samples.chain([(end, &[][..])]) {
                if last.is_some_and(|(_, known)| known == value) {
                    continue;
                }
                if let (Some((from, known)), true) = (last, is_wide) {
                    let time = (from as f64 * length, cycle as f64 * length);
                    self.slice((pid, tid), time, hex(known), Value::Null);
                }
                if let (false, [value, ..]) = (is_wide, value) {
                    self.count(pid, cycle as f64 * length, port.name.into(), *value);
                }
                last = Some((cycle, value));
            }
        }
    }
}

/// Formats a value of several words, lowest word first.
fn hex(words: &[u64]) -> String {
    let digits: String = words.iter().rev().map(|word| format!("{word:016x}")).collect();
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() { "0x0".into() } else { format!("0x{digits}") }
}

fn track_name(track: Track) -> String {
    match track {
        Track::Launch { slot } => format!("kernel slot {slot}"),
        Track::Cta { slot, .. } => format!("CTA slot {slot}"),
        Track::Warp { slot, .. } => format!("warp {slot}"),
        Track::L1dMshr { entry, .. } => format!("L1D MSHR {entry}"),
        Track::L2Mshr { entry, .. } => format!("MSHR {entry}"),
        Track::Bank { sub_rank, bank, .. } => format!("sub-rank {sub_rank} bank {bank}"),
    }
}

fn counter_name(counter: TimelineCounter) -> &'static str {
    match counter {
        TimelineCounter::Issued { .. } => "issued warp instructions",
        TimelineCounter::L1dMisses { .. } => "L1D lines in flight",
        TimelineCounter::L2Misses { .. } => "L2 lines in flight",
        TimelineCounter::Bursts { .. } => "bursts",
    }
}

/// Returns the name and the details of a slice.
fn describe(what: Happening, kernels: &[String]) -> (String, Value) {
    let kernel = |number: u16| kernels[usize::from(number)].as_str();
    match what {
        Happening::Launch { kernel: number, starts } => {
            (kernel(number).into(), json!({ "first_cycle_of_ctas": starts }))
        }
        Happening::Cta { kernel: number, cta: [x, y, z] } => {
            (format!("CTA {x},{y},{z}"), json!({ "kernel": kernel(number) }))
        }
        Happening::Warp { state, line } => (state_name(state).into(), json!({ "ptx_line": line })),
        Happening::Miss { line } => (format!("{line:#x}"), Value::Null),
        Happening::Row { row } => (format!("row {row}"), Value::Null),
    }
}

fn state_name(state: WarpState) -> &'static str {
    match state {
        WarpState::ReadyForMemory => "ready: memory",
        WarpState::Ready => "ready",
        WarpState::Load => "waits for a load",
        WarpState::Result => "waits for a result",
        WarpState::Mechanism => "waits for the mechanism",
        WarpState::Quota => "waits for a quota",
        WarpState::Fetch => "waits for a fetch",
        WarpState::Branch => "branch",
        WarpState::Barrier => "barrier",
        WarpState::Fence => "fence",
        WarpState::Ended => "ended",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_hw::wave::CycleSample;
    use selvedge_hw::{Clock, Direction, Port};

    fn config() -> GpuConfig {
        GpuConfig::load("gtx480").expect("built in")
    }

    /// Returns the events of a phase.
    fn events(timeline: &Timeline, traces: &[Trace], phase: &str) -> Vec<Value> {
        let bytes = trace_events(timeline, traces, &config()).expect("it has a JSON form");
        let file: Value = serde_json::from_slice(&bytes).expect("JSON");
        let events = file["traceEvents"].as_array().expect("a list");
        events.iter().filter(|event| event["ph"] == phase).cloned().collect()
    }

    #[test]
    fn slices_and_counts_are_events_of_their_groups() {
        let (track, other) =
            (Track::Warp { sm: 3, slot: 7 }, Track::Bank { channel: 1, sub_rank: 0, bank: 5 });
        let what = Happening::Warp { state: WarpState::Load, line: 21 };
        let timeline = Timeline {
            kernels: vec![],
            slices: vec![
                TrackSlice { track, from: 10, until: 14, what },
                TrackSlice { track: other, from: 12, until: 90, what: Happening::Row { row: 8 } },
            ],
            counts: vec![CounterValue { counter: TimelineCounter::Issued { sm: 3 }, cycle: 11, value: 2 }],
            cut_at: None,
        };
        let slices = events(&timeline, &[], "X");
        let expected = json!([
            { "ph": "X", "pid": 1, "tid": 1, "name": "waits for a load", "ts": 10.0, "dur": 4.0, "args": { "ptx_line": 21 } },
            { "ph": "X", "pid": 2, "tid": 2, "name": "row 8", "ts": 12.0, "dur": 78.0 },
        ]);
        assert_eq!(Value::from(slices), expected);
        let counts = events(&timeline, &[], "C");
        let expected = json!([
            { "ph": "C", "pid": 1, "tid": 0, "name": "issued warp instructions", "ts": 11.0, "args": { "value": 2 } },
        ]);
        assert_eq!(Value::from(counts), expected);
        let names = events(&timeline, &[], "M");
        let of = |pid: u32, tid: u32| {
            let is_it = |event: &&Value| {
                event["pid"] == pid && event["tid"] == tid && event["args"]["name"].is_string()
            };
            names.iter().find(is_it).map(|event| event["args"]["name"].clone()).unwrap_or_default()
        };
        assert_eq!([of(1, 0), of(2, 0)], ["SM 3", "DRAM channel 1"]);
        assert_eq!([of(1, 1), of(2, 2)], ["warp 7", "sub-rank 0 bank 5"]);
    }

    #[test]
    fn ports_change_in_the_cycle_of_their_instance() {
        let port = |name, bits| Port { name, bits, direction: Direction::Input, doc: "", valid: None };
        let sample = |cycle, valid, line: [u64; 2]| CycleSample {
            cycle,
            reset: false,
            values: vec![vec![valid], line.to_vec()],
            registers: vec![],
        };
        let samples = vec![sample(100, 0, [1, 0]), sample(101, 1, [1, 0]), sample(110, 1, [2, 1])];
        let trace = |instance: &str, clock| Trace {
            instance: instance.into(),
            clock,
            is_gated: false,
            ports: vec![port("valid_i", 1), port("line_i", 128)],
            names: &[],
            events: &[],
            fields: vec![],
            registers: vec![],
            samples: samples.clone(),
        };
        let timeline = Timeline::default();
        let clock = config().clock;
        let [core, l2] = [clock.core_mhz, clock.l2_mhz].map(|mhz| Clock { domain: "", mhz });
        let counts = events(&timeline, &[trace("sm0.decompressor", core)], "C");
        let times = |events: &[Value]| events.iter().map(|event| event["ts"].as_f64()).collect::<Vec<_>>();
        assert_eq!(times(&counts), [Some(100.0), Some(101.0)], "a change each");
        let slices = events(&timeline, &[trace("sm0.decompressor", core)], "X");
        let shown: Vec<(&Value, &Value, &Value)> =
            slices.iter().map(|e| (&e["name"], &e["ts"], &e["dur"])).collect();
        assert_eq!(
            shown,
            [
                (&json!("0x1"), &json!(100.0), &json!(10.0)),
                (&json!("0x10000000000000002"), &json!(110.0), &json!(1.0)),
            ]
        );
        // The L2 has a slower clock than the core.
        let counts = events(&timeline, &[trace("l2.p0.md_cache", l2)], "C");
        let ratio = f64::from(clock.core_mhz) / f64::from(clock.l2_mhz);
        assert_eq!(times(&counts), [Some(100.0 * ratio), Some(101.0 * ratio)]);
        assert!(ratio > 1.0);
    }
}
