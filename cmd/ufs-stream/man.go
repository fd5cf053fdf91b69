package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// newMan returns the verb that writes manual pages, for distribution packages. It writes roff directly, because cobra's
// writer converts from Markdown and would link three more modules.
func newMan(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages to a folder, for packages",
		Hidden: true,
		Args:   program.AtLeastOne("folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := place.LocalPath(args[0])
			if err != nil {
				return err
			}
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return &stream.OutputError{Path: dir, Err: err}
			}
			root := newRoot(new(cli))
			for _, page := range append([]*cobra.Command{root}, root.Commands()...) {
				if page.Hidden || page.Name() == "help" {
					continue
				}
				path := place.JoinBelow(dir, manPageName(page)+".1")
				if err := renderToFile(cmd.Context(), path, func(w io.Writer) error { return writeManPage(w, page) }); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func manPageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// writeManPage writes the page of a verb, or of the program, in roff. It has no date, so that builds are reproducible.
func writeManPage(w io.Writer, cmd *cobra.Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 \"\" %q\n", strings.ToUpper(manPageName(cmd)), "ufs-stream "+versionText())
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escapeRoff(manPageName(cmd)), escapeRoff(cmd.Short))
	if cmd.Runnable() {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n", escapeRoff(cmd.UseLine()))
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n.nf\n%s\n.fi\n", escapeRoff(cmd.Long))
	cmd.InitDefaultHelpFlag()
	if cmd.Runnable() {
		b.WriteString(".SH OPTIONS\n")
		for _, g := range groupFlags(cmd) {
			if hasGroupedHelp(cmd) {
				fmt.Fprintf(&b, ".SS %s\n", g.title)
			}
			for _, name := range g.flags {
				writeManFlag(&b, cmd.Flags().Lookup(name))
			}
		}
	}
	if cmd.HasParent() {
		b.WriteString(".SH OPTIONS OF EVERY VERB\n")
		cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { writeManFlag(&b, f) })
	}
	b.WriteString(".SH SEE ALSO\n")
	var others []string
	for _, other := range append([]*cobra.Command{cmd.Root()}, cmd.Root().Commands()...) {
		if other != cmd && !other.Hidden && other.Name() != "help" {
			others = append(others, ".BR "+escapeRoff(manPageName(other))+" (1)")
		}
	}
	b.WriteString(strings.Join(others, " ,\n") + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func writeManFlag(b *strings.Builder, f *pflag.Flag) {
	if f == nil {
		return
	}
	value, usage := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "[]" {
		usage += " (default " + d + ")"
	}
	fmt.Fprintf(b, ".TP\n.BR \"%s\" \" %s\"\n%s\n", escapeRoff(name), escapeRoff(value), escapeRoff(usage))
}

func escapeRoff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	var b strings.Builder
	for _, r := range strings.Join(lines, "\n") {
		if r > unicode.MaxASCII {
			fmt.Fprintf(&b, `\[u%04X]`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
