//! `selvedge area --mechanisms`: the blocks of a mechanism in a GPU, and the bits that it adds to the tags.
use crate::arguments::AreaOptions;
use crate::error::Failure;
use crate::mechanism_list;
use selvedge_area::system::{BlockInstances, System};
use selvedge_blocks::find;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::mechanism::{MechanismSpec, Overhead};
use selvedge_sim::run::instances;

/// Returns the systems of the mechanisms that the options name.
///
/// # Errors
/// Fails for an unknown mechanism or configuration, or if the mechanism does not support the configuration.
pub fn systems(options: &AreaOptions) -> Result<Vec<System>, Failure> {
    options
        .mechanisms
        .iter()
        .flat_map(|list| mechanism_list::split(list))
        .map(|text| system(&text, options))
        .collect()
}

fn system(text: &str, options: &AreaOptions) -> Result<System, Failure> {
    let mechanism: MechanismSpec = text.parse().map_err(Failure::usage)?;
    let base = GpuConfig::load(&options.config).map_err(Failure::usage)?;
    let machine = mechanism.machine(&base).map_err(Failure::usage)?;
    let mut built = instances(&mechanism, &base, options.kernels as usize).map_err(Failure::usage)?;
    // A simulated SM has all blocks of its policy, even if this mechanism of the family does not use them.
    built.retain(|one| mechanism.parts.iter().any(|part| part.info.blocks.contains(&one.block)));
    let blocks: Vec<_> = built
        .into_iter()
        .map(|one| Ok((find(one.block).map_err(Failure::usage)?, one.parameters)))
        .collect::<Result<_, Failure>>()?;
    if blocks.is_empty() {
        return Err(Failure::usage(format!("--mechanisms {text}: it has no blocks in {}", base.name)));
    }
    let (l1d, l2) = (&base.l1d, &base.l2);
    let overhead = overhead(&mechanism);
    let added = |bits: fn(&Overhead, &GpuConfig) -> u64| {
        bits(&overhead, &machine).saturating_sub(bits(&Overhead::default(), &base)) as usize
    };
    let published = mechanism.parts.iter().map(|part| part.info.published).find(|text| !text.is_empty());
    Ok(System {
        parts: BlockInstances::all_of(blocks),
        added_l1d_tag_bits: added(Overhead::all_l1d_tag_bits),
        added_l2_tag_bits: added(Overhead::all_l2_tag_bits),
        l1d_bits: 8 * (l1d.sets * l1d.ways * l1d.line_bytes * base.sm.count) as usize,
        l2_bits: 8 * (l2.sets * l2.ways * l2.line_bytes * l2.all_slices()) as usize,
        claim: published,
        config: base.name,
        mechanism: mechanism.text,
    })
}

/// Returns the overhead of the mechanism's parts in addition to their blocks.
fn overhead(mechanism: &MechanismSpec) -> Overhead {
    let of_parts = mechanism.parts.iter().map(|part| (part.info.overhead)(part));
    of_parts.fold(Overhead::default(), Overhead::and)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};
    use clap::Parser;

    fn system(mechanism: &str) -> Result<System, Failure> {
        let words = ["selvedge", "area", "--mechanisms", mechanism];
        let Command::Area(options) = Arguments::try_parse_from(words).expect("valid words").command else {
            panic!("another command");
        };
        systems(&options).map(|mut all| all.remove(0))
    }

    /// Returns the block and the number of instances of each part.
    fn blocks(mechanism: &str) -> Vec<(&'static str, usize)> {
        let system = system(mechanism).unwrap_or_else(|error| panic!("{mechanism}: {error:?}"));
        system.parts.iter().map(|part| (part.entry.name(), part.instances)).collect()
    }

    #[test]
    fn a_mechanism_has_the_blocks_that_it_names_and_no_others_of_its_family() {
        let names = |mechanism| blocks(mechanism).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(
            names("static-bdi"),
            ["bdi_compressor", "bdi_decompressor", "decompression_queue"],
            "no SC and no controller"
        );
        assert!(!names("static-sc").contains(&"bdi_compressor"));
        assert!(!names("latte-cc").contains(&"bpc_compressor"));
        assert!(names("latte-cc,high=bpc").contains(&"bpc_compressor"));
    }

    #[test]
    fn dedicated_codecs_have_a_metadata_cache_in_each_of_six_partitions() {
        assert_eq!(blocks("hw-bdi-mem").last(), Some(&("md_cache", 6)));
        assert!(blocks("caba-bdi").contains(&("md_cache", 6)));
        assert_eq!(blocks("ideal-bdi,metadata=cached"), [("md_cache", 6)]);
    }

    #[test]
    fn a_compressed_line_takes_bits_of_its_tag_however_many_tags_a_way_has() {
        let added = |mechanism| system(mechanism).expect("a mechanism").added_l1d_tag_bits;
        // 16 KB hold 128 lines in each of 15 SMs. Another tag adds 20 address bits and a valid bit.
        let lines = 15 * 128;
        assert_eq!(added("caba-bdi"), 0);
        assert_eq!(added("caba-bdi,direct_load=on"), lines * 7);
        assert_eq!(added("static-bdi"), lines * (4 * (21 + 7) - 21));
    }

    #[test]
    fn tags_of_the_l2_grow_where_it_keeps_compressed_lines() {
        let added = |mechanism| system(mechanism).expect("a mechanism").added_l2_tag_bits;
        // 768 KB in lines of 128 bytes.
        let lines = 6144;
        assert_eq!(added("hw-bdi"), lines * 6);
        assert_eq!(added("hw-bdi-mem"), 0);
        assert_eq!(added("caba-bdi,l2=uncompressed"), 0);
        assert_eq!(added("bgp"), 0);
        assert_eq!(system("ideal-bdi").err().map(|_| ()), Some(()), "what costs nothing has no blocks");
        // A second tag has 32 address bits minus 7 (line), 6 (set) and 2 (partition), a valid bit, and 6 bits of the
        // encoding.
        assert_eq!(added("caba-bdi,l2_tags=2"), lines * (6 + 17 + 1 + 6));
    }
}
