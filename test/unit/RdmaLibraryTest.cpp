//===- RdmaLibraryTest.cpp - libibverbs and librdmacm, behind a stand-in that counts ------------------------------------===//
#include "test/unit/OverVerbs.h"
#include "test/verbs/stand_in/StandIn.h"
#include "transports/verbs/ConnectionManager.h"
#include <catch2/catch.hpp>
#include <cerrno>
#include <dlfcn.h>

using namespace braid;
using namespace braid::test;
using namespace braid::runtime;
using namespace braid::runtime::verbs;
using Catch::Matchers::Contains;

namespace {

/// Null: built without rdma-core's headers.
template <typename Function> Function *ofStandIn(const char *name) {
  void *library = dlopen(BRAID_RDMA_STAND_IN, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  return reinterpret_cast<Function *>(dlsym(library, name));
}

} // namespace

TEST_CASE(
    "verbs: events of rdma_cm are acknowledged once, ids and channels given back, also of requests that nobody takes",
    "[verbs][rdma_cm]") {
  auto *find = ofStandIn<RdmaCounted *()>("standInCounted");
  std::unique_ptr<ConnectionManager> manager;
  Forced place("BRAID_RDMACM", BRAID_RDMA_STAND_IN);
  Outcome opened = openManagerLibrary(manager);
  if (!find || opened.status == BRAID_UNSUPPORTED) // without rdma-core's headers
    return;
  REQUIRE(opened.text == "");
  RdmaCounted &counted = *find();
  CHECK(counted.channels == 1);
  Gid gid;
  gid.raw = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
  Endpoint at;
  int error = 0;
  CHECK(!manager->listen("another", 1, gid, 4, at, error)); // each address is tried, none is kept
  CHECK((error == EADDRNOTAVAIL && counted.ids == 0));
  auto listener = manager->listen("standin0", 1, gid, 4, at, error);
  REQUIRE(listener);
  CHECK((at.address == "10.0.0.1" && at.port == 0x3412));
  auto asking = manager->make(error);
  REQUIRE(asking);
  CHECK(asking->resolveAddress(at, at, 100) == 0);
  CHECK(asking->resolveRoute(100) == ENETDOWN);
  CHECK(asking->connect({1, 1, 1, 7, 7, "hello"}) == 0);
  {
    ConnectionEvent event;
    REQUIRE(manager->next(event, error));
    CHECK((event.kind == ConnectionEvent::Request && event.made && event.connection == event.made.get()));
    CHECK((counted.given == 0 && counted.ids == 3));
    REQUIRE(manager->next(event, error)); // the request before it is dropped
    CHECK((event.kind == ConnectionEvent::AddressResolved && event.connection == asking.get()));
    CHECK((counted.given == 0 && counted.ids == 2));
    CHECK(!manager->next(event, error));
    CHECK(error == 0);
    for (int broken : {EIO, EBADF, ENODEV}) {
      counted.failsWith = broken;
      CHECK(!manager->next(event, error));
      CHECK(error == broken);
    }
    counted.failsWith = EINTR;
    CHECK(!manager->next(event, error));
    CHECK(error == 0);
    counted.failsWith = 0;
  }
  auto unheard = manager->make(error);
  CHECK(unheard->resolveAddress(at, at, 100) == 0); // its event is never read
  unheard.reset();
  asking.reset();
  listener.reset();
  manager.reset();
  CHECK((counted.ids == 0 && counted.channels == 0 && counted.given == 0 && counted.mistakes == 0));
}

TEST_CASE("verbs: libraries of rdma-core that lack a function are named, and leave the one in use alone",
          "[verbs][rdma_cm]") {
  std::unique_ptr<Provider> provider, old;
  std::unique_ptr<ConnectionManager> manager;
  std::vector<std::string> names;
  {
    Forced good("BRAID_IBVERBS", BRAID_RDMA_STAND_IN);
    Outcome opened = openLibrary(provider);
    if (opened.status == BRAID_UNSUPPORTED) // without rdma-core's headers
      return;
    REQUIRE(opened.text == "");
  }
  {
    Forced lacking("BRAID_IBVERBS", BRAID_RDMA_STAND_IN_OLD);
    CHECK_THAT(openLibrary(old).text,
               Contains("expected libibverbs.so.1 of rdma-core to have ibv_event_type_str, got none"));
    Forced alsoLacking("BRAID_RDMACM", BRAID_RDMA_STAND_IN_OLD);
    CHECK_THAT(openManagerLibrary(manager).text, Contains("to have rdma_establish, got none") && Contains("exchange"));
  }
  CHECK(provider->devices(names)); // still there, and not the other's
  CHECK(names.empty());
  CHECK(ofStandIn<int()>("standInForkInits")() == 1); // before the first question
  CHECK(ofStandIn<int()>("standInListsBefore")() == 0);
}
