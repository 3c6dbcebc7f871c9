//! Classes into which the papers sort applications, and the values that the papers print.
use schemars::JsonSchema;
use selvedge_sim::workload::{self, WorkloadError};
use serde::Serialize;
use strum::{Display, EnumString, VariantNames};

/// Values that the papers print, each with its table.
const PAPERS: &str = include_str!("papers.tsv");

/// A paper, or a chapter of the dissertation.
#[derive(Clone, Copy, Debug, Display, EnumString, PartialEq, Eq, JsonSchema, Serialize, VariantNames)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Paper {
    /// CABA.
    Caba,
    /// LAMAR.
    Lamar,
    /// LATTE-CC.
    LatteCc,
    /// Dai, chapter 2.
    #[strum(serialize = "dai-2")]
    #[serde(rename = "dai-2")]
    Dai2,
    /// Dai, chapter 3.
    #[strum(serialize = "dai-3")]
    #[serde(rename = "dai-3")]
    Dai3,
    /// Dai, chapter 4.
    #[strum(serialize = "dai-4")]
    #[serde(rename = "dai-4")]
    Dai4,
}

impl Paper {
    /// Returns the built-in configuration that describes the paper's GPU.
    pub fn configuration(self) -> &'static str {
        match self {
            Paper::Caba => "gtx480-caba",
            Paper::Lamar => "gtx480-lamar",
            Paper::LatteCc => "gtx480-latte-cc",
            Paper::Dai2 => "gtx480-dai",
            Paper::Dai3 => "maxwell-dai-ch3",
            Paper::Dai4 => "maxwell-dai-ch4",
        }
    }
}

/// Measured quantity for which a paper prints values.
#[derive(Clone, Copy, Debug, EnumString, PartialEq, Eq, JsonSchema, Serialize)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Class of LATTE-CC, from an L1D of four times the size.
    #[strum(serialize = "l1d-4x")]
    #[serde(rename = "l1d-4x")]
    L1d4x,
    /// Sectors used per block (LAMAR).
    Sectors,
    /// Class of Dai, from a large L1D.
    #[strum(serialize = "l1d-large")]
    #[serde(rename = "l1d-large")]
    L1dLarge,
    /// Type of kernel by Dai, from the stalls of the load/store units in percent.
    Type,
    /// Compute instructions per memory instruction (Dai).
    ComputePerMemory,
    /// Line requests per memory instruction (Dai).
    RequestsPerMemory,
    /// Miss rate of the L1Ds (Dai).
    L1dMissRate,
    /// Reservation failures of the L1Ds per access (Dai).
    L1dFailures,
    /// Misses of the L1Ds per thousand thread instructions (Dai).
    L1dMpki,
    /// Registers of a full SM's CTAs in percent (Dai).
    RegistersPercent,
    /// Shared memory of a full SM's CTAs in percent (Dai).
    SharedPercent,
    /// Threads of a full SM's CTAs in percent (Dai).
    ThreadsPercent,
    /// Evaluation by CABA, which requires a compressibility of 10 percent. Measured is the best ratio of BDI, FPC and C-Pack.
    Evaluated,
    /// The algorithm that compresses best (CABA). Measured is the ratio of BDI over the best one of FPC and C-Pack.
    BestCodec,
    /// Mean use of the DRAM's bandwidth in percent (CABA).
    MeanBandwidth,
}

impl Quantity {
    /// Returns the title in tables.
    pub fn title(self) -> &'static str {
        match self {
            Quantity::L1d4x => "4x L1D",
            Quantity::Sectors => "sectors",
            Quantity::L1dLarge => "2 MB L1D",
            Quantity::Type => "LSU stalls %",
            Quantity::ComputePerMemory => "Cinst/Minst",
            Quantity::RequestsPerMemory => "Req/Minst",
            Quantity::L1dMissRate => "L1D miss rate",
            Quantity::L1dFailures => "L1D failures/access",
            Quantity::L1dMpki => "L1D MPKI",
            Quantity::RegistersPercent => "registers %",
            Quantity::SharedPercent => "shared memory %",
            Quantity::ThreadsPercent => "threads %",
            Quantity::Evaluated => "compression",
            Quantity::BestCodec => "BDI/other codecs",
            Quantity::MeanBandwidth => "mean DRAM busy %",
        }
    }
}

/// A value that a paper prints.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
pub struct Printed {
    /// The workload, `-` for a mean over several.
    #[serde(skip)]
    pub workload: &'static str,
    /// Paper that prints the value.
    pub paper: Paper,
    /// Name of the workload in the paper.
    pub name: &'static str,
    /// Quantity of the value.
    pub quantity: Quantity,
    /// Printed value.
    pub value: &'static str,
    /// The table, figure or section that prints it.
    pub source: &'static str,
}

/// Returns all values that the papers print.
pub fn printed() -> impl Iterator<Item = Printed> {
    PAPERS.lines().skip(1).filter_map(|line| {
        let mut cells = line.split('\t');
        Some(Printed {
            workload: cells.next()?,
            paper: cells.next()?.parse().ok()?,
            name: cells.next()?,
            quantity: cells.next()?.parse().ok()?,
            value: cells.next()?,
            source: cells.next()?,
        })
    })
}

/// Returns the workloads to classify: the named ones, or all. With `paper`, returns only workloads that the paper
/// evaluates.
///
/// # Errors
/// Fails if no workload has a given name.
pub fn chosen(
    names: &[String],
    paper: Option<Paper>,
) -> Result<Vec<&'static dyn workload::Workload>, WorkloadError> {
    let named = names.iter().map(|name| workload::find(name)).collect::<Result<Vec<_>, _>>()?;
    let all = if named.is_empty() { workload::all().to_vec() } else { named };
    let has = |paper, name| printed().any(|one| one.paper == paper && one.workload == name);
    Ok(all.into_iter().filter(|one| paper.is_none_or(|paper| has(paper, one.name()))).collect())
}

/// Returns LATTE-CC's class (section IV-B). A workload is sensitive to the cache if four times the L1D speeds it up by
/// more than 20 percent.
pub fn latte_cc(speedup: f64) -> &'static str {
    if speedup > 1.2 { "C-Sens" } else { "C-InSens" }
}

/// Returns Dai's class (section 2.4). A workload is highly contended if a large L1D speeds it up by more than 50
/// percent.
pub fn dai(speedup: f64) -> &'static str {
    if speedup > 1.5 { "HCC" } else { "LCC" }
}

/// Returns LAMAR's class (section 4.4). A workload leans to coarse granularity if it uses more than two sectors of a
/// block on average.
pub fn lamar(sectors: f64) -> &'static str {
    if sectors > 2.0 { "CG" } else { "FG" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_begin_above_their_borders() {
        assert_eq!([latte_cc(1.2), latte_cc(1.201)], ["C-InSens", "C-Sens"]);
        assert_eq!([dai(1.5), dai(1.501)], ["LCC", "HCC"]);
        assert_eq!([lamar(2.0), lamar(2.001)], ["FG", "CG"]);
    }

    #[test]
    fn every_line_of_the_papers_data_is_read_and_names_a_workload() {
        assert_eq!(printed().count(), PAPERS.lines().count() - 1);
        for one in printed().filter(|one| one.workload != "-") {
            let workload = workload::find(one.workload).expect("built in");
            assert!(workload.papers().contains(one.name), "{}: {}", one.workload, workload.papers());
        }
        assert!(PAPERS.lines().all(|line| line.split('\t').count() == 6), "each has its source");
    }

    #[test]
    fn the_numbers_of_tables_are_all_there() {
        let count = |paper| printed().filter(|one| one.paper == paper && one.workload != "-").count();
        let papers = [Paper::LatteCc, Paper::Lamar, Paper::Dai2, Paper::Dai3, Paper::Dai4, Paper::Caba];
        assert_eq!(papers.map(count), [22, 20, 16, 10, 7 * 9, 20 + 7]);
    }

    #[test]
    fn workloads_are_chosen_by_name_and_paper() {
        let names = |names: &[&str], paper| -> Vec<&str> {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            chosen(&names, paper).expect("known").iter().map(|one| one.name()).collect()
        };
        assert_eq!(names(&["bfs", "atax"], None), ["bfs", "atax"]);
        assert_eq!(names(&["bfs", "atax"], Some(Paper::Dai2)), ["atax"]);
        assert_eq!(names(&[], None).len(), workload::all().len());
        assert_eq!(names(&[], Some(Paper::Dai4)).len(), 7);
        assert!(chosen(&["bsf".into()], None).is_err());
    }
}
