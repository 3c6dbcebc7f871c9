//! Examples at the end of `selvedge COMMAND --help`. A test runs them in this order in one folder.

/// A command and its examples: the effect, and the line to type.
type Examples = (&'static str, &'static [(&'static str, &'static str)]);

/// The examples of each command.
pub const EXAMPLES: &[Examples] = &[
    (
        "selvedge",
        &[
            ("List the workloads, mechanisms, configurations and blocks", "selvedge list"),
            ("Run a workload under a mechanism", "selvedge run kmeans --mechanism hw-bdi"),
            ("Compare mechanisms", "selvedge compare bfs --mechanisms base,hw-bdi,latte-cc"),
            ("Write the Verilog of a block to the folder out", "selvedge gen bdi_compressor"),
        ],
    ),
    (
        "selvedge config show",
        &[
            (
                "Write all values of a configuration to a file that you can edit",
                "selvedge config show gtx480 > my.toml",
            ),
            ("Print the values as JSON", "selvedge config show titan-v --json"),
        ],
    ),
    (
        "selvedge run",
        &[
            (
                "Run a workload and write its report as JSON",
                "selvedge run bfs --mechanism latte-cc --json bfs.json",
            ),
            (
                "Change the configuration and set an option of a mechanism",
                "selvedge run kmeans --config my.toml --set l1d.sets=64 --mechanism swl,limit=4",
            ),
            (
                "Record the ports of a block as a waveform",
                "selvedge run bfs --mechanism dmil --probe sm0.milg --vcd milg.vcd",
            ),
            ("Run two workloads at the same time", "selvedge run bfs+kmeans --share smk-p --alone"),
        ],
    ),
    (
        "selvedge cuda",
        &[
            ("Run a CUDA program with its kernels simulated", "selvedge cuda -- ./vectorAdd"),
            (
                "Simulate a mechanism and write the report as JSON",
                "selvedge cuda --mechanism hw-bdi --json report.json -- ./vectorAdd 1024",
            ),
            (
                "Estimate a long program from parts that run on all processors",
                "selvedge cuda --intervals 10 -- ./vectorAdd",
            ),
            (
                "Record the program to run it again without a CUDA toolkit",
                "selvedge cuda --functional --record vectorAdd.sprog -- ./vectorAdd",
            ),
        ],
    ),
    (
        "selvedge suite",
        &[
            ("List the benchmark suites", "selvedge suite list"),
            ("List the programs of a suite", "selvedge suite list rodinia"),
        ],
    ),
    (
        "selvedge suite list",
        &[
            ("List the programs of a suite", "selvedge suite list rodinia"),
            ("Print them as JSON", "selvedge suite list rodinia --json"),
        ],
    ),
    (
        "selvedge suite check",
        &[("Check a copy of Rodinia", "selvedge suite check rodinia --path gpu-rodinia")],
    ),
    (
        "selvedge suite build",
        &[
            ("Compile all programs", "selvedge suite build rodinia --path gpu-rodinia"),
            ("Compile two programs", "selvedge suite build rodinia bfs backprop --path gpu-rodinia"),
        ],
    ),
    (
        "selvedge suite record",
        &[("Record a program", "selvedge suite record rodinia bfs --path gpu-rodinia -o records")],
    ),
    (
        "selvedge compare",
        &[
            (
                "Compare two mechanisms with the baseline",
                "selvedge compare bfs kmeans --mechanisms base,hw-bdi,latte-cc",
            ),
            (
                "Compare two settings of an option and draw the speedups",
                "selvedge compare bfs --mechanisms base,swl,limit=4,swl,limit=8 --plot speedup.svg",
            ),
            (
                "Write all statistics as CSV",
                "selvedge compare bfs --mechanisms base,hw-bdi --csv bfs.csv --json compared.json",
            ),
            (
                "Compare mechanisms for workloads that run at the same time",
                "selvedge compare bfs+kmeans --mechanisms base,dmil",
            ),
        ],
    ),
    (
        "selvedge study",
        &[
            ("Simulate all points of a study and print their table", "selvedge study study.toml"),
            ("Write the results as Parquet", "selvedge study collect study.toml -o results.parquet"),
        ],
    ),
    (
        "selvedge study run",
        &[("Run four simulations at the same time", "selvedge study run study.toml --jobs 4")],
    ),
    (
        "selvedge study show",
        &[
            ("Estimate the time that a study needs", "selvedge study show study.toml"),
            ("List its points", "selvedge study show study.toml --points"),
        ],
    ),
    ("selvedge study status", &[("Count the points that have a result", "selvedge study status study.toml")]),
    (
        "selvedge study collect",
        &[
            ("Print the results as CSV", "selvedge study collect study.toml"),
            (
                "Write them as CSV and Parquet",
                "selvedge study collect study.toml -o results.csv -o results.parquet",
            ),
        ],
    ),
    (
        "selvedge study point",
        &[("Simulate the first two points", "selvedge study point study.toml --index 0 --count 2")],
    ),
    (
        "selvedge study export",
        &[
            ("Write a Slurm array job", "selvedge study export slurm study.toml --store store -o jobs"),
            ("Write a Snakefile", "selvedge study export snakemake study.toml --store store -o workflow"),
        ],
    ),
    (
        "selvedge study speeds",
        &[("Print the times of the workloads in a study", "selvedge study speeds study.toml")],
    ),
    (
        "selvedge reproduce",
        &[
            ("List the figures that can be reproduced", "selvedge reproduce --list"),
            ("Reproduce a small figure and draw it", "selvedge reproduce tiny --plot tiny.svg"),
        ],
    ),
    (
        "selvedge classify",
        &[
            ("Classify two workloads with their smallest inputs", "selvedge classify bfs kmeans --size tiny"),
            ("Write the criteria as CSV", "selvedge classify bfs --size tiny --csv classes.csv"),
        ],
    ),
    (
        "selvedge report",
        &[
            ("Write a page about a run", "selvedge report bfs.json -o bfs.html"),
            ("Write a page about the stored results of a study", "selvedge report study.toml -o study.html"),
        ],
    ),
    ("selvedge init", &[("Write the crate my_filter", "selvedge init my_filter")]),
    (
        "selvedge new",
        &[
            (
                "Write a launch file for the kernels of a PTX file",
                "selvedge new --ptx reverse.ptx -o ptx.toml",
            ),
            ("Compile CUDA kernels with clang first", "selvedge new --cuda reverse.cu -o cuda.toml"),
        ],
    ),
    (
        "selvedge gen",
        &[
            ("Write the Verilog of a block to the folder verilog", "selvedge gen milg -o verilog"),
            (
                "Set a parameter and write SystemVerilog",
                "selvedge gen bdi_compressor --param line_bytes=64 --sv -o verilog",
            ),
            ("Write a cocotb testbench too", "selvedge gen milg --cocotb -o bench"),
            ("Put SRAM macros in place of memories", "selvedge gen md_cache --memories wrapper -o sram"),
        ],
    ),
    (
        "selvedge area",
        &[
            ("Report area and critical path of a block in standard cells", "selvedge area milg"),
            ("Report the resources of an FPGA", "selvedge area milg --target ecp5"),
            (
                "Sum the blocks of a mechanism in a whole GPU",
                "selvedge area --mechanisms dmil --json area.json",
            ),
        ],
    ),
    (
        "selvedge wave",
        &[
            ("Write the waveform of a block", "selvedge wave milg -o milg.vcd"),
            (
                "Write 200 cycles as FST, with the registers",
                "selvedge wave milg --cycles 200 --inside -o milg.fst",
            ),
        ],
    ),
    (
        "selvedge verify",
        &[
            ("Compare model, RTL and emitted Verilog of a block", "selvedge verify milg"),
            (
                "Compare your Verilog too, and write the coverage as JSON",
                "selvedge verify milg --verilog verilog/milg.v,verilog/milg_small_divider.v --json milg.json",
            ),
            ("Plant faults and report which of them the stimulus finds", "selvedge verify milg --mutate 4"),
        ],
    ),
    (
        "selvedge trace",
        &[
            ("Record a workload as a trace", "selvedge trace record bfs -o bfs.strace"),
            ("Print the launches of the trace", "selvedge trace info bfs.strace"),
            ("Write the trace in Accel-Sim's format", "selvedge trace export bfs.strace -o bfs"),
        ],
    ),
    (
        "selvedge trace record",
        &[("Record a workload as a trace", "selvedge trace record bfs --size tiny -o bfs.strace")],
    ),
    (
        "selvedge trace export",
        &[("Write a trace in Accel-Sim's format", "selvedge trace export bfs.strace -o bfs")],
    ),
    ("selvedge trace info", &[("Print the launches of a trace", "selvedge trace info bfs.strace")]),
    (
        "selvedge config",
        &[
            ("Explain a key", "selvedge config explain l1d.mshr_entries"),
            ("Check a file", "selvedge config check my.toml"),
        ],
    ),
    (
        "selvedge config explain",
        &[
            ("Explain a key", "selvedge config explain l1d.mshr_entries"),
            ("Print all keys", "selvedge config explain"),
        ],
    ),
    ("selvedge config check", &[("Check a file", "selvedge config check my.toml")]),
    (
        "selvedge config import",
        &[("Translate a GPGPU-Sim configuration", "selvedge config import gpgpusim.config -o imported.toml")],
    ),
    ("selvedge fidelity", &[("Measure one configuration", "selvedge fidelity --config gtx480")]),
    (
        "selvedge calibrate",
        &[
            (
                "Write the microbenchmarks, to compile them with nvcc",
                "selvedge calibrate source -o calibrate.cu",
            ),
            ("Fit a configuration to their results", "selvedge calibrate fit --json gpu.json -o fitted.toml"),
            (
                "Simulate the microbenchmarks and compare the cycles",
                "selvedge calibrate compare --json gpu.json --config fitted.toml -- ./calibrate",
            ),
        ],
    ),
    (
        "selvedge calibrate source",
        &[(
            "Write the microbenchmarks, to compile them with nvcc",
            "selvedge calibrate source -o calibrate.cu",
        )],
    ),
    (
        "selvedge calibrate fit",
        &[
            ("Fit a configuration", "selvedge calibrate fit --json gpu.json -o fitted.toml"),
            (
                "Choose the base and a name",
                "selvedge calibrate fit --json gpu.json --base titan-v --name mine",
            ),
        ],
    ),
    (
        "selvedge calibrate compare",
        &[
            (
                "Compare with results under `selvedge cuda`, and draw them",
                "selvedge calibrate compare --json gpu.json --simulated simulated.json --plot cycles.svg",
            ),
            (
                "Simulate the microbenchmarks",
                "selvedge calibrate compare --json gpu.json --config h100 -- ./calibrate",
            ),
        ],
    ),
    (
        "selvedge list",
        &[
            ("Print all names", "selvedge list"),
            ("Print the mechanisms", "selvedge list mechanisms"),
            ("Print one block in full", "selvedge list blocks bdi_compressor"),
        ],
    ),
    (
        "selvedge list workloads",
        &[
            ("Print the workloads with their sizes", "selvedge list workloads --size small"),
            ("Print one in full", "selvedge list workloads bfs"),
        ],
    ),
    (
        "selvedge list mechanisms",
        &[
            ("Print one in full, with its options", "selvedge list mechanisms latte-cc"),
            ("Print all as JSON", "selvedge list mechanisms --json"),
        ],
    ),
    ("selvedge list configurations", &[("Print one in full", "selvedge list configurations titan-v")]),
    (
        "selvedge list blocks",
        &[
            ("Print one in full, with its ports and parameters", "selvedge list blocks milg"),
            ("Print all as JSON", "selvedge list blocks --json"),
        ],
    ),
    (
        "selvedge stats",
        &[
            ("Print all statistics", "selvedge stats list"),
            ("Explain one", "selvedge stats explain totals.l1d.misses"),
        ],
    ),
    ("selvedge stats list", &[("Print all statistics", "selvedge stats list")]),
    (
        "selvedge stats explain",
        &[
            ("Explain a column of JSON, CSV and Parquet", "selvedge stats explain totals.l1d.misses"),
            ("Explain a statistic of GPGPU-Sim", "selvedge stats explain bw_util"),
        ],
    ),
    (
        "selvedge schema",
        &[
            ("List the schemas", "selvedge schema"),
            ("Write the schema of a run's report", "selvedge schema run > run.schema.json"),
        ],
    ),
    ("selvedge doctor", &[("Report which tools are installed", "selvedge doctor")]),
    ("selvedge completions", &[("Complete commands in bash", "selvedge completions bash > selvedge.bash")]),
    ("selvedge man", &[("Write all manual pages to the folder man", "selvedge man -o man")]),
    (
        "selvedge bench",
        &[
            ("Measure one case once", "selvedge bench --case gen-all --repeat 1"),
            ("Compare with another binary", "selvedge bench --case small --against ./selvedge-old"),
            ("Compare with an installed Accel-Sim", "selvedge bench --peers ./accel-sim-framework vecadd"),
        ],
    ),
];
