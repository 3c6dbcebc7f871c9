//! Random and structured streams of line numbers, for tests of caches.
use proptest::prelude::*;

/// Streams over at most `lines` lines: random ones, ones with local reuse, loops, strides, and scans in both directions.
pub fn streams(lines: u64, most: usize) -> impl Strategy<Value = Vec<u64>> {
    let random = prop::collection::vec(0..lines, 1..most);
    // Most accesses are within a few lines of the previous one; some jump.
    let near = prop::collection::vec((0..7u64, 0..20u64), 1..most).prop_map(move |steps| {
        let mut at = 0;
        let walk = steps.into_iter().map(|(step, far)| {
            at = if far == 0 { at * 31 + 17 } else { at + 3 * lines + step - 3 } % lines;
            at
        });
        walk.collect()
    });
    let structured = (0..3, 1..lines, 1..9u64, 1..most).prop_map(move |(kind, length, stride, count)| {
        let place = |n: u64| match kind {
            0 => n % length,
            1 => n * stride % lines,
            _ => length.abs_diff(n % (2 * length)).min(lines - 1),
        };
        (0..count as u64).map(place).collect()
    });
    // Concatenates phases of all kinds.
    let phase = prop_oneof![2 => random, 2 => near, 3 => structured];
    prop::collection::vec(phase, 1..4).prop_map(|phases: Vec<Vec<u64>>| phases.concat())
}
