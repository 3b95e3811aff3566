"""Completion scripts of shells. Each asks `palazzo __complete WORD...` for the values of the last word.

The answer has one value a line, with a tab and a description if there is one. The line `:files` asks for files.
"""

from __future__ import annotations

_BASH = r"""# Completion of palazzo for bash; 'palazzo completion bash' prints it.
_palazzo() {
    local line file
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
    done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _palazzo palazzo
"""

_ZSH = r"""#compdef palazzo
# Completion of palazzo for zsh; 'palazzo completion zsh' prints it.
_palazzo() {
    local line
    local -a values
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            _files
        else
            values+=("${${line//:/\\:}/$'\t'/:}")
        fi
    done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    (( $#values )) && _describe -t values palazzo values
}
if [[ $funcstack[1] == _palazzo ]]; then
    _palazzo "$@"
else
    compdef _palazzo palazzo
fi
"""

_FISH = r"""# Completion of palazzo for fish; 'palazzo completion fish' prints it.
function __palazzo_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c palazzo -f -a '(__palazzo_complete)'
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}

ZSH_LINES = """
# Completion of palazzo, added by 'palazzo completion zsh --install'
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}
[[ -r {file} ]] && source {file}
"""
"""The end of a .zshrc that reads the script: zsh has no directory of a user's own completions."""
