//! The list of every block, which every tool walks.
use selvedge_hw::registry::{self, Entry};
use selvedge_hw::{BlockEntry, NameTaken, names};

/// Every block of this crate. A new one is a folder and a line here.
pub static BLOCKS: &[&dyn BlockEntry] = &[
    &Entry::<crate::assist::awb::Awb>::NEW,
    &Entry::<crate::assist::awc::Awc>::NEW,
    &Entry::<crate::assist::aws::Aws>::NEW,
    &Entry::<crate::assist::awt::Awt>::NEW,
    &Entry::<crate::bdi::BdiCompressor>::NEW,
    &Entry::<crate::bdi::BdiDecompressor>::NEW,
    &Entry::<crate::bgp::Bgp>::NEW,
    &Entry::<crate::bpc::BpcCompressor>::NEW,
    &Entry::<crate::bpc::BpcDecompressor>::NEW,
    &Entry::<crate::bpg::Bpg>::NEW,
    &Entry::<crate::cpack::CpackCompressor>::NEW,
    &Entry::<crate::cpack::CpackDecompressor>::NEW,
    &Entry::<crate::decompression_queue::DecompressionQueue>::NEW,
    &Entry::<crate::fpc::FpcCompressor>::NEW,
    &Entry::<crate::fpc::FpcDecompressor>::NEW,
    &Entry::<crate::latte_controller::LatteController>::NEW,
    &Entry::<crate::md_cache::MdCache>::NEW,
    &Entry::<crate::milg::Milg>::NEW,
    &Entry::<crate::qbmi::Qbmi>::NEW,
    &Entry::<crate::sc::code_builder::ScCodeBuilder>::NEW,
    &Entry::<crate::sc::compressor::ScCompressor>::NEW,
    &Entry::<crate::sc::decompressor::ScDecompressor>::NEW,
    &Entry::<crate::sc::vft::ScVft>::NEW,
    &Entry::<crate::set_index::a_prime::SetIndexAPrime>::NEW,
    &Entry::<crate::set_index::bmod::SetIndexBmod>::NEW,
    &Entry::<crate::set_index::bxor::SetIndexBxor>::NEW,
    &Entry::<crate::set_index::d_prime::SetIndexDPrime>::NEW,
    &Entry::<crate::set_index::i_poly::SetIndexIPoly>::NEW,
    &Entry::<crate::set_index::pmod::SetIndexPmod>::NEW,
    &Entry::<crate::spp::Spp>::NEW,
];

/// Adds a block of another crate to those that [`all`] and [`find`] know.
///
/// # Errors
/// A block of that name exists already.
pub fn add(block: &'static dyn BlockEntry) -> Result<(), NameTaken> {
    if BLOCKS.iter().any(|other| other.name() == block.name()) {
        return Err(NameTaken { what: "block", name: block.name() });
    }
    registry::add(block)
}

/// Returns every block: first [`BLOCKS`], then those that were added.
pub fn all() -> Vec<&'static dyn BlockEntry> {
    BLOCKS.iter().copied().chain(registry::added()).collect()
}

/// Returns the block of that name.
///
/// # Errors
/// When there is none; the error lists the nearest names.
pub fn find(name: &str) -> Result<&'static dyn BlockEntry, UnknownBlock> {
    let all = all();
    all.iter().copied().find(|block| block.name() == name).ok_or_else(|| UnknownBlock {
        name: name.to_string(),
        allowed: names::allowed(name, all.iter().map(|block| block.name()), "selvedge list blocks"),
    })
}

/// No block has that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown block `{name}`: {allowed}")]
pub struct UnknownBlock {
    /// The name that was asked for.
    pub name: String,
    /// The nearest names that exist.
    pub allowed: String,
}
