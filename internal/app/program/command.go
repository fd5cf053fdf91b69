package program

import (
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// MakeGroup makes cmd a command that only has subcommands. Without a subcommand it shows its help, and an unknown one
// is an error. Error messages use noun for a subcommand, such as "verb".
func MakeGroup(cmd *cobra.Command, noun string) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		known := convert.Each(cmd.Commands(), func(sub *cobra.Command) string { return sub.Name() })
		return stream.Usagef("unknown %s %q%v", noun, args[0], nearestOrHelp(cmd, args[0], known))
	}
}

// newHelpCommand returns cobra's help command, changed so that an unknown verb is an error. If writeJSON is not nil, the
// command can also write the help as JSON.
func newHelpCommand(writeJSON func(named *cobra.Command) error) *cobra.Command {
	var format string
	help := &cobra.Command{
		Use:   "help [verb]",
		Short: "Show the help of a verb",
		RunE: func(cmd *cobra.Command, args []string) error {
			named, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if named.HasSubCommands() && len(rest) > 0 {
				return named.RunE(named, rest) // reports the unknown verb
			}
			named.InitDefaultHelpFlag()
			switch {
			case format == "text":
				return named.Help()
			case format == "json" && writeJSON != nil:
				return writeJSON(named)
			}
			return stream.Usagef("--format %s: want text, json", format)
		},
	}
	help.Flags().StringVar(&format, "format", "text", "text, json (verbs, flags, methods and input formats, for programs)")
	help.Flags().Lookup("format").Hidden = writeJSON == nil
	return help
}

// AtLeastOne requires one argument or more. Error messages use the given noun for an argument, such as "file".
func AtLeastOne(noun string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return stream.Usagef("%s: no %s given; %s", cmd.Name(), noun, UsageLine(cmd))
		}
		return nil
	}
}

// NoArgs refuses arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return stream.Usagef("%s takes no argument, got %q; %s", cmd.Name(), args[0], UsageLine(cmd))
	}
	return nil
}

// UsageLine returns the syntax of cmd, for error messages.
func UsageLine(cmd *cobra.Command) string { return "usage: " + cmd.UseLine() }

// nearestOrHelp suggests a similar known name, or else the help, which lists all names.
func nearestOrHelp(cmd *cobra.Command, name string, known []string) stream.Text {
	if near := suggest.DidYouMean(name, known); near.Known != "" {
		return stream.Textf("%v", near)
	}
	return stream.Textf("; see %s --help", cmd.CommandPath())
}
