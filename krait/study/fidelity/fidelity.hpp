#pragma once

// Predicted against published times, row by row and kind by kind. Nothing is fitted here: a row
// says what the tables give, and the bands say how far off that is.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krait/study/fidelity/published_row.hpp"

namespace krait::study {

struct FidelityRow {
  std::string id, kind, family, generation;  // family: the instruction, or "dma"
  std::string statistic, reading;
  double published_us = 0;  // without the floor that the source names
  double predicted_us = 0;
  std::string problem, note;
  std::vector<ValueRow> values;  // of the machine table: those that move the prediction
  // A value of the tables was read off this row; none was, so far.
  bool calibration = false;

  [[nodiscard]] double ratio() const { return predicted_us / published_us; }
  /// |ratio - 1|
  [[nodiscard]] double error() const;
  /// The evidence marks of `values`, each once, best first: "DRU".
  [[nodiscard]] std::string marks() const;
};

/// A row that is not compared, and why.
struct NotExpressed {
  std::string id, kind, generation, reason;
};

struct Band {
  std::string kind;
  std::string family;  // empty: all of the kind
  std::string generation;
  std::size_t count = 0;
  std::optional<double> median_error, p90_error;  // none without rows: no band
};

/// Two variants of one problem whose published times differ by more than 15 %.
struct OrderedPair {
  std::string problem, generation;
  std::string faster, slower;               // ids, as published
  double published_ratio, predicted_ratio;  // slower over faster
  /// Times within 1 % of each other predict no order.
  [[nodiscard]] bool right() const { return predicted_ratio > 1.01; }
};

struct Fidelity {
  std::vector<FidelityRow> rows;
  std::vector<NotExpressed> not_expressed;
  std::vector<Band> bands;  // every kind of the file on every generation, then its families
  std::vector<OrderedPair> pairs;

  [[nodiscard]] std::size_t right_pairs() const;
};

struct FidelityFilter {
  std::string kind;        // empty: all
  std::string generation;  // empty: all; a machine's name or alias
};

/// @throws UserError for a kind that no row has (with the nearest) or an unknown generation
[[nodiscard]] Fidelity compare_published(std::span<const PublishedRow> rows,
                                         std::span<const Expression> expressions,
                                         const FidelityFilter& filter = {});

/// The smallest value that nine tenths of them do not exceed. At least one value.
[[nodiscard]] double percentile_90(std::vector<double> values);

}  // namespace krait::study
