//! Error of a simulated GPU against a measured one, kernel by kernel.
use super::measured::{Calibration, KernelTime};

/// A kernel's measured and simulated time.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelPair {
    /// Name of the kernel.
    pub name: String,
    /// Kernel with its parameters.
    pub title: String,
    /// Unit of work.
    pub unit: String,
    /// Measured core cycles per unit.
    pub measured: f64,
    /// Simulated core cycles per unit.
    pub simulated: f64,
}

impl KernelPair {
    /// Returns the relative error: (simulated - measured) / measured.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.simulated / self.measured - 1.0
    }
}

/// The kernels of two devices side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// Kernels of both devices, in the order of the measured one.
    pub pairs: Vec<KernelPair>,
    /// Kernels of one device alone.
    pub alone: Vec<String>,
}

impl Agreement {
    /// Returns the mean of the absolute relative errors; `None` without a pair.
    #[must_use]
    pub fn mean_error(&self) -> Option<f64> {
        let sum: f64 = self.pairs.iter().map(|pair| pair.error().abs()).sum();
        (!self.pairs.is_empty()).then(|| sum / self.pairs.len() as f64)
    }

    /// Returns Pearson's correlation of the logarithms of the cycles, because cycles per byte and cycles per launch differ by seven
    /// orders of magnitude. `None` if all kernels of a device take the same time.
    #[must_use]
    pub fn correlation(&self) -> Option<f64> {
        let count = self.pairs.len() as f64;
        let logs = || self.pairs.iter().map(|pair| (pair.measured.ln(), pair.simulated.ln()));
        let (x, y) = logs().fold((0.0, 0.0), |(x, y), (a, b)| (x + a / count, y + b / count));
        let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
        for (a, b) in logs() {
            xx += (a - x) * (a - x);
            yy += (b - y) * (b - y);
            xy += (a - x) * (b - y);
        }
        (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
    }
}

/// Pairs kernels of the same name and parameters.
#[must_use]
pub fn agreement(measured: &Calibration, simulated: &Calibration) -> Agreement {
    let is_same = |a: &KernelTime, b: &KernelTime| a.name == b.name && a.parameters == b.parameters;
    let mut found = Agreement { pairs: Vec::new(), alone: Vec::new() };
    for kernel in &measured.kernels {
        match simulated.kernels.iter().find(|other| is_same(kernel, other)) {
            None => found.alone.push(format!("{} (measured)", kernel.title())),
            Some(other) => found.pairs.push(KernelPair {
                name: kernel.name.clone(),
                title: kernel.title(),
                unit: kernel.unit.clone(),
                measured: kernel.cycles_per_unit(),
                simulated: other.cycles_per_unit(),
            }),
        }
    }
    let is_known = |kernel: &&KernelTime| !measured.kernels.iter().any(|other| is_same(kernel, other));
    found.alone.extend(
        simulated.kernels.iter().filter(is_known).map(|kernel| format!("{} (simulated)", kernel.title())),
    );
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(values: &[(f64, f64)]) -> Agreement {
        let pair = |(measured, simulated): &(f64, f64)| KernelPair {
            name: "k".into(),
            title: "k".into(),
            unit: "load".into(),
            measured: *measured,
            simulated: *simulated,
        };
        Agreement { pairs: values.iter().map(pair).collect(), alone: Vec::new() }
    }

    #[test]
    fn the_mean_error_counts_both_directions() {
        let found = pairs(&[(100.0, 110.0), (10.0, 7.0)]);
        assert!((found.mean_error().expect("pairs") - 0.2).abs() < 1e-12);
        assert_eq!(pairs(&[]).mean_error(), None);
    }

    #[test]
    fn a_constant_factor_correlates_fully_and_a_reversed_order_negatively() {
        let factor = pairs(&[(1.0, 2.0), (10.0, 20.0), (1000.0, 2000.0)]).correlation().expect("it varies");
        assert!((factor - 1.0).abs() < 1e-12, "{factor}");
        let reversed = pairs(&[(1.0, 100.0), (10.0, 10.0), (100.0, 1.0)]).correlation().expect("it varies");
        assert!((reversed + 1.0).abs() < 1e-12, "{reversed}");
        assert_eq!(pairs(&[(1.0, 2.0), (3.0, 2.0)]).correlation(), None);
    }
}
