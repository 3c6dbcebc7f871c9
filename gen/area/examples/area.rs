//! Maps a block to the cells of a Liberty file: `cargo run -p selvedge-area --example area -- BLOCK FILE.lib`.
use selvedge_area::batch::{AreaTarget, Job};
use selvedge_area::liberty::{Liberty, OSU018};
use selvedge_area::study::AsicSetup;
use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let block = words.next().unwrap_or("milg".into());
    let library = words.next().map_or(PathBuf::from(OSU018), PathBuf::from);
    let setup = AsicSetup::find(Liberty::load(&library)?)?;
    let entry = selvedge_blocks::find(&block)?;
    let job = Job {
        entry,
        params: entry.defaults(),
        target: 0,
        own: None,
        reset: Default::default(),
        clock_gating: false,
    };
    let report = job.study(&AreaTarget::Asic(Box::new(setup), None), None, &AtomicBool::new(false))?;
    for mapping in &report.mappings {
        let (area, fmax) = (mapping.area_kge, mapping.fmax);
        println!(
            "{block}, mapped for {}: {} {}, {} {}",
            mapping.goal, area.value, area.unit, fmax.value, fmax.unit
        );
    }
    Ok(())
}
