#!/usr/bin/env zsh
# SPDX-License-Identifier: Apache-2.0
# tab.zsh FOLDER: types into an interactive bash and zsh, on a terminal, presses Tab, and looks at the line that comes of it. FOLDER has the
# completions: frontgen, frontrun (bash), _frontgen, _frontrun (zsh).
emulate -R zsh
zmodload zsh/zpty || exit 1
folder=$1
dir=$(mktemp -d "${TMPDIR:-/tmp}/frontgen-test-XXXXXX") || exit 1
trap 'rm -rf $dir' EXIT
mkdir $dir/out.d
: >$dir/one.hsaco >$dir/step.safetensors
typeset -i bad=0 checks=0

start() { # COMMAND: a fresh terminal with a shell in it, once it prompts
  local text
  zpty -d tty 2>/dev/null
  zpty tty "cd $dir && stty -echo cols 400 && exec env -i PATH=$PATH TERM=dumb HOME=$dir LC_ALL=C PS1='PROM''PT ' $1"
  zpty -r tty text '*PROMPT*'
}
# The shell's next LINE{TEXT}END. It always comes: a shell that dies ends the read.
answer() {
  local text
  zpty -r tty text '*LINE{*}END*' || { text='LINE{the shell has ended}END' }
  REPLY=${${text##*LINE\{}%%\}END*}
}
tab() { # TYPED WANTED: the line after Tab; * at the end of WANTED: a blank or comma may follow
  zpty -w -n tty $'\C-x\C-k'$1$'\t\C-x\C-l'
  answer
  ((++checks))
  [[ $REPLY == "${2%\*}" || ( $2 == *\* && ${REPLY%[ ,]} == "${2%\*}" ) ]] || { print -r -- "$shell: \"$1\" and Tab: \"$REPLY\", not \"$2\""; ((++bad)) }
}
both() {
  tab 'frontgen che' 'frontgen check '
  tab 'frontgen build --arc' 'frontgen build --arch='
  tab 'frontgen build --arch=' 'frontgen build --arch=gfx950*'
  tab 'frontgen build --arch gfx9' 'frontgen build --arch gfx950*'
  tab 'frontgen build -o ou' 'frontgen build -o out.d/*'
  tab 'frontgen build --output=ou' 'frontgen build --output=out.d/*'
  tab 'frontgen check on' 'frontgen check one.hsaco*'
  tab 'frontgen info on' 'frontgen info one.hsaco*'
  tab 'frontgen verify ou' 'frontgen verify out.d/*'
  tab 'frontgen merge --embed=on' 'frontgen merge --embed=one.hsaco*'
  tab 'frontgen diff on' 'frontgen diff one.hsaco*'
  tab 'frontgen --vers' 'frontgen --version*'
  tab 'frontgen emit tok' 'frontgen emit tokens='
  tab 'frontgen emit tokens=8,wi' 'frontgen emit tokens=8,window='
  tab 'frontgen emit tokens=8,window=25' 'frontgen emit tokens=8,window=256*'
  tab "frontgen build 'tokens=8,tp=2|4,gu" "frontgen build 'tokens=8,tp=2|4,guard="
  tab "frontgen keys tokens=1-48,ratio=0/12" "frontgen keys tokens=1-48,ratio=0/128*"
  tab 'frontgen emit tokens=48,' 'frontgen emit tokens=48,'
  tab 'frontgen emit --no-such' 'frontgen emit --no-such'
  tab 'frontrun --dev' 'frontrun --device='
  tab 'frontrun tokens=8 --device=em' 'frontrun tokens=8 --device=emulator*'
  tab 'frontrun --input st' 'frontrun --input step.safetensors*'
  tab 'frontrun --input=st' 'frontrun --input=step.safetensors*'
  tab 'frontrun --key tokens=8,win' 'frontrun --key tokens=8,window='
  tab 'frontrun tokens=8 --l2=pro' 'frontrun tokens=8 --l2=probed*'
  tab 'frontrun out' 'frontrun out.d/*'
  tab 'frontrun --js' 'frontrun --json '
}

# What is typed to set a shell up is echoed: LI""NE, so that only the answer has LINE.
shell=bash
start 'bash --norc --noprofile -i'
zpty -w tty "PS1=; bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; bind '\"\\C-x\\C-k\": kill-whole-line'; bind -x '\"\\C-x\\C-l\": echo \"LI\"\"NE{\$READLINE_LINE}END\"'"
zpty -w tty ". $folder/frontgen; . $folder/frontrun; echo LI''NE{ready}END"
answer
both
tab 'frontgen emit tokens=48' 'frontgen emit tokens=48,'
tab "frontgen build 'tokens=4" "frontgen build 'tokens=4"

shell=zsh
start 'zsh -f -i'
zpty -w tty "PS1=; unsetopt zle_bracketed_paste beep; fpath=($folder \$fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=-1"
zpty -w tty 'dump() { print -r -- LI""NE"{$BUFFER}END"; zle -I }; zle -N dump; bindkey -e; bindkey "^X^L" dump; bindkey "^X^K" kill-whole-line'
zpty -w tty "print LI''NE{ready}END"
answer
both

print "$checks lines completed, $((checks - bad)) as they should be"
((bad == 0 && checks > 30))
