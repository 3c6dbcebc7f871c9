//! `selvedge calibrate`: the microbenchmarks measure a simulated GPU, the fit gives its values, and the comparison finds a wrong one.
use crate::command::{selvedge, selvedge_in};
use std::fs;
use std::path::Path;

#[test]
fn the_source_is_the_suite_in_the_tree() {
    let suite = fs::read_to_string("calibrate/calibrate.cu").expect("the suite is there");
    assert_eq!(selvedge(&["calibrate", "source"]), suite);
}

#[test]
fn a_fit_of_wrong_results_or_an_unknown_base_ends_with_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::copy("tests/data/planted.json", folder.path().join("gpu.json")).expect("copied");
    fs::write(folder.path().join("wrong.json"), "{\n\"device\": 1}\n").expect("written");
    for (words, says) in [
        (&["fit", "--json", "wrong.json"][..], "wrong.json:2: "),
        (&["fit", "--json", "none.json"], "cannot read none.json"),
        (&["fit", "--json", "gpu.json", "--base", "gtx"], "--base gtx: must be one of gtx480, "),
        (&["compare", "--json", "wrong.json", "--simulated", "gpu.json"], "wrong.json:2: "),
        (&["compare", "--json", "gpu.json", "--simulated", "wrong.json"], "wrong.json:2: "),
    ] {
        let output = selvedge_in(folder.path(), &[&["calibrate"], words].concat());
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
        assert!(error.contains(says) && error.lines().count() == 1, "{words:?}: {error}");
    }
}

#[test]
fn a_fitted_file_is_a_configuration_with_a_comment_per_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = Path::new("tests/data/planted.json").canonicalize().expect("the file is there");
    let json = json.to_str().expect("UTF-8");
    let words = ["calibrate", "fit", "--json", json, "--base", "titan-v", "-o", "fitted.toml"];
    assert!(selvedge_in(folder.path(), &words).status.success());
    assert!(selvedge_in(folder.path(), &["config", "check", "fitted.toml"]).status.success());
    let text = fs::read_to_string(folder.path().join("fitted.toml")).expect("written");
    let is_key = |line: &&str| line.contains(" = ") && !line.starts_with('#');
    let without: Vec<_> = text.lines().filter(is_key).filter(|line| !line.contains(" # ")).collect();
    assert_eq!(without, ["base = \"titan-v\"", "name = \"planted\""], "{text}");
}

#[cfg(target_os = "linux")]
mod with_a_compiler {
    use super::*;
    use crate::cuda::toolkit;
    use std::process::Command;

    /// Runs the command, and returns its standard output.
    fn run(folder: &Path, words: &[&str]) -> String {
        let output = selvedge_in(folder, words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "selvedge {}: {error}", words.join(" "));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Returns the error in the row of a comparison that begins with `kernel`, in percent.
    fn error_of(table: &str, kernel: &str) -> f64 {
        let row = table
            .lines()
            .find(|line| line.starts_with(kernel))
            .unwrap_or_else(|| panic!("{kernel}: {table}"));
        let last = row.split_whitespace().last().expect("cells");
        last.trim_end_matches('%').parse().expect("a number")
    }

    #[test]
    fn the_microbenchmarks_find_the_values_of_a_simulated_gpu_and_a_wrong_latency() {
        let test = "the_microbenchmarks_find_the_values_of_a_simulated_gpu_and_a_wrong_latency";
        let Some(toolkit) = toolkit(test, "cuda13") else { return };
        let here = tempfile::tempdir().expect("a folder");
        let folder = here.path();
        let built = Command::new(toolkit.join("bin/nvcc"))
            .args(["-O2", "-cudart", "shared", "-gencode", "arch=compute_80,code=compute_80"])
            .args(["calibrate/calibrate.cu", "-o"])
            .arg(folder.join("calibrate"))
            .output()
            .expect("nvcc starts");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let planted = fs::read_to_string("tests/data/planted.toml").expect("the file is there");
        fs::write(folder.join("planted.toml"), &planted).expect("written");
        run(folder, &["cuda", "--config", "planted.toml", "--", "./calibrate", "planted.json", "1"]);
        run(
            folder,
            &["calibrate", "fit", "--json", "planted.json", "--base", "titan-v", "-o", "fitted.toml"],
        );
        let table = |name: &str| -> toml::Table {
            fs::read_to_string(folder.join(name)).expect("written").parse().expect("TOML")
        };
        let (mut fitted, mut expected) = (table("fitted.toml"), table("planted.toml"));
        // The fit may miss by one way.
        let ways = |table: &mut toml::Table| table["l2"].as_table_mut()?.remove("ways")?.as_integer();
        let (found, right) = (ways(&mut fitted).expect("fitted"), ways(&mut expected).expect("planted"));
        assert!((found - right).abs() <= 1, "{found} ways, not {right}");
        // The list has the values of the base that fit.
        fitted["l1d"].as_table_mut().expect("a section").remove("shared_choices");
        assert_eq!(fitted, expected);

        let wrong = planted.replace("hit_latency = 203", "hit_latency = 153");
        fs::write(folder.join("wrong.toml"), wrong).expect("written");
        let compare = |config: &str| {
            run(
                folder,
                &["calibrate", "compare", "--json", "planted.json", "--config", config, "--", "./calibrate"],
            )
        };
        let same = compare("planted.toml");
        assert!(same.contains("mean absolute error 0.0%, correlation of the logarithms 1.0000\n"), "{same}");
        let table = compare("wrong.toml");
        // 50 of 236 cycles are absent.
        assert_eq!(error_of(&table, "l2_latency "), -21.2, "{table}");
        assert_eq!(error_of(&table, "l1d_latency "), 0.0, "{table}");
        assert_eq!(error_of(&table, "int_latency "), 0.0, "{table}");
    }
}
