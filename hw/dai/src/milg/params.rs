//! Parameters of the MILG.
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

block_params! {
    /// Parameters of a MILG.
    pub struct MilgParams {
        /// Width of the in-flight counter, of its maximum and of the limit.
        inflight_bits: u32 = 7, Allowed::OneOf(&[6, 7, 8]);
        /// Width of the saturating reservation-failure counter.
        rsfail_bits: u32 = 12, Allowed::OneOf(&[12, 14]);
        /// Width of the request counter, and the shift: a new limit comes every 2^`request_bits` requests.
        request_bits: u32 = 10, Allowed::OneOf(&[8, 10]);
    }
}

impl MilgParams {
    /// Returns the maximum of the in-flight counter, which as a limit means no limit.
    pub fn no_limit(&self) -> u16 {
        (1 << self.inflight_bits) - 1
    }
}
