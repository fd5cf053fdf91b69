package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/disk/localfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The default of a flag is the value of an environment variable, or else a value in the file that --config names. Both
// have the same form as the value of the flag.

// variablePrefix begins the names of all variables: UFS_STREAM_MEMORY_LIMIT is the default of --memory-limit.
const variablePrefix = "UFS_STREAM_"

func variableName(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// cannotHaveDefault reports whether the flag cannot have a default. For instance, UFS_STREAM_VERSION would be
// ambiguous, because verbs have different flags --version.
func cannotHaveDefault(flag string) bool {
	return flag == "help" || flag == "version" || flag == "config"
}

// isOtherVariable reports whether other code or tests read a variable with our prefix, so that it is no default of a
// flag.
func isOtherVariable(name string) bool {
	return name == variablePrefix+"KERNEL" || name == variablePrefix+"CONFIG" || strings.HasPrefix(name, variablePrefix+"TEST_")
}

// flagDefault is the default of a flag, with its source: the name of the variable, or the line of the file.
type flagDefault struct {
	flag, value, source string
}

// applyDefaultsToVerbs changes every verb below root so that it applies its defaults before it checks its arguments.
func applyDefaultsToVerbs(c *cli, root *cobra.Command) {
	for _, cmd := range root.Commands() {
		check := cmd.Args
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := applyDefaults(c, cmd); err != nil {
				return err
			}
			if check == nil {
				return nil
			}
			return check(cmd, args)
		}
		runVerb := cmd.RunE
		if runVerb == nil {
			continue
		}
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			err := runVerb(cmd, args)
			// A usage error may be due to a default. Name the defaults, because they are not on the command line.
			if errors.As(err, new(*stream.UsageError)) && len(c.defaultsTaken) > 0 {
				err = stream.Usagef("%w; not from the command line but from defaults: %s", err, strings.Join(c.defaultsTaken, ", "))
			}
			return err
		}
	}
}

func applyDefaults(c *cli, cmd *cobra.Command) error {
	variables := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return !strings.HasPrefix(v, variablePrefix) || isOtherVariable(strings.SplitN(v, "=", 2)[0])
	})
	config := cmp.Or(cmd.Flag("config").Value.String(), os.Getenv(variableName("config")))
	if len(variables) == 0 && config == "" {
		return nil
	}
	known := knownFlagNames(newRoot(new(cli)))
	list, warnings := defaultsFromEnvironment(variables, known)
	if config != "" {
		more, err := defaultsFromConfig(cmd.Context(), config, known)
		if err != nil {
			return err
		}
		list = append(list, more...)
	}
	for _, s := range list {
		f := cmd.Flags().Lookup(s.flag)
		if f == nil || f.Changed { // the verb does not have the flag, or a source of higher priority has set it
			continue
		}
		if err := cmd.Flags().Set(s.flag, s.value); err != nil {
			return stream.Usagef("%s: %s %s: %w", s.source, program.FlagOf(s.flag), s.value, program.ExpectedValue(err))
		}
		if s.flag == "messages" { // no error is due to it
			continue
		}
		c.defaultsTaken = append(c.defaultsTaken, fmt.Sprintf("%s %s from %s", program.FlagOf(s.flag), screen.Redact(s.value), s.source))
	}
	if out := cmd.Flags().Lookup("output"); config != "" && out != nil && out.Value.String() != "" {
		if err := atomicfile.CheckNotInput(cmd.Context(), out.Value.String(), config); err != nil {
			return err
		}
	}
	c.warn(warnings)
	for _, s := range c.defaultsTaken {
		c.printRemarkIfVerbose("%s", s)
	}
	return nil
}

// knownFlagNames returns the names of the flags of all verbs, except the flags that cannot have a default.
func knownFlagNames(root *cobra.Command) (names []string) {
	add := func(f *pflag.Flag) {
		if !cannotHaveDefault(f.Name) && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	root.PersistentFlags().VisitAll(add)
	for _, cmd := range root.Commands() {
		cmd.LocalFlags().VisitAll(add)
	}
	return names
}

// defaultsFromEnvironment finds defaults in variables. It warns about variables with our prefix that match no flag.
func defaultsFromEnvironment(variables, known []string) (list []flagDefault, warnings []string) {
	flags := make(map[string]string, len(known))
	var names []string
	for _, flag := range known {
		flags[variableName(flag)] = flag
		names = append(names, variableName(flag))
	}
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		switch flag := flags[name]; {
		case flag != "" && value != "":
			list = append(list, flagDefault{flag, value, name})
		case flag == "":
			warnings = append(warnings, fmt.Sprintf("%s in the environment matches no flag%s", name, suggest.DidYouMean(name, names)))
		}
	}
	return list, warnings
}

// defaultsFromConfig reads defaults from a file. A line contains the name of a flag, a colon or =, and the value, with
// or without quotes. Comments begin with #.
func defaultsFromConfig(ctx context.Context, path string, known []string) ([]flagDefault, error) {
	f, err := localfile.Open(ctx, path)
	if err != nil {
		return nil, stream.Usagef("--config %s cannot be read: %v", path, err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, stream.Usagef("--config %s cannot be read: %v", path, errWithoutPath(err))
	}
	var list []flagDefault
	for i, line := range strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
		at := fmt.Sprintf("%s:%d", path, i+1)
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line == "---" {
			continue
		}
		end := strings.IndexAny(line, ":=")
		if end < 1 {
			return nil, stream.Usagef("%s: %q: want flag: value, as memory-limit: 4GiB; separate several values by commas", at, screen.CutMiddle(line))
		}
		flag := strings.TrimSpace(line[:end])
		named := screen.CutMiddle(flag)
		value, err := parseConfigValue(strings.TrimSpace(line[end+1:]))
		switch {
		case err != nil:
			return nil, stream.Usagef("%s: %s: %v", at, named, err)
		case !slices.Contains(known, flag):
			return nil, stream.Usagef("%s: no flag --%s can have a default%s", at, named, suggest.DidYouMean(named, known))
		case slices.ContainsFunc(list, func(s flagDefault) bool { return s.flag == flag }):
			return nil, stream.Usagef("%s: %s is set a second time", at, named)
		}
		list = append(list, flagDefault{flag, value, at})
	}
	return list, nil
}

func parseConfigValue(s string) (string, error) {
	switch {
	case s == "":
		return "", fmt.Errorf("there is no value; to leave the flag alone put # before the line")
	case s[0] == '[' || s[0] == '{' || s[0] == '|' || s[0] == '>':
		return "", fmt.Errorf("%s: want the value as on the command line, several with commas; one that begins so in quotes", screen.CutMiddle(s))
	case s[0] == '"' || s[0] == '\'':
		quoted, rest, ok := cutQuoted(s)
		if rest = strings.TrimSpace(rest); !ok || rest != "" && rest[0] != '#' {
			return "", fmt.Errorf("%s: the value must end with its quote", screen.CutMiddle(s))
		}
		return quoted, nil
	}
	if at := strings.Index(s, " #"); at >= 0 {
		s = strings.TrimSpace(s[:at])
	}
	return s, nil
}

// cutQuoted returns the quoted value at the beginning of s, and the rest. "…" may contain escapes, '…' may not.
func cutQuoted(s string) (value, rest string, ok bool) {
	if s[0] == '"' {
		prefix, err := strconv.QuotedPrefix(s)
		if err != nil {
			return "", "", false
		}
		value, err = strconv.Unquote(prefix)
		return value, s[len(prefix):], err == nil
	}
	return strings.Cut(s[1:], "'")
}

// errWithoutPath removes the file name from an error of package os.
func errWithoutPath(err error) error {
	if p, ok := err.(*os.PathError); ok { //nolint:errorlint // os returns it unwrapped
		return p.Err
	}
	return err
}
