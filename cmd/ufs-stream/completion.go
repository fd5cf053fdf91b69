package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/app/recipe"
	"github.com/ufs-stream/ufs-stream/internal/app/shell"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func newCompletion(c *cli) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a completion script for your shell",
		Long: `Print a completion script. To load it in the running shell:

  bash:       source <(ufs-stream completion bash)
  zsh:        source <(ufs-stream completion zsh)
  fish:       ufs-stream completion fish | source
  powershell: ufs-stream completion powershell | Out-String | Invoke-Expression

It completes names of columns that no shell treats specially: letters of all scripts, digits,
_ and, after the first character, . : / @ % + = - . Type other names yourself, in quotes.`,
		ValidArgs: shells,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return stream.Usagef("completion: one shell at a time; %s", program.UsageLine(cmd))
			}
			return program.AtLeastOne("shell")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(c.out, true)
			case "zsh":
				return root.GenZshCompletion(c.out)
			case "fish":
				return writeFishCompletion(root, c.out)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(c.out)
			}
			return stream.Usagef("no completion for shell %q%s", args[0], suggest.DidYouMean(args[0], shells))
		},
	}
}

// unquotedArgs is a line of cobra's script for fish. It removes the quotes from the typed words, which the script then
// evaluates. So if a file is named (touch x).csv, the script would run touch, although fish had quoted it.
const unquotedArgs = "    set -l args (commandline -opc)\n"

// quotedArgs is used instead of unquotedArgs. It quotes every word except plain words, home folders and variables.
const quotedArgs = `    set -l args
    for arg in (commandline -opc)
        string match -qr '^[\w.:/@%+,=~$-]+$' -- $arg; or set arg (string escape -- $arg)
        set -a args $arg
    end
`

// writeFishCompletion writes cobra's script for fish with quotedArgs for unquotedArgs, so that it evaluates no typed
// words.
func writeFishCompletion(root *cobra.Command, w io.Writer) error {
	var script bytes.Buffer
	if err := root.GenFishCompletion(&script, true); err != nil {
		return err
	}
	before, after, found := strings.Cut(script.String(), unquotedArgs)
	if !found {
		return errors.New("cobra's script for fish has changed: check how it evaluates typed words")
	}
	_, err := io.WriteString(w, before+quotedArgs+after)
	return err
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
	completeColumns := func(several bool, flags ...string) {
		for _, name := range flags {
			if cmd.LocalFlags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, columnCompletion(several))
			}
		}
	}
	completeColumns(false, request.OptionNames(request.NamesColumn)...)
	completeColumns(true, append(request.OptionNames(request.NamesColumns), "also")...)
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
func columnCompletion(acceptsList bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		directive := cobra.ShellCompDirectiveNoFileComp
		before := ""
		if acceptsList {
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
