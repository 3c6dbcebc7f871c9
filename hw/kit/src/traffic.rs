//! Traffic: how busy both ends of a valid/ready stream are in a stimulus, and stimuli of blocks that have one stream.
use crate::block::{Clocked, Stimulus};
use crate::prng::Prng;

/// How busy both ends of a stream are, redrawn every few hundred cycles: full speed, pauses, back-pressure, mixed.
pub struct Traffic {
    /// Further random choices of the same stimulus.
    pub prng: Prng,
    offer_percent: u64,
    accept_percent: u64,
    remaining: u64,
}

impl Traffic {
    /// The traffic of a seed, starting at full speed.
    pub fn new(seed: u64) -> Self {
        Traffic {
            prng: Prng::new(seed ^ 0x7261_6666_6963),
            offer_percent: 100,
            accept_percent: 100,
            remaining: 100,
        }
    }

    /// To be called once at the start of every cycle.
    pub fn next_cycle(&mut self) {
        if self.remaining == 0 {
            (self.offer_percent, self.accept_percent) =
                [(100, 100), (100, 50), (50, 100), (70, 70), (100, 10), (10, 100)]
                    [self.prng.below(6) as usize];
            self.remaining = 50 + self.prng.below(400);
        }
        self.remaining -= 1;
    }

    /// The producer has something in this cycle.
    pub fn offer(&mut self) -> bool {
        self.prng.chance(self.offer_percent)
    }

    /// The consumer takes what is offered in this cycle.
    pub fn accept(&mut self) -> bool {
        self.prng.chance(self.accept_percent)
    }

    /// About once in 4,000 cycles, and in the very first: it is due whatever is in flight.
    pub fn reset_due(&mut self) -> bool {
        self.prng.below(4000) == 0
    }
}

/// Returns an endless stimulus for a block with a valid/ready stream of items in and one of results out. An offered item stays until
/// it is taken, as such streams demand, which is known from a golden model that runs along. It begins with a reset.
///
/// `draw` makes the next item, `inputs` the input ports from the offered item, if there is one, and whether a result is taken;
/// `takes` reports whether the item is taken under these outputs.
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
