package program

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Build describes the source from which this program was built, and its platform.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`   // empty if Go did not record the commit
	Date    string `json:"date"`     // date of the commit
	Changed bool   `json:"modified"` // the source was changed after the commit
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// CurrentBuild describes this program, which belongs to the given release.
func CurrentBuild(release string) Build {
	b := Build{Version: release, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
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

// VersionText returns the release, followed by the commit if Go recorded it.
func (b Build) VersionText() string {
	text := b.Version
	if len(b.Commit) >= 12 {
		text += "+" + b.Commit[:12]
	}
	if b.Changed {
		text += "-dirty"
	}
	return text
}

// PrintVersion prints the version of the program that cmd belongs to, in a line.
func PrintVersion(cmd *cobra.Command, release string) error {
	b := CurrentBuild(release)
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s (%s, %s/%s)\n", cmd.Root().Name(), b.VersionText(), b.Go, b.OS, b.Arch)
	return err
}

// AddVersionFlag adds --version to the root command. On other verbs --version is the version of a Delta table.
func AddVersionFlag(root *cobra.Command, release string) {
	show := root.Flags().Bool("version", false, "print the version")
	help := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if !*show || len(args) > 0 { // on a verb, --version is that of a Delta table
			return help(cmd, args)
		}
		return PrintVersion(cmd, release)
	}
}
