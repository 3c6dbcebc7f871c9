// Runs a workload on a whole GPU, 1000 core cycles at a time.
//   gpu CONFIGURATION MECHANISM WORKLOAD
#include <selvedge.h>
#include <stdio.h>
#include <string.h>

// Ends main() with the library's line when a call fails.
#define DO(call)                                                     \
    do {                                                             \
        if ((call) != SELVEDGE_STATUS_OK) {                          \
            fprintf(stderr, "gpu: %s\n", selvedge_last_error());     \
            selvedge_gpu_free(gpu);                                  \
            return 2;                                                \
        }                                                            \
    } while (0)

int main(int count, char **words) {
    SelvedgeGpu *gpu = NULL;
    if (count != 4) {
        fprintf(stderr, "gpu: must be: gpu CONFIGURATION MECHANISM WORKLOAD\n");
        return 2;
    }
    if (selvedge_api_version() != SELVEDGE_API_VERSION) {
        fprintf(stderr, "gpu: the library has version %u of the interface, the header %u\n", selvedge_api_version(),
                (unsigned)SELVEDGE_API_VERSION);
        return 2;
    }
    DO(selvedge_gpu_new(words[1], words[2], words[3], "{\"size\": \"tiny\", \"check\": true}", &gpu));
    bool is_over = false;
    unsigned steps = 0;
    while (!is_over) {
        DO(selvedge_gpu_step(gpu, 1000, &is_over));
        steps++;
    }
    uint64_t cycles = 0;
    DO(selvedge_gpu_cycle(gpu, &cycles));
    char *report = NULL;
    DO(selvedge_gpu_finish(gpu, &report));
    const char *is_right = strstr(report, "\"result\": \"pass\"") != NULL ? "right" : "unknown";
    printf("%s: %llu cycles in %u steps, results %s\n", words[3], (unsigned long long)cycles, steps, is_right);
    selvedge_string_free(report);
    selvedge_gpu_free(gpu);
    return 0;
}
