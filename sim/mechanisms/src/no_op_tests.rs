//! Combines every mechanism with one that does nothing, and checks that no statistic changes.
use crate::BUILT_IN;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::{Claim, MechanismInfo};
use selvedge_mechanism_testing::run_workload;
use selvedge_sim::mechanism::MechanismSpec;
use selvedge_sim::report::RunReport;

/// Returns the mechanism with its defaults, and with every value of every option whose values have names.
fn variants(info: &MechanismInfo) -> Vec<String> {
    let named = info.options.iter().flat_map(|option| {
        let others = option.choices().into_iter().filter(|choice| *choice != option.default_text());
        others.map(|choice| format!("{},{}={choice}", info.name, option.name))
    });
    std::iter::once(info.name.to_string()).chain(named).collect()
}

/// Returns `text` combined with a mechanism that changes nothing: `smil` without limits, or `rbmi` with one kernel.
fn no_op_beside(text: &str) -> String {
    let beside = ["smil", "rbmi"].map(|no_op| format!("{text}+{no_op}"));
    let found = beside.into_iter().find(|both| both.parse::<MechanismSpec>().is_ok());
    found.unwrap_or_else(|| panic!("{text} conflicts with every no-op"))
}

/// Returns the statistics of `report`, without the mechanism counters that are absent from `of`.
fn figures(mut report: RunReport, of: &RunReport) -> String {
    report.mechanism_counters.retain(|name, _| of.mechanism_counters.contains_key(name));
    format!("{:?} {:?} {:?}", report.totals, report.sms, report.mechanism_counters)
}

#[test]
fn a_mechanism_beside_a_no_op_is_that_mechanism() {
    let mut runs = 0;
    // A mechanism with trials ends up as one of the others, with the choice of the trials.
    let tested: Vec<_> = BUILT_IN.iter().filter(|info| !info.claims.contains(&Claim::Trials)).collect();
    for text in tested.iter().flat_map(|info| variants(info)) {
        let spec: MechanismSpec = text.parse().expect("the registry's own words");
        let suits = |config: &&str| spec.machine(&GpuConfig::load(config).expect("built in")).is_ok();
        let config = ["gtx480", "gtx480-dai"].into_iter().find(suits);
        // `swl` is invalid without a limit, and so are some values of options in both configurations.
        let Some(config) = config else { continue };
        let alone = run_workload("bfs", config, &text).report;
        let beside = run_workload("bfs", config, &no_op_beside(&text)).report;
        assert_eq!(figures(alone.clone(), &alone), figures(beside, &alone), "{text}");
        runs += 1;
    }
    assert!(runs > 20, "{runs} variants were compared");
}
