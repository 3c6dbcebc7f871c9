//! Configuration of the crossbars.
use super::check::Checker;
use documented::DocumentedFields;
use serde::{Deserialize, Serialize};

/// The two crossbars, one per direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct Interconnect {
    /// Flit size, bytes. A port moves one flit per crossbar cycle.
    pub flit_bytes: u32,
    /// SMs that share a port of each crossbar (a cluster), a power of two.
    pub sms_per_port: u32,
    /// Capacity of each input queue, flits.
    pub input_flits: u32,
    /// Capacity of each ejection queue, flits.
    pub output_flits: u32,
    /// Latency of a head flit from the input queue to the ejection queue of an empty crossbar, crossbar cycles.
    pub latency: u32,
    /// Idle cycles of a port between two packets, crossbar cycles; models the allocation of the port's only virtual
    /// channel.
    pub packet_gap: u32,
}

impl Interconnect {
    /// Checks the crossbars. Queues must hold a whole packet: a header and a line of `line_bytes` bytes.
    pub(super) fn check(&self, line_bytes: u32, check: &mut Checker<'_>) {
        if !self.flit_bytes.is_multiple_of(8) || !(8..=256).contains(&self.flit_bytes) {
            check.fail(
                "interconnect.flit_bytes",
                self.flit_bytes,
                "must be a multiple of 8 from 8 to 256".into(),
            );
        }
        let packet = line_bytes.saturating_add(crate::packet::HEADER_BYTES).div_ceil(self.flit_bytes.max(1));
        check.range("interconnect.input_flits", self.input_flits, packet, 4096);
        check.range("interconnect.output_flits", self.output_flits, packet, 4096);
        check.power("interconnect.sms_per_port", self.sms_per_port, 1, 8);
        check.range("interconnect.latency", self.latency, 1, 1000);
        check.range("interconnect.packet_gap", self.packet_gap, 0, 1000);
    }
}
