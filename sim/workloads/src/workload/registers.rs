//! Registers of a thread that NVIDIA's assembler allocates for the built-in kernels.

/// File without its ending, kernel and registers of each kernel.
const TABLE: &str = include_str!("../../kernels/registers.tsv");

/// Returns the kernels of a PTX file in the table, each with its registers.
pub(super) fn of(file: &str) -> impl Iterator<Item = (&'static str, u32)> {
    let stem = file.strip_suffix(".ptx").unwrap_or(file);
    TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(move |line| {
        let mut cells = line.split('\t');
        let is_of_file = cells.next() == Some(stem);
        let (kernel, registers) = (cells.next()?, cells.next()?.parse().ok()?);
        is_of_file.then_some((kernel, registers))
    })
}
