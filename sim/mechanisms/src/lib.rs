//! List of the built-in mechanisms. Each mechanism is a plug-in of the GPU.
#[cfg(test)]
mod directed;
#[cfg(test)]
mod no_op_tests;

use selvedge_caba::hw_bdi::{HwBdi, HwBdiMem, IdealBdi};
use selvedge_caba::memo::CabaMemo;
use selvedge_caba::prefetch::CabaPrefetch;
use selvedge_caba::{CabaBdi, CabaBest, CabaCpack, CabaFpc};
use selvedge_dai::dmil::Dmil;
use selvedge_dai::fixed_bypass::FixedBypassing;
use selvedge_dai::issue_order::{QbmiIssueOrder, Rbmi};
use selvedge_dai::mdb::{MdbGlobal, MdbLocal};
use selvedge_dai::mrpb::Mrpb;
use selvedge_dai::smil::Smil;
use selvedge_dai::swl::{CbwtBest, Swl, SwlBest};
use selvedge_dai::ucp::Ucp;
use selvedge_gpu::mechanism::{Mechanism, MechanismInfo, NoOptions, Setup, Site};
use selvedge_lamar::{Bgp, BgpInf, CgOnly, FgOnly, Spp, StaticGdu};
use selvedge_latte_cc::{AdaptiveCmp, AdaptiveHitCount, KernelOpt, LatteCc, StaticBdi, StaticBpc, StaticSc};

/// The baseline, a mechanism that adds nothing.
#[derive(Debug)]
pub struct Baseline;

impl Mechanism for Baseline {
    const NAME: &'static str = "base";
    const SUMMARY: &'static str = "runs the baseline GPU without a mechanism";
    const SOURCE: &'static str = "CABA, section 7 (Base)";
    type Options = NoOptions;

    fn attach(_: &Setup<NoOptions>, _: &mut Site<'_>) {}
}

/// The registry entry of the baseline.
pub static BASE: MechanismInfo = MechanismInfo::of::<Baseline>();

/// Every built-in mechanism.
pub static BUILT_IN: [MechanismInfo; 35] = [
    MechanismInfo::of::<Baseline>(),
    MechanismInfo::of::<HwBdi>(),
    MechanismInfo::of::<HwBdiMem>(),
    MechanismInfo::of::<CgOnly>(),
    MechanismInfo::of::<FgOnly>(),
    MechanismInfo::of::<StaticGdu>(),
    MechanismInfo::of::<Spp>(),
    MechanismInfo::of::<BgpInf>(),
    MechanismInfo::of::<Bgp>(),
    MechanismInfo::of::<IdealBdi>(),
    MechanismInfo::of::<CabaBdi>(),
    MechanismInfo::of::<CabaFpc>(),
    MechanismInfo::of::<CabaCpack>(),
    MechanismInfo::of::<CabaBest>(),
    MechanismInfo::of::<CabaPrefetch>(),
    MechanismInfo::of::<CabaMemo>(),
    MechanismInfo::of::<Dmil>(),
    MechanismInfo::of::<Smil>(),
    MechanismInfo::of::<Rbmi>(),
    MechanismInfo::of::<QbmiIssueOrder>(),
    MechanismInfo::of::<LatteCc>(),
    MechanismInfo::of::<AdaptiveHitCount>(),
    MechanismInfo::of::<AdaptiveCmp>(),
    MechanismInfo::of::<StaticBdi>(),
    MechanismInfo::of::<StaticSc>(),
    MechanismInfo::of::<StaticBpc>(),
    MechanismInfo::of::<KernelOpt>(),
    MechanismInfo::of::<MdbLocal>(),
    MechanismInfo::of::<MdbGlobal>(),
    MechanismInfo::of::<FixedBypassing>(),
    MechanismInfo::of::<Swl>(),
    MechanismInfo::of::<SwlBest>(),
    MechanismInfo::of::<CbwtBest>(),
    MechanismInfo::of::<Mrpb>(),
    MechanismInfo::of::<Ucp>(),
];
