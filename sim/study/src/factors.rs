//! Fits factors of workloads and of mechanisms to the measured times of simulations.

use std::collections::BTreeMap;

/// Indices of names, in the order of their first use.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameIndices(pub BTreeMap<String, usize>);

impl NameIndices {
    /// Returns the index of a name; adds the name if it is new.
    pub fn number(&mut self, name: &str) -> usize {
        let next = self.0.len();
        *self.0.entry(name.to_owned()).or_insert(next)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Number of alternating fits of workload and mechanism factors.
const ROUNDS: usize = 4;

/// Measured and expected time of one simulation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimedRun {
    /// Index of the workload.
    pub workload: usize,
    /// Index of the mechanism.
    pub mechanism: usize,
    /// Measured seconds.
    pub taken: f64,
    /// Expected seconds.
    pub expected: f64,
}

/// Factors by which the expected seconds of a simulation are multiplied.
#[derive(Clone, Debug)]
pub(crate) struct Factors {
    /// Factor of each workload; `None` without evidence.
    pub workloads: Vec<Option<f64>>,
    /// Factor of each mechanism; 1 without evidence.
    pub mechanisms: Vec<f64>,
}

impl Factors {
    /// Fits the factors to the evidence. Each factor is the geometric mean of measured / expected time, after division by the
    /// other factor. For mechanisms, a factor of 1 has the weight of `prior` simulations.
    pub fn fit(evidence: &[TimedRun], workloads: usize, mechanisms: usize, prior: f64) -> Self {
        let mut factors = Factors { workloads: vec![None; workloads], mechanisms: vec![1.0; mechanisms] };
        for _ in 0..ROUNDS {
            let mut sums = vec![(0.0, 0.0); workloads];
            for one in evidence {
                let rest = one.taken / (one.expected * factors.mechanisms[one.mechanism]);
                sums[one.workload].0 += rest.ln();
                sums[one.workload].1 += 1.0;
            }
            factors.workloads = sums
                .into_iter()
                .map(|(sum, count): (f64, f64)| (count > 0.0).then(|| (sum / count).exp()))
                .collect();
            let mut sums = vec![(0.0, 0.0); mechanisms];
            for one in evidence {
                let rest = one.taken / (one.expected * factors.workloads[one.workload].unwrap_or(1.0));
                sums[one.mechanism].0 += rest.ln();
                sums[one.mechanism].1 += 1.0;
            }
            factors.mechanisms =
                sums.into_iter().map(|(sum, count): (f64, f64)| (sum / (count + prior)).exp()).collect();
        }
        factors
    }
}
