package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
	"github.com/ufs-stream/ufs-stream/methods"
)

var flagInText = regexp.MustCompile(`(?:^|[ (])--([a-z][a-z-]+)`)

// foreignFlag is a flag in the remedy of an error that the run cannot take: the verb has none of that name, and
// no verb that the remedy names, or it is a setting of other methods. Empty where there is none. A remedy stands
// behind the first semicolon.
func foreignFlag(args []string, code int, errors string) string {
	if len(args) == 0 || !slices.Contains([]int{exit.Fault, exit.Data, exit.Memory, exit.Unconverged}, code) {
		return ""
	}
	root := newRoot(new(cli))
	verb, _, err := root.Find(args)
	if err != nil || verb == root {
		return ""
	}
	method := methods.Fallback
	if at := slices.Index(args, "--method"); at >= 0 && at+1 < len(args) {
		method = args[at+1]
	}
	for _, line := range strings.Split(errors, "\n") {
		said, isError := strings.CutPrefix(line, "ufs-stream: ")
		_, remedy, _ := strings.Cut(said, "; ")
		if !isError {
			continue
		}
		for _, found := range flagInText.FindAllStringSubmatch(remedy, -1) {
			name := found[1]
			elsewhere := slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool {
				return c != verb && regexp.MustCompile(`\b`+c.Name()+`\b`).MatchString(remedy) && c.Flag(name) != nil
			})
			knowing := methods.Names(methods.Knowing(methods.All(), name))
			switch {
			case elsewhere:
			case verb.Flag(name) == nil && verb.InheritedFlags().Lookup(name) == nil:
				return fmt.Sprintf("--%s, which %s has not", name, verb.Name())
			case len(knowing) > 0 && !slices.Contains(knowing, method) && verb.Name() != "eval":
				return fmt.Sprintf("--%s, which method %s does not take", name, method)
			}
		}
	}
	return ""
}

// TestRemediesAreTaken: for every method, limits of memory and scratch space that are too low end with remedies, and
// the run takes each flag that they name, with the value beside it. That no other error names a flag which its verb
// or method does not take, invoke itself watches.
func TestRemediesAreTaken(t *testing.T) {
	at := folder(t)
	table := tabletest.NewFactors("groups", 1, 2, 3000, 40, 4)
	file := columnsFile(t, at("a.parquet"), table.Names, table.Cols...)
	tried := 0
	for _, method := range append([]string{""}, methods.Names(methods.All())...) {
		for i, verb := range []string{"plan", "select", "path", "scan"} {
			if !long.TakesCase(i, 2) {
				continue
			}
			for _, limit := range [][]string{{"--memory-limit", "12MiB"}, {"--memory-limit", "28MiB", "--max-temp-size", "1KiB"}} {
				args := append([]string{verb, file}, limit...)
				if method != "" {
					args = append(args, "--method", method)
				}
				if verb == "scan" {
					args = append(args, "-o", at("a.ufs"))
				} else {
					args = append(args, "-k", "3")
				}
				r := invoke(args...)
				if r.code != exit.Memory {
					continue
				}
				_, remedy, _ := strings.Cut(r.err, "; ")
				for _, found := range regexp.MustCompile(`--([a-z-]+)(?: ([0-9a-zA-Z.%]+))?`).FindAllStringSubmatch(remedy, -1) {
					value := found[2]
					if value == "" || value == "auto" && found[1] != "sketch" {
						value = map[string]string{"temp-dir": filepath.Dir(file), "checkpoint": at("state"), "sample": "100"}[found[1]]
					}
					tried++
					if verb != "plan" { // invoke has looked whether the verb and the method know it
						continue
					}
					if again := invoke(append(args, "--"+found[1], value)...); again.code == exit.Usage {
						t.Errorf("%q ends with\n%s but with --%s %s\n%s", args, r.err, found[1], value, again.err)
					}
				}
			}
		}
	}
	if tried < long.CountCases(20, 40) {
		t.Errorf("only %d remedies were tried", tried)
	}
}
