//! Traffic: how busy both ends of a valid/ready stream are in a stimulus.
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
