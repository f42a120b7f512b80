//===- Attachments.h - the caller's memory, known to the transport while an operation is planned with it ------------------===//
#ifndef BRAID_RUNTIME_CORE_ATTACHMENTS_H
#define BRAID_RUNTIME_CORE_ATTACHMENTS_H

#include "core/Request.h"
#include "transports/Transport.h"
#include <utility>

namespace braid::runtime {

/// Operands and results of one set of buffers. Gone with it: memory that is freed, and mapped again, must be attached again.
class Attachments {
public:
  explicit Attachments(Transport &transport) : transport(&transport) {}
  ~Attachments() { drop(); }
  Attachments(Attachments &&other) noexcept : transport(other.transport), ranges(std::exchange(other.ranges, {})) {}
  Attachments &operator=(Attachments &&other) noexcept {
    std::swap(transport, other.transport);
    std::swap(ranges, other.ranges);
    return *this;
  }

  /// `direct`: of a device, where messages begin and end in place; how it is reached is put there.
  Outcome take(const Request &request, std::string *direct = nullptr) {
    size_t in = size_t(request.in.count), out = size_t(request.out.count);
    for (const Tensor &tensor : request.tensors) {
      size_t sent = in * tensor.count, received = out * tensor.count;
      if (request.ragged()) {
        sent = received = 0;
        for (size_t elements : request.gives)
          sent += elements;
        for (size_t elements : request.takes)
          received += elements;
      }
      // The result first: an operand inside it shares its registration.
      for (Range range : {Range{tensor.receive, received * request.elementBytes, true},
                          Range{tensor.send, sent * request.elementBytes, false}}) {
        if (!range.data || range.bytes == 0 || request.ranks < 2)
          continue;
        std::string how, why = direct ? transport->attachDevice(range.data, range.bytes, range.written, how)
                                      : transport->attach(range.data, range.bytes, range.written);
        if (direct && direct->empty())
          *direct = how;
        if (!why.empty())
          return {BRAID_SYSTEM, why};
        ranges.push_back(range);
      }
    }
    return {};
  }

private:
  struct Range {
    const void *data;
    size_t bytes;
    bool written;
  };
  void drop() {
    for (const Range &range : ranges)
      transport->detach(range.data, range.bytes, range.written);
    ranges.clear();
  }
  Transport *transport;
  std::vector<Range> ranges;
};

} // namespace braid::runtime

#endif
