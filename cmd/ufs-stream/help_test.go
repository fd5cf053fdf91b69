package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/convert"
	mustbe "github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// shortHelpLines is the greatest number of lines that -h shows.
const shortHelpLines = 40

// TestShortHelp: -h fits on a screen, has at most five examples, and shows only flags that --help shows too.
func TestShortHelp(t *testing.T) {
	flag := regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z-]+)`)
	verbs := [][]string{nil}
	for _, cmd := range newRoot(new(cli)).Commands() {
		if cmd.IsAvailableCommand() {
			verbs = append(verbs, []string{cmd.Name()})
		}
	}
	if len(verbs) < 15 {
		t.Fatalf("only %d verbs", len(verbs))
	}
	for _, verb := range verbs {
		short, whole := must(t, append(verb, "-h")...), must(t, append(verb, "--help")...)
		if lines := strings.Count(short, "\n"); lines > shortHelpLines || lines > strings.Count(whole, "\n") {
			t.Errorf("%v -h has %d lines, --help %d; want at most %d and no more than --help", verb, lines, strings.Count(whole, "\n"), shortHelpLines)
		}
		if examples := strings.Count(short, "\n  ufs-stream ") - 1; examples < 0 || examples > shortHelpExamples {
			t.Errorf("%v -h has %d examples, want at most %d:\n%s", verb, examples, shortHelpExamples, short)
		}
		for _, name := range flag.FindAllStringSubmatch(short, -1) {
			if !strings.Contains(whole, name[1]) {
				t.Errorf("%v -h has %s, which --help lacks", verb, name[1])
			}
		}
		if !strings.Contains(short, strings.Join(append([]string{"ufs-stream"}, verb...), " ")+" --help") {
			t.Errorf("%v -h does not name --help:\n%s", verb, short)
		}
	}
	if short := must(t, "select", "-h"); !strings.Contains(short, "--method") || !regexp.MustCompile(`\d+ more flags`).MatchString(short) {
		t.Errorf("select -h lacks --method, or the number of its other flags:\n%s", short)
	}
}

// TestOneVerbIsBuilt: arguments that begin with a verb build this verb alone, the same as among all verbs.
func TestOneVerbIsBuilt(t *testing.T) {
	for _, one := range newRoot(new(cli)).Commands() {
		built := newRoot(&cli{args: []string{one.Name(), "x"}}).Commands()
		if len(built) != 1 || built[0].Name() != one.Name() || built[0].Flags().FlagUsages() != one.Flags().FlagUsages() || built[0].Long != one.Long {
			t.Errorf("for %s the verbs %v are built, not that one as among all", one.Name(), convert.Each(built, (*cobra.Command).Name))
		}
	}
}

// TestFirstSteps: the commands that a newcomer is shown work in the order shown, without a file and with one.
func TestFirstSteps(t *testing.T) {
	for _, file := range []string{"", "my data.csv"} {
		t.Chdir(t.TempDir())
		if file != "" {
			must(t, "demo", "--keep", "made")
			must(t, "apply", "made", "--selection", write(t, "names.txt", "x032\nx021\nx001\nx003\nx022\n"), "-o", file)
			mustbe.Do(t, os.RemoveAll("made"))
			mustbe.Do(t, os.Remove("names.txt"))
		}
		var out bytes.Buffer
		mustbe.Do(t, writeFirstSteps(&out))
		steps := regexp.MustCompile(`(?m)^  ufs-stream (.*?)   *\S`).FindAllStringSubmatch(out.String(), -1)
		if len(steps) != 3 || file != "" && !strings.Contains(out.String(), "'./my data.csv'") {
			t.Fatalf("with the file %q, want three commands on it:\n%s", file, &out)
		}
		for _, step := range steps {
			args := strings.Fields(strings.ReplaceAll(step[1], "'./my data.csv'", "FILE"))
			for i := range args {
				args[i] = strings.Replace(args[i], "FILE", file, 1)
			}
			must(t, args...)
		}
		if page := mustbe.Get(os.Stat(filepath.Join(".", "report.html")))(t); page.Size() == 0 {
			t.Errorf("with the file %q, the last command leaves an empty page", file)
		}
	}
}
