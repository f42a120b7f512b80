//===- Result.h - a value or one clear error --------------------------------------------------------------------===//
//
// cost_models uses libraries that throw (yaml-cpp, Boost); no exception leaves it. What can fail returns a Result.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_RESULT_H
#define BRAID_COST_MODELS_RESULT_H

#include <string>
#include <utility>
#include <variant>

namespace braid::cost {

/// "subject, expected, got", lowercase, no full stop; `place` is "file:line" where there is one.
struct Error {
  std::string message;
  std::string place;
  std::string text() const { return place.empty() ? message : place + ": " + message; }
};

template <typename T> class Result {
public:
  Result(T value) : state(std::move(value)) {}
  Result(Error error) : state(std::move(error)) {}
  explicit operator bool() const { return std::holds_alternative<T>(state); }
  T &operator*() { return std::get<T>(state); }
  const T &operator*() const { return std::get<T>(state); }
  T *operator->() { return &std::get<T>(state); }
  const T *operator->() const { return &std::get<T>(state); }
  const Error &error() const { return std::get<Error>(state); }

private:
  std::variant<T, Error> state;
};

} // namespace braid::cost

#endif
