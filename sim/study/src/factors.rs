//! Factors of workloads and of mechanisms that explain best what simulations took.

use std::collections::BTreeMap;

/// Numbers of names, in the order in which they come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(pub BTreeMap<String, usize>);

impl Names {
    /// Returns the number of a name, which may be new.
    pub fn number(&mut self, name: &str) -> usize {
        let next = self.0.len();
        *self.0.entry(name.to_owned()).or_insert(next)
    }

    /// Returns how many names there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Rounds in which the factors of workloads and of mechanisms are fitted to each other.
const ROUNDS: usize = 4;

/// What one simulation took, and what was expected of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    /// Number of its workload.
    pub workload: usize,
    /// Number of its mechanism.
    pub mechanism: usize,
    /// Seconds that it took.
    pub taken: f64,
    /// Seconds that were expected.
    pub expected: f64,
}

/// What the expected seconds of a simulation are multiplied by.
#[derive(Clone, Debug)]
pub(crate) struct Factors {
    /// By workload; none of workloads without evidence.
    pub workloads: Vec<Option<f64>>,
    /// By mechanism; 1 without evidence.
    pub mechanisms: Vec<f64>,
}

impl Factors {
    /// Returns the factors of so many workloads and mechanisms that fit the evidence best: each is the geometric mean of what remains
    /// when the other is taken out. That a mechanism takes no longer than others weighs as much as `prior` simulations.
    pub fn fit(evidence: &[Evidence], workloads: usize, mechanisms: usize, prior: f64) -> Self {
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
