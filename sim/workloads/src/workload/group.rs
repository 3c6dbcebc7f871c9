//! Groups of workloads with similar programs.
use strum::{Display, EnumString, VariantNames};

/// Kind of a workload's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Group {
    /// Building blocks of parallel programs: sums, scans, histograms, transforms.
    Primitives,
    /// Full matrices and vectors.
    DenseAlgebra,
    /// Sparse matrices.
    SparseAlgebra,
    /// Points of a grid that are computed from their neighbors.
    Stencils,
    /// Images: filters, transforms, tracking, rendering.
    Images,
    /// Tables whose entries depend on earlier entries.
    DynamicProgramming,
    /// Clustering and neural networks.
    Learning,
    /// The map and reduce steps of data processing.
    MapReduce,
    /// Look-ups in trees.
    Search,
    /// Walks over nodes and edges.
    Graphs,
    /// Bodies and samples that move.
    Particles,
    /// Prices of options.
    Finance,
}
