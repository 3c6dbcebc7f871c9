//! Properties of the list of blocks, and of the parts of the kit whose tests need blocks: lockstep, recordings and verification.
mod lockstep;
mod recording;
mod registry;
mod verify;
