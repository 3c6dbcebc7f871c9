//! Users' own kernels: kernels with features that no built-in workload uses run.
use crate::command::selvedge_in;
use crate::guide::shell;
use selvedge_testbenches::skipped::skip;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Compiler of CUDA kernels without a toolkit.
const COMPILER: &str = "clang++-19";

/// Copies the example in `docs/own-kernels`, and the header that it includes, to a temporary folder.
fn copy_of_the_example() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder");
    for folder in ["docs/own-kernels", "sim/workloads/kernels"] {
        fs::create_dir_all(root.path().join(folder)).expect("a folder");
    }
    let files = ["jacobi.cu", "jacobi.ptx", "jacobi.awk"].map(|name| format!("docs/own-kernels/{name}"));
    for file in files.iter().map(String::as_str).chain(["sim/workloads/kernels/device.h"]) {
        fs::copy(file, root.path().join(file)).expect(file);
    }
    root
}

#[test]
fn the_example_compiles_to_its_ptx() {
    if Command::new(COMPILER).arg("--version").output().is_err() {
        let reason = format!("{COMPILER} is not installed");
        return skip("the_example_compiles_to_its_ptx", &reason);
    }
    let root = copy_of_the_example();
    let folder = root.path().join("docs/own-kernels");
    let kept = fs::read_to_string(folder.join("jacobi.ptx")).expect("the PTX is there");
    fs::remove_file(folder.join("jacobi.ptx")).expect("removed");
    let line = format!(
        "{COMPILER} -x cuda --cuda-device-only --cuda-gpu-arch=sm_60 -nocudainc -nocudalib -O3 \
         -include ../../sim/workloads/kernels/device.h -S jacobi.cu -o jacobi.ptx"
    );
    let output = shell(&folder, &line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_to_string(folder.join("jacobi.ptx")).expect("compiled"), kept);
}

/// Copies tests/data to a temporary folder.
pub fn data() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir("tests/data").expect("the folder is there") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("copied");
    }
    folder
}

/// Runs a launch file in a copy of tests/data. Returns exit code and standard error.
fn run(folder: &Path, file: &str) -> (Option<i32>, String) {
    let output = selvedge_in(folder, &["run", file]);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_call_with_a_local_stack_gives_the_expected_values() {
    let folder = data();
    assert_eq!(run(folder.path(), "stack.toml"), (Some(0), String::new()));
}

#[test]
fn dynamic_shared_memory_gives_the_expected_values() {
    let folder = data();
    assert_eq!(run(folder.path(), "reverse.toml"), (Some(0), String::new()));
    let saved = fs::read(folder.path().join("twice.bin")).expect("saved");
    let first = u64::from_le_bytes(saved[..8].try_into().expect("eight bytes"));
    assert_eq!((saved.len(), first), (8 * 96, 18_446_744_073_709_551_600));
}

#[test]
fn textures_by_a_handle_and_through_a_reference_give_the_expected_values() {
    let folder = data();
    assert_eq!(run(folder.path(), "shrink.toml"), (Some(0), String::new()));
}

#[test]
fn a_texture_that_the_launch_file_does_not_bind_is_named_by_the_fault() {
    let folder = data();
    let path = folder.path().join("shrink.toml");
    let text = fs::read_to_string(&path).expect("there").replace("reference = \"table\"\n", "");
    fs::write(&path, text).expect("written");
    let (code, error) = run(folder.path(), "shrink.toml");
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("shrink.ptx:") && error.contains("samples 0x0, which is no texture"), "{error}");
}

#[test]
fn symbols_structures_and_a_loop_with_a_flag_give_the_expected_values() {
    let folder = data();
    assert_eq!(run(folder.path(), "reach.toml"), (Some(0), String::new()));
    let saved = fs::read_to_string(folder.path().join("reach.saved.txt")).expect("saved");
    let wanted = fs::read_to_string(folder.path().join("reach.end.txt")).expect("there");
    assert_eq!(saved, wanted);
}

#[test]
fn a_wrong_result_names_the_first_element_and_exits_with_1() {
    let folder = data();
    let path = folder.path().join("stack.out.txt");
    let wanted = fs::read_to_string(&path).expect("there");
    let mut lines: Vec<&str> = wanted.lines().collect();
    (lines[7], lines[9]) = ("-3", "-3");
    fs::write(&path, lines.join("\n")).expect("written");
    let (code, error) = run(folder.path(), "stack.toml");
    assert_eq!(code, Some(1));
    assert_eq!(
        error,
        "selvedge: stack.toml tiny: stack.toml:18: out[7] = 637, stack.out.txt wants -3 (must be equal; 2 of 100 \
         differ)\n"
    );
}

#[test]
fn a_loop_whose_flag_never_comes_fails_with_1() {
    let folder = data();
    let text = fs::read_to_string(folder.path().join("reach.toml")).expect("there");
    let text = text.replace("name = \"spread\"\nuntil", "name = \"spread\"\nturns = 3\nuntil");
    fs::write(folder.path().join("reach.toml"), text).expect("written");
    let (code, error) = run(folder.path(), "reach.toml");
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("loop `spread`: changed[0] is 1 after 3 turns, which should be zero"), "{error}");
}

#[test]
fn an_unwritable_result_is_noticed_before_the_run() {
    let folder = data();
    fs::create_dir(folder.path().join("twice.bin")).expect("a folder in its way");
    let (code, error) = run(folder.path(), "reverse.toml");
    assert_eq!(code, Some(2));
    assert!(error.contains("cannot write twice.bin"), "{error}");
}

#[test]
fn the_template_of_every_foreign_shape_runs_as_it_is() {
    let folder = data();
    for ptx in ["stack", "reverse", "reach", "shrink"] {
        let (file, source) = (format!("{ptx}_new.toml"), format!("{ptx}.ptx"));
        let written = selvedge_in(folder.path(), &["new", &file, "--ptx", &source]);
        assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
        assert_eq!(run(folder.path(), &file), (Some(0), String::new()), "{ptx}");
    }
}

/// Kernels that use the definitions of `new --cuda`'s header.
const KERNELS: &str = r#"
__constant__ float weights[4];
template <class T> __global__ void add(T *a, const T *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] += __ldg(b + i);
}
template __global__ void add<double>(double *, const double *, int);

__global__ void __launch_bounds__(256) all(float4 *v, int *counts, unsigned long long *words, unsigned n)
{
    dim3 shape = blockDim;
    unsigned i = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + threadIdx.x + shape.x * threadIdx.z;
    int sum = 1;
    for (int step = warpSize / 2; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    unsigned odd = __ballot_sync(0xffffffff, i & 1);
    if (i == 0) {
        counts[0] = sum;
        counts[1] = __popc(odd) + (__any(n == 16) ? 100 : 0);
        counts[2] = max(__float2int_rn(2.5f), min(7, 9)) + __clz(1) + __mulhi(1 << 30, 8);
        v[0] = make_float4(sqrtf(9.0f), fmaf(2.0f, 3.0f, 4.0f), floorf(-0.5f), __expf(0.0f) + fabsf(-1.0f));
        printf("%d lanes\n", sum);
    }
    atomicAdd(&counts[3], 2);
    atomicMax(&words[0], (unsigned long long)i);
    assert(i < 1000);
}
"#;

#[test]
fn new_compiles_cuda_kernels_that_use_its_header() {
    if Command::new(COMPILER).arg("--version").output().is_err() {
        let reason = format!("{COMPILER} is not installed");
        return skip("new_compiles_cuda_kernels_that_use_its_header", &reason);
    }
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("kernels.cu"), KERNELS).expect("written");
    let written = selvedge_in(folder.path(), &["new", "my.toml", "--cuda", "kernels.cu"]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    assert_eq!(run(folder.path(), "my.toml"), (Some(0), "32 lanes\n".into()));
    let text = fs::read_to_string(folder.path().join("my.toml")).expect("there");
    for type_of in ["\"f64\"", "\"f32\"", "\"u32\"", "\"u64\""] {
        assert!(text.contains(&format!("type = {type_of}")), "{type_of} in\n{text}");
    }
    let counted = "ptx = \"my.ptx\"\nkernel = \"all\"\ngrid = [1]\nblock = [32]\n\
                   [[buffer]]\nname = \"counts\"\ntype = \"s32\"\ncount = 4\nexpect = { file = \"counts.txt\" }\n\
                   [[buffer]]\nname = \"v\"\ntype = \"f32\"\ncount = 128\nsave = { file = \"v.txt\" }\n\
                   [[buffer]]\nname = \"words\"\ntype = \"u64\"\ncount = 1\nexpect = { file = \"words.txt\" }\n\
                   [[arg]]\nbuffer = \"v\"\n[[arg]]\nbuffer = \"counts\"\n[[arg]]\nbuffer = \"words\"\n\
                   [[arg]]\ntype = \"u32\"\nvalue = 16\n";
    fs::write(folder.path().join("counted.toml"), counted).expect("written");
    fs::write(folder.path().join("counts.txt"), "32 116 40 64").expect("written");
    fs::write(folder.path().join("words.txt"), "31").expect("written");
    assert_eq!(run(folder.path(), "counted.toml"), (Some(0), "32 lanes\n".into()));
    let saved = fs::read_to_string(folder.path().join("v.txt")).expect("saved");
    assert_eq!(saved.split_whitespace().take(4).collect::<Vec<_>>(), ["3.0", "10.0", "-1.0", "2.0"]);
}

/// A function of the header, the factor of its argument, and its reference in double precision.
type Function = (&'static str, f64, fn(f64) -> f64);

/// Mathematical functions of the header. Arguments are from -39 to 39 times the factor.
const FUNCTIONS: [Function; 23] = [
    ("exp(x)", 1.0, f64::exp),
    ("exp2(x)", 1.0, f64::exp2),
    ("exp10(x)", 0.1, |x| 10f64.powf(x)),
    ("expm1(x)", 0.02, f64::exp_m1),
    ("log(fabs(x))", 1.0, |x| x.abs().ln()),
    ("log2(fabs(x))", 1.0, |x| x.abs().log2()),
    ("log10(fabs(x))", 1.0, |x| x.abs().log10()),
    ("log1p(x)", 0.02, f64::ln_1p),
    ("sin(x)", 0.04, f64::sin),
    ("cos(x)", 0.04, f64::cos),
    ("tan(x)", 0.02, f64::tan),
    ("asin(x)", 0.02, f64::asin),
    ("acos(x)", 0.02, f64::acos),
    ("atan(x)", 1.0, f64::atan),
    ("atan2(x, x - 1)", 0.1, |x| x.atan2(x - 1.0)),
    ("sinh(x)", 0.1, f64::sinh),
    ("cosh(x)", 0.1, f64::cosh),
    ("tanh(x)", 0.04, f64::tanh),
    ("cbrt(x)", 1.0, f64::cbrt),
    ("hypot(x, 2)", 1.0, |x| x.hypot(2.0)),
    ("fmod(x, 0.5)", 1.0, |x| x % 0.5),
    ("round(x)", 1.0, f64::round),
    ("pow(x, 3) + pow(fabs(x), 2.5)", 0.1, |x| x.powi(3) + x.abs().powf(2.5)),
];

#[test]
fn the_headers_mathematics_agree_with_the_hosts() {
    if Command::new(COMPILER).arg("--version").output().is_err() {
        let reason = format!("{COMPILER} is not installed");
        return skip("the_headers_mathematics_agree_with_the_hosts", &reason);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    // Numbers that both precisions represent exactly.
    let x: Vec<f64> = (0..128).map(|i| (f64::from(i) - 63.5) * 0.609_375).collect();
    fs::write(path("x.txt"), x.iter().map(|x| format!("{x} ")).collect::<String>()).expect("written");
    for (real, suffix, relative) in [("double", "f64", 2e-14), ("float", "f32", 4e-6)] {
        let mut calls = String::new();
        for (k, (function, factor, _)) in FUNCTIONS.iter().enumerate() {
            let function =
                function.replace("2.5", &format!("({real})2.5")).replace("0.5", &format!("({real})0.5"));
            calls += &format!("    x = in[i] * ({real}){factor}; out[128 * {k} + i] = {function};\n");
        }
        let source = format!(
            "__global__ void all(const {real} *in, {real} *out)\n{{\n    int i = threadIdx.x;\n    {real} x;\n{calls}}}\n"
        );
        let [cu, toml, run] = ["cu", "toml", "run.toml"].map(|end| format!("{real}.{end}"));
        fs::write(path(&cu), source).expect("written");
        let written = selvedge_in(folder.path(), &["new", &toml, "--cuda", &cu]);
        assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
        let count = 128 * FUNCTIONS.len();
        let launch = format!(
            "ptx = \"{real}.ptx\"\nkernel = \"all\"\ngrid = [1]\nblock = [128]\n[[buffer]]\nname = \"x\"\n\
             type = \"{suffix}\"\nfile = \"x.txt\"\n[[buffer]]\nname = \"out\"\ntype = \"{suffix}\"\n\
             count = {count}\nsave = {{ file = \"out.txt\" }}\n[[arg]]\nbuffer = \"x\"\n[[arg]]\nbuffer = \"out\"\n"
        );
        fs::write(path(&run), launch).expect("written");
        let output = selvedge_in(folder.path(), &["run", &run, "--functional"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let saved = fs::read_to_string(path("out.txt")).expect("saved");
        let saved: Vec<f64> =
            saved.split_whitespace().map(|number| number.parse().expect("a number")).collect();
        assert_eq!(saved.len(), count);
        for (k, (function, factor, wanted)) in FUNCTIONS.iter().enumerate() {
            for (i, x) in x.iter().enumerate() {
                let x = if real == "float" {
                    #[allow(clippy::cast_possible_truncation, reason = "as the kernel does")]
                    let (x, factor) = (*x as f32, *factor as f32);
                    f64::from(x * factor)
                } else {
                    x * factor
                };
                let (found, wanted) = (saved[128 * k + i], wanted(x));
                assert!(
                    (found - wanted).abs() <= relative * wanted.abs().max(0.05),
                    "{real}: {function} of {x}: {found}, not {wanted}"
                );
            }
        }
    }
}

/// A program with host code that includes headers of the host and the toolkit, and kernels that fetch from textures.
const PROGRAM: &str = r#"
#include <cuda_runtime.h>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
texture<float, 1, cudaReadModeElementType> line;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> image;
__global__ void fetch(float *out, cudaTextureObject_t object, int n)
{
    int i = threadIdx.x;
    assert(i < n);
    uchar4 texel = tex1Dfetch<uchar4>(object, i);
    out[i] = tex1Dfetch(line, i) + tex2D(image, i % 8 + 0.5f, i / 8 + 0.5f) + std::sqrt(4.0f) + std::max(i, 2);
    out[32 + i] = texel.x + texel.w;
}
int main()
{
    float *out;
    cudaError_t code = cudaMalloc((void **)&out, 64 * sizeof(float));
    if (code != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
    std::vector<float> values(32, std::sqrt(2.0f));
    cudaMemcpy(out, values.data(), 128, cudaMemcpyHostToDevice);
    cudaBindTexture(nullptr, line, out, 128);
    dim3 grid(1), block(32);
    fetch<<<grid, block>>>(out, 0, 32);
    cudaDeviceSynchronize();
    free(malloc(8));
    return 0;
}
"#;

#[test]
fn new_compiles_the_kernels_of_a_program_with_host_code_and_textures() {
    let test = "new_compiles_the_kernels_of_a_program_with_host_code_and_textures";
    if Command::new(COMPILER).arg("--version").output().is_err() {
        return skip(test, &format!("{COMPILER} is not installed"));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("program.cu"), PROGRAM).expect("written");
    let written = selvedge_in(folder.path(), &["new", "my.toml", "--cuda", "program.cu"]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    assert_eq!(run(folder.path(), "my.toml"), (Some(0), String::new()));
    let texture = |name: &str, buffer: &str, size: &str| {
        format!("[[texture]]\nname = \"{name}\"\nbuffer = \"{buffer}\"\nsize = {size}\n")
    };
    let launch = [
        "ptx = \"my.ptx\"\nkernel = \"fetch\"\ngrid = [1]\nblock = [32]\n\
         [[buffer]]\nname = \"numbers\"\ntype = \"f32\"\ncount = 32\ninit = \"iota\"\n\
         [[buffer]]\nname = \"bytes\"\ntype = \"u8\"\ncount = 128\ninit = \"iota\"\n\
         [[buffer]]\nname = \"out\"\ntype = \"f32\"\ncount = 64\nexpect = { file = \"wanted.txt\", relative = 1e-6 }\n",
        &texture("line", "numbers", "[32]"),
        "reference = \"line\"\n",
        &texture("image", "bytes", "[8, 4]"),
        "reference = \"image\"\nread = \"normalized\"\n",
        &texture("object", "bytes", "[32]"),
        "channels = 4\n[[arg]]\nbuffer = \"out\"\n[[arg]]\ntexture = \"object\"\n\
         [[arg]]\ntype = \"s32\"\nvalue = 32\n",
    ];
    fs::write(path("textures.toml"), launch.concat()).expect("written");
    let first = (0..32).map(|i| f64::from(i) + f64::from(i) / 255.0 + 2.0 + f64::from(i.max(2)));
    let second = (0..32).map(|i| f64::from(4 * i + 4 * i + 3));
    fs::write(path("wanted.txt"), first.chain(second).map(|x| format!("{x} ")).collect::<String>())
        .expect("written");
    assert_eq!(run(folder.path(), "textures.toml"), (Some(0), String::new()));
}

#[test]
fn new_says_in_one_line_what_cuda_kernels_lack() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("bad.cu"), "__global__ void k(double *a)\n{\n    *a = erf(*a);\n}\n")
        .expect("written");
    let refused = |words: &[&str]| {
        let output = selvedge_in(folder.path(), &[&["new", "my.toml"], words].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{error}");
        assert!(fs::read_dir(folder.path()).expect("there").count() == 1, "nothing is left behind");
        error
    };
    assert!(refused(&["--cuda", "none.cu"]).contains("none.cu: cannot read it"));
    let none = refused(&["--cuda", "bad.cu", "--clang", "./no-such-clang"]);
    assert!(none.contains("there is none of ./no-such-clang (--clang names one)"), "{none}");
    if Command::new(COMPILER).arg("--version").output().is_err() {
        return skip("new_says_in_one_line_what_cuda_kernels_lack", "clang++-19 is not installed");
    }
    let lacking = refused(&["--cuda", "bad.cu"]);
    assert!(lacking.contains("bad.cu:3:") && lacking.contains("undeclared identifier 'erf'"), "{lacking}");
}

#[test]
fn new_names_the_kernels_that_are_refused_and_launches_the_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let ptx = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry good(.param .u64 p) {\n.reg .b64 %rd<2>;\n\
               ld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], 7;\nret;\n}\n.visible .entry bad() {\nunknown.u32;\nret;\n}\n";
    fs::write(folder.path().join("k.ptx"), ptx).expect("written");
    let says = "k.ptx:11: kernel 'bad': unsupported instruction form `unknown.u32`: it is not known";
    let output = selvedge_in(folder.path(), &["new", "my.toml", "--ptx", "k.ptx"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &error;
    assert!(printed.contains(says), "{printed}");
    let text = fs::read_to_string(folder.path().join("my.toml")).expect("written");
    let listed = "# Kernels that cannot be executed:\n#   bad\n#     line 11: unsupported instruction form `unknown.u32`";
    assert!(text.contains(listed), "{text}");
    assert_eq!(run(folder.path(), "my.toml"), (Some(0), String::new()));
    // `run` and `new` refuse the kernel with the same line.
    fs::write(
        folder.path().join("bad.toml"),
        "ptx = \"k.ptx\"\nkernel = \"bad\"\ngrid = [1]\nblock = [32]\n",
    )
    .expect("written");
    for words in [&["run", "bad.toml"][..], &["new", "b.toml", "--ptx", "k.ptx", "--kernel", "bad"]] {
        let output = selvedge_in(folder.path(), words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{error}");
        assert!(error.contains(says.trim_start_matches("k.ptx:11: ")), "{error}");
    }
}

#[test]
fn accesses_in_front_of_a_buffer_are_none_where_the_configuration_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let ptx = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 p) {\n\
               .reg .b32 %r<4>; .reg .b64 %rd<4>;\nld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n\
               add.s64 %rd1, %rd1, %rd2; ld.global.u32 %r2, [%rd1-64]; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2; st.global.u32 [%rd1-128], %r2;\n\
               atom.global.add.u32 %r3, [%rd1-256], 1; ret; }";
    fs::write(folder.path().join("k.ptx"), ptx).expect("written");
    fs::write(
        folder.path().join("zero.toml"),
        "base = \"gtx480\"\nname = \"zero\"\n[memory]\nout_of_bounds = \"zero\"\n",
    )
    .expect("written");
    let launch = "ptx = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [32]\n[[buffer]]\nname = \"a\"\ntype = \"u32\"\n\
                  count = 32\ninit = \"constant\"\nvalue = 6\nexpect = { file = \"wanted.txt\" }\n[[arg]]\nbuffer = \"a\"\n";
    fs::write(folder.path().join("my.toml"), launch).expect("written");
    let wanted: String = (0..32).map(|lane| if lane < 16 { "1 " } else { "7 " }).collect();
    fs::write(folder.path().join("wanted.txt"), wanted).expect("written");
    let (code, error) = run(folder.path(), "my.toml");
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("reads 4 bytes at global address"), "{error}");
    assert!(error.contains("`memory.out_of_bounds = \"zero\"` allows it"), "{error}");
    for more in [&[][..], &["--mechanism", "hw-bdi"], &["--functional"]] {
        let words = [&["run", "my.toml", "--config", "zero.toml"], more].concat();
        let output = selvedge_in(folder.path(), &words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn new_refuses_what_it_cannot_do_and_never_overwrites() {
    let folder = data();
    let cases = [
        (["stack.toml", "--ptx", "stack.ptx"].to_vec(), "stack.toml exists already"),
        (["my.toml", "--ptx", "none.ptx"].to_vec(), "none.ptx: cannot read it"),
        (["my.toml", "--ptx", "stack.cu"].to_vec(), "stack.cu:"),
        (
            ["my.toml", "--ptx", "stack.ptx", "--kernel", "sort"].to_vec(),
            "no kernel 'sort' in the PTX: there are median",
        ),
        (["my.txt", "--ptx", "stack.ptx"].to_vec(), "must be a name that ends in .toml"),
    ];
    let before = fs::read(folder.path().join("stack.toml")).expect("there");
    for (words, says) in cases {
        let output = selvedge_in(folder.path(), &[&["new"], words.as_slice()].concat());
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains(says), "`{error}` should say `{says}`");
    }
    assert_eq!(fs::read(folder.path().join("stack.toml")).expect("there"), before);
    assert!(!folder.path().join("my.toml").exists());
}

#[test]
fn every_command_refuses_files_outside_the_sandbox() {
    let folder = data();
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).expect("a folder");
    let text = fs::read_to_string(folder.path().join("reverse.toml")).expect("there");
    fs::write(inside.join("my.toml"), text.replace("reverse.ptx", "../reverse.ptx")).expect("written");
    fs::copy("tests/traces/kernel-1.traceg", folder.path().join("kernel-1.traceg")).expect("copied");
    fs::write(inside.join("kernelslist.g"), "../kernel-1.traceg\n").expect("written");
    for (words, place) in [
        (&["run", "inside/my.toml"][..], "inside/my.toml:1: "),
        (&["run", "vecadd+inside/my.toml"], "inside/my.toml:1: "),
        (&["compare", "inside/my.toml", "--mechanisms", "base"], "inside/my.toml:1: "),
        (&["trace", "record", "inside/my.toml", "-o", "x.strace"], "inside/my.toml:1: "),
        (&["run", "inside/kernelslist.g"], "inside/kernelslist.g:1: "),
        (&["trace", "info", "inside/kernelslist.g"], "inside/kernelslist.g:1: "),
    ] {
        let output = selvedge_in(folder.path(), &[words, &["--sandbox"]].concat());
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{words:?}: {error}");
        assert!(error.contains(place) && error.contains("outside this file's folder"), "{words:?}: {error}");
    }
}

#[test]
fn results_are_saved_outside_the_folder_only_when_that_is_allowed() {
    let folder = data();
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).expect("a folder");
    for file in ["reverse.ptx", "reverse.in.txt"] {
        fs::copy(folder.path().join(file), inside.join(file)).expect("copied");
    }
    let text = fs::read_to_string(folder.path().join("reverse.toml")).expect("there");
    fs::write(inside.join("my.toml"), text.replace("twice.bin", "../twice.bin")).expect("written");
    let (code, error) = run(folder.path(), "inside/my.toml");
    assert_eq!((code, error.lines().count()), (Some(2), 1), "{error}");
    for says in ["inside/my.toml:21: ", "../twice.bin", "--allow-outside"] {
        assert!(error.contains(says), "`{error}` should say `{says}`");
    }
    assert!(!folder.path().join("twice.bin").exists());
    let output = selvedge_in(folder.path(), &["run", "inside/my.toml", "--allow-outside"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.path().join("twice.bin").is_file());
    let words = ["compare", "inside/my.toml", "--mechanisms", "base"];
    assert!(selvedge_in(folder.path(), &words).status.success(), "what saves nothing needs no permission");
}
