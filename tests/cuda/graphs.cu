// Graphs: built from nodes, captured from streams, changed, and launched several times.
#include "check.h"

constexpr int COUNT = 256;

__global__ void scale(int *values, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] *= by;
}

__global__ void add(int *values, const int *others) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] += others[i];
}

void CUDART_CB count_call(void *data) { ++*static_cast<int *>(data); }

// values = 3 * values + others, on two streams that an event joins.
void captured(int *values, int *others, int *host, const std::vector<int> &input) {
    cudaStream_t main_stream, side;
    cudaEvent_t fork, join;
    CUDA(cudaStreamCreate(&main_stream));
    CUDA(cudaStreamCreate(&side));
    CUDA(cudaEventCreate(&fork));
    CUDA(cudaEventCreate(&join));
    int calls = 0;
    CUDA(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
    cudaStreamCaptureStatus status;
    CUDA(cudaStreamIsCapturing(main_stream, &status));
    DEMAND(status == cudaStreamCaptureStatusActive);
    CUDA(cudaEventRecord(fork, main_stream));
    CUDA(cudaStreamWaitEvent(side, fork, 0));
    scale<<<COUNT / 64, 64, 0, main_stream>>>(values, 3);
    CUDA(cudaMemcpyAsync(others, input.data(), COUNT * sizeof(int), cudaMemcpyHostToDevice, side));
    CUDA(cudaEventRecord(join, side));
    CUDA(cudaStreamWaitEvent(main_stream, join, 0));
    add<<<COUNT / 64, 64, 0, main_stream>>>(values, others);
    CUDA(cudaLaunchHostFunc(main_stream, count_call, &calls));
    CUDA(cudaMemcpyAsync(host, values, COUNT * sizeof(int), cudaMemcpyDeviceToHost, main_stream));
    cudaGraph_t graph;
    CUDA(cudaStreamEndCapture(main_stream, &graph));
    size_t nodes;
    CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
    DEMAND(nodes == 5 && calls == 0 && host[1] == -1);
    cudaGraphExec_t executable;
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    std::vector<int> expected(COUNT, 1);
    CUDA(cudaMemcpy(values, expected.data(), COUNT * sizeof(int), cudaMemcpyHostToDevice));
    for (int launch = 1; launch <= 3; launch++) {
        CUDA(cudaGraphLaunch(executable, main_stream));
        CUDA(cudaStreamSynchronize(main_stream));
        for (int i = 0; i < COUNT; i++) {
            expected[i] = 3 * expected[i] + input[i];
            DEMAND(host[i] == expected[i]);
        }
        DEMAND(calls == launch);
    }
    // A launch waits for an earlier launch of the same graph on another stream.
    CUDA(cudaGraphLaunch(executable, main_stream));
    CUDA(cudaGraphLaunch(executable, side));
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < COUNT; i++) DEMAND(host[i] == 3 * (3 * expected[i] + input[i]) + input[i]);
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaGraphDestroy(graph));

    cudaStream_t apart;
    CUDA(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
    // An event that another stream records again is not a part of the capture.
    CUDA(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
    CUDA(cudaEventRecord(fork, main_stream));
    CUDA(cudaEventRecord(fork, apart));
    CUDA(cudaStreamWaitEvent(side, fork, 0));
    CUDA(cudaStreamIsCapturing(side, &status));
    DEMAND(status == cudaStreamCaptureStatusNone);
    CUDA(cudaStreamEndCapture(main_stream, &graph));
}

// The same from nodes, whose order the dependencies alone state.
void built(int *values, int *others, int *host, const std::vector<int> &input) {
    cudaGraph_t graph;
    CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t clear, load, scaled, added, back, called;
    int by = 5, calls = 0;
    void *scale_args[] = {&values, &by}, *add_args[] = {&values, &others};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)add;
    kernel.gridDim = dim3(COUNT / 64);
    kernel.blockDim = dim3(64);
    kernel.kernelParams = add_args;
    CUDA(cudaGraphAddKernelNode(&added, graph, nullptr, 0, &kernel));
    kernel.func = (void *)scale;
    kernel.kernelParams = scale_args;
    CUDA(cudaGraphAddKernelNode(&scaled, graph, nullptr, 0, &kernel));
    cudaMemsetParams fill = {};
    fill.dst = values;
    fill.elementSize = 4;
    fill.value = 7;
    fill.width = COUNT;
    fill.height = 1;
    CUDA(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill));
    CUDA(cudaGraphAddMemcpyNode1D(&load, graph, nullptr, 0, others, input.data(), COUNT * sizeof(int), cudaMemcpyHostToDevice));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(values, COUNT * sizeof(int), COUNT, 1);
    copy.dstPtr = make_cudaPitchedPtr(host, COUNT * sizeof(int), COUNT, 1);
    copy.extent = make_cudaExtent(COUNT * sizeof(int), 1, 1);
    copy.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaGraphAddMemcpyNode(&back, graph, &added, 1, &copy));
    cudaHostNodeParams function = {count_call, &calls};
    CUDA(cudaGraphAddHostNode(&called, graph, &back, 1, &function));
    for (auto pair : {std::pair(clear, scaled), std::pair(scaled, added), std::pair(load, added)}) {
#if CUDART_VERSION >= 13000
        CUDA(cudaGraphAddDependencies(graph, &pair.first, &pair.second, nullptr, 1));
#else
        CUDA(cudaGraphAddDependencies(graph, &pair.first, &pair.second, 1));
#endif
    }
    cudaGraph_t clone;
    CUDA(cudaGraphClone(&clone, graph));
    size_t roots;
    CUDA(cudaGraphGetRootNodes(clone, nullptr, &roots));
    DEMAND(roots == 2);
    cudaGraphExec_t executable;
    CUDA(cudaGraphInstantiate(&executable, clone, 0));
    CUDA(cudaGraphLaunch(executable, nullptr));
    for (int i = 0; i < COUNT; i++) DEMAND(host[i] == 7 * 5 + input[i]);
    // Another value of a parameter.
    by = 2;
    CUDA(cudaGraphExecKernelNodeSetParams(executable, scaled, &kernel));
    CUDA(cudaGraphLaunch(executable, nullptr));
    for (int i = 0; i < COUNT; i++) DEMAND(host[i] == 7 * 2 + input[i]);
    DEMAND(calls == 2);
}

int main() {
    std::vector<int> input(COUNT);
    for (int i = 0; i < COUNT; i++) input[i] = 11 * i + 1;
    int *values, *others, *host;
    CUDA(cudaMalloc(&values, COUNT * sizeof(int)));
    CUDA(cudaMalloc(&others, COUNT * sizeof(int)));
    CUDA(cudaMallocHost(&host, COUNT * sizeof(int)));
    for (int i = 0; i < COUNT; i++) host[i] = -1;
    captured(values, others, host, input);
    built(values, others, host, input);
    std::printf("graphs agree\n");
    return 0;
}
