package program

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/stream"
)

// changeArgs returns arguments with changes. It returns nil if the changes have no effect on the arguments, or if the data
// comes from standard input, which a copied command would not have.
func changeArgs(flags *pflag.FlagSet, args []string, changes []stream.Change) []string {
	changed := slices.Clone(args)
	for _, change := range changes {
		if change.Option == "" {
			changed = replaceWord(changed, change.Word)
		} else {
			changed = changeOption(flags, changed, change)
		}
	}
	if len(changes) == 0 || slices.Equal(changed, args) || slices.Contains(args, "-") {
		return nil
	}
	return changed
}

// replaceWord replaces a word that is an argument, a flag, its value or an element of that. It returns nil unless there
// is exactly one such word.
func replaceWord(args []string, word stream.Correction) (changed []string) {
	found := 0
	for _, arg := range args {
		start := ""
		if flag, value, isFlag := strings.Cut(arg, "="); isFlag && arg != word.Unknown && strings.HasPrefix(arg, "-") {
			if flag == word.Unknown {
				flag = word.Known
				found++
			}
			start, arg = flag+"=", value
		}
		list := strings.Split(arg, ",")
		for i, element := range list {
			if element == word.Unknown {
				list[i] = word.Known
				found++
			}
		}
		changed = append(changed, start+strings.Join(list, ","))
	}
	if found != 1 {
		return nil
	}
	return changed
}

// changeOption changes an option at its place, or adds it at the end. It returns nil if the flags lack it.
func changeOption(flags *pflag.FlagSet, args []string, change stream.Change) (changed []string) {
	flag := flags.Lookup(change.Option)
	if flag == nil && len(change.Option) == 1 {
		flag = flags.ShorthandLookup(change.Option)
	}
	if flag == nil {
		return nil
	}
	_, isList := flag.Value.(pflag.SliceValue) // takes one more value in one more flag
	isList = isList && !change.Leave
	words := []string{FlagOf(change.Option)}
	switch {
	case change.Leave:
		words = nil
	case change.Value == "":
	case flag.NoOptDefVal != "" || strings.HasPrefix(change.Value, "-"):
		words[0] += "=" + change.Value
	default:
		words = append(words, change.Value)
	}
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(append(changed, words...), args[i:]...)
		}
		given, letters, width := flagAt(flags, args[i])
		end := min(i+width, len(args))
		if given == flag && !isList {
			if letters != "" {
				changed = append(changed, letters)
			}
			changed, words = append(changed, words...), nil
		} else {
			changed = append(changed, args[i:end]...)
		}
		i = end - 1
	}
	return append(changed, words...)
}

// flagAt returns the flag that an argument sets, or nil, and the number of arguments that it takes with its value. If
// the argument has several letters, it returns the flag of the last one, and the others.
func flagAt(flags *pflag.FlagSet, arg string) (flag *pflag.Flag, letters string, width int) {
	name, isLong := strings.CutPrefix(arg, "--")
	name, _, hasValue := strings.Cut(name, "=")
	switch {
	case isLong:
		flag = flags.Lookup(name)
	case len(arg) > 1 && arg[0] == '-':
		for i := 1; i < len(arg); i++ {
			flag, letters, hasValue = flags.ShorthandLookup(arg[i:i+1]), arg[:i], i+1 < len(arg)
			if flag == nil || flag.NoOptDefVal == "" {
				break
			}
		}
	}
	if letters == "-" {
		letters = ""
	}
	if flag == nil || hasValue || flag.NoOptDefVal != "" {
		return flag, letters, 1
	}
	return flag, letters, 2
}
