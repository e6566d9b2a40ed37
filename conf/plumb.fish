# Fish completion of plumb: asks the program itself for its commands, options and their choices (plumb --words), so that it
# knows what the installed version knows. Installed as /usr/share/fish/vendor_completions.d/plumb.fish.

# The command among the words so far; nothing: there is none yet.
function __plumb_command
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]
        switch $words[1]
            case --server --store --color
                set -e words[1]
            case '-*'
            case '*'
                echo $words[1]
                return 0
        end
        set -e words[1]
    end
    return 1
end

# Options of a command ("--": of all), "--sort=" with a line for each choice behind it.
function __plumb_options
    set -l command (__plumb_command)
    test -n "$command"; or set command --
    for line in (plumb --words $command 2>/dev/null)
        set -l words (string split ' ' -- $line)
        if set -q words[2]
            for choice in $words[2..-1]
                echo $words[1]$choice
            end
        else
            echo $words[1]
        end
    end
end

# Choices of the option before: "--sort ca".
function __plumb_choices
    set -l before (commandline -opc)[-1]
    set -l command (__plumb_command)
    test -n "$command"; or set command --
    string match -q -- '--*' $before; or return 1
    for line in (plumb --words $command 2>/dev/null)
        set -l words (string split ' ' -- $line)
        if test "$words[1]" = "$before=" -a (count $words) -gt 1
            printf '%s\n' $words[2..-1]
            return 0
        end
    end
    return 1
end

complete -c plumb -n 'not __plumb_command >/dev/null' -a '(plumb --words 2>/dev/null) help'
complete -c plumb -n 'test "$(__plumb_command)" = help' -a '(plumb --words 2>/dev/null)'
complete -c plumb -a '(__plumb_choices)'
complete -c plumb -n 'string match -q -- "-*" (commandline -ct)' -a '(__plumb_options)'
