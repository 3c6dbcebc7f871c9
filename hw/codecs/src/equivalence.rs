//! Equality of model and RTL, and the corner cases that the stimuli reach.
use crate::BLOCKS;
use selvedge_hw::equivalence::{assert_corners_are_reached, assert_rtl_is_model};

#[test]
fn every_choice_of_parameters_gives_rtl_that_is_the_model() {
    assert_rtl_is_model(BLOCKS);
}

#[test]
fn every_corner_case_is_reached_in_the_full_count() {
    assert_corners_are_reached(BLOCKS);
}

/// Connects a compressor and a decompressor with a register between them, and passes lines through under the stalls and resets of
/// `traffic`. The lines must come out in order. Evaluates to the number of lines that are still inside.
macro_rules! lines_through {
    ($compressor:ident, $decompressor:ident, $generator:expr, $traffic:expr, $tag_o:ident -> $tag_i:ident) => {{
        let mut generator = $generator;
        let mut offered: Option<Line> = None;
        let mut between = None;
        let mut shown: Option<Line> = None;
        let mut inside = std::collections::VecDeque::new();
        for (offer, pass, take, chance) in $traffic {
            if chance == 0 {
                $compressor.reset();
                $decompressor.reset();
                (offered, between, shown) = (None, None, None);
                inside.clear();
                continue;
            }
            if offered.is_none() && offer {
                offered = Some(generator.next_line());
            }
            let room = between.is_none() && pass;
            let (valid_i, line_i) = (offered.is_some(), offered.unwrap_or_default());
            let packed = $compressor.step(&CompressorIn { valid_i, line_i, ready_i: room }).unwrap();
            if packed.ready_o
                && let Some(line) = offered.take()
            {
                inside.push_back(line);
            }
            let (valid_i, ($tag_i, payload_i)) = (between.is_some(), between.unwrap_or_default());
            let inputs = DecompressorIn { valid_i, $tag_i, payload_i, ready_i: take };
            let unpacked = $decompressor.step(&inputs).unwrap();
            if unpacked.ready_o {
                between = None;
            }
            if packed.valid_o && room {
                between = Some((packed.$tag_o, packed.payload_o));
            }
            // An offered line stays until it is accepted.
            if let Some(line) = shown {
                prop_assert!(unpacked.valid_o && unpacked.line_o == line);
            }
            shown = unpacked.valid_o.then_some(unpacked.line_o);
            if unpacked.valid_o && take {
                shown = None;
                prop_assert!(!unpacked.error_o);
                prop_assert_eq!(Some(unpacked.line_o), inside.pop_front());
            }
        }
        inside.len()
    }};
}
pub(crate) use lines_through;
