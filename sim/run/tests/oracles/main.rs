//! Reference models of caches and DRAM, from first principles, without the simulator's own arithmetic.
mod dram_standard;
mod lru_lists;
mod machine;
mod stack_distance;
mod streams;
