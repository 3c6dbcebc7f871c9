//! Oracles from outside: what caches and DRAM must do, from first principles, without any of the simulator's own arithmetic.
mod dram_standard;
mod lru_lists;
mod machine;
mod stack_distance;
mod streams;
