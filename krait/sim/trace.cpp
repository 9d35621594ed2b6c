#include "krait/sim/trace.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

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

// The track of each event. Viewers nest the events of a track, so transfers of one ring that
// overlap go to further tracks of the same name and a number: each to the first one that is free.
struct Tracks {
  using Key = std::pair<std::string_view, std::size_t>;  // name and lane, so that 10 follows 9
  std::map<Key, int> ids;
  std::vector<int> of_event;
};

std::string name_of(const Tracks::Key& track) {
  return track.second == 0 ? std::string(track.first) : cat(track.first, ", ", track.second + 1);
}

Tracks lay_out(const std::vector<TraceEvent>& events) {
  std::map<std::string_view, std::vector<Ps>> free;  // when each lane of this name is free
  std::vector<Tracks::Key> keys;
  for (const TraceEvent& e : events) {
    std::vector<Ps>& lanes = free[e.track];
    const auto at = std::find_if(lanes.begin(), lanes.end(), [&](Ps t) { return t <= e.start; });
    const auto lane = static_cast<std::size_t>(at - lanes.begin());
    if (at == lanes.end()) lanes.push_back({});
    lanes[lane] = e.start + e.duration;
    keys.emplace_back(e.track, lane);
  }
  Tracks out;
  for (const Tracks::Key& key : keys) out.ids.emplace(key, 0);
  int next = 0;
  for (auto& [key, id] : out.ids) id = next++;
  for (const Tracks::Key& key : keys) out.of_event.push_back(out.ids.at(key));
  return out;
}

}  // namespace

std::string trace_json(const TraceSink& trace, std::string_view process_name) {
  const std::vector<TraceEvent>& events = trace.events();
  const Tracks tracks = lay_out(events);
  std::string out =
      "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + metadata("process_name", 0, process_name);
  for (const auto& [key, id] : tracks.ids) out += ",\n" + metadata("thread_name", id, name_of(key));
  for (std::size_t i = 0; i < events.size(); ++i) {
    const TraceEvent& e = events[i];
    out += cat(",\n{\"name\":", quoted(e.name),
               ",\"ph\":\"X\",\"pid\":1,\"tid\":", tracks.of_event[i], ",\"ts\":", micros(e.start),
               ",\"dur\":", micros(e.duration), ",\"args\":{\"index\":", e.index,
               ",\"visible_us\":", micros(e.visible), ",\"where\":", quoted(e.where), "}}");
  }
  return out + "\n]}\n";
}

}  // namespace krait::sim
