/* SPDX-License-Identifier: Apache-2.0 */
/* sweep [-j N] [-n KEYS] STATE OUT: builds every key of the sweep, gates included, and shows that none spills, needs scratch or uses
   AGPRs. STATE remembers results by the hash of the IR without the kernel's name and of the LLVM version, so that the sweep resumes where
   it stopped, rebuilds only what an edit changed, and builds once what only the name tells apart: LLVM's output depends on nothing else.
   OUT gets the summary. */
#include <getopt.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"
#include "sha256.h"
#include "tool.h"

static const char *const pattern = "tokens=1-48,tp=1|2|4|8,tuned=0|1,ratio=0|1|2|3|7|128,window=1|128|129|4096";

enum { THREADS_MAX = 64, NAME_BYTES = 96 };

/* What one IR text gave. In the tree by hash. */
struct result {
  char hash[SHA256_HEX];
  struct measured m;
  double seconds;
  bool known; /* false while a thread works on it */
};

struct sweep {
  pthread_mutex_t lock;
  struct front_key *key;
  size_t keys, next, built, shared, failed;
  void *tree; /* of struct result, by hash */
  struct result **of_key;
  FILE *state;
  char version[32];
  double build_seconds, started;
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_hash(const void *a, const void *b) {
  return memcmp(((const struct result *)a)->hash, ((const struct result *)b)->hash, SHA256_HEX - 1);
}

static void hash_flags(struct sha256 *h, const char *const *flags) {
  for (; *flags; flags++) sha256_add(h, *flags, strlen(*flags) + 1);
  sha256_add(h, "", 1);
}

/* The hash of all that decides the object, with each occurrence of the kernel's name left out. */
static void hash_ir(const struct sweep *s, const struct plan *plan, const char *text, size_t bytes, char hash[SHA256_HEX]) {
  struct sha256 h;
  uint8_t digest[SHA256_BYTES];
  const char *name = plan->name;
  size_t length = strlen(name);
  sha256_begin(&h);
  sha256_add(&h, s->version, strlen(s->version) + 1);
  hash_flags(&h, plan->target->opt_flags);
  hash_flags(&h, plan->target->llc_flags);
  hash_flags(&h, plan->target->lld_flags);
  for (const char *at = text, *end = text + bytes; at < end;) {
    const char *found = memmem(at, (size_t)(end - at), name, length);
    sha256_add(&h, at, (size_t)((found ? found : end) - at));
    at = found ? found + length : end;
  }
  sha256_end(&h, digest);
  sha256_hex(digest, hash);
}

/* The result of this hash, made if there was none; *mine then says that the caller has to fill it. With the lock held. */
static struct result *find(struct sweep *s, const char *hash, bool *mine) {
  struct result *r = calloc(1, sizeof *r), **slot;
  if (!r) return NULL;
  memcpy(r->hash, hash, SHA256_HEX);
  slot = tsearch(r, &s->tree, by_hash);
  if (!slot) return NULL;
  *mine = *slot == r;
  if (!*mine) free(r);
  return *slot;
}

static void remember(struct sweep *s, struct result *r) {
  r->known = true;
  s->built++;
  s->build_seconds += r->seconds;
  fprintf(s->state, "%s %u %u %u %u %u %u %u %u %.3f\n", r->hash, r->m.vgprs, r->m.sgprs, r->m.agprs, r->m.vgpr_spills, r->m.sgpr_spills,
      r->m.private_bytes, r->m.lds_bytes, r->m.code_bytes, r->seconds);
  fflush(s->state);
}

static bool recall(struct sweep *s, const char *path) {
  FILE *f = fopen(path, "r");
  struct result r = {0};
  while (f && fscanf(f, "%64s %u %u %u %u %u %u %u %u %lf", r.hash, &r.m.vgprs, &r.m.sgprs, &r.m.agprs, &r.m.vgpr_spills, &r.m.sgpr_spills,
                  &r.m.private_bytes, &r.m.lds_bytes, &r.m.code_bytes, &r.seconds) == 10) {
    bool mine = false;
    struct result *known = find(s, r.hash, &mine);
    if (!known) break;
    *known = r;
    known->known = true;
  }
  if (f) fclose(f);
  s->state = fopen(path, "a");
  return s->state != NULL;
}

static void fail(struct sweep *s, const char *name, const char *error) {
  pthread_mutex_lock(&s->lock);
  s->failed++;
  fprintf(stderr, "sweep: %s: %s\n", name, error);
  pthread_mutex_unlock(&s->lock);
}

static void progress(struct sweep *s, size_t i) {
  if (i == 0 || i % 64) return;
  double spent = now() - s->started;
  printf("%zu of %zu keys, %.0f s, about %.0f s left\n", i, s->keys, spent, spent / (double)i * (double)(s->keys - i));
  fflush(stdout);
}

/* One key: its IR, and unless that is known, its object. */
static void sweep_key(struct sweep *s, size_t i) {
  struct plan plan;
  char error[FRONTGEN_ERROR_MAX] = "", hash[SHA256_HEX], *text = NULL, key[NAME_BYTES];
  size_t bytes, object_bytes;
  void *object = NULL;
  bool mine = false;
  key_name(&s->key[i], key);
  if (frontgen_plan(key, "gfx950", &plan, error) != FRONTGEN_GOOD || frontgen_emit(&plan, &text, &bytes, error) != FRONTGEN_GOOD) {
    fail(s, key, error);
    return;
  }
  hash_ir(s, &plan, text, bytes, hash);
  pthread_mutex_lock(&s->lock);
  struct result *r = s->of_key[i] = find(s, hash, &mine);
  s->shared += !mine;
  progress(s, i);
  pthread_mutex_unlock(&s->lock);
  if (!r) fail(s, key, "no memory");
  if (r && mine) {
    double began = now();
    struct measured m;
    if (frontgen_compile_ir(text, bytes, &plan, NULL, &object, &object_bytes, error) != FRONTGEN_GOOD ||
        !measure_metadata(object, object_bytes, &m, error)) {
      fail(s, key, error);
    } else {
      pthread_mutex_lock(&s->lock);
      r->m = m;
      r->seconds = now() - began;
      remember(s, r);
      pthread_mutex_unlock(&s->lock);
    }
  }
  free(object);
  free(text);
}

static void *work(void *sweep) {
  struct sweep *s = sweep;
  for (size_t i; (i = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED)) < s->keys;) sweep_key(s, i);
  return NULL;
}

/* The largest of a field over the keys of one tp and schedule, and the key that has it. */
struct peak {
  uint32_t value;
  size_t key;
};

static void raise_peak(struct peak *p, uint32_t value, size_t key) {
  if (value > p->value) *p = (struct peak){value, key};
}

static void print_peak(FILE *f, const struct sweep *s, const struct peak *p) {
  char name[NAME_BYTES];
  key_name(&s->key[p->key], name);
  fprintf(f, "\t%u\t%s", p->value, name);
}

static size_t count_bad(const struct sweep *s) {
  size_t bad = 0;
  for (size_t i = 0; i < s->keys; i++) {
    const struct result *r = s->of_key[i];
    bad += !r || !r->known || r->m.agprs || r->m.vgpr_spills || r->m.sgpr_spills || r->m.private_bytes;
  }
  return bad;
}

static void summarise(FILE *f, const struct sweep *s) {
  fprintf(f, "# gfx950, LLVM %s: %s\n", s->version, pattern);
  fprintf(f,
      "# %zu keys, gates included; %zu with a spill, scratch, an AGPR or a failed gate. Keys whose IR differs in the name only share an "
      "object.\n",
      s->keys, count_bad(s));
  fprintf(f, "tp\ttuned\tkeys\tbad\tvgpr\tof\tsgpr\tof\tlds\tof\tcode_bytes\tof\n");
  for (int tp = 1; tp <= 8; tp *= 2)
    for (int tuned = 0; tuned <= 1; tuned++) {
      struct peak vgprs = {0}, sgprs = {0}, lds = {0}, code = {0};
      size_t keys = 0, bad = 0;
      for (size_t i = 0; i < s->keys; i++) {
        const struct result *r = s->of_key[i];
        if (s->key[i].tp != tp || s->key[i].tuned != tuned) continue;
        keys++;
        if (!r || !r->known) {
          bad++;
          continue;
        }
        bad += r->m.agprs || r->m.vgpr_spills || r->m.sgpr_spills || r->m.private_bytes;
        raise_peak(&vgprs, r->m.vgprs, i);
        raise_peak(&sgprs, r->m.sgprs, i);
        raise_peak(&lds, r->m.lds_bytes, i);
        raise_peak(&code, r->m.code_bytes, i);
      }
      fprintf(f, "%d\t%d\t%zu\t%zu", tp, tuned, keys, bad);
      print_peak(f, s, &vgprs), print_peak(f, s, &sgprs), print_peak(f, s, &lds), print_peak(f, s, &code);
      fputc('\n', f);
    }
}

static void run_threads(struct sweep *s, long jobs) {
  pthread_t thread[THREADS_MAX];
  long started = 0;
  while (started < jobs && started < THREADS_MAX && pthread_create(&thread[started], NULL, work, s) == 0) started++;
  if (!started) work(s);
  for (long i = 0; i < started; i++) pthread_join(thread[i], NULL);
}

static int finish(struct sweep *s, const char *path) {
  size_t bad = count_bad(s);
  printf("%zu keys: %zu built in %.0f s of work (%.3f s each), %zu shared or known; %zu bad; %.0f s\n", s->keys, s->built, s->build_seconds,
      s->built ? s->build_seconds / (double)s->built : 0, s->shared, bad, now() - s->started);
  char temporary[4096];
  snprintf(temporary, sizeof temporary, "%s.new", path);
  FILE *f = fopen(temporary, "w");
  if (f) summarise(f, s);
  if (!f || fclose(f) != 0 || rename(temporary, path) != 0) {
    perror(path);
    return 1;
  }
  return bad || s->failed ? 1 : 0;
}

int main(int argc, char **argv) {
  struct sweep s = {.lock = PTHREAD_MUTEX_INITIALIZER, .started = now()};
  char error[FRONTGEN_ERROR_MAX];
  long jobs = sysconf(_SC_NPROCESSORS_ONLN), limit = 0;
  for (int option; (option = getopt(argc, argv, "j:n:")) != -1;) {
    if (option == 'j')
      jobs = atol(optarg);
    else if (option == 'n')
      limit = atol(optarg);
    else
      return 2;
  }
  if (argc - optind != 2) {
    fprintf(stderr, "usage: sweep [-j JOBS] [-n FIRST_KEYS] STATE OUT\n");
    return 2;
  }
  if (!key_expand(pattern, &s.key, &s.keys, error) || tool_llvm_version(NULL, s.version, error) != FRONTGEN_GOOD) {
    fprintf(stderr, "sweep: %s\n", error);
    return 3;
  }
  if (limit > 0 && (size_t)limit < s.keys) s.keys = (size_t)limit;
  s.of_key = calloc(s.keys, sizeof *s.of_key);
  if (!s.of_key || !recall(&s, argv[optind])) {
    perror(argv[optind]);
    return 3;
  }
  run_threads(&s, jobs);
  return finish(&s, argv[optind + 1]);
}
