// Streams whose launches overlap in simulated time. With an argument, only values are checked. With two, so are refused calls.
#include "check.h"
#include "times.h"
#include <cstring>

const int THREADS = 64;
const int TURNS = 2000;

__global__ void spin(int *values, int turns) {
    int value = values[threadIdx.x];
    for (int i = 0; i < turns; i++) value = value * 3 + i;
    values[threadIdx.x] = value;
}

// Takes the time of `spin`, and writes nothing.
__global__ void idle(int *values, int turns) {
    int value = threadIdx.x;
    for (int i = 0; i < turns; i++) value = value * 3 + i;
    if (value == 1 && turns == 0) values[0] = value;
}

__global__ void say(int number) {
    if (threadIdx.x == 0) printf("stream %d\n", number);
}

void set(int *flag) {
    *flag += 1;
}

int main(int count, char **) {
    is_timed = count == 1;
    const int MANY = 20;
    cudaStream_t streams[MANY], alone;
    for (auto &stream : streams) CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamCreateWithFlags(&alone, cudaStreamNonBlocking));
    int *values;
    const size_t bytes = MANY * THREADS * sizeof(int);
    CUDA(cudaMalloc(&values, bytes));
    CUDA(cudaMemset(values, 0, bytes));
    auto run = [&](int place, cudaStream_t stream) { spin<<<1, THREADS, 0, stream>>>(values + place * THREADS, TURNS); };

    float one = timed([&] { run(0, streams[0]); });
    about(timed([&] { run(0, streams[0]), run(1, streams[1]); }), one, 1, "two streams");
    about(timed([&] { run(0, streams[0]), run(1, streams[0]); }), one, 2, "one stream");
    about(timed([&] { run(0, streams[0]), run(1, 0), run(2, streams[1]); }), one, 3, "the default stream between two");
    about(timed([&] { run(0, alone), run(1, 0), run(2, alone); }), one, 2, "a stream that does not wait");
    // A GTX 480 runs 16 kernels at the same time, a newer GPU all of them.
    float many = timed([&] {
        for (int i = 0; i < MANY; i++) run(i, streams[i]);
    });
    about(many, one, many > 1.5f * one ? 2 : 1, "many streams");

    // A stream waits for an event of another one, but not for work after the event.
    cudaEvent_t event;
    CUDA(cudaEventCreate(&event));
    about(timed([&] {
              run(0, streams[0]);
              CUDA(cudaEventRecord(event, streams[0]));
              run(0, streams[0]);
              CUDA(cudaStreamWaitEvent(streams[1], event, 0));
              run(1, streams[1]);
          }),
          one, 2, "an event");
    if (is_timed) {
        run(0, streams[0]);
        CUDA(cudaEventRecord(event, streams[0]));
        float time;
        DEMAND(cudaEventElapsedTime(&time, event, event) == cudaErrorNotReady);
        CUDA(cudaEventSynchronize(event));
        CUDA(cudaEventElapsedTime(&time, event, event));
        DEMAND(time == 0);
        run(0, streams[0]);
    }

    // Copies, launches and copies back, stream after stream. A synchronized stream has its results while others run.
    int *from, *to;
    CUDA(cudaMallocHost(&from, bytes));
    CUDA(cudaMallocHost(&to, bytes));
    for (int i = 0; i < MANY * THREADS; i++) from[i] = i;
    const size_t part = THREADS * sizeof(int);
    about(timed([&] {
              for (int i = 0; i < 4; i++) {
                  int *place = values + i * THREADS;
                  CUDA(cudaMemcpyAsync(place, from + i * THREADS, part, cudaMemcpyHostToDevice, streams[i]));
                  spin<<<1, THREADS, 0, streams[i]>>>(place, i == 0 ? TURNS / 2 : TURNS);
                  CUDA(cudaMemcpyAsync(to + i * THREADS, place, part, cudaMemcpyDeviceToHost, streams[i]));
              }
              CUDA(cudaStreamSynchronize(streams[0]));
              for (int i = 0; i < THREADS; i++) DEMAND(to[i] == spun(i, TURNS / 2));
              run(4, streams[4]);
          }),
          one, 1.5, "copies and launches");
    for (int i = THREADS; i < 4 * THREADS; i++) DEMAND(to[i] == spun(i, TURNS));

    // A copy to the device takes what an earlier copy to the host has brought.
    CUDA(cudaMemcpyAsync(values, from, part, cudaMemcpyHostToDevice, streams[0]));
    spin<<<1, THREADS, 0, streams[0]>>>(values, TURNS);
    CUDA(cudaMemcpyAsync(to, values, part, cudaMemcpyDeviceToHost, streams[0]));
    CUDA(cudaMemcpyAsync(values + THREADS, to, part, cudaMemcpyHostToDevice, streams[0]));
    spin<<<1, THREADS, 0, streams[0]>>>(values + THREADS, 7);
    int flag = 0;
    CUDA(cudaMemcpyAsync(to, values + THREADS, part, cudaMemcpyDeviceToHost, streams[0]));
    CUDA(cudaLaunchHostFunc(streams[0], reinterpret_cast<cudaHostFn_t>(set), &flag));
    CUDA(cudaStreamSynchronize(streams[0]));
    DEMAND(flag == 1);
    for (int i = 0; i < THREADS; i++) DEMAND(to[i] == spun(spun(i, TURNS), 7));

    // A copy of the default stream waits for the streams, and memory is freed after its last use.
    int *other;
    CUDA(cudaMalloc(&other, part));
    CUDA(cudaMemsetAsync(other, 0, part, streams[3]));
    spin<<<1, THREADS, 0, streams[3]>>>(other, TURNS);
    CUDA(cudaMemcpy(to, other, part, cudaMemcpyDeviceToHost));
    DEMAND(to[5] == spun(0, TURNS));
    spin<<<1, THREADS, 0, alone>>>(other, TURNS);
    CUDA(cudaFree(other));

    // A copy to memory that is not pinned returns when it is done. Pinned memory is freed after the copy to it.
    std::vector<int> pageable(THREADS);
    int *pinned;
    CUDA(cudaMallocHost(&pinned, part));
    CUDA(cudaMemsetAsync(values, 0, part, alone));
    run(0, alone);
    CUDA(cudaMemcpyAsync(pinned, values, part, cudaMemcpyDeviceToHost, alone));
    CUDA(cudaMemcpyAsync(pageable.data(), values, part, cudaMemcpyDeviceToHost, alone));
    for (int value : pageable) DEMAND(value == spun(0, TURNS));
    run(0, alone);
    CUDA(cudaMemcpyAsync(pinned, values, part, cudaMemcpyDeviceToHost, alone));
    CUDA(cudaFreeHost(pinned));

    // Copies to and from an array keep the order of their stream.
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    CUDA(cudaMallocArray(&array, &format, THREADS, 1));
    CUDA(cudaMemsetAsync(values, 0, part, alone));
    run(0, alone);
    CUDA(cudaMemcpy2DToArrayAsync(array, 0, 0, values, part, part, 1, cudaMemcpyDeviceToDevice, alone));
    CUDA(cudaStreamSynchronize(alone));
    CUDA(cudaMemcpy2DFromArray(to, part, array, 0, 0, part, 1, cudaMemcpyDeviceToHost));
    DEMAND(to[THREADS - 1] == spun(0, TURNS));

    // Launches overlap although the program has waited for another stream in between.
    about(timed([&] {
              run(0, streams[0]);
              CUDA(cudaStreamSynchronize(streams[1]));
              run(1, streams[1]);
          }),
          one, 1, "a wait for an idle stream");

    // A graph is work of the stream that launches it.
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CUDA(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
    run(0, streams[0]);
    CUDA(cudaStreamEndCapture(streams[0], &graph));
    CUDA(cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
    about(timed([&] {
              CUDA(cudaGraphLaunch(executable, streams[1]));
              run(1, streams[2]);
              CUDA(cudaGraphLaunch(executable, streams[1]));
          }),
          one, 2, "a graph");

    // Branches of a graph run at the same time: two launches in order next to a third one, then a fourth one.
    cudaEvent_t fork, join;
    CUDA(cudaEventCreate(&fork));
    CUDA(cudaEventCreate(&join));
    CUDA(cudaMemset(values, 0, bytes));
    CUDA(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
    CUDA(cudaEventRecord(fork, streams[0]));
    CUDA(cudaStreamWaitEvent(streams[1], fork, 0));
    run(0, streams[0]);
    run(1, streams[1]);
    run(1, streams[1]);
    CUDA(cudaEventRecord(join, streams[1]));
    CUDA(cudaStreamWaitEvent(streams[0], join, 0));
    run(1, streams[0]);
    CUDA(cudaStreamEndCapture(streams[0], &graph));
    CUDA(cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
    about(timed([&] {
              CUDA(cudaGraphLaunch(executable, streams[2]));
              run(0, streams[3]);
          }),
          one, 3, "branches of a captured graph");
    about(timed([&] {
              CUDA(cudaGraphLaunch(executable, streams[2]));
              run(1, streams[2]);
          }),
          one, 4, "work behind branches");
    CUDA(cudaMemcpy(to, values + THREADS, part, cudaMemcpyDeviceToHost));
    int last = 0;
    for (int i = 0; i < 7; i++) last = spun(last, TURNS);
    DEMAND(to[9] == last);

    // A diamond, whose last node waits for both middle ones, with a function of the host in one of them.
    CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t top, left, right, bottom, called;
    int turns = TURNS, calls = 0;
    int *places[3] = {values, values + THREADS, values + 2 * THREADS};
    auto node = [&](cudaGraphNode_t *to, std::vector<cudaGraphNode_t> after, int place) {
        void *arguments[] = {&places[place], &turns};
        cudaKernelNodeParams params = {};
        params.func = (void *)spin;
        params.gridDim = dim3(1);
        params.blockDim = dim3(THREADS);
        params.kernelParams = arguments;
        CUDA(cudaGraphAddKernelNode(to, graph, after.data(), after.size(), &params));
    };
    node(&top, {}, 0);
    node(&left, {top}, 0);
    node(&right, {top}, 1);
    cudaHostNodeParams function = {reinterpret_cast<cudaHostFn_t>(set), &calls};
    CUDA(cudaGraphAddHostNode(&called, graph, &right, 1, &function));
    node(&bottom, {left, called}, 2);
    CUDA(cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
    about(timed([&] { CUDA(cudaGraphLaunch(executable, streams[2])); }), one, 3, "a diamond");
    DEMAND(calls == 1);

    // The blocks of a stream with priority start before most blocks of an earlier launch.
    cudaStream_t urgent;
    int least, greatest, priority;
    unsigned flags;
    CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CUDA(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
    CUDA(cudaStreamGetPriority(urgent, &priority));
    CUDA(cudaStreamGetFlags(urgent, &flags));
    DEMAND(least == 0 && greatest < 0 && priority == greatest && flags == cudaStreamNonBlocking);
    cudaEvent_t begun, first, second;
    CUDA(cudaEventCreate(&begun));
    CUDA(cudaEventCreate(&first));
    CUDA(cudaEventCreate(&second));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaEventRecord(begun, streams[0]));
    idle<<<3000, THREADS, 0, streams[0]>>>(values, 40);
    CUDA(cudaEventRecord(first, streams[0]));
    idle<<<16, THREADS, 0, urgent>>>(values, 40);
    CUDA(cudaEventRecord(second, urgent));
    CUDA(cudaDeviceSynchronize());
    float long_time, short_time;
    CUDA(cudaEventElapsedTime(&long_time, begun, first));
    CUDA(cudaEventElapsedTime(&short_time, begun, second));
    DEMAND(!is_timed || short_time < 0.5f * long_time);

    say<<<1, THREADS, 0, streams[0]>>>(0);
    say<<<1, THREADS, 0, streams[1]>>>(1);
    for (auto &stream : streams) CUDA(cudaStreamDestroy(stream));
    CUDA(cudaDeviceSynchronize());

    // From now on, host and kernels share memory, so that each call waits.
    CUDA(cudaMemsetAsync(values, 0, part, alone));
    run(0, alone);
    int *managed;
    CUDA(cudaMallocManaged(&managed, part));
    managed[3] = 5;
    spin<<<1, THREADS, 0, alone>>>(managed, 2);
    run(0, alone);
    CUDA(cudaStreamSynchronize(alone));
    DEMAND(managed[3] == spun(5, 2) && managed[4] == spun(0, 2));
    CUDA(cudaMemcpy(to, values, part, cudaMemcpyDeviceToHost));
    DEMAND(to[3] == spun(spun(0, TURNS), TURNS));
    if (count > 2) {
        // Calls that are refused at once, before the work that is queued.
        DEMAND(cudaStreamSynchronize(streams[0]) == cudaErrorInvalidResourceHandle);
        spin<<<1, 4096, 0, alone>>>(values, 1);
        DEMAND(cudaGetLastError() == cudaErrorInvalidConfiguration);
        DEMAND(cudaMemcpyAsync(values, from, 2 * bytes, cudaMemcpyHostToDevice, alone) == cudaErrorInvalidValue);
    }
    std::printf("overlapping streams agree\n");
    return 0;
}
