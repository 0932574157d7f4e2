/* SPDX-License-Identifier: Apache-2.0 */
/* Who has executed which row: tests/conformance/executed.tsv, made from lists that FRONT_EMU_EXECUTED wrote. */
#ifndef FRONT_TESTS_ISA_EXECUTED_H
#define FRONT_TESTS_ISA_EXECUTED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { EXECUTED_ROWS = 4096, EXECUTED_BY = 3 };

/* Bits of a row: random functions, our kernels, the corpus. Rows are counted through all tables. */
extern uint8_t executed_by[EXECUTED_ROWS];
extern const char *const executed_names[EXECUTED_BY];

/* Reads executed.tsv. False, and said: it names no row of the emulator's. */
bool executed_read(const char *path);

/* Reads a list for each of EXECUTED_BY and prints executed.tsv. */
bool executed_record(char **lists);

/* Counts by table, as a table in Markdown. */
void executed_print(FILE *f);

#endif
