#pragma once

// Published measurements, and how each is said again as a probe of ours. Both are tables that ship
// with the program; docs/fidelity.md has their columns.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "krait/study/fidelity/probe_run.hpp"

namespace krait::study {

/// A published row as a probe. What a stranger needs to check it stands in one line of the file.
struct Expression {
  std::string id;
  std::string probe;             // "stream", "dma", "value" (of the machine table), "none"
  std::vector<std::string> set;  // assignments; of `value` its name
  Reading reading = Reading::kSlope;
  double count = 1;     // repetitions that the published time is of; of a total 1
  int parts = 1;        // duration: of one of so many equal parts
  double floor_us = 0;  // what the source says its times hold beside the device's
  std::string problem;  // rows with one problem are variants of each other; may be empty
  std::string note;     // what differs; of `none` why there is none
};

struct PublishedRow {
  std::string id, generation;
  std::string kind;  // the first tag of the notes, without brackets
  double latency_us = 0;
  std::string statistic, confidence;  // the latter is "high" where there is no such column
  std::optional<Expression> own;      // of files that bring their own
};

/// @param where  names the text in messages
/// @throws UserError for missing columns and values that cannot be read
[[nodiscard]] std::vector<PublishedRow> parse_published(std::string_view text,
                                                        std::string_view where);
[[nodiscard]] std::vector<Expression> parse_expressions(std::string_view text,
                                                        std::string_view where);

/// Those that ship with the program.
[[nodiscard]] std::vector<PublishedRow> built_in_published();
[[nodiscard]] std::vector<Expression> built_in_expressions();

}  // namespace krait::study
