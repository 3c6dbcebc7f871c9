//! Counts and a chart of the headline claims, from the rows of their table. The page in the documentation has the same rows.
use super::claims::LARGE_POINTS;
use super::show::NO_VALUE;
use crate::error::Failure;
use crate::plot::{Group, Point, Scale, Scatter, scatter};
use selvedge_area::Table;

/// A claim with our value.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Name of the figure.
    pub figure: String,
    /// Group or application.
    pub of: String,
    /// Name of the series.
    pub series: String,
    /// Our ratio to the reference.
    pub ours: f64,
    /// Ratio that the paper states.
    pub paper: f64,
    /// `true` if both ratios are on the same side of 1. `None` for a quantity that is not a ratio.
    pub sign: Option<bool>,
    /// Rivals in the same order as in the paper, and all rivals.
    pub order: (usize, usize),
}

impl Claim {
    /// Reads a row of the table of claims. Returns `None` for any other row, and for a claim that is not measured.
    fn read(line: &str) -> Option<Claim> {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [figure, of, series, ours, paper, _, sign, order, _] = cells[..] else { return None };
        if !["right", "wrong", NO_VALUE].contains(&sign) {
            return None;
        }
        let ratio = |cell: &str| Some(1.0 + cell.strip_suffix('%')?.parse::<f64>().ok()? / 100.0);
        Some(Claim {
            figure: figure.into(),
            of: of.into(),
            series: series.into(),
            ours: ratio(ours)?,
            paper: ratio(paper)?,
            sign: (sign != NO_VALUE).then_some(sign == "right"),
            order: match order.split_once(" of ") {
                Some((right, all)) => (right.parse().ok()?, all.parse().ok()?),
                None => (0, 0),
            },
        })
    }

    /// Returns the difference between our value and the paper's in percentage points.
    fn points(&self) -> f64 {
        100.0 * (self.ours - self.paper)
    }

    /// Returns whether our value is near the paper's.
    fn is_near(&self) -> bool {
        self.points().abs() <= LARGE_POINTS
    }

    /// Returns the name of the claim's paper.
    fn paper_name(&self) -> &'static str {
        let paper = PAPERS.iter().find(|(prefix, _)| self.figure.starts_with(prefix));
        paper.map_or("other", |(_, name)| name)
    }
}

/// Beginnings of the names of figures, and the names of their papers.
const PAPERS: [(&str, &str); 4] =
    [("latte-cc-", "LATTE-CC"), ("lamar-", "LAMAR"), ("caba-", "CABA"), ("dai-", "Dai")];

/// Returns the claims of the tables in Markdown.
pub fn claims(text: &str) -> Vec<Claim> {
    text.lines().filter(|line| line.starts_with("| ")).filter_map(Claim::read).collect()
}

/// Returns the number of claims with each property, as a table with a row per paper.
pub fn counts(claims: &[Claim]) -> Table {
    let mut table = Table::new(&["paper", "claims", "right sign", "right order", "both", "within 10 points"]);
    let names = PAPERS.iter().map(|(_, name)| (*name, Some(*name))).chain([("all", None)]);
    for (name, only) in names {
        let of: Vec<&Claim> =
            claims.iter().filter(|one| only.is_none_or(|only| one.paper_name() == only)).collect();
        let count = Count::of(&of);
        table.row(vec![
            name.into(),
            of.len().to_string(),
            shown(count.sign),
            shown(count.order),
            shown(count.both),
            shown(count.near),
        ]);
    }
    table
}

fn shown((right, all): (usize, usize)) -> String {
    format!("{right} of {all}")
}

/// Numbers of claims that are reproduced. Each pair is the reproduced claims, and the claims that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    /// Claims with the right sign, of the claims with a sign.
    sign: (usize, usize),
    /// Claims in the right order with all rivals, of the claims with rivals.
    order: (usize, usize),
    /// Claims with right sign and order, of all.
    both: (usize, usize),
    /// Claims whose difference is at most ten percentage points, of all.
    near: (usize, usize),
}

impl Count {
    fn of(claims: &[&Claim]) -> Count {
        let mut count = Count::default();
        for one in claims {
            let sign = one.sign != Some(false);
            let order = one.order.0 == one.order.1;
            let add = |(right, all): &mut (usize, usize), is_right: bool| {
                *all += 1;
                *right += usize::from(is_right);
            };
            add(&mut count.both, sign && order);
            add(&mut count.near, one.is_near());
            if one.sign.is_some() {
                add(&mut count.sign, sign);
            }
            if one.order.1 > 0 {
                add(&mut count.order, order);
            }
        }
        count
    }
}

/// Returns the counts of all claims as a sentence.
pub fn sentence(claims: &[Claim]) -> String {
    if claims.is_empty() {
        return "No claim has all of its points.".into();
    }
    let Count { sign, order, both, near } = Count::of(&claims.iter().collect::<Vec<_>>());
    format!(
        "The sign is right for {} claims, the order for {}, and both for {}. {} are within {LARGE_POINTS} points.",
        shown(sign),
        shown(order),
        shown(both),
        shown(near)
    )
}

/// Difference in percentage points above which a claim has a label in the chart.
const LABELLED_POINTS: f64 = 25.0;

/// Labels of ratios on the axes of the chart, as changes.
const TICKS: [(f64, &str); 9] = [
    (0.6, "-40%"),
    (0.8, "-20%"),
    (1.0, "0"),
    (1.2, "+20%"),
    (1.5, "+50%"),
    (2.0, "+100%"),
    (3.0, "+200%"),
    (5.0, "+400%"),
    (7.0, "+600%"),
];

/// Returns a chart of our values over the paper's, with logarithmic axes and a color per paper.
///
/// # Errors
/// Fails if the chart cannot be drawn.
pub fn chart(claims: &[Claim]) -> Result<String, Failure> {
    let (low, high) = (0.6, 7.0);
    let point = |claim: &Claim| Point {
        at: (claim.paper.clamp(low, high), claim.ours.clamp(low, high)),
        radius: 5,
        label: (claim.points().abs() > LABELLED_POINTS).then(|| claim.series.clone()),
    };
    let groups: Vec<Group> = PAPERS
        .iter()
        .map(|(_, name)| {
            let of = claims.iter().filter(|claim| claim.paper_name() == *name);
            Group { name: (*name).into(), points: of.map(point).collect() }
        })
        .collect();
    let scale = |title| Scale {
        title,
        from: low,
        to: high,
        is_log: true,
        labels: TICKS.iter().map(|(value, label)| (*value, (*label).into())).collect(),
    };
    let near = LARGE_POINTS / 100.0;
    let steps = |shift: f64| {
        (0..=40).map(move |step| low * (high / low).powf(f64::from(step) / 40.0)).map(move |x| (x, x + shift))
    };
    let inside = |(x, y): &(f64, f64)| (low..=high).contains(x) && (low..=high).contains(y);
    let mut band: Vec<(f64, f64)> = vec![(low, low)];
    band.extend(steps(near).filter(inside));
    band.extend([(high - near, high), (high, high), (high, high - near)]);
    band.extend(steps(-near).filter(inside).collect::<Vec<_>>().into_iter().rev());
    band.push((low + near, low));
    scatter(&Scatter {
        title: "Claims of four papers: simulated change over stated change. Band: at most 10 points apart",
        x: scale("paper"),
        y: scale("Selvedge"),
        height: 640,
        groups: &groups,
        bands: &[band],
        lines: &[
            vec![(low, low), (high, high)],
            vec![(1.0, low), (1.0, high)],
            vec![(low, 1.0), (high, 1.0)],
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = "\
| figure | of | series | ours | paper | difference | sign | order | cause |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| latte-cc-11 | C-Sens | static-bdi | +9.5% | +13.6% | -4.1 points | right | 2 of 2 | - |
| latte-cc-11 | C-Sens | static-sc | +8.1% | -8.2% | +16.3 points | wrong | 1 of 2 | [a](#a) |
| lamar-9 | FG-leaning | bgp | -14.5% | -33.0% | +18.5 points | right | - | b |
| dai-40 | all pairs | qbmi | - | +15.0% | - | - | - | - |
";

    #[test]
    fn counts_and_the_chart_have_each_measured_claim() {
        let claims = claims(ROWS);
        assert_eq!(claims.len(), 3);
        let rows = counts(&claims).markdown();
        for row in [
            "| LATTE-CC | 2 | 1 of 2 | 1 of 2 | 1 of 2 | 1 of 2 |",
            "| LAMAR | 1 | 1 of 1 | 0 of 0 | 1 of 1 | 0 of 1 |",
            "| CABA | 0 | 0 of 0 | 0 of 0 | 0 of 0 | 0 of 0 |",
            "| all | 3 | 2 of 3 | 1 of 2 | 2 of 3 | 1 of 3 |",
        ] {
            assert!(rows.contains(row), "{rows}");
        }
        assert!(sentence(&claims).starts_with("The sign is right for 2 of 3 claims, the order for 1 of 2"));
        assert!(sentence(&[]).starts_with("No claim"));
        assert_eq!(chart(&claims).expect("drawn").matches("<circle").count(), 3);
    }
}
