// A traffic generator in front of Selvedge's memory system: a read of an idle system, the same once more, and then random reads and
// writes from every SM.
//   traffic CONFIGURATION
#include "selvedge_memory.hpp"
#include <iostream>
#include <random>
#include <set>

// One SM: sends so many random requests and takes their replies, once it is told to begin.
struct Generator : sc_core::sc_module {
    sc_core::sc_port<sc_core::sc_fifo_out_if<SelvedgeRequest>> out{"out"};
    sc_core::sc_port<sc_core::sc_fifo_in_if<SelvedgeReply>> in{"in"};
    sc_core::sc_event start, done;
    unsigned left = 0;

    SC_HAS_PROCESS(Generator);
    Generator(sc_core::sc_module_name name, unsigned sm, const SelvedgeMemoryShape &shape)
        : sc_module(name), shape(shape), random(sm) {
        SC_THREAD(send);
        SC_THREAD(receive);
    }

    void begin(unsigned count) {
        left = count;
        start.notify(sc_core::SC_ZERO_TIME);
    }

private:
    SelvedgeMemoryShape shape;
    std::mt19937 random;
    std::set<uint64_t> in_flight;

    void send() {
        for (;;) {
            wait(start);
            const unsigned count = left;
            for (uint64_t tag = 0; tag < count; tag++) {
                SelvedgeRequest request{};
                request.address = uint64_t(random() % 4096) * shape.line_bytes;
                request.bytes = shape.line_bytes;
                request.operation = random() % 4 == 0 ? SELVEDGE_WRITE : SELVEDGE_READ;
                request.tag = tag;
                in_flight.insert(tag);
                out->write(request);
            }
        }
    }

    void receive() {
        for (;;) {
            wait(start);
            while (left > 0) {
                const SelvedgeReply reply = in->read();
                if (in_flight.erase(reply.request.tag) != 1) {
                    throw std::runtime_error("a reply to no request");
                }
                left--;
            }
            done.notify(sc_core::SC_ZERO_TIME);
        }
    }
};

// What happens one after the other.
struct Sequence : sc_core::sc_module {
    static constexpr unsigned requests_of_each = 500;

    SelvedgeMemorySystem &memory;
    sc_core::sc_vector<Generator> &generators;

    SC_HAS_PROCESS(Sequence);
    Sequence(sc_core::sc_module_name name, SelvedgeMemorySystem &memory, sc_core::sc_vector<Generator> &generators)
        : sc_module(name), memory(memory), generators(generators) {
        SC_THREAD(run);
    }

private:
    // A read by SM 0 while nothing else goes on: its core cycles.
    uint64_t read(uint64_t address) {
        SelvedgeRequest request{};
        request.address = address;
        request.bytes = memory.shape().line_bytes;
        request.operation = SELVEDGE_READ;
        memory.requests[0].write(request);
        const SelvedgeReply reply = memory.replies[0].read();
        while (!memory.is_idle()) {
            wait(memory.clock.posedge_event());
        }
        return reply.received - reply.sent;
    }

    void run() {
        std::cout << "DRAM read: " << read(0) << " cycles\n";
        std::cout << "L2 hit: " << read(0) << " cycles\n";
        for (Generator &generator : generators) {
            generator.begin(requests_of_each);
        }
        for (Generator &generator : generators) {
            if (generator.left > 0) {
                wait(generator.done);
            }
        }
        while (!memory.is_idle()) {
            wait(memory.clock.posedge_event());
        }
        std::cout << "replies: " << generators.size() * requests_of_each << "\n" << memory.statistics() << "\n";
        sc_core::sc_stop();
    }
};

int sc_main(int count, char **words) {
    if (count != 2) {
        std::cerr << "traffic: must be: traffic CONFIGURATION\n";
        return 2;
    }
    try {
        SelvedgeMemorySystem memory("memory", words[1]);
        sc_core::sc_clock clock("clock", 1000.0 / memory.shape().core_mhz, sc_core::SC_NS);
        memory.clock(clock);
        sc_core::sc_vector<Generator> generators("generator", memory.shape().sms, [&](const char *name, size_t sm) {
            return new Generator(name, unsigned(sm), memory.shape());
        });
        Sequence sequence("sequence", memory, generators);
        for (unsigned sm = 0; sm < memory.shape().sms; sm++) {
            generators[sm].out(memory.requests[sm]);
            generators[sm].in(memory.replies[sm]);
        }
        sc_core::sc_start();
    } catch (const std::exception &error) {
        std::cerr << "traffic: " << error.what() << "\n";
        return 2;
    }
    return 0;
}
