//! Graphs: work that the program records once, from calls or by capturing streams, and launches often.
use crate::copies::CopySide;
use crate::kernels::{LaunchConfiguration, LaunchWork};
use crate::pointers::{field, get, put, put_field, put_if};
use crate::protocol::error;
use crate::runtime::Runtime;
use crate::work::{FillWork, HostWork, Work};
use crate::{Done, api, device, entry};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_int, c_void};

/// CUDA's error codes for a stream that is or is not being captured.
const CAPTURE_INVALID: i32 = 901;
const ILLEGAL_STATE: i32 = 401;
/// Value of `cudaStreamCaptureStatusActive`.
const ACTIVE: c_int = 1;

/// A node, and the nodes that must run before it.
#[derive(Clone)]
struct GraphNode {
    work: Work,
    after: BTreeSet<u64>,
}

/// A recorded graph: its nodes by number, in the order of their creation.
#[derive(Clone, Default)]
struct RecordedGraph {
    nodes: BTreeMap<u64, GraphNode>,
}

/// A graph that is ready to run: its nodes in an order that respects all dependencies.
#[derive(Clone)]
struct ExecutableGraph {
    nodes: Vec<(u64, Work)>,
}

/// A capture that has begun and not ended.
struct Capture {
    /// Stream on which the capture has begun.
    origin: usize,
    streams: BTreeSet<usize>,
    /// Events recorded on captured streams.
    events: BTreeSet<usize>,
    graph: RecordedGraph,
}

/// All graphs of the program, and the capture in progress. Handles are numbers from 1.
#[derive(Default)]
pub struct Graphs {
    last: u64,
    graphs: BTreeMap<u64, RecordedGraph>,
    executables: BTreeMap<u64, ExecutableGraph>,
    capture: Option<Capture>,
}

/// Returns the number of a handle.
fn number(handle: *const c_void) -> u64 {
    handle as usize as u64
}

fn handle(number: u64) -> *mut c_void {
    std::ptr::without_provenance_mut(number as usize)
}

impl RecordedGraph {
    /// Returns the nodes, each after the nodes on which it depends.
    fn ordered(&self) -> Done<Vec<(u64, Work)>> {
        let mut left: BTreeMap<u64, &GraphNode> =
            self.nodes.iter().map(|(number, node)| (*number, node)).collect();
        let mut out = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let ready =
                left.iter().find(|(_, node)| node.after.iter().all(|before| !left.contains_key(before)));
            // A cycle has no node that is ready.
            let number = *ready.ok_or(error::INVALID_VALUE)?.0;
            if let Some(node) = left.remove(&number) {
                out.push((number, node.work.clone()));
            }
        }
        Ok(out)
    }
}

impl Graphs {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Returns whether a stream is being captured.
    pub fn captures(&self, stream: *const c_void) -> bool {
        self.capture.as_ref().is_some_and(|capture| capture.streams.contains(&(stream as usize)))
    }

    /// Adds work to the captured graph, after all earlier work.
    pub fn capture(&mut self, work: Work) -> Done {
        let number = self.next();
        let nodes = &mut self.capture.as_mut().ok_or(CAPTURE_INVALID)?.graph.nodes;
        let after = nodes.keys().next_back().copied().into_iter().collect();
        nodes.insert(number, GraphNode { work, after });
        Ok(())
    }

    /// Notes an event that a captured stream records. Returns `false` if the stream is not captured.
    pub fn record(&mut self, event: *const c_void, stream: *const c_void) -> bool {
        let captured = self.captures(stream);
        if let Some(capture) = self.capture.as_mut().filter(|_| captured) {
            capture.events.insert(event as usize);
        }
        captured
    }

    /// Captures a stream from now on if it waits for an event of the capture.
    pub fn wait(&mut self, event: *const c_void, stream: *mut c_void) {
        let capture = self.capture.as_mut().filter(|capture| capture.events.contains(&(event as usize)));
        if let Some(capture) = capture {
            capture.streams.insert(stream as usize);
        }
    }

    fn add(
        &mut self,
        graph: *const c_void,
        after: *const *const c_void,
        count: usize,
        work: Work,
    ) -> Done<u64> {
        let after = handles(after, count)?;
        let number_of_node = self.next();
        let nodes = &mut self.graphs.get_mut(&number(graph)).ok_or(error::INVALID_VALUE)?.nodes;
        if after.iter().any(|before| !nodes.contains_key(before)) {
            return Err(error::INVALID_VALUE);
        }
        nodes.insert(number_of_node, GraphNode { work, after });
        Ok(number_of_node)
    }

    fn graph(&mut self, graph: *const c_void) -> Done<&mut RecordedGraph> {
        self.graphs.get_mut(&number(graph)).ok_or(error::INVALID_VALUE)
    }

    fn instantiate(&mut self, graph: *const c_void) -> Done<*mut c_void> {
        let nodes = self.graph(graph)?.ordered()?;
        let executable = self.next();
        self.executables.insert(executable, ExecutableGraph { nodes });
        Ok(handle(executable))
    }
}

/// Reads an array of handles.
fn handles(from: *const *const c_void, count: usize) -> Done<BTreeSet<u64>> {
    (0..count).map(|index| Ok(number(get(from.wrapping_add(index))?))).collect()
}

/// Reads `cudaKernelNodeParams`.
fn launch(runtime: &mut Runtime, params: *const c_void) -> Done<Work> {
    if !field::<*const c_void>(params, 48)?.is_null() {
        runtime.not_supported("kernel nodes with packed parameters")?;
    }
    let shape = LaunchConfiguration::of_node(params)?;
    Ok(Work::Launch(LaunchWork::new(runtime, field(params, 0)?, shape, field(params, 40)?)?))
}

/// Reads `cudaMemsetParams`.
fn fill(params: *const c_void) -> Done<Work> {
    let to = CopySide::of(field::<*const c_void>(params, 0)?, field(params, 8)?);
    let (value, element): (u32, u32) = (field(params, 16)?, field(params, 20)?);
    if !matches!(element, 1 | 2 | 4) {
        return Err(error::INVALID_VALUE);
    }
    let (width, height) = (field(params, 24)?, field(params, 32)?);
    Ok(Work::Fill(FillWork { to, value, element: element as usize, width, height }))
}

/// Reads `cudaHostNodeParams`.
fn host(params: *const c_void) -> Done<Work> {
    let function: Option<extern "C" fn(*mut c_void)> = field(params, 0)?;
    Ok(Work::Host(HostWork { function: function.ok_or(error::INVALID_VALUE)?, data: field(params, 8)? }))
}

api! {
    fn cudaStreamBeginCapture(stream: *mut c_void, _mode: c_int) |runtime| {
        if runtime.graphs.capture.is_some() {
            return Err(ILLEGAL_STATE);
        }
        let streams = BTreeSet::from([stream as usize]);
        let (events, graph) = (BTreeSet::new(), RecordedGraph::default());
        runtime.graphs.capture = Some(Capture { origin: stream as usize, streams, events, graph });
        Ok(())
    };
    fn cudaStreamEndCapture(stream: *mut c_void, to: *mut *mut c_void) |runtime| {
        let is_origin = |capture: &mut Capture| capture.origin == stream as usize;
        let capture = runtime.graphs.capture.take_if(is_origin).ok_or(ILLEGAL_STATE)?;
        let graph = runtime.graphs.next();
        runtime.graphs.graphs.insert(graph, capture.graph);
        put(to, handle(graph))
    };
    fn cudaStreamIsCapturing(stream: *mut c_void, status: *mut c_int) |runtime| {
        put(status, if runtime.graphs.captures(stream) { ACTIVE } else { 0 })
    };
    fn cudaThreadExchangeStreamCaptureMode(mode: *mut c_int) |_| get(mode).map(drop);
    fn cudaGraphCreate(to: *mut *mut c_void, _flags: u32) |runtime| {
        let graph = runtime.graphs.next();
        runtime.graphs.graphs.insert(graph, RecordedGraph::default());
        put(to, handle(graph))
    };
    fn cudaGraphClone(to: *mut *mut c_void, graph: *const c_void) |runtime| {
        let copy = runtime.graphs.graph(graph)?.clone();
        let clone = runtime.graphs.next();
        runtime.graphs.graphs.insert(clone, copy);
        put(to, handle(clone))
    };
    fn cudaGraphDestroy(graph: *mut c_void) |runtime| {
        runtime.graphs.graphs.remove(&number(graph)).map(drop).ok_or(error::INVALID_VALUE)
    };
    fn cudaGraphAddKernelNode(
        to: *mut *mut c_void, graph: *const c_void, after: *const *const c_void, count: usize, params: *const c_void,
    ) |runtime| {
        let work = launch(runtime, params)?;
        put(to, handle(runtime.graphs.add(graph, after, count, work)?))
    };
    fn cudaGraphAddMemcpyNode(
        to: *mut *mut c_void, graph: *const c_void, after: *const *const c_void, count: usize, params: *const c_void,
    ) |runtime| put(to, handle(runtime.graphs.add(graph, after, count, Work::volume(params)?)?));
    fn cudaGraphAddMemcpyNode1D(
        to: *mut *mut c_void, graph: *const c_void, after: *const *const c_void, count: usize, target: *mut c_void,
        from: *const c_void, size: usize, kind: c_int,
    ) |runtime| put(to, handle(runtime.graphs.add(graph, after, count, Work::flat(target, from, size, kind))?));
    fn cudaGraphAddMemsetNode(
        to: *mut *mut c_void, graph: *const c_void, after: *const *const c_void, count: usize, params: *const c_void,
    ) |runtime| put(to, handle(runtime.graphs.add(graph, after, count, fill(params)?)?));
    fn cudaGraphAddHostNode(
        to: *mut *mut c_void, graph: *const c_void, after: *const *const c_void, count: usize, params: *const c_void,
    ) |runtime| put(to, handle(runtime.graphs.add(graph, after, count, host(params)?)?));
    fn cudaGraphAddEmptyNode(
        to: *mut *mut c_void, graph: *const c_void, after: *const *const c_void, count: usize,
    ) |runtime| put(to, handle(runtime.graphs.add(graph, after, count, Work::Nothing)?));
    fn cudaGraphAddChildGraphNode(
        to: *mut *mut c_void, graph: *const c_void, after: *const *const c_void, count: usize, child: *const c_void,
    ) |runtime| {
        let works = runtime.graphs.graph(child)?.ordered()?.into_iter().map(|(_, work)| work).collect();
        put(to, handle(runtime.graphs.add(graph, after, count, Work::Graph(works))?))
    };
    // CUDA 13 has data of edges before the number of edges.
    fn cudaGraphAddDependencies(
        graph: *const c_void, from: *const *const c_void, to: *const *const c_void, fourth: usize, fifth: usize,
    ) |runtime| {
        let count = if device::release() == 13 { fifth } else { fourth };
        let nodes = &mut runtime.graphs.graph(graph)?.nodes;
        for index in 0..count {
            let (before, after) = (number(get(from.wrapping_add(index))?), number(get(to.wrapping_add(index))?));
            if !nodes.contains_key(&before) {
                return Err(error::INVALID_VALUE);
            }
            nodes.get_mut(&after).ok_or(error::INVALID_VALUE)?.after.insert(before);
        }
        Ok(())
    };
    fn cudaGraphGetNodes(graph: *const c_void, nodes: *mut *mut c_void, count: *mut usize) |runtime| {
        let known: Vec<u64> = runtime.graphs.graph(graph)?.nodes.keys().copied().collect();
        list(&known, nodes, count)
    };
    fn cudaGraphGetRootNodes(graph: *const c_void, nodes: *mut *mut c_void, count: *mut usize) |runtime| {
        let all = runtime.graphs.graph(graph)?.nodes.iter();
        let roots: Vec<u64> = all.filter(|(_, node)| node.after.is_empty()).map(|(number, _)| *number).collect();
        list(&roots, nodes, count)
    };
    // The arguments that differ between CUDA 11 and 12 are not needed.
    fn cudaGraphInstantiate(to: *mut *mut c_void, graph: *const c_void) |runtime| put(to, runtime.graphs.instantiate(graph)?);
    fn cudaGraphInstantiateWithFlags(to: *mut *mut c_void, graph: *const c_void, _flags: u64) |runtime| {
        put(to, runtime.graphs.instantiate(graph)?)
    };
    fn cudaGraphInstantiateWithParams(to: *mut *mut c_void, graph: *const c_void, params: *mut c_void) |runtime| {
        put(to, runtime.graphs.instantiate(graph)?)?;
        put_field(params, RESULT_OFFSET, 0 as c_int)
    };
    fn cudaGraphUpload(executable: *mut c_void, _stream: *mut c_void) |runtime| {
        runtime.graphs.executables.get(&number(executable)).map(drop).ok_or(error::INVALID_VALUE)
    };
    fn cudaGraphExecDestroy(executable: *mut c_void) |runtime| {
        runtime.graphs.executables.remove(&number(executable)).map(drop).ok_or(error::INVALID_VALUE)
    };
    fn cudaGraphExecKernelNodeSetParams(executable: *mut c_void, node: *const c_void, params: *const c_void) |runtime| {
        let work = launch(runtime, params)?;
        let executable = runtime.graphs.executables.get_mut(&number(executable)).ok_or(error::INVALID_VALUE)?;
        let found = executable.nodes.iter_mut().find(|(known, _)| *known == number(node));
        found.ok_or(error::INVALID_VALUE)?.1 = work;
        Ok(())
    };
    // CUDA 11 returns a node and a result, later releases a structure whose first word is the result.
    fn cudaGraphExecUpdate(
        executable: *mut c_void, graph: *const c_void, details: *mut c_int, result: *mut c_int,
    ) |runtime| {
        let nodes = runtime.graphs.graph(graph)?.ordered()?;
        let executable = runtime.graphs.executables.get_mut(&number(executable)).ok_or(error::INVALID_VALUE)?;
        let kind = |work: &Work| std::mem::discriminant(work);
        let is_same = nodes.len() == executable.nodes.len()
            && nodes.iter().zip(&executable.nodes).all(|((_, a), (_, b))| kind(a) == kind(b));
        put_if(if device::release() == 11 { result } else { details }, if is_same { 0 } else { TOPOLOGY_CHANGED });
        if !is_same {
            return Err(UPDATE_FAILURE);
        }
        // Nodes keep their numbers, which later changes of parameters name.
        for ((_, to), (_, from)) in executable.nodes.iter_mut().zip(nodes) {
            *to = from;
        }
        Ok(())
    };
}

/// Offset of the result in `cudaGraphInstantiateParams`.
const RESULT_OFFSET: usize = 24;
/// CUDA's error code of an update with other nodes, and value of `cudaGraphExecUpdateErrorTopologyChanged`.
const UPDATE_FAILURE: i32 = 910;
const TOPOLOGY_CHANGED: c_int = 2;

/// Stores at most `count` handles. Without an array, stores their number.
fn list(known: &[u64], nodes: *mut *mut c_void, count: *mut usize) -> Done {
    if nodes.is_null() {
        return put(count, known.len());
    }
    let room = get(count)?;
    for (index, number) in known.iter().enumerate().take(room) {
        put(nodes.wrapping_add(index), handle(*number))?;
    }
    put(count, known.len().min(room))
}

/// Adds the work to a stream in order. Functions of the program run without the lock, because they may take a long time.
fn run(works: &[Work], stream: *mut c_void) -> i32 {
    for work in works {
        let code = match work {
            Work::Host(HostWork { function, data }) => {
                let code = entry("cudaGraphLaunch", |runtime| runtime.synchronize_stream(stream));
                if code == 0 {
                    function(handle(*data as u64));
                }
                code
            }
            Work::Graph(inner) => run(inner, stream),
            work => entry("cudaGraphLaunch", |runtime| runtime.on(stream, |runtime| work.run(runtime))),
        };
        if code != 0 {
            return code;
        }
    }
    0
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphLaunch(executable: *mut c_void, stream: *mut c_void) -> i32 {
    let mut works = Vec::new();
    let code = entry("cudaGraphLaunch", |runtime| {
        let found = runtime.graphs.executables.get(&number(executable)).ok_or(error::INVALID_VALUE)?;
        works = found.nodes.iter().map(|(_, work)| work.clone()).collect();
        if runtime.graphs.captures(stream) {
            let work = Work::Graph(std::mem::take(&mut works));
            return runtime.graphs.capture(work);
        }
        Ok(())
    });
    if code == 0 { run(&works, stream) } else { code }
}
