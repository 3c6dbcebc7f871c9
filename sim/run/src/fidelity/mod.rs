//! Microbenchmarks that compare the GPU's speed with its description. A formula of the configuration gives each expected value.
//! `selvedge fidelity` writes `docs/reference/fidelity.md` from them.
//!
//! No expected value comes from a measurement. If the formula is exact, the measured value must be equal. If clock domains meet
//! or queues saturate, the value may differ by a stated distance.
pub(crate) mod bench;
mod caches;
mod clusters;
pub(crate) mod cores;
mod dram;
mod measurement;
mod page;
pub(crate) mod tensor;

pub use measurement::{FidelityError, Measurement};
pub use page::{page, section};

use selvedge_gpu::config::GpuConfig;
use std::sync::Arc;

/// Runs all microbenchmarks on one configuration. The formulas assume that bypass loads move whole lines. They also assume that
/// instructions and parameters are available without a fetch, and that a launch has no latency. A copy of the configuration is
/// changed accordingly.
///
/// # Errors
/// The configuration does not support a microbenchmark, or a DRAM command violated a timing constraint.
pub fn measure(config: &GpuConfig) -> Result<Vec<Measurement>, FidelityError> {
    let mut config = config.clone();
    config.l1d.bypass_bytes = config.l1d.line_bytes;
    config.sm.instruction.sets = 0;
    config.sm.constant.sets = 0;
    config.sm.launch_latency = 0;
    let config = Arc::new(config);
    let mut found = cores::measure(&config)?;
    found.extend(tensor::measure(&config)?);
    found.extend(clusters::measure(&config)?);
    found.extend(caches::measure(&config)?);
    found.extend(dram::measure(&config)?);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_gpu::config::BUILT_IN;
    use std::collections::BTreeMap;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// All values of all configurations are within their stated bounds, and the page is up to date.
    #[test]
    fn every_built_in_machine_is_as_fast_as_its_description() {
        let (left, measured) = (AtomicUsize::new(BUILT_IN.len()), Mutex::new(BTreeMap::new()));
        let work = || {
            // The newest GPUs take the longest time.
            while let Ok(before) = left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)) {
                let machine = &BUILT_IN[before - 1];
                let config = GpuConfig::load(machine.name).expect("built in");
                let found = measure(&config).expect("it runs");
                assert!(found.len() > 25, "{}: {} measurements", machine.name, found.len());
                measured.lock().expect("no panic").insert(before, (machine, found));
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(work);
            work();
        });
        let measured: Vec<_> = measured.into_inner().expect("no panic").into_values().collect();
        let all = measured.iter().flat_map(|(machine, found)| found.iter().map(move |m| (machine.name, m)));
        let wrong: Vec<_> = all.filter(|(_, m)| !m.agrees()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/fidelity.md");
        let shown = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(
            page(&measured),
            shown,
            "docs/reference/fidelity.md is stale: selvedge fidelity -o docs/reference/fidelity.md"
        );
    }

    #[test]
    fn sub_ranks_and_mappings_are_as_fast_as_their_description() {
        let mapping = "dramid@8;RRRRRRRR.RBBBCCCB.CSSSSSSS";
        let text = format!("base = \"gtx480\"\n[dram]\nsub_ranks = 2\nmapping = \"{mapping}\"\n");
        let config = GpuConfig::parse("my.toml", &text).expect("valid");
        let wrong: Vec<_> = measure(&config).expect("it runs").into_iter().filter(|m| !m.agrees()).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn a_machine_is_held_against_its_own_description_alone() {
        let fast = GpuConfig::load("gtx480").expect("built in");
        let mut slow = fast.clone();
        slow.sm.alu.int_latency += 5;
        slow.l2.hit_latency += 20;
        let [fast, slow] = [fast, slow].map(|config| measure(&config).expect("it runs"));
        assert!(slow.iter().all(Measurement::agrees));
        let moved: Vec<&str> = fast
            .iter()
            .zip(&slow)
            .filter(|(a, b)| a.measured != b.measured)
            .map(|(a, _)| a.name.as_str())
            .collect();
        assert!(moved.contains(&"integer addition") && moved.contains(&"L2 hit, round trip"), "{moved:?}");
        assert!(!moved.contains(&"single-precision addition"), "{moved:?}");
    }

    #[test]
    fn what_lies_outside_its_bound_does_not_agree() {
        let off = |measured| Measurement::within("x", "cycles", (100.0, 1.0), measured);
        assert!(off(101.0).agrees() && !off(101.1).agrees() && !off(98.9).agrees());
        let peak = |measured| Measurement::below("x", "bytes", (100.0, 0.1), measured);
        assert!(peak(90.0).agrees() && !peak(89.9).agrees() && !peak(100.2).agrees());
        assert_eq!(off(110.0).error(), 110.0 / 100.0 - 1.0);
    }
}
