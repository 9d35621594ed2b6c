#include "krait/dsl/ref.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "krait/base/error.hpp"
#include "krait/dsl/builder.hpp"
#include "krait/machine/registry.hpp"

namespace krait::dsl {
namespace {

using isa::Dim;
using isa::Tile;

std::vector<Dim> dims(const Tile& t) {
  return {t.dims.begin(), t.dims.begin() + t.rank};
}
template <class Fn>
std::string refusal(Fn fn) {
  try {
    (void)fn();
  } catch (const UserError& e) {
    EXPECT_FALSE(e.report().where.empty() || e.report().got.empty() || e.report().fix.empty())
        << e.what();
    return e.report().what;
  }
  ADD_FAILURE() << "not refused";
  return {};
}

struct Views : ::testing::Test {
  KernelBuilder kb{"k", find_machine("trn2")};
  Ref t = kb.sbuf("t", DType::kF32, 128, {4, 6});  // at byte 0
  Hbm x = kb.input("x", DType::kBf16, {3, 5, 7});
  static Tile tile(const Ref& ref) { return ref; }
};

TEST_F(Views, ABufferIsContiguous) {
  EXPECT_THAT(dims(t), ::testing::ElementsAre(Dim{6, 4}, Dim{1, 6}));
  EXPECT_EQ(t.partitions(), 128);
  EXPECT_EQ(t.free_size(), 24);
  EXPECT_EQ(t.extent(0), 4);
  EXPECT_FALSE(Ref().present());
  EXPECT_FALSE(tile(Ref()).present()) << "an absent view is an absent operand";
}

TEST_F(Views, SlicesMoveTheStartAndKeepTheSteps) {
  const Tile s = t.slice(0, 1, 2).slice(1, 5, 3, -2);
  EXPECT_EQ(s.offset, 4 * (6 * 1 + 5));
  EXPECT_THAT(dims(s), ::testing::ElementsAre(Dim{6, 2}, Dim{-2, 3}));
  EXPECT_EQ(tile(t.cols(2, 4)).offset, 8);
  EXPECT_EQ(tile(t.col(5)).dims[1], (Dim{1, 1}));
  EXPECT_EQ(tile(t.slice(1, 0, 3, 2).slice(1, 1, 2)).dims[1], (Dim{2, 2})) << "steps multiply";
  for (const auto& [start, count, step] :
       {std::tuple{-1, 2, 1}, {0, 7, 1}, {6, 1, 1}, {0, 4, 2}, {1, 3, -1}, {0, 0, 1}})
    (void)refusal([&, a = start, n = count, by = step] { return t.slice(1, a, n, by); });
  (void)refusal([&] { return t.slice(2, 0, 1); });
  (void)refusal([&] { return t.slice(1, std::int64_t{1} << 40, 1); });
  (void)refusal([&] { return t.slice(1, 0, 2, INT64_MAX); });
}

TEST_F(Views, PartitionsOnChipAndRowsOfHbm) {
  EXPECT_EQ(tile(t.partitions(32, 16)).partition, 32);
  EXPECT_EQ(tile(t.partitions(32, 16).partitions(8, 8)).partition, 40);
  const Ref v = x.view(0, 7, 15, {{1, 7}});
  const Tile h = v.partitions(2, 3);
  EXPECT_EQ(h.offset, 2 * 7 * 2);
  EXPECT_EQ(h.partition, 0);
  for (const auto& [start, count] : {std::pair{-1, 1}, {0, 129}, {128, 1}, {0, 0}})
    EXPECT_THAT(refusal([&, a = start, n = count] { return t.partitions(a, n); }),
                ::testing::HasSubstr("partitions"));
}

TEST_F(Views, SplitAndMergeAreInverse) {
  const Tile s = t.split(2, 3);
  EXPECT_THAT(dims(s), ::testing::ElementsAre(Dim{6, 4}, Dim{3, 2}, Dim{1, 3}));
  EXPECT_EQ(tile(t.split(2, 3).merge(1)), tile(t));
  EXPECT_THAT(dims(t.merge(0)), ::testing::ElementsAre(Dim{1, 24}));
  for (const auto& [outer, inner] : {std::pair{2, 4}, {0, 6}, {6, 0}, {-2, -3}, {3, 3}})
    EXPECT_THAT(refusal([&, a = outer, b = inner] { return t.split(a, b); }),
                ::testing::HasSubstr("cannot split"));
  (void)refusal([&] { return t.split(2, 3).split(3, 1).split(1, 1); });
  EXPECT_THAT(refusal([&] { return t.cols(0, 5).merge(0); }),
              ::testing::HasSubstr("not contiguous"));
  EXPECT_THAT(refusal([&] { return t.merge(1); }), ::testing::HasSubstr("no next one"));
}

TEST_F(Views, BroadcastsAnywhereUpToFourDimensions) {
  EXPECT_THAT(dims(t.broadcast(0, 9)), ::testing::ElementsAre(Dim{0, 9}, Dim{6, 4}, Dim{1, 6}));
  EXPECT_THAT(dims(t.broadcast(1, 9)), ::testing::ElementsAre(Dim{6, 4}, Dim{0, 9}, Dim{1, 6}));
  EXPECT_THAT(dims(t.broadcast(2, 9)), ::testing::ElementsAre(Dim{6, 4}, Dim{1, 6}, Dim{0, 9}));
  (void)refusal([&] { return t.broadcast(3, 9); });
  (void)refusal([&] { return t.broadcast(0, 0); });
  (void)refusal([&] { return t.broadcast(0, 2).broadcast(0, 2).broadcast(0, 2); });
}

TEST_F(Views, SwapExchangesDimensions) {
  EXPECT_THAT(dims(t.swap(0, 1)), ::testing::ElementsAre(Dim{1, 6}, Dim{6, 4}));
  EXPECT_EQ(tile(t.swap(1, 1)), tile(t));
  (void)refusal([&] { return t.swap(0, 2); });
}

TEST_F(Views, RotatingTakesASlotByCount) {
  kb.loop(10, [&](const Affine& i) {
    const Ref slot = t.rotating(i + 1);
    EXPECT_THAT(dims(slot), ::testing::ElementsAre(Dim{1, 6}));
    EXPECT_NE(tile(slot).expr, 0U);
    (void)refusal([&] { return t.split(2, 3).rotating(i).rotating(i); });
  });
  (void)refusal([&] { return t.merge(0).rotating(0); });
  EXPECT_EQ(tile(t.slice(0, 2, 1).rotating(5)).offset, 2 * 6 * 4) << "one slot needs no turn";
}

TEST_F(Views, TensorsAreIndexedRowMajor) {
  EXPECT_EQ(x.stride(0), 35);
  EXPECT_EQ(x.stride(2), 1);
  EXPECT_EQ(x.dim(1), 5);
  EXPECT_EQ(x.at({1, 2, 3}).constant, 35 + 14 + 3);
  EXPECT_THAT(refusal([&] { return x.dim(3); }), ::testing::HasSubstr("no axis 3"));
  EXPECT_THAT(refusal([&] { return x.stride(3); }), ::testing::HasSubstr("no axis 3"));
  EXPECT_THAT(refusal([&] { return x.at({1, 2}); }), ::testing::HasSubstr("one entry"));
}

TEST_F(Views, ViewsOfTensorsCountInElements) {
  const Tile v = x.view(x.at({1, 0, 2}), 7, 5, {{1, 4}});
  EXPECT_EQ(v.offset, 2 * 37);
  EXPECT_EQ(v.partition_step, 7);
  EXPECT_EQ(v.partitions, 5);
  EXPECT_TRUE(v.in_hbm());
  EXPECT_THAT(refusal([&] { return x.view(0, 1, 0, {{1, 1}}); }), ::testing::HasSubstr("rows"));
  EXPECT_THAT(refusal([&] { return x.view(0, 1, 65536, {{1, 1}}); }), ::testing::HasSubstr("rows"));
  EXPECT_THAT(refusal([&] { return x.view(0, 1, 1, {}); }), ::testing::HasSubstr("dimensions"));
  EXPECT_THAT(refusal([&] {
                return x.view(0, 1, 1, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
              }),
              ::testing::HasSubstr("dimensions"));
  EXPECT_THAT(refusal([&] {
                return Hbm().view(0, 1, 1, {{1, 1}});
              }),
              ::testing::HasSubstr("not given"));
}

}  // namespace
}  // namespace krait::dsl
