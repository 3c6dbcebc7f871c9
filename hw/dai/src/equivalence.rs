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
