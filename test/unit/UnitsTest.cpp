//===- UnitsTest.cpp - quantities to text and back --------------------------------------------------------------===//
#include "braid/cost_models/Units.h"
#include <catch2/catch.hpp>

using namespace braid::cost;
using Catch::Matchers::Contains;

TEST_CASE("quantities are printed with three digits and a unit") {
  CHECK(toString(Seconds{12.34e-6}) == "12.3 us");
  CHECK(toString(Seconds{4.5649e-3}) == "4.56 ms");
  CHECK(toString(Seconds{1.2}) == "1.20 s");
  CHECK(toString(Seconds{0}) == "0 s");
  CHECK(toString(Seconds{999.96e-6}) == "1.00 ms"); // not "1000 us"
  CHECK(toString(Seconds{0.5e-9}) == "0.50 ns");
  CHECK(toString(Seconds{-2e-3}) == "-2.00 ms");
  CHECK(toString(Bytes{512}) == "512 B");
  CHECK(toString(Bytes{25 << 20}) == "25.0 MiB");
  CHECK(toString(Bytes{int64_t(3) << 29}) == "1.5 GiB");
  CHECK(toString(BytesPerSecond{50e9}) == "50.0 GB/s");
  CHECK(toString(FlopsPerSecond{989e12}) == "989 TFLOP/s");
}

TEST_CASE("quantities are read with their units") {
  CHECK(parseSeconds("1.3 us")->value == Approx(1.3e-6));
  CHECK(parseSeconds("2ms")->value == Approx(2e-3));
  CHECK(parseSeconds(" 1e-3 s ")->value == Approx(1e-3));
  CHECK(parseSeconds("0 ns")->value == 0);
  CHECK(parseBytes("80 GiB")->value == int64_t(80) << 30);
  CHECK(parseBytes("80GB")->value == 80000000000);
  CHECK(parseBytes("1.5 KiB")->value == 1536);
  CHECK(parseBytes("8", true)->value == 8);
  CHECK(parseBytes("82.1 MiB")->value == 86088089);              // 86088089.6
  CHECK(parseBytesPerSecond("400 Gb/s")->value == Approx(50e9)); // bits
  CHECK(parseBytesPerSecond("50 GB/s")->value == Approx(50e9));  // bytes
  CHECK(parseBytesPerSecond("1 GiB/s")->value == Approx(double(1 << 30)));
  CHECK(parseFlopsPerSecond("989 TFLOP/s")->value == Approx(989e12));
}

TEST_CASE("what is printed can be read") {
  for (double value : {1.0e-9, 5.5e-6, 0.25, 12.0, 123456.0}) {
    CHECK(parseSeconds(toString(Seconds{value}))->value == Approx(value).epsilon(0.005));
    CHECK(parseBytesPerSecond(toString(BytesPerSecond{value * 1e9}))->value == Approx(value * 1e9).epsilon(0.005));
  }
}

TEST_CASE("no unit, another unit, a sign or no number is an error that says so") {
  auto message = [](const char *text) { return parseSeconds(text).error().text(); };
  CHECK(message("1.3") == "expected a time with a unit, like \"1.3 us\", got \"1.3\", which has no unit");
  CHECK_THAT(message("1.3 GB"), Contains("with the unit \"GB\" (known: s, ms, us, ns)"));
  CHECK_THAT(message("1.3 US"), Contains("with the unit \"US\"")); // units are spelled in one way
  CHECK_THAT(message("-1 us"), Contains("that is not negative, got \"-1 us\""));
  CHECK_THAT(message("nan us"), Contains("does not begin with a number"));
  CHECK_THAT(message("inf us"), Contains("does not begin with a number"));
  CHECK_THAT(message("us"), Contains("does not begin with a number"));
  CHECK_THAT(message(""), Contains("an empty text"));
  CHECK_THAT(message("  "), Contains("an empty text"));
  CHECK_THAT(message("1.2.3 us"), Contains("\"1.2.3\" is not a number"));
  CHECK_THAT(message("1e999 s"), Contains("too large"));
  CHECK_THAT(message("1e-400 us"),
             Contains("got \"1e-400 us\", which is too small to be a number (0 means none at all)"));
  CHECK_THAT(message("1e-306 us"), Contains("too small to be a number"));
  CHECK(parseSeconds("0e-400 us")->value == 0);
  CHECK_THAT(message("010 us"), Contains("got \"010 us\", whose leading zero may mean octal: write it without"));
  CHECK(parseSeconds("0.10 us")->value == Approx(1e-7));
  CHECK_FALSE(parseBytes("010", true));
  CHECK_THAT(message("0x10 s"), Contains("with the unit \"x10 s\""));
  CHECK_FALSE(parseBytes("8"));
  CHECK_FALSE(parseBytes("0.5 B"));
  CHECK_FALSE(parseBytes("8.5", true));
  CHECK_FALSE(parseBytes("0.0001 KiB"));
  CHECK_FALSE(parseBytes("100000000 TiB"));
  CHECK_FALSE(parseBytes("8 Gb")); // bits are no size
  CHECK_FALSE(parseBytesPerSecond("400 Gb"));
  CHECK_FALSE(parseFlopsPerSecond("989 TFLOPS"));
}
