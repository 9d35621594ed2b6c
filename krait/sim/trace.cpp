#include "krait/sim/trace.hpp"

#include <cstdio>
#include <map>

#include "krait/base/text.hpp"

namespace krait::sim {
namespace {

// Microseconds with picosecond digits, without going through floating point.
std::string micros(Ps t) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%lld.%06lld", static_cast<long long>(t.value / 1000000),
                static_cast<long long>(t.value % 1000000));
  return buffer;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\u%04x",
                    static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += buffer;
      continue;
    }
    out += c;
  }
  return out + "\"";
}

std::string metadata(const char* what, int track, std::string_view name) {
  return cat("{\"name\":\"", what, "\",\"ph\":\"M\",\"pid\":1,\"tid\":", track,
             ",\"args\":{\"name\":", quoted(name), "}}");
}

}  // namespace

std::string trace_json(const TraceSink& trace, std::string_view process_name) {
  std::map<std::string_view, int> tracks;
  for (const TraceEvent& e : trace.events()) tracks.emplace(e.track, 0);
  int next = 0;
  for (auto& [name, id] : tracks) id = next++;

  std::string out =
      "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + metadata("process_name", 0, process_name);
  for (const auto& [name, id] : tracks) out += ",\n" + metadata("thread_name", id, name);
  for (const TraceEvent& e : trace.events())
    out += cat(",\n{\"name\":", quoted(e.name),
               ",\"ph\":\"X\",\"pid\":1,\"tid\":", tracks.at(e.track), ",\"ts\":", micros(e.start),
               ",\"dur\":", micros(e.duration), ",\"args\":{\"index\":", e.index,
               ",\"visible_us\":", micros(e.visible), ",\"where\":", quoted(e.where), "}}");
  return out + "\n]}\n";
}

}  // namespace krait::sim
