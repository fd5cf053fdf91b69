package main

import (
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
  powershell: ufs-stream completion powershell | Out-String | Invoke-Expression`,
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
				return root.GenFishCompletion(c.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(c.out)
			}
			return stream.Usagef("no completion for shell %q%s", args[0], program.DidYouMean(args[0], shells))
		},
	}
}
