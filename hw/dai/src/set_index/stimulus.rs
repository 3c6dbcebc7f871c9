//! Stimulus of the set index blocks: consecutive lines, power-of-two and odd strides, lines around the multiples of the
//! function's prime, both ends of the address space, and random lines.
use super::{IndexFunction, LineIn, SetOut};
use selvedge_hw::block::Stimulus;
use selvedge_hw::corners::PortCorners;
use selvedge_hw::prng::Prng;

/// Pattern of the next lines.
#[derive(Clone, Copy)]
enum LinePattern {
    /// A constant stride that wraps around.
    Stride { line: u32, stride: u32 },
    /// Lines next to multiples of `number`, the function's prime or the number of sets.
    Around { number: u32 },
    /// Lines at the low and the high end of the address space.
    Ends,
    /// Any line.
    Any,
}

impl LinePattern {
    fn choose(prng: &mut Prng, function: IndexFunction, sets: u32) -> Self {
        let line = prng.bits() as u32;
        match prng.below(8) {
            0 => LinePattern::Stride { line, stride: 1 },
            1 => LinePattern::Stride { line, stride: sets },
            2 => LinePattern::Stride { line, stride: 1 << prng.below(32) },
            3 => LinePattern::Stride { line, stride: prng.below(4096) as u32 | 1 },
            4 => LinePattern::Around { number: function.prime(sets).unwrap_or(sets) },
            5 => LinePattern::Ends,
            _ => LinePattern::Any,
        }
    }

    fn next(&mut self, prng: &mut Prng) -> u32 {
        match self {
            LinePattern::Stride { line, stride } => {
                *line = line.wrapping_add(*stride);
                *line
            }
            LinePattern::Around { number } => {
                let multiple = *number * prng.below(u64::from(u32::MAX / *number) + 1) as u32;
                multiple.wrapping_add(prng.below(5) as u32).wrapping_sub(2)
            }
            LinePattern::Ends => {
                let line = prng.below(256) as u32;
                if prng.chance(50) { line } else { !line }
            }
            LinePattern::Any => prng.bits() as u32,
        }
    }
}

/// Returns the endless stimulus of a function's block.
pub(super) fn lines<I: LineIn>(
    function: IndexFunction,
    sets: u32,
    seed: u64,
) -> impl Iterator<Item = Stimulus<I>> + use<I> {
    let mut prng = Prng::new(seed);
    let mut pattern = LinePattern::Any;
    let (mut remaining, mut busy) = (0u64, 0);
    let mut started = false;
    std::iter::from_fn(move || {
        let reset = !started || prng.below(2000) == 0;
        started = true;
        if remaining == 0 {
            pattern = LinePattern::choose(&mut prng, function, sets);
            remaining = 20 + prng.below(200);
            busy = [30, 80, 100][prng.below(3) as usize];
        }
        remaining -= 1;
        let line = prng.chance(busy).then(|| pattern.next(&mut prng));
        let inputs = I::of(line);
        Some(if reset { Stimulus { inputs: I::of(None), reset } } else { Stimulus { inputs, reset } })
    })
}

/// Returns the corners that the stimulus must reach. An operation is a line.
pub(super) fn corners<I: LineIn + 'static, O: SetOut + 'static>(
    function: IndexFunction,
    sets: u32,
) -> PortCorners<I, O> {
    let on_set =
        move |inputs: &I, set: u32| inputs.line().is_some_and(|line| function.index(line, sets) == set);
    let highest = function.highest(sets);
    let corners = PortCorners::new(|inputs: &I, _: &O| inputs.line().is_some())
        .with("line on the lowest set", 100, move |inputs, _| on_set(inputs, 0))
        .with("line on the highest set", 100, move |inputs, _| on_set(inputs, highest))
        .with("highest line address", 1, |inputs, _| inputs.line() == Some(u32::MAX))
        .with("line after line", 1000, |inputs, outputs| outputs.valid() && inputs.line().is_some())
        .with("pause after a line", 1000, |inputs, outputs| outputs.valid() && inputs.line().is_none());
    match function.prime(sets) {
        None => corners,
        Some(prime) => corners
            .with("multiple of the prime", 100, move |inputs, _| {
                inputs.line().is_some_and(|line| line % prime == 0)
            })
            .with("largest residue", 100, move |inputs, _| {
                inputs.line().is_some_and(|line| line % prime == prime - 1)
            }),
    }
}
