//! An axis with chosen labels, linear or logarithmic.
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// An axis from one value to another. `from` may be the larger value.
#[derive(Clone, Debug)]
pub struct Scale {
    /// Title of the axis.
    pub title: &'static str,
    /// Value at the left or lower end.
    pub from: f64,
    /// Value at the right or upper end.
    pub to: f64,
    /// `true` if equal distances are equal ratios. Both ends must then be above 0.
    pub is_log: bool,
    /// Values with a label.
    pub labels: Vec<(f64, String)>,
}

impl Scale {
    /// Returns the position of a value on the axis, 0 at `from` and 1 at `to`.
    fn place(&self, value: f64) -> f64 {
        let of = |value: f64| if self.is_log { value.ln() } else { value };
        (of(value) - of(self.from)) / (of(self.to) - of(self.from))
    }

    /// Returns whether the axis has the value.
    pub fn contains(&self, value: f64) -> bool {
        (0.0..=1.0).contains(&self.place(value))
    }

    /// Returns the number of characters of the longest label.
    pub fn longest(&self) -> u32 {
        self.labels.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0) as u32
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        first + (f64::from(last - first) * self.place(*value)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.labels.iter().map(|(value, _)| *value).collect()
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        let label = self.labels.iter().find(|(at, _)| at == value);
        label.map_or(String::new(), |(_, label)| label.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(from: f64, to: f64, is_log: bool) -> Scale {
        Scale { title: "t", from, to, is_log, labels: vec![(1.0, "one".into()), (4.0, "four".into())] }
    }

    #[test]
    fn equal_ratios_are_equally_far_apart_on_a_logarithmic_axis() {
        let log = scale(0.25, 4.0, true);
        assert_eq!(
            [0.25, 0.5, 1.0, 2.0, 4.0].map(|value| log.map(&value, (100, 500))),
            [100, 200, 300, 400, 500]
        );
        let linear = scale(4.0, -4.0, false);
        assert_eq!([4.0, 0.0, -4.0].map(|value| linear.map(&value, (0, 80))), [0, 40, 80]);
        assert!(log.contains(0.25) && !log.contains(0.2) && !log.contains(4.1));
        assert_eq!((log.format_ext(&4.0).as_str(), log.longest()), ("four", 4));
    }
}
