// The conversation between taut and a solver in C++17, protocol 1. Nothing here need be changed for another method.
//
// A method derives from taut::Solver and has, beside its functions,
//     static constexpr std::size_t width;   numbers of a body: 13 where `state` is rigid, 24 where it is affine
//     static const char *hello();           keys and values of the handshake, without `protocol`
//     Method(const taut::Json &scene, const taut::Json &settings);
// and main is `return taut::serve<Method>();`. What it does not take it refuses by throwing a taut::Refusal.

#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace taut {

// Says no; the process lives on. Kinds: unsupported, settings, state, capacity, not_converged, device, internal.
struct Refusal : std::runtime_error {
    Refusal(std::string kind, const std::string &message) : std::runtime_error(message), kind(std::move(kind)) {}
    std::string kind;
};

// A value of JSON. What is not there reads as null, a null as zero and as an empty text or list.
class Json {
public:
    bool is_null() const { return kind == Kind::null; }
    bool is_number() const { return kind == Kind::number; }
    bool is_text() const { return kind == Kind::text; }
    bool truth() const { return kind == Kind::boolean && value != 0; }
    double number() const { return kind == Kind::number ? value : 0; }
    const std::string &text() const { return words; }
    const std::vector<Json> &items() const { return list; }
    const std::map<std::string, Json> &fields() const { return map; }
    const Json &operator[](std::size_t i) const { return i < list.size() ? list[i] : nothing(); }
    const Json &operator[](const char *key) const {
        const auto found = map.find(key);
        return found == map.end() ? nothing() : found->second;
    }

    static Json parse(const std::string &text) {
        Parser parser{text.c_str(), text.c_str() + text.size()};
        Json whole = parser.any(0);
        parser.skip();
        if (parser.at != parser.end) parser.fail();
        return whole;
    }

private:
    enum class Kind { null, boolean, number, text, list, map };
    Kind kind = Kind::null;
    double value = 0;
    std::string words;
    std::vector<Json> list;
    std::map<std::string, Json> map;

    static const Json &nothing() {
        static const Json none;
        return none;
    }

    struct Parser {
        const char *at, *end;

        [[noreturn]] void fail() const { throw Refusal("internal", "this is no JSON"); }
        void skip() {
            while (at != end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) ++at;
        }
        bool next_is(char c) {
            skip();
            if (at == end || *at != c) return false;
            ++at;
            return true;
        }
        void expect(char c) {
            if (!next_is(c)) fail();
        }
        void literal(const char *word) {
            const std::size_t length = std::strlen(word);
            if (std::size_t(end - at) < length || std::memcmp(at, word, length) != 0) fail();
            at += length;
        }

        unsigned hex() {
            if (end - at < 4) fail();
            unsigned code = 0;
            for (int i = 0; i < 4; ++i) {
                const char c = *at++;
                const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
                if (digit < 0) fail();
                code = 16 * code + unsigned(digit);
            }
            return code;
        }

        static void put(std::string &out, unsigned code) {
            if (code < 0x80) {
                out += char(code);
            } else if (code < 0x800) {
                out += char(0xC0 | code >> 6);
                out += char(0x80 | (code & 0x3F));
            } else if (code < 0x10000) {
                out += char(0xE0 | code >> 12);
                out += char(0x80 | (code >> 6 & 0x3F));
                out += char(0x80 | (code & 0x3F));
            } else {
                out += char(0xF0 | code >> 18);
                out += char(0x80 | (code >> 12 & 0x3F));
                out += char(0x80 | (code >> 6 & 0x3F));
                out += char(0x80 | (code & 0x3F));
            }
        }

        std::string quoted() {
            expect('"');
            std::string out;
            while (at != end && *at != '"') {
                if (*at != '\\') {
                    out += *at++;
                    continue;
                }
                if (++at == end) fail();
                const char c = *at++;
                const char *plain = std::strchr("\"\"\\\\//b\bf\fn\nr\rt\t", c);
                if (c == 'u') {
                    unsigned code = hex();
                    if (code >= 0xD800 && code < 0xDC00) { // the first half of a pair
                        literal("\\u");
                        code = 0x10000 + ((code - 0xD800) << 10) + (hex() - 0xDC00);
                    }
                    put(out, code);
                } else if (plain && c) {
                    out += plain[1];
                } else {
                    fail();
                }
            }
            expect('"');
            return out;
        }

        Json any(int depth) {
            if (depth > 64) fail();
            Json json;
            skip();
            if (at == end) fail();
            switch (*at) {
            case 'n': literal("null"); break;
            case 't': literal("true"); json.kind = Kind::boolean; json.value = 1; break;
            case 'f': literal("false"); json.kind = Kind::boolean; break;
            case '"': json.kind = Kind::text; json.words = quoted(); break;
            case '[':
                json.kind = Kind::list;
                expect('[');
                if (next_is(']')) break;
                do json.list.push_back(any(depth + 1));
                while (next_is(','));
                expect(']');
                break;
            case '{':
                json.kind = Kind::map;
                expect('{');
                if (next_is('}')) break;
                do {
                    skip();
                    std::string key = quoted();
                    expect(':');
                    json.map[std::move(key)] = any(depth + 1);
                } while (next_is(','));
                expect('}');
                break;
            default: {
                char *stop = nullptr;
                json.kind = Kind::number;
                json.value = std::strtod(at, &stop);
                if (stop == at) fail();
                at = stop;
            }
            }
            return json;
        }
    };
};

// The motion of everything: bodies in scene order, then particles (position 3, velocity 3).
struct State {
    double time_s = 0;
    std::vector<double> numbers;
    std::vector<std::size_t> broken; // joints
};

class Solver {
public:
    virtual ~Solver() = default;
    // Those in force, every default filled in, as a JSON object.
    virtual std::string settings() const = 0;
    // Takes a state and forgets everything else: warm starts, contacts, the last step.
    virtual void load(const State &start) = 0;
    // One whole step of `dt` seconds.
    virtual void step(double dt, std::int64_t iterations) = 0;
    // Changes nothing.
    virtual const State &read() const = 0;
    // What joints and contacts exerted in the last step, where `forces` of the handshake is true: six numbers for each
    // joint, then 26 for each contact. Changes nothing.
    virtual std::vector<double> forces() const { throw Refusal("unknown", "this solver tells no forces"); }
};

// A number that reads back to the same bits.
inline std::string number_text(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", number);
    return text;
}

inline std::string quoted_text(const std::string &text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
    return out + '"';
}

template <class Method> class Conversation {
public:
    // The keys of an answer, without braces; what follows it is left in `after`.
    std::string answer(const Json &request, const std::vector<char> &block, std::vector<double> &after) {
        const std::string &name = request["do"].text();
        if (name == "ping" || name == "bye") return "";
        if (name == "hello") return std::string("\"protocol\": 1, ") + one_line(Method::hello());
        if (name == "scene") {
            const Json scene = Json::parse(std::string(block.begin(), block.end()));
            solver = std::make_unique<Method>(scene, request["settings"]);
            size = Method::width * scene["bodies"].items().size() + 6 * scene["particles"].items().size();
            return "\"settings\": " + solver->settings();
        }
        if (name != "load" && name != "step" && name != "read" && name != "forces")
            throw Refusal("unknown", "there is no request `" + name + "`");
        if (!solver) throw Refusal("internal", "`" + name + "` before any scene");
        if (name == "load") return load(request, block);
        if (name == "forces") {
            after = solver->forces();
            return "\"bytes\": " + std::to_string(8 * after.size());
        }
        return name == "step" ? step(request) : read(after);
    }

private:
    std::unique_ptr<Solver> solver;
    std::size_t size = 0;

    static std::string one_line(std::string text) {
        for (char &c : text)
            if (c == '\n') c = ' ';
        return text;
    }

    std::string load(const Json &request, const std::vector<char> &block) {
        if (block.size() != 8 * size)
            throw Refusal("state", "a state of " + std::to_string(block.size()) + " bytes where " +
                                       std::to_string(8 * size) + " are due");
        State start;
        start.time_s = request["time_s"].number();
        start.numbers.resize(size);
        // Blocks are little-endian, as the processors are that this is for.
        if (size > 0) std::memcpy(start.numbers.data(), block.data(), block.size());
        for (const Json &joint : request["broken"].items()) start.broken.push_back(std::size_t(joint.number()));
        solver->load(start);
        return "";
    }

    std::string step(const Json &request) {
        const auto wall = std::chrono::steady_clock::now();
        const std::clock_t cpu = std::clock();
        const auto count = std::int64_t(request["count"].number()), iterations = std::int64_t(request["iterations"].number());
        for (std::int64_t i = 0; i < count; ++i) solver->step(request["dt"].number(), iterations);
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - wall;
        return "\"wall_s\": " + number_text(spent.count()) +
               ", \"cpu_s\": " + number_text(double(std::clock() - cpu) / CLOCKS_PER_SEC);
    }

    std::string read(std::vector<double> &after) {
        const State &state = solver->read();
        after = state.numbers;
        std::string broken;
        for (const std::size_t joint : state.broken) broken += (broken.empty() ? "" : ", ") + std::to_string(joint);
        return "\"time_s\": " + number_text(state.time_s) + ", \"bytes\": " + std::to_string(8 * after.size()) +
               ", \"broken\": [" + broken + "]";
    }
};

// Answers until the input ends or `bye` comes; the exit status of the program.
template <class Method> int serve() {
    // Whatever is printed from here on goes to standard error: between the answers it would be taken for one.
    std::FILE *answers = fdopen(dup(1), "wb");
    if (!answers || dup2(2, 1) < 0) return 1;
    Conversation<Method> conversation;
    std::string line;
    std::vector<char> block;
    std::vector<double> after;
    for (;;) {
        line.clear();
        for (int c; (c = std::getchar()) != '\n'; line += char(c))
            if (c == EOF) return 0;
        const Json request = Json::parse(line);
        block.resize(std::size_t(request["bytes"].number()));
        if (std::fread(block.data(), 1, block.size(), stdin) != block.size()) return 0;
        after.clear();
        std::string said;
        try {
            said = "\"ok\": true";
            const std::string keys = conversation.answer(request, block, after);
            if (!keys.empty()) said += ", " + keys;
        } catch (const Refusal &refusal) {
            after.clear();
            said = "\"ok\": false, \"kind\": " + quoted_text(refusal.kind) +
                   ", \"message\": " + quoted_text(refusal.what());
        }
        const auto number = std::to_string(std::int64_t(request["n"].number()));
        std::fprintf(answers, "{\"n\": %s, %s}\n", number.c_str(), said.c_str());
        std::fwrite(after.data(), sizeof(double), after.size(), answers);
        std::fflush(answers);
        if (request["do"].text() == "bye") return 0;
    }
}

} // namespace taut
