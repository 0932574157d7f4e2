# SPDX-License-Identifier: Apache-2.0
# The table of table.sh, behind front_values.awk's files -> front.zsh with its blanks filled in. -v program=NAME -v template=FILE
function quote(text) {
  gsub(/\\/, "\\\\", text)
  gsub(/\[|\]|:/, "\\\\&", text)
  gsub(/'/, "'\\''", text)
  return text
}
function action(name) {
  if (!(name in kind) || kind[name] == "file") return "_files"
  if (kind[name] == "folder") return "_files -/"
  if (kind[name] == "of") return "(" list[name] ")"
  return kind[name] == "nothing" ? " " : "_" program "_key"
}
# "KEY|FILE" -> what _arguments wants behind the colon
function actions(words,    n, i, part, seen, text) {
  n = split(words, part, "|")
  for (i = 1; i <= n; i++) {
    if (action(part[i]) in seen) continue
    seen[action(part[i])] = 1
    if (kind[part[i]] == "folder" && ("_files" in seen)) continue
    text = text (text == "" ? "" : " ") "\"" tolower(part[i]) ":" part[i] ":" action(part[i]) "\""
  }
  return index(text, "\" \"") ? " _alternative " text : action(part[1])
}
function option_spec(short, name, meta, text,    optional, tail) {
  optional = meta ~ /^\[/
  gsub(/[][]/, "", meta)
  tail = meta == "-" ? "" : (optional ? "::" : ":") meta ":" action(name in kind ? name : meta)
  text = "[" quote(text) "]" tail "'"
  if (name == "--help" || name == "--version" || name == "--usage") return "'(- *)" name text
  name = name (meta == "-" ? "" : optional ? "=-" : "=")
  if (short == "-") return "'" name text
  return "'(" short " " $4 ")'{" short (meta == "-" ? "" : "+") "," name "}'" substr(text, 1)
}
function word_specs(words,    n, i, part, many, text) {
  gsub(/[][]/, "", words)
  n = split(words, part, " ")
  for (i = 1; i <= n; i++) {
    many = sub(/[.][.][.]$/, "", part[i])
    text = text " '" (many ? "*" : i) ":" part[i] ":" actions(part[i]) "'"
  }
  return text
}
$1 == "command" { names[++commands] = $2; does[$2] = $4; next }
$1 == "words" { takes[$2] = $3; next }
$1 == "option" { specs[$2] = specs[$2] " \\\n      " option_spec($3, $4, $5, $6); next }
END {
  for (i = 1; i <= fields; i++) {
    name = field[i]
    text["fields"] = text["fields"] " \\\n    '" name "[" name "]:" name ":_" program "_value " list[name] "'"
  }
  if (!commands) text["commands"] = "  _arguments -s" specs["-"] word_specs(takes["-"]) "\n"
  else {
    out = "  local -a commands=("
    for (i = 1; i <= commands; i++) out = out "\n    '" names[i] ":" quote(does[names[i]]) "'"
    out = out ")\n  _arguments -C" specs["-"] " '1:command:->command' '*::argument:->argument' && return\n"
    out = out "  case $state in\n    command) _describe command commands ;;\n    argument) case $line[1] in\n"
    for (i = 1; i <= commands; i++) out = out "    " names[i] ") _arguments -s" specs[names[i]] word_specs(takes[names[i]]) " ;;\n"
    text["commands"] = out "    esac ;;\n  esac\n"
  }
  while ((getline line <template) > 0) {
    if (line ~ /^@[a-z]+@$/) { printf "%s", text[substr(line, 2, length(line) - 2)]; continue }
    gsub(/@program@/, program, line)
    at = index(line, "@fields@")
    if (at) line = substr(line, 1, at - 1) text["fields"]
    print line
  }
}
