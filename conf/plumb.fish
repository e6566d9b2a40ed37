# Fish completion of plumb: the program itself says what fits (plumb --complete), so that this knows what the installed
# version knows, and the hosts, functions and applications that its plumbd has. Installed as
# /usr/share/fish/vendor_completions.d/plumb.fish.

function __plumb_offered
    set -l words (commandline -opc)
    set -e words[1]
    set -l typed (commandline -ct)
    for line in (plumb --complete $words "$typed" 2>/dev/null)
        if test "$line" != ":files"
            echo $line
            continue
        end
        set -l before (string match -r -- '^--[^=]*=' "$typed")
        for file in (__fish_complete_path (string replace -- "$before" '' "$typed"))
            echo "$before$file"
        end
    end
end

complete -c plumb -f -a '(__plumb_offered)'
