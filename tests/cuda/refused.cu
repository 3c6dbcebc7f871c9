// Programs that lose some of their work, one for each argument. Each goes on after the error and ends with exit code 0.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

__global__ void good(int *out) { out[threadIdx.x] = threadIdx.x * 7; }
__global__ void add(int *out) { out[threadIdx.x]++; }
#ifdef UNKNOWN
__global__ void bad(int *out) { asm volatile("unknown.u32 %0, 1;" : "=r"(out[0])); }
#endif

static void say(const char *what, cudaError_t code) { std::printf("%s: %s\n", what, cudaGetErrorName(code)); }

static void end(int *memory) {
    int host[32] = {};
    cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("last %d\n", host[31]);
}

int main(int, char **arguments) {
    const char *what = arguments[1];
    int *memory, host[32] = {};
    if (!std::strcmp(what, "child")) {
        // The parent has registered its kernels and done nothing else.
        pid_t child = fork();
        if (child == 0) _exit(cudaMalloc(&memory, 128) == cudaErrorInitializationError ? 0 : 1);
        int status;
        waitpid(child, &status, 0);
        std::printf("child %d\n", status);
    }
    cudaMalloc(&memory, 128);
    cudaMemset(memory, 0, 128);
    if (!std::strcmp(what, "launches"))
        for (int i = 0; i < 8; i++) good<<<1, 2048>>>(memory);
#ifdef UNKNOWN
    if (!std::strcmp(what, "unknown")) bad<<<1, 1>>>(memory);
#endif
    if (!std::strcmp(what, "huge")) {
        say("2^47", cudaMemcpy(memory, host, 1ull << 47, cudaMemcpyHostToDevice));
        say("2^39", cudaMemcpy(memory, host, 1ull << 39, cudaMemcpyHostToDevice));
        say("back", cudaMemcpy(host, memory, 1ull << 39, cudaMemcpyDeviceToHost));
        say("rows", cudaMemcpy2D(memory, 1ull << 40, host, 1ull << 40, 1ull << 39, 1ull << 30, cudaMemcpyHostToDevice));
    }
    if (!std::strcmp(what, "cooperative")) {
        void *parameters[] = {&memory};
        say("cooperative", cudaLaunchCooperativeKernel((void *)good, dim3(1 << 20), dim3(1024), parameters, 0, nullptr));
    }
    if (!std::strcmp(what, "closed")) {
        for (int i = 3; i < 100; i++) close(i);
        // The next file gets the descriptor of the connection: nothing must be written to it.
        FILE *file = std::fopen("mine", "w+");
        say("closed", cudaMemset(memory, 1, 4));
        std::fseek(file, 0, SEEK_END);
        std::printf("%ld bytes in the file\n", std::ftell(file));
    }
    if (!std::strcmp(what, "fork")) {
        pid_t child = fork();
        if (child == 0) {
            int wrong = 0;
            size_t free, total;
            for (int i = 0; i < 200; i++) wrong += cudaMemGetInfo(&free, &total) != cudaErrorInitializationError;
            _exit(wrong > 0);
        }
        int errors = 0, status;
        for (int i = 0; i < 200; i++) {
            add<<<1, 32>>>(memory);
            errors += cudaGetLastError() != cudaSuccess;
        }
        cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost);
        waitpid(child, &status, 0);
        std::printf("value %d, errors %d, child %d\n", host[3], errors, status);
        return 0;
    }
    if (!std::strcmp(what, "background") && fork() == 0) {
        // It keeps the connection, and no pipe of the test.
        close(1);
        close(2);
        sleep(40);
        _exit(0);
    }
    if (!std::strcmp(what, "spin")) {
        FILE *file = std::fopen("number", "w");
        std::fprintf(file, "%d\n", getpid());
        std::fclose(file);
        for (;;) sleep(1);
    }
    if (!std::strcmp(what, "calls")) {
        size_t free, total;
        for (;;) cudaMemGetInfo(&free, &total);
    }
    good<<<1, 32>>>(memory);
    end(memory);
    return 0;
}
