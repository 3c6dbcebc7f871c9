//! Is every mechanism beside one that does nothing itself, to the last digit?
use crate::ALL;
use crate::small_kernels::run_workload;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::{Claim, MechanismInfo};
use selvedge_sim::mechanism::MechanismSpec;
use selvedge_sim::report::RunReport;

/// Returns the mechanism with its defaults, and with every value of every option whose values have names.
fn variants(info: &MechanismInfo) -> Vec<String> {
    let named = info.options.iter().flat_map(|option| {
        let others = option.choices.iter().filter(|choice| **choice != option.default_text());
        others.map(|choice| format!("{},{}={choice}", info.name, option.name))
    });
    std::iter::once(info.name.to_string()).chain(named).collect()
}

/// Returns a mechanism that can stand beside `text` and changes nothing: `smil` without limits, or turns of one kernel.
fn no_op_beside(text: &str) -> String {
    let beside = ["smil", "rbmi"].map(|no_op| format!("{text}+{no_op}"));
    let found = beside.into_iter().find(|both| both.parse::<MechanismSpec>().is_ok());
    found.unwrap_or_else(|| panic!("{text} conflicts with every no-op"))
}

/// The counters of the GPU, and those of the mechanism that are not the no-op's.
fn figures(mut report: RunReport, of: &RunReport) -> String {
    report.mechanism_counters.retain(|name, _| of.mechanism_counters.contains_key(name));
    format!("{:?} {:?} {:?}", report.totals, report.sms, report.mechanism_counters)
}

#[test]
fn a_mechanism_beside_a_no_op_is_that_mechanism() {
    let mut runs = 0;
    // What a search finds is one of the others.
    let tested: Vec<_> = ALL.iter().filter(|info| !info.claims.contains(&Claim::Trials)).collect();
    for text in tested.iter().flat_map(|info| variants(info)) {
        let spec: MechanismSpec = text.parse().expect("the registry's own words");
        let suits = |config: &&str| spec.machine(&GpuConfig::load(config).expect("built in")).is_ok();
        let config = ["gtx480", "gtx480-dai"].into_iter().find(suits);
        // `swl` needs a limit, and some values of options are refused.
        let Some(config) = config else { continue };
        let alone = run_workload("bfs", config, &text).report;
        let beside = run_workload("bfs", config, &no_op_beside(&text)).report;
        assert_eq!(figures(alone.clone(), &alone), figures(beside, &alone), "{text}");
        runs += 1;
    }
    assert!(runs > 20, "{runs} variants were compared");
}
