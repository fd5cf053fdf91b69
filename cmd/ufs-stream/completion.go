package main

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/program"
	"github.com/ufs-stream/ufs-stream/stream"
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
			return stream.Usagef("no completion for shell %q%s", args[0], program.DidYouMean(args[0], shells))
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

// writeFishCompletion writes cobra's script for fish with quotedArgs instead of unquotedArgs, so that it does not
// evaluate typed words.
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
