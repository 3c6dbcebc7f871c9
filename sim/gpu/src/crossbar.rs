//! One direction of the crossbar between SMs and L2 slices.
//!
//! Every input port has a queue of packets, every output port an ejection queue. Both are bounded in flits. An output grants one
//! input at a time, round-robin. A packet of n flits then holds both ports for n cycles, one flit per port and cycle. A packet is
//! granted only when its ejection queue has space for all its flits. Only the head of an input queue can be granted, so that
//! head-of-line blocking occurs.
//!
//! ```text
//! cycle     c       c+1 ... c+n          c+latency   ...   c+latency+n-1
//! send()    packet
//! ports             flits cross
//! receive()                              head is out       tail is out: the packet can be received
//! ```
use crate::id_set::{IdSet, IdWheel};
use crate::packet::{Packet, flits};
use crate::stats::counters;
use selvedge_state::State;
use std::collections::VecDeque;

/// Sizes of a crossbar.
#[derive(Clone, Copy, Debug, State)]
pub struct CrossbarSpec {
    /// Input ports.
    pub inputs: usize,
    /// Output ports.
    pub outputs: usize,
    /// Bytes of a flit.
    pub flit_bytes: u32,
    /// Capacity of an input queue, flits.
    pub input_flits: u32,
    /// Capacity of an ejection queue, flits.
    pub output_flits: u32,
    /// Cycles from the head's entry into an empty network until it leaves.
    pub latency: u32,
    /// Idle cycles between two packets of a port, input or output.
    pub gap: u32,
    /// Base-2 logarithm of the number of SMs that share a port.
    pub sm_shift: u32,
}

counters! {
/// Traffic of a crossbar.
pub struct CrossbarCounters {
    /// Packets granted.
    pub packets: u64,
    /// Flits of these packets.
    pub flits: u64,
    /// Data bytes in these packets, without headers.
    pub data_bytes: u64,
}
}

#[derive(State)]
struct IngressPort {
    queue: VecDeque<Packet>,
    /// Flits of the packets in the queue.
    waiting: u32,
    /// The first cycle in which the port may begin another packet.
    free_from: u64,
}

#[derive(State)]
struct EgressPort {
    /// Packets in arrival order, each with the cycle in which its last flit arrives.
    queue: VecDeque<(u64, Packet)>,
    /// Flits of the packets in the queue, including flits that have not arrived yet.
    held: u32,
    free_from: u64,
    /// The input that arbitration considers first.
    turn: usize,
}

/// One direction of the crossbar.
#[derive(State)]
pub struct Crossbar {
    spec: CrossbarSpec,
    inputs: Vec<IngressPort>,
    outputs: Vec<EgressPort>,
    /// Per output, the free inputs whose first packet goes to it.
    asking: Vec<IdSet>,
    /// Free outputs that at least one input asks for.
    open: IdSet,
    /// Outputs that some input asks for while a packet still crosses.
    closed: IdSet,
    /// Inputs with packets that wait until the port's current packet has crossed.
    crossing: IdSet,
    /// Lower bound of the cycles in which a port of `closed` or `crossing` becomes free.
    earliest_free: u64,
    /// Packets in input queues.
    queued: usize,
    /// Outputs whose oldest packet has arrived completely.
    arrived: IdSet,
    /// Outputs by the cycles in which packets arrive at them.
    arrivals: IdWheel,
    /// Packets in ejection queues, arrived or in flight.
    ejected: usize,
    now: u64,
    counters: CrossbarCounters,
    /// Per input, the flits of the packet that waits for space in its queue; 0 if no packet waits.
    awaited: Vec<u32>,
    /// Per input, the first cycle in which that packet fits if nothing else is granted; `u64::MAX` if it never fits.
    room_from: Vec<u64>,
    /// Lower bound of `room_from`.
    earliest_room: u64,
    /// Flits of a packet by its bytes of data, up to [`MOST_BYTES`].
    flits: Vec<u8>,
}

/// Max bytes of data in the table of flits; longer packets are computed.
const MOST_BYTES: usize = 256;

impl Crossbar {
    /// Returns an empty crossbar.
    pub fn new(spec: CrossbarSpec) -> Self {
        let input = |_| IngressPort {
            queue: VecDeque::with_capacity(spec.input_flits as usize),
            waiting: 0,
            free_from: 0,
        };
        let output = |_| EgressPort {
            queue: VecDeque::with_capacity(spec.output_flits as usize),
            held: 0,
            free_from: 0,
            turn: 0,
        };
        Self {
            inputs: (0..spec.inputs).map(input).collect(),
            outputs: (0..spec.outputs).map(output).collect(),
            asking: vec![IdSet::new(spec.inputs); spec.outputs],
            open: IdSet::new(spec.outputs),
            closed: IdSet::new(spec.outputs),
            crossing: IdSet::new(spec.inputs),
            earliest_free: u64::MAX,
            queued: 0,
            arrived: IdSet::new(spec.outputs),
            arrivals: IdWheel::new(spec.outputs, spec.latency + spec.output_flits),
            ejected: 0,
            now: 0,
            counters: CrossbarCounters::default(),
            awaited: vec![0; spec.inputs],
            room_from: vec![u64::MAX; spec.inputs],
            earliest_room: u64::MAX,
            flits: (0..=MOST_BYTES as u16).map(|bytes| flits(bytes, spec.flit_bytes) as u8).collect(),
            spec,
        }
    }

    /// Returns the flits of a packet with `data_bytes` bytes of data.
    #[inline(always)]
    fn flits_of(&self, data_bytes: u16) -> u32 {
        match self.flits.get(usize::from(data_bytes)) {
            Some(count) => u32::from(*count),
            None => flits(data_bytes, self.spec.flit_bytes),
        }
    }

    /// Records that `packet` waits for space in the queue of `input`; `None` records that no packet waits.
    pub fn await_room(&mut self, input: usize, packet: Option<&Packet>) {
        self.awaited[input] = packet.map_or(0, |packet| self.flits_of(packet.data_bytes));
        self.find_room(input);
    }

    /// Computes the cycle from which the waiting packet of `input` fits, given the present contents of the queue.
    fn find_room(&mut self, input: usize) {
        let port = &self.inputs[input];
        let taken = port.waiting + self.awaited[input];
        self.room_from[input] = match self.spec.input_flits.checked_sub(taken) {
            Some(left) if self.awaited[input] > 0 => {
                port.free_from.saturating_sub(u64::from(left + 1 + self.spec.gap))
            }
            _ => u64::MAX,
        };
        self.earliest_room = self.earliest_room.min(self.room_from[input]);
    }

    /// Returns whether any waiting packet fits into its input queue now.
    #[inline]
    pub fn has_room_for_any(&mut self) -> bool {
        if self.earliest_room > self.now {
            return false;
        }
        self.earliest_room = self.room_from.iter().copied().min().unwrap_or(u64::MAX);
        self.earliest_room <= self.now
    }

    /// Returns whether the waiting packet of `input` fits into its queue now.
    #[inline]
    pub fn has_room(&self, input: usize) -> bool {
        self.room_from[input] <= self.now
    }

    /// Returns whether the queue of port `input` has space for `packet`.
    pub fn can_send(&self, input: usize, packet: &Packet) -> bool {
        let port = &self.inputs[input];
        // Flits of the current packet that have not crossed yet still occupy the queue.
        let crossing = port.free_from.saturating_sub(self.now + 1 + u64::from(self.spec.gap)) as u32;
        port.waiting + crossing + self.flits_of(packet.data_bytes) <= self.spec.input_flits
    }

    /// Puts `packet` into the queue of port `input`; it goes to port `output`. [`Self::can_send`] must have returned `true`. The
    /// packet can be granted from the next tick on.
    pub fn send(&mut self, input: usize, output: usize, packet: Packet) {
        debug_assert!(self.can_send(input, &packet));
        debug_assert!(output == self.route(&packet), "the packet's own address must name its port");
        let flits = self.flits_of(packet.data_bytes);
        let port = &mut self.inputs[input];
        port.waiting += flits;
        port.queue.push_back(packet);
        self.queued += 1;
        if port.queue.len() == 1 {
            self.await_turn(input, output);
        }
    }

    /// Lets the first packet of `input`, which goes to `output`, wait until the port is free and then ask for the output.
    #[inline(always)]
    fn await_turn(&mut self, input: usize, output: usize) {
        let free_from = self.inputs[input].free_from;
        if free_from > self.now {
            self.crossing.insert(input);
            self.earliest_free = self.earliest_free.min(free_from);
        } else {
            self.ask(input, output);
        }
    }

    /// Lets the first packet of the free port `input` ask for `output`.
    #[inline(always)]
    fn ask(&mut self, input: usize, output: usize) {
        self.asking[output].insert(input);
        let free_from = self.outputs[output].free_from;
        if free_from > self.now {
            self.closed.insert(output);
            self.earliest_free = self.earliest_free.min(free_from);
        } else {
            self.open.insert(output);
        }
    }

    /// Moves the ports that have become free from `closed` to `open`, and from `crossing` to `asking`.
    fn find_free(&mut self) {
        let mut earliest = u64::MAX;
        let mut from = 0;
        while let Some(output) = self.closed.next(from) {
            from = output + 1;
            let free_from = self.outputs[output].free_from;
            if free_from <= self.now {
                self.closed.remove(output);
                self.open.insert(output);
            } else {
                earliest = earliest.min(free_from);
            }
        }
        self.earliest_free = earliest;
        from = 0;
        while let Some(input) = self.crossing.next(from) {
            from = input + 1;
            let port = &self.inputs[input];
            if port.free_from > self.now {
                self.earliest_free = self.earliest_free.min(port.free_from);
            } else if let Some(packet) = port.queue.front() {
                let output = self.route(packet);
                self.crossing.remove(input);
                self.ask(input, output);
            }
        }
    }

    /// Returns the output port of a packet: replies go to SMs, requests to slices.
    fn route(&self, packet: &Packet) -> usize {
        usize::from(if packet.is_reply() { packet.sm >> self.spec.sm_shift } else { packet.slice })
    }

    /// Runs a cycle. `now` never decreases. It may skip cycles while the crossbar is not [`Self::busy`].
    #[inline(always)]
    pub fn tick(&mut self, now: u64) {
        self.now = now;
        if self.ejected > 0 {
            self.arrivals.take(now, &mut self.arrived);
        }
        if self.queued > 0 {
            if self.earliest_free <= now {
                self.find_free();
            }
            self.arbitrate_open();
        }
    }

    /// Grants each free output to one of the inputs that ask for it.
    fn arbitrate_open(&mut self) {
        let mut from = 0;
        while let Some(output) = self.open.next(from) {
            from = output + 1;
            self.arbitrate(output);
        }
    }

    /// Grants output port `output` to the first asking input in round-robin order, if its packet fits the ejection queue.
    /// Otherwise the port waits for this packet; shorter packets of other inputs would delay it forever.
    fn arbitrate(&mut self, output: usize) {
        let Some(input) = self.asking[output].first_cyclic(self.outputs[output].turn) else { return };
        let flits = self.inputs[input].queue.front().map_or(0, |p| self.flits_of(p.data_bytes));
        if self.outputs[output].held + flits <= self.spec.output_flits {
            self.grant(input, output, flits);
        } else {
            self.outputs[output].turn = input;
        }
    }

    fn grant(&mut self, input: usize, output: usize, flits: u32) {
        let (port, out) = (&mut self.inputs[input], &mut self.outputs[output]);
        let Some(packet) = port.queue.front() else { return };
        self.counters.data_bytes += u64::from(packet.data_bytes);
        let cycles = u64::from(flits);
        port.waiting -= flits;
        port.free_from = self.now + cycles + u64::from(self.spec.gap);
        out.free_from = port.free_from;
        out.held += flits;
        out.turn = if input + 1 < self.spec.inputs { input + 1 } else { 0 };
        // The packet was sent at least one cycle ago. Granted in the first cycle after sending, its head leaves `latency` cycles
        // after sending.
        let arrival = self.now + u64::from(self.spec.latency) + cycles - 2;
        out.queue.push_back((arrival, *packet));
        if arrival > self.now {
            self.arrivals.push(self.now, arrival, output);
        } else {
            self.arrived.insert(output);
        }
        port.queue.pop_front();
        self.ejected += 1;
        self.queued -= 1;
        self.counters.packets += 1;
        self.counters.flits += cycles;
        self.asking[output].remove(input);
        self.open.remove(output);
        let (has_more, is_asked) = (!port.queue.is_empty(), !self.asking[output].is_empty());
        if has_more {
            self.crossing.insert(input);
        }
        if is_asked {
            self.closed.insert(output);
        }
        if has_more || is_asked {
            self.earliest_free = self.earliest_free.min(self.inputs[input].free_from);
        }
        if self.awaited[input] > 0 {
            self.find_room(input);
        }
    }

    /// Returns the output ports at which a whole packet has arrived.
    #[inline]
    pub(crate) fn arrived(&self) -> &IdSet {
        &self.arrived
    }

    /// Returns whether a whole packet has arrived at port `output`.
    #[inline]
    pub fn has_packet(&self, output: usize) -> bool {
        self.arrived.contains(output)
    }

    /// Returns the packet that [`Self::receive`] would take.
    pub fn peek(&self, output: usize) -> Option<&Packet> {
        self.outputs[output].queue.front().filter(|(ready, _)| *ready <= self.now).map(|(_, packet)| packet)
    }

    /// Takes the oldest packet that has arrived at port `output`.
    #[inline(always)]
    pub fn receive(&mut self, output: usize) -> Option<Packet> {
        if !self.has_packet(output) {
            return None;
        }
        let out = &mut self.outputs[output];
        let (_, packet) = out.queue.pop_front()?;
        if out.queue.front().is_none_or(|(arrival, _)| *arrival > self.now) {
            self.arrived.remove(output);
        }
        self.ejected -= 1;
        let flits = self.flits_of(packet.data_bytes);
        self.outputs[output].held -= flits;
        Some(packet)
    }

    /// Returns whether any packet is in a queue or in flight.
    #[inline]
    pub fn busy(&self) -> bool {
        self.queued + self.ejected > 0
    }

    /// Returns the packets, flits and bytes that have been granted so far.
    pub fn counters(&self) -> CrossbarCounters {
        self.counters
    }

    /// Appends one line per packet inside, for deadlock reports.
    pub fn describe_waiting(&self, name: &str, out: &mut Vec<String>) {
        let text = |port: &str, number: usize, p: &Packet| {
            format!("{name}: {port} {number}: {:?} of line {:#x} for SM {}", p.kind, p.line, p.sm)
        };
        for (number, port) in self.inputs.iter().enumerate() {
            let waits = |p: &Packet| text("input queue", number, p) + " waits for its output";
            out.extend(port.queue.iter().map(waits));
        }
        for (number, port) in self.outputs.iter().enumerate() {
            let waits = |p: &Packet| text("ejection queue", number, p) + " waits for who takes it";
            out.extend(port.queue.iter().map(|(_, p)| waits(p)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Operations, PacketKind};
    use proptest::prelude::*;

    const SPEC: CrossbarSpec = CrossbarSpec {
        inputs: 4,
        outputs: 3,
        flit_bytes: 32,
        input_flits: 16,
        output_flits: 12,
        latency: 12,
        gap: 0,
        sm_shift: 0,
    };

    /// Returns a packet of `flits` flits to slice `to`.
    fn packet(to: u16, flits: u32, token: u32) -> Packet {
        Packet {
            kind: PacketKind::Write,
            line: 0,
            sectors: 0xf,
            full_sectors: true,
            words: u64::MAX,
            operations: Operations::default(),
            data_bytes: (flits * 32 - 8) as u16,
            sm: 0,
            slice: to,
            kernel: 0,
            token,
            payload: 0,
            witness: 0,
        }
    }

    fn send(crossbar: &mut Crossbar, input: usize, packet: Packet) -> bool {
        let room = crossbar.can_send(input, &packet);
        if room {
            crossbar.send(input, usize::from(packet.slice), packet);
        }
        room
    }

    #[test]
    fn unloaded_latency_is_pipeline_and_tail() {
        for flits in 1..=5 {
            let mut crossbar = Crossbar::new(SPEC);
            crossbar.tick(100);
            assert!(send(&mut crossbar, 1, packet(2, flits, 7)));
            let arrival = (101..200).find(|now| {
                crossbar.tick(*now);
                crossbar.receive(2).is_some()
            });
            assert_eq!(arrival, Some(100 + 12 + u64::from(flits) - 1), "{flits} flits");
            assert!(!crossbar.busy());
        }
    }

    /// Returns the flits per input that arrive at output 0 in 1000 cycles, while `inputs` inputs send packets of `flits` flits.
    fn flits_to_one_output(inputs: usize, flits: u32, gap: u32) -> Vec<u64> {
        // Space for the flits that were granted and not yet received: the pipeline and two packets.
        let mut crossbar = Crossbar::new(CrossbarSpec { output_flits: SPEC.latency + 2 * 5, gap, ..SPEC });
        let mut per_input = vec![0; inputs];
        for now in 1..=1000 {
            for input in 0..inputs {
                send(&mut crossbar, input, packet(0, flits, input as u32));
            }
            crossbar.tick(now);
            while let Some(p) = crossbar.receive(0) {
                per_input[p.token as usize] += u64::from(flits);
            }
        }
        per_input
    }

    #[test]
    fn an_output_moves_one_flit_per_cycle() {
        for (inputs, flits) in [(1, 1), (1, 5), (4, 1), (4, 5)] {
            let moved: u64 = flits_to_one_output(inputs, flits, 0).iter().sum();
            // From the first grant in cycle 1 on, one flit crosses per cycle. The last `latency` flits are still in flight.
            let expected = 1000 - u64::from(SPEC.latency - 1);
            assert!((expected - u64::from(flits)..=expected).contains(&moved), "{inputs} x {flits}: {moved}");
        }
    }

    #[test]
    fn an_output_is_granted_to_an_input_that_has_asked_while_a_packet_crossed() {
        let mut crossbar = Crossbar::new(SPEC);
        crossbar.send(0, 0, packet(0, 4, 0));
        crossbar.tick(1);
        crossbar.send(1, 0, packet(0, 1, 1));
        let granted = [2, 3, 4, 5].map(|now| {
            crossbar.tick(now);
            crossbar.counters().packets
        });
        assert_eq!(granted, [1, 1, 1, 2]);
    }

    #[test]
    fn a_gap_parts_the_packets_of_a_port() {
        for (inputs, flits) in [(1, 1), (4, 1), (1, 5), (4, 5)] {
            let moved: u64 = flits_to_one_output(inputs, flits, 1).iter().sum();
            // One packet every flits + 1 cycles.
            let expected = 1000 / u64::from(flits + 1) * u64::from(flits);
            let ends = u64::from(SPEC.latency + 2 * flits);
            assert!((expected - ends..=expected).contains(&moved), "{inputs} x {flits}: {moved}");
        }
    }

    #[test]
    fn inputs_share_an_output_fairly() {
        let shares = flits_to_one_output(4, 1, 0);
        let (least, most) = (shares.iter().min().expect("four"), shares.iter().max().expect("four"));
        assert!(most - least <= 1, "{shares:?}");
    }

    #[test]
    fn an_ejection_queue_that_nobody_empties_pushes_back() {
        let mut crossbar = Crossbar::new(SPEC);
        let mut sent = 0;
        for now in 1..200 {
            sent += u32::from(send(&mut crossbar, 0, packet(0, 5, 0)));
            crossbar.tick(now);
        }
        // Two packets of 5 flits fit into the 12 flits of the ejection queue. Three more wait in the 16 flits of the input queue.
        assert_eq!((crossbar.counters().packets, sent), (2, 5));
        assert!(crossbar.receive(0).is_some());
        crossbar.tick(200);
        assert_eq!(crossbar.counters().packets, 3);
    }

    #[test]
    fn what_has_not_crossed_yet_takes_room() {
        let mut crossbar = Crossbar::new(SPEC);
        assert!(send(&mut crossbar, 0, packet(0, 10, 0)));
        crossbar.tick(1);
        let has_room = |flits| crossbar.can_send(0, &packet(0, flits, 0));
        // One of 10 flits has crossed. The other 9 leave 7 of the 16 flits.
        assert_eq!((has_room(7), has_room(8)), (true, false));
    }

    proptest! {
        #[test]
        fn a_packet_that_waits_for_room_has_it_in_the_cycle_in_which_it_can_be_sent(
            sends in prop::collection::vec((0usize..3, 0u16..3, 1u32..7), 20..80), gap in 0u32..2,
        ) {
            let mut crossbar = Crossbar::new(CrossbarSpec { gap, ..SPEC });
            let mut now = 0;
            for (input, output, flits) in sends {
                let next = packet(output, flits, 0);
                crossbar.await_room(input, None);
                if crossbar.can_send(input, &next) {
                    crossbar.send(input, usize::from(output), next);
                } else {
                    crossbar.await_room(input, Some(&next));
                }
                now += 1;
                crossbar.tick(now);
                let waiting: Vec<usize> = (0..3).filter(|input| crossbar.awaited[*input] > 0).collect();
                for input in &waiting {
                    let left = u64::from(SPEC.input_flits) - u64::from(crossbar.inputs[*input].waiting);
                    let crossing = crossbar.inputs[*input].free_from.saturating_sub(now + 1 + u64::from(gap));
                    let fits = u64::from(crossbar.awaited[*input]) + crossing <= left;
                    prop_assert_eq!(crossbar.has_room(*input), fits);
                }
                let any = waiting.iter().any(|input| crossbar.has_room(*input));
                prop_assert_eq!(crossbar.has_room_for_any(), any);
                if now % 3 == 0 {
                    crossbar.receive(usize::from(output));
                }
            }
        }
    }

    #[test]
    fn a_packet_is_seen_when_it_has_arrived_and_its_bytes_are_counted() {
        let mut crossbar = Crossbar::new(SPEC);
        let sent = packet(0, 3, 7);
        assert!(send(&mut crossbar, 0, sent));
        let arrival = (1..100).find(|now| {
            crossbar.tick(*now);
            assert_eq!(crossbar.peek(0).is_some(), crossbar.has_packet(0));
            crossbar.has_packet(0)
        });
        assert!(arrival.is_some_and(|now| now > 1));
        assert_eq!(crossbar.peek(0).copied(), Some(sent));
        assert_eq!(crossbar.counters().data_bytes, u64::from(sent.data_bytes));
        assert_eq!(crossbar.receive(0), Some(sent));
    }

    #[test]
    fn an_ejection_queue_takes_no_flit_more_than_it_holds() {
        let mut crossbar = Crossbar::new(SPEC);
        for flits in [5, 4, 4] {
            assert!(send(&mut crossbar, 0, packet(0, flits, 0)));
        }
        for now in 1..100 {
            crossbar.tick(now);
        }
        assert_eq!(crossbar.counters().packets, 2, "13 flits do not fit 12");
        assert!(crossbar.receive(0).is_some());
        crossbar.tick(100);
        assert_eq!(crossbar.counters().packets, 3);
    }

    #[test]
    fn the_head_blocks_those_behind_it() {
        let mut crossbar = Crossbar::new(SPEC);
        for _ in 0..2 {
            send(&mut crossbar, 0, packet(0, 5, 0));
        }
        for now in 1..40 {
            crossbar.tick(now);
        }
        // Output 0 is full. The third packet to it blocks the packet to output 1.
        send(&mut crossbar, 0, packet(0, 5, 0));
        send(&mut crossbar, 0, packet(1, 1, 9));
        for now in 40..80 {
            crossbar.tick(now);
        }
        assert!(!crossbar.has_packet(1));
        crossbar.receive(0);
        for now in 80..120 {
            crossbar.tick(now);
        }
        assert_eq!(crossbar.receive(1).expect("free to go").token, 9);
    }

    #[test]
    fn a_long_packet_is_not_passed_for_ever_by_short_ones() {
        let spec = CrossbarSpec { output_flits: 5, ..SPEC };
        let mut crossbar = Crossbar::new(spec);
        assert!(send(&mut crossbar, 0, packet(0, 5, 77)));
        let mut arrived = None;
        for now in 1..500 {
            for input in 1..4 {
                send(&mut crossbar, input, packet(0, 1, 1));
            }
            crossbar.tick(now);
            if crossbar.receive(0).is_some_and(|p| p.token == 77) {
                arrived = Some(now);
                break;
            }
        }
        assert!(arrived.is_some_and(|now| now < 60), "{arrived:?}");
    }

    proptest! {
        /// Checks that no packet is lost, duplicated or misrouted, and that packets between two ports keep their order.
        #[test]
        fn every_packet_arrives_once_in_order(
            traffic in prop::collection::vec((0usize..4, 0u16..3, 1u32..6, 0u64..4), 1..200),
            lazy in 1u64..8,
        ) {
            let mut crossbar = Crossbar::new(SPEC);
            let mut now = 0;
            let mut arrived: Vec<(u16, Packet)> = Vec::new();
            let mut step = |crossbar: &mut Crossbar, arrived: &mut Vec<(u16, Packet)>| {
                now += 1;
                crossbar.tick(now);
                // The receiver takes a packet only every `lazy` cycles.
                for output in (0..3u16).filter(|_| now % lazy == 0) {
                    arrived.extend(crossbar.receive(usize::from(output)).map(|p| (output, p)));
                }
            };
            for (number, (input, to, flits, gap)) in traffic.iter().enumerate() {
                let p = Packet { sm: *input as u16, ..packet(*to, *flits, number as u32) };
                while !send(&mut crossbar, *input, p) {
                    step(&mut crossbar, &mut arrived);
                }
                (0..*gap).for_each(|_| step(&mut crossbar, &mut arrived));
            }
            for _ in 0..20_000 {
                step(&mut crossbar, &mut arrived);
            }
            prop_assert!(!crossbar.busy());
            prop_assert!(arrived.iter().all(|(output, p)| *output == p.slice));
            let mut tokens: Vec<_> = arrived.iter().map(|(_, p)| p.token).collect();
            for input in 0..4 {
                for to in 0..3 {
                    let flow = arrived.iter().filter(|(_, p)| (p.sm, p.slice) == (input, to));
                    prop_assert!(flow.map(|(_, p)| p.token).is_sorted());
                }
            }
            tokens.sort_unstable();
            prop_assert_eq!(tokens, (0..traffic.len() as u32).collect::<Vec<_>>());
            prop_assert_eq!(crossbar.counters().flits, traffic.iter().map(|t| u64::from(t.2)).sum::<u64>());
        }
    }
}
