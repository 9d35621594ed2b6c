#pragma once

// Comma-separated values as spreadsheets write them (RFC 4180): a header line, fields that may be
// quoted, quotes doubled within them.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace krait::study {

struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::map<std::string, std::string, std::less<>>> rows;  // by column name
};

/// @param where  names the text in messages
/// @throws UserError for an open quote, or a row with another number of fields than the header
[[nodiscard]] CsvTable parse_csv(std::string_view text, std::string_view where);

}  // namespace krait::study
