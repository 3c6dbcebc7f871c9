// libselvedge: blocks, memory system and GPU of Selvedge for C, C++ and whatever calls C. See docs/c-api.md.
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

// How a call has ended.
enum SelvedgeStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // It has done what it was asked for.
    SELVEDGE_STATUS_OK = 0,
    // An argument is wrong: nothing has changed.
    SELVEDGE_STATUS_INVALID = 1,
    // The simulation cannot go on.
    SELVEDGE_STATUS_FAULT = 2,
    // An error of Selvedge itself. A handle that was given is of no use but to be freed.
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
    // Its name, there as long as the block.
    const char *name;
    // Its width in bits.
    uint32_t bits;
    // How many 64-bit words hold a value of it.
    uint32_t words;
    // Whether it is an output.
    bool is_output;
} SelvedgePort;

// What requests have to keep to.
typedef struct SelvedgeMemoryShape {
    // How many SMs there are: a request comes from one of them.
    uint32_t sms;
    // Bytes of a line: a request stays within one.
    uint32_t line_bytes;
    // The core clock, MHz.
    uint32_t core_mhz;
} SelvedgeMemoryShape;

// A request to the memory system. It carries no data: the caller keeps the values of memory.
typedef struct SelvedgeRequest {
    // Address of the first byte.
    uint64_t address;
    // The caller's own mark, returned in the reply.
    uint64_t tag;
    // How many bytes, all of one line.
    uint32_t bytes;
    // The SM that asks, from 0 on.
    uint32_t sm;
    // SELVEDGE_READ, SELVEDGE_WRITE or SELVEDGE_ATOMIC.
    uint32_t operation;
} SelvedgeRequest;

// The reply to a request.
typedef struct SelvedgeReply {
    // The request.
    struct SelvedgeRequest request;
    // The core cycle in which it was taken.
    uint64_t sent;
    // The core cycle in which this reply was received.
    uint64_t received;
} SelvedgeReply;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Writes how many blocks there are.
//
// # Safety
// `count` is null or a place for the result.
SelvedgeStatus selvedge_block_count(size_t *count);

// Writes the name of a block by its number, from 0 on. The text is the library's.
//
// # Safety
// `name` is null or a place for the result.
SelvedgeStatus selvedge_block_name(size_t index, const char **name);

// Makes a block in its reset state. `parameters` is a JSON object of those that are not to have their defaults, or null; `engine` is
// "model" or "rtl". The caller frees the block.
//
// # Safety
// `name` and `engine` are texts or null, `parameters` too; `block` is null or a place for the result.
SelvedgeStatus selvedge_block_new(const char *name,
                                  const char *parameters,
                                  const char *engine,
                                  struct SelvedgeBlock **block);

// Frees a block; null is nothing to free.
//
// # Safety
// `block` is null, or a block that has not been freed.
void selvedge_block_free(struct SelvedgeBlock *block);

// Writes all parameters of a block as a JSON object. The caller frees the text.
//
// # Safety
// `block` is null or a block that no other thread uses; `json` is null or a place for the result.
SelvedgeStatus selvedge_block_parameters(struct SelvedgeBlock *block, char **json);

// Writes how many ports a block has, its clock and its reset apart.
//
// # Safety
// `block` is null or a block that no other thread uses; `count` is null or a place for the result.
SelvedgeStatus selvedge_block_port_count(struct SelvedgeBlock *block, size_t *count);

// Writes what a port of a block is, by its number from 0 on. Inputs come first.
//
// # Safety
// `block` is null or a block that no other thread uses; `port` is null or a place for the result.
SelvedgeStatus selvedge_block_port(struct SelvedgeBlock *block, size_t index, struct SelvedgePort *port);

// Writes the number of the port of that name.
//
// # Safety
// `block` is null or a block that no other thread uses; `name` is null or a text; `index` is null or a place for the result.
SelvedgeStatus selvedge_block_port_index(struct SelvedgeBlock *block, const char *name, size_t *index);

// Sets an input for the cycles to come: `count` words, as many as the port has, the lowest bits first. Inputs are 0 before.
//
// # Safety
// `block` is null or a block that no other thread uses; `words` is null or points to `count` words.
SelvedgeStatus selvedge_block_set(struct SelvedgeBlock *block, size_t index, const uint64_t *words, size_t count);

// Writes the value of a port: an output's is that of the last cycle, before the clock edge. `count` is as with selvedge_block_set.
//
// # Safety
// `block` is null or a block that no other thread uses; `words` is null or a place for `count` words.
SelvedgeStatus selvedge_block_get(struct SelvedgeBlock *block, size_t index, uint64_t *words, size_t count);

// Runs one clock: the outputs follow the inputs, and the edge is taken.
//
// # Safety
// `block` is null or a block that no other thread uses.
SelvedgeStatus selvedge_block_step(struct SelvedgeBlock *block);

// Runs one clock in reset. The inputs that were set stay for the cycles after it.
//
// # Safety
// `block` is null or a block that no other thread uses.
SelvedgeStatus selvedge_block_reset(struct SelvedgeBlock *block);

// Sets up a simulation before its first cycle. `configuration` is the name of a built-in configuration or the path of a file,
// `mechanism` is as after --mechanism ("base" for none), `workload` is the name of a built-in workload or the path of a launch file,
// which names a PTX file, or of a trace. `options` is null or a JSON object with any of "size" (a built-in workload's: tiny, small,
// study or paper), "engine" (of the mechanism's blocks: model, rtl or lockstep), "check" (true: DRAM commands and loads are checked),
// "threads", "max_cycles" and "max_instructions". The caller frees the simulation.
//
// # Safety
// `configuration`, `mechanism`, `workload` and `options` are texts or null; `gpu` is null or a place for the result.
SelvedgeStatus selvedge_gpu_new(const char *configuration,
                                const char *mechanism,
                                const char *workload,
                                const char *options,
                                struct SelvedgeGpu **gpu);

// Frees a simulation, which need not be over; null is nothing to free.
//
// # Safety
// `gpu` is null, or a simulation that has not been freed.
void selvedge_gpu_free(struct SelvedgeGpu *gpu);

// Runs so many core cycles, or what is left, and writes whether the simulation is over.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `is_over` is null or a place for the result.
SelvedgeStatus selvedge_gpu_step(struct SelvedgeGpu *gpu, uint64_t cycles, bool *is_over);

// Writes the core cycles so far.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `cycle` is null or a place for the result.
SelvedgeStatus selvedge_gpu_cycle(struct SelvedgeGpu *gpu, uint64_t *cycle);

// Writes the counters so far as a JSON object: the "totals" of a report. The simulation must not have been finished. The caller frees
// the text.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `json` is null or a place for the result.
SelvedgeStatus selvedge_gpu_statistics(struct SelvedgeGpu *gpu,
                                       char **json);

// Runs what is left, checks the results, writes the files of a launch file, and writes the report, the JSON object of
// `selvedge run --json`. If the run has stopped early or its results are wrong, the report is written, too, and the status is
// SELVEDGE_STATUS_FAULT. The caller frees the text.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `json` is null or a place for the result.
SelvedgeStatus selvedge_gpu_finish(struct SelvedgeGpu *gpu, char **json);

// Writes what the kernels of a finished simulation have printed. The caller frees the text.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `text` is null or a place for the result.
SelvedgeStatus selvedge_gpu_printed(struct SelvedgeGpu *gpu, char **text);

// Returns the version of the interface that the library has. A program compares it with the header's SELVEDGE_API_VERSION.
uint32_t selvedge_api_version(void);

// Returns the version of Selvedge, such as "0.1.0". The text is the library's.
const char *selvedge_version(void);

// Returns what was wrong with the last call of this thread that failed, in one line; an empty text if none has. The text is the
// library's, and is there until the next call of this thread that fails.
const char *selvedge_last_error(void);

// Writes how many blocks there are.
//
// # Safety
// `count` is null or a place for the result.
SelvedgeStatus selvedge_block_count(size_t *count);

// Writes the name of a block by its number, from 0 on. The text is the library's.
//
// # Safety
// `name` is null or a place for the result.
SelvedgeStatus selvedge_block_name(size_t index, const char **name);

// Makes a block in its reset state. `parameters` is a JSON object of those that are not to have their defaults, or null; `engine` is
// "model" or "rtl". The caller frees the block.
//
// # Safety
// `name` and `engine` are texts or null, `parameters` too; `block` is null or a place for the result.
SelvedgeStatus selvedge_block_new(const char *name,
                                  const char *parameters,
                                  const char *engine,
                                  struct SelvedgeBlock **block);

// Frees a block; null is nothing to free.
//
// # Safety
// `block` is null, or a block that has not been freed.
void selvedge_block_free(struct SelvedgeBlock *block);

// Writes all parameters of a block as a JSON object. The caller frees the text.
//
// # Safety
// `block` is null or a block that no other thread uses; `json` is null or a place for the result.
SelvedgeStatus selvedge_block_parameters(struct SelvedgeBlock *block, char **json);

// Writes how many ports a block has, its clock and its reset apart.
//
// # Safety
// `block` is null or a block that no other thread uses; `count` is null or a place for the result.
SelvedgeStatus selvedge_block_port_count(struct SelvedgeBlock *block, size_t *count);

// Writes what a port of a block is, by its number from 0 on. Inputs come first.
//
// # Safety
// `block` is null or a block that no other thread uses; `port` is null or a place for the result.
SelvedgeStatus selvedge_block_port(struct SelvedgeBlock *block, size_t index, struct SelvedgePort *port);

// Writes the number of the port of that name.
//
// # Safety
// `block` is null or a block that no other thread uses; `name` is null or a text; `index` is null or a place for the result.
SelvedgeStatus selvedge_block_port_index(struct SelvedgeBlock *block, const char *name, size_t *index);

// Sets an input for the cycles to come: `count` words, as many as the port has, the lowest bits first. Inputs are 0 before.
//
// # Safety
// `block` is null or a block that no other thread uses; `words` is null or points to `count` words.
SelvedgeStatus selvedge_block_set(struct SelvedgeBlock *block, size_t index, const uint64_t *words, size_t count);

// Writes the value of a port: an output's is that of the last cycle, before the clock edge. `count` is as with selvedge_block_set.
//
// # Safety
// `block` is null or a block that no other thread uses; `words` is null or a place for `count` words.
SelvedgeStatus selvedge_block_get(struct SelvedgeBlock *block, size_t index, uint64_t *words, size_t count);

// Runs one clock: the outputs follow the inputs, and the edge is taken.
//
// # Safety
// `block` is null or a block that no other thread uses.
SelvedgeStatus selvedge_block_step(struct SelvedgeBlock *block);

// Runs one clock in reset. The inputs that were set stay for the cycles after it.
//
// # Safety
// `block` is null or a block that no other thread uses.
SelvedgeStatus selvedge_block_reset(struct SelvedgeBlock *block);

// Sets up a simulation before its first cycle. `configuration` is the name of a built-in configuration or the path of a file,
// `mechanism` is as after --mechanism ("base" for none), `workload` is the name of a built-in workload or the path of a launch file,
// which names a PTX file, or of a trace. `options` is null or a JSON object with any of "size" (a built-in workload's: tiny, small,
// study or paper), "engine" (of the mechanism's blocks: model, rtl or lockstep), "check" (true: DRAM commands and loads are checked),
// "threads", "max_cycles" and "max_instructions". The caller frees the simulation.
//
// # Safety
// `configuration`, `mechanism`, `workload` and `options` are texts or null; `gpu` is null or a place for the result.
SelvedgeStatus selvedge_gpu_new(const char *configuration,
                                const char *mechanism,
                                const char *workload,
                                const char *options,
                                struct SelvedgeGpu **gpu);

// Frees a simulation, which need not be over; null is nothing to free.
//
// # Safety
// `gpu` is null, or a simulation that has not been freed.
void selvedge_gpu_free(struct SelvedgeGpu *gpu);

// Runs so many core cycles, or what is left, and writes whether the simulation is over.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `is_over` is null or a place for the result.
SelvedgeStatus selvedge_gpu_step(struct SelvedgeGpu *gpu, uint64_t cycles, bool *is_over);

// Writes the core cycles so far.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `cycle` is null or a place for the result.
SelvedgeStatus selvedge_gpu_cycle(struct SelvedgeGpu *gpu, uint64_t *cycle);

// Writes the counters so far as a JSON object: the "totals" of a report. The simulation must not have been finished. The caller frees
// the text.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `json` is null or a place for the result.
SelvedgeStatus selvedge_gpu_statistics(struct SelvedgeGpu *gpu,
                                       char **json);

// Runs what is left, checks the results, writes the files of a launch file, and writes the report, the JSON object of
// `selvedge run --json`. If the run has stopped early or its results are wrong, the report is written, too, and the status is
// SELVEDGE_STATUS_FAULT. The caller frees the text.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `json` is null or a place for the result.
SelvedgeStatus selvedge_gpu_finish(struct SelvedgeGpu *gpu, char **json);

// Writes what the kernels of a finished simulation have printed. The caller frees the text.
//
// # Safety
// `gpu` is null or a simulation that no other thread uses; `text` is null or a place for the result.
SelvedgeStatus selvedge_gpu_printed(struct SelvedgeGpu *gpu, char **text);

// Makes an idle memory system with empty caches, in core cycle 0. `configuration` is the name of a built-in configuration or the path
// of a file. The caller frees the memory system.
//
// # Safety
// `configuration` is a text or null; `memory` is null or a place for the result.
SelvedgeStatus selvedge_memory_new(const char *configuration,
                                   struct SelvedgeMemory **memory);

// Frees a memory system; null is nothing to free.
//
// # Safety
// `memory` is null, or a memory system that has not been freed.
void selvedge_memory_free(struct SelvedgeMemory *memory);

// Writes what requests have to keep to.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `shape` is null or a place for the result.
SelvedgeStatus selvedge_memory_shape(struct SelvedgeMemory *memory, struct SelvedgeMemoryShape *shape);

// Offers a request and writes whether it was taken: if not, its SM's port of the crossbar has no room in this cycle. Any number may
// be offered between two steps.
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

// Takes a reply that has arrived at an SM and writes whether there was one. An SM receives one packet in a core cycle at most; what
// it does not take waits in the crossbar.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `reply` and `is_there` are null or places for the results.
SelvedgeStatus selvedge_memory_reply(struct SelvedgeMemory *memory, uint32_t sm, struct SelvedgeReply *reply, bool *is_there);

// Writes the core cycles so far.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `cycle` is null or a place for the result.
SelvedgeStatus selvedge_memory_cycle(struct SelvedgeMemory *memory, uint64_t *cycle);

// Writes whether no request, reply or dirty line is in flight.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `is_idle` is null or a place for the result.
SelvedgeStatus selvedge_memory_is_idle(struct SelvedgeMemory *memory, bool *is_idle);

// Writes the counters of crossbars, L2 and DRAM so far as a JSON object. The caller frees the text.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `json` is null or a place for the result.
SelvedgeStatus selvedge_memory_statistics(struct SelvedgeMemory *memory, char **json);

// Frees a text that a function has written; null is nothing to free.
//
// # Safety
// `text` is null, or a text of this library that has not been freed.
void selvedge_string_free(char *text);

// Makes an idle memory system with empty caches, in core cycle 0. `configuration` is the name of a built-in configuration or the path
// of a file. The caller frees the memory system.
//
// # Safety
// `configuration` is a text or null; `memory` is null or a place for the result.
SelvedgeStatus selvedge_memory_new(const char *configuration,
                                   struct SelvedgeMemory **memory);

// Frees a memory system; null is nothing to free.
//
// # Safety
// `memory` is null, or a memory system that has not been freed.
void selvedge_memory_free(struct SelvedgeMemory *memory);

// Writes what requests have to keep to.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `shape` is null or a place for the result.
SelvedgeStatus selvedge_memory_shape(struct SelvedgeMemory *memory, struct SelvedgeMemoryShape *shape);

// Offers a request and writes whether it was taken: if not, its SM's port of the crossbar has no room in this cycle. Any number may
// be offered between two steps.
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

// Takes a reply that has arrived at an SM and writes whether there was one. An SM receives one packet in a core cycle at most; what
// it does not take waits in the crossbar.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `reply` and `is_there` are null or places for the results.
SelvedgeStatus selvedge_memory_reply(struct SelvedgeMemory *memory, uint32_t sm, struct SelvedgeReply *reply, bool *is_there);

// Writes the core cycles so far.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `cycle` is null or a place for the result.
SelvedgeStatus selvedge_memory_cycle(struct SelvedgeMemory *memory, uint64_t *cycle);

// Writes whether no request, reply or dirty line is in flight.
//
// # Safety
// `memory` is null or a memory system that no other thread uses; `is_idle` is null or a place for the result.
SelvedgeStatus selvedge_memory_is_idle(struct SelvedgeMemory *memory, bool *is_idle);

// Writes the counters of crossbars, L2 and DRAM so far as a JSON object. The caller frees the text.
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
