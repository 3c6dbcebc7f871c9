//! Kinds of workloads, by what their programs have in common.
use strum::{Display, EnumString, VariantNames};

/// What kind of program a workload is.
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
    /// Tables in which an entry follows from earlier ones.
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
