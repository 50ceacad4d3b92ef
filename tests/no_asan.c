/* no_asan.c - AddressSanitizer's calls, where test files that were compiled with it are
 * linked to code that was not: nothing is watched, and valgrind can be.
 *
 * gcc has them called for each access
 * (--param=asan-instrumentation-with-call-threshold=0).
 */
#define NOTHING(name) \
    void name(void);  \
    void name(void)   \
    {                 \
    }

NOTHING(__asan_init)
NOTHING(__asan_version_mismatch_check_v8)
NOTHING(__asan_register_globals)
NOTHING(__asan_unregister_globals)
NOTHING(__asan_before_dynamic_init)
NOTHING(__asan_after_dynamic_init)
NOTHING(__asan_handle_no_return)
NOTHING(__asan_load1)
NOTHING(__asan_load2)
NOTHING(__asan_load4)
NOTHING(__asan_load8)
NOTHING(__asan_load16)
NOTHING(__asan_loadN)
NOTHING(__asan_store1)
NOTHING(__asan_store2)
NOTHING(__asan_store4)
NOTHING(__asan_store8)
NOTHING(__asan_store16)
NOTHING(__asan_storeN)
