//! Scatter plot of simulated over measured cycles.
use crate::error::Failure;
use crate::plot::{Group, Point, Scale, Scatter, scatter};
use selvedge_sim::calibration::{Agreement, KernelPair};

/// Units of work, each a color.
const UNITS: [&str; 6] = ["instruction", "load", "byte", "atomic", "operation", "launch"];
/// Error from which a point has a label.
const LABELED: f64 = 0.1;

/// Draws the chart. The line is equality, the band an error of at most 10%.
pub fn draw(title: &str, found: &Agreement) -> Result<String, Failure> {
    let values = || found.pairs.iter().flat_map(|pair| [pair.measured, pair.simulated]);
    let power = |value: f64, round: fn(f64) -> f64| 10f64.powf(round(value.log10()));
    let low = power(values().fold(f64::INFINITY, f64::min), f64::floor);
    let high = power(values().fold(0.0, f64::max), f64::ceil).max(10.0 * low);
    let mut units: Vec<&str> = UNITS.to_vec();
    for pair in &found.pairs {
        if !units.contains(&pair.unit.as_str()) {
            units.push(&pair.unit);
        }
    }
    let groups: Vec<Group> = units
        .into_iter()
        .map(|unit| Group {
            name: unit.into(),
            points: found.pairs.iter().filter(|pair| pair.unit == unit).map(point).collect(),
        })
        .filter(|group| !group.points.is_empty())
        .collect();
    let decades = (high / low).log10().round() as i32;
    let labels = (0..=decades).map(|n| low * 10f64.powi(n)).map(|value| (value, label(value)));
    let labels: Vec<(f64, String)> = labels.collect();
    let scale = |title| Scale { title, from: low, to: high, is_log: true, labels: labels.clone() };
    let near = 1.0 + LABELED;
    let band = vec![
        (low, low),
        (low, low * near),
        (high / near, high),
        (high, high),
        (high, high / near),
        (low * near, low),
    ];
    scatter(&Scatter {
        title,
        x: scale("measured cycles per unit"),
        y: scale("simulated cycles per unit"),
        height: 640,
        groups: &groups,
        bands: &[band],
        lines: &[vec![(low, low), (high, high)]],
    })
}

fn point(pair: &KernelPair) -> Point {
    let label = (pair.error().abs() > LABELED).then(|| pair.title.clone());
    Point { at: (pair.measured, pair.simulated), radius: 4, label }
}

/// Returns a power of ten as a decimal number.
fn label(value: f64) -> String {
    let digits = (-value.log10()).ceil().clamp(0.0, 12.0) as usize;
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_every_point_and_labels_large_errors() {
        let pair = |title: &str, unit: &str, measured, simulated| KernelPair {
            name: title.into(),
            title: title.into(),
            unit: unit.into(),
            measured,
            simulated,
        };
        let pairs = vec![
            pair("near", "load", 100.0, 105.0),
            pair("far", "load", 100.0, 150.0),
            pair("rate", "byte", 0.002, 0.002),
            pair("new", "tile", 1.0, 1.0),
        ];
        let text = draw("T", &Agreement { pairs, alone: Vec::new() }).expect("drawn");
        assert_eq!(text.matches("<circle").count(), 4);
        assert!(["far", "tile", "0.001", "1000"].iter().all(|word| text.contains(word)), "{text}");
        assert!(!text.contains("near") && !text.contains("launch"), "{text}");
    }
}
