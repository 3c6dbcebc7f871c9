//! Charts of the documentation, from its tables.
use super::facts::{self, Claim};
use crate::error::Failure;
use crate::output::Plan;
use crate::plot::{Group, Point, Scale, Scatter, scatter};
use crate::report::{Area, documented};
use std::fs;
use std::path::Path;

/// Writes the charts of the documentation in the folder `docs`.
///
/// # Errors
/// Fails if a page cannot be read or a chart cannot be written.
pub fn write(docs: &Path) -> Result<(), Failure> {
    let all = pictures(docs)?;
    let mut plan = Plan::default();
    all.iter().for_each(|(file, _)| plan.write("--pictures", &docs.join(file)));
    let mut outputs = plan.check()?;
    all.iter().for_each(|(file, chart)| outputs.write(&docs.join(file), chart));
    outputs.finish(None)
}

/// Returns the charts with their files below the folder `docs`.
fn pictures(docs: &Path) -> Result<[(&'static str, String); 3], Failure> {
    let page = |name: &str| {
        let path = docs.join("reference").join(name);
        fs::read_to_string(&path).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
    };
    let claims = facts::claims(&page("results.md")?);
    Ok([
        ("images/claims.svg", facts::chart(&claims)?),
        ("images/area-speedup.svg", area_speedup(&documented(&page("area-systems.md")?), &claims)?),
        ("images/validation.svg", validation(&page("validation.md")?)?),
    ])
}

/// Figures with the speedups of mechanisms: name, class of applications, and paper.
const SPEEDUPS: [(&str, &str, &str); 5] = [
    ("latte-cc-11", "C-Sens", "LATTE-CC"),
    ("lamar-11", "FG-leaning", "LAMAR"),
    ("caba-8", "all", "CABA"),
    ("dai-6", "HCC, chapter 2", "Dai, chapter 2"),
    ("dai-40", "all pairs", "Dai, chapter 4"),
];

/// Returns a chart of speedup over area, with a bubble for each mechanism that has both.
fn area_speedup(areas: &[Area], claims: &[Claim]) -> Result<String, Failure> {
    let most = areas.iter().map(|area| area.memory_bits).max().unwrap_or(1).max(1) as f64;
    let point = |claim: &Claim| {
        let name = claim.series.rsplit(", ").next().unwrap_or_default();
        let area = areas.iter().find(|area| area.mechanism == name)?;
        Some(Point {
            at: (area.kge, 100.0 * (claim.ours - 1.0)),
            radius: 5 + (25.0 * (area.memory_bits as f64 / most).sqrt()).round() as i32,
            label: Some(name.into()),
        })
    };
    let groups: Vec<Group> = SPEEDUPS
        .iter()
        .map(|(figure, of, name)| {
            let shown = claims.iter().filter(|claim| claim.figure == *figure && claim.of == *of);
            Group { name: (*name).into(), points: shown.filter_map(point).collect() }
        })
        .collect();
    let kge = [
        (3.0, "3"),
        (10.0, "10"),
        (30.0, "30"),
        (100.0, "100"),
        (300.0, "300"),
        (1000.0, "1,000"),
        (3000.0, "3,000"),
        (10000.0, "10,000"),
    ];
    let change = [(-10.0, "-10%"), (0.0, "0"), (10.0, "+10%"), (20.0, "+20%"), (30.0, "+30%")];
    scatter(&Scatter {
        title: "Speedup over area of the cells in the whole GPU. Bubble: bits in memories",
        x: scale("area, kGE", (3.0, 10000.0), true, &kge),
        y: scale("change of speed", (-12.0, 35.0), false, &change),
        height: 460,
        groups: &groups,
        bands: &[],
        lines: &[vec![(3.0, 0.0), (10000.0, 0.0)]],
    })
}

fn scale(title: &'static str, (from, to): (f64, f64), is_log: bool, labels: &[(f64, &str)]) -> Scale {
    let labels = labels.iter().map(|(value, label)| (*value, (*label).to_owned())).collect();
    Scale { title, from, to, is_log, labels }
}

/// Configurations in the order of the columns with ratios, then the programs.
const COMPARED: [&str; 6] = [
    "GTX480 of 3.2.2",
    "GTX480 of 4.2",
    "TITAN V",
    "RTX 3070",
    "programs, GTX480 of 4.2",
    "programs, QV100 and RTX 3070",
];

/// A ratio to GPGPU-Sim: name of the kernel or program, place in `COMPARED`, and value.
type Ratio<'a> = (&'a str, usize, f64);

/// Returns the ratios in the tables of a page, by the number of their columns.
fn ratios(page: &str) -> Vec<Ratio<'_>> {
    let mut found = Vec::new();
    let part = page.split("\n## Counts").next().unwrap_or_default();
    let programs = page.split("\n## Programs").nth(1).and_then(|rest| rest.split("\n## ").next());
    for (text, is_program) in [(part, false), (programs.unwrap_or_default(), true)] {
        for line in text.lines().filter(|line| line.starts_with("| ")) {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let columns: &[(usize, usize)] = match (is_program, cells.len()) {
                (false, 7) => &[(3, 0), (6, 1)],
                (false, 8) => &[(3, 2), (6, 3)],
                (true, 5) => &[(4, 4)],
                (true, 6) => &[(5, 4)],
                (true, 9) => &[(5, 5), (8, 5)],
                _ => &[],
            };
            let value =
                |(column, group): &(usize, usize)| Some((cells[0], *group, cells[*column].parse().ok()?));
            found.extend(columns.iter().filter_map(value));
        }
    }
    found
}

/// Returns a chart with the ratios of cycles to GPGPU-Sim, a row for each kernel and program.
fn validation(page: &str) -> Result<String, Failure> {
    let ratios = ratios(page);
    let mut names: Vec<&str> = Vec::new();
    for (name, ..) in &ratios {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let ticks = [
        (0.8, "0.80"),
        (0.85, "0.85"),
        (0.9, "0.90"),
        (0.95, "0.95"),
        (1.0, "1.00"),
        (1.05, "1.05"),
        (1.1, "1.10"),
        (1.15, "1.15"),
        (1.2, "1.20"),
    ];
    let x = scale("cycles of Selvedge over cycles of GPGPU-Sim 4.2", (0.78, 1.22), true, &ticks);
    let end = names.len() as f64 - 0.5;
    let labels: Vec<(f64, &str)> = names.iter().enumerate().map(|(at, name)| (at as f64, *name)).collect();
    let y = scale("kernel or program", (end, -0.5), false, &labels);
    let point = |(name, group, ratio): &Ratio<'_>| {
        let row = names.iter().position(|one| one == name).unwrap_or_default() as f64;
        // Dots of a kernel's configurations are slightly apart.
        let shift = if *group < 4 { 0.18 * (*group as f64 - 1.5) } else { 0.0 };
        let is_shown = x.contains(*ratio);
        Point {
            at: (ratio.clamp(x.from, x.to), row + shift),
            radius: 4,
            label: (!is_shown).then(|| format!("{ratio} (outside the axis)")),
        }
    };
    let groups: Vec<Group> = COMPARED
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let of = ratios.iter().filter(|(_, group, _)| *group == at);
            Group { name: (*name).into(), points: of.map(point).collect() }
        })
        .collect();
    let band = vec![(0.95, -0.5), (1.05, -0.5), (1.05, end), (0.95, end)];
    scatter(&Scatter {
        title: "Cycles against GPGPU-Sim. Band: at most 5% apart",
        x: x.clone(),
        y,
        height: 24 * names.len() as u32 + 60,
        groups: &groups,
        bands: &[band],
        lines: &[vec![(1.0, -0.5), (1.0, end)]],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docs() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/docs"))
    }

    #[test]
    fn the_pictures_of_the_documentation_are_those_of_its_tables() {
        for (file, chart) in pictures(docs()).unwrap_or_else(|failure| panic!("{failure:?}")) {
            let shown = fs::read_to_string(docs().join(file)).unwrap_or_default();
            assert!(shown == chart, "docs/{file} is stale: selvedge reproduce --pictures docs");
        }
    }

    #[test]
    fn every_mechanism_with_an_area_and_every_ratio_has_a_point() {
        let page =
            |name: &str| fs::read_to_string(docs().join("reference").join(name)).expect("the page is there");
        let areas = documented(&page("area-systems.md"));
        let chart = area_speedup(&areas, &facts::claims(&page("results.md"))).expect("drawn");
        assert_eq!(chart.matches("<circle").count(), areas.len());
        let page = page("validation.md");
        let found = ratios(&page);
        assert_eq!(
            (0..6).map(|at| found.iter().filter(|one| one.1 == at).count()).collect::<Vec<_>>(),
            [9, 9, 8, 8, 20, 10]
        );
        assert!(found.contains(&("chain", 3, 0.964)) && found.contains(&("rep", 4, 1.146)), "{found:?}");
    }

    #[test]
    fn the_page_of_validation_has_the_number_of_near_ratios() {
        let page = |name: &str| fs::read_to_string(docs().join(name)).expect("the page is there");
        let tables = page("reference/validation.md");
        let ratios = ratios(&tables);
        // The traces of atomics are not programs.
        let is_trace = |name: &str| ["atomchain", "atomsame", "redstream"].contains(&name);
        let counted = |is_program: bool| {
            let some = ratios.iter().filter(|(name, at, _)| (*at >= 4) == is_program && !is_trace(name));
            let near: Vec<bool> = some.map(|(_, _, ratio)| (ratio - 1.0).abs() < 0.0505).collect();
            (near.iter().filter(|near| **near).count(), near.len())
        };
        let ((near, kernels), (near_programs, programs)) = (counted(false), counted(true));
        let words = format!(
            "{near} of {kernels} kernel ratios and {near_programs} of {programs} program ratios are within 5%"
        );
        assert!(page("validation.md").contains(&words), "docs/validation.md must say: {words}");
    }
}
