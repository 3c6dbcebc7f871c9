//! Workloads: kernels that the papers ran, each with its host program, its inputs and a CPU reference.
//!
//! A [`Workload`] is a description and a factory. [`Workload::start`] returns a [`HostProgram`], the host side as a
//! state machine that a simulator drives. It allocates and fills device memory, returns one [`Launch`] after another,
//! and reads flags back between them. Finally it compares the results with the CPU reference. A seeded generator
//! makes the inputs, so that two runs have the same bytes. Some workloads can read a real input file instead. The
//! CUDA C sources and the compiled PTX are in `sim/workloads/kernels/`.
mod atax;
mod backprop;
mod barnes_hut;
mod betweenness;
mod bfs;
mod bfs_worklist;
mod bicg;
mod binomial;
mod btree;
mod check;
mod coloring;
mod conv2d;
mod convolution_separable;
mod covariance;
mod dct;
mod error;
mod fdtd2d;
mod floyd_warshall;
mod gesummv;
mod graph;
mod group;
mod heartwall;
mod helpers;
mod histogram;
mod hotspot;
mod input;
#[cfg(test)]
mod input_fuzz;
mod interface;
mod inverted_index;
mod kmeans;
mod kmeans_records;
mod laplace;
mod lavamd;
mod lud;
mod mars;
mod matmul;
mod measure;
mod mis;
mod monte_carlo;
mod mst;
mod mummer;
mod mvt;
mod needleman_wunsch;
mod neural_net;
mod octree;
mod page_views;
mod pagerank;
mod particle_filter;
mod pathfinder;
mod plan;
pub(crate) mod random;
mod raytrace;
mod registers;
#[cfg(test)]
mod run_tests;
mod scalar_product;
mod scan;
mod similarity;
mod spmv;
mod spmv_jds;
mod srad;
mod sssp;
mod sssp_ell;
mod streamcluster;
mod suffix_tree;
mod survey_propagation;
mod syr2k;
mod syrk;
#[cfg(test)]
mod testing;
mod tone_map;
mod transpose;
mod vecadd;
mod walsh;
mod weather;
mod word_count;

pub use error::WorkloadError;
pub use group::Group;
pub use interface::{HostProgram, Launch, OutputFile, Size, Workload};
pub use measure::{LineSet, MeasureError, Meter, TABLE, WorkloadWork, measure, measured, rows, table};
use selvedge_hw::names;
pub use selvedge_ptx::ptx::{Arg, LaunchDims};

/// Returns all built-in workloads, in the order of tables.
pub fn all() -> &'static [&'static dyn Workload] {
    &[
        &vecadd::VECADD,
        &atax::ATAX,
        &bicg::BICG,
        &mvt::MVT,
        &gesummv::GESUMMV,
        &syrk::SYRK,
        &syr2k::SYR2K,
        &covariance::COVARIANCE,
        &matmul::MATMUL,
        &matmul::MM3,
        &conv2d::CONV2D,
        &fdtd2d::FDTD2D,
        &tone_map::TONE_MAP,
        &transpose::TRANSPOSE,
        &pathfinder::PATHFINDER,
        &needleman_wunsch::NEEDLEMAN_WUNSCH,
        &spmv::SPMV,
        &lud::LUD,
        &floyd_warshall::FLOYD_WARSHALL,
        &laplace::LAPLACE,
        &histogram::HISTOGRAM,
        &scalar_product::SCALAR_PRODUCT,
        &scalar_product::SCALAR_PRODUCT_CACHED,
        &scan::SCAN,
        &walsh::WALSH,
        &backprop::BACKPROP,
        &srad::SRAD,
        &srad::SRAD_TILED,
        &streamcluster::STREAMCLUSTER,
        &particle_filter::PARTICLE_FILTER,
        &convolution_separable::CONVOLUTION_SEPARABLE,
        &dct::DCT,
        &binomial::BINOMIAL,
        &similarity::SIMILARITY,
        &btree::BTREE,
        &word_count::WORD_COUNT,
        &survey_propagation::SURVEY_PROPAGATION,
        &barnes_hut::BARNES_HUT,
        &raytrace::RAYTRACE,
        &lavamd::LAVAMD,
        &mummer::MUMMER,
        &monte_carlo::MONTE_CARLO,
        &neural_net::NEURAL_NET,
        &weather::WEATHER,
        &spmv_jds::SPMV_JDS,
        &heartwall::HEARTWALL,
        &inverted_index::INVERTED_INDEX,
        &page_views::PAGE_VIEW_COUNT,
        &page_views::PAGE_VIEW_RANK,
        &kmeans_records::KMEANS_RECORDS,
        &sssp::SSSP,
        &sssp_ell::SSSP_ELL,
        &pagerank::PAGERANK,
        &betweenness::BETWEENNESS,
        &mis::MIS,
        &coloring::COLORING,
        &mst::MST,
        &bfs_worklist::BFS_WORKLIST,
        &bfs::Bfs,
        &hotspot::Hotspot,
        &kmeans::KMeans,
        &kmeans::KMEANS_SWAP,
    ]
}

/// Returns the workload called `name`.
///
/// # Errors
/// [`WorkloadError::UnknownWorkload`] with the nearest names.
pub fn find(name: &str) -> Result<&'static dyn Workload, WorkloadError> {
    let found = all().iter().copied().find(|workload| workload.name() == name);
    found.ok_or_else(|| WorkloadError::UnknownWorkload {
        name: name.to_owned(),
        allowed: names::allowed(
            name,
            all().iter().map(|workload| workload.name()),
            "selvedge list workloads",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::helpers::WITH_INPUT;
    use super::interface::RACING;
    use super::*;

    #[test]
    fn names_are_found_and_unknown_ones_refused() {
        for workload in all() {
            assert_eq!(find(workload.name()).unwrap().name(), workload.name());
        }
        let refused = find("vecad").err().unwrap().to_string();
        assert!(refused.starts_with("unknown workload 'vecad': must be one of "), "{refused}");
        assert!(refused.contains("nearest vecadd; "), "{refused}");
        assert_eq!(all().iter().filter(|workload| workload.races()).count(), RACING.len());
    }

    /// Expected names from the tables of the papers: LATTE-CC's III, LAMAR's 3, Dai's 2.
    #[test]
    fn a_papers_short_name_leads_to_the_workload_that_it_means() {
        for (name, words) in [
            ("pathfinder", "LATTE-CC (PTH)"),
            ("particle_filter", "LATTE-CC (PF)"),
            ("word_count", "LATTE-CC (WC)"),
            ("histogram", "Dai, chapter 2 (HST)"),
            ("scalar_product_cached", "Dai, chapter 2 (SCP)"),
            ("streamcluster", "LAMAR (SCLST)"),
        ] {
            let papers = find(name).unwrap().papers();
            assert!(papers.contains(words), "{name}: {papers}");
        }
    }

    #[test]
    fn the_workloads_with_an_input_file_are_listed() {
        let named = all().iter().filter(|workload| workload.input().is_some());
        assert_eq!(named.map(|workload| workload.name()).collect::<Vec<_>>(), WITH_INPUT);
    }

    #[test]
    fn sizes_are_lower_case_words() {
        for size in Size::ALL {
            assert_eq!(size.to_string().parse::<Size>().unwrap(), size);
        }
        let refused = "Tiny".parse::<Size>().unwrap_err().to_string();
        assert_eq!(refused, "unknown size 'Tiny': must be tiny, small, study, paper");
    }
}
