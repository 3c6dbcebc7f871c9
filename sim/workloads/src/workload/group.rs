//! Kinds of workloads, by what their programs have in common.
use std::fmt;

/// What kind of program a workload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Building blocks of parallel programs: sums, scans, histograms, transforms.
    Primitives,
    /// Full matrices and vectors.
    DenseAlgebra,
    /// Sparse matrices.
    SparseAlgebra,
    /// Points of a grid that are computed from their neighbours.
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

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Primitives => "primitives",
            Self::DenseAlgebra => "dense-algebra",
            Self::SparseAlgebra => "sparse-algebra",
            Self::Stencils => "stencils",
            Self::Images => "images",
            Self::DynamicProgramming => "dynamic-programming",
            Self::Learning => "learning",
            Self::MapReduce => "map-reduce",
            Self::Search => "search",
            Self::Graphs => "graphs",
            Self::Particles => "particles",
            Self::Finance => "finance",
        })
    }
}
