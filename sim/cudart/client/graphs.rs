//! Graphs: work that the program records once, from calls or by capturing streams, and launches often.
use crate::branches::Branches;
use crate::copies::CopySide;
use crate::kernels::{LaunchConfiguration, LaunchWork};
use crate::pointers::{field, get, put, put_field, put_if};
use crate::protocol::error;
use crate::runtime::Runtime;
use crate::streams::new_events;
use crate::work::{FillWork, HostWork, Work};
use crate::{Done, api, device, entry};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_int, c_void};

/// CUDA's error codes for a stream that is or is not being captured.
const CAPTURE_INVALID: i32 = 901;
const CAPTURE_UNJOINED: i32 = 904;
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

/// A node of a graph that is ready to run.
#[derive(Clone)]
struct ExecutableNode {
    number: u64,
    work: Work,
    /// Indices of the nodes that must run before it.
    after: Vec<usize>,
}

/// A graph that is ready to run.
#[derive(Clone)]
pub struct ExecutableGraph {
    /// Nodes in an order that respects all dependencies.
    nodes: Vec<ExecutableNode>,
    branches: Branches,
    /// Number of the first of its events: the start of a launch, the nodes, and the end of a launch.
    events: u64,
}

/// A capture that has begun and not ended.
struct Capture {
    /// Stream on which the capture has begun.
    origin: usize,
    /// Captured streams, with the nodes after which the next node of the stream runs.
    streams: BTreeMap<usize, BTreeSet<u64>>,
    /// Events recorded on captured streams, with the nodes before them.
    events: BTreeMap<usize, BTreeSet<u64>>,
    graph: RecordedGraph,
}

impl Capture {
    /// Returns whether the origin has waited for the work of all other captured streams.
    fn is_joined(&self) -> bool {
        let mut open: Vec<u64> = self.streams.get(&self.origin).into_iter().flatten().copied().collect();
        let mut joined: BTreeSet<u64> = BTreeSet::new();
        while let Some(node) = open.pop() {
            if joined.insert(node) {
                open.extend(self.graph.nodes.get(&node).iter().flat_map(|node| &node.after));
            }
        }
        self.streams.values().flatten().all(|last| joined.contains(last))
    }
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
    /// Returns the graph, ready to run. Each node is after the nodes on which it depends.
    fn executable(&self) -> Done<ExecutableGraph> {
        let mut left: BTreeMap<u64, &GraphNode> =
            self.nodes.iter().map(|(number, node)| (*number, node)).collect();
        let mut out = Vec::with_capacity(left.len());
        let mut places = BTreeMap::new();
        while !left.is_empty() {
            let ready =
                left.iter().find(|(_, node)| node.after.iter().all(|before| !left.contains_key(before)));
            // A cycle has no node that is ready.
            let number = *ready.ok_or(error::INVALID_VALUE)?.0;
            if let Some(node) = left.remove(&number) {
                let after = node.after.iter().filter_map(|before| places.get(before).copied()).collect();
                places.insert(number, out.len());
                out.push(ExecutableNode { number, work: node.work.clone(), after });
            }
        }
        let after: Vec<&[usize]> = out.iter().map(|node: &ExecutableNode| node.after.as_slice()).collect();
        let branches = Branches::new(&after);
        let events = new_events(2 + out.len() as u64);
        Ok(ExecutableGraph { nodes: out, branches, events })
    }
}

impl Graphs {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Returns whether a stream is being captured.
    pub fn captures(&self, stream: *const c_void) -> bool {
        self.capture.as_ref().is_some_and(|capture| capture.streams.contains_key(&(stream as usize)))
    }

    /// Adds work of a captured stream to the graph.
    pub fn capture(&mut self, stream: *const c_void, work: Work) -> Done {
        let number = self.next();
        let Capture { streams, graph, .. } = self.capture.as_mut().ok_or(CAPTURE_INVALID)?;
        let last = streams.get_mut(&(stream as usize)).ok_or(CAPTURE_INVALID)?;
        let after = std::mem::replace(last, BTreeSet::from([number]));
        graph.nodes.insert(number, GraphNode { work, after });
        Ok(())
    }

    /// Notes an event that a captured stream records. Returns `false` if the stream is not captured.
    pub fn record(&mut self, event: *const c_void, stream: *const c_void) -> bool {
        let Some(capture) = &mut self.capture else { return false };
        let last = capture.streams.get(&(stream as usize)).cloned();
        match last {
            Some(last) => capture.events.insert(event as usize, last),
            None => capture.events.remove(&(event as usize)),
        };
        self.captures(stream)
    }

    /// Forgets an event that the program destroys.
    pub fn forget(&mut self, event: *const c_void) {
        self.capture.iter_mut().for_each(|capture| drop(capture.events.remove(&(event as usize))));
    }

    /// Captures a stream from now on if it waits for an event of the capture.
    pub fn wait(&mut self, event: *const c_void, stream: *mut c_void) {
        let Some(Capture { streams, events, .. }) = &mut self.capture else { return };
        if let Some(before) = events.get(&(event as usize)) {
            streams.entry(stream as usize).or_default().extend(before);
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
        let graph = self.graph(graph)?.executable()?;
        let executable = self.next();
        self.executables.insert(executable, graph);
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
        let streams = BTreeMap::from([(stream as usize, BTreeSet::new())]);
        let (events, graph) = (BTreeMap::new(), RecordedGraph::default());
        runtime.graphs.capture = Some(Capture { origin: stream as usize, streams, events, graph });
        Ok(())
    };
    fn cudaStreamEndCapture(stream: *mut c_void, to: *mut *mut c_void) |runtime| {
        let is_origin = |capture: &mut Capture| capture.origin == stream as usize;
        let capture = runtime.graphs.capture.take_if(is_origin).ok_or(ILLEGAL_STATE)?;
        if !capture.is_joined() {
            return Err(CAPTURE_UNJOINED);
        }
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
        let child = runtime.graphs.graph(child)?.executable()?;
        put(to, handle(runtime.graphs.add(graph, after, count, Work::Graph(child))?))
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
        let found = executable.nodes.iter_mut().find(|known| known.number == number(node));
        found.ok_or(error::INVALID_VALUE)?.work = work;
        Ok(())
    };
    // CUDA 11 returns a node and a result, later releases a structure whose first word is the result.
    fn cudaGraphExecUpdate(
        executable: *mut c_void, graph: *const c_void, details: *mut c_int, result: *mut c_int,
    ) |runtime| {
        let nodes = runtime.graphs.graph(graph)?.executable()?.nodes;
        let executable = runtime.graphs.executables.get_mut(&number(executable)).ok_or(error::INVALID_VALUE)?;
        let kind = |node: &ExecutableNode| (std::mem::discriminant(&node.work), node.after.clone());
        let is_same = nodes.iter().map(kind).eq(executable.nodes.iter().map(kind));
        put_if(if device::release() == 11 { result } else { details }, if is_same { 0 } else { TOPOLOGY_CHANGED });
        if !is_same {
            return Err(UPDATE_FAILURE);
        }
        // Nodes keep their numbers, which later changes of parameters name.
        for (to, from) in executable.nodes.iter_mut().zip(nodes) {
            to.work = from.work;
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

/// Adds the nodes of a graph to the stream with number `queue`, and to streams for the other branches. Runs them in order without a
/// number. Functions of the program run without the lock, because they may take a long time.
fn run(graph: &ExecutableGraph, queue: Option<u64>) -> i32 {
    let ExecutableGraph { nodes, branches, events } = graph;
    let (start, end) = (*events, events + 1 + nodes.len() as u64);
    let mut streams = Vec::new();
    let mut code = entry(CALL, |runtime| {
        let Some(queue) = queue else { return Ok(()) };
        streams.push(queue);
        streams.extend((1..branches.count).map(|_| runtime.streams.number(true)));
        // A launch waits for earlier launches of the same graph.
        runtime.await_number(Some(queue), end)?;
        if branches.count > 1 { runtime.record_number(Some(queue), start) } else { Ok(()) }
    });
    for (index, place) in branches.places.iter().enumerate() {
        if code == 0 {
            code = run_node(graph, index, streams.get(place.branch).copied());
        }
    }
    // Work behind the launch waits for all its branches, also after an error.
    let ended = entry(CALL, |runtime| {
        let Some(queue) = queue else { return Ok(()) };
        let mut last = branches.last.iter();
        last.try_for_each(|node| runtime.await_number(Some(queue), event_of(graph, *node)))?;
        runtime.record_number(Some(queue), end)
    });
    if code == 0 { ended } else { code }
}

/// Returns the number of the event of a node.
fn event_of(graph: &ExecutableGraph, node: usize) -> u64 {
    graph.events + 1 + node as u64
}

/// Adds a node to the stream of its branch.
fn run_node(graph: &ExecutableGraph, index: usize, stream: Option<u64>) -> i32 {
    let place = &graph.branches.places[index];
    let begin = |runtime: &mut Runtime| {
        if stream.is_some() && place.is_root && place.branch > 0 {
            runtime.await_number(stream, graph.events)?;
        }
        let mut waits = place.waits.iter().filter(|_| stream.is_some());
        waits.try_for_each(|node| runtime.await_number(stream, event_of(graph, *node)))
    };
    let mut code = match &graph.nodes[index].work {
        Work::Host(HostWork { function, data }) => {
            let code = entry(CALL, |runtime| {
                begin(runtime)?;
                runtime.synchronize_queue(stream)
            });
            if code == 0 {
                function(handle(*data as u64));
            }
            code
        }
        Work::Graph(inner) => {
            let code = entry(CALL, begin);
            if code == 0 { run(inner, stream) } else { code }
        }
        work => entry(CALL, |runtime| {
            begin(runtime)?;
            runtime.on_queue(stream, |runtime| work.run(runtime))
        }),
    };
    if code == 0 && place.is_awaited && stream.is_some() {
        code = entry(CALL, |runtime| runtime.record_number(stream, event_of(graph, index)));
    }
    code
}

/// Name of the call that runs graphs.
const CALL: &str = "cudaGraphLaunch";

#[unsafe(no_mangle)]
extern "C" fn cudaGraphLaunch(executable: *mut c_void, stream: *mut c_void) -> i32 {
    let mut launch = None;
    let code = entry(CALL, |runtime| {
        let graph = runtime.graphs.executables.get(&number(executable)).ok_or(error::INVALID_VALUE)?;
        let graph = graph.clone();
        if runtime.graphs.captures(stream) {
            return runtime.graphs.capture(stream, Work::Graph(graph));
        }
        launch = Some((graph, runtime.queue(stream)?));
        Ok(())
    });
    launch.map_or(code, |(graph, queue)| run(&graph, queue))
}
