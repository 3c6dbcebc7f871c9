//! The tables of the README, of blocks and of mechanisms agree with the registry.

use selvedge_blocks::built_in;
use selvedge_sim::best::settled;
use selvedge_sim::config::{BUILT_IN, GpuConfig};
use selvedge_sim::mechanism::{self, MechanismInfo, MechanismSpec};
use selvedge_sim::run::instances;
use selvedge_sim::workload::all;
use std::fs;

fn readme() -> String {
    fs::read_to_string("README.md").expect("the README is there")
}

/// Returns the mechanisms that a configuration refuses, each with the reason.
fn refused(config: &str) -> Vec<(&'static MechanismInfo, String)> {
    let config = GpuConfig::load(config).expect("built in");
    let why = |info: &'static MechanismInfo| {
        // `swl` has no default limit.
        let text = if info.name == "swl" { "swl=4" } else { info.name };
        let mechanism: MechanismSpec = text.parse().expect("it exists");
        let refused = instances(&settled(&mechanism, &config), &config, 1).err();
        refused.map(|refused| (info, refused.to_string()))
    };
    mechanism::built_in().iter().filter_map(why).collect()
}

/// Compares each refusal with the needs that `list mechanisms NAME` prints.
#[test]
fn a_mechanism_states_the_need_for_which_it_refuses_a_configuration() {
    let words = [("dram.burst_bytes", "DRAM bursts")];
    let mut count = 0;
    for machine in BUILT_IN {
        for (info, why) in refused(machine.name) {
            let (_, word) =
                words.iter().find(|(key, _)| why.contains(key)).unwrap_or_else(|| panic!("{why}"));
            assert!(
                info.configuration_needs.contains(word),
                "{}: {why}: {:?}",
                info.name,
                info.configuration_needs
            );
            count += 1;
        }
    }
    assert_eq!(count, 18, "LAMAR's six mechanisms on three configurations");
}

#[test]
fn the_readme_counts_the_mechanisms_that_each_configuration_runs() {
    let text = readme();
    let table = text.split_once("| configuration | ").expect("the table is there").1;
    let mut rows =
        table.lines().take_while(|line| line.contains('|')).map(|row| row.split('|').map(str::trim));
    let papers: Vec<&str> =
        rows.next().expect("a head").filter(|name| !["", "reason"].contains(name)).collect();
    let of = |info: &MechanismInfo, paper: &str| info.name != "base" && info.source.starts_with(paper);
    let count = |paper: &str| mechanism::built_in().iter().filter(|info| of(info, paper)).count();
    assert_eq!(papers.iter().map(|paper| count(paper)).sum::<usize>(), mechanism::built_in().len() - 1);
    let mut named = Vec::new();
    for row in rows.skip(1) {
        let cells: Vec<&str> = row.collect();
        for config in cells[1].split(", ").map(|name| name.trim_matches('`')) {
            let refused = refused(config);
            for (paper, cell) in papers.iter().zip(&cells[2..]) {
                let run = count(paper) - refused.iter().filter(|(info, _)| of(info, paper)).count();
                assert_eq!(format!("{run} of {}", count(paper)), *cell, "{paper} on {config}");
            }
            named.push(config);
        }
    }
    let mut all: Vec<&str> = BUILT_IN.iter().map(|machine| machine.name).collect();
    all.sort_unstable();
    named.sort_unstable();
    assert_eq!(named, all);
}

#[test]
fn the_table_of_blocks_is_the_registrys() {
    let text = fs::read_to_string("docs/blocks.md").expect("the page is there");
    for entry in built_in() {
        let facts = entry.facts(&entry.defaults()).expect("the defaults are valid");
        let row = format!(
            "| [`{0}`](reference/blocks/{0}.md) | {1} | {2} | {3} | {4} |",
            entry.name(),
            entry.summary(),
            entry.storage(&entry.defaults()).expect("the defaults are valid"),
            facts.latency,
            facts.interval
        );
        assert!(text.contains(&row), "docs/blocks.md must have this row:\n{row}");
    }
    let rows = text.lines().filter(|line| line.starts_with("| [`")).count();
    assert_eq!(rows, built_in().len(), "a row per block");
}

/// Returns the names between backticks in a text.
fn names(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_page_of_mechanisms_lists_each_one_under_its_paper() {
    let text = fs::read_to_string("docs/mechanisms/index.md").expect("the page is there");
    let mut listed = Vec::new();
    for section in text.split("\n## ").skip(1).filter(|section| !section.starts_with("GPUs")) {
        let paper = section.split(':').next().unwrap_or_default();
        for row in section.lines().filter(|line| line.starts_with("| [`")) {
            for name in names(row.split('|').nth(1).unwrap_or_default()) {
                let info = mechanism::built_in().iter().find(|info| info.name == name);
                let info = info.unwrap_or_else(|| panic!("no mechanism {name}"));
                assert!(info.source.starts_with(paper), "{name}: {}", info.source);
                listed.push(name);
            }
        }
    }
    let mut all: Vec<&str> = mechanism::built_in().iter().map(|info| info.name).collect();
    all.retain(|name| *name != "base");
    all.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, all);
}

#[test]
fn the_table_of_gpus_says_which_mechanism_runs_where_and_why_not() {
    let text = fs::read_to_string("docs/mechanisms/index.md").expect("the page is there");
    let table = text.split_once("| mechanisms | ").expect("the table is there").1;
    let mut rows = table.lines().take_while(|line| line.contains('|'));
    let columns = rows.next().expect("a head").split('|').map(names);
    let columns: Vec<Vec<_>> =
        columns.map(|column| column.into_iter().map(|name| (name, refused(name))).collect()).collect();
    let mut cells = 0;
    for row in rows.skip(1) {
        let row: Vec<&str> = row.split('|').skip(1).collect();
        for (column, cell) in columns.iter().zip(&row[1..]) {
            for (config, refused) in column {
                for name in names(row[0]) {
                    let why = refused.iter().find(|(info, _)| info.name == name).map(|(_, why)| why);
                    let agrees = match why {
                        None => cell.trim() == "yes",
                        Some(why) => names(cell).iter().any(|key| why.contains(key)),
                    };
                    assert!(agrees, "{name} on {config}: {cell:?}, {why:?}");
                    cells += 1;
                }
            }
        }
    }
    assert_eq!(cells, BUILT_IN.len() * mechanism::built_in().len(), "every mechanism on every configuration");
}

#[test]
fn the_readme_counts_what_there_is() {
    let text = readme().replace('\n', " ");
    // The baseline is in the list of mechanisms, too.
    let (mechanisms, blocks, workloads) = (mechanism::built_in().len() - 1, built_in().len(), all().len());
    let counts =
        format!("{mechanisms} mechanisms built from {blocks} hardware blocks, and {workloads} workloads");
    assert!(text.contains(&counts), "the README must say: {counts}");
}
