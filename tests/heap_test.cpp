// The heap of models/base/heap.h against sorting.
#include "support.hpp"

#include <algorithm>
#include <vector>

extern "C" {
#include "models/base/heap.h"
#include "models/base/rng.h"
}

namespace
{

struct entry {
    double key;
    size_t number;
};

bool entry_before(const entry *a, const entry *b)
{
    return a->key < b->key || (a->key == b->key && a->number < b->number);
}
HEAP(entries, entry, entry_before)

struct keys {
    std::vector<double> of;
};

bool place_before(const keys *k, const size_t *a, const size_t *b)
{
    return k->of[*a] < k->of[*b] || (k->of[*a] == k->of[*b] && *a < *b);
}
HEAP_IN(places, size_t, keys, place_before)

} // namespace

TEST_CASE("a heap gives what sorting gives", "[heap][property]")
{
    rng r = rng_stream(1, "heap");

    for (int round = 0; round < 2000; round++) {
        size_t size = round < 30 ? size_t(round % 3) : rng_index(&r, 60);
        size_t kinds = 1 + rng_index(&r, 30); // few: many ties
        std::vector<entry> sorted, pushed(size + 1), made;
        keys k;
        std::vector<size_t> places(size + 1);
        size_t pushed_count = 0, place_count = 0;

        for (size_t i = 0; i < size; i++) {
            entry e{double(rng_index(&r, kinds)), i};
            sorted.push_back(e);
            made.push_back(e);
            k.of.push_back(e.key);
            entries_push(pushed.data(), &pushed_count, e);
            places_push(&k, places.data(), &place_count, i);
        }
        std::sort(sorted.begin(), sorted.end(),
                  [](const entry &a, const entry &b) { return entry_before(&a, &b); });
        entries_heapify(made.data(), size);
        REQUIRE(pushed_count == size);
        size_t made_count = size, wrong = 0;
        for (size_t i = 0; i < size; i++) {
            wrong += entries_pop(pushed.data(), &pushed_count).number != sorted[i].number;
            wrong += entries_pop(made.data(), &made_count).number != sorted[i].number;
            wrong += places_pop(&k, places.data(), &place_count) != sorted[i].number;
        }
        CHECK(wrong == 0);
        CHECK((pushed_count == 0 && made_count == 0 && place_count == 0));
    }
}

TEST_CASE("a first that has changed goes to its place", "[heap][property]")
{
    rng r = rng_stream(2, "heap");

    for (int round = 0; round < 1000; round++) {
        size_t size = round < 10 ? size_t(round % 3) : 1 + rng_index(&r, 40);
        std::vector<entry> list, kept;

        for (size_t i = 0; i < size; i++)
            list.push_back({double(rng_index(&r, 20)), i});
        kept = list;
        entries_heapify(list.data(), size);
        entries_first_changed(list.data(), size); // nothing changes
        for (int step = 0; size > 0 && step < 50; step++) {
            auto least = std::min_element(
                kept.begin(), kept.end(),
                [](const entry &a, const entry &b) { return entry_before(&a, &b); });
            REQUIRE(list[0].number == least->number);
            double more = double(rng_index(&r, 5)); // often 0
            least->key += more;
            list[0].key += more;
            entries_first_changed(list.data(), size);
        }
    }
}
