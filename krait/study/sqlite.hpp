#pragma once

// A thin owner of an SQLite connection and its statements; private to the study.

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace krait::study {

class Connection;

/// A prepared statement. Binding is positional from 1; step() is true while there is a row.
class Statement {
 public:
  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, std::int64_t value);
  /// @throws UserError naming the database and SQLite's reason
  bool step();
  /// Runs to the end and resets, so that the statement can be bound again.
  void run();
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string text(int column) const;

 private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
  };
  Statement(Connection& owner, sqlite3_stmt* statement) : owner_(&owner), statement_(statement) {}
  Connection* owner_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Connection {
 public:
  /// @throws UserError naming the path and the reason
  Connection(const std::filesystem::path& path, bool create);

  [[nodiscard]] Statement prepare(std::string_view sql);
  void execute(const std::string& sql);
  [[nodiscard]] std::int64_t integer(std::string_view sql);
  /// @throws UserError with SQLite's message
  [[noreturn]] void fail(int code);

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> db_;
};

/// Rolls back unless commit() was called. IMMEDIATE: takes the write lock at once.
class Transaction {
 public:
  explicit Transaction(Connection& db);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Connection& db_;
  bool open_ = true;
};

}  // namespace krait::study
