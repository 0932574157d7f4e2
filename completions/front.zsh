#compdef @program@
# SPDX-License-Identifier: Apache-2.0
# zsh completion for @program@, made from its --help.

# A key or a pattern: field=value,field=value. In a pattern a value is a list with | or /, and ranges with -.
_@program@_key() {
  _values -s , -S = 'field of the key' @fields@
}
_@program@_value() {
  compset -P '*[|/-]'
  compadd -S '' -- "$@"
}

_@program@() {
  local curcontext=$curcontext state state_descr line
  typeset -A opt_args
@commands@
}
_@program@ "$@"
