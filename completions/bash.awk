# SPDX-License-Identifier: Apache-2.0
# The table of table.sh, behind front_values.awk's files -> front.bash with its blanks filled in. -v program=NAME -v template=FILE
function kind_of(option, meta) {
  gsub(/[][]/, "", meta)
  return option in kind ? option : meta
}
# kinds= and list= of an option, metavariable or usage ("KEY|FILE...").
function offer(option, words,    n, i, name, part, kinds, all) {
  gsub(/[][.]/, "", words)
  n = split(words, part, /[| ]/)
  for (i = 1; i <= n; i++) {
    name = kind_of(option, part[i])
    if (!(name in kind)) kind[name] = "file"
    if (kind[name] == "of") all = all " " list[name]
    if (kind[name] != "nothing" && index(" " kinds " ", " " kind[name] " ") == 0) kinds = kinds (kinds == "" ? "" : " ") kind[name]
  }
  return "kinds='" kinds "' list='" substr(all, 2) "'"
}
$1 == "command" { names[++commands] = $2; next }
$1 == "words" { takes[$2] = $3; next }
$1 == "option" {
  options[$2] = options[$2] (options[$2] == "" ? "" : " ") $4 ($5 ~ /^[A-Z]/ ? "=" : "")
  if ($5 == "-") next
  pattern = ($2 == "-" ? (commands ? "" : "*") : $2) "," $4
  if ($3 != "-" && $5 ~ /^[A-Z]/) pattern = pattern " | " substr(pattern, 1, index(pattern, ",")) $3
  behind = behind "    " pattern ") " offer($4, $5) " ;;\n"
  next
}
END {
  all = names[1]
  for (i = 2; i <= commands; i++) all = all " " names[i]
  text["commands"] = commands ? "    '') options='" options["-"] "' kinds=of list='" all "' ;;\n" : "    *) options='" options["-"] "' " offer("", takes["-"]) " ;;\n"
  for (i = 1; i <= commands; i++)
    text["commands"] = text["commands"] "    " names[i] ") options='" options[names[i]] "' " offer("", takes[names[i]]) " ;;\n"
  text["behind"] = behind
  for (i = 1; i <= fields; i++) {
    text["fields"] = text["fields"] (i > 1 ? " " : "") field[i]
    text["values"] = text["values"] "    " field[i] ") values='" list[field[i]] "' ;;\n"
  }
  while ((getline line <template) > 0) {
    if (line ~ /^@[a-z]+@$/) { printf "%s", text[substr(line, 2, length(line) - 2)]; continue }
    gsub(/@program@/, program, line)
    sub(/@fields@/, text["fields"], line)
    print line
  }
}
