/* SPDX-License-Identifier: Apache-2.0 */
/* What libhsa-emu says that HSA has no word for: counters, traffic, reports, host threads, model time. Link with the library, or look
   the functions up in the copy that is loaded (dlsym). They know nothing of any particular kernel.

   Threads: every function may be called from any thread at any time. Figures of a dispatch are there once its completion signal is;
   while one runs, the previous one's are given. Counts are the same for any number of host threads, host_ns excepted. */
#ifndef HSA_EMU_H
#define HSA_EMU_H

#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>

#ifdef __cplusplus
extern "C" {
#endif

/* hsa_init's status when FRONT_EMU_DEVICE is no device model; hsa_status_string() has the sentence, with the models that there are. */
enum { HSA_EMU_STATUS_UNKNOWN_DEVICE = 0x7001 };

/* --- settings ------------------------------------------------------------------------------------------------------------- */

/* Host threads that execute a dispatch; 0: FRONT_EMU_THREADS of the environment if set, else one a CPU that this process may use.
   Holds from the next dispatch on. INVALID_ARGUMENT: more than 256. */
hsa_status_t hsa_emu_set_threads(uint32_t threads);
uint32_t hsa_emu_threads(void);

/* --- strict mode ------------------------------------------------------------------------------------------------------------ */

/* Strict mode executes a launch as late, as stale and in as odd an order as the hardware's memory model allows, and reports what relies
   on luck: docs/memory-model.md has the rules. A finding does not end the launch. Off, FRONT_EMU_STRICT=1 of the environment turns it
   on, with FRONT_EMU_SEED (0) and FRONT_EMU_L2 ("noncoherent"); then every dispatch's findings are also written to stderr. */
enum hsa_emu_l2 {
  HSA_EMU_L2_NONCOHERENT, /* the XCDs' L2s know nothing of one another: the default */
  HSA_EMU_L2_PROBED       /* probes keep them coherent: local memory of MI300X and MI355X; L1s still serve stale lines */
};

struct hsa_emu_strict {
  uint32_t on; /* 0, 1 */
  enum hsa_emu_l2 l2;
  uint64_t seed; /* of the schedule, of how long stores are late and of what the caches lose. Equal seeds, equal bits and findings */
};

/* From the next dispatch on, whatever the environment says; NULL: what the environment says. INVALID_ARGUMENT: a value not listed. */
hsa_status_t hsa_emu_set_strict(const struct hsa_emu_strict *options);
/* What holds for the next dispatch. INVALID_ARGUMENT: NULL, or the environment has a value not listed (a dispatch then fails with that
   report). */
hsa_status_t hsa_emu_strict(struct hsa_emu_strict *options);

enum hsa_emu_finding_kind {
  HSA_EMU_UNWAITED,      /* a register of an outstanding load or LDS read is used before its s_waitcnt */
  HSA_EMU_STALE_LOAD,    /* a plain load got bytes from a cache that memory has newer ones of */
  HSA_EMU_UNORDERED,     /* a plain load of bytes whose store is not visible yet, or that nothing orders behind it */
  HSA_EMU_EARLY_LOAD,    /* bytes are stored that another workgroup has already loaded plainly, and nothing orders the two */
  HSA_EMU_LDS_RACE,      /* two waves, one of them writing, the same LDS bytes, no barrier between */
  HSA_EMU_UNINITIALISED, /* an address, stored data, a branch or EXEC depends on a register, LDS or memory that was never written */
  HSA_EMU_OUT_OF_RANGE,  /* a lane outside its buffer resource (other than one of size 0), LDS or scratch memory */
  HSA_EMU_BARRIER,       /* s_barrier with lanes switched off, waves at different barriers, or without waves that have ended */
  HSA_EMU_ATOMIC_SCOPE,  /* a system-scope atomic (sc1) on memory that is the device's alone */
  HSA_EMU_FINDING_KINDS
};

/* A place in the launch. */
struct hsa_emu_party {
  int64_t offset;             /* of the instruction from the kernel's entry, bytes */
  uint32_t group, wave, lane; /* workgroup in launch order; lane UINT32_MAX: the whole wave (or, of another party, any) */
};

struct hsa_emu_finding {
  enum hsa_emu_finding_kind kind;
  uint64_t address;           /* of the first byte concerned: memory, or a byte of LDS or scratch; else 0: none */
  uint64_t times;             /* it was found at this instruction with this other instruction */
  uint64_t dispatch;          /* number of the dispatch since hsa_init, from 0 */
  struct hsa_emu_party at;    /* where it was found first */
  uint32_t has_other;         /* 1: `other` is there */
  struct hsa_emu_party other; /* the store, the load or the wave that it clashes with */
};

/* Findings since hsa_init or hsa_emu_findings_clear(), one for each kind and pair of instructions, in the order in which they were found:
   at most 256 are kept. */
size_t hsa_emu_findings(void);
/* Finding i, and its text (lines that name kernel, instructions, addresses, workgroups, waves, lanes), copied as hsa_emu_report() does
   it. `finding`, or `out` with size 0, may be null. Returns the text's length; 0: there is no finding i. */
size_t hsa_emu_finding(size_t i, struct hsa_emu_finding *finding, char *out, size_t size);
void hsa_emu_findings_clear(void);

/* --- counters ------------------------------------------------------------------------------------------------------------- */

enum hsa_emu_class {
  HSA_EMU_SALU,
  HSA_EMU_SMEM,
  HSA_EMU_VALU,
  HSA_EMU_MFMA,
  HSA_EMU_LDS,
  HSA_EMU_VMEM,
  HSA_EMU_CONTROL, /* branches, waits, barriers, sleep, end */
  HSA_EMU_CLASSES
};

struct hsa_emu_counters {
  uint64_t dispatches;
  uint64_t workgroups, waves; /* that ran */
  uint64_t instructions;      /* wave-instructions, the classes' sum */
  uint64_t by_class[HSA_EMU_CLASSES];
  uint64_t load_bytes, store_bytes; /* of lanes and scalar loads in device memory, atomics not included */
  uint64_t atomics;                 /* lanes of atomic instructions */
  uint64_t out_of_range;            /* lanes whose buffer or LDS access lay outside, other than through a buffer of size 0 */
  uint64_t quanta;                  /* steps of the schedule: a hand-off between workgroups takes at least one */
  uint64_t model_ticks;             /* model time the dispatch took, of the 100 MHz clock */
  uint64_t host_ns;                 /* time on this machine */
};

/* Of the last dispatch that ended, and of all since hsa_init. All zero if there was none. */
hsa_status_t hsa_emu_last_dispatch(struct hsa_emu_counters *counters);
hsa_status_t hsa_emu_total(struct hsa_emu_counters *counters);

/* The device's 100 MHz clock, as kernels read it: a function of executed instructions and sleeps. */
uint64_t hsa_emu_model_time(void);

/* --- traffic -------------------------------------------------------------------------------------------------------------- */

/* Loads are counted in registered ranges only; with none registered counting costs nothing. The unit is the dword: a load of any of its
   bytes touches it. A workgroup that touches a dword twice in a launch fetches it once. */
struct hsa_emu_traffic {
  uint64_t bytes;                    /* of the range */
  uint64_t unique_bytes;             /* 4 times the dwords that anyone loaded; the last dword of a range may be short */
  uint64_t fetched_bytes;            /* summed over launches and workgroups: 4 times the dwords that the workgroup touched */
  uint64_t lane_bytes;               /* what lanes and scalar loads asked for, repetitions included */
  uint32_t min_fetches, max_fetches; /* over all dwords of the range: how many (launch, workgroup) pairs loaded it */
};

/* Registers [base, base + bytes), which must lie in one allocation of a memory pool; *range is its number. Ranges may not overlap; a base
   not divisible by 4 is INVALID_ARGUMENT. Not while a dispatch runs (it waits for its end). */
hsa_status_t hsa_emu_range_add(const void *base, uint64_t bytes, uint32_t *range);

/* Forgets all ranges. Freeing an allocation forgets the ranges in it: their figures stay readable. */
hsa_status_t hsa_emu_ranges_clear(void);

/* Sets the counts of all ranges to 0. */
hsa_status_t hsa_emu_traffic_reset(void);

/* Since the range was registered or the counts were reset. */
hsa_status_t hsa_emu_range_traffic(uint32_t range, struct hsa_emu_traffic *traffic);

/* fetches[i]: how many (launch, workgroup) pairs loaded dword first + i of the range, for i < count. */
hsa_status_t hsa_emu_range_fetches(uint32_t range, uint64_t first, uint64_t count, uint32_t *fetches);

/* --- reports -------------------------------------------------------------------------------------------------------------- */

/* Why the last dispatch that failed did so, and where every wave stood: lines of text, the first one a sentence with kernel, instruction
   and address. "" if none failed since hsa_init or hsa_emu_report_clear(). Copies at most `size` bytes, a 0 included, and returns the
   length of the whole text. `out` may be null if size is 0. */
size_t hsa_emu_report(char *out, size_t size);
void hsa_emu_report_clear(void);

/* Remarks on the last dispatch that ended, good or not, as lines of text (accesses out of a buffer's range and the like); "" if none. */
size_t hsa_emu_remarks(char *out, size_t size);

/* --- profile -------------------------------------------------------------------------------------------------------------- */

/* Where instructions, bytes and model time go, by region of the code (at most 256, the caller's numbers) and by workgroup. A profiled
   launch gives memory a latency, which s_waitcnt waits out: its model time is longer than another launch's. It knows nothing of
   bandwidth that waves share: it shows who waits for whom, not how fast a GPU is. Without a profile launches cost what they always do. */
struct hsa_emu_instruction {
  int64_t offset; /* bytes from the kernel's entry: negative in other code of its code object */
  enum hsa_emu_class kind;
  const char *text; /* until the executable is destroyed */
};

/* The instructions of the code object that has the kernel of this name (or symbol: "NAME.kd"), in order of address, and the kernel's
   object. Copies at most `capacity`, and returns how many there are; 0: no such kernel is loaded. */
size_t hsa_emu_code(const char *kernel, uint64_t *object, struct hsa_emu_instruction *out, size_t capacity);

/* From the next launch on: launches of the kernel object are profiled, region[i] < regions being that of hsa_emu_code()'s instruction i.
   `object` 0: no more. Copies the array. INVALID_ARGUMENT: not so many instructions, a region too high, none or over 256 regions. */
hsa_status_t hsa_emu_profile(uint64_t object, const uint8_t *region, size_t count, uint32_t regions);

enum { HSA_EMU_CYCLES_A_US = 2100 }; /* model cycles a microsecond */

enum hsa_emu_stall {
  HSA_EMU_STALL_VM,      /* s_waitcnt vmcnt */
  HSA_EMU_STALL_LGKM,    /* s_waitcnt lgkmcnt */
  HSA_EMU_STALL_BARRIER, /* until all waves were there */
  HSA_EMU_STALL_SLEEP,   /* s_sleep, and until memory changed: polls */
  HSA_EMU_STALL_ATOMIC,  /* until an atomic's result was there */
  HSA_EMU_STALL_TURN,    /* ready to run: the emulator's schedule let others go first */
  HSA_EMU_STALLS,
  HSA_EMU_IN_REGION = HSA_EMU_STALLS /* of a span: no stall, but the time in a region */
};

/* Sums over the waves of a workgroup. */
struct hsa_emu_region {
  uint64_t instructions, by_class[HSA_EMU_CLASSES];
  uint64_t load_bytes, store_bytes; /* as in hsa_emu_counters */
  uint64_t cycles;                  /* of model time, stalls included */
  uint64_t stall[HSA_EMU_STALLS];   /* cycles */
};

struct hsa_emu_profiled {
  uint32_t workgroup, xcc;
  uint64_t begin, end; /* model cycles, of one clock for all launches */
  size_t spans;
};

/* What wave 0 of the workgroup did when: a region's spans do not overlap, a stall's lies in its region's. */
struct hsa_emu_span {
  uint32_t kind; /* enum hsa_emu_stall */
  uint32_t region;
  uint64_t begin, end;
};

/* Of the last profiled launch, by workgroup in launch order. INVALID_INDEX: no such workgroup. figures: `regions` of them; spans: at most
   the first `count`, in order of their begin; either may be null. */
hsa_status_t hsa_emu_profile_workgroup(
    uint32_t workgroup, struct hsa_emu_profiled *out, struct hsa_emu_region *figures, struct hsa_emu_span *spans, size_t count);

#ifdef __cplusplus
}
#endif

#endif
