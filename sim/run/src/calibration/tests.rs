//! A fit gives the values of the simulated GPU that was measured. `tests/data/planted.json` has the results of the microbenchmarks on
//! `tests/data/planted.toml`, a GPU with values that its base lacks.
use super::{Calibration, CalibrationFit, agreement, fit};
use selvedge_gpu::config::GpuConfig;
use std::fs;

fn data(name: &str) -> String {
    let path = format!("{}/../../tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(path).expect("the file is there")
}

fn planted() -> Calibration {
    Calibration::parse("planted.json", &data("planted.json")).expect("valid")
}

fn fitted(measured: &Calibration) -> CalibrationFit {
    fit(measured, &GpuConfig::load("titan-v").expect("built in")).expect("it runs")
}

#[test]
fn a_fit_gives_the_values_of_the_gpu_that_was_measured() {
    let measured = planted();
    let text = fitted(&measured).to_toml("planted", "titan-v", &measured);
    let found = GpuConfig::parse("fitted.toml", &text).expect("valid");
    let mut expected = GpuConfig::parse("planted.toml", &data("planted.toml")).expect("valid");
    // The fit may miss by one way.
    assert!(found.l2.ways.abs_diff(expected.l2.ways) <= 1, "{} ways", found.l2.ways);
    expected.l2.ways = found.l2.ways;
    assert_eq!(found, expected, "{text}");
}

#[test]
fn each_measurement_changes_its_own_key() {
    let measured = planted();
    let before = fitted(&measured);
    for (kernel, key) in [
        ("int_latency", "sm.alu.int_latency"),
        ("fp32_rate", "sm.alu.interval"),
        ("int_rate", "sm.alu.int_interval"),
        ("special_latency", "sm.sfu.latency"),
        ("tensor_m16n8k16_f16_latency", "sm.tensor.latency"),
        ("atomic_rate", "l2.atomic_word_cycles"),
        ("launch", "sm.launch_latency"),
    ] {
        let mut slower = measured.clone();
        let of = slower.kernels.iter_mut().find(|one| one.name == kernel).expect("measured");
        of.cycles *= 2.5;
        let after = fitted(&slower);
        let changed = before.keys.iter().filter(|old| after.value(old.key) != Some(&old.value));
        assert_eq!(changed.map(|old| old.key).collect::<Vec<_>>(), [key], "{kernel}");
    }
}

#[test]
fn keys_without_a_measurement_keep_the_value_of_the_base() {
    let mut measured = planted();
    measured.kernels.retain(|kernel| kernel.name == "int_multiply_rate");
    let found = fitted(&measured);
    assert!(
        found.keys.iter().all(|fitted| fitted.key.starts_with("clock.") || fitted.key == "sm.count"),
        "{found:?}"
    );
    assert_eq!(found.unused, ["int_multiply_rate"]);
}

#[test]
fn a_kernel_that_one_gpu_lacks_is_not_compared() {
    let measured = planted();
    let mut simulated = measured.clone();
    let last = simulated.kernels.pop().expect("measured");
    let found = agreement(&measured, &simulated);
    assert_eq!((found.pairs.len(), found.mean_error()), (measured.kernels.len() - 1, Some(0.0)));
    assert_eq!(found.alone, [format!("{} (measured)", last.title())]);
}

#[test]
fn wrong_results_are_reported_in_one_line() {
    let text = data("planted.json");
    for (from, to, says) in [
        ("{", "[", "gpu.json:2: "),
        ("\"cycles\": ", "\"cycle\": ", "gpu.json:4: unknown field `cycle`"),
        ("\"count\": 128", "\"count\": 0", "gpu.json: int_latency warps=1: count = 0: must be above 0"),
        ("\"cycles\": ", "\"cycles\": -", "must be above 0 and at most 1e15"),
        ("int_rate", "int rate", "a word of a kernel = int rate: must be letters"),
        ("\"hits\": ", "\"hits\": 9", "hits = 9"),
        ("\"core_mhz\": 1300.00", "\"core_mhz\": 0", "gpu.json: device: core_mhz = 0: must be above 0"),
    ] {
        let error = Calibration::parse("gpu.json", &text.replacen(from, to, 1)).expect_err(to).to_string();
        assert!(error.contains(says) && error.lines().count() == 1, "{error}");
    }
}
