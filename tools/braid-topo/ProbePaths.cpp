//===- ProbePaths.cpp - braid-topo probe-paths: which source ports take which of this host's equal routes ----------===//
//
//   braid-topo probe-paths --source 10.0.0.1 --destination 10.0.1.1 --destination-port 47000 --ports 20000..20255
//
// Asks Linux (rtnetlink, as "ip route get D from S ipproto tcp sport P dport Q" does) for each port. The routes that come out are
// paths, in the order of their names; the table is what topology.path_table reads. Multipath routes read ports where
// net.ipv4.fib_multipath_hash_policy is 1.
//===--------------------------------------------------------------------------------------------------------------===//
#include "../command/Command.h"
#include "Subcommands.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <linux/rtnetlink.h>
#include <map>
#include <net/if.h>
#include <netinet/in.h>
#include <set>
#include <sys/socket.h>
#include <unistd.h>

namespace cl = llvm::cl;

namespace braid::topo {

namespace {

struct Question {
  in_addr source, destination;
  uint8_t protocol;
  uint16_t sourcePort, destinationPort;
};

class RouteSocket {
public:
  RouteSocket() : fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {}
  ~RouteSocket() {
    if (fd >= 0)
      close(fd);
  }
  /// "via 10.1.0.2 dev veth1"; an error's text is in `problem`.
  std::string ask(const Question &question, std::string &problem) {
    struct {
      nlmsghdr head;
      rtmsg message;
      char attributes[128];
    } request = {};
    request.head.nlmsg_len = NLMSG_LENGTH(sizeof(rtmsg));
    request.head.nlmsg_type = RTM_GETROUTE;
    request.head.nlmsg_flags = NLM_F_REQUEST;
    request.message.rtm_family = AF_INET;
    request.message.rtm_src_len = request.message.rtm_dst_len = 32;
    auto add = [&](int type, const void *data, size_t bytes) {
      auto *attribute =
          reinterpret_cast<rtattr *>(reinterpret_cast<char *>(&request) + NLMSG_ALIGN(request.head.nlmsg_len));
      attribute->rta_type = uint16_t(type);
      attribute->rta_len = uint16_t(RTA_LENGTH(bytes));
      std::memcpy(RTA_DATA(attribute), data, bytes);
      request.head.nlmsg_len = uint32_t(NLMSG_ALIGN(request.head.nlmsg_len) + RTA_ALIGN(attribute->rta_len));
    };
    uint16_t from = htons(question.sourcePort), to = htons(question.destinationPort);
    add(RTA_DST, &question.destination, 4);
    add(RTA_SRC, &question.source, 4);
    add(RTA_IP_PROTO, &question.protocol, 1);
    add(RTA_SPORT, &from, 2);
    add(RTA_DPORT, &to, 2);
    alignas(nlmsghdr) char answer[4096];
    ssize_t size =
        fd < 0 || send(fd, &request, request.head.nlmsg_len, 0) < 0 ? -1 : recv(fd, answer, sizeof answer, 0);
    auto *head = reinterpret_cast<nlmsghdr *>(answer);
    if (size < 0 || !NLMSG_OK(head, unsigned(size))) {
      problem = std::strerror(errno);
      return "";
    }
    if (head->nlmsg_type == NLMSG_ERROR) {
      problem = std::strerror(-static_cast<nlmsgerr *>(NLMSG_DATA(head))->error);
      return "";
    }
    return read(head);
  }

private:
  static std::string read(nlmsghdr *head) {
    std::string via, device;
    auto *route = static_cast<rtmsg *>(NLMSG_DATA(head));
    int left = int(RTM_PAYLOAD(head));
    for (rtattr *attribute = RTM_RTA(route); RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
      char text[INET_ADDRSTRLEN] = "";
      if (attribute->rta_type == RTA_GATEWAY && inet_ntop(AF_INET, RTA_DATA(attribute), text, sizeof text))
        via = std::string("via ") + text + " ";
      char name[IF_NAMESIZE] = "";
      if (attribute->rta_type == RTA_OIF && if_indextoname(*static_cast<unsigned *>(RTA_DATA(attribute)), name))
        device = std::string("dev ") + name;
    }
    return via + device;
  }

  int fd;
};

std::string hashPolicy() {
  std::ifstream file("/proc/sys/net/ipv4/fib_multipath_hash_policy");
  std::string policy;
  std::getline(file, policy);
  return policy;
}

} // namespace

int runProbePaths(int argc, char **argv) {
  cl::OptionCategory category("braid-topo probe-paths");
  cl::opt<std::string> source("source", cl::Required, cl::desc("IPv4 address of this host; required"),
                              cl::cat(category));
  cl::opt<std::string> destination("destination", cl::Required, cl::desc("IPv4 address of the other; required"),
                                   cl::cat(category));
  cl::opt<std::string> protocol("protocol", cl::init("tcp"), cl::desc("tcp (default), udp"), cl::cat(category));
  cl::opt<std::string> ports("ports", cl::init("20000..20255"), cl::desc("source ports; default: 20000..20255"),
                             cl::cat(category));
  cl::opt<int> destinationPort("destination-port", cl::init(47000), cl::desc("of all flows; default: 47000"),
                               cl::cat(category));
  cl::opt<std::string> from("from", cl::init("host0.nic0"),
                            cl::desc("this host's NIC, as the table names it; default: host0.nic0"), cl::cat(category));
  cl::opt<std::string> to("to", cl::init("host1.nic0"), cl::desc("the other's; default: host1.nic0"),
                          cl::cat(category));
  cl::opt<std::string> output("o", cl::init("-"), cl::desc("file to write; default: standard output"),
                              cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "which source ports take which of this host's equal routes, as a table\n");
  Question question;
  if (inet_pton(AF_INET, source.c_str(), &question.source) != 1)
    return fail("--source: expected an IPv4 address, got \"" + source + "\"");
  if (inet_pton(AF_INET, destination.c_str(), &question.destination) != 1)
    return fail("--destination: expected an IPv4 address, got \"" + destination + "\"");
  if (protocol != "tcp" && protocol != "udp")
    return fail("--protocol: expected tcp or udp, got \"" + protocol + "\"");
  question.protocol = protocol == "tcp" ? IPPROTO_TCP : IPPROTO_UDP;
  int first = 0, last = -1, end = 0;
  if (std::sscanf(ports.c_str(), "%d..%d%n", &first, &last, &end) != 2 || size_t(end) != ports.size() || first < 1024 ||
      last > 65535 || last < first)
    return fail("--ports: expected a range within 1024..65535, like 20000..20255, got \"" + ports + "\"");
  if (destinationPort < 1 || destinationPort > 65535)
    return fail("--destination-port: expected 1 to 65535, got " + std::to_string(destinationPort));
  if (std::string error = command::checkOutputs({{"-o", output}}); !error.empty())
    return fail(error);
  question.destinationPort = uint16_t(destinationPort);
  RouteSocket socket;
  std::map<int, std::string> taken;
  std::set<std::string> routes;
  for (int port = first; port <= last; ++port) {
    question.sourcePort = uint16_t(port);
    std::string problem, route = socket.ask(question, problem);
    if (!problem.empty())
      return fail("route from " + source + " to " + destination + ": expected one, got: " + problem);
    routes.insert(taken[port] = route);
  }
  std::string text = "# routes from " + source + " to " + destination + ", " + protocol + " port " +
                     std::to_string(destinationPort) + ", fib_multipath_hash_policy " + hashPolicy() + "\n";
  std::map<std::string, int> numbers;
  for (const std::string &route : routes) {
    int next = int(numbers.size());
    numbers[route] = next;
    text += "# path " + std::to_string(numbers[route]) + ": " + route + "\n";
  }
  if (routes.size() == 1)
    llvm::errs() << "note: all ports take one route; is there a multipath route, and "
                    "net.ipv4.fib_multipath_hash_policy 1 (it is "
                 << hashPolicy() << ")?\n";
  for (const auto &[port, route] : taken)
    text += from + " " + to + " " + std::to_string(port) + " " + std::to_string(numbers[route]) + "\n";
  return write(output, text);
}

} // namespace braid::topo
