//! The mechanisms of the papers, each a plug-in of the GPU like any other: what `selvedge_gpu` offers is all that they use.
pub mod caba;
pub mod codecs;
pub mod counter;
#[cfg(test)]
mod directed;
pub mod dmil;
pub mod hw_bdi;
pub mod issue_order;
pub mod lamar;
pub mod latte;
pub mod md_cache;
pub mod mdb;
pub mod mrpb;
#[cfg(test)]
mod no_op_tests;
mod pdp;
#[cfg(test)]
mod small_kernels;
pub mod smil;
pub mod swl;
pub mod ucp;

use selvedge_gpu::mechanism::{MechanismInfo, Needs, any_machine, no_parts};

/// The baseline.
pub const BASE: MechanismInfo = MechanismInfo {
    name: "base",
    summary: "runs the baseline GPU without a mechanism",
    source: "CABA, section 7 (Base)",
    blocks: &[],
    options: &[],
    needs: Needs::Nothing,
    machine_needs: "",
    claims: &[],
    machine: any_machine,
    attach: no_parts,
    ..MechanismInfo::NOTHING
};

/// Every mechanism of this crate.
pub const ALL: &[MechanismInfo] = &[
    BASE,
    hw_bdi::INFO,
    hw_bdi::INFO_MEM,
    lamar::CG_ONLY,
    lamar::FG_ONLY,
    lamar::STATIC_GDU,
    lamar::SPP,
    lamar::BGP_INF,
    lamar::BGP,
    hw_bdi::INFO_IDEAL,
    caba::INFO_BDI,
    caba::INFO_FPC,
    caba::INFO_CPACK,
    caba::INFO_BEST,
    caba::prefetch::INFO,
    caba::memo::INFO,
    dmil::INFO,
    smil::INFO,
    issue_order::RBMI,
    issue_order::QBMI,
    latte::LATTE_CC,
    latte::ADAPTIVE_HIT_COUNT,
    latte::ADAPTIVE_CMP,
    latte::STATIC_BDI,
    latte::STATIC_SC,
    latte::STATIC_BPC,
    latte::KERNEL_OPT,
    latte::TAGS_ONLY,
    mdb::LOCAL,
    mdb::GLOBAL,
    swl::SWL,
    swl::SWL_BEST,
    swl::CBWT_BEST,
    mrpb::INFO,
    ucp::INFO,
];
