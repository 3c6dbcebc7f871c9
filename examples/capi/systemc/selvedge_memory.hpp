// Selvedge's memory system as a SystemC module: per SM a port for requests and a port for replies.
#pragma once
#include <selvedge.h>
#include <stdexcept>
#include <string>
#include <systemc>
#include <vector>

// Throws the library's line when a call fails.
inline void check(SelvedgeStatus status) {
    if (status != SELVEDGE_STATUS_OK) {
        throw std::runtime_error(selvedge_last_error());
    }
}

inline std::ostream &operator<<(std::ostream &out, const SelvedgeRequest &request) {
    return out << "request " << request.tag << " of " << request.bytes << " bytes at " << request.address;
}

inline std::ostream &operator<<(std::ostream &out, const SelvedgeReply &reply) {
    return out << "reply in cycle " << reply.received << " to " << reply.request;
}

// Takes requests from FIFOs and puts replies into FIFOs, at each rising edge of the core clock.
struct SelvedgeMemorySystem : sc_core::sc_module {
    sc_core::sc_in<bool> clock{"clock"};
    sc_core::sc_vector<sc_core::sc_fifo<SelvedgeRequest>> requests;
    sc_core::sc_vector<sc_core::sc_fifo<SelvedgeReply>> replies;

    SC_HAS_PROCESS(SelvedgeMemorySystem);
    SelvedgeMemorySystem(sc_core::sc_module_name name, const std::string &configuration)
        : sc_module(name), requests("requests"), replies("replies") {
        check(selvedge_memory_new(configuration.c_str(), &memory));
        check(selvedge_memory_shape(memory, &shape_));
        requests.init(shape_.sms);
        replies.init(shape_.sms);
        waiting.resize(shape_.sms);
        SC_METHOD(edge);
        sensitive << clock.pos();
        dont_initialize();
    }

    ~SelvedgeMemorySystem() override { selvedge_memory_free(memory); }

    const SelvedgeMemoryShape &shape() const { return shape_; }

    bool is_idle() const {
        bool idle = false;
        check(selvedge_memory_is_idle(memory, &idle));
        return idle;
    }

    // The counters, as JSON.
    std::string statistics() const {
        char *text = nullptr;
        check(selvedge_memory_statistics(memory, &text));
        std::string copy = text;
        selvedge_string_free(text);
        return copy;
    }

private:
    SelvedgeMemory *memory = nullptr;
    SelvedgeMemoryShape shape_{};
    // A request that has left its FIFO and for which the crossbar had no room yet.
    struct Waiting {
        bool is_there = false;
        SelvedgeRequest request{};
    };
    std::vector<Waiting> waiting;

    void edge() {
        for (unsigned sm = 0; sm < shape_.sms; sm++) {
            Waiting &next = waiting[sm];
            if (!next.is_there) {
                next.is_there = requests[sm].nb_read(next.request);
            }
            if (next.is_there) {
                bool is_taken = false;
                next.request.sm = sm;
                check(selvedge_memory_offer(memory, &next.request, &is_taken));
                next.is_there = !is_taken;
            }
        }
        check(selvedge_memory_step(memory));
        for (unsigned sm = 0; sm < shape_.sms; sm++) {
            // What finds no room in the FIFO stays in the crossbar.
            bool is_there = replies[sm].num_free() > 0;
            SelvedgeReply reply{};
            if (is_there) {
                check(selvedge_memory_reply(memory, sm, &reply, &is_there));
            }
            if (is_there) {
                replies[sm].nb_write(reply);
            }
        }
    }
};
