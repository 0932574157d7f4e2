/* SPDX-License-Identifier: Apache-2.0 */
#include "conduct.h"
#include "frontgen.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void (*_Atomic also)(void);

void conduct_on_interrupt(void (*end)(void)) { also = end; }

/* Leaves nothing behind, then dies of the same signal. */
static void interrupted(int signal_number) {
  void (*end)(void) = also;
  if (end) end();
  frontgen_interrupt();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void catch_interrupts(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction old, action = {.sa_handler = interrupted};
    /* An ignored signal (nohup, a background job) stays ignored. */
    if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL);
  }
}

bool conduct_begin(void) {
  /* Such a number then stands for something that can be neither read to any effect nor written. */
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0) return false;
  signal(SIGXFSZ, SIG_IGN);
  catch_interrupts();
  return true;
}

void conduct_complain(const char *program, const char *text) {
  char line[4096];
  snprintf(line, sizeof line, "%s: %s", program, text);
  for (char *c = line; *c; c++)
    if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
  fprintf(stderr, "%s\n", line);
}

const char *conduct_bad_option(int argc, char **argv, int next) {
  int at = next > 1 && argv[next - 1][0] == '-' ? next - 1 : next;
  return argv[at < argc ? at : argc - 1];
}
