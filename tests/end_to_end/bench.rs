//! `selvedge bench`: measures the requested cases, against targets, for this binary and another.
use crate::command::selvedge_in;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

fn bench(words: &[&str]) -> Output {
    selvedge_in(Path::new("."), &[&["bench"], words].concat())
}

#[test]
fn two_binaries_are_measured_in_turn() {
    let own = env!("CARGO_BIN_EXE_selvedge");
    let output = bench(&["--case", "gen", "--repeat", "2", "--against", own, "--json", "-"]);
    let progress = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{progress}");
    assert_eq!(progress.lines().filter(|line| line.contains(" gen --all ")).count(), 4, "{progress}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let case = &report["cases"][0];
    assert_eq!((&case["case"], &case["target"]), (&"gen-all".into(), &"<= 2".into()));
    for figure in ["figure", "against", "times_better"] {
        let of = |key: &str| case[figure][key].as_f64().expect("a number");
        let (least, median, most) = (of("least"), of("median"), of("most"));
        assert!(0.0 < least && least <= median && median <= most, "{figure}: {case}");
    }
    let times = report["runs"][0]["user_s"].as_array().expect("by binary");
    assert!(times.iter().all(|of| of.as_array().is_some_and(|of| of.len() == 2)), "{times:?}");
}

#[test]
fn the_table_has_a_line_for_each_case() {
    let output = bench(&["--case", "idle-sms", "--repeat", "1"]);
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(table.lines().count(), 2, "{table}");
    let row = table.lines().nth(1).unwrap_or_default();
    assert!(row.starts_with("idle-sms") && row.contains("<= 1.3"), "{table}");
}

#[test]
fn mistakes_are_one_line() {
    for (words, line) in [
        (
            &["--case", "fast"][..],
            "selvedge: --case fast: must be the beginning of one of small, vecadd-cycles",
        ),
        (&["--case", "gen", "--against", "/bin/true"], "selvedge: /bin/true: must be a binary of selvedge"),
        (&["--case", "gen", "--against", "/nowhere"], "selvedge: /nowhere: "),
        (&["--peers", "/nowhere"], "selvedge: --peers /nowhere: must be an existing folder"),
        (
            &["--peers", "tests"],
            "selvedge: --peers tests: bin/release/accel-sim.out is absent: must be a built",
        ),
    ] {
        let output = bench(words);
        let error = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = error.lines().filter(|line| !line.contains("warning")).collect();
        assert_eq!((output.status.code(), lines.len()), (Some(2), 1), "{words:?}: {error}");
        assert!(lines[0].starts_with(line), "{words:?}: {error}");
    }
}
