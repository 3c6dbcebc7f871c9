//! Traffic: the activity of both ends of a valid/ready stream in a stimulus, and stimuli of blocks with one stream.
use crate::block::{Clocked, Stimulus};
use crate::prng::Prng;

/// The activity of both ends of a stream: full speed, pauses, back-pressure or mixed. It changes every few hundred cycles.
pub struct Traffic {
    /// The generator of all other random choices of the same stimulus.
    pub prng: Prng,
    offer_percent: u64,
    accept_percent: u64,
    remaining: u64,
}

impl Traffic {
    /// Returns the traffic of a seed. It starts at full speed.
    pub fn new(seed: u64) -> Self {
        Traffic {
            prng: Prng::new(seed ^ 0x7261_6666_6963),
            offer_percent: 100,
            accept_percent: 100,
            remaining: 100,
        }
    }

    /// Begins a cycle. The caller must call it once per cycle.
    pub fn next_cycle(&mut self) {
        if self.remaining == 0 {
            (self.offer_percent, self.accept_percent) =
                [(100, 100), (100, 50), (50, 100), (70, 70), (100, 10), (10, 100)]
                    [self.prng.below(6) as usize];
            self.remaining = 50 + self.prng.below(400);
        }
        self.remaining -= 1;
    }

    /// Returns whether the producer offers an item in this cycle.
    pub fn offer(&mut self) -> bool {
        self.prng.chance(self.offer_percent)
    }

    /// Returns whether the consumer takes an offered item in this cycle.
    pub fn accept(&mut self) -> bool {
        self.prng.chance(self.accept_percent)
    }

    /// Returns whether a reset is due: about once in 4,000 cycles, independently of items in flight.
    pub fn reset_due(&mut self) -> bool {
        self.prng.below(4000) == 0
    }
}

/// Returns an endless stimulus for a block with a valid/ready stream of input items and one of results. It begins with a
/// reset. An offered item stays until it is taken, as the protocol requires. A golden model that is stepped with the stimulus
/// shows when it is taken.
///
/// `draw` returns the next item. `inputs` returns the input ports for the offered item, if any, and `true` if a result is
/// taken. `takes` returns whether the item is taken under these outputs.
pub fn stream<I: Default, O, T: Copy>(
    seed: u64,
    mut model: impl Clocked<I, O>,
    mut draw: impl FnMut(&mut Prng) -> T,
    inputs: impl Fn(Option<T>, bool) -> I,
    takes: impl Fn(&O) -> bool,
) -> impl Iterator<Item = Stimulus<I>> {
    let mut traffic = Traffic::new(seed);
    let mut offered: Option<T> = None;
    let mut first = true;
    std::iter::from_fn(move || {
        traffic.next_cycle();
        if std::mem::take(&mut first) || traffic.reset_due() {
            model.reset();
            offered = None;
            return Some(Stimulus::reset());
        }
        if offered.is_none() && traffic.offer() {
            offered = Some(draw(&mut traffic.prng));
        }
        let inputs = inputs(offered, traffic.accept());
        if takes(&model.step(&inputs)) {
            offered = None;
        }
        Some(Stimulus::step(inputs))
    })
}
