//! The registry is complete: names, parameters and ports of every block.
use selvedge_blocks::{add, all, built_in, find};
use selvedge_hw::Direction;
use selvedge_hw::registry::Entry;
use selvedge_hw_dai::milg::Milg;

#[test]
fn names_are_unique_and_fit_verilog() {
    for (index, block) in built_in().iter().enumerate() {
        let name = block.name();
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'), "{name}");
        assert!(built_in()[..index].iter().all(|earlier| earlier.name() != name), "{name} twice");
    }
}

#[test]
fn the_schema_lists_every_parameter_and_admits_its_default() {
    for block in built_in() {
        let defaults = block.defaults();
        let fields: Vec<&String> = defaults.as_object().unwrap().keys().collect();
        let mut declared: Vec<&str> = block.schema().iter().map(|spec| spec.name).collect();
        declared.sort_unstable();
        assert_eq!(fields, declared, "{}", block.name());
        assert_eq!(block.check(&defaults), Ok(defaults.clone()), "{}", block.name());
    }
}

#[test]
fn what_gives_an_output_its_meaning_is_another_output_of_one_bit() {
    for block in built_in() {
        let ports = block.ports(&block.defaults()).unwrap();
        for (port, valid) in ports.iter().filter_map(|port| Some((port, port.valid?))) {
            let of_name = ports.iter().find(|other| other.name == valid);
            let fits = of_name.is_some_and(|valid| valid.bits == 1 && valid.direction == Direction::Output);
            assert!(fits && port.direction == Direction::Output, "{}: {port:?}", block.name());
        }
    }
}

#[test]
fn port_names_follow_the_conventions() {
    for block in built_in() {
        for port in block.ports(&block.defaults()).unwrap() {
            let suffix = match port.direction {
                Direction::Input => "_i",
                Direction::Output => "_o",
            };
            assert!(port.name.ends_with(suffix) && port.bits > 0, "{}: {port:?}", block.name());
        }
    }
}

#[test]
fn parameters_change_the_ports() {
    let block = find("bdi_compressor").unwrap();
    let params = block.params(&[("line-bytes".to_string(), "32".to_string())]).unwrap();
    let line = block.ports(&params).unwrap().into_iter().find(|port| port.name == "line_i").unwrap();
    assert_eq!(line.bits, 256);
}

#[test]
fn an_unknown_block_is_named_with_the_nearest_that_exist() {
    let error = find("mligg").err().unwrap().to_string();
    let count = built_in().len();
    let start = format!("unknown block 'mligg': must be one of {count}, nearest milg");
    assert!(error.starts_with(&start), "{error}");
}

#[test]
fn an_added_block_cannot_have_the_name_of_a_built_in_one() {
    let taken = add(&Entry::<Milg>::NEW).expect_err("there already").to_string();
    assert_eq!(taken, "block 'milg': the name is taken by another block");
    assert_eq!(all().len(), built_in().len());
}
