//! cuBLAS by Selvedge's own kernels (`blas.ptx`), which are simpler and slower than NVIDIA's. Matrices are stored by columns.
use crate::connection::say;
use crate::copies::{self, CopySide};
use crate::driver::wrapped;
use crate::kernels::{LaunchConfiguration, LaunchWork};
use crate::memory::{ALIGNMENT, pointer};
use crate::pointers::{get, put};
use crate::protocol::{CUBLAS_KERNELS, Call, error, sync};
use crate::runtime::{RegisteredKernel, Runtime};
use crate::work::{CopyWork, Work};
use crate::{Done, device, entry};
use std::ffi::{CStr, c_char, c_int, c_void};

/// Kernels of one type of elements, with placeholders for the type.
const KERNELS: &str = include_str!("blas.ptx");
/// First lines of the PTX.
const HEAD: &str = ".version 3.0\n.target sm_20\n.address_size 64\n";
/// Threads per CTA of the kernels of vectors.
const THREADS: u32 = 256;
/// Max CTAs of the kernels of vectors.
const MOST_CTAS: u64 = 1024;
/// Max partial sums of a vector.
const MOST_SUMS: u64 = 128;
/// Threads per CTA of the product of a matrix and a vector.
const GEMV_THREADS: u32 = 128;
/// Sides of a tile of a product of matrices.
const TILE: u32 = 16;
/// Max CTAs in z.
const MOST_BATCH: c_int = 65_535;

/// A kernel of `blas.ptx`.
#[derive(Clone, Copy)]
enum BlasKernel {
    Axpy,
    Scal,
    Copy,
    Sum,
    Total,
    Gemv,
    Gemm,
}

/// Names of the kernels without prefix, in the order of [`BlasKernel`].
const NAMES: [&str; 7] = ["axpy", "scal", "copy", "sum", "total", "gemv", "gemm"];

/// Places whose addresses are the handles of the kernels: first for single precision, then for double precision.
static HANDLES: [u8; 2 * NAMES.len()] = [0; 2 * NAMES.len()];

/// Type of the elements.
#[derive(Clone, Copy)]
enum Precision {
    Single,
    Double,
}

impl Precision {
    const ALL: [Precision; 2] = [Precision::Single, Precision::Double];

    /// Returns the size of an element in bytes.
    fn bytes(self) -> i64 {
        match self {
            Precision::Single => 4,
            Precision::Double => 8,
        }
    }

    /// Returns the first letters of the kernels' names.
    fn prefix(self) -> String {
        let letter = match self {
            Precision::Single => 's',
            Precision::Double => 'd',
        };
        format!("{CUBLAS_KERNELS}{letter}")
    }

    /// Returns the PTX of the kernels.
    fn kernels(self) -> String {
        let (of, zero) = match self {
            Precision::Single => ("f32", "0f00000000"),
            Precision::Double => ("f64", "0d0000000000000000"),
        };
        let prefix = self.prefix();
        let (bytes, row) = (self.bytes().to_string(), ((i64::from(TILE) + 1) * self.bytes()).to_string());
        let changes =
            [("PREFIX", prefix.as_str()), ("TYPE", of), ("ZERO", zero), ("BYTES", &bytes), ("ROW", &row)];
        changes.into_iter().fold(KERNELS.to_owned(), |text, (from, to)| text.replace(from, to))
    }

    /// Reads an element of the program as bits.
    fn read(self, from: *const c_void) -> Done<u64> {
        match self {
            Precision::Single => get(from.cast::<u32>()).map(u64::from),
            Precision::Double => get(from.cast::<u64>()),
        }
    }

    /// Stores zero.
    fn put_zero(self, to: *mut c_void) -> Done {
        match self {
            Precision::Single => put(to.cast::<u32>(), 0),
            Precision::Double => put(to.cast::<u64>(), 0),
        }
    }
}

/// Context of a program's calls, which its handle points to.
struct BlasContext {
    stream: *mut c_void,
    /// `true`: scalars are in device memory.
    is_on_device: bool,
    math: c_int,
    atomics: c_int,
    /// Device memory for partial sums, and one element for a result.
    sums: u64,
}

/// Returns the context of a handle.
fn context<'a>(handle: *mut c_void) -> Done<&'a mut BlasContext> {
    // SAFETY: the program gives a handle that it got from cublasCreate and has not destroyed.
    unsafe { handle.cast::<BlasContext>().as_mut() }.ok_or(error::INITIALIZATION)
}

/// Returns the status of cuBLAS for a code of CUDA.
pub fn status(code: i32) -> i32 {
    match code {
        0 => 0,
        error::INITIALIZATION => 1,
        error::MEMORY_ALLOCATION => 3,
        error::INVALID_VALUE => 7,
        error::NOT_SUPPORTED => 15,
        _ => 13,
    }
}

/// A scalar: its device address, or 0 and its bits.
#[derive(Clone, Copy)]
struct Scalar {
    at: u64,
    bits: u64,
}

impl Scalar {
    fn new(context: &BlasContext, precision: Precision, from: *const c_void) -> Done<Self> {
        match context.is_on_device {
            true => Ok(Scalar { at: from as u64, bits: 0 }),
            false => Ok(Scalar { at: 0, bits: precision.read(from)? }),
        }
    }

    /// Returns whether it is known to be zero, of either sign. The other factors are then not read.
    fn is_zero(self, precision: Precision) -> bool {
        let sign = match precision {
            Precision::Single => 1 << 31,
            Precision::Double => 1 << 63,
        };
        self.at == 0 && self.bits & !sign == 0
    }
}

/// A vector: the address of its first element and the step between elements, in bytes.
#[derive(Clone, Copy)]
struct BlasVector {
    at: u64,
    step: u64,
}

impl BlasVector {
    /// Creates a vector of `count` elements. With a negative step, the first element has the highest address.
    fn new(at: *const c_void, count: c_int, step: c_int, precision: Precision) -> Self {
        let bytes = i64::from(step) * precision.bytes();
        let back = if step < 0 { i64::from(1 - count) * bytes } else { 0 };
        BlasVector { at: (at as i64).wrapping_add(back) as u64, step: bytes as u64 }
    }
}

/// A matrix as a factor: its address, the distances in bytes between rows and columns, and between matrices of a batch.
#[derive(Clone, Copy)]
struct BlasFactor {
    at: u64,
    row: i64,
    column: i64,
    batch: i64,
    /// `true`: neighboring elements are in a row.
    is_turned: bool,
}

impl BlasFactor {
    /// Creates a factor of `rows` rows and `columns` columns, which is stored as its transpose if the operation says so.
    fn new(
        operation: c_int,
        [rows, columns]: [c_int; 2],
        at: *const c_void,
        leading: c_int,
        precision: Precision,
    ) -> Done<Self> {
        let is_turned = match operation {
            0 => false,
            1 | 2 => true,
            _ => return Err(error::INVALID_VALUE),
        };
        if leading < (if is_turned { columns } else { rows }).max(1) {
            return Err(error::INVALID_VALUE);
        }
        let (near, far) = (precision.bytes(), precision.bytes() * i64::from(leading));
        let (row, column) = if is_turned { (far, near) } else { (near, far) };
        Ok(BlasFactor { at: at as u64, row, column, batch: 0, is_turned })
    }

    /// Returns the factor with the distance between matrices of a batch in elements.
    fn in_batch(self, elements: i64, precision: Precision) -> Self {
        BlasFactor { batch: elements * precision.bytes(), ..self }
    }
}

/// A product of matrices, or a batch of them: C = alpha * A * B + beta * C.
struct MatrixProduct {
    precision: Precision,
    /// Rows and columns of C, and columns of A.
    sides: [c_int; 3],
    alpha: Scalar,
    beta: Scalar,
    a: BlasFactor,
    b: BlasFactor,
    c: BlasFactor,
    count: c_int,
    /// `true`: the addresses lead to arrays of pointers.
    by_pointer: bool,
}

impl MatrixProduct {
    fn run(&self, runtime: &mut Runtime, context: &BlasContext) -> Done {
        let [m, n, k] = self.sides;
        if self.sides.iter().any(|side| *side < 0) || self.count < 0 {
            return Err(error::INVALID_VALUE);
        }
        if self.count > MOST_BATCH {
            say(&format!("a batch of {} products: must be at most {MOST_BATCH}", self.count));
            return Err(error::NOT_SUPPORTED);
        }
        if m == 0 || n == 0 || self.count == 0 {
            return Ok(());
        }
        let (m, n) = (m as u32, n as u32);
        let k = if self.alpha.is_zero(self.precision) { 0 } else { k as u64 };
        let factor =
            |of: &BlasFactor| [of.at, of.row as u64, of.column as u64, of.batch as u64, of.is_turned.into()];
        let mut values = vec![m.into(), n.into(), k];
        values.extend([self.alpha.at, self.alpha.bits, self.beta.at, self.beta.bits]);
        values.extend([&self.a, &self.b].into_iter().flat_map(factor));
        values.extend([self.c.at, self.c.column as u64, self.c.batch as u64, self.by_pointer.into()]);
        let grid = [m.div_ceil(TILE), n.div_ceil(TILE), self.count as u32];
        let shape = LaunchConfiguration::new(grid, [TILE, TILE, 1], 0, context.stream);
        launch(runtime, self.precision, BlasKernel::Gemm, shape, &values)
    }
}

/// Returns the handle of a kernel, and loads the kernels before the first use.
fn function(runtime: &mut Runtime, precision: Precision, kernel: BlasKernel) -> Done<*const c_void> {
    let handle = |number: usize| (&raw const HANDLES[number]).cast::<c_void>();
    if !runtime.kernels.contains_key(&(handle(0) as usize)) {
        let ptx = Precision::ALL.into_iter().fold(HEAD.to_owned(), |text, one| text + &one.kernels());
        let module = runtime.connection.numbers(Call::Module, &[], &wrapped(ptx.as_bytes()), 1)?[0];
        runtime.modules.push(Ok(module));
        let module = runtime.modules.len() - 1;
        let names =
            Precision::ALL.into_iter().flat_map(|one| NAMES.map(|name| format!("{}{name}", one.prefix())));
        for (number, name) in names.enumerate() {
            runtime.kernels.insert(handle(number) as usize, RegisteredKernel::new(module, name));
        }
    }
    Ok(handle(precision as usize * NAMES.len() + kernel as usize))
}

/// Launches a kernel. Each value is a parameter, which has the value's low bytes.
fn launch(
    runtime: &mut Runtime,
    precision: Precision,
    kernel: BlasKernel,
    shape: LaunchConfiguration,
    values: &[u64],
) -> Done {
    let function = function(runtime, precision, kernel)?;
    let args: Vec<*const c_void> = values.iter().map(|value| std::ptr::from_ref(value).cast()).collect();
    let work = LaunchWork::new(runtime, function, shape, args.as_ptr())?;
    runtime.submit(shape.stream(), Work::Launch(work))
}

/// Launches a kernel of a vector with one thread per element, up to a limit.
fn launch_vector(
    runtime: &mut Runtime,
    context: &BlasContext,
    precision: Precision,
    kernel: BlasKernel,
    count: u64,
    values: &[u64],
) -> Done {
    let ctas = count.div_ceil(THREADS.into()).min(MOST_CTAS) as u32;
    let shape = LaunchConfiguration::new([ctas, 1, 1], [THREADS, 1, 1], 0, context.stream);
    launch(runtime, precision, kernel, shape, values)
}

/// A sum over one or two vectors.
#[derive(Clone, Copy, PartialEq)]
enum VectorSum {
    Products,
    Magnitudes,
    RootOfProducts,
}

/// Computes a sum in two launches, and stores it where the program reads scalars.
fn sum(
    runtime: &mut Runtime,
    context: &BlasContext,
    precision: Precision,
    of: VectorSum,
    count: c_int,
    [x, y]: [BlasVector; 2],
    result: *mut c_void,
) -> Done {
    let count = count.max(0) as u64;
    if count == 0 && !context.is_on_device {
        return precision.put_zero(result);
    }
    let ctas = count.div_ceil(THREADS.into()).clamp(1, MOST_SUMS);
    let shape = |ctas, threads| LaunchConfiguration::new([ctas, 1, 1], [threads, 1, 1], 0, context.stream);
    let is_of_magnitudes = u64::from(of == VectorSum::Magnitudes);
    let values = [count, is_of_magnitudes, x.at, x.step, y.at, y.step, context.sums];
    launch(runtime, precision, BlasKernel::Sum, shape(ctas as u32, THREADS), &values)?;
    let total = if context.is_on_device { result as u64 } else { context.sums + 8 * MOST_SUMS };
    let values = [ctas, u64::from(of == VectorSum::RootOfProducts), context.sums, total];
    launch(runtime, precision, BlasKernel::Total, shape(1, 1), &values)?;
    match context.is_on_device {
        true => Ok(()),
        false => {
            let bytes = precision.bytes() as usize;
            runtime
                .submit(context.stream, Work::flat(result, pointer(total), bytes, copies::DEVICE_TO_HOST))?;
            runtime.synchronize_stream(context.stream)
        }
    }
}

/// Computes y = alpha * op(A) * x + beta * y.
fn gemv(
    runtime: &mut Runtime,
    context: &BlasContext,
    precision: Precision,
    a: BlasFactor,
    [rows, columns]: [c_int; 2],
    [alpha, beta]: [Scalar; 2],
    [x, y]: [BlasVector; 2],
) -> Done {
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let columns = if alpha.is_zero(precision) { 0 } else { columns as u64 };
    let mut values = vec![rows as u64, columns, alpha.at, alpha.bits, beta.at, beta.bits];
    values.extend([a.at, a.row as u64, a.column as u64, x.at, x.step, y.at, y.step]);
    let ctas = (rows as u32).div_ceil(GEMV_THREADS);
    let shape = LaunchConfiguration::new([ctas, 1, 1], [GEMV_THREADS, 1, 1], 0, context.stream);
    launch(runtime, precision, BlasKernel::Gemv, shape, &values)
}

/// Creates the copy of a vector or, with `rows` elements per column, of a matrix. Pitches are in elements.
fn copy_matrix(
    [rows, columns, element]: [c_int; 3],
    (from, from_pitch): (*const c_void, c_int),
    (to, to_pitch): (*mut c_void, c_int),
    kind: c_int,
) -> Done<Work> {
    if rows < 0 || columns < 0 || element <= 0 || from_pitch < rows.max(1) || to_pitch < rows.max(1) {
        return Err(error::INVALID_VALUE);
    }
    let bytes = |elements: c_int| elements as usize * element as usize;
    if rows == 0 || columns == 0 {
        return Ok(Work::Nothing);
    }
    let (to, from) = (CopySide::of(to, bytes(to_pitch)), CopySide::of(from, bytes(from_pitch)));
    Ok(Work::Copy(CopyWork { to, from, width: bytes(rows), height: columns as usize, kind }))
}

/// Defines functions of cuBLAS, which return its status. Each has the form `|runtime| body`.
macro_rules! blas {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) |$runtime:pat_param| $body:expr;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($($argument: $type),*) -> i32 {
            status(entry(stringify!($name), |$runtime| $body))
        }
    )*};
}

blas! {
    fn cublasCreate_v2(to: *mut *mut c_void) |runtime| {
        let sums = runtime.allocate(8 * (MOST_SUMS + 1), ALIGNMENT)?;
        let context = BlasContext { stream: std::ptr::null_mut(), is_on_device: false, math: 0, atomics: 0, sums };
        put(to, Box::into_raw(Box::new(context)).cast())
    };
    fn cublasDestroy_v2(handle: *mut c_void) |runtime| {
        runtime.release(context(handle)?.sums)?;
        // SAFETY: cublasCreate made it, and the program gives it back.
        drop(unsafe { Box::from_raw(handle.cast::<BlasContext>()) });
        Ok(())
    };
    fn cublasGetVersion_v2(_handle: *mut c_void, version: *mut c_int) |_| put(version, 10 * device::version());
    fn cublasSetStream_v2(handle: *mut c_void, stream: *mut c_void) |runtime| {
        let context = context(handle)?;
        // All streams share the handle's workspace.
        if context.stream != stream {
            runtime.wait_for(sync::ALL, 0)?;
        }
        context.stream = stream;
        Ok(())
    };
    fn cublasGetStream_v2(handle: *mut c_void, stream: *mut *mut c_void) |_| put(stream, context(handle)?.stream);
    fn cublasSetPointerMode_v2(handle: *mut c_void, mode: c_int) |_| {
        context(handle)?.is_on_device = mode == 1;
        Ok(())
    };
    fn cublasGetPointerMode_v2(handle: *mut c_void, mode: *mut c_int) |_| put(mode, context(handle)?.is_on_device.into());
    fn cublasSetMathMode(handle: *mut c_void, mode: c_int) |_| {
        context(handle)?.math = mode;
        Ok(())
    };
    fn cublasGetMathMode(handle: *mut c_void, mode: *mut c_int) |_| put(mode, context(handle)?.math);
    fn cublasSetAtomicsMode(handle: *mut c_void, mode: c_int) |_| {
        context(handle)?.atomics = mode;
        Ok(())
    };
    fn cublasGetAtomicsMode(handle: *mut c_void, mode: *mut c_int) |_| put(mode, context(handle)?.atomics);
    fn cublasSetWorkspace_v2(handle: *mut c_void, _workspace: *mut c_void, _bytes: usize) |_| context(handle).map(drop);
    fn cublasSetVector(
        count: c_int, element: c_int, from: *const c_void, from_step: c_int, to: *mut c_void, to_step: c_int,
    ) |runtime| {
        copy_matrix([1, count, element], (from, from_step), (to, to_step), copies::HOST_TO_DEVICE)?.run(runtime)
    };
    fn cublasGetVector(
        count: c_int, element: c_int, from: *const c_void, from_step: c_int, to: *mut c_void, to_step: c_int,
    ) |runtime| {
        copy_matrix([1, count, element], (from, from_step), (to, to_step), copies::DEVICE_TO_HOST)?.run(runtime)
    };
    fn cublasSetVectorAsync(
        count: c_int, element: c_int, from: *const c_void, from_step: c_int, to: *mut c_void, to_step: c_int,
        stream: *mut c_void,
    ) |runtime| {
        let work = copy_matrix([1, count, element], (from, from_step), (to, to_step), copies::HOST_TO_DEVICE)?;
        runtime.submit(stream, work)
    };
    fn cublasGetVectorAsync(
        count: c_int, element: c_int, from: *const c_void, from_step: c_int, to: *mut c_void, to_step: c_int,
        stream: *mut c_void,
    ) |runtime| {
        let work = copy_matrix([1, count, element], (from, from_step), (to, to_step), copies::DEVICE_TO_HOST)?;
        runtime.submit(stream, work)
    };
    fn cublasSetMatrix(
        rows: c_int, columns: c_int, element: c_int, from: *const c_void, from_pitch: c_int, to: *mut c_void, to_pitch: c_int,
    ) |runtime| {
        copy_matrix([rows, columns, element], (from, from_pitch), (to, to_pitch), copies::HOST_TO_DEVICE)?.run(runtime)
    };
    fn cublasGetMatrix(
        rows: c_int, columns: c_int, element: c_int, from: *const c_void, from_pitch: c_int, to: *mut c_void, to_pitch: c_int,
    ) |runtime| {
        copy_matrix([rows, columns, element], (from, from_pitch), (to, to_pitch), copies::DEVICE_TO_HOST)?.run(runtime)
    };
    fn cublasSetMatrixAsync(
        rows: c_int, columns: c_int, element: c_int, from: *const c_void, from_pitch: c_int, to: *mut c_void, to_pitch: c_int,
        stream: *mut c_void,
    ) |runtime| {
        let kind = copies::HOST_TO_DEVICE;
        runtime.submit(stream, copy_matrix([rows, columns, element], (from, from_pitch), (to, to_pitch), kind)?)
    };
    fn cublasGetMatrixAsync(
        rows: c_int, columns: c_int, element: c_int, from: *const c_void, from_pitch: c_int, to: *mut c_void, to_pitch: c_int,
        stream: *mut c_void,
    ) |runtime| {
        let kind = copies::DEVICE_TO_HOST;
        runtime.submit(stream, copy_matrix([rows, columns, element], (from, from_pitch), (to, to_pitch), kind)?)
    };
}

/// Defines the functions of one type of elements.
macro_rules! blas_of {
    ($precision:expr; $axpy:ident $scal:ident $copy:ident $swap:ident $dot:ident $nrm2:ident $asum:ident $gemv:ident $gemm:ident
    $strided:ident $batched:ident) => {
        blas! {
            fn $axpy(
                handle: *mut c_void, count: c_int, alpha: *const c_void, x: *const c_void, step_x: c_int, y: *mut c_void,
                step_y: c_int,
            ) |runtime| {
                let context = context(handle)?;
                let alpha = Scalar::new(context, $precision, alpha)?;
                if count <= 0 || alpha.is_zero($precision) {
                    return Ok(());
                }
                let (x, y) = (BlasVector::new(x, count, step_x, $precision), BlasVector::new(y, count, step_y, $precision));
                let values = [count as u64, alpha.at, alpha.bits, x.at, x.step, y.at, y.step];
                launch_vector(runtime, context, $precision, BlasKernel::Axpy, count as u64, &values)
            };
            fn $scal(handle: *mut c_void, count: c_int, alpha: *const c_void, x: *mut c_void, step: c_int) |runtime| {
                let context = context(handle)?;
                let alpha = Scalar::new(context, $precision, alpha)?;
                if count <= 0 || step <= 0 {
                    return Ok(());
                }
                let x = BlasVector::new(x, count, step, $precision);
                let values = [count as u64, alpha.at, alpha.bits, x.at, x.step];
                launch_vector(runtime, context, $precision, BlasKernel::Scal, count as u64, &values)
            };
            fn $copy(
                handle: *mut c_void, count: c_int, x: *const c_void, step_x: c_int, y: *const c_void, step_y: c_int,
            ) |runtime| copy(runtime, context(handle)?, $precision, count, false, [(x, step_x), (y, step_y)]);
            fn $swap(
                handle: *mut c_void, count: c_int, x: *const c_void, step_x: c_int, y: *const c_void, step_y: c_int,
            ) |runtime| copy(runtime, context(handle)?, $precision, count, true, [(x, step_x), (y, step_y)]);
            fn $dot(
                handle: *mut c_void, count: c_int, x: *const c_void, step_x: c_int, y: *const c_void, step_y: c_int,
                result: *mut c_void,
            ) |runtime| {
                let both = [BlasVector::new(x, count, step_x, $precision), BlasVector::new(y, count, step_y, $precision)];
                sum(runtime, context(handle)?, $precision, VectorSum::Products, count, both, result)
            };
            fn $nrm2(handle: *mut c_void, count: c_int, x: *const c_void, step: c_int, result: *mut c_void) |runtime| {
                let (x, count) = (BlasVector::new(x, count, step, $precision), if step > 0 { count } else { 0 });
                sum(runtime, context(handle)?, $precision, VectorSum::RootOfProducts, count, [x, x], result)
            };
            fn $asum(handle: *mut c_void, count: c_int, x: *const c_void, step: c_int, result: *mut c_void) |runtime| {
                let (x, count) = (BlasVector::new(x, count, step, $precision), if step > 0 { count } else { 0 });
                sum(runtime, context(handle)?, $precision, VectorSum::Magnitudes, count, [x, x], result)
            };
            fn $gemv(
                handle: *mut c_void, operation: c_int, m: c_int, n: c_int, alpha: *const c_void, a: *const c_void,
                leading: c_int, x: *const c_void, step_x: c_int, beta: *const c_void, y: *mut c_void, step_y: c_int,
            ) |runtime| {
                let context = context(handle)?;
                if m < 0 || n < 0 || step_x == 0 || step_y == 0 {
                    return Err(error::INVALID_VALUE);
                }
                let (rows, columns) = if operation == 0 { (m, n) } else { (n, m) };
                let scalars = [Scalar::new(context, $precision, alpha)?, Scalar::new(context, $precision, beta)?];
                let a = BlasFactor::new(operation, [rows, columns], a, leading, $precision)?;
                let (x, y) = (BlasVector::new(x, columns, step_x, $precision), BlasVector::new(y, rows, step_y, $precision));
                gemv(runtime, context, $precision, a, [rows, columns], scalars, [x, y])
            };
            fn $gemm(
                handle: *mut c_void, of_a: c_int, of_b: c_int, m: c_int, n: c_int, k: c_int, alpha: *const c_void,
                a: *const c_void, leading_a: c_int, b: *const c_void, leading_b: c_int, beta: *const c_void, c: *mut c_void,
                leading_c: c_int,
            ) |runtime| {
                let context = context(handle)?;
                MatrixProduct {
                    precision: $precision,
                    sides: [m, n, k],
                    alpha: Scalar::new(context, $precision, alpha)?,
                    beta: Scalar::new(context, $precision, beta)?,
                    a: BlasFactor::new(of_a, [m, k], a, leading_a, $precision)?,
                    b: BlasFactor::new(of_b, [k, n], b, leading_b, $precision)?,
                    c: BlasFactor::new(0, [m, n], c, leading_c, $precision)?,
                    count: 1,
                    by_pointer: false,
                }
                .run(runtime, context)
            };
            fn $strided(
                handle: *mut c_void, of_a: c_int, of_b: c_int, m: c_int, n: c_int, k: c_int, alpha: *const c_void,
                a: *const c_void, leading_a: c_int, stride_a: i64, b: *const c_void, leading_b: c_int, stride_b: i64,
                beta: *const c_void, c: *mut c_void, leading_c: c_int, stride_c: i64, count: c_int,
            ) |runtime| {
                let context = context(handle)?;
                MatrixProduct {
                    precision: $precision,
                    sides: [m, n, k],
                    alpha: Scalar::new(context, $precision, alpha)?,
                    beta: Scalar::new(context, $precision, beta)?,
                    a: BlasFactor::new(of_a, [m, k], a, leading_a, $precision)?.in_batch(stride_a, $precision),
                    b: BlasFactor::new(of_b, [k, n], b, leading_b, $precision)?.in_batch(stride_b, $precision),
                    c: BlasFactor::new(0, [m, n], c, leading_c, $precision)?.in_batch(stride_c, $precision),
                    count,
                    by_pointer: false,
                }
                .run(runtime, context)
            };
            fn $batched(
                handle: *mut c_void, of_a: c_int, of_b: c_int, m: c_int, n: c_int, k: c_int, alpha: *const c_void,
                a: *const c_void, leading_a: c_int, b: *const c_void, leading_b: c_int, beta: *const c_void, c: *const c_void,
                leading_c: c_int, count: c_int,
            ) |runtime| {
                let context = context(handle)?;
                MatrixProduct {
                    precision: $precision,
                    sides: [m, n, k],
                    alpha: Scalar::new(context, $precision, alpha)?,
                    beta: Scalar::new(context, $precision, beta)?,
                    a: BlasFactor::new(of_a, [m, k], a, leading_a, $precision)?,
                    b: BlasFactor::new(of_b, [k, n], b, leading_b, $precision)?,
                    c: BlasFactor::new(0, [m, n], c, leading_c, $precision)?,
                    count,
                    by_pointer: true,
                }
                .run(runtime, context)
            };
        }
    };
}

blas_of! {
    Precision::Single; cublasSaxpy_v2 cublasSscal_v2 cublasScopy_v2 cublasSswap_v2 cublasSdot_v2 cublasSnrm2_v2 cublasSasum_v2
    cublasSgemv_v2 cublasSgemm_v2 cublasSgemmStridedBatched cublasSgemmBatched
}
blas_of! {
    Precision::Double; cublasDaxpy_v2 cublasDscal_v2 cublasDcopy_v2 cublasDswap_v2 cublasDdot_v2 cublasDnrm2_v2 cublasDasum_v2
    cublasDgemv_v2 cublasDgemm_v2 cublasDgemmStridedBatched cublasDgemmBatched
}

/// Copies or swaps two vectors.
fn copy(
    runtime: &mut Runtime,
    context: &BlasContext,
    precision: Precision,
    count: c_int,
    swaps: bool,
    both: [(*const c_void, c_int); 2],
) -> Done {
    if count <= 0 {
        return Ok(());
    }
    let [x, y] = both.map(|(at, step)| BlasVector::new(at, count, step, precision));
    let values = [count as u64, swaps.into(), x.at, x.step, y.at, y.step];
    launch_vector(runtime, context, precision, BlasKernel::Copy, count as u64, &values)
}

/// Status codes with their names and descriptions.
const STATUSES: [(i32, &CStr, &CStr); 10] = [
    (0, c"CUBLAS_STATUS_SUCCESS", c"success"),
    (1, c"CUBLAS_STATUS_NOT_INITIALIZED", c"the library was not initialized"),
    (3, c"CUBLAS_STATUS_ALLOC_FAILED", c"the resource allocation failed"),
    (7, c"CUBLAS_STATUS_INVALID_VALUE", c"an unsupported value or parameter was passed to the function"),
    (8, c"CUBLAS_STATUS_ARCH_MISMATCH", c"a feature is absent from the device architecture"),
    (11, c"CUBLAS_STATUS_MAPPING_ERROR", c"an access to GPU memory space failed"),
    (13, c"CUBLAS_STATUS_EXECUTION_FAILED", c"the function failed to launch on the GPU"),
    (14, c"CUBLAS_STATUS_INTERNAL_ERROR", c"an internal operation failed"),
    (15, c"CUBLAS_STATUS_NOT_SUPPORTED", c"the functionality requested is not supported"),
    (16, c"CUBLAS_STATUS_LICENSE_ERROR", c"an error was detected when checking the current licensing"),
];

fn status_texts(code: c_int) -> (*const c_char, *const c_char) {
    let found = STATUSES.iter().find(|(known, ..)| *known == code);
    let unknown = c"<unknown>".as_ptr();
    found.map_or((unknown, unknown), |(_, name, text)| (name.as_ptr(), text.as_ptr()))
}

#[unsafe(no_mangle)]
extern "C" fn cublasGetStatusName(code: c_int) -> *const c_char {
    status_texts(code).0
}

#[unsafe(no_mangle)]
extern "C" fn cublasGetStatusString(code: c_int) -> *const c_char {
    status_texts(code).1
}
