//! Work of streams: launches, copies and fills. It is sent immediately, or whenever the graph that records it is launched.
use crate::Done;
use crate::arrays;
use crate::copies::CopySide;
use crate::graphs::ExecutableGraph;
use crate::kernels;
use crate::pointers::field;
use crate::runtime::Runtime;
use std::ffi::{c_int, c_void};

/// A copy of rows.
#[derive(Clone, Copy)]
pub struct CopyWork {
    pub to: CopySide,
    pub from: CopySide,
    /// Bytes per row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Value of `cudaMemcpyKind`.
    pub kind: c_int,
}

/// A fill of rows with copies of an element.
#[derive(Clone, Copy)]
pub struct FillWork {
    pub to: CopySide,
    /// The element, in its low bytes.
    pub value: u32,
    /// Size of an element in bytes: 1, 2 or 4.
    pub element: usize,
    /// Elements per row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
}

/// A copy to or from a variable.
#[derive(Clone, Copy)]
pub struct VariableWork {
    /// Address of the host variable.
    pub symbol: usize,
    pub other: CopySide,
    /// Bytes.
    pub size: usize,
    /// First byte in the variable.
    pub offset: usize,
    /// Value of `cudaMemcpyKind`.
    pub kind: c_int,
    /// `true`: the variable is the destination.
    pub to: bool,
}

/// Bytes of the parameters of a three-dimensional copy.
pub const VOLUME_BYTES: usize = 160;

/// A function of the program, and its argument.
#[derive(Clone, Copy)]
pub struct HostWork {
    pub function: extern "C" fn(*mut c_void),
    /// Address that the function gets.
    pub data: usize,
}

#[derive(Clone)]
pub enum Work {
    Launch(kernels::LaunchWork),
    Copy(CopyWork),
    Fill(FillWork),
    Variable(VariableWork),
    /// A copy between arrays or pitched memory, with its parameters.
    Volume(Box<[u8; VOLUME_BYTES]>),
    Host(HostWork),
    /// Another graph.
    Graph(ExecutableGraph),
    Nothing,
}

impl Work {
    /// Creates a copy of contiguous bytes.
    pub fn flat(to: *mut c_void, from: *const c_void, size: usize, kind: c_int) -> Self {
        Work::Copy(CopyWork {
            to: CopySide::of(to, size),
            from: CopySide::of(from, size),
            width: size,
            height: 1,
            kind,
        })
    }

    /// Reads the parameters of a three-dimensional copy.
    pub fn volume(params: *const c_void) -> Done<Self> {
        Ok(Work::Volume(Box::new(field(params, 0)?)))
    }

    /// Runs the work. The lock is held, so a graph or a function of the program is skipped.
    pub fn run(&self, runtime: &mut Runtime) -> Done {
        match self {
            Work::Launch(launch) => launch.run(runtime),
            Work::Copy(CopyWork { to, from, width, height, kind }) => {
                runtime.copy(*to, *from, *width, *height, *kind)
            }
            Work::Fill(fill) => runtime.fill(*fill),
            Work::Variable(work) => runtime.copy_variable(*work),
            Work::Volume(params) => arrays::volume(runtime, params.as_ptr().cast()),
            // Graphs and functions of the program run without the lock.
            Work::Graph(_) | Work::Host(_) | Work::Nothing => Ok(()),
        }
    }
}

impl Runtime {
    /// Adds work to a stream. If the stream is being captured, adds the work to the graph instead.
    pub fn submit(&mut self, stream: *mut c_void, work: Work) -> Done {
        if self.graphs.captures(stream) {
            return self.graphs.capture(stream, work);
        }
        self.on(stream, |runtime| work.run(runtime))
    }
}
