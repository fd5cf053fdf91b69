package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
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
		RunE: func(*cobra.Command, []string) error {
			if format.value == "json" {
				return print.WriteJSON(c.out, currentBuild())
			}
			_, err := fmt.Fprintln(c.out, versionLine())
			return err
		},
	}
	cmd.Flags().Var(&format, "format", strings.Join(format.allowed, ", "))
	return cmd
}

// addVersionFlag adds --version to the root command. On other verbs --version is the version of a Delta table.
func addVersionFlag(root *cobra.Command, c *cli) {
	show := root.Flags().Bool("version", false, "print the version, as the verb does")
	help := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if !*show || len(args) > 0 { // on a verb, --version is that of a Delta table
			return help(cmd, args)
		}
		_, err := fmt.Fprintln(c.out, versionLine())
		return err
	}
}

// buildInfo describes the source from which this program was built, and its platform.
type buildInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`   // empty if Go did not record the commit
	Date    string `json:"date"`     // date of the commit
	Changed bool   `json:"modified"` // the source was changed after the commit
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func currentBuild() buildInfo {
	b := buildInfo{Version: ufs.Release, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Changed = s.Value == "true"
		}
	}
	return b
}

func versionLine() string {
	return fmt.Sprintf("ufs-stream %s (%s, %s/%s)", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// versionText returns the release, followed by the commit if Go recorded it.
func versionText() string {
	b := currentBuild()
	text := b.Version
	if len(b.Commit) >= 12 {
		text += "+" + b.Commit[:12]
	}
	if b.Changed {
		text += "-dirty"
	}
	return text
}
