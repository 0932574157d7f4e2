#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sources.sh FILE...: a header with one hash of these files, so that what they make is made anew when they change.
set -eu
printf '/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by sources.sh. */\n#define GEN_SOURCES "%s"\n' "$(cat "$@" | sha256sum | cut -c1-16)"
