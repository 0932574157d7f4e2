# SPDX-License-Identifier: Apache-2.0
# What both generators read before the table: `values.def`, key_fields.def and geometry.h's limits. Afterwards kind[NAME] and list[NAME] say what completes an
# option or metavariable, field[1..fields] are the key's fields, list[FIELD] their values.
function fill_field(name, low, high,    i) {
  field[++fields] = name
  if (name in list) return
  for (i = low; i <= high; i++) list[name] = list[name] (i > low ? " " : "") i
}
FILENAME ~ /values[.]def$/ {
  if (/^#/ || NF < 2) next
  kind[$1] = $2
  if ($2 == "of") { line = $0; sub(/^[^ ]+ +of +/, "", line); list[$1] = line }
  next
}
FILENAME ~ /geometry[.]h$/ { if ($1 ~ /_MAX$/ && $2 == "=") limit[$1] = $3 + 0; next }
FILENAME ~ /key_fields[.]def$/ {
  if (/^FIELD[(]/) {
    split($0, part, /[(), ]+/)
    if (part[7] + 0) fill_field(part[2], part[3] + 0, (part[4] in limit) ? limit[part[4]] : part[4] + 0)
  }
  next
}
