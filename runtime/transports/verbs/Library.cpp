//===- Library.cpp - libibverbs, opened when it is asked for -------------------------------------------------------===//
//
// Nothing here links to rdma-core: its functions are looked up by name, and those that verbs.h defines inline go through the
// operations of the opened device. Built where rdma-core's headers are; without them the transport says so.
//===------------------------------------------------------------------------------------------------------------===//
#include "transports/verbs/ConnectionManager.h"
#ifdef BRAID_RT_HAVE_IBVERBS
#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <map>
#include <mutex>
#include <type_traits>
#include <unistd.h>

namespace braid::runtime::verbs {
namespace {

static_assert(int(Status::ResponseTimeout) == IBV_WC_RESP_TIMEOUT_ERR && int(Status::General) == IBV_WC_GENERAL_ERR &&
                  int(Status::RetryExceeded) == IBV_WC_RETRY_EXC_ERR && int(Status::Fatal) == IBV_WC_FATAL_ERR,
              "numbers of verbs");
static_assert(SetAddress == unsigned(IBV_QP_AV) && SetPeer == unsigned(IBV_QP_DEST_QPN) &&
                  SetReadsServed == unsigned(IBV_QP_MAX_DEST_RD_ATOMIC) && SetSendPsn == unsigned(IBV_QP_SQ_PSN) &&
                  SetRnrTimer == unsigned(IBV_QP_MIN_RNR_TIMER) && SetReceivePsn == unsigned(IBV_QP_RQ_PSN),
              "numbers of verbs");
static_assert(LocalWrite == unsigned(IBV_ACCESS_LOCAL_WRITE) && RemoteWrite == unsigned(IBV_ACCESS_REMOTE_WRITE) &&
                  RemoteRead == unsigned(IBV_ACCESS_REMOTE_READ) &&
                  RemoteAtomic == unsigned(IBV_ACCESS_REMOTE_ATOMIC) && int(State::Error) == IBV_QPS_ERR,
              "numbers of verbs");

const char libraryName[] = "libibverbs.so.1";

struct Library {
  decltype(&ibv_get_device_list) getDeviceList;
  decltype(&ibv_free_device_list) freeDeviceList;
  decltype(&ibv_get_device_name) getDeviceName;
  decltype(&ibv_open_device) openDevice;
  decltype(&ibv_close_device) closeDevice;
  decltype(&ibv_query_device) queryDevice;
  decltype(&(ibv_query_port)) queryPort;
  decltype(&ibv_query_gid) queryGid;
  decltype(&ibv_alloc_pd) allocPd;
  decltype(&ibv_dealloc_pd) deallocPd;
  decltype(&(ibv_reg_mr)) regMr;
  decltype(&ibv_dereg_mr) deregMr;
  decltype(&ibv_create_comp_channel) createChannel;
  decltype(&ibv_destroy_comp_channel) destroyChannel;
  decltype(&ibv_create_cq) createCq;
  decltype(&ibv_destroy_cq) destroyCq;
  decltype(&ibv_get_cq_event) getCqEvent;
  decltype(&ibv_ack_cq_events) ackCqEvents;
  decltype(&ibv_create_qp) createQp;
  decltype(&ibv_modify_qp) modifyQp;
  decltype(&ibv_destroy_qp) destroyQp;
  decltype(&ibv_get_async_event) getAsyncEvent;
  decltype(&ibv_ack_async_event) ackAsyncEvent;
  decltype(&ibv_event_type_str) eventName;
  decltype(&_ibv_query_gid_ex) queryGidEx;  ///< since rdma-core 32; else null
  decltype(&ibv_fork_init) forkInit;        ///< else null
  decltype(&ibv_reg_dmabuf_mr) regDmaBufMr; ///< since rdma-core 34; else null
};

/// Opened once and kept: providers of devices leave threads and handlers behind that must not lose their code. BRAID_IBVERBS is
/// where it lies, if the system does not know.
Outcome load(const Library *&loaded) {
  static std::map<std::string, const Library> opened; // by place
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  const char *given = std::getenv("BRAID_IBVERBS");
  const std::string place = given && *given ? given : libraryName;
  auto known = opened.find(place);
  if (known == opened.end()) {
    Library library;
    void *handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return {BRAID_UNSUPPORTED, std::string("transport 'verbs': expected the library of rdma-core, got ") + dlerror() +
                                     "; install it (Debian: libibverbs1 and ibverbs-providers), say where it lies "
                                     "(BRAID_IBVERBS), or take the transport tcp"};
    std::string missing;
    auto find = [&](auto &function, const char *name, bool needed = true) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, name));
      if (!function && needed && missing.empty())
        missing = name;
    };
    find(library.getDeviceList, "ibv_get_device_list");
    find(library.freeDeviceList, "ibv_free_device_list");
    find(library.getDeviceName, "ibv_get_device_name");
    find(library.openDevice, "ibv_open_device");
    find(library.closeDevice, "ibv_close_device");
    find(library.queryDevice, "ibv_query_device");
    find(library.queryPort, "ibv_query_port");
    find(library.queryGid, "ibv_query_gid");
    find(library.allocPd, "ibv_alloc_pd");
    find(library.deallocPd, "ibv_dealloc_pd");
    find(library.regMr, "ibv_reg_mr");
    find(library.deregMr, "ibv_dereg_mr");
    find(library.createChannel, "ibv_create_comp_channel");
    find(library.destroyChannel, "ibv_destroy_comp_channel");
    find(library.createCq, "ibv_create_cq");
    find(library.destroyCq, "ibv_destroy_cq");
    find(library.getCqEvent, "ibv_get_cq_event");
    find(library.ackCqEvents, "ibv_ack_cq_events");
    find(library.createQp, "ibv_create_qp");
    find(library.modifyQp, "ibv_modify_qp");
    find(library.destroyQp, "ibv_destroy_qp");
    find(library.getAsyncEvent, "ibv_get_async_event");
    find(library.ackAsyncEvent, "ibv_ack_async_event");
    find(library.eventName, "ibv_event_type_str");
    find(library.forkInit, "ibv_fork_init", false);
    find(library.queryGidEx, "_ibv_query_gid_ex", false);
    find(library.regDmaBufMr, "ibv_reg_dmabuf_mr", false);
    if (!missing.empty())
      return {BRAID_UNSUPPORTED, std::string("transport 'verbs': expected ") + libraryName + " of rdma-core to have " +
                                     missing + ", got none; is it older than rdma-core 15?"};
    // Before anything else: where the kernel does not copy registered pages at a fork (Linux before 5.12), they stay the parent's.
    // Without it they could become the child's, and what devices read and write would be seen by nobody here.
    if (library.forkInit)
      library.forkInit();
    known = opened.emplace(place, library).first;
  }
  loaded = &known->second;
  return {};
}

int errorOf(int result) { return result == 0 ? 0 : result > 0 ? result : result == -1 && errno ? errno : -result; }

/// Descriptors of verbs are read only when there is something.
void neverBlock(int descriptor) { fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK); }

uint32_t bytesOf(ibv_mtu mtu) { return 128u << int(mtu); }
ibv_mtu mtuOf(uint32_t bytes) {
  int code = IBV_MTU_256;
  while (code < IBV_MTU_4096 && (128u << (code + 1)) <= bytes)
    ++code;
  return ibv_mtu(code);
}

class LibraryRegion : public MemoryRegion {
public:
  LibraryRegion(const Library &library, ibv_mr *region) : library(library), region(region) {}
  ~LibraryRegion() override { library.deregMr(region); }
  uint32_t localKey() const override { return region->lkey; }
  uint32_t remoteKey() const override { return region->rkey; }

private:
  const Library &library;
  ibv_mr *region;
};

class LibraryCompletions : public CompletionQueue {
public:
  LibraryCompletions(const Library &library, ibv_comp_channel *channel, ibv_cq *queue)
      : library(library), channel(channel), queue(queue) {}
  ~LibraryCompletions() override {
    acknowledge();
    library.destroyCq(queue);
    library.destroyChannel(channel);
  }
  int poll(Completion *completions, int count) override {
    constexpr int most = 32;
    ibv_wc raw[most];
    int got = ibv_poll_cq(queue, count < most ? count : most, raw);
    for (int i = 0; i < got; ++i) {
      Completion &to = completions[i];
      to = {};
      to.id = raw[i].wr_id;
      to.status = Status(raw[i].status);
      to.vendor = raw[i].vendor_err;
      to.queuePair = raw[i].qp_num;
      if (raw[i].status == IBV_WC_SUCCESS) { // else nothing more of it is defined
        to.bytes = raw[i].byte_len;
        to.immediate = raw[i].wc_flags & IBV_WC_WITH_IMM ? ntohl(raw[i].imm_data) : 0;
      }
    }
    return got;
  }
  int arm() override { return errorOf(ibv_req_notify_cq(queue, 0)); }
  int descriptor() const override { return channel->fd; }
  void acknowledge() override {
    ibv_cq *which = nullptr;
    void *context = nullptr;
    while (library.getCqEvent(channel, &which, &context) == 0)
      library.ackCqEvents(which, 1);
  }

  ibv_cq *raw() const { return queue; }

private:
  const Library &library;
  ibv_comp_channel *channel;
  ibv_cq *queue;
};

class LibraryQueuePair : public QueuePair {
public:
  LibraryQueuePair(const Library &library, ibv_qp *pair, uint32_t inlined)
      : library(library), pair(pair), inlined(inlined) {}
  ~LibraryQueuePair() override { library.destroyQp(pair); }
  uint32_t number() const override { return pair->qp_num; }
  uint32_t inlineBytes() const override { return inlined; }

  int modify(const QueuePairAttributes &from, unsigned mask) override {
    ibv_qp_attr to = {};
    to.qp_state = ibv_qp_state(from.state);
    to.qp_access_flags = from.access;
    to.pkey_index = uint16_t(from.pkeyIndex);
    to.port_num = uint8_t(from.port);
    to.path_mtu = mtuOf(from.mtu);
    to.dest_qp_num = from.peer;
    to.rq_psn = from.receivePsn;
    to.sq_psn = from.sendPsn;
    to.max_dest_rd_atomic = uint8_t(from.readsServed);
    to.max_rd_atomic = uint8_t(from.readsInFlight);
    to.min_rnr_timer = uint8_t(from.rnrTimer);
    to.timeout = uint8_t(from.timeout);
    to.retry_cnt = uint8_t(from.retries);
    to.rnr_retry = uint8_t(from.rnrRetries);
    to.ah_attr.port_num = uint8_t(from.port);
    to.ah_attr.dlid = from.address.lid;
    to.ah_attr.sl = uint8_t(from.address.serviceLevel);
    to.ah_attr.src_path_bits = uint8_t(from.address.sourcePathBits);
    to.ah_attr.static_rate = uint8_t(from.address.staticRate);
    to.ah_attr.is_global = from.address.global;
    if (from.address.global) {
      std::memcpy(to.ah_attr.grh.dgid.raw, from.address.gid.raw.data(), 16);
      to.ah_attr.grh.sgid_index = uint8_t(from.address.sourceIndex);
      to.ah_attr.grh.flow_label = from.address.flowLabel;
      to.ah_attr.grh.hop_limit = uint8_t(from.address.hopLimit);
      to.ah_attr.grh.traffic_class = uint8_t(from.address.trafficClass);
    }
    return errorOf(library.modifyQp(pair, &to, int(mask)));
  }

  int send(const WorkRequest &request) override {
    static const ibv_wr_opcode codes[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
                                          IBV_WR_ATOMIC_FETCH_AND_ADD};
    ibv_sge piece = {reinterpret_cast<uintptr_t>(request.local), request.bytes, request.localKey};
    ibv_send_wr raw = {}, *bad = nullptr;
    raw.wr_id = request.id;
    raw.sg_list = &piece;
    raw.num_sge = request.bytes ? 1 : 0;
    raw.opcode = codes[request.operation];
    raw.send_flags = IBV_SEND_SIGNALED | (request.inlined ? unsigned(IBV_SEND_INLINE) : 0u);
    raw.imm_data = htonl(request.immediate);
    if (request.operation == WorkRequest::FetchAdd) {
      raw.wr.atomic.remote_addr = request.remote;
      raw.wr.atomic.rkey = request.remoteKey;
      raw.wr.atomic.compare_add = request.add;
    } else {
      raw.wr.rdma.remote_addr = request.remote;
      raw.wr.rdma.rkey = request.remoteKey;
    }
    return errorOf(ibv_post_send(pair, &raw, &bad));
  }
  int receive(uint64_t id, void *local, uint32_t bytes, uint32_t localKey) override {
    ibv_sge piece = {reinterpret_cast<uintptr_t>(local), bytes, localKey};
    ibv_recv_wr raw = {}, *bad = nullptr;
    raw.wr_id = id;
    raw.sg_list = &piece;
    raw.num_sge = bytes ? 1 : 0;
    return errorOf(ibv_post_recv(pair, &raw, &bad));
  }

private:
  const Library &library;
  ibv_qp *pair;
  uint32_t inlined;
};

class LibraryDevice : public Device {
public:
  LibraryDevice(const Library &library, std::string name, ibv_context *context, ibv_pd *domain)
      : library(library), title(std::move(name)), context(context), domain(domain) {
    neverBlock(context->async_fd);
  }
  ~LibraryDevice() override {
    library.deallocPd(domain);
    library.closeDevice(context);
  }
  const std::string &name() const override { return title; }

  int limits(Limits &limits) override {
    ibv_device_attr raw = {};
    if (int error = errorOf(library.queryDevice(context, &raw)))
      return error;
    limits = {raw.phys_port_cnt, raw.max_cqe, raw.max_qp_wr, raw.max_qp_rd_atom, raw.max_qp_init_rd_atom};
    return 0;
  }
  int port(int number, Port &port) override {
    ibv_port_attr raw = {};
    if (int error = errorOf((library.queryPort)(context, uint8_t(number), (_compat_ibv_port_attr *)&raw)))
      return error;
    port = {number,
            raw.state == IBV_PORT_ACTIVE,
            raw.link_layer == IBV_LINK_LAYER_ETHERNET,
            context->device->transport_type == IBV_TRANSPORT_IWARP,
            raw.lid,
            bytesOf(raw.active_mtu),
            raw.gid_tbl_len};
    return 0;
  }
  int gid(int port, int index, Gid &gid) override {
    gid = {};
    gid.index = index;
    if (library.queryGidEx) {
      ibv_gid_entry entry = {};
      int error = errorOf(library.queryGidEx(context, uint32_t(port), uint32_t(index), &entry, 0, sizeof entry));
      if (error == ENODATA) // an empty entry
        return 0;
      if (error != EOPNOTSUPP) {
        std::memcpy(gid.raw.data(), entry.gid.raw, 16);
        gid.type = Gid::Type(entry.gid_type);
        return error;
      }
    }
    ibv_gid raw = {};
    int error = errorOf(library.queryGid(context, uint8_t(port), index, &raw));
    std::memcpy(gid.raw.data(), raw.raw, 16);
    gid.type = typeFromSystem(port, index);
    return error;
  }

  std::unique_ptr<MemoryRegion> registerMemory(void *memory, size_t bytes, unsigned access, int &error) override {
    ibv_mr *region = (library.regMr)(domain, memory, bytes, int(access));
    error = region ? 0 : errno;
    return region ? std::make_unique<LibraryRegion>(library, region) : nullptr;
  }
  std::unique_ptr<MemoryRegion> registerDmaBuf(int descriptor, uint64_t offset, size_t bytes, uint64_t address,
                                               unsigned access, int &error) override {
    error = EOPNOTSUPP;
    ibv_mr *region = nullptr;
    if (library.regDmaBufMr) {
      region = library.regDmaBufMr(domain, offset, bytes, address, descriptor, int(access));
      error = region ? 0 : errno;
    }
    return region ? std::make_unique<LibraryRegion>(library, region) : nullptr;
  }
  bool peerMemory() const override {
    return access("/sys/module/nvidia_peermem", F_OK) == 0 || access("/sys/module/nv_peer_mem", F_OK) == 0;
  }
  std::unique_ptr<CompletionQueue> makeCompletionQueue(int capacity, int &error) override {
    error = 0;
    ibv_comp_channel *channel = library.createChannel(context);
    ibv_cq *queue = channel ? library.createCq(context, capacity, nullptr, channel, 0) : nullptr;
    if (queue) {
      neverBlock(channel->fd);
      return std::make_unique<LibraryCompletions>(library, channel, queue);
    }
    error = errno ? errno : EINVAL;
    if (channel)
      library.destroyChannel(channel);
    return nullptr;
  }
  std::unique_ptr<QueuePair> makeQueuePair(CompletionQueue &completions, const QueuePairSizes &sizes,
                                           int &error) override {
    ibv_cq *queue = static_cast<LibraryCompletions &>(completions).raw();
    // Devices refuse what they can't inline instead of giving less.
    for (uint32_t inlined = sizes.inlineBytes;; inlined /= 2) {
      ibv_qp_init_attr wish = {};
      wish.send_cq = wish.recv_cq = queue;
      wish.qp_type = IBV_QPT_RC;
      wish.cap = {uint32_t(sizes.sends), uint32_t(sizes.receives), 1, 1, inlined};
      errno = 0;
      ibv_qp *pair = library.createQp(domain, &wish);
      error = pair ? 0 : errno ? errno : EINVAL;
      if (pair)
        return std::make_unique<LibraryQueuePair>(library, pair, wish.cap.max_inline_data);
      if (inlined == 0)
        return nullptr;
    }
  }

  bool broken(std::string &what) override {
    ibv_async_event event;
    while (library.getAsyncEvent(context, &event) == 0) {
      ibv_event_type type = event.event_type;
      library.ackAsyncEvent(&event);
      if (type == IBV_EVENT_CQ_ERR || type == IBV_EVENT_DEVICE_FATAL || type == IBV_EVENT_PORT_ERR) {
        what = library.eventName(type);
        return true;
      }
    }
    return false;
  }

private:
  /// Where the library is too old to tell.
  Gid::Type typeFromSystem(int port, int index) const {
    std::string path = "/sys/class/infiniband/" + title + "/ports/" + std::to_string(port) + "/gid_attrs/types/" +
                       std::to_string(index);
    char text[32] = {};
    int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
      return Gid::InfiniBand;
    ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    return got > 0 && std::strstr(text, "v2") ? Gid::RoCEv2 : std::strstr(text, "RoCE") ? Gid::RoCEv1 : Gid::InfiniBand;
  }

  const Library &library;
  std::string title;
  ibv_context *context;
  ibv_pd *domain;
};

class LibraryProvider : public Provider {
public:
  explicit LibraryProvider(const Library &library) : library(library) {}

  Outcome devices(std::vector<std::string> &names) override {
    names.clear();
    int count = 0;
    ibv_device **list = library.getDeviceList(&count);
    for (int i = 0; list && i < count; ++i)
      names.push_back(library.getDeviceName(list[i]));
    if (list)
      library.freeDeviceList(list);
    return {}; // a kernel without RDMA has none (ENOSYS)
  }
  Outcome open(const std::string &name, std::unique_ptr<Device> &device) override {
    int count = 0;
    ibv_device **list = library.getDeviceList(&count);
    ibv_context *context = nullptr;
    errno = ENODEV;
    for (int i = 0; list && i < count && !context; ++i)
      if (name == library.getDeviceName(list[i]))
        context = library.openDevice(list[i]);
    int error = errno;
    if (list)
      library.freeDeviceList(list);
    ibv_pd *domain = context ? library.allocPd(context) : nullptr;
    if (domain) {
      device = std::make_unique<LibraryDevice>(library, name, context, domain);
      return {};
    }
    if (context) {
      error = errno;
      library.closeDevice(context);
    }
    return {BRAID_SYSTEM,
            "device " + name + ": " + (context ? "no protection domain: " : "can't be opened: ") +
                std::strerror(error) +
                (error == EACCES || error == EPERM ? "; may this user open /dev/infiniband/uverbs*?" : "")};
  }

  Outcome connectionManager(std::unique_ptr<ConnectionManager> &manager) override {
    return openManagerLibrary(manager);
  }

private:
  const Library &library;
};

} // namespace

Outcome openLibrary(std::unique_ptr<Provider> &provider) {
  const Library *library = nullptr;
  Outcome done = load(library);
  if (done)
    provider = std::make_unique<LibraryProvider>(*library);
  return done;
}

} // namespace braid::runtime::verbs

#else

namespace braid::runtime::verbs {

Outcome openLibrary(std::unique_ptr<Provider> &) {
  return {BRAID_UNSUPPORTED,
          "transport 'verbs': expected a build with the headers of rdma-core, got one without; install "
          "them (Debian: libibverbs-dev) and build again, or take the transport tcp"};
}

} // namespace braid::runtime::verbs

#endif
