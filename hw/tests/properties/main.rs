//! What the blocks promise beyond equality of model and RTL: properties of each, by random traffic. One program, so that the
//! blocks are compiled into it once.
mod assist;
mod bdi_definition;
mod bgp;
mod both;
mod bpc;
mod bpg;
mod codec_sizes;
mod cpack;
mod decompression_queue;
mod equivalence;
mod fpc;
mod latte_controller;
mod lockstep;
mod md_cache;
mod milg;
mod qbmi;
mod registry;
mod sc_code_builder;
mod sc_compressor;
mod sc_decompressor;
mod sc_family;
mod sc_huffman;
mod sc_vft;
mod set_index;
mod spp;
mod stream;
