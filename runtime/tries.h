/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a library by one of several names, with every failure kept for the error's text. */
#ifndef FRONT_TRIES_H
#define FRONT_TRIES_H

#include <stdbool.h>
#include <stddef.h>

struct tries {
  char text[1500]; /* "NAME: why; NAME: why" */
  size_t used;
};

/* The library `more` being RTLD_NOLOAD or 0; never unloaded. Null, with a note, if it cannot be loaded. */
void *tries_open(struct tries *tries, const char *name, int more);

/* Notes that a library lacks a function; `what` is behind the function's name. Returns false. */
bool tries_lacks(struct tries *tries, const char *name, const char *function, const char *what);

/* The name that a caller or the environment's variable gives, or null. */
const char *tries_named(const char *library, const char *variable);

/* The file that a function came from, or `otherwise`. `function` points to the table's pointer. */
void tries_path(const void *function, const char *otherwise, char *path, size_t bytes);

#endif
