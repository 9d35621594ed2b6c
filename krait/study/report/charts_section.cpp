#include <algorithm>
#include <nlohmann/json.hpp>

#include "krait/base/text.hpp"
#include "krait/study/report/roofs.hpp"
#include "krait/study/report/sections.hpp"

namespace krait::study::report {
namespace {

using Json = nlohmann::ordered_json;

std::string axis_label(const Entry& e) {
  return cat(e.machine, e.measured ? " measured" : " predicted");
}

void add_unique(std::vector<std::string>& list, const std::string& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

/// One operator at one shape: for each variant its speed-up over the baseline, machine by machine.
Json speedup_chart(const Map& map, const std::string& title) {
  std::vector<std::string> axes, variants;
  for (const Entry& e : map.entries) {
    if (e.title() != title || e.baseline() == nullptr) continue;
    add_unique(axes, axis_label(e));
    for (const VariantResult& v : e.variants)
      if (v.role == Role::kCustom && v.counts()) add_unique(variants, v.name);
  }
  Json chart{{"title", title}, {"labels", axes}, {"series", Json::array()}};
  for (const std::string& variant : variants) {
    Json values = Json::array(), measured = Json::array();
    for (const std::string& axis : axes) {
      Json value = nullptr;
      bool is_measured = false;
      for (const Entry& e : map.entries) {
        if (e.title() != title || axis_label(e) != axis || e.baseline() == nullptr) continue;
        is_measured = e.measured;
        for (const VariantResult& v : e.variants)
          if (v.name == variant && v.role == Role::kCustom && v.counts())
            value = e.baseline()->result.time_ns / v.result.time_ns;
      }
      values.push_back(value);
      measured.push_back(is_measured);
    }
    chart["series"].push_back({{"name", variant}, {"values", values}, {"measured", measured}});
  }
  return chart;
}

/// Shapes of one operator along the axis, a line a machine: the factor of the best variant.
Json sweep_chart(const Map& map, const std::string& op) {
  std::vector<std::string> shapes, axes;
  for (const Entry& e : map.entries) {
    if (e.op != op || !e.factor) continue;
    add_unique(shapes, label("", e.shape));
    add_unique(axes, axis_label(e));
  }
  Json chart{{"title", op}, {"labels", shapes}, {"series", Json::array()}};
  for (const std::string& axis : axes) {
    Json values = Json::array();
    bool measured = false;
    for (const std::string& shape : shapes) {
      Json value = nullptr;
      for (const Entry& e : map.entries)
        if (e.op == op && e.factor && axis_label(e) == axis && label("", e.shape) == shape) {
          value = *e.factor;
          measured = e.measured;
        }
      values.push_back(value);
    }
    chart["series"].push_back({{"name", axis}, {"values", values}, {"measured", measured}});
  }
  return chart;
}

Json point_of(const Entry& e, const VariantResult& v) {
  // On the chip traffic is counted; on this CPU only the least traffic of the operator is known.
  const double bytes =
      e.measured ? v.result.counts.min_bytes : static_cast<double>(v.result.hbm_bytes());
  return {{"name", v.name},
          {"shape", e.title()},
          {"x", v.result.counts.flops / bytes},
          {"y", v.result.counts.flops / v.result.time_ns}};
}

bool has_point(const Entry& e, const VariantResult& v) {
  if (!v.counts() || !(v.result.counts.flops > 0)) return false;
  return e.measured ? v.result.counts.min_bytes > 0 && !v.result.source : v.result.hbm_bytes() > 0;
}

Json roofs_json(const Roofs& roofs) {
  Json peaks = Json::array();
  for (const Roofs::Peak& p : roofs.peaks)
    peaks.push_back({{"name", p.name}, {"gflops", p.gflops}});
  return {{"bytes_per_ns", roofs.bytes_per_ns}, {"memory", roofs.memory}, {"peaks", peaks}};
}

Roofs roofs_of(const Map& map, const std::string& axis) {
  for (const Entry& e : map.entries) {
    if (axis_label(e) != axis) continue;
    if (!e.measured) return machine_roofs(e.machine);
    for (const VariantResult& v : e.variants)
      if (v.result.limits)
        return {.bytes_per_ns = v.result.limits->gbps,
                .memory = "memory reads, measured",
                .peaks = {{"f32 multiply-add, measured", v.result.limits->gflops}}};
  }
  return {};
}

Json roofline_chart(const Map& map, const std::string& axis) {
  Json chart{
      {"title", axis}, {"roofs", roofs_json(roofs_of(map, axis))}, {"series", Json::array()}};
  std::vector<std::string> ops;
  for (const Entry& e : map.entries) add_unique(ops, e.op);
  for (const std::string& op : ops) {
    Json points = Json::array();
    for (const Entry& e : map.entries) {
      if (e.op != op || axis_label(e) != axis) continue;
      for (const VariantResult& v : e.variants)
        if (has_point(e, v)) points.push_back(point_of(e, v));
    }
    if (!points.empty()) chart["series"].push_back({{"name", op}, {"points", points}});
  }
  return chart;
}

/// The first shape of each operator, and the operators that have several.
struct Shapes {
  std::vector<std::string> first, swept;
};

Shapes shapes_of(const Map& map) {
  Shapes out;
  std::vector<std::pair<std::string, std::string>> seen;
  for (const Entry& e : map.entries) {
    const auto known = std::find_if(seen.begin(), seen.end(),
                                    [&e](const auto& pair) { return pair.first == e.op; });
    if (known == seen.end()) {
      seen.emplace_back(e.op, e.title());
      out.first.push_back(e.title());
    } else if (known->second != e.title()) {
      add_unique(out.swept, e.op);
    }
  }
  return out;
}

std::vector<std::string> axes_of(const Map& map) {
  std::vector<std::string> out;
  for (const Entry& e : map.entries)
    for (const VariantResult& v : e.variants)
      if (has_point(e, v)) add_unique(out, axis_label(e));
  return out;
}

std::string figure(std::string_view kind, std::size_t index, std::string_view caption) {
  return cat("<figure><figcaption>", caption, "</figcaption><div class=\"chart ", kind,
             "\"><canvas id=\"", kind, '-', index, "\" role=\"img\" aria-label=\"", kind,
             "\"></canvas></div></figure>\n");
}

}  // namespace

std::string chart_data(const Map& map) {
  const Shapes shapes = shapes_of(map);
  Json out{{"speedups", Json::array()}, {"sweeps", Json::array()}, {"rooflines", Json::array()}};
  for (const std::string& title : shapes.first)
    out["speedups"].push_back(speedup_chart(map, title));
  for (const std::string& op : shapes.swept) out["sweeps"].push_back(sweep_chart(map, op));
  for (const std::string& axis : axes_of(map))
    out["rooflines"].push_back(roofline_chart(map, axis));
  // "<" never appears, so no text can end the script element.
  std::string safe;
  for (const char c : out.dump(-1, ' ', false, Json::error_handler_t::replace))
    c == '<' ? safe += "\\u003c" : safe += c;
  return safe;
}

std::string charts_section(const Map& map) {
  const Shapes shapes = shapes_of(map);
  std::string out =
      "<section id=\"charts\">\n<h2>Speed-ups</h2>\n"
      "<p>Over the baseline, logarithmic; bars to the right of 1x are faster. "
      "Full bars are measured, hatched ones predicted. The entries below hold the same figures.</p>"
      "\n<div class=\"figures\">\n";
  for (std::size_t i = 0; i < shapes.first.size(); ++i)
    out += figure("speedup", i, escape(shapes.first[i]));
  for (std::size_t i = 0; i < shapes.swept.size(); ++i)
    out += figure("sweep", i, cat(escape(shapes.swept[i]), " over shapes, best variant"));
  out +=
      "</div>\n<h2>Rooflines</h2>\n"
      "<p>Operations of the operator per byte moved, against operations per second. "
      "Hollow points are predicted. A kernel under the slope is limited by memory at best.</p>\n"
      "<div class=\"figures\">\n";
  const std::vector<std::string> axes = axes_of(map);
  for (std::size_t i = 0; i < axes.size(); ++i) out += figure("roofline", i, escape(axes[i]));
  return out +
         "</div>\n"
         "<noscript><p>Charts need scripts; the tables hold the same figures.</p></noscript>\n"
         "</section>\n";
}

}  // namespace krait::study::report
