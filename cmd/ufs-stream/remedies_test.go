package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	mustbe "github.com/ufs-stream/ufs-stream/internal/testing/must"
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
				for _, found := range regexp.MustCompile(`--([a-z-]+)(?: ([0-9a-zA-Z_.%]+))?`).FindAllStringSubmatch(remedy, -1) {
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

// retryCommand returns the command that an error ends with, or "".
func retryCommand(errors string) string {
	_, after, _ := strings.Cut(errors, "\ntry:\n  ")
	command, _, _ := strings.Cut(after, "\n")
	return command
}

// TestRetriesArePasted: an error that decides how the run succeeds ends with its whole command, and a shell runs that.
// The row "" is a command that errors decide nothing for.
func TestRetriesArePasted(t *testing.T) {
	at := folder(t)
	table := tabletest.NewFactors("groups", 1, 2, 3000, 40, 4)
	file := columnsFile(t, at("a b's.parquet"), table.Names, table.Cols...)
	mustbe.Do(t, os.Mkdir(at("parts"), 0o777))
	columnsFile(t, at("parts/1.parquet"), table.Names, table.Cols...)
	columnsFile(t, at("parts/2.parquet"), append([]string{"other"}, table.Names[1:]...), table.Cols...)
	csv := write(t, at("rows.csv"), "x,y,site\n"+strings.Repeat("1,2,a\n2,5,b\n4,1,a\n", 30))
	must(t, "scan", file, "-o", at("all.ufs"))
	t.Setenv(asProgram, "1")
	first, last := table.Names[0], table.Names[len(table.Names)-1]
	type failure struct {
		args    []string
		changed string // a part of the command
	}
	for _, c := range long.TakeCases(2, []failure{
		{[]string{"selct", file, "-k", "3"}, "select '"},
		{[]string{"select", file, "--metod", "greedy", "-k3"}, "--method greedy -k3"},
		{[]string{"select", file, "--metod=greedy", "-k3"}, "--method=greedy -k3"},
		{[]string{"select", file, "--method", "gredy", "-k3"}, "--method greedy"},
		{[]string{"select", file, "--format=jsn", "-k3"}, "--format=json"},
		{[]string{"select", file, "--missing", "eror", "-k3"}, "--missing error"},
		{[]string{"select", file, "--scale", "standrd", "-k3"}, "--scale standard"},
		{[]string{"select", csv, "--label", "sitee", "-k1"}, "--label site"},
		{[]string{"select", file, "--columns", first + "," + last + "_", "-k1"}, first + "," + last},
		{[]string{"select", file, "--where", "x > 1", "-k3"}, ""},
		{[]string{"select", file, "-k", "3", "--memory-limit", "12MiB"}, "-k 3 --memory-limit "},
		{[]string{"select", file, "-vk3", "--memory-limit=12MiB", "--method", "sfufs"}, "-vk3 --memory-limit "},
		{[]string{"select", at("parts"), "-k", "3"}, "--union-by-name"},
		{[]string{"select", file, "-k", "3", "--method", "eufs", "--missing", "pairwise"}, "--missing mean"},
		{[]string{"select", file, "-k", "3", "--method", "eufs", "--stability"}, "--method eufs"},
		{[]string{"select", file, "-k", "3", "--method", "greedy", "--sketch", "100", "--stability=4"}, "--sketch 100"},
		{[]string{"select", file, "-k", "3", "--method", "greedy", "--sketch", "100", "--missing", "pairwise"}, "--missing mean"},
		{[]string{"select", file, "-k", "auto", "--method", "greedy", "--sketch", "100"}, "-k auto --method greedy"},
		{[]string{"select", file, "-k", "3", "--method", "greedy", "--sketch", "100", "--refine", "swap"}, "--sketch 100"},
		{[]string{"select", file, "-k", "3", "--method", "eufs", "--graph", "knn", "--anchors", "20"}, "--graph anchor --anchors 20"},
		{[]string{"select", file, "-k", "3", "--method", "graphgreedy", "--target", "spectral", "--smooth", "2"}, "--target spectral"},
		{[]string{"select", file, "-k", "3", "--method", "greedy", "--perplexity", "2"}, ""},
		{[]string{"select", file, "-k", "3", "--method", "sfufs", "--sigma", "2"}, "--method eufs"},
		{[]string{"select", "--stats", at("all.ufs"), "-k", "3", "--method", "greedy", "--as-of", "2026-01-01"}, "--method greedy"},
		{[]string{"select", "--stats", at("all.ufs"), "-k", "3", "--method", "greedy", "--passes", "1"}, "--method greedy"},
		{[]string{"select", "--stats", at("all.ufs"), "-k", "3", "--method", "greedy", "--stability"}, "--method greedy"},
		{[]string{"select", "-", "-k", "3", "--method", "gredy"}, ""},
		{[]string{"select", file, "-q", "-k", "3", "--method", "gredy"}, ""},
		{[]string{"scan", file, "-o", at("b.ufs"), "--sketch", "100", "--profile-only"}, "--sketch 100"},
		{[]string{"plan", file, "-k", "3", "--cores", "3"}, "--machines 1,10,100"},
		{[]string{"eval", file, "--selection", "x032", "-k", "0"}, ""},
		{[]string{"select", file, "-k", "-1"}, ""},
	}) {
		r := invoke(c.args...)
		command := retryCommand(r.err)
		if r.code == exit.Done || !strings.Contains(command, c.changed) || c.changed == "" && command != "" {
			t.Errorf("%q: exit code %d, and the command %s; want one with %q\n%s", c.args, r.code, command, c.changed, r.err)
			continue
		}
		if command == "" {
			continue
		}
		if out, err := exec.Command("bash", "-c", command).CombinedOutput(); err != nil { //nolint:gosec // this is what users do
			t.Errorf("%q ends with\n%s, and that with %v:\n%s", c.args, r.err, err, out)
		}
	}
}
