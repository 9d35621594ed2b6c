#include "krait/study/report/report.hpp"

#include <algorithm>

#include "krait/base/text.hpp"
#include "krait/study/embedded.hpp"
#include "krait/study/report/sections.hpp"

namespace krait::study {
namespace report {

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        // Control characters are not allowed in a page.
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return out;
}

std::string job_link(std::string_view key, std::string_view words) {
  return cat("<a class=\"job\" href=\"#job-", escape(key), "\">",
             escape(words.empty() ? key.substr(0, 8) : words), "</a>");
}

std::vector<std::string> titles(const Map& map) {
  std::vector<std::string> out;
  for (const Entry& e : map.entries)
    if (std::find(out.begin(), out.end(), e.title()) == out.end()) out.push_back(e.title());
  return out;
}

}  // namespace report

std::string report_html(const Map& map) {
  using namespace report;
  std::string out;
  out += cat("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
             "<meta name=\"color-scheme\" content=\"light dark\">\n", "<title>Krait map, preset ",
             escape(map.campaign.preset), "</title>\n<style>\n", embedded::kReportCss,
             "</style>\n</head>\n<body>\n");
  out += header_section(map);
  out += "<main>\n";
  out += map_section(map);
  out += charts_section(map);
  out += published_section(map);
  out += entries_section(map);
  out += engines_section(map);
  out += jobs_section(map);
  out += "</main>\n";
  out +=
      cat("<script type=\"application/json\" id=\"krait-data\">", chart_data(map), "</script>\n");
  out += cat("<script>\n", embedded::kChartJs, "\n</script>\n<script>\n", embedded::kReportScript,
             "</script>\n</body>\n</html>\n");
  return out;
}

}  // namespace krait::study
