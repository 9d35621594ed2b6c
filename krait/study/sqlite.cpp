#include "krait/study/sqlite.hpp"

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::study {
namespace {

// Another process holds the write lock for milliseconds only; see lock.hpp for whole runs.
constexpr int kBusyMilliseconds = 5000;

std::string remedy(int code) {
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return "name another file with --db; this one is left as it is";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "wait for the other process, or use another file with --db";
    case SQLITE_FULL:
      return "free some space on the disk and resume";
    default:
      return "check the path, its folder and the permissions";
  }
}

}  // namespace

Statement& Statement::bind(int index, std::string_view text) {
  const int code = sqlite3_bind_text64(statement_.get(), index, text.data(), text.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) owner_->fail(code);
  return *this;
}

Statement& Statement::bind(int index, std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_.get(), index, value);
  if (code != SQLITE_OK) owner_->fail(code);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) owner_->fail(code);
  sqlite3_reset(statement_.get());  // so that it can be bound again
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const void* bytes = sqlite3_column_text(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr) return {};
  return std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

Connection::Connection(const std::filesystem::path& path, bool create) : path_(path.string()) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status))
    throw UserError(Report{
        "cannot open the job database " + path_, {}, "it is a folder", "name a file with --db"});
  sqlite3* db = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
  const int code = sqlite3_open_v2(path_.c_str(), &db, flags, nullptr);
  db_.reset(db);
  if (code != SQLITE_OK) fail(code);
  sqlite3_busy_timeout(db, kBusyMilliseconds);
  sqlite3_extended_result_codes(db, 1);
}

Statement Connection::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) fail(code);
  return {*this, statement};
}

void Connection::execute(const std::string& sql) {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::int64_t Connection::integer(std::string_view sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

void Connection::fail(int code) {
  const char* reason = db_ ? sqlite3_errmsg(db_.get()) : sqlite3_errstr(code);
  throw UserError(Report{"cannot use the job database " + path_, {}, reason, remedy(code)});
}

Transaction::Transaction(Connection& db) : db_(db) {
  db_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    db_.execute("ROLLBACK");
  } catch (const Error&) {  // the connection is lost; SQLite rolls back when it is opened again
  }
}

void Transaction::commit() {
  db_.execute("COMMIT");
  open_ = false;
}

}  // namespace krait::study
