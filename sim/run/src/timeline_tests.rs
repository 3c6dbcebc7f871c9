//! Compares timelines with the counters of the same run.
use crate::report::RunReport;
use crate::run::{RunSpec, Source, run};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::Control;
use selvedge_gpu::mechanism::probe::ProbeSpec;
use selvedge_gpu::timeline::{Happening, Timeline, TimelineCounter, Track, TrackSlice, WarpState};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Runs `workload` with a timeline of `cycles`, or without a timeline.
fn recorded(workload: &str, mechanism: &str, cycles: Option<Range<u64>>) -> (RunReport, Option<Timeline>) {
    let probes = ProbeSpec {
        timeline: cycles.is_some(),
        from: cycles.as_ref().map_or(0, |cycles| cycles.start),
        cycles: cycles.map_or(0, |cycles| cycles.end - cycles.start),
        ..ProbeSpec::default()
    };
    let spec = RunSpec {
        probes,
        ..RunSpec::new(
            Source::find(workload).expect("built in"),
            Arc::new(GpuConfig::load("gtx480").expect("built in")),
            mechanism.parse().expect("valid"),
        )
    };
    let outcome = run(&spec, Arc::new(Control::default())).expect("it starts");
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    (outcome.report, outcome.timeline)
}

/// Returns the report and the timeline of a whole run.
fn whole(workload: &str, mechanism: &str) -> (RunReport, Timeline) {
    let (report, timeline) = recorded(workload, mechanism, Some(0..u64::MAX));
    (report, timeline.expect("it was asked for"))
}

fn count(timeline: &Timeline, is_meant: impl Fn(&Happening) -> bool) -> u64 {
    timeline.slices.iter().filter(|slice| is_meant(&slice.what)).count() as u64
}

/// Returns the sum of a counter over all cycles of a run of `cycles`.
fn sum(timeline: &Timeline, cycles: u64, is_meant: impl Fn(TimelineCounter) -> bool) -> u64 {
    let mut last: BTreeMap<TimelineCounter, (u64, u64)> = BTreeMap::new();
    let mut sum = 0;
    for one in timeline.counts.iter().filter(|one| is_meant(one.counter)) {
        if let Some((since, value)) = last.insert(one.counter, (one.cycle, one.value)) {
            sum += value * (one.cycle - since);
        }
    }
    sum + last.values().map(|(since, value)| value * (cycles + 1 - since)).sum::<u64>()
}

#[test]
fn slices_and_counts_are_what_the_counters_say() {
    for (workload, mechanism) in [("bfs", "hw-bdi"), ("vecadd", "base"), ("hotspot", "caba-bdi")] {
        let (report, timeline) = whole(workload, mechanism);
        let (name, totals) = (format!("{workload} {mechanism}"), &report.totals);
        let launches = count(&timeline, |what| matches!(what, Happening::Launch { .. }));
        assert_eq!(launches, report.kernels.len() as u64, "{name}: launches");
        let ctas = count(&timeline, |what| matches!(what, Happening::Cta { .. }));
        assert_eq!(ctas, totals.sm.ctas, "{name}: CTAs");
        let rows = count(&timeline, |what| matches!(what, Happening::Row { .. }));
        assert_eq!(rows, totals.dram.sub_rank_activates, "{name}: rows");
        let issued =
            sum(&timeline, totals.cycles, |counter| matches!(counter, TimelineCounter::Issued { .. }));
        assert_eq!(issued, totals.sm.warp_instructions, "{name}: issued instructions");
        let bursts =
            sum(&timeline, totals.cycles, |counter| matches!(counter, TimelineCounter::Bursts { .. }));
        assert_eq!(bursts, totals.dram.bursts, "{name}: bursts");
        let waiting = |of: fn(Track) -> bool| -> u64 {
            let slices = timeline.slices.iter().filter(|slice| of(slice.track));
            slices.map(|slice| slice.until - slice.from).sum()
        };
        let l1d =
            sum(&timeline, totals.cycles, |counter| matches!(counter, TimelineCounter::L1dMisses { .. }));
        assert_eq!(waiting(|track| matches!(track, Track::L1dMshr { .. })), l1d, "{name}: L1D lines");
        let l2 = sum(&timeline, totals.cycles, |counter| matches!(counter, TimelineCounter::L2Misses { .. }));
        assert_eq!(waiting(|track| matches!(track, Track::L2Mshr { .. })), l2, "{name}: L2 lines");
        assert_eq!(timeline.cut_at, None);
    }
}

#[test]
fn a_timeline_changes_no_statistic() {
    let text = |(mut report, _): (RunReport, _)| {
        report.host.wall_s = 0.0;
        report.host.cycles_per_s = 0.0;
        report.host.warp_instructions_per_s = 0.0;
        serde_json::to_string(&report).expect("a report has a JSON form")
    };
    let without = text(recorded("bfs", "latte-cc", None));
    assert_eq!(text(recorded("bfs", "latte-cc", Some(100..2000))), without);
}

#[test]
fn slices_of_a_track_follow_each_other() {
    let (_, timeline) = whole("backprop", "base");
    let mut last: BTreeMap<Track, &TrackSlice> = BTreeMap::new();
    for slice in &timeline.slices {
        assert!(slice.from < slice.until, "{slice:?}");
        if let Some(before) = last.insert(slice.track, slice) {
            assert!(before.until <= slice.from, "{before:?} {slice:?}");
            let meets = before.until == slice.from;
            assert!(!meets || before.what != slice.what, "{before:?} {slice:?} are one");
        }
    }
    let has = |state| {
        count(&timeline, |what| matches!(what, Happening::Warp { state: is, .. } if *is == state)) > 0
    };
    for state in [WarpState::Load, WarpState::Result, WarpState::Barrier, WarpState::Ready] {
        assert!(has(state), "no warp is ever {state:?}");
    }
}

#[test]
fn an_interval_has_its_part_of_the_whole() {
    let (_, all) = whole("bfs", "hw-bdi");
    let (from, until) = (1700, 2900);
    let part = recorded("bfs", "hw-bdi", Some(from..until)).1.expect("it was asked for");
    let clip = |slice: &TrackSlice| {
        let (from, until) = (slice.from.max(from), slice.until.min(until));
        (from < until).then_some(TrackSlice { from, until, ..*slice })
    };
    let by_place = |mut slices: Vec<TrackSlice>| {
        slices.sort_by_key(|slice| (slice.track, slice.from));
        slices
    };
    let expected = by_place(all.slices.iter().filter_map(clip).collect());
    assert!(expected.len() > 1000, "{}", expected.len());
    assert_eq!(by_place(part.slices.clone()), expected);
    let within = |timeline: &Timeline| -> Vec<_> {
        timeline.counts.iter().filter(|one| one.cycle > from && one.cycle < until).copied().collect()
    };
    assert_eq!(within(&part), within(&all));
}
