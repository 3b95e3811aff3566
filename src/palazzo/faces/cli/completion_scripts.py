"""Completion scripts of shells. Each asks `palazzo __complete WORD...` for the values of the last word.

The answer has one value a line, with a tab and a description if there is one. The line `:files` asks for files.
"""

from __future__ import annotations

_BASH = r"""# Completion of palazzo for bash; 'palazzo completion bash' prints it.
_palazzo() {
    local line file program=${COMP_WORDS[0]}
    [[ $program == \~/* ]] && program=$HOME/${program:2}
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compopt -o filenames 2>/dev/null
            while IFS= read -r file; do
                COMPREPLY+=("$file")
            done < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
        else
            COMPREPLY+=("${line%%$'\t'*}")
        fi
    done < <("$program" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _palazzo palazzo
"""

_ZSH = r"""#compdef palazzo
# Completion of palazzo for zsh; 'palazzo completion zsh' prints it.
_palazzo() {
    local line program=${words[1]/#\~\//$HOME/}
    local -a values
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compset -P '--[^=]#='
            _files
        else
            values+=("${${line//:/\\:}/$'\t'/:}")
        fi
    done < <("$program" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    (( $#values )) && _describe -t values palazzo values
}
if [[ $funcstack[1] == _palazzo ]]; then
    _palazzo "$@"
else
    compdef _palazzo palazzo
fi
"""

_FISH = r"""# Completion of palazzo for fish; 'palazzo completion fish' prints it.
function __palazzo_ask --description 'Set the values of the last word, once for each line'
    set -l line (commandline -cp | string collect)
    test "$line" = "$__palazzo_line"; and return
    set -g __palazzo_line $line
    set -g __palazzo_values
    set -l words (commandline -opc) (commandline -ct)
    set words[1] (string replace -r '^~/' "$HOME/" -- $words[1])
    type -q -- $words[1]; and set __palazzo_values ($words[1] __complete $words[2..-1] 2>/dev/null)
end
function __palazzo_forget --on-event fish_prompt
    set -e __palazzo_line
end
function __palazzo_wants_files
    __palazzo_ask
    contains -- :files $__palazzo_values
end
function __palazzo_complete
    __palazzo_ask
    string match -v -- :files $__palazzo_values
end
complete -c palazzo -f -a '(__palazzo_complete)'
complete -c palazzo -n __palazzo_wants_files -F
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}

ZSH_LINES = """
# Completion of palazzo, added by 'palazzo completion zsh --install'
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}
[[ -r {file} ]] && source {file}
"""
"""The end of a .zshrc that reads the script: zsh has no directory of a user's own completions."""
