//! One direction of the crossbar between SMs and L2 slices.
//!
//! Every input port has a queue of packets, every output port an ejection queue; both are bounded in flits. An
//! output grants one input at a time, round-robin; a packet of n flits then holds both ports for n cycles, one flit
//! per port and cycle. A packet is granted only when its ejection queue has room for all of it, and only the head
//! of an input queue can be granted: head-of-line blocking is real.
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
    /// Head in to head out of an empty network, cycles.
    pub latency: u32,
    /// Cycles between two packets of a port, input or output.
    pub gap: u32,
    /// Base-2 logarithm of the SMs that share a port.
    pub sm_shift: u32,
}

counters! {
/// What has crossed.
pub struct CrossbarCounters {
    /// Packets granted.
    pub packets: u64,
    /// Their flits.
    pub flits: u64,
    /// Bytes of data in them, headers apart.
    pub data_bytes: u64,
}
}

#[derive(State)]
struct Input {
    queue: VecDeque<Packet>,
    /// Flits of the packets in the queue.
    waiting: u32,
    /// The first cycle in which the port may begin another packet.
    free_from: u64,
}

#[derive(State)]
struct Output {
    /// Flits that the ejection queue holds or expects.
    held: u32,
    free_from: u64,
    /// The input that is asked first.
    turn: usize,
}

/// The half of a crossbar that its senders see: input queues, and who is granted what.
#[derive(State)]
pub struct Ingress {
    spec: CrossbarSpec,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    /// Per output, the free inputs whose first packet is bound for it.
    asking: Vec<IdSet>,
    /// Free outputs that some input asks for.
    open: IdSet,
    /// Outputs that some input asks for and that a packet still crosses.
    closed: IdSet,
    /// Inputs with packets that wait until another one has crossed.
    crossing: IdSet,
    /// No port of these two sets is free before this cycle.
    earliest_free: u64,
    /// Packets in input queues.
    queued: usize,
    now: u64,
    counters: CrossbarCounters,
    /// Per input, the flits of a packet that waits in front of it for room; 0: there is none.
    awaited: Vec<u32>,
    /// Per input, the cycle from which that packet has room, as long as nothing else is granted; `u64::MAX`: it has none.
    room_from: Vec<u64>,
    /// None of those lies before this cycle.
    earliest_room: u64,
    /// Flits of a packet by its bytes of data.
    flits: Vec<u8>,
}

/// The half of a crossbar that its receivers see: the ejection queues.
#[derive(State)]
pub struct Egress {
    /// Per output, packets with the cycle in which their last flit arrives; in order.
    queues: Vec<VecDeque<(u64, Packet)>>,
    /// Outputs whose oldest packet has arrived.
    arrived: IdSet,
    /// Outputs by the cycles in which packets arrive at them.
    arrivals: IdWheel,
    /// Packets in ejection queues, arrived or in flight.
    ejected: usize,
    now: u64,
}

/// What takes the packets that an [`Ingress`] grants.
pub trait Granted {
    /// Takes a packet bound for port `output`, whose last flit arrives in cycle `arrival`.
    fn take(&mut self, arrival: u64, output: usize, packet: &Packet);

    /// Called when an ejection queue has no room for a packet: returns the flits that were received since, by ports, to `freed`.
    fn settle(&mut self, freed: impl FnMut(usize, u16)) {
        let _ = freed;
    }
}

/// Returns both halves of an empty crossbar.
pub fn crossbar(spec: CrossbarSpec) -> (Ingress, Egress) {
    (Ingress::new(spec), Egress::new(&spec))
}

/// Most bytes of data whose flits are looked up.
const MOST_BYTES: usize = 256;

impl Ingress {
    fn new(spec: CrossbarSpec) -> Self {
        let input =
            |_| Input { queue: VecDeque::with_capacity(spec.input_flits as usize), waiting: 0, free_from: 0 };
        let output = |_| Output { held: 0, free_from: 0, turn: 0 };
        Self {
            inputs: (0..spec.inputs).map(input).collect(),
            outputs: (0..spec.outputs).map(output).collect(),
            asking: vec![IdSet::new(spec.inputs); spec.outputs],
            open: IdSet::new(spec.outputs),
            closed: IdSet::new(spec.outputs),
            crossing: IdSet::new(spec.inputs),
            earliest_free: u64::MAX,
            queued: 0,
            now: 0,
            counters: CrossbarCounters::default(),
            awaited: vec![0; spec.inputs],
            room_from: vec![u64::MAX; spec.inputs],
            earliest_room: u64::MAX,
            flits: (0..=MOST_BYTES as u16).map(|bytes| flits(bytes, spec.flit_bytes) as u8).collect(),
            spec,
        }
    }

    /// Returns the flits of a packet with so many bytes of data.
    #[inline(always)]
    fn flits_of(&self, data_bytes: u16) -> u32 {
        match self.flits.get(usize::from(data_bytes)) {
            Some(count) => u32::from(*count),
            None => flits(data_bytes, self.spec.flit_bytes),
        }
    }

    /// Notes that `packet`, which found no room, waits in front of `input`; or that none does any more.
    pub fn await_room(&mut self, input: usize, packet: Option<&Packet>) {
        self.awaited[input] = packet.map_or(0, |packet| self.flits_of(packet.data_bytes));
        self.find_room(input);
    }

    /// Computes when the packet in front of `input` has room, from what the port holds now.
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

    /// Returns whether a packet that waits in front of any input has room now.
    #[inline]
    pub fn has_room_for_any(&mut self) -> bool {
        if self.earliest_room > self.now {
            return false;
        }
        self.earliest_room = self.room_from.iter().copied().min().unwrap_or(u64::MAX);
        self.earliest_room <= self.now
    }

    /// Returns whether the packet that waits in front of `input` has room now.
    #[inline]
    pub fn has_room(&self, input: usize) -> bool {
        self.room_from[input] <= self.now
    }

    /// Has input port `input` room for `packet`?
    pub fn can_send(&self, input: usize, packet: &Packet) -> bool {
        let port = &self.inputs[input];
        // What has not crossed yet of the packet that is crossing still takes room.
        let crossing = port.free_from.saturating_sub(self.now + 1 + u64::from(self.spec.gap)) as u32;
        port.waiting + crossing + self.flits_of(packet.data_bytes) <= self.spec.input_flits
    }

    /// Returns the flits for which input port `input` has room, even if nothing leaves it.
    pub fn room(&self, input: usize) -> u32 {
        let port = &self.inputs[input];
        let crossing = port.free_from.saturating_sub(self.now + 1 + u64::from(self.spec.gap)) as u32;
        self.spec.input_flits.saturating_sub(port.waiting + crossing)
    }

    /// Puts `packet` into the queue of port `input`, bound for port `output`. The caller has made sure that
    /// [`Self::can_send`]. The packet may be granted from the next tick on.
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

    /// Lets the first packet of `input`, bound for `output`, wait for its turn: until the port is free, or until it is granted.
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

    /// Lets the first packet of `input`, which is free, ask for `output`.
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

    /// Finds the ports that have become free.
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

    /// The output port that a packet goes to: answers go to SMs, all else to slices.
    fn route(&self, packet: &Packet) -> usize {
        usize::from(if packet.is_reply() { packet.sm >> self.spec.sm_shift } else { packet.slice })
    }

    /// Runs a cycle. `now` never goes back; it may jump while the crossbar is not busy.
    #[inline(always)]
    pub fn tick(&mut self, now: u64, granted: &mut impl Granted) {
        self.now = now;
        if self.queued > 0 {
            if self.earliest_free <= now {
                self.find_free();
            }
            self.arbitrate_open(granted);
        }
    }

    /// Grants the output ports that are free to inputs that ask for them.
    fn arbitrate_open(&mut self, granted: &mut impl Granted) {
        let mut from = 0;
        while let Some(output) = self.open.next(from) {
            from = output + 1;
            self.arbitrate(output, granted);
        }
    }

    /// Grants output port `output` to the asking input whose turn it is, if its packet fits the ejection queue. A
    /// packet that does not fit yet keeps the port waiting: a shorter one must not pass it for ever.
    fn arbitrate(&mut self, output: usize, granted: &mut impl Granted) {
        let Some(input) = self.asking[output].first_cyclic(self.outputs[output].turn) else { return };
        let flits = self.inputs[input].queue.front().map_or(0, |p| self.flits_of(p.data_bytes));
        if self.outputs[output].held + flits > self.spec.output_flits {
            granted.settle(|output, data_bytes| self.free(output, data_bytes));
        }
        if self.outputs[output].held + flits <= self.spec.output_flits {
            self.grant(input, output, flits, granted);
        } else {
            self.outputs[output].turn = input;
        }
    }

    fn grant(&mut self, input: usize, output: usize, flits: u32, granted: &mut impl Granted) {
        let (port, out) = (&mut self.inputs[input], &mut self.outputs[output]);
        let Some(packet) = port.queue.front() else { return };
        self.counters.data_bytes += u64::from(packet.data_bytes);
        let cycles = u64::from(flits);
        port.waiting -= flits;
        port.free_from = self.now + cycles + u64::from(self.spec.gap);
        out.free_from = port.free_from;
        out.held += flits;
        out.turn = if input + 1 < self.spec.inputs { input + 1 } else { 0 };
        // Granted in the first cycle after it was sent, the head is out `latency` cycles after sending.
        granted.take(self.now + u64::from(self.spec.latency) + cycles - 2, output, packet);
        port.queue.pop_front();
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

    /// Frees what a packet of so many bytes of data took in the ejection queue of port `output`.
    #[inline(always)]
    pub fn free(&mut self, output: usize, data_bytes: u16) {
        self.outputs[output].held -= self.flits_of(data_bytes);
    }

    /// Returns whether packets wait in input queues.
    #[inline]
    pub fn busy(&self) -> bool {
        self.queued > 0
    }

    /// What has crossed so far.
    pub fn counters(&self) -> CrossbarCounters {
        self.counters
    }

    /// One line per packet in the input queues: for deadlock reports.
    pub fn describe_waiting(&self, name: &str, out: &mut Vec<String>) {
        for (number, port) in self.inputs.iter().enumerate() {
            let waits = |p: &Packet| describe(name, "input queue", number, p) + " waits for its output";
            out.extend(port.queue.iter().map(waits));
        }
    }
}

fn describe(name: &str, port: &str, number: usize, p: &Packet) -> String {
    format!("{name}: {port} {number}: {:?} of line {:#x} for SM {}", p.kind, p.line, p.sm)
}

impl Egress {
    fn new(spec: &CrossbarSpec) -> Self {
        Self {
            queues: (0..spec.outputs).map(|_| VecDeque::with_capacity(spec.output_flits as usize)).collect(),
            arrived: IdSet::new(spec.outputs),
            arrivals: IdWheel::new(spec.outputs, spec.latency + spec.output_flits),
            ejected: 0,
            now: 0,
        }
    }

    /// Runs a cycle, before the [`Ingress`] does.
    #[inline(always)]
    pub fn tick(&mut self, now: u64) {
        self.now = now;
        if self.ejected > 0 {
            self.arrivals.take(now, &mut self.arrived);
        }
    }

    /// Notes that cycles up to `now` have passed, in none of which anything arrives.
    #[inline]
    pub fn skip_to(&mut self, now: u64) {
        self.now = now;
    }

    /// Returns the packets bound for port `output` that are granted, with the cycles in which they arrive, in order.
    pub fn coming(&self, output: usize) -> impl Iterator<Item = &(u64, Packet)> {
        self.queues[output].iter()
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

    /// The packet that [`Self::receive`] would take.
    pub fn peek(&self, output: usize) -> Option<&Packet> {
        self.queues[output].front().filter(|(ready, _)| *ready <= self.now).map(|(_, packet)| packet)
    }

    /// Takes the oldest packet that has arrived at port `output`, whose place is then to be freed: [`Ingress::free`].
    #[inline(always)]
    pub fn receive(&mut self, output: usize) -> Option<Packet> {
        if !self.has_packet(output) {
            return None;
        }
        let queue = &mut self.queues[output];
        let (_, packet) = queue.pop_front()?;
        if queue.front().is_none_or(|(arrival, _)| *arrival > self.now) {
            self.arrived.remove(output);
        }
        self.ejected -= 1;
        Some(packet)
    }

    /// Packets that are granted and not received.
    #[inline]
    pub fn ejected(&self) -> usize {
        self.ejected
    }

    /// One line per packet in the ejection queues: for deadlock reports.
    pub fn describe_waiting(&self, name: &str, out: &mut Vec<String>) {
        for (number, queue) in self.queues.iter().enumerate() {
            let waits = |p: &Packet| describe(name, "ejection queue", number, p) + " waits for who takes it";
            out.extend(queue.iter().map(|(_, p)| waits(p)));
        }
    }
}

impl Granted for Egress {
    // Not part of its caller, which would keep fewer values in registers.
    #[inline(never)]
    fn take(&mut self, arrival: u64, output: usize, packet: &Packet) {
        self.queues[output].push_back((arrival, *packet));
        if arrival > self.now {
            self.arrivals.push(self.now, arrival, output);
        } else {
            self.arrived.insert(output);
        }
        self.ejected += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketKind;

    /// Both halves.
    struct Crossbar {
        ingress: Ingress,
        egress: Egress,
    }

    impl Crossbar {
        fn new(spec: CrossbarSpec) -> Self {
            let (ingress, egress) = crossbar(spec);
            Crossbar { ingress, egress }
        }

        fn tick(&mut self, now: u64) {
            self.egress.tick(now);
            self.ingress.tick(now, &mut self.egress);
        }

        fn receive(&mut self, output: usize) -> Option<Packet> {
            let packet = self.egress.receive(output)?;
            self.ingress.free(output, packet.data_bytes);
            Some(packet)
        }

        fn busy(&self) -> bool {
            self.ingress.busy() || self.egress.ejected() > 0
        }
    }
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

    /// A packet of `flits` flits to slice `to`.
    fn packet(to: u16, flits: u32, token: u32) -> Packet {
        Packet {
            kind: PacketKind::Write,
            line: 0,
            sectors: 0xf,
            full_sectors: true,
            words: u64::MAX,
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
        let room = crossbar.ingress.can_send(input, &packet);
        if room {
            crossbar.ingress.send(input, usize::from(packet.slice), packet);
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

    /// Flits that arrive at output 0 in 1000 cycles when `inputs` inputs send packets of `flits` flits there.
    fn flits_to_one_output(inputs: usize, flits: u32, gap: u32) -> Vec<u64> {
        // Room for the flits that are granted and not yet taken: the pipeline and a packet.
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
            // From the first grant (cycle 1) on, every cycle a flit; the last `latency` of them are still inside.
            let expected = 1000 - u64::from(SPEC.latency - 1);
            assert!((expected - u64::from(flits)..=expected).contains(&moved), "{inputs} x {flits}: {moved}");
        }
    }

    #[test]
    fn an_output_is_granted_to_an_input_that_has_asked_while_a_packet_crossed() {
        let mut crossbar = Crossbar::new(SPEC);
        crossbar.ingress.send(0, 0, packet(0, 4, 0));
        crossbar.tick(1);
        crossbar.ingress.send(1, 0, packet(0, 1, 1));
        let granted = [2, 3, 4, 5].map(|now| {
            crossbar.tick(now);
            crossbar.ingress.counters().packets
        });
        assert_eq!(granted, [1, 1, 1, 2]);
    }

    #[test]
    fn a_gap_parts_the_packets_of_a_port() {
        for (inputs, flits) in [(1, 1), (4, 1), (1, 5), (4, 5)] {
            let moved: u64 = flits_to_one_output(inputs, flits, 1).iter().sum();
            // A packet every flits + 1 cycles.
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
        // Two packets of 5 flits fit 12 ejection flits, three more wait in 16 input flits.
        assert_eq!((crossbar.ingress.counters().packets, sent), (2, 5));
        assert!(crossbar.receive(0).is_some());
        crossbar.tick(200);
        assert_eq!(crossbar.ingress.counters().packets, 3);
    }

    #[test]
    fn what_has_not_crossed_yet_takes_room() {
        let mut crossbar = Crossbar::new(SPEC);
        assert!(send(&mut crossbar, 0, packet(0, 10, 0)));
        crossbar.tick(1);
        let has_room = |flits| crossbar.ingress.can_send(0, &packet(0, flits, 0));
        // One of 10 flits has crossed; the others leave 7 of 16.
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
                crossbar.ingress.await_room(input, None);
                if crossbar.ingress.can_send(input, &next) {
                    crossbar.ingress.send(input, usize::from(output), next);
                } else {
                    crossbar.ingress.await_room(input, Some(&next));
                }
                now += 1;
                crossbar.tick(now);
                let waiting: Vec<usize> = (0..3).filter(|input| crossbar.ingress.awaited[*input] > 0).collect();
                for input in &waiting {
                    let left = u64::from(SPEC.input_flits) - u64::from(crossbar.ingress.inputs[*input].waiting);
                    let crossing = crossbar.ingress.inputs[*input].free_from.saturating_sub(now + 1 + u64::from(gap));
                    let fits = u64::from(crossbar.ingress.awaited[*input]) + crossing <= left;
                    prop_assert_eq!(crossbar.ingress.has_room(*input), fits);
                }
                let any = waiting.iter().any(|input| crossbar.ingress.has_room(*input));
                prop_assert_eq!(crossbar.ingress.has_room_for_any(), any);
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
            assert_eq!(crossbar.egress.peek(0).is_some(), crossbar.egress.has_packet(0));
            crossbar.egress.has_packet(0)
        });
        assert!(arrival.is_some_and(|now| now > 1));
        assert_eq!(crossbar.egress.peek(0).copied(), Some(sent));
        assert_eq!(crossbar.ingress.counters().data_bytes, u64::from(sent.data_bytes));
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
        assert_eq!(crossbar.ingress.counters().packets, 2, "13 flits do not fit 12");
        assert!(crossbar.receive(0).is_some());
        crossbar.tick(100);
        assert_eq!(crossbar.ingress.counters().packets, 3);
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
        // Output 0 is full: the third packet to it blocks the one to output 1.
        send(&mut crossbar, 0, packet(0, 5, 0));
        send(&mut crossbar, 0, packet(1, 1, 9));
        for now in 40..80 {
            crossbar.tick(now);
        }
        assert!(!crossbar.egress.has_packet(1));
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
        /// Nothing is lost, duplicated or sent astray, and packets between two ports keep their order.
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
                // A receiver that takes a packet only every `lazy` cycles.
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
            prop_assert_eq!(crossbar.ingress.counters().flits, traffic.iter().map(|t| u64::from(t.2)).sum::<u64>());
        }
    }
}
