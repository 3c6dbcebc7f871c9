//! Parameters of blocks on the command line: every allowed value gives Verilog, and a testbench that fits it.
use crate::command::selvedge_in;
use crate::guide::shell;
use selvedge_blocks::built_in;

#[test]
fn every_allowed_value_of_a_parameter_gives_verilog() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut count = 0;
    for entry in built_in() {
        for spec in entry.schema() {
            for value in spec.allowed.samples() {
                let mut params = entry.defaults();
                params[spec.name] = value.clone();
                if entry.check(&params).is_err() {
                    continue;
                }
                let pair = format!("{}={}", spec.name, value.to_string().trim_matches('"'));
                let output = selvedge_in(folder.path(), &["gen", entry.name(), "--param", &pair]);
                let error = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{} {pair}: {error}", entry.name());
                count += 1;
            }
        }
    }
    assert!(count > 60, "{count} values");
}

#[test]
fn the_testbench_of_a_block_with_parameters_fits_its_verilog() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "selvedge gen bdi_decompressor --param line_bytes=64 && \
                selvedge wave bdi_decompressor --param line_bytes=64 -o out/bdi.vcd && cd out && \
                iverilog -o tb bdi_decompressor_line_bytes_64_tb.v $(cat bdi_decompressor_line_bytes_64.f) && vvp -n tb";
    let output = shell(folder.path(), line);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("PASS 1000 vectors"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
