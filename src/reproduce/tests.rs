//! Tests of the embedded data and of the tables made from it.
use super::catalog::{Catalog, study, study_names};
use super::claims::{self, Place, placeholders};
use super::metric::Unit;
use super::paper::{Figure, Paper, Read};
use super::sample::Sample;
use super::table::panels;
use super::{ReproduceOptions, facts, page, show};
use clap::{Args, FromArgMatches};
use selvedge_sim::best::settled;
use selvedge_sim::run::instances;
use selvedge_study::{Labels, PointWork, StudyScale};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;

fn catalog() -> Catalog {
    Catalog::load().unwrap_or_else(|failure| panic!("{failure:?}"))
}

fn expressed(catalog: &Catalog) -> Vec<(&Paper, &Figure)> {
    catalog.figures().filter(|(_, figure)| figure.not_expressed.is_none()).collect()
}

#[test]
fn every_figure_has_a_study_that_parses_and_every_study_a_figure() {
    let catalog = catalog();
    let used: BTreeSet<String> =
        expressed(&catalog).iter().map(|(_, figure)| figure.study().to_owned()).collect();
    for name in &used {
        let study =
            study(name, StudyScale::default()).unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
        assert_eq!(study.name, *name);
    }
    assert_eq!(used, study_names().into_iter().collect());
}

#[test]
fn the_figures_that_must_be_there_are() {
    let catalog = catalog();
    let mut wanted: Vec<String> = [2, 3, 4, 6].map(|n| format!("latte-cc-{n}")).to_vec();
    wanted.extend((11..=18).map(|n| format!("latte-cc-{n}")));
    wanted.extend([1, 5].into_iter().chain(8..=14).map(|n| format!("lamar-{n}")));
    wanted.extend([2].into_iter().chain(8..=16).map(|n| format!("caba-{n}")));
    wanted.extend([6, 7, 13, 14].into_iter().chain(16..=26).map(|n| format!("dai-{n}")));
    wanted.extend(["dai-8a", "dai-8b", "dai-9a", "dai-9b"].map(str::to_owned));
    // Figure 36 shows the organization of a block.
    wanted.extend((30..=35).chain(37..=43).map(|n| format!("dai-{n}")));
    for id in wanted {
        assert!(catalog.figure(&id).is_ok(), "{id}");
    }
}

/// Builds each point's mechanism and blocks in its configuration, without a simulation.
#[test]
fn every_point_of_every_study_can_run() {
    let mut built = BTreeSet::new();
    for name in study_names() {
        let study =
            study(&name, StudyScale::default()).unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
        assert!(!study.points().is_empty(), "{name}");
        for point in study.points() {
            let (workload, series) = (&point.labels.workload, &point.labels.mechanism);
            let (mechanism, config, kernels) = match &point.work {
                Ok(PointWork::One(spec)) => (&spec.mechanism, &spec.config, 1),
                Ok(PointWork::Together(spec)) => (&spec.mechanism, &spec.config, spec.workloads.len()),
                Err(why) => panic!("{name}, {workload}, {series}: {why}"),
            };
            if built.insert(format!("{} {kernels} {config:?}", mechanism.text)) {
                instances(&settled(mechanism, config), config, kernels)
                    .unwrap_or_else(|why| panic!("{name}, {workload}, {series}: {why}"));
            }
        }
    }
    assert!(built.len() > 100, "{}", built.len());
}

fn options(arguments: &[&str]) -> ReproduceOptions {
    let command = ReproduceOptions::augment_args(clap::Command::new("reproduce"));
    let matches = command.no_binary_name(true).try_get_matches_from(arguments).expect("options");
    ReproduceOptions::from_arg_matches(&matches).expect("options")
}

#[test]
fn runs_by_intervals_have_a_limit_at_the_papers_size() {
    let scale = options(&["caba-8", "--size", "paper", "--intervals", "6"]).scale();
    let study = study("caba-8", scale).unwrap_or_else(|failure| panic!("{failure:?}"));
    for point in study.points() {
        let p = &point.parameters;
        assert_eq!(
            (p.size.as_str(), p.intervals, p.max_instructions),
            ("paper", Some(6), Some(1_000_000_000))
        );
    }
}

#[test]
fn every_study_has_points_at_the_papers_size() {
    let scale = options(&["caba-8", "--size", "paper"]).scale();
    for name in study_names() {
        let study = study(&name, scale).unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
        for point in study.points() {
            let p = &point.parameters;
            assert_eq!(p.size, "paper", "{name}");
            let is_limited = p.max_instructions.is_some_and(|most| most <= 1_000_000_000);
            assert!(is_limited || p.share.is_some(), "{name}: {}", point.name());
        }
    }
}

/// Returns the samples of a figure's study without results.
fn empty_samples(figure: &Figure) -> Vec<Sample> {
    let folder = tempfile::tempdir().expect("a folder");
    let store = selvedge_study::Store::open(folder.path()).expect("a store");
    super::sample::samples(&study(figure.study(), StudyScale::default()).expect("a study"), &store)
}

#[test]
fn figures_name_quantities_groups_applications_and_series_that_exist() {
    let catalog = catalog();
    for (paper, figure) in expressed(&catalog) {
        let id = &figure.id;
        let samples = empty_samples(figure);
        assert!(!figure.metrics.is_empty(), "{id}: no quantity");
        for group in &figure.groups {
            assert!(catalog.group(group).is_some(), "{id}: {group}");
        }
        let found = panels(&catalog, paper, figure, &samples).unwrap_or_else(|e| panic!("{id}: {e:?}"));
        let first = &found[0];
        for shown in &figure.workloads {
            assert!(first.rows.iter().any(|row| row.name == *shown), "{id}: {shown}");
        }
        for shown in &figure.series {
            assert!(first.series.contains(shown), "{id}: {shown}");
        }
        for value in &figure.value {
            let of = value.of.as_str();
            let is_known = ["most", "least"].contains(&of)
                || first.means.iter().chain(&first.rows).any(|line| line.name == of);
            assert!(is_known, "{id}: of {of}");
            assert!(first.series.contains(&value.series), "{id}: {} of {:?}", value.series, first.series);
            assert!(figure.metrics.iter().any(|name| name == figure.metric_of(value)), "{id}: {of}");
        }
        for sample in &samples {
            let needs = found.iter().any(|panel| {
                panel.unit == Unit::Ratio && catalog.metric(&panel.metric).expect("it is").against.is_some()
            });
            let reference = super::sample::is_reference_there(&samples, sample, &figure.reference);
            assert!(
                !needs || reference,
                "{id}: nothing to compare {} {} with",
                sample.labels.workload,
                sample.series
            );
        }
    }
}

#[test]
fn what_the_papers_state_is_well_formed() {
    let catalog = catalog();
    let mut ids = BTreeSet::new();
    for (_, figure) in catalog.figures() {
        assert!(ids.insert(&figure.id), "{} is there twice", figure.id);
        let mut stated = BTreeSet::new();
        for value in &figure.value {
            let name = format!("{}: {} {}", figure.id, value.of, value.series);
            assert!(value.value.is_finite() && value.value > -1.0, "{name}: {}", value.value);
            assert!(!value.place.is_empty(), "{name}: it must say where it stands");
            assert_eq!(value.words.is_some(), value.read == Read::Text, "{name}: text has words");
            assert!(
                stated.insert((figure.metric_of(value), &value.of, &value.series)),
                "{name} is there twice"
            );
        }
    }
    let mut groups = BTreeSet::new();
    for group in catalog.groups() {
        assert!(groups.insert(&group.name), "{} is there twice", group.name);
    }
}

#[test]
fn applications_are_the_workloads_that_stand_for_them() {
    let known: Vec<Vec<&str>> =
        include_str!("../classify/papers.tsv").lines().map(|line| line.split('\t').collect()).collect();
    let catalog = catalog();
    for (_, figure) in expressed(&catalog) {
        let Some((prefix, _)) = figure.id.rsplit_once('-') else { continue };
        if prefix.starts_with("cause") {
            continue;
        }
        let prefix = prefix.split("-6").next().unwrap_or(prefix);
        for point in study(figure.study(), StudyScale::default()).expect("a study").points() {
            let (name, workload) = (&point.labels.workload, &point.parameters.workload);
            if workload.contains('+') {
                continue;
            }
            let is_known =
                known.iter().any(|row| row[0] == workload && row[1].starts_with(prefix) && row[2] == name);
            assert!(is_known, "{}: {name} is not {workload}", figure.id);
        }
    }
}

#[test]
fn fifteen_comparisons_have_claims_and_causes_refer_to_them() {
    let catalog = catalog();
    claims::check(&catalog).unwrap_or_else(|failure| panic!("{failure:?}"));
    assert_eq!(catalog.claims.headline.len(), 15);
    for cause in &catalog.claims.cause {
        let of_experiment = |figure: &str| figure.starts_with("cause-");
        let has_experiment = cause.tables.iter().any(|table| of_experiment(table))
            || placeholders(&cause.text)
                .any(|place| Place::parse(place).is_ok_and(|p| of_experiment(p.figure)));
        assert!(has_experiment, "{}: a cause needs an experiment", cause.id);
    }
}

#[test]
fn a_name_that_there_is_not_gives_the_nearest() {
    let failure = catalog().figure("late-cc-11").map(|(_, figure)| figure.id.clone()).expect_err("none");
    let text = format!("{failure:?}");
    assert!(text.contains("nearest latte-cc-11, ") && text.contains("selvedge reproduce --list"), "{text}");
}

/// Returns a sample with `cycles` cycles.
fn sample(workload: &str, mechanism: &str, cycles: u64) -> Sample {
    Sample {
        labels: Labels { workload: workload.into(), config: "c".into(), mechanism: mechanism.into() },
        share: String::new(),
        series: mechanism.into(),
        size: "tiny".into(),
        commit: None,
        report: Ok(json!({ "totals": { "cycles": cycles, "warp_instructions": 1000 } })),
    }
}

#[test]
fn a_figure_of_known_results_has_the_known_table() {
    let catalog = catalog();
    let paper: Paper = toml::from_str(
        r#"
        name = "P"
        mean = "geometric"
        [[figure]]
        id = "p-1"
        figure = "Figure 1"
        title = "T"
        metrics = ["speedup"]
        reference = { mechanism = "base" }
        value = [
            { of = "all shown", series = "fast", value = 1.5, read = "table", place = "table 1" },
            { of = "all shown", series = "slow", value = 1.2, read = "table", place = "table 1" },
            { of = "most", series = "fast", value = 4.0, read = "table", place = "table 1" },
        ]
        "#,
    )
    .expect("a paper");
    let mut samples = vec![
        sample("a", "base", 1000),
        sample("a", "fast", 500),
        sample("a", "slow", 2000),
        sample("b", "base", 1000),
        sample("b", "fast", 125),
        sample("b", "slow", 1000),
        sample("c", "base", 1000),
        // Twice the work in twice the time.
        Sample {
            report: Ok(json!({ "totals": { "cycles": 2000, "warp_instructions": 2000 } })),
            ..sample("c", "slow", 0)
        },
    ];
    samples.push(Sample { report: Err("not run".into()), ..sample("c", "fast", 0) });
    let figure = &paper.figure[0];
    let panels = panels(&catalog, &paper, figure, &samples).expect("panels");
    let text = show::text(&catalog, (&paper, figure), &samples, &panels);
    let expected = "\
p-1: P, Figure 1: T

speedup, against base
application                    base   fast   slow
a                             1.000  2.000  0.500
b                             1.000  8.000  1.000
c                             1.000  -      1.000
all shown: geometric mean of 2 of 3  1.000  4.000  0.707
";
    let expected = expected.replace("2 of 3  1.000", "2 of 3 1.000").replace("  base   fast", " base   fast");
    let squeezed = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    let (text, expected) = (squeezed(&text), squeezed(&expected));
    assert_eq!(text[..expected.len()], expected);
    assert_eq!(
        text[expected.len() + 1..expected.len() + 5],
        [
            "of series ours paper difference sign order read place",
            "all shown fast 4.000 1.500 +250.0 points right 1 of 1 table table 1",
            "all shown slow 0.707 1.200 -49.3 points wrong 1 of 1 table table 1",
            "most fast 8.000 4.000 +400.0 points right - table table 1",
        ]
    );
    assert!(text.contains(&"- c fast: not run".to_owned()), "{text:#?}");
    let csv = show::csv(figure, &panels);
    assert!(csv.contains("p-1,speedup,a,application,fast,2,,\n"), "{csv}");
    assert!(csv.contains("p-1,speedup,all shown,mean,fast,4,1.5,table\n"), "{csv}");
    let chart = show::chart(&panels[0]).expect("a chart");
    assert!(["base", "fast", "slow", "all shown"].iter().all(|name| chart.contains(name)));
    // The paper states a mean of two series; the chart has no bar for the third value.
    assert_eq!(chart.matches("<polygon").count(), 2);
    assert!(chart.contains("diamonds: the paper"));
}

/// Returns the cells of a page's tables, by row.
fn rows(page: &str) -> Vec<Vec<&str>> {
    page.lines()
        .filter(|line| line.starts_with("| "))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

/// The command writes `docs/reference/results.md` from simulations that take most of an hour. This test checks that the page
/// agrees with the embedded data, and that each large difference names its causes.
#[test]
fn the_page_of_results_has_every_claim() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/results.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let catalog = catalog();
    let rows = rows(&page);
    let mut count = 0;
    for headline in &catalog.claims.headline {
        let (_, figure) = catalog.figure(&headline.figure).expect("a figure");
        let metric = headline.metric.clone().unwrap_or_else(|| figure.metrics[0].clone());
        let unit = catalog.metric(&metric).expect("a quantity").unit;
        let is_meant = |of: &String, of_metric: &str| headline.of.contains(of) && of_metric == metric;
        for value in figure.value.iter().filter(|value| is_meant(&value.of, figure.metric_of(value))) {
            let name = [figure.id.as_str(), &value.of, &value.series];
            let row = rows.iter().find(|row| row.len() == 9 && row[..3] == name);
            let row = row.unwrap_or_else(|| panic!("{name:?}: must be in the table of claims"));
            assert_eq!(row[4], unit.change(value.value), "{name:?}");
            let points: f64 =
                row[5].trim_end_matches(" points").parse().unwrap_or_else(|_| panic!("{row:?}"));
            // The page shows rounded values.
            if (points.abs() - claims::LARGE_POINTS).abs() > 0.06 {
                assert_eq!(row[8] != "-", points.abs() > claims::LARGE_POINTS, "{row:?}");
            }
            for link in row[8].split(", ").filter(|link| *link != "-") {
                let id = link.split_once('#').map_or(link, |(_, id)| id.trim_end_matches(')'));
                assert_ne!(id, "unknown", "{row:?}");
                assert!(page.contains(&format!("\n### {id}\n")), "{row:?}: {link} has no section");
            }
            count += 1;
        }
    }
    assert!(count > 25, "{count} claims");
    for cause in &catalog.claims.cause {
        assert!(page.contains(&format!("\n### {}\n\n{}.\n", cause.id, cause.title)), "{}", cause.id);
    }
    assert!(!page.contains("(not measured)"));
    assert!(page.contains(page::HEAD.lines().next().expect("a line")));
}

#[test]
fn the_pages_of_results_have_the_counts_of_their_claims() {
    let page = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
        std::fs::read_to_string(path).expect("the page")
    };
    let tables = page("reference/results.md");
    let claims = facts::claims(&tables);
    let counts = facts::counts(&claims).markdown();
    assert!(claims.len() > 25 && tables.contains(&counts), "docs/reference/results.md must have\n{counts}");
    let front = page("results.md");
    assert!(front.contains(&counts), "docs/results.md must have\n{counts}");
    let differences: Vec<Vec<&str>> =
        rows(&front).into_iter().filter(|row| row.len() == 4 && row[1].ends_with('%')).collect();
    for row in &differences {
        let is_claim = |line: &&str| line.contains(&format!(" | {} | {} | ", row[1], row[2]));
        assert!(tables.lines().any(|line| is_claim(&line)), "docs/results.md: no claim has {row:?}");
    }
    assert!(differences.len() > 5, "{differences:?}");
}
