package main

import (
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/store/storetest"
)

// TestReadme runs the commands of README.md in order, in an empty folder and with an S3 server
// that has an empty bucket "lake", and compares what they print with what the README shows; a
// line "…" stands for the rest.
func TestReadme(t *testing.T) {
	readme := read(t, "../../README.md")
	for _, command := range []string{"go run ./cmd/ufs-stream demo", "go test ./..."} {
		if !strings.Contains(readme, "\n    "+command+"\n") {
			t.Errorf("the README must open with %q", command)
		}
	}
	t.Chdir(t.TempDir())
	t.Setenv("AWS_ENDPOINT_URL_S3", storetest.S3(t).Endpoint)
	ran := 0
	for _, block := range strings.Split(readme, "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for _, example := range strings.Split("\n"+block, "\n$ ")[1:] {
			line, want, _ := strings.Cut(example, "\n")
			args := words(line)
			if args[0] != "ufs-stream" {
				t.Fatalf("%s: not a command of ufs-stream", line)
			}
			out := must(t, args[1:]...)
			ran++
			if strings.TrimSpace(want) == "" {
				continue // the README does not show it
			}
			want, open := strings.CutSuffix(strings.Trim(want, "\n"), "…")
			got := strings.Trim(out, "\n")
			if got != want && (!open || !strings.HasPrefix(got, want)) {
				t.Errorf("%s prints\n%s\nbut the README shows\n%s", line, got, want)
			}
		}
	}
	if ran < 10 {
		t.Errorf("only %d commands found in the README", ran)
	}
}

// words are those of a command line; single quotes keep blanks together.
func words(line string) (list []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}
