# SPDX-License-Identifier: Apache-2.0
# bash completion for @program@, made from its --help. bash 4.3 or newer.

# The keys that begin with $1, which may be a pattern: into `found`. Always several, up to where they part: after a single one readline
# would close an open quote.
_@program@_keys() {
  local head='' name item lead='' x
  local -a fields=(@fields@)
  [[ $1 == *,* ]] && head=${1%,*},
  item=${1##*,}
  name=${item%%=*}
  if [[ $item != *=* ]]; then
    for x in "${fields[@]}"; do
      [[ ,$head == *",$x="* || $x= != "$item"* ]] || found+=("$head$x=")
    done
    [[ ${#found[@]} != 1 ]] || { x=${found[0]} found=(); _@program@_keys "$x"; }
    return
  fi
  item=${item#*=}
  [[ $item == *[-/\|]* ]] && lead=${item%"${item##*[-/|]}"}
  local values=''
  case $name in
@values@
  esac
  for x in $values; do
    [[ $lead$x != "$item"* ]] || found+=("$head$name=$lead$x")
  done
  [[ ${#found[@]} == 1 ]] || return
  if [[ ${found[0]} == "$1" ]]; then found=(); _@program@_keys "$1,"
  else found+=("${found[0]},")
  fi
}

_@program@() {
  COMPREPLY=()
  local IFS=$' \t\n'
  local -a words=('') found=() files=()
  local quote='' opened=0 i c line=${COMP_LINE:0:COMP_POINT}
  # The words up to the cursor, whole: bash's own are cut at = and |.
  for ((i = 0; i < ${#line}; i++)); do
    c=${line:i:1}
    if [[ $quote && $c == "$quote" ]]; then quote=''
    elif [[ ! $quote && $c == [\'\"] ]]; then quote=$c opened=${#words[-1]}
    elif [[ ! $quote && $c == ' ' ]]; then [[ ! ${words[-1]} ]] || words+=('')
    else
      [[ $c != \\ || $quote == \' ]] || c=${line:++i:1}
      words[-1]+=$c
    fi
  done
  local current=${words[-1]} command='' options='' kinds='' list='' value prefix='' option
  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    [[ ${words[i]} == -* ]] || { command=${words[i]}; break; }
  done
  case $command in
@commands@
  esac
  value=$current option=${words[-2]}
  [[ $current != --*=* ]] || option=${current%%=*} prefix=$option= value=${current#*=}
  case $command,$option in
@behind@
    *)
      prefix='' value=$current
      [[ $current != -* ]] || kinds=of list=$options
      ;;
  esac
  local kind word
  for kind in $kinds; do
    case $kind in
      of) for word in $list; do [[ $word != "$value"* ]] || found+=("$word"); done ;;
      key | pattern) [[ ${#found[@]} != 0 ]] || _@program@_keys "$value" ;;
      file) mapfile -t files < <(compgen -f -- "$value") ;;
      folder) mapfile -t files < <(compgen -d -- "$value") ;;
    esac
  done
  found+=("${files[@]}")
  [[ ${#files[@]} == 0 ]] || compopt -o filenames 2>/dev/null
  [[ ${#found[@]} != 1 || ${found[0]} != *= ]] || compopt -o nospace 2>/dev/null
  # readline replaces only what stands behind the last character that it breaks words at, or behind an open quote.
  local cut=$opened
  if [[ ! $quote ]]; then
    for ((cut = ${#current}; cut > 0; cut--)); do [[ $COMP_WORDBREAKS != *"${current:cut - 1:1}"* ]] || break; done
  fi
  for word in "${found[@]}"; do
    word=$prefix$word
    COMPREPLY+=("${word:cut}")
  done
}
complete -F _@program@ @program@
