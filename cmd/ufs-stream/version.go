package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/ufs"
)

func newVersion(c *cli) *cobra.Command {
	format := newChoiceFlag("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print version, Go version and platform",
		Args:  program.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format.value == "json" {
				return print.WriteJSON(c.out, program.CurrentBuild(ufs.Release))
			}
			return program.PrintVersion(cmd, ufs.Release)
		},
	}
	cmd.Flags().Var(&format, "format", strings.Join(format.allowed, ", "))
	return cmd
}

func versionText() string { return program.CurrentBuild(ufs.Release).VersionText() }
