//! Quantities of figures, computed from the report of a run as `metrics.toml` defines.
use serde::Deserialize;
use serde_json::Value;
use strum::Display;

/// A quantity of a run, absolute or relative to another run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Title in tables.
    pub title: String,
    /// Keys of the report to add. A key with a leading `-` is subtracted.
    pub sum: Vec<String>,
    /// Keys whose sum is the divisor.
    #[serde(default)]
    pub per: Vec<String>,
    /// Keys of the reference whose sum divides the savings.
    #[serde(default)]
    pub whole: Vec<String>,
    /// Factor of the result.
    #[serde(default = "one")]
    pub scale: f64,
    /// Comparison with the reference, if any.
    pub against: Option<Against>,
    /// Kind of the values.
    pub unit: Unit,
}

fn one() -> f64 {
    1.0
}

/// Comparison of a quantity with that of the reference.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// Value divided by the reference's.
    Reference,
    /// Reference's value divided by this one.
    Inverse,
    /// Reference's value minus this one, divided by the reference's `whole`.
    Saved,
}

/// Kind of values, which decides their format.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A factor, where 1 means no change.
    Ratio,
    /// A fraction of a whole, shown in percent.
    Fraction,
    /// Any other number.
    Number,
}

impl Unit {
    /// Formats a value for tables.
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Ratio => format!("{value:.3}"),
            Unit::Fraction => format!("{:.1}%", 100.0 * value),
            Unit::Number if value.abs() >= 100.0 => format!("{value:.0}"),
            Unit::Number => format!("{value:.2}"),
        }
    }

    /// Formats a ratio as a change in percent, and other values as in tables.
    pub fn change(self, value: f64) -> String {
        match self {
            Unit::Ratio => format!("{:+.1}%", rounded(100.0 * (value - 1.0), 1)),
            _ => self.show(value),
        }
    }

    /// Returns our value minus the paper's, in percentage points except for numbers.
    pub fn difference(self, ours: f64, paper: f64) -> f64 {
        match self {
            Unit::Ratio | Unit::Fraction => 100.0 * (ours - paper),
            Unit::Number => ours - paper,
        }
    }

    /// Formats the difference for tables.
    pub fn show_difference(self, ours: f64, paper: f64) -> String {
        let difference = self.difference(ours, paper);
        match self {
            Unit::Ratio | Unit::Fraction => format!("{:+.1} points", rounded(difference, 1)),
            Unit::Number => format!("{:+.2}", rounded(difference, 2)),
        }
    }
}

/// Rounds to `digits` decimal places, without a negative zero.
fn rounded(value: f64, digits: i32) -> f64 {
    let factor = 10f64.powi(digits);
    (value * factor).round() / factor + 0.0
}

/// A mean over applications.
#[derive(Clone, Copy, Debug, Deserialize, Display, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Mean {
    /// N-th root of the product.
    Geometric,
    /// Inverse of the mean of inverses.
    Harmonic,
    /// Sum divided by the number of values.
    Arithmetic,
}

impl Mean {
    /// Returns the mean, or `None` without values. The geometric and harmonic means need values above 0, else they are
    /// `None`.
    pub fn of(self, values: &[f64]) -> Option<f64> {
        if values.is_empty() || (self != Mean::Arithmetic && values.iter().any(|value| *value <= 0.0)) {
            return None;
        }
        let count = values.len() as f64;
        Some(match self {
            Mean::Geometric => (values.iter().map(|value| value.ln()).sum::<f64>() / count).exp(),
            Mean::Harmonic => count / values.iter().map(|value| 1.0 / value).sum::<f64>(),
            Mean::Arithmetic => values.iter().sum::<f64>() / count,
        })
    }
}

impl Metric {
    /// Returns the quantity of `report`, compared with `reference` if the metric says so. Returns `None` if a report
    /// lacks a key or a divisor is 0.
    pub fn value(&self, report: &Value, reference: Option<&Value>) -> Option<f64> {
        let own = self.plain(report)?;
        let value = match self.against {
            None => own,
            Some(Against::Reference) => own / self.plain(reference?)?,
            Some(Against::Inverse) => self.plain(reference?)? / own,
            Some(Against::Saved) => (self.plain(reference?)? - own) / sum(reference?, &self.whole)?,
        };
        value.is_finite().then_some(value)
    }

    fn plain(&self, report: &Value) -> Option<f64> {
        let divisor = if self.per.is_empty() { 1.0 } else { sum(report, &self.per)? };
        Some(self.scale * sum(report, &self.sum)? / divisor)
    }
}

/// Returns the sum of keys. Dots separate the parts of a key, and a part may be an index of a list.
fn sum(report: &Value, keys: &[String]) -> Option<f64> {
    let signed = |key: &str| match key.strip_prefix('-') {
        Some(key) => look_up(report, key).map(|value| -value),
        None => look_up(report, key),
    };
    keys.iter().map(|key| signed(key)).sum()
}

fn look_up(report: &Value, key: &str) -> Option<f64> {
    let found = key.split('.').try_fold(report, |value, part| match value {
        Value::Array(list) => list.get(part.parse::<usize>().ok()?),
        value => value.get(part),
    });
    found?.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn metric(text: &str) -> Metric {
        toml::from_str(&format!("title = \"t\"\n{text}")).expect("a metric")
    }

    #[test]
    fn a_quantity_is_a_sum_over_a_sum_with_a_factor() {
        let report = json!({ "a": { "b": 6, "c": 2 }, "list": [{ "d": 5 }] });
        let metric =
            metric("sum = [\"a.b\", \"-a.c\"]\nper = [\"list.0.d\"]\nscale = 10.0\nunit = \"number\"");
        assert_eq!(metric.value(&report, None), Some(8.0));
    }

    #[test]
    fn a_missing_key_and_a_division_by_zero_give_nothing() {
        let report = json!({ "a": 1, "zero": 0 });
        assert_eq!(metric("sum = [\"b\"]\nunit = \"number\"").value(&report, None), None);
        assert_eq!(metric("sum = [\"a\"]\nper = [\"zero\"]\nunit = \"number\"").value(&report, None), None);
        let speedup = metric("sum = [\"a\"]\nagainst = \"inverse\"\nunit = \"ratio\"");
        assert_eq!(speedup.value(&report, None), None);
    }

    #[test]
    fn the_reference_divides_or_is_divided_or_is_saved_from() {
        let (report, reference) = (json!({ "a": 2, "all": 1 }), json!({ "a": 3, "all": 10 }));
        let value = |against: &str| {
            metric(&format!("sum = [\"a\"]\nwhole = [\"all\"]\nagainst = \"{against}\"\nunit = \"ratio\""))
                .value(&report, Some(&reference))
                .expect("a value")
        };
        assert!((value("reference") - 2.0 / 3.0).abs() < 1e-12);
        assert!((value("inverse") - 1.5).abs() < 1e-12);
        assert!((value("saved") - 0.1).abs() < 1e-12);
    }

    #[test]
    fn means_are_those_of_their_names() {
        let values = [1.0, 2.0, 4.0];
        assert!((Mean::Geometric.of(&values).expect("a mean") - 2.0).abs() < 1e-12);
        assert!((Mean::Harmonic.of(&values).expect("a mean") - 3.0 / 1.75).abs() < 1e-12);
        assert!((Mean::Arithmetic.of(&values).expect("a mean") - 7.0 / 3.0).abs() < 1e-12);
        assert_eq!(Mean::Geometric.of(&[1.0, 0.0]), None);
        assert_eq!(Mean::Arithmetic.of(&[]), None);
    }

    #[test]
    fn values_changes_and_differences_are_in_their_units() {
        assert_eq!(Unit::Ratio.show(1.1916), "1.192");
        assert_eq!(Unit::Ratio.change(0.754), "-24.6%");
        assert_eq!(Unit::Ratio.change(0.99999), "+0.0%");
        assert_eq!(Unit::Ratio.show_difference(1.071, 1.136), "-6.5 points");
        assert_eq!(Unit::Fraction.show(0.5364), "53.6%");
        assert_eq!(Unit::Number.show_difference(1.5, 1.25), "+0.25");
    }
}
