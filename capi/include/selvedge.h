// libselvedge: blocks, memory system and GPU of Selvedge for C, C++ and whatever calls C. See docs/how-to/use-from-c.md.
//
// Functions return a SelvedgeStatus and write their results through pointers. What went wrong is one line: selvedge_last_error().
// Objects are behind handles, which the caller frees, as it does texts that are written to a `char **`. Different threads may use
// different objects at the same time, and one object one after the other. Texts are UTF-8.

#ifndef SELVEDGE_H
#define SELVEDGE_H

// Written by cbindgen: SELVEDGE_WRITE_HEADER=1 cargo test -p selvedge-capi --test header

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Version of this interface. A change that breaks compiled programs raises it.
#define SELVEDGE_API_VERSION 1

// Reads bytes.
#define SELVEDGE_READ 0

// Writes bytes.
#define SELVEDGE_WRITE 1

// Reads and writes bytes at the L2.
#define SELVEDGE_ATOMIC 2

// Status of a call.
enum SelvedgeStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The call succeeded.
    SELVEDGE_STATUS_OK = 0,
    // An argument is invalid. Nothing has changed.
    SELVEDGE_STATUS_INVALID = 1,
    // The simulation cannot continue.
    SELVEDGE_STATUS_FAULT = 2,
    // An internal error of Selvedge. A handle that was given can only be freed.
    SELVEDGE_STATUS_INTERNAL = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SelvedgeStatus SelvedgeStatus;
#else
typedef int32_t SelvedgeStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A block under an engine.
typedef struct SelvedgeBlock SelvedgeBlock;

// A simulation.
typedef struct SelvedgeGpu SelvedgeGpu;

// A memory system under its clocks.
typedef struct SelvedgeMemory SelvedgeMemory;

// A port of a block.
typedef struct SelvedgePort {
    // Name of the port. The text is valid until the block is freed.
    const char *name;
    // Width in bits.
    uint32_t bits;
    // Number of 64-bit words of a value.
    uint32_t words;
    // True for an output, false for an input.
    bool is_output;
} SelvedgePort;

// Properties of the memory system that requests must respect.
typedef struct SelvedgeMemoryShape {
    // Number of SMs that can send requests.
    uint32_t sms;
    // Line size, bytes. A request stays within one line.
    uint32_t line_bytes;
    // Core clock, MHz.
    uint32_t core_mhz;
} SelvedgeMemoryShape;

// A request to the memory system. It carries no data: the caller keeps the values of memory.
typedef struct SelvedgeRequest {
    // Address of the first byte.
    uint64_t address;
    // Token of the caller, returned in the reply.
    uint64_t tag;
    // Number of bytes, all in one line.
    uint32_t bytes;
    // SM that sends the request, from 0.
    uint32_t sm;
    // SELVEDGE_READ, SELVEDGE_WRITE or SELVEDGE_ATOMIC.
    uint32_t operation;
} SelvedgeRequest;

// The reply to a request.
typedef struct SelvedgeReply {
    // The request.
    struct SelvedgeRequest request;
    // Core cycle in which the request was taken.
    uint64_t sent;
    // Core cycle in which this reply was received.
    uint64_t received;
} SelvedgeReply;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Writes the number of blocks.
//
// # Safety
// `count` is null or a place for the result.
SelvedgeStatus selvedge_block_count(size_t *count);

// Writes the name of a block by its number, from 0. The library owns the text.
//
// # Safety
// `name` is null or a place for the result.
SelvedgeStatus selvedge_block_name(size_t index, const char **name);

// Creates a block in its reset state. `parameters` is null or a JSON object with the parameters that differ from their
// defaults. `engine` is "model" or "rtl". The caller frees the block.
//
// # Safety
// `name`, `parameters` and `engine` are texts or null; `block` is null or a place for the result.
SelvedgeStatus selvedge_block_new(const char *name, const char *parameters, const char *engine, struct SelvedgeBlock **block);

// Frees a block. Null is ignored.
//
// # Safety
// `block` is null, or a block that has not been freed.
void selvedge_block_free(struct SelvedgeBlock *block);

// Writes all parameters of a block as a JSON object. The caller frees the text.
//
// # Safety
// `block` is null or a block that no other thread uses; `json` is null or a place for the result.
SelvedgeStatus selvedge_block_parameters(struct SelvedgeBlock *block, char **json);

// Writes the number of ports of a block, without its clock and reset.
//
// # Safety
// `block` is null or a block that no other thread uses; `count` is null or a place for the result.
SelvedgeStatus selvedge_block_port_count(struct SelvedgeBlock *block, size_t *count);

// Writes the description of a port by its number, from 0. Inputs come first.
//
// # Safety
// `block` is null or a block that no other thread uses; `port` is null or a place for the result.
SelvedgeStatus selvedge_block_port(struct SelvedgeBlock *block, size_t index, struct SelvedgePort *port);

// Writes the number of the port with this name.
//
// # Safety
// `block` is null or a block that no other thread uses; `name` is null or a text; `index` is null or a place for the result.
SelvedgeStatus selvedge_block_port_index(struct SelvedgeBlock *block, const char *name, size_t *index);

// Sets an input for the following cycles. `count` must be the number of words of the port; the first word has the lowest
// bits. Inputs are 0 until they are set.
//
// # Safety
// `block` is null or a block that no other thread uses; `words` is null or points to `count` words.
SelvedgeStatus selvedge_block_set(struct SelvedgeBlock *block, size_t index, const uint64_t *words, size_t count);

// Writes the value of a port. The value of an output is from the last cycle, before the clock edge. `count` must be the
// number of words of the port.
//
// # Safety
// `block` is null or a block that no other thread uses; `words` is null or a place for `count` words.
SelvedgeStatus selvedge_block_get(struct SelvedgeBlock *block, size_t index, uint64_t *words, size_t count);

// Runs one clock cycle: computes the outputs from the inputs, then applies the clock edge.
//
// # Safety
// `block` is null or a block that no other thread uses.
SelvedgeStatus selvedge_block_step(struct SelvedgeBlock *block);

// Runs one clock cycle in reset. Inputs keep their values for the following cycles.
//
// # Safety
// `block` is null or a block that no other thread uses.
SelvedgeStatus selvedge_block_reset(struct SelvedgeBlock *block);

// Sets up a simulation before its first cycle. `configuration` is the name of a built-in configuration or the path of a
// file. `mechanism` is as after --mechanism ("base" for none). `workload` is the name of a built-in workload, or the path
// of a trace or of a launch file, which names a PTX file. `options` is null or a JSON object with any of these keys:
// "size" (of a built-in workload: tiny, small, study or paper), "values" (of memory in an Accel-Sim trace, as after
// --values), "engine" (of the mechanism's blocks: model, rtl or lockstep), "check" (true: DRAM commands and loads are
// checked), "max_cycles", "max_instructions", and "set" (an object with values that override the configuration, such as
// {"l1d.ways": 8}). The caller frees the simulation.
//
// # Safety
// `configuration`, `mechanism`, `workload` and `options` are texts or null; `gpu` is null or a place for the result.
SelvedgeStatus selvedge_gpu_new(const char *configuration,
                                const char *mechanism,
                                const char *workload,
                                const char *options,
                                struct SelvedgeGpu **gpu);

// Frees a simulation, even before its end. Null is ignored.
//
// # Safety
// `gpu` is null, or a simulation that has not been freed.
void selvedge_gpu_free(struct SelvedgeGpu *gpu);

// Runs `cycles` core cycles, fewer if the simulation ends earlier, and writes whether the simulation is over.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `is_over` is null or a place for the result.
SelvedgeStatus selvedge_gpu_step(struct SelvedgeGpu *gpu, uint64_t cycles, bool *is_over);

// Writes the number of core cycles that have run.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `cycle` is null or a place for the result.
SelvedgeStatus selvedge_gpu_cycle(struct SelvedgeGpu *gpu, uint64_t *cycle);

// Writes the current counters as a JSON object, the "totals" of a report. Must not be called after selvedge_gpu_finish.
// The caller frees the text.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `json` is null or a place for the result.
SelvedgeStatus selvedge_gpu_statistics(struct SelvedgeGpu *gpu, char **json);

// Runs the simulation to its end, checks the results, writes the files of a launch file, and writes the report, the JSON
// object of `selvedge run --json`. If the run has stopped early or its results are wrong, the status is
// SELVEDGE_STATUS_FAULT, and the report is still written. The caller frees the text.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `json` is null or a place for the result.
SelvedgeStatus selvedge_gpu_finish(struct SelvedgeGpu *gpu, char **json);

// Writes the text that the kernels of a finished simulation have printed. The caller frees the text.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `text` is null or a place for the result.
SelvedgeStatus selvedge_gpu_printed(struct SelvedgeGpu *gpu, char **text);

// Returns the version of the interface that the library has. A program compares it with the header's SELVEDGE_API_VERSION.
uint32_t selvedge_api_version(void);

// Returns the version of Selvedge, such as "0.1.0". The text is the library's.
const char *selvedge_version(void);

// Returns the error of this thread's last failed call, in one line; an empty text if no call has failed. The library owns
// the text, which is valid until the next failed call of this thread.
const char *selvedge_last_error(void);

// Writes the number of blocks.
//
// # Safety
// `count` is null or a place for the result.
SelvedgeStatus selvedge_block_count(size_t *count);

// Writes the name of a block by its number, from 0. The library owns the text.
//
// # Safety
// `name` is null or a place for the result.
SelvedgeStatus selvedge_block_name(size_t index, const char **name);

// Creates a block in its reset state. `parameters` is null or a JSON object with the parameters that differ from their
// defaults. `engine` is "model" or "rtl". The caller frees the block.
//
// # Safety
// `name`, `parameters` and `engine` are texts or null; `block` is null or a place for the result.
SelvedgeStatus selvedge_block_new(const char *name, const char *parameters, const char *engine, struct SelvedgeBlock **block);

// Frees a block. Null is ignored.
//
// # Safety
// `block` is null, or a block that has not been freed.
void selvedge_block_free(struct SelvedgeBlock *block);

// Writes all parameters of a block as a JSON object. The caller frees the text.
//
// # Safety
// `block` is null or a block that no other thread uses; `json` is null or a place for the result.
SelvedgeStatus selvedge_block_parameters(struct SelvedgeBlock *block, char **json);

// Writes the number of ports of a block, without its clock and reset.
//
// # Safety
// `block` is null or a block that no other thread uses; `count` is null or a place for the result.
SelvedgeStatus selvedge_block_port_count(struct SelvedgeBlock *block, size_t *count);

// Writes the description of a port by its number, from 0. Inputs come first.
//
// # Safety
// `block` is null or a block that no other thread uses; `port` is null or a place for the result.
SelvedgeStatus selvedge_block_port(struct SelvedgeBlock *block, size_t index, struct SelvedgePort *port);

// Writes the number of the port with this name.
//
// # Safety
// `block` is null or a block that no other thread uses; `name` is null or a text; `index` is null or a place for the result.
SelvedgeStatus selvedge_block_port_index(struct SelvedgeBlock *block, const char *name, size_t *index);

// Sets an input for the following cycles. `count` must be the number of words of the port; the first word has the lowest
// bits. Inputs are 0 until they are set.
//
// # Safety
// `block` is null or a block that no other thread uses; `words` is null or points to `count` words.
SelvedgeStatus selvedge_block_set(struct SelvedgeBlock *block, size_t index, const uint64_t *words, size_t count);

// Writes the value of a port. The value of an output is from the last cycle, before the clock edge. `count` must be the
// number of words of the port.
//
// # Safety
// `block` is null or a block that no other thread uses; `words` is null or a place for `count` words.
SelvedgeStatus selvedge_block_get(struct SelvedgeBlock *block, size_t index, uint64_t *words, size_t count);

// Runs one clock cycle: computes the outputs from the inputs, then applies the clock edge.
//
// # Safety
// `block` is null or a block that no other thread uses.
SelvedgeStatus selvedge_block_step(struct SelvedgeBlock *block);

// Runs one clock cycle in reset. Inputs keep their values for the following cycles.
//
// # Safety
// `block` is null or a block that no other thread uses.
SelvedgeStatus selvedge_block_reset(struct SelvedgeBlock *block);

// Sets up a simulation before its first cycle. `configuration` is the name of a built-in configuration or the path of a
// file. `mechanism` is as after --mechanism ("base" for none). `workload` is the name of a built-in workload, or the path
// of a trace or of a launch file, which names a PTX file. `options` is null or a JSON object with any of these keys:
// "size" (of a built-in workload: tiny, small, study or paper), "values" (of memory in an Accel-Sim trace, as after
// --values), "engine" (of the mechanism's blocks: model, rtl or lockstep), "check" (true: DRAM commands and loads are
// checked), "max_cycles", "max_instructions", and "set" (an object with values that override the configuration, such as
// {"l1d.ways": 8}). The caller frees the simulation.
//
// # Safety
// `configuration`, `mechanism`, `workload` and `options` are texts or null; `gpu` is null or a place for the result.
SelvedgeStatus selvedge_gpu_new(const char *configuration,
                                const char *mechanism,
                                const char *workload,
                                const char *options,
                                struct SelvedgeGpu **gpu);

// Frees a simulation, even before its end. Null is ignored.
//
// # Safety
// `gpu` is null, or a simulation that has not been freed.
void selvedge_gpu_free(struct SelvedgeGpu *gpu);

// Runs `cycles` core cycles, fewer if the simulation ends earlier, and writes whether the simulation is over.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `is_over` is null or a place for the result.
SelvedgeStatus selvedge_gpu_step(struct SelvedgeGpu *gpu, uint64_t cycles, bool *is_over);

// Writes the number of core cycles that have run.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `cycle` is null or a place for the result.
SelvedgeStatus selvedge_gpu_cycle(struct SelvedgeGpu *gpu, uint64_t *cycle);

// Writes the current counters as a JSON object, the "totals" of a report. Must not be called after selvedge_gpu_finish.
// The caller frees the text.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `json` is null or a place for the result.
SelvedgeStatus selvedge_gpu_statistics(struct SelvedgeGpu *gpu, char **json);

// Runs the simulation to its end, checks the results, writes the files of a launch file, and writes the report, the JSON
// object of `selvedge run --json`. If the run has stopped early or its results are wrong, the status is
// SELVEDGE_STATUS_FAULT, and the report is still written. The caller frees the text.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `json` is null or a place for the result.
SelvedgeStatus selvedge_gpu_finish(struct SelvedgeGpu *gpu, char **json);

// Writes the text that the kernels of a finished simulation have printed. The caller frees the text.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `text` is null or a place for the result.
SelvedgeStatus selvedge_gpu_printed(struct SelvedgeGpu *gpu, char **text);

// Creates an idle memory system with empty caches, in core cycle 0. `configuration` is the name of a built-in
// configuration or the path of a file. The caller frees the memory system.
//
// # Safety
// `configuration` is a text or null; `memory` is null or a place for the result.
SelvedgeStatus selvedge_memory_new(const char *configuration, struct SelvedgeMemory **memory);

// Frees a memory system. Null is ignored.
//
// # Safety
// `memory` is null, or a memory system that has not been freed.
void selvedge_memory_free(struct SelvedgeMemory *memory);

// Writes the properties that requests must respect.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `shape` is null or a place for the result.
SelvedgeStatus selvedge_memory_shape(struct SelvedgeMemory *memory, struct SelvedgeMemoryShape *shape);

// Offers a request and writes whether it was taken. It is not taken if its SM's port of the crossbar has no room in this
// cycle. Any number of requests may be offered between two steps.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `request` is null or a request; `is_taken` is null or a place for
// the result.
SelvedgeStatus selvedge_memory_offer(struct SelvedgeMemory *memory, const struct SelvedgeRequest *request, bool *is_taken);

// Runs one core cycle, and the cycles of the crossbar, the L2 and the DRAM that fall into it.
//
// # Safety
// `memory` is null or a memory system that no other thread uses.
SelvedgeStatus selvedge_memory_step(struct SelvedgeMemory *memory);

// Takes a reply that has arrived at an SM, and writes whether there was one. An SM receives at most one packet per core
// cycle; other packets wait in the crossbar.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `reply` and `is_there` are null or places for the results.
SelvedgeStatus selvedge_memory_reply(struct SelvedgeMemory *memory, uint32_t sm, struct SelvedgeReply *reply, bool *is_there);

// Writes the number of core cycles that have run.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `cycle` is null or a place for the result.
SelvedgeStatus selvedge_memory_cycle(struct SelvedgeMemory *memory, uint64_t *cycle);

// Writes whether no request, reply or dirty line is in flight.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `is_idle` is null or a place for the result.
SelvedgeStatus selvedge_memory_is_idle(struct SelvedgeMemory *memory, bool *is_idle);

// Writes the current counters of crossbars, L2 and DRAM as a JSON object. The caller frees the text.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `json` is null or a place for the result.
SelvedgeStatus selvedge_memory_statistics(struct SelvedgeMemory *memory, char **json);

// Frees a text that a function has written; null is nothing to free.
//
// # Safety
// `text` is null, or a text of this library that has not been freed.
void selvedge_string_free(char *text);

// Creates an idle memory system with empty caches, in core cycle 0. `configuration` is the name of a built-in
// configuration or the path of a file. The caller frees the memory system.
//
// # Safety
// `configuration` is a text or null; `memory` is null or a place for the result.
SelvedgeStatus selvedge_memory_new(const char *configuration, struct SelvedgeMemory **memory);

// Frees a memory system. Null is ignored.
//
// # Safety
// `memory` is null, or a memory system that has not been freed.
void selvedge_memory_free(struct SelvedgeMemory *memory);

// Writes the properties that requests must respect.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `shape` is null or a place for the result.
SelvedgeStatus selvedge_memory_shape(struct SelvedgeMemory *memory, struct SelvedgeMemoryShape *shape);

// Offers a request and writes whether it was taken. It is not taken if its SM's port of the crossbar has no room in this
// cycle. Any number of requests may be offered between two steps.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `request` is null or a request; `is_taken` is null or a place for
// the result.
SelvedgeStatus selvedge_memory_offer(struct SelvedgeMemory *memory, const struct SelvedgeRequest *request, bool *is_taken);

// Runs one core cycle, and the cycles of the crossbar, the L2 and the DRAM that fall into it.
//
// # Safety
// `memory` is null or a memory system that no other thread uses.
SelvedgeStatus selvedge_memory_step(struct SelvedgeMemory *memory);

// Takes a reply that has arrived at an SM, and writes whether there was one. An SM receives at most one packet per core
// cycle; other packets wait in the crossbar.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `reply` and `is_there` are null or places for the results.
SelvedgeStatus selvedge_memory_reply(struct SelvedgeMemory *memory, uint32_t sm, struct SelvedgeReply *reply, bool *is_there);

// Writes the number of core cycles that have run.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `cycle` is null or a place for the result.
SelvedgeStatus selvedge_memory_cycle(struct SelvedgeMemory *memory, uint64_t *cycle);

// Writes whether no request, reply or dirty line is in flight.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `is_idle` is null or a place for the result.
SelvedgeStatus selvedge_memory_is_idle(struct SelvedgeMemory *memory, bool *is_idle);

// Writes the current counters of crossbars, L2 and DRAM as a JSON object. The caller frees the text.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `json` is null or a place for the result.
SelvedgeStatus selvedge_memory_statistics(struct SelvedgeMemory *memory, char **json);

// Frees a text that a function has written; null is nothing to free.
//
// # Safety
// `text` is null, or a text of this library that has not been freed.
void selvedge_string_free(char *text);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SELVEDGE_H */
