// The driver API as launchers use it: libcuda is loaded at run time, and kernels come from PTX text.
#include "demand.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <dlfcn.h>
#include <vector>

#define CU(call) \
    do { \
        CUresult code = (call); \
        if (code != CUDA_SUCCESS) { \
            std::printf("%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, int(code)); \
            std::exit(2); \
        } \
    } while (0)

static CUresult (*get_address)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

// Returns a function of the driver API by the name that the header gives it.
template <typename F>
F *function(const char *name) {
    void *found = nullptr;
    CUdriverProcAddressQueryResult status;
    CU(get_address(name, &found, CUDA_VERSION, 0, &status));
    DEMAND(found && status == CU_GET_PROC_ADDRESS_SUCCESS);
    return reinterpret_cast<F *>(found);
}
#define LOAD(name) auto *name##_ = function<decltype(name)>(#name)

// y[i] += factor * x[i], where `factor` is a parameter times a variable of the module.
static const char *PTX = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .f32 gain = 0f40000000;
.visible .entry axpy(.param .u64 x, .param .u64 y, .param .f32 factor, .param .u32 count) {
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<6>; .reg .b64 %rd<6>;
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 ret;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
    mul.wide.u32 %rd3, %r5, 4;
    add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
    ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2];
    ld.param.f32 %f3, [factor]; ld.global.f32 %f4, [gain];
    mul.f32 %f3, %f3, %f4;
    fma.rn.f32 %f5, %f1, %f3, %f2;
    st.global.f32 [%rd2], %f5;
    ret;
}
)";

int main() {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    DEMAND(library);
    get_address = reinterpret_cast<decltype(get_address)>(dlsym(library, "cuGetProcAddress_v2"));
    DEMAND(get_address);
    void *none = &none;
    CUdriverProcAddressQueryResult status;
    DEMAND(get_address("cuNoSuchFunction", &none, CUDA_VERSION, 0, &status) == CUDA_ERROR_NOT_FOUND && !none);
    LOAD(cuInit);
    LOAD(cuDeviceGet);
    LOAD(cuDeviceGetName);
    LOAD(cuDeviceGetAttribute);
    LOAD(cuDevicePrimaryCtxRetain);
    LOAD(cuCtxSetCurrent);
    LOAD(cuCtxGetCurrent);
    LOAD(cuModuleLoadData);
    LOAD(cuModuleGetFunction);
    LOAD(cuMemAllocManaged);
    LOAD(cuMemsetD32Async);
    LOAD(cuLaunchKernel);
    LOAD(cuStreamCreate);
    LOAD(cuStreamSynchronize);
    LOAD(cuEventCreate);
    LOAD(cuEventRecord);
    LOAD(cuLinkComplete);
    LOAD(cuGetErrorName);
    auto *mem_alloc = function<CUresult(CUdeviceptr *, size_t)>("cuMemAlloc");
    auto *mem_free = function<CUresult(CUdeviceptr)>("cuMemFree");
    auto *to_device = function<CUresult(CUdeviceptr, const void *, size_t)>("cuMemcpyHtoD");
    auto *to_host = function<CUresult(void *, CUdeviceptr, size_t)>("cuMemcpyDtoH");
    auto *get_global = function<CUresult(CUdeviceptr *, size_t *, CUmodule, const char *)>("cuModuleGetGlobal");
    auto *elapsed = function<CUresult(float *, CUevent, CUevent)>("cuEventElapsedTime");
    auto *link_create = function<CUresult(unsigned, CUjit_option *, void **, CUlinkState *)>("cuLinkCreate");
    auto *link_add = function<CUresult(CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned, CUjit_option *,
                                       void **)>("cuLinkAddData");

    CU(cuInit_(0));
    CUdevice device;
    CU(cuDeviceGet_(&device, 0));
    char name[16];
    CU(cuDeviceGetName_(name, sizeof name, device));
    DEMAND(!std::strcmp(name, "Selvedge simula"));
    int major, sms;
    CU(cuDeviceGetAttribute_(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CU(cuDeviceGetAttribute_(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    DEMAND(major >= 6 && sms > 0);
    CUcontext context, current;
    CU(cuDevicePrimaryCtxRetain_(&context, device));
    CU(cuCtxSetCurrent_(context));
    CU(cuCtxGetCurrent_(&current));
    DEMAND(context == current);

    // The linker's image is loaded as a module.
    CUlinkState link;
    void *image;
    size_t image_bytes;
    CU(link_create(0, nullptr, nullptr, &link));
    CU(link_add(link, CU_JIT_INPUT_PTX, const_cast<char *>(PTX), std::strlen(PTX) + 1, "axpy", 0, nullptr, nullptr));
    CU(cuLinkComplete_(link, &image, &image_bytes));
    CUmodule module;
    CU(cuModuleLoadData_(&module, image));
    CUfunction axpy;
    CU(cuModuleGetFunction_(&axpy, module, "axpy"));

    constexpr unsigned COUNT = 1000;
    std::vector<float> x(COUNT), y(COUNT);
    for (unsigned i = 0; i < COUNT; i++) x[i] = float(i);
    CUdeviceptr on_device, shared;
    CU(mem_alloc(&on_device, COUNT * sizeof(float)));
    CU(to_device(on_device, x.data(), COUNT * sizeof(float)));
    CU(cuMemAllocManaged_(&shared, COUNT * sizeof(float), CU_MEM_ATTACH_GLOBAL));
    CUstream stream;
    CUevent begin, end;
    CU(cuStreamCreate_(&stream, CU_STREAM_NON_BLOCKING));
    CU(cuEventCreate_(&begin, CU_EVENT_DEFAULT));
    CU(cuEventCreate_(&end, CU_EVENT_DEFAULT));
    float one = 1;
    unsigned bits;
    std::memcpy(&bits, &one, sizeof bits);
    CU(cuMemsetD32Async_(shared, bits, COUNT, stream));
    float factor = 3;
    unsigned count = COUNT;
    void *params[] = {&on_device, &shared, &factor, &count};
    CU(cuEventRecord_(begin, stream));
    CU(cuLaunchKernel_(axpy, (COUNT + 127) / 128, 1, 1, 128, 1, 1, 0, stream, params, nullptr));
    // The same parameters, packed, after the variable has changed.
    CUdeviceptr gain;
    size_t gain_bytes;
    CU(get_global(&gain, &gain_bytes, module, "gain"));
    DEMAND(gain_bytes == sizeof(float));
    float half = 0.5f;
    CU(to_device(gain, &half, sizeof half));
    struct {
        CUdeviceptr x, y;
        float factor;
        unsigned count;
    } packed = {on_device, shared, 4, COUNT};
    size_t packed_bytes = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packed_bytes, CU_LAUNCH_PARAM_END};
    CU(cuLaunchKernel_(axpy, (COUNT + 127) / 128, 1, 1, 128, 1, 1, 0, stream, nullptr, extra));
    CU(cuEventRecord_(end, stream));
    CU(cuStreamSynchronize_(stream));
    float milliseconds;
    CU(elapsed(&milliseconds, begin, end));
    DEMAND(milliseconds > 0);
    CU(to_host(y.data(), shared, COUNT * sizeof(float)));
    for (unsigned i = 0; i < COUNT; i++) {
        float expected = 1 + 2 * 3 * x[i] + 0.5f * 4 * x[i];
        DEMAND(y[i] == expected && reinterpret_cast<float *>(shared)[i] == expected);
    }
    const char *text;
    CU(cuGetErrorName_(CUDA_ERROR_NOT_FOUND, &text));
    DEMAND(!std::strcmp(text, "CUDA_ERROR_NOT_FOUND"));
    CU(mem_free(on_device));
    std::printf("driver agrees\n");
    return 0;
}
