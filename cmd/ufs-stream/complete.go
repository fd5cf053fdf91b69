package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/internal/recipe"
	"github.com/ufs-stream/ufs-stream/internal/shell"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// columnFlags lists the flags whose values are column names. The first two accept one name, the others several.
func columnFlags() []string {
	return []string{"label", "weight", "columns", "exclude", "keep", "also", "forbid", "categorical"}
}

// setAllowedValues records the allowed values of a flag, for shell completion.
func setAllowedValues(fs *pflag.FlagSet, flag string, allowed ...string) {
	fs.Lookup(flag).Annotations = map[string][]string{valuesAnnotation: allowed}
}

const valuesAnnotation = "values" // key of a flag's annotation

func registerCompletions(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		registerCompletions(sub)
	}
	complete := func(f *pflag.Flag, list ...string) {
		if len(list) > 0 {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)) // fails if the flag does not exist
		}
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		complete(f, f.Annotations[valuesAnnotation]...)
		switch v := f.Value.(type) {
		case *choiceFlag:
			complete(f, v.allowed...)
		case *optionFlag:
			complete(f, v.option.Allowed...)
		}
		switch f.Name {
		case "method":
			var list []string
			for _, s := range methods.All() {
				list = append(list, cobra.CompletionWithDesc(s.Name, s.About))
			}
			complete(f, list...)
		case "dialect":
			complete(f, recipe.Dialects()...)
		}
	})
	for i, name := range columnFlags() {
		if cmd.LocalFlags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, columnCompletion(i > 1))
		}
	}
}

const (
	// completionTimeout is the longest time for which completion may read footers while the shell waits.
	completionTimeout = 2 * time.Second
	maxCompletions    = 1000
)

// plainTypeName returns the name of a type if it consists of plain words and brackets, otherwise "". The time zone in
// the name of a type comes from a file and may be any text.
func plainTypeName(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(" []()<>", r) })
	if slices.ContainsFunc(words, func(word string) bool { return !shell.IsPlain(word) }) {
		return ""
	}
	return name
}

// columnCompletion completes column names from the inputs typed so far, or from the file of --stats. If the input
// cannot be read, it suggests no names. It only suggests names without special characters, because bash inserts the
// common beginning of several names without quotes, and evaluates the line at the next completion.
func columnCompletion(several bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		directive := cobra.ShellCompDirectiveNoFileComp
		before := ""
		if several {
			directive |= cobra.ShellCompDirectiveNoSpace
			if at := strings.LastIndexByte(begun, ','); at >= 0 {
				before, begun = begun[:at+1], begun[at+1:]
			}
		}
		if stats := cmd.Flag("stats"); stats != nil && stats.Value.String() != "" {
			args = []string{stats.Value.String()}
		}
		if len(args) == 0 || args[0] == "-" {
			return nil, directive
		}
		ctx := cmd.Context()
		if ctx == nil { // cobra calls completions without a context
			ctx = context.Background()
		}
		ctx, cancel := context.WithTimeout(ctx, completionTimeout)
		defer cancel()
		q := ufs.Request{Input: ufs.Input{Paths: args, Stdin: strings.NewReader("")}}
		if a := cmd.Flag("anonymous"); a != nil {
			q.Input.Anonymous = a.Value.String() == "true"
		}
		seen, err := ufs.Inspect(ctx, q, false)
		if err != nil {
			return nil, directive
		}
		var names []string
		for _, c := range seen.Columns {
			if strings.HasPrefix(c.Name, begun) && shell.IsPlain(c.Name) && !strings.Contains(c.Name, ",") && len(names) < maxCompletions {
				names = append(names, cobra.CompletionWithDesc(before+c.Name, plainTypeName(c.Type)))
			}
		}
		return names, directive
	}
}
