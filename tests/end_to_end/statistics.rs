//! All formats of the statistics agree.
use crate::command::{selvedge, selvedge_in};
use selvedge_sim::mechanism::built_in;
use serde_json::Value;
use std::path::Path;

/// Returns the rows of a CSV text without quoted fields, each as pairs of column and value.
fn rows(text: &str) -> Vec<Vec<(String, String)>> {
    let mut lines = text.lines().map(|line| line.split(',').map(String::from).collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    lines.map(|row| header.iter().cloned().zip(row).collect()).collect()
}

fn number(row: &[(String, String)], column: &str) -> f64 {
    let (_, value) = row.iter().find(|(name, _)| name == column).expect("the column is there");
    value.parse().expect("a number")
}

#[test]
fn text_csv_json_and_series_agree() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let words =
        ["run", "bfs", "--json", "r.json", "--stats", "r.txt", "--launches", "r.csv", "--csv", "t.csv"];
    let output =
        selvedge_in(folder.path(), &[&words[..], &["--series", "s.csv", "--every", "1000"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("it is written");
    let json: Value = serde_json::from_str(&read("r.json")).expect("JSON");
    let totals = &json["totals"];
    let cycles = totals["cycles"].as_u64().expect("a count");

    let kernels = rows(&read("r.csv"));
    assert_eq!(kernels.len(), json["kernels"].as_array().expect("a list").len());
    let last = kernels.last().expect("launches");
    assert_eq!(number(last, "gpu_tot_sim_cycle"), cycles as f64);
    assert_eq!(
        number(last, "L1D_total_cache_accesses"),
        totals["l1d"]["accesses"].as_f64().expect("a count")
    );
    let launches: f64 = kernels.iter().map(|row| number(row, "gpu_sim_cycle")).sum();
    assert_eq!(launches, cycles as f64, "no cycle lies between launches");

    let text = read("r.txt");
    assert_eq!(text.matches("kernel_launch_uid = ").count(), kernels.len());
    let line = format!("gpu_tot_sim_cycle = {cycles}");
    assert!(text.contains(&line), "{line}");

    let intervals = rows(&read("s.csv"));
    assert_eq!(intervals.len() as u64, cycles.div_ceil(1000));
    assert_eq!(number(&intervals[1], "from_cycle"), 1000.0);
    let sum = |key: &str| intervals.iter().map(|row| number(row, key)).sum::<f64>();
    for (key, path) in [
        ("thread_instructions", "/thread_instructions"),
        ("dram.read_bursts", "/dram/read_bursts"),
        ("l2.misses", "/l2/misses"),
        ("crossbar.replies.packets", "/crossbar/replies/packets"),
    ] {
        let total = totals.pointer(path).and_then(Value::as_f64).expect("a count");
        assert_eq!(sum(&format!("interval.{key}")), total, "{key}");
        let run = rows(&read("t.csv"));
        assert_eq!(run.len(), 1, "a row for the run");
        assert_eq!(number(&run[0], &format!("totals.{key}")), total, "{key}");
    }

    let energy = &totals["dram"]["energy"];
    let nanojoules = |key: &str| energy[key].as_f64().expect("a number");
    let parts =
        ["precharge_standby", "active_standby", "refresh", "activate_precharge", "read_bank", "read_io"];
    let parts = parts.into_iter().chain(["write_bank", "write_io"]);
    let sum_of_parts: f64 = parts
        .map(|part| {
            let value = nanojoules(&format!("{part}_nj"));
            let key = format!("dram_energy_{part}_nJ");
            assert!((number(last, &key) - value).abs() < 1e-3, "{key}");
            let sum = sum(&format!("interval.dram.energy.{part}_nj"));
            assert!((sum - value).abs() < 1e-9 * nanojoules("total_nj") + 1e-2, "{key} over intervals");
            value
        })
        .sum();
    assert!((sum_of_parts / nanojoules("total_nj") - 1.0).abs() < 1e-12, "the parts are the whole");
    assert!(nanojoules("read_io_nj") > 0.0 && nanojoules("active_standby_nj") > 0.0);
    // gtx480 runs at 1400 MHz: nanojoules per microsecond are milliwatts.
    let power = nanojoules("total_nj") / (cycles as f64 / 1400.0);
    assert!((nanojoules("mean_power_mw") / power - 1.0).abs() < 1e-3, "{power} mW");

    let sms = json["sms"].as_array().expect("a list");
    let issued: u64 = sms.iter().map(|sm| sm["warp_instructions"].as_u64().expect("a count")).sum();
    assert_eq!(Some(issued), totals["warp_instructions"].as_u64(), "SM by SM");
}

#[test]
fn taking_samples_changes_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = |words: &[&str]| selvedge_in(folder.path(), words).stdout;
    assert_eq!(table(&["run", "kmeans"]), table(&["run", "kmeans", "--series", "s.csv", "--every", "7"]));
}

#[test]
fn every_statistic_is_explained() {
    let list = selvedge(&["stats", "list"]);
    assert!(list.contains("bw_util"), "{list}");
    let spaced = selvedge(&["stats", "explain", "L2_cache_stats_breakdown[GLOBAL_ACC_R] [HIT]"]);
    assert!(spaced.starts_with("L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT]: "), "{spaced}");
    let one = selvedge(&["stats", "explain", "averagemflatency"]);
    assert_eq!(
        one,
        "averagemflatency: mean core cycles of a load that misses in an L1D, from its coming in front of the L1D to the return of its line\n"
    );
}

#[test]
fn every_counter_of_a_report_is_declared_by_its_mechanism_and_explained() {
    let mut reported = std::collections::BTreeSet::new();
    for info in built_in() {
        let mechanism = if info.name == "swl" { "swl=4" } else { info.name };
        let words = ["run", "vecadd", "--size", "tiny", "--engine", "model", "--mechanism", mechanism];
        let report = selvedge(&[&words[..], &["--json", "-"]].concat());
        let report: Value = serde_json::from_str(&report).expect("JSON");
        for name in report["mechanism_counters"].as_object().expect("counters").keys() {
            let declared = info.counters.iter().copied().flatten().any(|counter| counter.is(name));
            assert!(declared, "{} does not declare {name}", info.name);
            reported.insert(name.clone());
        }
    }
    assert!(reported.len() > 100, "{} counters", reported.len());
    for counter in reported {
        let line = selvedge(&["stats", "explain", &counter]);
        assert!(line.starts_with(&format!("{counter}: ")), "{line}");
    }
    let glossary = selvedge(&["stats", "list"]);
    assert!(glossary.contains("l_max_{n}"), "{glossary}");
}

#[test]
fn mechanisms_that_share_a_counter_give_it_one_meaning() {
    let mut meanings = std::collections::BTreeMap::new();
    for counter in built_in().iter().flat_map(|info| info.counters).copied().flatten() {
        let meaning = meanings.entry(counter.name).or_insert(counter.meaning);
        assert_eq!(*meaning, counter.meaning, "{}", counter.name);
    }
}

/// Explains every column of CSV by its full name, and also without `totals.`. JSON and Parquet have the same columns.
#[test]
fn every_column_is_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    let words =
        ["run", "bfs", "--size", "tiny", "--mechanism", "hw-bdi", "--engine", "model", "--csv", "row.csv"];
    assert!(selvedge_in(folder.path(), &[&words[..], &["--series", "series.csv"]].concat()).status.success());
    for file in ["row.csv", "series.csv"] {
        let text = std::fs::read_to_string(folder.path().join(file)).expect("written");
        let columns: Vec<&str> = text.lines().next().expect("a head").split(',').collect();
        assert!(columns.len() > 100, "{columns:?}");
        for column in columns {
            let text = selvedge(&["stats", "explain", column]);
            let (_, meaning) = text.split_once(": ").expect("a name and its meaning");
            assert!(meaning.trim().len() > 3, "{text}");
        }
    }
    let misses = selvedge(&["stats", "explain", "l1d.misses"]);
    assert!(misses.starts_with("totals.l1d.misses: ") && misses.lines().count() == 1, "{misses}");
    assert_eq!(misses, selvedge(&["stats", "explain", "totals.l1d.misses"]));
    assert!(
        selvedge(&["stats", "explain", "ipc"]).starts_with("totals.ipc: Thread instructions per core cycle")
    );
    assert!(selvedge(&["stats", "explain", "programs.3.ctas"]).starts_with("programs.N.ctas: "));
    assert!(selvedge(&["stats", "list"]).contains("totals.l1d.misses"));
    for (key, says) in [
        ("kernels.0.sm.ctas", "kernels.N.sm.ctas: "),
        ("sms.3.l1d.misses", "sms.N.l1d.misses: "),
        ("kernel_launch_uid", "kernel_launch_uid: Number of the launch"),
        ("l1d.sets", "l1d.sets: "),
        ("format_version", "format_version: "),
    ] {
        let text = selvedge(&["stats", "explain", key]);
        assert!(text.starts_with(says) && text.lines().count() == 1, "{key}: {text}");
    }
}

#[test]
fn every_column_of_csv_has_its_meaning() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = ["run", "vecadd+bfs", "--alone", "--store", "none", "--engine", "model", "--csv", "run.csv"];
    assert!(selvedge_in(folder.path(), &run).status.success());
    let run = ["run", "vecadd", "--mechanism", "latte-cc", "--engine", "model", "--series", "series.csv"];
    assert!(
        selvedge_in(folder.path(), &[&run[..], &["--launches", "launches.csv"]].concat()).status.success()
    );
    for file in ["run.csv", "series.csv", "launches.csv"] {
        let text = std::fs::read_to_string(folder.path().join(file)).expect("written");
        let header = text.lines().next().unwrap_or_default();
        assert!(header.split(',').count() > 50, "{file}: {header}");
        // Each process takes some milliseconds, so every seventh column is tried.
        for column in header.split(',').step_by(7) {
            let output = selvedge_in(folder.path(), &["stats", "explain", column]);
            assert!(output.status.success(), "{file}: {column}");
        }
    }
}

#[test]
fn mistakes_about_statistics_are_one_line() {
    let folder = Path::new(".");
    for (words, line) in [
        (&["stats", "explain", "ipcs"][..], "no statistic 'ipcs': must be one of "),
        (
            &["run", "bfs", "--json", "a", "--csv", "a"],
            "--json and --csv name the same file a: each must have its own",
        ),
        (&["run", "bfs", "--series", "a", "--every", "0"], "--every"),
    ] {
        let output = selvedge_in(folder, words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(line), "{error}");
    }
}
