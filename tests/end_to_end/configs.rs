//! Configurations can be listed, shown, checked and translated on the command line.
use crate::command::{selvedge, selvedge_in};
use selvedge_sim::config::BUILT_IN;
use std::process::Output;

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_machine_is_listed_and_what_it_shows_is_accepted() {
    let list = selvedge(&["list", "configurations"]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    for machine in BUILT_IN {
        assert!(list.lines().any(|line| line.starts_with(machine.name)), "{list}");
        let shown = selvedge(&["config", "show", machine.name]);
        std::fs::write(folder.path().join("shown.toml"), shown).expect("the file is written");
        let output = selvedge_in(folder.path(), &["config", "check", "shown.toml"]);
        assert!(output.status.success(), "{}: {}", machine.name, error(&output));
    }
}

#[test]
fn every_machine_runs() {
    for machine in BUILT_IN {
        let table = selvedge(&["run", "vecadd", "--config", machine.name]);
        assert!(table.contains("pass"), "{}: {table}", machine.name);
    }
}

#[test]
fn check_reports_every_mistake_in_a_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = "base = \"gtx480\"\n[l1d]\nwayz = 0\n[dram]\nbankz = 3\n";
    std::fs::write(folder.path().join("my.toml"), text).expect("the file is written");
    let output = selvedge_in(folder.path(), &["config", "check", "my.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let lines = error(&output);
    let starts: Vec<_> = lines.lines().filter_map(|l| l.split(", must be").next()).collect();
    let expected =
        ["selvedge: my.toml:3: unknown field `wayz`", "selvedge: my.toml:5: unknown field `bankz`"];
    assert_eq!(starts, expected);
}

#[test]
fn an_import_runs_and_lists_what_it_left_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = "-gpgpu_n_mem 8\n-gpgpu_runtime_stat 500\n-inter_config_file net.icnt\n";
    std::fs::write(folder.path().join("gpgpusim.config"), text).expect("the file is written");
    std::fs::write(folder.path().join("net.icnt"), "flit_size = 64;\n").expect("the file is written");
    let traces = "-trace_opcode_latency_initiation_int 3,1\n-gpgpu_n_mem 4\n";
    std::fs::write(folder.path().join("trace.config"), traces).expect("the file is written");
    let words =
        ["config", "import", "gpgpusim.config", "trace.config", "--icnt", "net.icnt", "-o", "my.toml"];
    let output = selvedge_in(folder.path(), &words);
    assert!(output.status.success(), "{}", error(&output));
    assert_eq!(
        error(&output),
        "gpgpusim.config:1: -gpgpu_n_mem 8: ignored: replaced by -gpgpu_n_mem in trace.config:2\n\
         gpgpusim.config:2: -gpgpu_runtime_stat 500: no counterpart: statistics alone\n\
         gpgpusim.config:3: -inter_config_file net.icnt: ignored: --icnt names the file\n\
         trace.config:1: -trace_opcode_latency_initiation_int 3,1: taken for PTX, too, in place of its own\n"
    );
    let output = selvedge_in(folder.path(), &["config", "show", "my.toml"]);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    for line in ["name = \"gpgpusim\"", "partitions = 4", "flit_bytes = 64", "int_latency = 3"] {
        assert!(shown.contains(line), "{shown}");
    }
    assert!(selvedge_in(folder.path(), &["run", "vecadd", "--config", "my.toml"]).status.success());
}

#[test]
fn an_import_of_a_wrong_value_is_refused_with_its_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("my.config"), "\n-gpgpu_n_mem 99\n").expect("the file is written");
    let output = selvedge_in(folder.path(), &["config", "import", "my.config"]);
    assert_eq!(output.status.code(), Some(2));
    let says = "selvedge: my.config:2: -gpgpu_n_mem: l2.partitions = 99: must be 1 to 64\n";
    assert_eq!(error(&output), says);
    assert!(output.stdout.is_empty());
}

#[test]
fn an_import_of_each_tested_configuration_runs() {
    let table = std::fs::read_to_string("tests/data/gpgpusim-4.2.tsv").expect("the table is there");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (column, name) in rows[0].iter().enumerate().skip(1) {
        let (mut options, mut network) = (String::new(), String::new());
        for row in rows[1..].iter().filter(|row| row[column] != "-") {
            match row[0].strip_prefix("icnt:") {
                Some(option) => network += &format!("{option} = {};\n", row[column]),
                None => options += &format!("{} {}\n", row[0], row[column]),
            }
        }
        std::fs::write(folder.path().join("my.config"), options).expect("the file is written");
        std::fs::write(folder.path().join("my.icnt"), network).expect("the file is written");
        let words = ["config", "import", "my.config", "--icnt", "my.icnt", "-o", "my.toml"];
        let output = selvedge_in(folder.path(), &words);
        assert!(output.status.success(), "{name}: {}", error(&output));
        let words = ["run", "vecadd", "--size", "tiny", "--config", "my.toml", "--check"];
        let output = selvedge_in(folder.path(), &words);
        assert!(output.status.success(), "{name}: {}", error(&output));
        assert!(String::from_utf8_lossy(&output.stdout).contains("pass"), "{name}");
    }
}

#[test]
fn every_check_holds_on_every_built_in_configuration() {
    let folder = tempfile::tempdir().expect("a folder");
    for config in BUILT_IN {
        let output = selvedge_in(folder.path(), &["run", "bfs", "--check", "--config", config.name]);
        assert!(output.status.success(), "{}: {}", config.name, error(&output));
    }
}
