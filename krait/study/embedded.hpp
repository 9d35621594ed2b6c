#pragma once

// Files that the build turns into bytes of the library, so that a report needs nothing beside it.

#include <string_view>

namespace krait::study::embedded {

extern const std::string_view kSchemaSql;     // schema.sql
extern const std::string_view kReportCss;     // report/report.css
extern const std::string_view kReportScript;  // report/report.js
extern const std::string_view kChartJs;       // Chart.js 3.9, the system package's file

extern const std::string_view kPublishedCsv;     // fidelity/published.csv
extern const std::string_view kInstructionsCsv;  // fidelity/instructions.csv

}  // namespace krait::study::embedded
